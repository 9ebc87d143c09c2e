"""Motion of a robot as Blender evaluates it: the only reader of sliders and bodies over time.

Strips, layers, mute, solo, modifiers, drivers and constraints count: what is read is what is shown. Where plain
F-curves alone move what is read, these are evaluated, as Blender does at a frame. Else a copy of the scene with little
more than the robot steps through the frames, each in about 0.05 ms.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from bpy.types import Depsgraph, Object, Scene

from ..robik.errors import RobikError
from ..robik.kinematics.frames import robot_com
from ..robik.mechanism import Mechanism
from ..robik.mechanism.topology import build_topology
from ..robik.motions import BaseTrack, Motion
from ..robik.motions.posing import posed
from ..robik.motions.resampling import even_times
from ..robik.steps import finish
from .animation import actions, sources
from .animation.actions import Channel
from .animation.evaluation import alone, set_frame, times_of
from .long_work import heartbeat
from .long_work.steps import Progress
from .robot import posing
from .robot.parts import bodies, pose_of
from .robot.sliders import data_path, slider_limits, slider_values

SAME = 1e-3  # frames nearer than this are one
FRAME_DECIMALS = 4  # keys' frames are in single precision
POSE_CHANNELS: tuple[Channel, ...] = (
    *(("location", k) for k in range(3)),
    *(("rotation_quaternion", k) for k in range(4)),
)


def motion_frames(root: Object, mechanism: Mechanism, scene: Scene) -> np.ndarray:
    """Return the frames (T,) over which something moves the sliders.

    Each key's and the ends of strips, and between them as dense as the robot was baked, so that thinned out curves lose
    nothing; the scene's where only drivers or curves without keys move sliders. Raise RobikError if nothing moves a
    slider, or there is none.
    """
    if not mechanism.actuators:
        raise RobikError(f"no motor drives robot {root.name!r}; select its joints and click Set Motor")
    frames = np.unique(np.round(_turns(root, mechanism, scene), FRAME_DECIMALS))
    if not len(frames):
        raise RobikError(
            f"the motor {mechanism.actuators[0]!r} of robot {root.name!r} has no keys; bake first, or key its slider"
        )
    result = root.robik.robot.result
    step = min(float(result.step), 1.0) if result.frames else 1.0
    dense = frames[0] + step * np.arange(int(np.floor((frames[-1] - frames[0]) / step + SAME)) + 1)
    apart = np.abs(dense - frames[np.clip(np.searchsorted(frames, dense - SAME), 0, len(frames) - 1)])
    return np.union1d(frames, dense[apart > SAME])


def is_at_hand(root: Object, mechanism: Mechanism, scene: Scene) -> bool:
    """Return whether a robot has a motion that can be read while Blender draws, when nothing may be made to step it."""
    read = _moving(root, mechanism, base_body(root, mechanism))
    return (bpy.app.background or _are_plain(read, scene)) and len(_turns(root, mechanism, scene)) > 0


def _turns(root: Object, mechanism: Mechanism, scene: Scene) -> np.ndarray:
    """Return the frames at which sliders have keys, or strips of theirs begin and end."""
    channels, curves = slider_channels(mechanism), sources.curves_at_work(root)
    found = [actions.key_frames(curves[channel]) for channel in channels if channel in curves]
    for strip in sources.strips_at_work(root):
        if not sources.strip_curves(strip).keys().isdisjoint(channels):
            found.append(np.array([strip.frame_start, strip.frame_end]))
    frames = np.concatenate([np.empty(0), *found])
    if not len(frames) and (found or sources.are_driven(root, channels)):
        return np.array([scene.frame_start, scene.frame_end], dtype=float)
    return frames


def played_frames(root: Object, mechanism: Mechanism, scene: Scene, step: float) -> np.ndarray:
    """Return frames (T,) between which the sliders move evenly.

    They are those of the motion, or `step` frames apart where anything but straight curves moves the sliders.
    """
    frames, curves = motion_frames(root, mechanism, scene), sources.curves_at_work(root)
    moving = [curves[channel] for channel in slider_channels(mechanism) if channel in curves]
    if sources.is_plain(root) and all(map(actions.is_straight, moving)):
        return frames
    return np.append(np.arange(frames[0], frames[-1] - SAME, step), frames[-1])


def even_frames(root: Object, mechanism: Mechanism, scene: Scene, rate: float) -> np.ndarray:
    """Return frames (T,) over which something moves the sliders, at equal distances: `rate` samples per second [Hz].

    Raise RobikError if that gives too many samples.
    """
    frames, fps = motion_frames(root, mechanism, scene), scene.render.fps / scene.render.fps_base
    even = frames[0] + fps * even_times(float(frames[-1] - frames[0]) / fps, rate)
    return np.minimum(even, frames[-1])  # rounding may put the last one behind the end


def read_values(root: Object, mechanism: Mechanism, frames: np.ndarray, scene: Scene) -> np.ndarray:
    """Return the sliders (T, A) at these frames [rad or m]."""
    return finish(_reading([_Sliders(root, mechanism.actuators)], frames, scene))[0]


def read_motion(root: Object, mechanism: Mechanism, frames: np.ndarray, scene: Scene) -> Motion:
    """Return the motion of a robot's sliders at frames (T,), with its floating base where something moves that."""
    return finish(motion_steps(root, mechanism, frames, scene))


