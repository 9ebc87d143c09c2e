"""A robot's motion on servos: the one player that a Blender session has, and what it plays on."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import monotonic

import bpy
import numpy as np
from bpy.types import Object, Scene

from ...robik.errors import RobikError, ServoError
from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.physics.tilt_plan import tilt_plan
from ...robik.servo.chain.chain import ServoChain
from ...robik.servo.chain.trajectory import part
from ...robik.servo.play.player import Player
from ...robik.servo.play.preflight import Preflight, preflight
from ...robik.servo.play.softening import soften
from ...robik.servo.port.recording import load_recording
from ...robik.servo.port.status import PlaySettings, PlayState, Status
from ...robik.servo.setup.recording_report import write_report
from ...robik.servo.teach.teleoperation import check_ports
from ...robik.tilt_feedback import TiltPlan
from ..animation.sources import is_animated, is_plain
from ..long_work import heartbeat as alive
from ..motion import played_frames, read_motion
from ..overlay import ghost, servo_graph
from ..robot.parts import chosen_robot
from ..robot.sliders import set_sliders
from . import leader
from .carrying import LiveGoals, carried

NOTICEABLE = 1e-3  # [rad or m] of difference that softening makes
STILL = 1e-4  # [rad or m]: a servo that stands jitters by less than a count
APART = 5e-3  # [rad or m]: less is not to be seen
LEAVING = 3.0  # [s] that servos get to come to a stand where somebody must wait for them
SHOWING = 3.0  # times as long as showing a frame took, the playhead rests
BEAT = 0.03  # [s] between turns of Blender's main loop that the player hears of

_player: Player | None = None
_leaving: Player | None = None  # which may still slow down
_first: float | None = None  # the frame that is played first; None where the playhead goes by itself
_rests_until = 0.0  # when the playhead may move again: showing a frame may take a share of the time, not all of it
_led = ""  # the name of the robot whose sliders the servos follow live; undoing makes new objects
_goals: LiveGoals | None = None  # of the sliders that the servos follow live
_is_held = True  # whether the dead man's key is


def player() -> Player | None:
    """Return the connected player, or None."""
    return _player


def status() -> Status:
    """Return where the player stands; after it was disconnected, where it was left, with the torque that it left."""
    last = _player or _leaving
    return last.status if last is not None else Status()


def is_open() -> bool:
    """Return whether there are servos to speak to.

    Also after most faults, when they may still be powered and can still be stopped.
    """
    return _player is not None and _player.is_open


def connected() -> Player:
    """Return the connected player; raise ServoError if there is none, or its port is closed."""
    if _player is None or not _player.is_open:
        raise ServoError(f"no servos are connected ({status().message}); connect first")
    return _player


def may_have_torque() -> bool:
    """Return whether servos have torque, or may have: also after disconnecting, and after another file was opened."""
    return is_open() or status().may_have_torque


def torque_off() -> None:
    """Turn torque off, now, of whatever is or was connected last; raise ServoError if nothing was."""
    last = _player or _leaving
    if last is None:
        raise ServoError(
            "no servos have been connected; robik servos torque-off --port PORT turns the torque of any off"
        )
    last.emergency_stop()


def settings_of(scene: Scene) -> PlaySettings:
    """Return the scene's settings of playing; raise ServoError if the servos to play without are not named by ids."""
    playing = scene.robik.playing
    record = bpy.path.abspath(playing.record) if playing.record else ""
    return PlaySettings(
        rate=float(playing.rate),
        heartbeat=playing.stall,
        feed_forward=playing.feed_forward,
        without=_ids(playing.without),
        record=record,
    )


def _ids(text: str) -> tuple[int, ...]:
    words = text.replace(",", " ").split()
    if wrong := [word for word in words if not word.isdecimal()]:
        raise ServoError(f"Play Without takes ids of servos, such as 3, 7, not {wrong[0]!r}")
    return tuple(map(int, words))


def report_telemetry(scene: Scene) -> Path:
    """Write the recorded telemetry as a page beside its file, and return the page's path.

    Raise RobikError if no file is named, or it holds no telemetry.
    """
    if not scene.robik.playing.record:
        raise ServoError("no telemetry is recorded; name a file under Telemetry, connect and play")
    recording = Path(bpy.path.abspath(scene.robik.playing.record))
    page = recording.with_suffix(".html")
    write_report(load_recording(recording), page)
    return page


