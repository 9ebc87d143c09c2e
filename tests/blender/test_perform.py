"""Performing: layers on the sliders, by keys and by OSC through a real socket; recording; every way to stop servos."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import monotonic, sleep

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.servo.simulator.process import SimulatorProcess
from pythonosc.udp_client import SimpleUDPClient

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")

FPS, STEP, DEADLINE = 24, 0.02, 60.0


def keyed(root, name: str, frames: dict[int, float], motors: list[str]) -> bpy.types.Action:
    """An action that keys motors of the robot; nothing is animated by it."""
    for motor in motors:
        for frame, value in frames.items():
            root[motor] = value
            root.keyframe_insert(f'["{motor}"]', frame=frame)
    action = root.animation_data.action
    action.name, action.use_fake_user = name, True
    root.animation_data.action = None
    for motor in motors:
        root[motor] = 0.0
    return action


class Stage:
    """The boxer with an idle motion of one motor, two clips, a stick."""

    def __init__(self) -> None:
        self.root = scenes.import_robot("boxer")
        bpy.context.scene.render.fps = FPS
        self.motors = list(scenes.read(self.root).actuators)
        self.performing = installed.module("scene.show.performing")
        self.performance = self.root.robik.robot.performance
        first, second = self.motors[:2]
        self.limits = scenes.read(self.root).actuator_limits
        self.idle = keyed(self.root, "idle", {1: 0.0, 25: 0.1, 49: 0.0}, [first])
        self.lift = keyed(self.root, "lift", {1: 0.3, 73: 0.3}, [second])
        self.performance.idle = self.idle
        assert bpy.ops.robik.add_trigger() == {"FINISHED"}
        self.trigger.name, self.trigger.action, self.trigger.key = "lift", self.lift, "q"

    @property
    def trigger(self):
        return self.performance.triggers[-1]

    def stick(self, motor: str, amount: float = 50.0):
        bpy.ops.robik.add_stick()
        stick = self.performance.sticks[-1]
        stick.motor, stick.amount, stick.minus, stick.plus, stick.osc = motor, amount, "n", "m", "/look"
        return stick

    def run(self, seconds: float) -> np.ndarray:
        """Turns of Blender's main loop, in no time; the sliders (K, motors) after each."""
        rows = []
        for _ in range(round(seconds / STEP)):
            one = self.performing._performance
            self.performing.tick(bpy.context.scene, one.last + STEP)
            rows.append([self.root[name] for name in self.motors])
        return np.array(rows)


@pytest.fixture
def stage():
    made = Stage()
    yield made
    made.performing.end()


def message_of(call: Callable[[], object]) -> str:
    with pytest.raises(RuntimeError) as found:
        call()
    return str(found.value)


def test_the_idle_motion_a_clip_and_its_end(stage: Stage) -> None:
    assert bpy.ops.robik.perform() == {"FINISHED"}
    rows = stage.run(5.0)
    times = STEP * np.arange(1, len(rows) + 1)
    assert rows[times > 1.5, 0].max() == pytest.approx(0.1, abs=0.003)
    assert rows[times > 1.5, 0].min() == pytest.approx(0.0, abs=0.003)
    assert not rows[:, 1].any()
    hand = scenes.body_objects(stage.root)[-1]
    before = hand.matrix_basis.copy()
    assert stage.performing.press("Q") and not stage.performing.press("X")
    assert stage.run(1.0)[-1, 1] == pytest.approx(0.3, abs=1e-5)
    assert (hand.matrix_basis.translation - before.translation).length > 0.01  # the bodies are posed, too
    assert stage.performing.playing() == ["lift"]
    assert stage.run(3.0)[-1, 1] == pytest.approx(0.0, abs=1e-5)
    assert stage.performing.playing() == []
    assert bpy.ops.robik.perform() == {"FINISHED"}
    assert not stage.performing.is_performing()


def test_a_clip_that_is_held_ends_when_its_key_is_let_go(stage: Stage) -> None:
    stage.trigger.held = True
    bpy.ops.robik.perform()
    stage.performing.press("Q")
    assert stage.run(6.0)[-1, 1] == pytest.approx(0.3, abs=1e-5)
    stage.performing.let_go("Q")
    assert stage.run(1.0)[-1, 1] == pytest.approx(0.0, abs=1e-5)
    stage.performing.press("Q")
    stage.performing.let_go_all()
    assert stage.run(1.0)[-1, 1] == pytest.approx(0.0, abs=1e-5)


