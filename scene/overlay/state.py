"""State that overlays show: plain numbers about a robot as it stands in the scene, in the robot's coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from math import degrees

import numpy as np
from bpy.types import Depsgraph, Object, PropertyGroup, Scene

from ...robik.dynamics.inverse import GRAVITY
from ...robik.errors import RobikError
from ...robik.feet.finding import ground_of
from ...robik.feet.support import TOUCH, signed_distance, sole_length, standing_points, support_polygons
from ...robik.kinematics.forward import ForwardKinematics
from ...robik.kinematics.frames import frame_poses, robot_com
from ...robik.kinematics.joint_places import JointPlace, joint_places
from ...robik.kinematics.singularity import Followed, meter_of, whole
from ...robik.mechanism import Mechanism
from ...robik.mechanism.joints import SLIDES
from ...robik.mechanism.pose import Vector
from ...robik.motions import Motion
from ...robik.motions.hold import LEAST
from ..bake.kept_clip import KeptClip, kept_clip
from ..bake.result import used_range
from ..character.mapping import check_source, read_target, source_matrix, track
from ..character.placement import read_placement
from ..motion import is_at_hand, read_values
from ..robot.parts import bodies, pose_of
from ..robot.reading import read_moving_parts
from .forces import bake_forces


@dataclass(frozen=True)
class Miss:
    """A frame of the robot and where it should be: (3,) each [m]."""

    name: str
    here: np.ndarray
    there: np.ndarray

    @property
    def distance(self) -> float:
        """Return how far apart they are [m]."""
        return float(np.linalg.norm(self.there - self.here))


@dataclass(frozen=True)
class MotorLoad:
    """Load of a motor.

    Attributes:
        place: of its joint.
        motion: which of the joint's motions it drives.
        load: 0 at ease, 1 at its limit, more beyond.
        text: what to say of it where it is at its limit.
    """

    place: JointPlace
    motion: str
    load: float
    text: str


@dataclass(frozen=True, kw_only=True)
class RobotState:
    """A robot now, and what a bake wanted of it here.

    Attributes:
        size: of the robot [m].
        ground: height of what it stands on [m].
        com: (3,) its centre of mass [m]; None for a robot without mass.
        com_target: (2,) where that should be, over the ground [m], or None.
        support: (K, 2) corners of what it stands on [m], or None in the air.
        margin: how far inside the support the centre of mass is [m], or None.
        ground_force: (3,) of the ground in the bake [weights of the robot]; None if not asked for, or not known.
        zero_moment: (2,) where it needs no moment [m]; likewise, and None in the air.
        misses: of the targets.
        joints: where they are; empty if not asked for.
        motors: their loads; empty if not asked for.
    """

    size: float
    ground: float
    com: np.ndarray | None
    com_target: np.ndarray | None
    support: np.ndarray | None
    margin: float | None
    ground_force: np.ndarray | None
    zero_moment: np.ndarray | None
    misses: tuple[Miss, ...]
    joints: tuple[JointPlace, ...]
    motors: tuple[MotorLoad, ...]


_solvers: dict[int, ForwardKinematics] = {}  # by the root's session_uid


def robot_state(root: Object, scene: Scene, depsgraph: Depsgraph) -> RobotState:
    """Return a robot as it stands, as far as the scene's overlays show it."""
    show = scene.robik.overlays
    mechanism, motion = present(root)
    kept, frame = kept_clip(root), scene.frame_current_final
    sample = None if kept is None else kept.sample(frame)
    com = motion.com[0] if motion.com is not None and mechanism.mass > 0 else None
    support, ground = _support(mechanism, motion, kept, sample)
    margin = None if support is None or com is None else float(signed_distance(com[None, :2], support)[0])
    com_target = None if kept is None or sample is None or kept.clip.com is None else kept.clip.com[sample, :2]
    places = (
        tuple(joint_places(mechanism, motion.position[0], motion.quaternion[0]))
        if show.joints or show.motors != "NONE"
        else ()
    )
    force, zero_moment = _ground_force(root, scene, mechanism) if show.forces else (None, None)
    return RobotState(
        size=mechanism.extent,
        ground=ground,
        com=com,
        com_target=com_target,
        support=support,
        margin=margin,
        ground_force=force,
        zero_moment=zero_moment,
        misses=_misses(root, scene, depsgraph, mechanism, motion, kept, sample) if show.errors else (),
        joints=places if show.joints else (),
        motors=_motors(root, scene, mechanism, motion, places, kept) if show.motors != "NONE" else (),
    )


