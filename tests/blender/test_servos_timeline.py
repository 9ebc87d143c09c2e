"""Play with Timeline on a simulated chain behind a pseudo-terminal.

The module of Blender has no window, so its playback is played here; tests/gui/timeline.py has a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, perf_counter, sleep

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.servo.simulator.process import SimulatorProcess

from tests.blender import installed, scenes

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("empty_scene")]

FPS, FIRST, LAST, BEGIN = 24, 1, 121, 25
END = LAST + 24  # of the timeline: the robot's motion is over before it
DEADLINE = 60.0  # [s] for what must happen some time
SPAN = 0.2  # [s] over which speeds are measured


class Playback:
    """What a window does: frames by the clock from `play` on, round and round, until it is ended."""

    def __init__(self, timeline) -> None:
        self.timeline, self.scene = timeline, bpy.context.scene
        self.began: float | None = None
        self.first = self.plays = 0
        self.direction = 1
        self.moments: list[tuple[float, int]] = []  # [s] at which frames were set, and which

    def space(self, direction: int = 1) -> None:
        if self.began is None:
            self.began, self.first, self.direction = perf_counter(), self.scene.frame_current, direction
        else:
            self.began = None

    def play(self, _scene: object) -> None:
        self.plays += 1
        self.space()

    def playing(self) -> object:
        return None if self.began is None else self

    def end(self, is_back: bool) -> None:
        if self.began is not None and is_back:
            self.scene.frame_set(self.first)
        self.began = None

    def show(self) -> None:
        if self.began is not None:
            frame = self.first + self.direction * int((perf_counter() - self.began) * FPS)
            frame = FIRST + (frame - FIRST) % (self.scene.frame_end - FIRST + 1)
            if frame != self.scene.frame_current:
                self.moments.append((perf_counter(), frame))
                self.scene.frame_set(frame)

    def due(self) -> float:
        """When its first frame was due [s], by the frame that came least late: a busy machine sets all of them late."""
        return min(moment - (frame - self.first) / FPS for moment, frame in self.moments if moment > self.began)


class Robot:
    """The walker, one motor of which is keyed along a straight line; its servos hold."""

    def __init__(self, folder: Path) -> None:
        self.root = scenes.import_robot("walker")
        self.play = installed.module("scene.servos.play")
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end, scene.render.fps = FIRST, END, FPS
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
        self.record = folder / "goals.csv"
        self.simulator = SimulatorProcess.of(chain, record=self.record)
        scene.robik.port = self.simulator.port
        scene.robik.playing.lose_hold = True  # one motor of a linkage alone, as no bake would move it
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
        return self.frame(self.simulator.state()[self.servo.id]["goal_position"])

    def frame(self, goal):
        value = (goal - self.servo.zero) / self.servo.counts_per_unit
        return FIRST + (value - self.low) / (self.high - self.low) * (LAST - FIRST)

    def goals(self) -> tuple[np.ndarray, np.ndarray]:
        """When goals came (K,) [s], and its servo's (K,) [rad]."""
        self.simulator.state()  # flushes the record
        rows = np.array([line.split(",") for line in self.record.read_text().splitlines()], dtype=float).reshape(-1, 3)
        rows = rows[rows[:, 1] == self.servo.id]
        return rows[:, 0], (rows[:, 2] - self.servo.zero) / self.servo.counts_per_unit

    def speeds(self) -> tuple[np.ndarray, np.ndarray]:
        """Moments (K,) [s], and the mean speeds (K,) over SPAN from there on [rad/s]."""
        times, values = self.goals()
        even = np.arange(times[0], times[-1] - SPAN, 0.02)
        return even, np.diff(np.interp([even, even + SPAN], times, values), axis=0)[0] / SPAN


@pytest.fixture
def timeline():
    return installed.module("scene.servos.timeline")


@pytest.fixture
def playback(timeline, monkeypatch) -> Playback:
    made = Playback(timeline)
    for name in ("playing", "play", "end"):
        monkeypatch.setattr(timeline.playback, name, getattr(made, name))
    return made


@pytest.fixture
def robot(timeline, monkeypatch, tmp_path) -> Iterator[Robot]:
    play = installed.module("scene.servos.play")
    settings_of = play.settings_of
    bpy.context.scene.robik.playing.stall = 3.0
    monkeypatch.setattr(play, "settings_of", lambda scene: replace(settings_of(scene), watchdog=1.5, silence=1.5))
    made = Robot(tmp_path)
    yield made
    timeline.disarm()
    play.disconnect(play.LEAVING)
    made.simulator.end()