def motion_steps(
    root: Object, mechanism: Mechanism, frames: np.ndarray, scene: Scene
) -> Generator[Progress, None, Motion]:
    """Read as `read_motion` does, in steps where frames have to be stepped through."""
    base, track = base_body(root, mechanism), None
    base = base if base is not None and is_moved(base) else None
    found = yield from _reading(_moving(root, mechanism, base), frames, scene)
    if base is not None:
        position, quaternion = _split(found[1])
        track = BaseTrack(body=base.robik.label, position=position, quaternion=continuous(quaternion))
    return Motion(times=times_of(scene, frames), actuators=mechanism.actuators, values=found[0], base=track)


def with_poses(root: Object, mechanism: Mechanism, motion: Motion, frames: np.ndarray, scene: Scene) -> Motion:
    """Return a motion with the poses of the bodies at these frames, as they are shown."""
    if not posing.has_baked_bodies(root):
        return posed(mechanism, motion)[0]
    position, quaternion = read_bodies(root, frames, scene)
    names = tuple(body.name for body in mechanism.bodies)
    com = robot_com(mechanism, position, quaternion)
    return replace(motion, bodies=names, position=position, quaternion=quaternion, com=com)


def read_bodies(root: Object, frames: np.ndarray, scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Return the bodies in the robot's coordinates: positions (T, n, 3) [m] and unit quaternions (T, n, 4)."""
    return _split(np.stack(finish(_reading([_Pose(body) for body in bodies(root)], frames, scene)), axis=1))


def read_base(
    root: Object, mechanism: Mechanism, frames: np.ndarray, scene: Scene
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return positions (T, 3) [m] and unit quaternions (T, 4) of a floating robot's base; None on the ground."""
    base = base_body(root, mechanism)
    return None if base is None else _split(finish(_reading([_Pose(base)], frames, scene))[0])


def base_body(root: Object, mechanism: Mechanism) -> Object | None:
    """Return the body by which a robot floats; None for a robot on the ground."""
    name = build_topology(mechanism).root
    return None if name is None else bodies(root)[mechanism.body_index[name]]


def is_moved(body: Object) -> bool:
    """Return whether anything moves a body, other than the sliders."""
    return bool(sources.curves_at_work(body).keys() & set(POSE_CHANNELS)) or not sources.is_plain(body)


def slider_channels(mechanism: Mechanism) -> list[Channel]:
    """Return the channels of the sliders (A,)."""
    return [(data_path(name), 0) for name in mechanism.actuators]


def continuous(quaternion: np.ndarray) -> np.ndarray:
    """Return quaternions (T, 4) each with the sign nearer to the one before, so that keys blend the short way."""
    against = (quaternion[1:] * quaternion[:-1]).sum(axis=1) < 0
    signs = np.where(np.cumsum(against) % 2, -1.0, 1.0)
    return np.concatenate([quaternion[:1], quaternion[1:] * signs[:, None]])


def _split(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and unit quaternions of poses (..., 7)."""
    return pose[..., :3], pose[..., 3:] / np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)


@dataclass(frozen=True)
class _Sliders:
    """Sliders of a robot, to be read."""

    target: Object
    names: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        return sources.is_plain(self.target)

    def along(self, frames: np.ndarray) -> np.ndarray:
        """Return their curves (T, A), which Blender keeps within the sliders' ranges."""
        channels, present = [(data_path(name), 0) for name in self.names], slider_values(self.target, self.names)
        return _along(self.target, channels, present, slider_limits(self.target, self.names), frames)

    def now(self, graph: Depsgraph) -> np.ndarray:
        """Return them (A,) as they are evaluated."""
        return slider_values(self.target.evaluated_get(graph), self.names)


@dataclass(frozen=True)
class _Pose:
    """Pose of a body in the robot's coordinates, to be read."""

    target: Object

    @property
    def is_plain(self) -> bool:
        return sources.is_plain(self.target) and self.target.rotation_mode == "QUATERNION"

    def along(self, frames: np.ndarray) -> np.ndarray:
        """Return its curves (T, 7)."""
        present = np.array([*self.target.location, *self.target.rotation_quaternion])
        return _along(self.target, POSE_CHANNELS, present, np.tile([[-np.inf], [np.inf]], 7), frames)

    def now(self, graph: Depsgraph) -> np.ndarray:
        """Return it (7,) as it is evaluated."""
        root, body = self.target.parent.evaluated_get(graph), self.target.evaluated_get(graph)
        pose = pose_of(root.matrix_world.inverted_safe() @ body.matrix_world)
        return np.array([*pose.position, *pose.quaternion])


def _moving(root: Object, mechanism: Mechanism, base: Object | None) -> list[_Sliders | _Pose]:
    """Return what is read of a robot: its sliders, and its base where it has one."""
    sliders = _Sliders(root, mechanism.actuators)
    return [sliders] if base is None else [sliders, _Pose(base)]


def _along(
    target: Object, channels: Sequence[Channel], present: np.ndarray, limits: np.ndarray, frames: np.ndarray
) -> np.ndarray:
    """Return channels (T, C) by their curves, within limits (2, C); one without a curve stays as it is."""
    curves, values = sources.curves_at_work(target), np.tile(present, (len(frames), 1))
    for k, channel in enumerate(channels):
        if (curve := curves.get(channel)) is not None:
            values[:, k] = np.clip(actions.values_of(curve, frames), *limits[:, k])
    return values


def _are_plain(read: Sequence[_Sliders | _Pose], scene: Scene) -> bool:
    """Return whether curves alone say what is read, at the scene's own frames."""
    return scene.render.frame_map_old == scene.render.frame_map_new and all(one.is_plain for one in read)


def _reading(
    read: Sequence[_Sliders | _Pose], frames: np.ndarray, scene: Scene
) -> Generator[Progress, None, list[np.ndarray]]:
    """Return what is read at frames (T,)."""
    if _are_plain(read, scene):
        return [one.along(frames) for one in read]
    rows: list[list[np.ndarray]] = [[] for _ in read]
    objects = [target for one in read for target in (one.target.parent, one.target) if target is not None]
    with alone(scene, objects) as stage:
        for done, frame in enumerate(frames.tolist(), start=1):
            with posing.paused():
                set_frame(stage, frame)
            graph = bpy.context.evaluated_depsgraph_get() if stage == scene else stage.view_layers[0].depsgraph
            for row, one in zip(rows, read, strict=True):
                row.append(one.now(graph))
            heartbeat.beat()
            yield Progress(done / len(frames), "Reading the motion", counts=False)
    return [np.array(row) for row in rows]