def present(root: Object) -> tuple[Mechanism, Motion]:
    """Return a robot, and its pose in the scene as a motion of one sample."""
    mechanism = read_moving_parts(root)
    back = root.matrix_world.inverted_safe()
    poses = [pose_of(back @ body.matrix_world) for body in bodies(root)]
    position, quaternion = np.array([[p.position for p in poses]]), np.array([[p.quaternion for p in poses]])
    names = tuple(body.name for body in mechanism.bodies)
    return mechanism, Motion(
        times=np.zeros(1),
        actuators=(),
        values=np.zeros((1, 0)),
        bodies=names,
        position=position,
        quaternion=quaternion,
        com=robot_com(mechanism, position, quaternion),
    )


def _support(
    mechanism: Mechanism, motion: Motion, kept: KeptClip | None, sample: int | None
) -> tuple[np.ndarray | None, float]:
    """Return what the robot stands on and its height: by the bake's contacts, else the feet that are lowest."""
    soles = {f.name: standing_points(mechanism, motion, f.name)[0] for f in mechanism.frames if f.is_foot}
    if not soles:
        return None, 0.0
    ground = None
    if kept is not None and sample is not None and any(t.contact is not None for t in kept.clip.tracks.values()):
        tracks, ground = kept.clip.tracks, ground_of(mechanism, kept.clip)
        contacts = {
            n: tracks[n].contact[sample : sample + 1] for n in soles if n in tracks and tracks[n].contact is not None
        }
    else:
        lowest = min(points[:, 2].min() for points in soles.values())
        contacts = {
            n: np.array([p[:, 2].min() < lowest + TOUCH * sole_length(mechanism.frame(n))]) for n, p in soles.items()
        }
    standing = [float(soles[n][:, 2].min()) for n, stands in contacts.items() if stands[0]]
    ground = None if ground is None or sample is None else ground.part(slice(sample, sample + 1))
    return support_polygons(mechanism, motion, contacts, ground)[0], min(standing, default=0.0)


def _ground_force(root: Object, scene: Scene, mechanism: Mechanism) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the ground's force here [weights of the robot], and the zero-moment point [m]."""
    forces = bake_forces(root, scene)
    k = None if forces is None else forces.sample(scene.frame_current_final)
    if forces is None or k is None or not np.isfinite(forces.zero_moment[k]).all():
        return None, None
    return forces.dynamics.wrench[k, 3:] / (mechanism.mass * GRAVITY), forces.zero_moment[k]


def _misses(
    root: Object,
    scene: Scene,
    depsgraph: Depsgraph,
    mechanism: Mechanism,
    motion: Motion,
    kept: KeptClip | None,
    sample: int | None,
) -> tuple[Miss, ...]:
    """Of the targets that the bake followed here; outside a bake, of those that are to be followed."""
    if kept is not None and sample is not None:
        weights = {name: kept.settings.weights(name).position for name in kept.clip.tracks}
        wanted = {
            name: (t.position[sample], weights[name]) for name, t in kept.clip.tracks.items() if t.position is not None
        }
    else:
        wanted = _live_targets(root, scene, depsgraph)
    misses = []
    for name, (there, weight) in wanted.items():
        if name in mechanism.frame_names and any(weight):
            here = frame_poses(mechanism, name, motion.position, motion.quaternion)[0][0]
            misses.append(
                Miss(name, here, np.where(np.array(weight) > 0, there, here))
            )  # an axis without weight is not missed
    return tuple(misses)


def _live_targets(root: Object, scene: Scene, depsgraph: Depsgraph) -> dict[str, tuple[np.ndarray, Vector]]:
    """Return where the targets are now, with their weights, as they would be baked but for balance and pinned feet."""
    placed, wanted = read_placement(root), {}
    for target in root.robik.robot.character.targets:
        if target.enabled and target.leads and _is_there(target, scene):
            seen = pose_of(source_matrix(target, depsgraph))
            there = track(read_target(target), np.array([seen.position]), np.array([seen.quaternion]), placed).position[
                0
            ]
            wanted[target.frame] = there, tuple(target.position_weight)
    return wanted


def _is_there(target: PropertyGroup, scene: Scene) -> bool:
    """Return whether what a target follows exists; the panel says what is wrong with it."""
    try:
        check_source(target, scene)
    except RobikError:
        return False
    return True


