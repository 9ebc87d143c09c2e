"""Play with Timeline on the simulated chain; the module of Blender has no window, so its playback is played here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic, perf_counter, sleep

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("empty_scene")]

FPS, FIRST, LAST, BEGIN = 24, 1, 121, 25
DEADLINE = 60.0  # [s] for what must happen some time


class Playback:
    """What a window does: frames by the clock from `play` on, until `cancel`."""

    def __init__(self, timeline) -> None:
        self.timeline, self.scene = timeline, bpy.context.scene
        self.began: float | None = None
        self.first = self.plays = 0

    def space(self) -> None:
        if self.began is None:
            self.began, self.first = perf_counter(), self.scene.frame_current
        else:
            self.began = None

    def play(self) -> None:
        self.plays += 1
        self.space()

    def playing(self) -> object:
        return None if self.began is None else self

    def cancel(self, is_back: bool) -> None:
        if self.began is not None and is_back:
            self.scene.frame_set(self.first)
        self.began = None

    def show(self) -> None:
        if self.began is not None:
            frame = self.first + int((perf_counter() - self.began) * FPS)
            frame = FIRST + (frame - FIRST) % (LAST + 24 - FIRST + 1)  # round and round
            if frame != self.scene.frame_current:
                self.scene.frame_set(frame)


class Robot:
    """The walker, one motor of which is keyed along a straight line; its servos hold."""

    def __init__(self) -> None:
        self.root = scenes.import_robot("walker")
        self.play = installed.module("scene.servos.play")
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end, scene.render.fps = FIRST, LAST + 24, FPS
        chain = installed.module("scene.robot.chain").servo_chain(self.root, scenes.read(self.root), scene)
        self.servo = chain.servos[3]
        low, high = self.servo.position_limits
        self.low, self.high = low + 0.3 * (high - low), low + 0.6 * (high - low)
        for name in dict.fromkeys(chain.actuators):
            for frame, value in ((FIRST, self.low), (LAST, self.high)):
                if name == self.name:
                    self.root[name] = value
                self.root.keyframe_insert(f'["{name}"]', frame=frame)
        for curve in installed.module("scene.animation.actions").curves_of(self.root).values():
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
        scene.robik.playing.soften = True
        bpy.ops.robik.connect_servos()
        bpy.ops.robik.torque_servos(on=True)
        scene.frame_set(BEGIN)

    @property
    def name(self) -> str:
        return self.servo.actuator

    @property
    def state(self) -> str:
        return self.play.status().state.value

    @property
    def at(self) -> float:
        """The frame at which its servo is told to be."""
        goal = self.play.player().simulator.state()[self.servo.id]["goal_position"]
        value = (goal - self.servo.zero) / self.servo.counts_per_unit
        return FIRST + (value - self.low) / (self.high - self.low) * (LAST - FIRST)


@pytest.fixture
def timeline():
    return installed.module("scene.servos.timeline")


@pytest.fixture
def playback(timeline, monkeypatch) -> Playback:
    made = Playback(timeline)
    monkeypatch.setattr(timeline, "_playing", made.playing)
    monkeypatch.setattr(timeline, "_cancel", made.cancel)
    monkeypatch.setattr(timeline, "_play", made.play)
    return made


@pytest.fixture
def robot(timeline, monkeypatch) -> Iterator[Robot]:
    play = installed.module("scene.servos.play")
    settings_of = play.settings_of
    bpy.context.scene.robik.playing.stall = 3.0
    monkeypatch.setattr(play, "settings_of", lambda scene: replace(settings_of(scene), watchdog=1.5, silence=1.5))
    yield Robot()
    timeline.disarm()
    play.disconnect(play.LEAVING)


def go_until(playback: Playback, robot: Robot, condition: Callable[[], object]) -> None:
    """Blender's main loop, which the module has not."""
    ends = monotonic() + DEADLINE
    while not condition():
        assert monotonic() < ends, robot.play.status()
        playback.show()
        robot.play.tick(bpy.context.scene)
        playback.timeline.tick(bpy.context.scene)
        sleep(0.01)


def turn(timeline) -> str:
    return timeline._armed.turn.name if timeline.is_armed() else ""


