"""Play with Timeline: while it is armed, playback moves scene and robot together, and scrubbing moves the robot.

    scrubbing ──playback begins──▶ gathering ──in place──▶ running up ──▶ together ──▶ leaving ──▶ scrubbing

While scrubbing, the servos follow the sliders live. Where playback begins it is held up until the robot stands at the
present frame, or a little before it where it must run up to the speed that it has there. Then both go, and the robot
keeps to the time at which Blender shows its frames, which with a sound is the sound's.
"""

from __future__ import annotations

from enum import Enum
from math import inf
from pathlib import Path
from time import perf_counter

import bpy
from bpy.app.handlers import persistent
from bpy.types import Object, Scene

from ...robik.errors import RobikError, ServoError
from ...robik.motions import Motion
from ...robik.servo.player import Player
from ...robik.servo.status import PlayState
from ...robik.servo.trajectory import part
from ...robik.show.show_file import Act, Part
from ...robik.show.timeline import Stage
from ..robot.reading import read_robot
from . import play

FAR = 1.0  # [s] between scene and robot, from which they do not play together
LEAD = 0.1  # [s] from when the robot is in place to its begin
WINDOW = 1.0  # [s] of which the earliest frame counts: frames are shown late, and never early
IT = "it"  # the robot's name and its motion's, in a show of one


class Turn(Enum):
    """What goes on while it is armed."""

    SCRUBBING = "armed: space plays scene and robot"
    GATHERING = "going to the present frame"
    RUNNING_UP = "beginning"
    TOGETHER = "playing with the scene"
    LEAVING = "slowing down"


class _Armed:
    """The robot that plays with the timeline."""

    def __init__(self, root: Object) -> None:
        self.robot, self.turn = root.name, Turn.SCRUBBING
        self.is_performing = False  # what was asked for after gathering
        self.frame = 0  # at which playback began, and will again
        self.delay = 0.0  # from the begin of the robot's way to the time of that frame [s]
        self.begin = 0.0  # of the robot's way, by `perf_counter` [s]
        self.shown = 0  # the last frame
        self.window, self.earliest = 0.0, inf


_armed: _Armed | None = None
_why = ""  # it was disarmed by itself


def is_armed() -> bool:
    """Return whether it is."""
    return _armed is not None


def message() -> str:
    """Return what goes on, or why it was disarmed, in words."""
    return _armed.turn.value if _armed is not None else _why


def arm(root: Object, scene: Scene) -> None:
    """Let the timeline move the robot from now on.

    Raises:
        RobikError: the servos do not hold, the motion must not be played, or it would not keep the scene's time.
    """
    global _armed, _why
    player = play.connected()
    if scene.robik.playing.speed != 1.0:
        raise ServoError("Play with Timeline plays in the animation's own time; set Speed to 1")
    _way(root, scene, player, int(play.frames_to_play(root, read_robot(root), scene)[0]))
    play.lead_live(root)
    play.play_from(None)
    if scene.sync_mode == "NONE":  # which shows every frame, however long that takes
        scene.sync_mode = "AUDIO_SYNC"
    _armed, _why = _Armed(root), ""


def disarm(why: str = "") -> None:
    """Let the robot slow down and hold; the scene goes on as it is."""
    global _armed, _why
    if _armed is None:
        return
    _armed, _why = None, why
    if (player := play.player()) is not None and player.status.state.is_moving:
        player.stop()


def _way(root: Object, scene: Scene, player: Player, frame: int) -> tuple[Motion, float]:
    """Return the robot's way from a frame on, with the run-up, and how long that is until the frame's time [s].

    Raises:
        RobikError: there is none, or it must not be played.
    """
    mechanism = read_robot(root)
    frames = play.frames_to_play(root, mechanism, scene)
    whole, _ = play.motion_to_play(root, mechanism, scene, player.chain)
    player.preflight(whole, from_afar=True).check()
    rate = scene.render.fps / scene.render.fps_base
    before = max(0.0, (frames[0] - frame) / rate)
    rest = part(whole, whole.times[0] + max(0.0, (frame - frames[0]) / rate))
    settings = play.settings_of(scene)
    show = Stage({IT: player.chain}, {(IT, Path(IT)): rest}, settings.approach_speed, settings.rate)
    line = show.timeline((Act(parts={IT: Part(motion=Path(IT))}),))
    player.preflight(line.motions[IT], from_afar=True).check()
    return line.motions[IT], line.acts[0].start - before


