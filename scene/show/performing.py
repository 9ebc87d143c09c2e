"""Performing: a robot's sliders go by its layers, from `begin` to `end`.

Servos that are live follow the sliders; there is no other way from here to them. When a performance ends, whatever the
reason, live servos slow down and hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Object, Scene

from ...robik.errors import RobikError
from ...robik.kinematics.forward import ForwardKinematics
from ...robik.motions import Motion
from ...robik.motions.curves import Curves
from ...robik.motions.posing import posed
from ...robik.show.layers import Layers
from ..bake.curves import write_own_bake
from ..robot import posing
from ..robot.parts import changeable_robot, local_pose
from ..robot.reading import read_moving, read_robot
from ..robot.sliders import set_sliders, slider_values
from ..servos import leader, play, timeline
from .cues import Cues, read_cues
from .limits import limits_of

BEAT = 1 / 60  # [s] between turns


@dataclass(eq=False)
class _Performance:
    """A robot that performs."""

    robot: str
    scene: str
    frame: float
    layers: Layers
    cues: Cues
    base: str | None  # the body that floats
    last: float  # when it was looked at [s]
    is_live: bool = False  # whether servos have followed it


_performance: _Performance | None = None
_why = ""  # it ended by itself
_taken: Layers | None = None  # what was recorded, until somebody takes it
_taken_by = ""  # the robot that did it


def is_performing() -> bool:
    """Return whether a robot performs."""
    return _performance is not None


def check_none() -> None:
    """Raise RobikError while a robot performs."""
    if _performance is not None:
        raise RobikError(f"{_performance.robot} performs; end that first (ESC)")


def playing() -> list[str]:
    """Return the names of the clips that play on top of the idle motion."""
    return [] if _performance is None else _performance.layers.names


def records() -> bool:
    """Return whether what is performed is recorded."""
    return _performance is not None and _performance.layers.keeps


def address() -> str:
    """Return where OSC messages are heard; empty where none are."""
    return "" if _performance is None else _performance.cues.address


def unheard() -> str:
    """Return the last OSC message that meant nothing, in words; empty where there was none."""
    return "" if _performance is None else _performance.cues.unheard


def why() -> str:
    """Return why the last performance ended by itself, in words; empty where it did not."""
    return _why


def begin(scene: Scene, keeps: bool) -> None:
    """Let the scene's chosen robot perform from now on, as its panel says, recorded with `keeps`.

    Raise RobikError, with nothing changed, if something else moves the robot, or a trigger, a stick or the OSC port
    is wrong.
    """
    global _performance, _why, _taken
    check_none()
    root = changeable_robot(scene)
    _check_free(root)
    mechanism = read_robot(root)
    values = slider_values(root, mechanism.actuators)
    positions, speeds, accelerations = limits_of(root, mechanism, scene)
    cues = read_cues(root, mechanism, scene)
    fade = float(root.robik.robot.performance.fade)
    base = ForwardKinematics(mechanism).root
    layers = Layers(positions, speeds, accelerations, values, _base(root, base), cues.idle, fade)
    layers.keeps = keeps
    cues.listen(root.robik.robot.performance.osc_port)
    _performance = _Performance(root.name, scene.name, scene.frame_current_final, layers, cues, base, perf_counter())
    _why, _taken = "", None


def _check_free(root: Object) -> None:
    if timeline.is_armed():
        raise RobikError("Play with Timeline is armed; press it again first")
    if root.robik.robot.follow.on:
        raise RobikError("Follow Live moves the robot; switch it off first")
    if leader.player() is not None:
        raise RobikError("a second robot leads this one; disconnect it first")
    if play.status().state.is_moving and not play.is_live(root.name):
        raise RobikError("the servos move; stop them first")


def _base(root: Object, name: str | None) -> np.ndarray:
    """Return where the base is (7); a robot on the ground has none."""
    if name is None:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    robot = read_moving(root)
    pose = local_pose(robot.bodies[robot.mechanism.body_index[name]])
    return np.array([*pose.position, *pose.quaternion])


def press(key: str) -> bool:
    """Press a key; returns whether it means something here."""
    return _performance is not None and _performance.cues.press(key, _performance.layers)


def let_go(key: str) -> bool:
    """Let a key go; returns whether it means something here."""
    return _performance is not None and _performance.cues.let_go(key, _performance.layers)


def let_go_all() -> None:
    """Let go of all keys, as where another window takes them."""
    if _performance is not None:
        _performance.cues.let_go_all(_performance.layers)


def release_all() -> None:
    """Let all clips fade out; the idle motion goes on."""
    if _performance is not None:
        _performance.layers.release_all()


def end(reason: str = "") -> None:
    """End the performance, for a `reason` if by itself; servos that are live slow down and hold.

    The robot stays as it is.
    """
    global _performance, _why, _taken, _taken_by
    if _performance is None:
        return
    before, _performance, _why = _performance, None, reason
    before.cues.close()
    if before.layers.keeps:
        _taken, _taken_by = before.layers, before.robot
    if play.is_live(before.robot):
        play.connected().stop()


def tick(scene: Scene, now: float | None = None) -> None:
    """Do one turn of Blender's main loop, at the time `now` of `perf_counter` [s]."""
    if _performance is None:
        return
    one, now = _performance, perf_counter() if now is None else now
    if reason := _over(one, scene):
        end(reason)
        return
    root = scene.objects[one.robot]
    one.is_live |= play.is_live(one.robot)
    if one.cues.hear(one.layers):
        end("stopped by OSC")
        return
    one.layers.advance(now - one.last)
    one.last = now
    try:
        _show(root, one.layers, one.base)
    except RobikError as error:
        end(str(error))


