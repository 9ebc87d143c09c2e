"""Play with Timeline: while it is armed, playback moves scene and robot together, and scrubbing moves the robot.

    scrubbing ──playback──▶ gathering ──in place──▶ beginning ──first frame──▶ together ──end──▶ leaving ──▶ scrubbing

While scrubbing, the servos follow the sliders live. Where playback begins it is held up until the robot stands at the
present frame. Then the scene plays, and the robot begins with the first frame that is shown; it keeps to the time at
which Blender shows its frames, which with a sound is the sound's. Playback backwards is scrubbing.
"""

from __future__ import annotations

from enum import Enum
from time import perf_counter

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Object, Scene

from ...robik.errors import RobikError, ServoError
from ...robik.motions import Motion
from ...robik.servo.chain.trajectory import part
from ...robik.servo.play.player import Player
from ...robik.servo.play.playhead import ShownFrames, joining
from ...robik.servo.port.status import PlayState
from ..robot.reading import read_robot
from . import play, playback
from .hold import with_hold

FAR = 1.0  # [s] between scene and robot, from which they do not play together
LATE = 0.05  # [s] that the user is told of
PATIENCE = 10.0  # [s] for the scene to show a frame
STEER = 5e-4  # [s] that the scene's clock has moved, from which the robot is told
OVER = 1e-6  # [s] before the end, which counts as the end
OWN_TIME = "Play with Timeline plays in the animation's own time; set Speed to 1"
PLAYS = "the scene plays already; stop it first (space), then press Play with Timeline"


class Turn(Enum):
    """Stages of playing while it is armed, in words."""

    SCRUBBING = "armed: space plays scene and robot, scrubbing moves the robot"
    GATHERING = "robot goes to the present frame"
    BEGINNING = "scene begins to play"
    TOGETHER = "scene and robot play together"
    OVER = "robot is at the end of its motion; the scene plays on"
    LEAVING = "robot slows down"


class _Armed:
    """The robot that plays with the timeline."""

    def __init__(self, root: Object, player: Player, scene: Scene) -> None:
        self.robot, self.player, self.scene = root.name, player, scene.name
        self.sync_mode = scene.sync_mode
        self.turn, self.since = Turn.SCRUBBING, perf_counter()
        self.frame = scene.frame_current  # from which it plays; while scrubbing, the last one that was not played
        self.is_backward: bool | None = None  # of playback while scrubbing; None where that is not known yet
        self.shown = ShownFrames(self.frame, playback.rate(scene))  # since playback began
        self.is_performing = False
        self.is_elsewhere = self.has_gone_round = False  # the playhead, by the user or since the range is over
        self.wait = 0.0  # from that frame to the robot's motion [s]
        self.told = 0.0  # when playback began, as the robot was told
        self.late = 0.0  # from then to the first frame that was shown [s]

    def go_on(self, turn: Turn) -> None:
        """Take the next turn."""
        self.turn, self.since = turn, perf_counter()

    def watch_frames(self, scene: Scene) -> None:
        """Begin to note when frames are shown."""
        self.shown = ShownFrames(self.frame, playback.rate(scene))
        self.is_elsewhere = self.has_gone_round = False


_armed: _Armed | None = None
_why = ""  # it was disarmed by itself


def is_armed() -> bool:
    """Return whether it is, with the servos that are connected now."""
    return _armed is not None and _armed.player is play.player()


def message() -> str:
    """Return what goes on, or why it was disarmed, in words."""
    if _armed is None:
        return _why
    behind = _armed.player.status.behind if _armed.turn is Turn.TOGETHER else 0.0
    late = f", which is {abs(1e3 * behind):.0f} ms {'behind' if behind > 0 else 'ahead'}"
    return _armed.turn.value + (late if abs(behind) > LATE else "")


def arm(root: Object, scene: Scene) -> None:
    """Let the timeline move the robot from now on.

    Raise RobikError if the servos do not hold, the scene plays, or the motion must not be played at this speed.
    """
    global _armed, _why
    player = play.connected()
    if playback.playing() is not None:
        raise ServoError(PLAYS)
    _checked_motion(root, scene, player)
    _lead(root, scene)
    play.play_from(None)
    _armed, _why = _Armed(root, player, scene), ""
    scene.sync_mode = "AUDIO_SYNC"  # frames are left out where showing them is slow, and a sound's clock counts


