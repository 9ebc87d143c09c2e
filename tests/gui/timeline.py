"""Play with Timeline in a real window, from the zip: tests/gui/run 5.2 timeline FOLDER.

Space, the playhead, ESC, undo and Stop, on a simulated chain behind a pseudo-terminal; how far the robot is behind the
frames that are shown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402
import numpy as np  # noqa: E402

from tests.gui.shots import with_only  # noqa: E402
from tests.gui.sidebar import open_tab  # noqa: E402
from tests.gui.window import call, key, picture, remember, root, run, until  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

FPS, FIRST, LAST = 24, 1, 481
BEGIN = 49  # the frame from which it plays
END = LAST + 24  # of the timeline
RECORD = Path("/tmp/goals.csv")
shown: list[tuple[float, int]] = []


def note(scene: bpy.types.Scene, _graph: object = None) -> None:
    """When each frame is shown, once the robot stands at the first one."""
    armed = module("scene.servos.timeline")._armed
    if armed is not None and armed.turn.name in ("BEGINNING", "TOGETHER"):
        shown.append((perf_counter(), scene.frame_current))


def module(name: str):
    return import_module(f"{PACKAGE}.{name}")


class Robot:
    """The walker, one motor of which is keyed along a straight line, and its simulated chain."""

    def __init__(self) -> None:
        robot, scene = root(), bpy.context.scene
        scene.frame_start, scene.frame_end, scene.render.fps = FIRST, END, FPS
        self.play, self.timeline = module("scene.servos.play"), module("scene.servos.timeline")
        mechanism = module("scene.robot.reading").read_robot(robot)
        chain = module("scene.robot.chain").servo_chain(robot, mechanism, scene)
        self.servo = chain.servos[3]
        low, high = self.servo.position_limits
        self.low, self.high = low + 0.3 * (high - low), low + 0.7 * (high - low)
        for name in mechanism.actuators:
            for frame in (FIRST, LAST):
                if name == self.servo.actuator:
                    robot[name] = self.low if frame == FIRST else self.high
                robot.keyframe_insert(f'["{name}"]', frame=frame)
        for curve in module("scene.animation.actions").curves_of(robot).values():
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
        self.simulator = module("robik.servo.simulator.process").SimulatorProcess.of(chain, record=RECORD)
        scene.robik.port = self.simulator.port

    @property
    def turn(self) -> str:
        return self.timeline._armed.turn.name if self.timeline.is_armed() else ""

    @property
    def state(self) -> str:
        return self.play.status().state.value

    def goals(self) -> list[tuple[float, float]]:
        """When goals came [s], and the frames at which they are the motion's."""
        self.simulator.state()  # flushes the record
        rows = [line.split(",") for line in RECORD.read_text().splitlines()]
        found = []
        for when, _, goal in (row for row in rows if int(row[1]) == self.servo.id):
            value = (int(goal) - self.servo.zero) / self.servo.counts_per_unit
            found.append((float(when), FIRST + (value - self.low) / (self.high - self.low) * (LAST - FIRST)))
        return found

    def is_at(self, frame: int) -> bool:
        return abs(self.goals()[-1][1] - frame) < 1.0

    def until_at(self, frame: int) -> Iterator[float]:
        bpy.context.scene.frame_set(frame)
        yield from until(lambda: self.is_at(frame) and self.turn == "SCRUBBING", 90, f"the robot at frame {frame}")

    def late(self) -> list[float]:
        """How far goals were behind the frames that were shown, once the robot had caught up [s].

        A frame is shown late, by its own length and more where drawing is slow, and never early: the earliest counts.
        """
        goals = self.goals()
        frames = [(when, frame) for when, frame in shown if frame > BEGIN]
        first = frames[0]
        moved = next(when for when, at in goals if when > first[0] - 0.1 and at > BEGIN + 0.2)
        print(
            f"the robot moved {1e3 * (moved - first[0]):.0f} ms after frame {first[1]} was shown, the first one;"
            f" {(len(frames) - 1) / (frames[-1][0] - first[0]):.1f} frames a second",
            flush=True,
        )
        assert moved > first[0] - 0.02
        times, places = np.array(goals).T
        for when, frame in frames[:: max(1, len(frames) // 12)]:
            place = np.interp(when, times, places)
            due = when - first[0] - (frame - first[1]) / FPS
            print(f"  {when - first[0]:6.3f} s frame {frame} ({due:+.3f} s), robot {place:.2f}", flush=True)
        began = min(when - (frame - BEGIN) / FPS for when, frame in frames)
        last = [(when, at) for when, at in goals if when > first[0] and LAST - 96 < at < LAST - 2]
        return [when - began - (at - BEGIN) / FPS for when, at in last]


def prepared() -> Iterator[float]:
    """Up to servos that hold."""
    install(Path("/tmp/robik.zip"))
    bpy.data.batch_remove(list(bpy.data.objects))
    yield 0.5
    call(bpy.ops.robik.import_robot, filepath=str(module("robik.robots").path("walker")))
    yield from until(lambda: root() is not None, 400, "the robot")
    yield from key("Escape")  # the import's own report
    robot, play = Robot(), module("scene.servos.play")
    settings_of = play.settings_of
    play.settings_of = lambda scene: replace(settings_of(scene), heartbeat=60.0, watchdog=2.5, silence=2.0)
    bpy.app.handlers.frame_change_post.append(note)
    call(bpy.ops.robik.connect_servos)
    yield from until(lambda: robot.state == "ready", 60, "servos found")
    call(bpy.ops.robik.torque_servos, on=True)
    yield from until(lambda: robot.state == "holding", 60, "torque")
    yield from open_tab()
    with_only(("servos", "servos_playing"))
    yield 2.0
    return robot


def played(robot: Robot, mode: str) -> Iterator[float]:
    """From space to the end of the timeline, however Blender is told to keep time."""
    scene = bpy.context.scene
    yield from robot.until_at(BEGIN)
    scene.sync_mode = mode
    shown.clear()
    yield from key("space")
    yield from until(lambda: robot.turn == "TOGETHER", 90, "playing together")
    yield from until(lambda: robot.turn == "SCRUBBING", 90, "armed again at the end")
    late = [1e3 * one for one in robot.late()]
    print(f"{mode}: behind {median(late):.1f} ms in the median, {min(late):.1f} to {max(late):.1f}", flush=True)
    assert abs(median(late)) < 20.0
    assert (scene.frame_current, bpy.context.screen.is_animation_playing) == (END, False)


def steps() -> Iterator[float]:
    """From the installation to letting go."""
    robot = yield from prepared()
    scene, play, timeline = bpy.context.scene, robot.play, robot.timeline
    picture("timeline_holding")
    # nothing plays the robot before it is armed
    yield from key("space")
    yield 1.0
    yield from key("space")
    assert (robot.state, len({at for _, at in robot.goals()})) == ("holding", 1), play.status()
    scene.frame_set(BEGIN)
    assert call(bpy.ops.robik.play_with_timeline) == {"RUNNING_MODAL"}
    assert scene.sync_mode == "AUDIO_SYNC"
    yield from robot.until_at(BEGIN)
    yield from robot.until_at(LAST)  # scrubbed
    yield 0.5
    picture("timeline_armed")
    for editors in ("top_left_3d_editor", "3d_editors", "properties_editors", "animation_editors"):
        setattr(bpy.context.window_manager.windows[0].screen, f"use_play_{editors}", False)  # drawing is slow here
    for mode in ("AUDIO_SYNC", "FRAME_DROP", "NONE"):
        yield from played(robot, mode)
    # backwards it comes after
    yield from robot.until_at(LAST)
    scene.sync_mode = "AUDIO_SYNC"  # else every frame is played, however slowly
    yield from key("ctrl+shift+space")
    yield from until(lambda: scene.frame_current < LAST - 12, 90, "played backwards")
    assert (robot.turn, robot.state) == ("SCRUBBING", "live")
    yield from key("space")
    yield from until(lambda: not bpy.context.screen.is_animation_playing, 60, "the scene stands")
    # space once more stops both
    yield from robot.until_at(BEGIN)
    yield from key("space")
    yield from until(lambda: robot.turn == "TOGETHER", 90, "playing together")
    yield 1.0
    picture("timeline_together")  # which holds Blender up
    yield from key("space")
    yield from until(lambda: robot.turn == "SCRUBBING", 60, "both have stopped")
    assert scene.frame_current < END
    yield from disarmed(robot)
    # opening a file
    call(bpy.ops.robik.play_with_timeline)
    yield from until(lambda: robot.turn == "SCRUBBING", 60, "armed")
    player = play.player()
    module("operators.servos.play").before_load("")
    assert not timeline.is_armed()
    yield from until(lambda: not player.is_open, 60, "let go of")
    robot.simulator.end()
    print("all done", flush=True)


def disarmed(robot: Robot) -> Iterator[float]:
    """By undo, ESC and Stop, while scene and robot play."""
    scene = bpy.context.scene
    for how in ("undo", "escape", "stop"):
        remember("before")
        remember("after")
        if not robot.timeline.is_armed():
            call(bpy.ops.robik.play_with_timeline)
        yield from robot.until_at(BEGIN)
        yield from key("space")
        yield from until(
            lambda: robot.turn == "TOGETHER" and bpy.context.scene.frame_current > BEGIN + 36, 90, "playing together"
        )
        if how == "undo":
            yield from key("ctrl+z")
        elif how == "escape":
            yield from key("Escape")
        else:
            call(bpy.ops.robik.stop_servos)
        yield from until(lambda: not robot.timeline.is_armed(), 30, f"disarmed by {how}")
        yield from until(lambda: robot.state == "holding", 60, f"stopped by {how}")
        picture(f"timeline_{how}")
        assert bpy.context.scene.sync_mode == "NONE"
        if how == "escape":
            assert not bpy.context.screen.is_animation_playing
        if bpy.context.screen.is_animation_playing:
            yield from key("space")
        at = robot.goals()[-1]
        assert at[1] < LAST - FPS
        scene = bpy.context.scene
        scene.frame_set(FIRST)
        yield 1.0
        assert (robot.state, robot.goals()[-1]) == ("holding", at)


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(steps)