def _motors(
    root: Object,
    scene: Scene,
    mechanism: Mechanism,
    motion: Motion,
    places: tuple[JointPlace, ...],
    kept: KeptClip | None,
) -> tuple[MotorLoad, ...]:
    kind = scene.robik.overlays.motors
    driven = [(place, k) for place in places if place.joint.actuated for k in range(len(place.joint.motions))]
    if kind == "SPEED":
        loads = _speeds(root, scene, mechanism, kept)
    elif kind == "TORQUE":
        loads = _torques(root, scene, mechanism)
    elif kind == "LIMIT":
        loads = [_reach(place, k) for place, k in driven]
    else:
        loads = _singularities(root, mechanism, motion, driven, kept)
    return tuple(
        MotorLoad(place, place.joint.motions[k], *load) for (place, k), load in zip(driven, loads, strict=True)
    )


def _speeds(root: Object, scene: Scene, mechanism: Mechanism, kept: KeptClip | None) -> list[tuple[float, str]]:
    """Return speeds into this frame against the limits, by the motion as it is now."""
    step = kept.frames[1] - kept.frames[0] if kept is not None and len(kept.frames) > 1 else 1.0
    seconds = step * scene.render.fps_base / scene.render.fps
    frame = scene.frame_current_final
    speeds = [0.0] * len(mechanism.actuators)
    if is_at_hand(root, mechanism, scene):
        before, now = read_values(root, mechanism, np.array([frame - step, frame]), scene)
        speeds = (np.abs(now - before) / seconds).tolist()
    limits = mechanism.actuator_velocity_limits.tolist()
    rows = zip(mechanism.actuators, speeds, limits, mechanism.actuator_units, strict=True)
    return [(speed / limit, f"{name} {speed:.1f} of {limit:.1f} {unit}/s") for name, speed, limit, unit in rows]


def _torques(root: Object, scene: Scene, mechanism: Mechanism) -> list[tuple[float, str]]:
    """Torque at this frame against what the motor has, by the motion as it is now; none outside it."""
    forces = bake_forces(root, scene)
    k = None if forces is None else forces.sample(scene.frame_current_final)
    if forces is None or k is None:
        return [(0.0, "")] * len(mechanism.actuators)
    needed = np.abs(forces.dynamics.torque[k])
    rows = zip(forces.dynamics.actuators, needed.tolist(), forces.efforts.tolist(), forces.units, strict=True)
    return [(torque / effort, f"{name} {torque:.1f} of {effort:.1f} {unit}") for name, torque, effort, unit in rows]


def _reach(place: JointPlace, k: int) -> tuple[float, str]:
    (lower, upper), value = place.joint.limits[k], float(place.values[k])
    shown = f"{degrees(value):.0f}°" if place.joint.motions[k] not in SLIDES else f"{1e3 * value:.0f} mm"
    return used_range(value, lower, upper), f"{place.joint.coordinate_names[k]} at {shown}"


def _singularities(
    root: Object, mechanism: Mechanism, motion: Motion, driven: list[tuple[JointPlace, int]], kept: KeptClip | None
) -> list[tuple[float, str]]:
    """Return how near each motor is to a singular pose, for what the bake followed.

    Without one for all frames of the robot.
    """
    solver = _solvers.get(root.session_uid)
    if solver is None or solver.mechanism != mechanism:
        solver = _solvers[root.session_uid] = ForwardKinematics(mechanism)
    found: dict[str, float] = {}
    if solver.solve(np.array([place.values[k] for place, k in driven])).assembled:
        followed = whole(mechanism) if kept is None else _followed(mechanism, kept)
        found = meter_of(solver.topology).by_joint(solver.coordinates, followed)
    return [
        (LEAST / max(found.get(place.joint.name, np.inf), 1e-6), f"{place.joint.coordinate_names[k]} singular")
        for place, k in driven
    ]


def _followed(mechanism: Mechanism, kept: KeptClip) -> list[Followed]:
    """Return what of the frames has weight in a bake."""
    weights = {name: kept.settings.weights(name) for name in kept.clip.tracks if name in mechanism.frame_names}
    return [
        Followed(name, np.array(w.position) > 0, np.array(w.axes)[:, np.array(w.directions) > 0])
        for name, w in weights.items()
    ]