def _over(one: _Performance, scene: Scene) -> str:
    """Return why a performance cannot go on; empty where it can."""
    root: Object | None = scene.objects.get(one.robot) if scene.name == one.scene else None
    if root is None:
        return "its robot is no longer in the scene"
    if scene.frame_current_final != one.frame:
        return "the frame was changed"
    if one.is_live and not play.is_live(one.robot):
        return f"the servos no longer follow: {play.status().message}"
    try:
        _check_free(root)
    except RobikError as error:
        return str(error)
    return ""


def _show(root: Object, layers: Layers, base: str | None) -> None:
    """Pose the robot as its layers say."""
    mechanism, bodies = read_moving(root)
    with posing.paused():
        set_sliders(root, mechanism.actuators, layers.values)
        if base is not None:
            posing.pose([bodies[mechanism.body_index[base]]], layers.base[None, :3], layers.base[None, 3:])
        closes = posing.pose_by_sliders(root)
        posing.settled(root)
    if not closes:
        posing.tell(root, "The loops do not close at these motor angles")


def keep_recording(scene: Scene) -> tuple[float, int] | None:
    """Key the recording as a bake of its own, from the current frame on, only once; return its length [s] and frames.

    None where nothing was recorded. Raise RobikError if the robot is gone, or is another one.
    """
    global _taken
    layers, _taken = _taken, None
    if layers is None:
        return None
    root: Object | None = scene.objects.get(_taken_by)
    if root is None:
        raise RobikError(f"the recording is lost: {_taken_by} is no longer in the scene")
    mechanism = read_robot(root)
    motion = layers.motion(mechanism.actuators, ForwardKinematics(mechanism).root)
    sampled, frames = _by_frames(motion, scene)
    whole, _ = posed(mechanism, sampled)
    write_own_bake(root, scene, whole, frames)
    return float(motion.times[-1]), len(frames)


def _by_frames(motion: Motion, scene: Scene) -> tuple[Motion, np.ndarray]:
    """Return a motion as it is in whole frames, and these (T,) from the current one on."""
    rate = scene.render.fps / scene.render.fps_base
    count = int(np.floor(motion.times[-1] * rate + 1e-6))
    steps = np.arange(count + 1, dtype=float)
    return Curves(motion).at(steps / rate), scene.frame_current + steps


@persistent
def after_undo(_scene: object = None, _graph: object = None) -> None:
    """End: what was undone may be anything."""
    end("something was undone")