def test_a_stick_leans_on_its_motor_by_keys_within_limits(stage: Stage) -> None:
    motor, (low, high) = stage.motors[2], stage.limits[2]
    stage.stick(motor)
    bpy.ops.robik.perform()
    start = stage.run(0.1)[-1, 2]
    stage.performing.press("M")
    assert stage.run(2.0)[-1, 2] == pytest.approx(min(start + 0.25 * (high - low), high), abs=1e-4)
    stage.performing.let_go("M")
    assert stage.run(2.0)[-1, 2] == pytest.approx(start, abs=1e-4)


def test_osc_through_a_socket(stage: Stage) -> None:
    stage.trigger.osc, stage.performance.osc_port = "/lift", "0"
    stage.stick(stage.motors[2])
    bpy.ops.robik.perform()
    host, port = stage.performing.address().split(":")
    assert host == "127.0.0.1"
    client = SimpleUDPClient(host, int(port))
    client.send_message("/nobody", 1)
    client.send_message("/lift", 1.0)
    client.send_message("/look", -1.0)
    start = stage.run(0.1)[-1, 2]
    rows = stage.run(1.5)
    assert rows[-1, 1] == pytest.approx(0.3, abs=1e-5)
    assert rows[-1, 2] < start - 0.05
    assert stage.performing.unheard() == "/nobody"
    client.send_message("/robik/stop", [])
    stage.performing.tick(bpy.context.scene)
    assert not stage.performing.is_performing()
    assert stage.performing.why() == "stopped by OSC"


@pytest.mark.one_blender
def test_a_gamepad_through_sdl(stage: Stage) -> None:
    from tests.show.virtual_pad import VirtualPad

    stage.trigger.held, stage.trigger.button = True, "B"
    stick = stage.stick(stage.motors[2])
    stick.axis = "RIGHT_Y"
    bpy.ops.robik.perform()
    start, pad = stage.run(0.1)[-1, 2], VirtualPad()
    pad.plug()
    pad.axis(3, -1.0)
    pad.button(1, True)
    rows = stage.run(2.0)
    (low, high) = stage.limits[2]
    assert rows[-1, 1] == pytest.approx(0.3, abs=1e-5)
    assert rows[-1, 2] == pytest.approx(min(start + 0.25 * (high - low), high), abs=1e-3)
    pad.unplug()  # as if all were let go
    rows = stage.run(2.0)
    assert rows[-1, 1] == pytest.approx(0.0, abs=1e-5) and rows[-1, 2] == pytest.approx(start, abs=1e-4)