def go_until(playback: Playback, robot: Robot, condition: Callable[[], object]) -> None:
    """Blender's main loop, which the module has not; it turns at least once between two keys."""
    ends = monotonic() + DEADLINE
    while True:
        playback.show()
        robot.play.tick(bpy.context.scene)
        playback.timeline.tick(bpy.context.scene)
        if condition():
            return
        assert monotonic() < ends, (robot.play.status(), playback.timeline.message())
        sleep(0.01)


def go_on(playback: Playback, robot: Robot, seconds: float) -> None:
    ends = monotonic() + seconds
    go_until(playback, robot, lambda: monotonic() > ends)


def turn(timeline) -> str:
    return timeline._armed.turn.name if timeline.is_armed() else ""


def arm_at(playback: Playback, robot: Robot, frame: int = BEGIN) -> None:
    """Arm it, and wait until the robot is at a frame."""
    bpy.context.scene.frame_set(frame)
    if not playback.timeline.is_armed():
        assert bpy.ops.robik.play_with_timeline() == {"FINISHED"}
    go_until(playback, robot, lambda: abs(robot.at - frame) < 1 and turn(playback.timeline) == "SCRUBBING")


def play_together(playback: Playback, robot: Robot) -> None:
    """Until both play, and have for a while."""
    arm_at(playback, robot)
    playback.space()
    go_until(playback, robot, lambda: turn(playback.timeline) == "TOGETHER" and robot.at > BEGIN + 12)