def connect(chain: ServoChain, port: str, settings: PlaySettings) -> Player:
    """Open a port, once an earlier player has let go of its own; nobody waits for either."""
    global _player
    if not port.strip():
        raise ServoError(
            "no port is named; give the servos' serial port, for example /dev/ttyUSB0 or COM3, or sim for simulated"
            " ones"
        )
    made = Player(chain, port.strip(), settings, is_apart=True)
    if (leading := leader.player()) is not None:
        check_ports(leading, made)
    disconnect()
    _player = made
    _player.connect(after=_leaving)
    _player.ask_tunings()
    alive.tell(_player.heartbeat)
    return _player


def disconnect(wait: float = 0.0) -> None:
    """Stop softly, closes the port and leaves torque as it is; waits for that at most so long [s]."""
    global _player, _leaving, _led
    _led = ""
    ghost.hide()
    servo_graph.hide()
    if _player is not None:
        alive.tell(None)
        _leaving, _player = _player, None
    if _leaving is not None:
        _leaving.close(wait)


def check(motion: Motion, chain: ServoChain, scene: Scene) -> Preflight:
    """Return what speaks against playing a motion on a chain as the scene wants it played."""
    playing = scene.robik.playing
    asked = part(motion, speed=playing.speed)
    begin = _player.begins_at(asked) if _player is not None else 0.0
    return preflight(asked, chain, settings_of(scene), status().present, playing.soften, begin=begin)


def has_motion(root: Object) -> bool:
    """Return whether something may move the robot's sliders: a bake, an imported motion, keys, strips or drivers."""
    return is_animated(root) or not is_plain(root)


def frames_to_play(root: Object, mechanism: Mechanism, scene: Scene) -> np.ndarray:
    """Return the frames (T,) whose motion is played: those over which the sliders move, in the range that is asked for.

    Raise RobikError if there are none.
    """
    step = scene.robik.playing.speed * scene.render.fps / scene.render.fps_base / settings_of(scene).rate
    frames = played_frames(root, mechanism, scene, step)
    if not (scene.robik.playing.use_range and scene.use_preview_range):
        return frames
    first, last = scene.frame_preview_start, scene.frame_preview_end
    frames = frames[(frames >= first) & (frames <= last)]
    if not len(frames):
        raise ServoError(
            f"nothing is baked in the preview range, frames {first} to {last}; bake there, or play without the range"
        )
    return frames


def motion_to_play(root: Object, mechanism: Mechanism, scene: Scene, chain: ServoChain) -> tuple[Motion, str]:
    """Return the exact motion of the sliders, in the range that is asked for.

    Where that is asked for, it carries the weight, and is softened: the second value says what that did, in words;
    empty where nothing was done or changed. Raise RobikError if there are no frames, or torques or motors are not
    known.
    """
    motion = read_motion(root, mechanism, frames_to_play(root, mechanism, scene), scene)
    gains, rate = _player.status.p_gains if _player is not None else {}, settings_of(scene).rate
    motion, said = carried(root, mechanism, motion, chain, gains, scene.robik.playing.speed, rate)
    if not scene.robik.playing.soften:
        return motion, said
    softened = soften(part(motion, speed=scene.robik.playing.speed), chain, settings_of(scene).rate)
    name, worst = max(softened.deviation.items(), key=lambda item: item[1])
    # at the speed at which it will be played; given back in the motion's own time, as everything else
    motion = part(softened.motion, speed=1.0 / scene.robik.playing.speed)
    softly = f"softened: {name} leaves the bake by {worst:.3g} at most" if worst > NOTICEABLE else ""
    return motion, "; ".join(filter(None, (said, softly)))


def tilt_to_play(root: Object, mechanism: Mechanism, scene: Scene, chain: ServoChain) -> TiltPlan | None:
    """Return the plan of tilt feedback for what is played; None where the robot's *Tilt Feedback* is off.

    Raise RobikError if the chain names no IMU, or the robot has no base, feet or masses.
    """
    if not root.robik.robot.physics.tilt_feedback:
        return None
    if chain.imu is None:
        raise ServoError('Tilt Feedback needs an IMU; name one in the servo file ("imu": {"port": "/dev/ttyUSB1"})')
    motion = read_motion(root, mechanism, frames_to_play(root, mechanism, scene), scene)
    return tilt_plan(mechanism, motion, chain.imu.body, "the bake").played(None, scene.robik.playing.speed)