def test_without_the_packages_a_gamepad_says_how_to_get_them(stage: Stage, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sdl2", None)
    stage.trigger.button = "A"
    said = message_of(bpy.ops.robik.perform)
    assert "-m pip install --target" in said and "pysdl2 pysdl2-dll; then start Blender again" in said
    assert not stage.performing.is_performing()


def test_recording_makes_a_bake_of_what_was_performed(stage: Stage) -> None:
    scene = bpy.context.scene
    scene.frame_set(11)
    bpy.ops.robik.perform(record=True)
    rows = stage.run(1.0)
    stage.performing.press("Q")
    rows = np.vstack([rows, stage.run(1.0)])
    assert bpy.ops.robik.perform() == {"FINISHED"}
    bakes = stage.root.robik.robot.bakes
    assert len(bakes) == 1 and installed.module("scene.bake.bakes").in_use(stage.root) == 0
    frames = 11.0 + np.arange(48)
    times = STEP * np.arange(1, len(rows) + 1)
    for k in (0, 1):
        keyed_values = scenes.channel(stage.root, f'["{stage.motors[k]}"]', 0, frames)
        np.testing.assert_allclose(keyed_values, np.interp((frames - 11) / FPS, times, rows[:, k]), atol=4e-3)
    assert keyed_values.max() == pytest.approx(0.3, abs=1e-4)
    body = scenes.body_objects(stage.root)[-1]
    assert np.ptp(scenes.keyed_pose(body, frames), axis=0).max() > 0.01
    assert stage.performing.keep_recording(scene) is None  # only once


def test_a_floating_robot_takes_its_base_along() -> None:
    root = scenes.squats()
    assert bpy.ops.robik.bake() == {"FINISHED"}
    bake = root.robik.robot.bakes[0]
    bake.name = "squat"
    performing = installed.module("scene.show.performing")
    base = scenes.body_objects(root)[0]
    heights = scenes.channel(base, "location", 2, np.arange(1.0, 25.0))
    root.robik.robot.performance.idle = bake.parts[""].action
    bpy.ops.robik.perform()
    seen = []
    for _ in range(150):
        performing.tick(bpy.context.scene, performing._performance.last + STEP)
        seen.append(base.location.z)
    performing.end()
    assert max(seen[60:]) == pytest.approx(heights.max(), abs=2e-3)
    assert min(seen[60:]) == pytest.approx(heights.min(), abs=2e-3)


REFUSED = {
    "the trigger 'lift' has no clip": lambda s: setattr(s.trigger, "action", None),
    "the key Q has two meanings": lambda s: setattr(s.stick(s.motors[2]), "plus", "Q"),
    "a stick turns no motor": lambda s: s.stick(""),
    "a key is a letter or a digit, not '!'": lambda s: setattr(s.trigger, "key", "!"),
    "an OSC address begins with /, as /lift": lambda s: setattr(s.trigger, "osc", "lift"),
    "/robik/stop ends the performance": lambda s: setattr(s.trigger, "osc", "/robik/stop"),
    "OSC needs a port such as 9000": lambda s: setattr(s.performance, "osc_port", "stage"),
    "Follow Live moves the robot": lambda s: setattr(s.root.robik.robot.follow, "on", True),
    "two triggers are called 'lift'": lambda s: (bpy.ops.robik.add_trigger(), setattr(s.trigger, "name", "lift")),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_wrong_is_said_before_anything_moves(stage: Stage, said: str) -> None:
    REFUSED[said](stage)
    before = dict(stage.root.items())
    assert said in message_of(bpy.ops.robik.perform)
    assert not stage.performing.is_performing()
    assert all(stage.root[name] == before[name] for name in stage.motors)


def test_the_key_that_keeps_servos_going_is_no_trigger(stage: Stage) -> None:
    stage.trigger.key = "d"
    bpy.context.scene.robik.playing.dead_man = True
    assert "the key D keeps the servos going" in message_of(bpy.ops.robik.perform)


def test_a_change_of_the_frame_ends_it(stage: Stage) -> None:
    bpy.ops.robik.perform()
    stage.run(0.1)
    bpy.context.scene.frame_set(7)
    stage.performing.tick(bpy.context.scene)
    assert stage.performing.why() == "the frame was changed"


def test_follow_live_ends_it(stage: Stage) -> None:
    bpy.ops.robik.perform()
    stage.run(0.1)
    stage.root.robik.robot.follow.on = True
    stage.performing.tick(bpy.context.scene)
    assert stage.performing.why() == "Follow Live moves the robot; switch it off first"


def test_another_scene_ends_it(stage: Stage) -> None:
    bpy.ops.robik.perform()
    stage.performing.tick(bpy.data.scenes.new("another"))
    assert stage.performing.why() == "its robot is no longer in the scene"


@pytest.mark.one_blender
def test_packets_that_are_no_osc_and_axes_that_are_no_numbers_move_nothing(stage: Stage) -> None:
    stage.trigger.osc, stage.performance.osc_port, stage.performance.idle = "/lift", "0", None
    stage.stick(stage.motors[2])
    bpy.ops.robik.perform()
    host, port = stage.performing.address().split(":")
    client = SimpleUDPClient(host, int(port))
    for value in (float("nan"), "left", []):
        client.send_message("/look", value)
    client._sock.sendto(b"\x00\xff no OSC", (host, int(port)))
    before = stage.run(0.1)[0]
    np.testing.assert_array_equal(stage.run(1.0)[-1], before)
    assert "must begin with /" in stage.performing.unheard()
    client.send_message("/look", 99.0)
    low, high = stage.limits[2]
    assert stage.run(2.0)[-1, 2] == pytest.approx(min(before[2] + 0.25 * (high - low), high), abs=1e-4)


def test_a_robot_that_is_deleted_ends_it(stage: Stage) -> None:
    bpy.ops.robik.perform()
    bpy.data.objects.remove(stage.root)
    stage.performing.tick(bpy.context.scene)
    assert stage.performing.why() == "its robot is no longer in the scene"


class Servos:
    """The boxer's servos on a simulated chain, live; new ones, in a process that is kept for all tests."""

    def __init__(self, stage: Stage, kept: list[SimulatorProcess]) -> None:
        self.play, self.stage, scene = installed.module("scene.servos.play"), stage, bpy.context.scene
        chain = installed.module("scene.robot.chain").servo_chain(stage.root, scenes.read(stage.root), scene)
        self.servo = next(servo for servo in chain.servos if servo.actuator == stage.motors[1])
        if not kept:
            kept.append(SimulatorProcess.of(chain))
        self.simulator = kept[0]
        self.simulator.command("renew")
        scene.robik.port = self.simulator.port
        bpy.ops.robik.connect_servos()
        bpy.ops.robik.torque_servos(on=True)

    @property
    def goal(self) -> float:
        state = self.simulator.state()[self.servo.id]["goal_position"]
        return (state - self.servo.zero) / self.servo.counts_per_unit

    @property
    def state(self) -> str:
        return self.play.status().state.value

    def beat_until(self, condition: Callable[[], bool], seconds: float = DEADLINE) -> None:
        ends = monotonic() + seconds
        while not condition():
            assert monotonic() < ends, self.play.status().message
            self.stage.performing.tick(bpy.context.scene)
            self.play.tick(bpy.context.scene)
            sleep(STEP)


@pytest.fixture(scope="module")
def kept() -> Iterator[list[SimulatorProcess]]:
    """The process of the simulated servos, once there is one."""
    processes: list[SimulatorProcess] = []
    yield processes
    for process in processes:
        process.end()


@pytest.fixture
def servos(stage: Stage, kept: list[SimulatorProcess]):
    made = Servos(stage, kept)
    yield made
    stage.performing.end()
    made.play.disconnect(3.0)


@pytest.mark.real_time
def test_without_live_no_servo_moves(stage: Stage, servos: Servos) -> None:
    before = servos.goal
    bpy.ops.robik.perform()
    stage.performing.press("Q")
    servos.beat_until(lambda: abs(stage.root[stage.motors[1]] - 0.3) < 1e-3)
    assert servos.state == "holding" and servos.goal == before


STOPS = {
    "the button Stop": lambda s: bpy.ops.robik.stop_servos(),
    "Perform once more": lambda s: bpy.ops.robik.perform(),
    "undo": lambda s: s.performing.after_undo(),
    "another frame": lambda s: bpy.context.scene.frame_set(30),
    "the player is stopped, as by ESC of Live": lambda s: installed.module("scene.servos.play").connected().stop(),
    "OSC": lambda s: SimpleUDPClient(*s.osc).send_message("/robik/stop", []),
}


@pytest.mark.one_blender
@pytest.mark.real_time
@pytest.mark.parametrize("way", STOPS)
def test_live_servos_follow_and_every_way_stops_them(stage: Stage, servos: Servos, way: str) -> None:
    stage.performance.osc_port = "0"
    stage.trigger.held = True
    bpy.ops.robik.live_servos()
    servos.beat_until(lambda: servos.state == "live")
    bpy.ops.robik.perform()
    host, port = stage.performing.address().split(":")
    stage.osc = host, int(port)
    stage.performing.press("Q")
    servos.beat_until(lambda: servos.goal > 0.2)
    STOPS[way](stage)
    servos.beat_until(lambda: not stage.performing.is_performing() and servos.state == "holding")
    stood = servos.goal
    stage.root[stage.motors[1]] = -0.3  # nobody follows the sliders any more
    for _ in range(10):
        servos.play.tick(bpy.context.scene)
        sleep(STEP)
    assert servos.goal == stood


@pytest.mark.real_time
def test_another_file_stops_servos_and_performance(stage: Stage, servos: Servos) -> None:
    bpy.ops.robik.live_servos()
    servos.beat_until(lambda: servos.state == "live")
    bpy.ops.robik.perform()
    stage.performing.press("Q")
    servos.beat_until(lambda: servos.goal > 0.1)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not stage.performing.is_performing() and not servos.play.is_open()


@pytest.mark.real_time
def test_what_else_moves_the_robot_is_refused_meanwhile(stage: Stage, servos: Servos) -> None:
    bpy.ops.robik.perform()
    for call in (bpy.ops.robik.play_servos, bpy.ops.robik.play_with_timeline, bpy.ops.robik.connect_leader):
        assert "performs; end that first" in message_of(call)
    assert "performs; end that first" in message_of(bpy.ops.robik.add_trigger)