def disarm(why: str = "") -> None:
    """Let the robot slow down and hold; the scene goes on as it is."""
    global _armed, _why
    if _armed is None:
        return
    before, _armed, _why = _armed, None, why
    if before.player.status.state.is_moving:
        before.player.stop()
    scene: Scene | None = bpy.data.scenes.get(before.scene)
    if scene is not None and scene.sync_mode == "AUDIO_SYNC":
        scene.sync_mode = before.sync_mode


def _lead(root: Object, scene: Scene) -> None:
    play.lead_live(root)
    play.hold(not scene.robik.playing.dead_man)


def _checked_motion(root: Object, scene: Scene, player: Player) -> tuple[np.ndarray, Motion]:
    """Return the frames (T,) that the robot can play, and its motion over them.

    Raise RobikError if there is none, or it must not be played at this speed.
    """
    if scene.robik.playing.speed != 1.0:
        raise ServoError(OWN_TIME)
    mechanism = read_robot(root)
    motion, _ = play.motion_to_play(root, mechanism, scene, player.chain)
    with_hold(player.preflight(motion, from_afar=True), root, mechanism, scene).check()
    return play.frames_to_play(root, mechanism, scene), motion


def tick(scene: Scene) -> None:
    """Do one turn of Blender's main loop."""
    if _armed is None:
        return
    if not is_armed():
        disarm("the servos were disconnected")
        return
    root: Object | None = scene.objects.get(_armed.robot) if scene.name == _armed.scene else None
    if root is None:
        disarm("its robot is no longer in the scene")
        return
    state = _armed.player.status.state
    if not state.is_moving and state is not PlayState.HOLDING:
        disarm(_armed.player.status.message)
        return
    try:
        TURNS[_armed.turn](_armed, root, scene, state)
    except RobikError as error:
        disarm(str(error))


def _scrub(armed: _Armed, root: Object, scene: Scene, state: PlayState) -> None:
    if state is PlayState.HOLDING:  # somebody stopped it
        disarm(armed.player.status.message)
    elif playback.playing() is None:
        armed.frame, armed.is_backward = scene.frame_current, None
    elif armed.is_backward is None and scene.frame_current != armed.frame:
        armed.is_backward = not playback.is_forward(scene, armed.frame)
        if armed.is_backward:
            return
        if armed.frame < play.frames_to_play(root, read_robot(root), scene)[-1]:
            playback.end(is_back=True)
            _gather(armed, scene, scene.frame_current)
        else:  # the robot stands where its motion ends
            armed.watch_frames(scene)
            armed.go_on(Turn.OVER)


def _gather(armed: _Armed, scene: Scene, frame: int) -> None:
    """Let the robot go to a frame, from which both will play; from the range's end on that is its first one."""
    first, last = playback.frames(scene)
    armed.frame = frame if first <= frame < last else first
    if scene.frame_current != armed.frame:
        scene.frame_set(armed.frame)
    armed.is_performing = False
    armed.go_on(Turn.GATHERING)
    if armed.player.status.state.is_moving:
        armed.player.stop()


def _approach(armed: _Armed, root: Object, scene: Scene, state: PlayState) -> None:
    if playback.playing() is not None or scene.frame_current != armed.frame:  # pressed once more, or gone elsewhere
        _leave(armed, is_back=True)
    elif state is PlayState.HOLDING and not armed.is_performing:
        frames, whole = _checked_motion(root, scene, armed.player)
        ahead = (armed.frame - float(frames[0])) / playback.rate(scene)
        armed.wait = max(0.0, -ahead)
        way = part(whole, whole.times[0] + max(0.0, ahead))
        armed.player.perform(way, True, *joining(way, armed.player.chain))
        armed.is_performing = True
    elif state is PlayState.HOLDING:
        _leave(armed)
    elif state is PlayState.PLAYING and armed.is_performing:  # it stands at that frame
        armed.watch_frames(scene)
        armed.go_on(Turn.BEGINNING)
        playback.play(scene)


