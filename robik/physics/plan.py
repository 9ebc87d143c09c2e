"""Plan of a simulation: a robot's MJCF, the goals that its motors get, and the motion that these are meant to give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..dynamics import Dynamics, InverseDynamics
from ..dynamics.contact_points import FRICTION
from ..dynamics.drives import Drive, carry_weight, file_drives, leg_motors, standing_share
from ..errors import MechanismError
from ..feet.support import placed, signed_distance, standing_points, support_polygons
from ..formats.export_tree import Branch
from ..formats.mjcf.positions import positions
from ..formats.mjcf.stage import PositionDrive, Stage
from ..formats.mjcf.writer import staged_text, staged_tree
from ..kinematics.actuation import joint_values
from ..kinematics.rotations import product
from ..mechanism import Mechanism
from ..mechanism.topology import build_topology
from ..motions import Motion
from ..motions.resampling import played_straight
from ..tilt_feedback import TiltPlan
from .motion_forces import motion_forces
from .tilt_plan import plan_of

RATE = 100.0  # [Hz] of goals, as `robik play` sends them


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Plan of a simulation.

    Attributes:
        mechanism: the robot.
        motion: with bodies' poses.
        drives: by actuator.
        stage: floor and motors of the MJCF.
        branches: the robot's bodies in the order of the MJCF.
        text: the robot's MJCF.
        positions: (T, nq) MuJoCo's positions of the motion's samples.
        rate: of goals [Hz].
        goals: (N, A) what the motors are told.
        reference: at the goals' times, the motion's values (N, A) and base (N, 7).
        delay: of every goal on the bus [s].
        standing: per foot, when it stands (T,).
        dynamics: the motion's forces.
        shares: per foot, stiffness of its leg in shares of m g h.
        leg_motors: names of the legs' actuators.
        tilt: what tilt feedback must know; None where there is none.
    """

    mechanism: Mechanism
    motion: Motion
    drives: Mapping[str, Drive]
    stage: Stage
    branches: tuple[Branch, ...]
    text: str
    positions: np.ndarray
    rate: float
    goals: np.ndarray
    reference: Motion
    delay: float
    standing: Mapping[str, np.ndarray]
    dynamics: Dynamics
    shares: Mapping[str, float]
    leg_motors: tuple[str, ...]
    tilt: TiltPlan | None = None

    @property
    def base_body(self) -> str:
        """Return the name of the body that floats; empty where the robot is grounded."""
        return build_topology(self.mechanism).root or ""

    @property
    def heights(self) -> np.ndarray:
        """Return the heights of the centre of mass at the goals' times (N,) [m]."""
        return np.interp(self.reference.times, self.dynamics.times, self.dynamics.com[:, 2])

    @property
    def zero_moment_inside(self) -> float | None:
        """Return in which share of the samples with a standing foot the zero-moment point is inside the support."""
        points = self.dynamics.zero_moment_point(self.stage.height)
        found = [
            float(signed_distance(points[k : k + 1], polygon)[0]) >= 0.0
            for k, polygon in enumerate(support_polygons(self.mechanism, self.motion, self.standing))
            if polygon is not None and np.isfinite(points[k]).all()
        ]
        return float(np.mean(found)) if found else None


def planned(
    mechanism: Mechanism,
    motion: Motion,
    drives: Mapping[str, Drive] | None = None,
    *,
    carry: bool = False,
    rate: float = RATE,
    delay: float = 0.0,
    feedback: bool = False,
    source: str = "the motion",
) -> Plan:
    """Return the plan of a simulation of a motion, with masses and, where the robot floats, soles and base.

    Drives are by actuator, as its file gives them if left out. Goals come at `rate` [Hz], each `delay` [s] late;
    with `carry` they carry the weight, with `feedback` tilt is fed back to ankles and hips.

    Raise MechanismError for a robot without mass, massless moving bodies, a floating robot without soles or loops that
    do not close; ClipError for a motion without an actuator or a needed base.
    """
    room = InverseDynamics(mechanism)
    _check_robot(mechanism, room)
    found = motion_forces(room, motion, source)
    states, stands = found.motion, found.standing
    known = file_drives(room) | dict(drives or {})
    stage = _stage(known, floor_height(mechanism, states, stands))
    text, branches = staged_text(mechanism, stage)
    values = carry_weight(states.values, found.dynamics, known) if carry else states.values
    bare = replace(states, passive=None, report=None)
    return Plan(
        mechanism=mechanism,
        motion=states,
        drives=known,
        stage=stage,
        branches=branches,
        text=text,
        positions=_positions(room, branches, states, found.q),
        rate=rate,
        goals=np.clip(played_straight(replace(bare, values=values), rate).values, *mechanism.actuator_limits.T),
        reference=played_straight(bare, rate),
        delay=delay,
        standing=stands,
        dynamics=found.dynamics,
        shares=standing_share(room, known) if stands else {},
        leg_motors=leg_motors(room) if stands else (),
        tilt=plan_of(room, found) if feedback and stands else None,
    )