def test_space_plays_scene_and_robot_together_and_the_playhead_moves_it(robot, playback, timeline) -> None:
    scene = bpy.context.scene
    playback.space()
    for _ in range(20):
        playback.show()
        robot.play.tick(scene)
        timeline.tick(scene)
        sleep(0.02)
    assert robot.state == "holding"  # nobody has armed it
    playback.cancel(True)
    assert bpy.ops.robik.play_with_timeline() == {"FINISHED"}
    assert scene.sync_mode == "AUDIO_SYNC"
    go_until(playback, robot, lambda: abs(robot.at - BEGIN) < 1)
    scene.frame_set(LAST)
    go_until(playback, robot, lambda: abs(robot.at - LAST) < 1)  # scrubbed
    scene.frame_set(BEGIN)
    go_until(playback, robot, lambda: abs(robot.at - BEGIN) < 1)
    playback.space()
    go_until(playback, robot, lambda: turn(timeline) == "GATHERING")
    assert scene.frame_current == BEGIN  # held up until the robot is there
    go_until(playback, robot, lambda: turn(timeline) == "TOGETHER")
    assert playback.plays == 1
    late = []

    def look() -> bool:
        if playback.began is not None and scene.frame_current > BEGIN + 20:
            at = robot.at
            late.append(playback.first + (perf_counter() - playback.began) * FPS - at)
        return turn(timeline) != "TOGETHER"

    go_until(playback, robot, look)
    assert len(late) > 20
    assert abs(np.median(late)) / FPS < 0.02
    go_until(playback, robot, lambda: turn(timeline) == "SCRUBBING")
    assert playback.began is None  # the scene stopped where the motion did


@pytest.mark.parametrize("end", ["space", "undo", "stop", "load", "jump"])
def test_whatever_ends_it_the_robot_slows_down(robot, playback, timeline, end) -> None:
    scene = bpy.context.scene
    bpy.ops.robik.play_with_timeline()
    go_until(playback, robot, lambda: abs(robot.at - BEGIN) < 1)
    playback.space()
    go_until(playback, robot, lambda: turn(timeline) == "TOGETHER" and scene.frame_current > BEGIN + 12)
    player = robot.play.player()
    if end == "space":
        playback.space()
    elif end == "undo":
        timeline.after_undo()
    elif end == "stop":
        bpy.ops.robik.stop_servos()
    elif end == "load":
        installed.module("operators.servos.play").before_load("")
    else:
        playback.cancel(False)
        scene.frame_set(FIRST)
        playback.space()
    if end in ("space", "jump"):
        go_until(playback, robot, lambda: turn(timeline) == "SCRUBBING")
        assert playback.began is None
        return
    assert not timeline.is_armed()
    if end == "load":
        go_until(playback, robot, lambda: not player.is_open)
        return
    go_until(playback, robot, lambda: robot.state == "holding")
    at = robot.at
    assert at < LAST - 10
    for _ in range(30):  # the scene goes on; the robot does not
        playback.show()
        robot.play.tick(scene)
        timeline.tick(scene)
        sleep(0.02)
    assert robot.at == at


def test_what_speaks_against_arming(robot, playback, timeline) -> None:
    scene = bpy.context.scene
    scene.robik.playing.speed = 2.0
    with pytest.raises(RuntimeError, match="plays in the animation's own time; set Speed to 1"):
        bpy.ops.robik.play_with_timeline()
    scene.robik.playing.speed = 1.0
    scene.render.fps = 240 * FPS  # the line is now too steep for the motor
    scene.robik.playing.soften = False
    with pytest.raises(RuntimeError, match=r"the motion must not be played: .*knee_l"):
        bpy.ops.robik.play_with_timeline()
    assert (timeline.is_armed(), robot.state) == (False, "holding")
    scene.render.fps = FPS
    bpy.ops.robik.play_with_timeline()
    with pytest.raises(RuntimeError, match="Play with Timeline is armed; press it again first"):
        bpy.ops.robik.live_servos()
    assert bpy.ops.robik.play_with_timeline() == {"FINISHED"}
    assert not timeline.is_armed()


def test_a_servo_that_fails_disarms_it(robot, playback, timeline) -> None:
    bpy.ops.robik.play_with_timeline()
    go_until(playback, robot, lambda: abs(robot.at - BEGIN) < 1)
    robot.play.player().simulator.command("error 3 0x20")
    go_until(playback, robot, lambda: not timeline.is_armed())
    assert "hardware error" in timeline.message()