# Blender's main loop


def tick(scene: Scene) -> None:
    """Do one turn of Blender's main loop.

    Beats the heart, and puts the sliders where the servos should be, or the real pose where they are.
    """
    leader.move_sliders(scene)
    if _player is None or not _player.is_open:
        return
    _player.heartbeat()
    if _player.status.state is PlayState.LIVE:
        is_led = leader.player() is None or leader.leads()  # else they stand, and come back slowly
        _player.aim(_slider_wishes(_player, bpy.data.objects.get(_led)) if _is_held and is_led else None)
    if _player.status.state is PlayState.PLAYING and _first is not None:
        _move_playhead(scene, _first, _player.status.at)
    with suppress(RobikError):  # without a robot, or before the servos said where they are, there is nothing to show
        if scene.robik.playing.mirror and leader.player() is None and not _player.status.state.is_moving:
            show_real_pose(scene)
        _show_ghost(scene)


def _show_ghost(scene: Scene) -> None:
    """Show the ghost where the servos are, or none where that is where the sliders are."""
    root, present = chosen_robot(scene), real_pose()
    is_apart = any(
        isinstance(root.get(name), float) and abs(root[name] - value) > APART for name, value in present.items()
    )
    if scene.robik.playing.ghost and is_apart:
        ghost.show(root, present)
    else:
        ghost.hide()


def play_from(first: float | None) -> None:
    """Let the playhead go along with what is played, from this frame on; None lets it go by itself."""
    global _first, _rests_until
    _first, _rests_until = first, 0.0


def _move_playhead(scene: Scene, first: float, seconds: float) -> None:
    """Show the frame that is played so many seconds after the first.

    Where showing one is slow, only so often that most time is left.
    """
    global _rests_until
    began = monotonic()
    if began < _rests_until:
        return
    rate = scene.robik.playing.speed * scene.render.fps / scene.render.fps_base
    frame = round(first + seconds * rate)
    if frame != scene.frame_current:
        scene.frame_set(frame)
        now = monotonic()
        _rests_until = now + SHOWING * (now - began)


def lead_live(root: Object) -> None:
    """Let the servos follow this robot's sliders from now on: dragged, animated, or posed in any other way.

    Raise ServoError if they do not hold.
    """
    global _led, _goals
    player = connected()
    _goals = LiveGoals(root, player.chain, player.status.p_gains)
    player.live()
    _led = root.name
    hold(True)


def is_live(robot: str) -> bool:
    """Return whether the servos follow the sliders of the robot of this name."""
    return _player is not None and is_open() and _player.status.state is PlayState.LIVE and _led == robot


def hold(is_held: bool) -> None:
    """Hold the dead man's key, or let it go; without it nothing is requested."""
    global _is_held
    _is_held = is_held


def _slider_wishes(player: Player, root: Object | None) -> dict[str, float]:
    """Return the sliders' values; without the robot, or a slider of it, nothing is wished for."""
    sliders = {} if root is None else {name: root.get(name) for name in player.chain.actuators}
    wishes = {name: value for name, value in sliders.items() if isinstance(value, float)}
    return wishes if root is None or _goals is None else _goals.of(root, wishes)


def real_pose() -> dict[str, float]:
    """Return where the servos are, by actuator [rad or m]. The first of two servos speaks for both.

    Raise ServoError if nothing is known of them.
    """
    status = connected().status
    present = dict(reversed([(one.actuator, value) for one, value in zip(status.servos, status.present, strict=False)]))
    if not present:
        raise ServoError("the servos have not said where they are; connect first")
    return present


def held_pose() -> dict[str, float]:
    """Return the values that the servos hold, by actuator [rad or m], not where a load has drawn them.

    Where they hold none, it is where they are. Raise ServoError if nothing is known of them.
    """
    status = connected().status
    held = dict(reversed([(one.actuator, value) for one, value in zip(status.servos, status.goals, strict=False)]))
    return held or real_pose()


def show_real_pose(scene: Scene) -> None:
    """Move the sliders of the scene's robot to where the servos are."""
    root = chosen_robot(scene)
    present = real_pose()
    names = [name for name in present if isinstance(root.get(name), float) and abs(root[name] - present[name]) > STILL]
    set_sliders(root, tuple(names), np.array([present[name] for name in names]))