def _stage(drives: Mapping[str, Drive], height: float) -> Stage:
    motors = {n: PositionDrive(d.stiffness, d.damping, d.effort, d.armature) for n, d in drives.items()}
    return Stage(drives=motors, friction=FRICTION, height=height)


def _check_robot(mechanism: Mechanism, room: InverseDynamics) -> None:
    """Check that physics can move a robot; a MechanismError names bodies without mass, or missing feet."""
    ball = [j.name for j in mechanism.actuated if j.is_ball]
    if ball:
        raise MechanismError(
            f"robot {mechanism.name!r} has motors in balls ({', '.join(ball)}), which are not simulated"
        )
    light = massless(mechanism)
    if light:
        named = ", ".join(light[:4]) + (f" and {len(light) - 4} more" if len(light) > 4 else "")
        raise MechanismError(
            f"robot {mechanism.name!r}: {named} can move but {'has' if len(light) == 1 else 'have'} no mass; give"
            f" {'it' if len(light) == 1 else 'them'} mass and inertia"
        )
    if room.topology.base is not None and not any(frame.is_foot for frame in mechanism.frames):
        raise MechanismError(
            f"robot {mechanism.name!r} has no feet to stand on: give the frames that it stands on a sole"
            " (in Blender: Make Foot)"
        )


def massless(mechanism: Mechanism) -> list[str]:
    """Return names of bodies that move without mass of their own or of anything fixed to them.

    Those between several joints of one body are left out: physics has no bodies there.
    """
    group = {body.name: body.name for body in mechanism.bodies}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    for joint in mechanism.joints:
        if joint.type == "fixed" and joint.parent in group:
            group[root(joint.child)] = root(joint.parent)
    mass: dict[str, float] = {}
    for body in mechanism.bodies:
        mass[root(body.name)] = mass.get(root(body.name), 0.0) + body.mass
    moving = {root(j.child) for j in mechanism.joints if j.motions}
    moving &= {branch.body.name for branch in staged_tree(mechanism).branches}
    return [name for name in mass if mass[name] == 0.0 and name in moving]


def floor_height(mechanism: Mechanism, motion: Motion, stands: Mapping[str, np.ndarray]) -> float:
    """Return the floor's height: that of the lowest corner of a sole as the motion begins [m].

    The motion has bodies' poses; `stands` (T,) is by frame.
    """
    lowest = [float(standing_points(mechanism, motion, name)[0, :, 2].min()) for name in stands]
    return min(lowest, default=0.0)


def _positions(room: InverseDynamics, branches: tuple[Branch, ...], motion: Motion, q: np.ndarray) -> np.ndarray:
    """Return MuJoCo's positions (T, nq) of a motion with bodies' poses."""
    assert motion.position is not None
    assert motion.quaternion is not None
    values = _coordinates(room, motion, q)
    return positions(room.mechanism, branches, values, motion.position, motion.quaternion)


def _coordinates(room: InverseDynamics, motion: Motion, q: np.ndarray) -> dict[str, np.ndarray]:
    """Return the values (T,) of all joints' scalar coordinates."""
    topology, bodies = room.topology, room.mechanism.bodies
    assert motion.position is not None
    assert motion.quaternion is not None
    order = [int(i) for i in topology.order]
    com = np.stack(
        [placed(np.array([bodies[i].com]), motion.position[:, i], motion.quaternion[:, i])[:, 0] for i in order], axis=1
    )
    turned = []
    for i in order:
        w, x, y, z = bodies[i].pose.quaternion
        a, b, c, d = motion.quaternion[:, i].T
        turned.append(np.stack(product(a, b, c, d, w, -x, -y, -z), axis=1))
    quaternion = np.stack(turned, axis=1)
    found: dict[str, np.ndarray] = {}
    for joint in room.mechanism.joints:
        if joint.motions and joint.type != "free":
            found |= dict(zip(joint.coordinate_names, joint_values(topology, joint, q, com, quaternion).T, strict=True))
    return found
