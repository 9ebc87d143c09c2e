"""Parts of an MJCF that stands and plays: soles that touch, position actuators, stiff loops, a floor and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite

import numpy as np

from ...mechanism import Frame, Mechanism
from ..xml_file import XmlText

SOLREF, SOLIMP = "0.004 1", "0.999 0.999 0.001"  # of loops; by MuJoCo's own a looped robot sinks where it stands
RADIUS = 2e-3  # [m] of the spheres in a sole's corners
STEP = 1e-3  # [s] of simulation


@dataclass(frozen=True)
class PositionDrive:
    """A position actuator: torque = stiffness · error − damping · speed, up to effort; its rotor adds an armature.

    Where `speed` is finite the effort falls with the speed, to none at `speed`: MJCF has no limit of speed, so effort /
    speed of the damping is the joint's own, outside the limit of effort.
    """

    stiffness: float
    damping: float
    effort: float
    armature: float
    speed: float = inf

    @property
    def joint_damping(self) -> float:
        """Return the damping that is the joint's own [N m s/rad or N s/m]; 0 where there is no limit of speed."""
        return self.effort / self.speed if isfinite(self.effort) and isfinite(self.speed) and self.speed > 0 else 0.0


@dataclass(frozen=True)
class Stage:
    """Surroundings of a simulated robot: floor, friction and motors.

    Attributes:
        drives: by actuator.
        friction: between soles and floor.
        height: of the floor [m].
    """

    drives: Mapping[str, PositionDrive] = field(default_factory=dict)
    friction: float = 0.8
    height: float = 0.0


def put_sole(xml: XmlText, mechanism: Mechanism, frame: Frame, friction: float) -> None:
    """Write a sphere in each corner of a foot's sole; where the foot stands flat, its lowest point is the corner."""
    points = np.array([frame.pose.point(corner) for corner in frame.sole])
    middle = points - points.mean(axis=0)
    normal = np.linalg.svd(middle, full_matrices=True)[2][2]
    body = mechanism.bodies[mechanism.body_index[frame.body]]
    if (body.pose.matrix @ normal)[2] < 0:
        normal = -normal
    for k, point in enumerate(points):
        xml.put("geom", name=f"{frame.name} sole {k}", class_="sole", pos=point + RADIUS * normal,
                friction=(friction, 0.005, 0.0001))  # fmt: skip


def put_drive(
    xml: XmlText, name: str, drive: PositionDrive, limits: tuple[float, float], joint_damping: float = 0.0
) -> None:
    """Write a position actuator for a joint of the same name; limits are in rad or m, infinite for none.

    `joint_damping` is the portion of the motor's damping that the joint has already, outside the limit of effort.
    """
    bounded = all(map(isfinite, limits))
    xml.put(
        "general",
        name=name,
        joint=name,
        gainprm=(drive.stiffness, 0.0, 0.0),
        biastype="affine",
        biasprm=(0.0, -drive.stiffness, -max(drive.damping - joint_damping, 0.0)),
        forcerange=(-drive.effort, drive.effort) if isfinite(drive.effort) else None,
        ctrlrange=limits if bounded else None,
    )


def floor_text(stage: Stage, keys: Sequence[tuple[float, np.ndarray, np.ndarray]] = ()) -> str:
    """Return the XML of a scene around a robot: options, floor, light, and keys.

    A key is its time [s], positions (nq,) and controls (nu,).
    """
    friction = f"{stage.friction:g} 0.005 0.0001"
    lines = [
        f'  <option timestep="{STEP:g}" integrator="implicitfast"/>',
        "  <worldbody>",
        '    <light pos="0 0 4" dir="0 0 -1" directional="true"/>',
        f'    <geom name="floor" type="plane" size="0 0 0.05" pos="0 0 {stage.height:.9g}" friction="{friction}"'
        ' contype="0" conaffinity="1" rgba="0.6 0.6 0.6 1"/>',
        "  </worldbody>",
    ]
    if keys:
        lines.append("  <keyframe>")
        for k, (time, positions, controls) in enumerate(keys):
            qpos, ctrl = (" ".join(f"{v:.9g}" for v in values) for values in (positions, controls))
            lines.append(f'    <key name="{k}" time="{time:.9g}" qpos="{qpos}" ctrl="{ctrl}"/>')
        lines.append("  </keyframe>")
    return "\n".join(lines) + "\n"