def test_space_plays_scene_and_robot_together_and_the_playhead_moves_it(robot, playback, timeline) -> None:
    scene = bpy.context.scene
    playback.space()
    go_on(playback, robot, 0.5)
    assert robot.state == "holding"  # nobody has armed it
    with pytest.raises(RuntimeError, match="the scene plays already; stop it first"):
        bpy.ops.robik.play_with_timeline()
    playback.end(True)
    assert len(robot.goals()[0]) == 0 or np.ptp(robot.goals()[1]) == 0.0
    arm_at(playback, robot)
    assert scene.sync_mode == "AUDIO_SYNC"
    arm_at(playback, robot, LAST)  # scrubbed
    arm_at(playback, robot, BEGIN)
    playback.space()
    go_until(playback, robot, lambda: turn(timeline) == "GATHERING")
    assert scene.frame_current == BEGIN  # held up until the robot stands there
    go_until(playback, robot, lambda: turn(timeline) == "TOGETHER")
    started = perf_counter()
    assert playback.plays == 1
    go_until(playback, robot, lambda: turn(timeline) == "OVER")
    go_until(playback, robot, lambda: scene.frame_current >= LAST)  # frames are shown late, never early
    times, values = robot.goals()
    begin = playback.due()
    frames = FIRST + (values - robot.low) / (robot.high - robot.low) * (LAST - FIRST)
    is_playing = (times > started) & (frames < LAST - 0.5)  # until it stands at the end
    late = (times - begin - (frames - playback.first) / FPS)[is_playing]
    assert late.min() > -0.02  # it begins with the first frame that is shown
    assert late.max() < 0.6 + max(0.0, started - begin)  # and comes to its speed from a stand
    assert abs(np.median(late[len(late) // 2 :])) < 0.02
    go_until(playback, robot, lambda: turn(timeline) == "SCRUBBING")  # the scene plays on to its own end
    assert (playback.began, scene.frame_current, robot.state) == (None, END, "live")
    timeline.disarm()
    assert scene.sync_mode == "NONE"


@pytest.mark.one_blender
@pytest.mark.parametrize("fraction", [0.0, pytest.param(0.98, marks=pytest.mark.long)])
def test_scrubbing_fast_is_held_to_the_servos_speed_and_acceleration(robot, playback, timeline, fraction) -> None:
    """From end to end at each look, and once to the other end."""
    scene = bpy.context.scene
    arm_at(playback, robot, FIRST)
    draws = np.random.default_rng(3)
    start = perf_counter()
    scene.frame_set(LAST)
    while perf_counter() < start + 3.0:
        if draws.uniform() < fraction:
            scene.frame_set(int(draws.choice([FIRST, LAST])))
        go_on(playback, robot, 0.02)
    settings = robot.play.settings_of(scene)
    moments, speeds = robot.speeds()
    speeds = speeds[moments > start]
    assert 0.05 < np.abs(speeds).max() <= 1.1 * settings.live_share * robot.servo.velocity_limit
    hardest = min(settings.live_acceleration, robot.servo.acceleration_limit)
    assert np.abs(np.diff(speeds)).max() / 0.02 <= 1.3 * hardest + 0.5
    assert turn(timeline) == "SCRUBBING"


@pytest.mark.long
def test_it_loops_where_that_is_asked_for_and_else_rests_at_the_end(robot, playback, timeline) -> None:
    scene = bpy.context.scene
    scene.frame_end = 60  # amid the robot's motion
    play_together(playback, robot)
    go_until(playback, robot, lambda: turn(timeline) == "SCRUBBING")
    assert (scene.frame_current, playback.began) == (60, None)
    go_until(playback, robot, lambda: abs(robot.at - 60) < 1)
    scene.robik.playing.loop = True
    arm_at(playback, robot)
    playback.space()
    go_until(playback, robot, lambda: scene.frame_current > 50)
    go_until(playback, robot, lambda: turn(timeline) == "GATHERING")
    assert scene.frame_current == FIRST
    go_until(playback, robot, lambda: turn(timeline) == "TOGETHER" and scene.frame_current > 30)
    _, speeds = robot.speeds()
    assert np.abs(speeds).max() < 1.1 * robot.servo.velocity_limit
    playback.space()
    go_until(playback, robot, lambda: turn(timeline) == "SCRUBBING")


@pytest.mark.long
def test_backwards_it_comes_after_as_in_scrubbing(robot, playback, timeline) -> None:
    scene = bpy.context.scene
    arm_at(playback, robot, 100)
    playback.space(direction=-1)
    go_until(playback, robot, lambda: scene.frame_current < 70)
    assert (turn(timeline), robot.state, playback.plays) == ("SCRUBBING", "live", 0)
    playback.space()
    go_until(playback, robot, lambda: abs(robot.at - scene.frame_current) < 1)
    playback.space()  # and forward again
    go_until(playback, robot, lambda: turn(timeline) == "TOGETHER")


@pytest.mark.long
def test_before_the_robots_motion_it_waits_and_behind_it_the_scene_plays_alone(robot, playback, timeline) -> None:
    scene = bpy.context.scene
    scene.frame_set(LAST + 2)
    bpy.ops.robik.play_with_timeline()
    go_until(playback, robot, lambda: abs(robot.at - LAST) < 1)
    playback.space()
    go_until(playback, robot, lambda: turn(timeline) == "OVER")
    assert playback.began is not None
    playback.space()
    go_until(playback, robot, lambda: turn(timeline) == "SCRUBBING")
    for curve in installed.module("scene.animation.actions").curves_of(robot.root).values():
        for point in curve.keyframe_points:
            point.co.x += 24  # the motion begins a second later
    arm_at(playback, robot, FIRST)
    playback.space()
    go_until(playback, robot, lambda: scene.frame_current >= FIRST + 12)
    assert turn(timeline) == "TOGETHER"
    assert abs(robot.at - FIRST) < 0.5  # stands there
    go_until(playback, robot, lambda: scene.frame_current >= FIRST + 24 + 48)
    assert abs(robot.at - (scene.frame_current - 24)) < 2


ARMED = {"space", "jump", "rate", "range", "again"}  # what stops both and leaves it armed


@pytest.mark.long
@pytest.mark.parametrize("end", [*sorted(ARMED), "button", "undo", "redo", "stop", "off", "disconnect", "load"])
def test_whatever_ends_it_the_robot_slows_down(robot, playback, timeline, end) -> None:
    scene = bpy.context.scene
    play_together(playback, robot)
    player = robot.play.player()
    if end in ("space", "again"):
        playback.space()
    elif end in ("undo", "redo"):
        assert timeline.after_undo in getattr(bpy.app.handlers, f"{end}_post")
        timeline.after_undo()
    elif end == "button":
        bpy.ops.robik.play_with_timeline()
    elif end in ("stop", "off"):
        bpy.ops.robik.stop_servos(emergency=end == "off")
    elif end == "disconnect":
        bpy.ops.robik.disconnect_servos()
    elif end == "load":
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        playback.scene = bpy.context.scene
    elif end == "jump":
        playback.first = FIRST
        scene.frame_set(FIRST)
    elif end == "rate":
        scene.render.fps = 25
    else:
        scene.frame_end = scene.frame_current - 2
    if end == "again":
        go_until(playback, robot, lambda: turn(timeline) == "SCRUBBING")
        playback.space()
        go_until(playback, robot, lambda: turn(timeline) == "TOGETHER")
    elif end in ARMED:
        go_until(playback, robot, lambda: turn(timeline) == "SCRUBBING")
        assert playback.began is None
    else:
        assert not timeline.is_armed()
        told = {"disconnect": "closed", "load": "closed", "off": "ready"}.get(end, "holding")
        go_until(playback, robot, lambda: player.status.state.value == told)
        stands = robot.at
        assert stands < LAST - 10
        go_on(playback, robot, 0.5)  # the scene goes on; the robot does not
        assert robot.at == stands
        torque = {servo["torque_enable"] for servo in robot.simulator.state().values()}
        assert torque == {0 if end == "off" else 1}
    _, speeds = robot.speeds()
    assert np.abs(speeds).max() < 1.1 * robot.servo.velocity_limit


@pytest.mark.long
@pytest.mark.parametrize("gone", ["deleted", "unlinked", "scene", "unplugged", "failed"])
def test_without_its_robot_it_is_disarmed(robot, playback, timeline, gone) -> None:
    play_together(playback, robot)
    if gone == "deleted":
        bpy.data.objects.remove(robot.root)
    elif gone == "unlinked":
        for collection in list(robot.root.users_collection):
            collection.objects.unlink(robot.root)
    elif gone == "scene":
        bpy.context.window.scene = bpy.data.scenes.new("Another")
    elif gone == "unplugged":
        robot.simulator.end()
    else:
        robot.simulator.command(f"error {robot.servo.id} 0x20")
    go_until(playback, robot, lambda: not timeline.is_armed())
    if gone in ("unplugged", "failed"):
        assert timeline.message() == robot.play.status().message
        assert ("hardware error" in timeline.message()) == (gone == "failed")
        return
    assert timeline.message() == "its robot is no longer in the scene"
    go_until(playback, robot, lambda: robot.state == "holding")


@pytest.mark.long
def test_disabling_the_add_on_disarms_it(robot, playback, timeline) -> None:
    play_together(playback, robot)
    player = robot.play.player()
    try:
        assert bpy.ops.preferences.addon_disable(module=installed.PACKAGE) == {"FINISHED"}
        assert (timeline.is_armed(), player.status.state.value, player.status.torque) == (False, "closed", True)
        assert all(servo["velocity"] == 0 for servo in robot.simulator.state().values())
        assert timeline.before_frame not in bpy.app.handlers.frame_change_pre
    finally:
        assert bpy.ops.preferences.addon_enable(module=installed.PACKAGE) == {"FINISHED"}


@pytest.mark.long
def test_what_speaks_against_arming(robot, playback, timeline) -> None:
    scene = bpy.context.scene
    scene.robik.playing.speed = 2.0
    with pytest.raises(RuntimeError, match="plays in the animation's own time; set Speed to 1"):
        bpy.ops.robik.play_with_timeline()
    scene.robik.playing.speed = 1.0
    scene.render.fps = 240 * FPS  # the line is now too steep for the motor
    with pytest.raises(RuntimeError, match=r"the motion must not be played: .*knee_l"):
        bpy.ops.robik.play_with_timeline()
    assert (timeline.is_armed(), robot.state, scene.sync_mode) == (False, "holding", "NONE")
    scene.render.fps = FPS
    bpy.ops.robik.play_with_timeline()
    for other in (bpy.ops.robik.live_servos, bpy.ops.robik.play_servos):
        with pytest.raises(RuntimeError, match="Play with Timeline is armed; press it again first"):
            other()
    go_until(playback, robot, lambda: robot.state == "live")
    scene.render.fps = 240 * FPS
    playback.space()
    go_until(playback, robot, lambda: not timeline.is_armed())  # looked at again before anything plays
    assert "must not be played" in timeline.message()
    bpy.ops.robik.stop_servos()
    go_until(playback, robot, lambda: robot.state == "holding")
    bpy.ops.robik.torque_servos(on=False)
    scene.render.fps = FPS
    playback.end(False)
    with pytest.raises(RuntimeError, match="the servos do not hold"):
        bpy.ops.robik.play_with_timeline()


def test_while_d_is_not_held_scrubbing_moves_nothing(robot, playback, timeline) -> None:
    bpy.context.scene.robik.playing.dead_man = True
    bpy.ops.robik.play_with_timeline()
    bpy.context.scene.frame_set(LAST)
    before = robot.at
    go_on(playback, robot, 1.0)
    assert robot.at == before
    robot.play.hold(True)  # as the key does
    go_until(playback, robot, lambda: abs(robot.at - LAST) < 1)