def tick(scene: Scene) -> None:
    """Do one turn of Blender's main loop."""
    if _armed is None:
        return
    player = play.player()
    root: Object | None = bpy.data.objects.get(_armed.robot)
    if player is None or root is None:
        disarm("the robot or its servos are gone")
        return
    state = player.status.state
    if not state.is_moving and state is not PlayState.HOLDING:
        disarm(player.status.message)
        return
    try:
        TURNS[_armed.turn](_armed, player, root, scene, state)
    except RobikError as error:
        disarm(str(error))


def _scrub(armed: _Armed, player: Player, root: Object, scene: Scene, state: PlayState) -> None:
    if state is PlayState.HOLDING:  # somebody stopped it
        disarm(player.status.message)
    elif _playing() is not None:
        _cancel(is_back=True)
        if scene.frame_current < play.frames_to_play(root, read_robot(root), scene)[-1]:
            armed.turn, armed.frame, armed.is_performing = Turn.GATHERING, scene.frame_current, False
            player.stop()


def _gather(armed: _Armed, player: Player, root: Object, scene: Scene, state: PlayState) -> None:
    if _playing() is not None or scene.frame_current != armed.frame:  # pressed once more, or gone elsewhere
        _cancel(is_back=True)
        _leave(armed, player)
    elif state is PlayState.HOLDING and not armed.is_performing:
        way, armed.delay = _way(root, scene, player, armed.frame)
        player.perform(way, from_afar=True)
        armed.is_performing = True
    elif state is PlayState.HOLDING:
        _leave(armed, player)
    elif state is PlayState.PLAYING:
        armed.begin = perf_counter() + LEAD + max(0.0, -armed.delay)
        player.begin_show(armed.begin)
        armed.turn = Turn.RUNNING_UP


def _run_up(armed: _Armed, player: Player, root: Object, scene: Scene, state: PlayState) -> None:
    if state is not PlayState.PLAYING:
        _leave(armed, player)
    elif perf_counter() >= armed.begin + armed.delay:
        armed.turn, armed.shown = Turn.TOGETHER, armed.frame
        armed.window, armed.earliest = perf_counter(), inf
        _play()


def _go_together(armed: _Armed, player: Player, root: Object, scene: Scene, state: PlayState) -> None:
    if state is not PlayState.PLAYING or _playing() is None:
        if state is PlayState.HOLDING:
            _cancel(is_back=False)
        _leave(armed, player)
        return
    if scene.frame_current < armed.shown:  # the end of the timeline, or the user has put it elsewhere
        _cancel(is_back=False)
        _leave(armed, player)
        return
    if abs(player.status.behind) > FAR:
        _cancel(is_back=False)
        disarm("scene and robot do not keep together")
        return
    now = perf_counter()
    if now - armed.window > WINDOW and armed.earliest < inf:
        armed.begin = armed.earliest
        player.begin_show(armed.begin)
        armed.window, armed.earliest = now, inf


def _leave(armed: _Armed, player: Player) -> None:
    armed.turn = Turn.LEAVING
    if player.status.state.is_moving:
        player.stop()


def _rest(armed: _Armed, player: Player, root: Object, scene: Scene, state: PlayState) -> None:
    if state is PlayState.HOLDING:
        play.lead_live(root)
        armed.turn = Turn.SCRUBBING


TURNS = {
    Turn.SCRUBBING: _scrub,
    Turn.GATHERING: _gather,
    Turn.RUNNING_UP: _run_up,
    Turn.TOGETHER: _go_together,
    Turn.LEAVING: _rest,
}


@persistent
def after_frame(scene: Scene, _graph: object = None) -> None:
    """Take note of when a frame is shown."""
    armed = _armed
    if armed is None or armed.turn is not Turn.TOGETHER or scene.frame_current <= armed.frame:
        return
    armed.shown = max(armed.shown, scene.frame_current)
    seconds = (scene.frame_current - armed.frame) * scene.render.fps_base / scene.render.fps
    armed.earliest = min(armed.earliest, perf_counter() - seconds - armed.delay)


@persistent
def after_undo(_scene: object = None, _graph: object = None) -> None:
    """Disarm: what was undone may be anything."""
    disarm("undone: arm it again")


# Blender's playback


def _playing() -> bpy.types.Window | None:
    """Return the window in which the scene plays."""
    for window in bpy.context.window_manager.windows:
        if window.screen.is_animation_playing:
            return window
    return None


def _cancel(is_back: bool) -> None:
    """End playback, at the frame that it has reached or where it began."""
    if (window := _playing()) is not None:
        with bpy.context.temp_override(window=window):
            bpy.ops.screen.animation_cancel(restore_frame=is_back)


def _play() -> None:
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.screen.animation_play(sync=True)  # frames are left out where it is slow, also without a sound