def _begin(armed: _Armed, root: Object, scene: Scene, state: PlayState) -> None:
    if state is not PlayState.PLAYING or armed.is_elsewhere or not _goes_on(armed, scene):
        _leave(armed)
    elif perf_counter() - armed.since > PATIENCE:
        playback.end(is_back=True)
        disarm(f"the scene has shown no other frame for {PATIENCE:.0f} s")


def _steer(armed: _Armed, begin: float) -> None:
    armed.told = begin
    armed.player.begin_show(begin + armed.wait)


def _go_together(armed: _Armed, root: Object, scene: Scene, state: PlayState) -> None:
    status = armed.player.status
    if armed.is_elsewhere:
        _go_round(armed, scene)
    elif state is PlayState.HOLDING and status.time >= status.duration - OVER:
        armed.go_on(Turn.OVER)
    elif state is PlayState.HOLDING:  # somebody stopped it
        playback.end(is_back=False)
        disarm(status.message)
    elif state is not PlayState.PLAYING or not _goes_on(armed, scene):
        _leave(armed)
    elif abs(status.behind) > FAR + armed.late:
        playback.end(is_back=False)
        disarm(f"scene and robot are {abs(status.behind):.1f} s apart")
    elif armed.shown.begin is not None and abs(armed.shown.begin - armed.told) > STEER:
        _steer(armed, armed.shown.begin)


def _stand_by(armed: _Armed, root: Object, scene: Scene, state: PlayState) -> None:
    if armed.is_elsewhere:
        _go_round(armed, scene)
    elif not _goes_on(armed, scene):
        _leave(armed)


def _goes_on(armed: _Armed, scene: Scene) -> bool:
    """Return whether the scene plays as it did."""
    return playback.playing() is not None and playback.rate(scene) == armed.shown.rate


def _go_round(armed: _Armed, scene: Scene) -> None:
    """End or repeat what plays: the range is over, or the user has put the playhead elsewhere."""
    if not armed.has_gone_round:
        _leave(armed)
        return
    playback.end(is_back=False)
    first, last = playback.frames(scene)
    if scene.robik.playing.loop:
        _gather(armed, scene, first)
    else:
        scene.frame_set(last)
        _leave(armed)


def _leave(armed: _Armed, is_back: bool = False) -> None:
    """Stop both; the robot is armed as before once it stands."""
    playback.end(is_back)
    armed.go_on(Turn.LEAVING)
    if armed.player.status.state.is_moving:
        armed.player.stop()


def _rest(armed: _Armed, root: Object, scene: Scene, state: PlayState) -> None:
    if state is PlayState.HOLDING:
        _lead(root, scene)
        armed.frame, armed.is_backward = scene.frame_current, None
        armed.go_on(Turn.SCRUBBING)


TURNS = {
    Turn.SCRUBBING: _scrub,
    Turn.GATHERING: _approach,
    Turn.BEGINNING: _begin,
    Turn.TOGETHER: _go_together,
    Turn.OVER: _stand_by,
    Turn.LEAVING: _rest,
}


@persistent
def before_frame(scene: Scene, _graph: object = None) -> None:
    """Take note of a frame that will be shown, before it is evaluated: a slow scene does not delay the robot."""
    armed = _armed
    if armed is None or armed.turn not in (Turn.BEGINNING, Turn.TOGETHER, Turn.OVER) or scene.name != armed.scene:
        return
    now = perf_counter()
    if not armed.shown.note(scene.frame_current, now):
        armed.has_gone_round |= not armed.is_elsewhere and armed.shown.due(now) >= playback.frames(scene)[1]
        armed.is_elsewhere = True
    elif armed.turn is Turn.BEGINNING and armed.shown.begin is not None:  # at once: showing it may take long
        armed.late = now - armed.shown.begin
        _steer(armed, armed.shown.begin)
        armed.go_on(Turn.TOGETHER)


@persistent
def after_undo(_scene: object = None, _graph: object = None) -> None:
    """Disarm: what was undone may be anything."""
    disarm("something was undone; press it again to go on")
