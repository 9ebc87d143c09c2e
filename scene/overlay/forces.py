"""Forces of the present curves: what the ground and the motors must give for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bpy.types import Object, Scene

from ...robik.dynamics import Dynamics, InverseDynamics
from ...robik.errors import RobikError
from ...robik.physics.motion_forces import motion_forces
from ...robik.physics.plan import floor_height
from ..motion import is_at_hand, motion_frames, read_motion
from ..robot.chain import robot_motors
from ..robot.reading import read_robot

_known: dict[tuple[int, str], BakeForces | None] = {}  # by the root's session_uid and the mark of its result


@dataclass(frozen=True, kw_only=True)
class BakeForces:
    """Forces over a robot's curves.

    Attributes:
        frames: (T,) of the scene.
        dynamics: the forces; its actuators are the robot's.
        efforts: (A,) what each motor can give [N m or N]; infinite where that is not known.
        zero_moment: (T, 2) where the ground's force needs no moment [m]; NaN in the air.
        units: (A,) of the motors' torques.
    """

    frames: np.ndarray
    dynamics: Dynamics
    efforts: np.ndarray
    zero_moment: np.ndarray
    units: tuple[str, ...]

    def sample(self, frame: float) -> int | None:
        """Return the sample at a frame; None outside the curves."""
        first, last = self.frames[0], self.frames[-1]
        return int(np.argmin(np.abs(self.frames - frame))) if first <= frame <= last else None


def bake_forces(root: Object, scene: Scene) -> BakeForces | None:
    """Return the forces of a robot's curves, found when they are asked for first; None where there are none.

    Without a bake, without mass, or where the loops do not close there are none.
    """
    key = root.session_uid, root.robik.robot.result.mark
    if key not in _known:
        try:
            _known[key] = _found(root, scene)
        except RobikError:  # without mass, or with open loops: what cannot move has no forces
            _known[key] = None
    return _known[key]


def forget() -> None:
    """Find forces again where they are asked for."""
    _known.clear()


def _found(root: Object, scene: Scene) -> BakeForces | None:
    mechanism = read_robot(root)
    if not is_at_hand(root, mechanism, scene):
        return None
    frames = motion_frames(root, mechanism, scene)
    if len(frames) < 3:
        return None
    found = motion_forces(InverseDynamics(mechanism), read_motion(root, mechanism, frames, scene), "the bake")
    height = floor_height(mechanism, found.motion, found.standing)
    return BakeForces(
        frames=frames,
        dynamics=found.dynamics,
        efforts=_efforts(root, scene, mechanism.actuators),
        zero_moment=found.dynamics.zero_moment_point(height),
        units=tuple("N m" if unit == "rad" else "N" for unit in mechanism.actuator_units),
    )


def _efforts(root: Object, scene: Scene, actuators: tuple[str, ...]) -> np.ndarray:
    """Return what each motor can give (A,); infinite where neither servos nor the robot's file say it."""
    try:
        drives = robot_motors(root, scene).drives(root.robik.robot.physics.p_gain or None)
    except RobikError:  # a servo of which it is not known what its motor can: the panel of the servos says so
        return np.full(len(actuators), np.inf)
    return np.array([drives[name].effort for name in actuators])
