"""Tuning servos in Blender: fields of the panel, the live graph's data, nudges, on simulated and independent chains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic, sleep

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.servo.chain.file import chain_text

from tests.blender import installed, scenes
from tests.servo.independent import IndependentChain

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("empty_scene", "robot", "let_go")]
DEADLINE = 60.0  # [s] for what must happen some time


@pytest.fixture
def robot() -> bpy.types.Object:
    return scenes.squats(frames=10)


@pytest.fixture
def let_go(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Servos that bear with a machine that stalls, let go of in the end."""
    play = installed.module("scene.servos.play")
    settings_of = play.settings_of
    monkeypatch.setattr(
        play, "settings_of", lambda scene: replace(settings_of(scene), watchdog=1.5, silence=1.5, heartbeat=5.0)
    )
    yield
    play.disconnect(play.LEAVING)
    bpy.context.scene.robik.playing.tuning.graph = False


def turn() -> None:
    """One turn of Blender's main loop, which the module has not."""
    installed.module("scene.servos.play").tick(bpy.context.scene)
    installed.module("scene.servos.tuning").tick(bpy.context.scene)
    sleep(0.02)


def turn_until(condition: Callable[[], object]) -> None:
    ends = monotonic() + DEADLINE
    while not condition():
        assert monotonic() < ends, installed.module("scene.servos.play").status()
        turn()


def fields() -> bpy.types.PropertyGroup:
    return bpy.context.scene.robik.playing.tuning


def hold() -> object:
    bpy.ops.robik.connect_servos()
    bpy.ops.robik.torque_servos(on=True)
    return installed.module("scene.servos.play").player()


def test_fields_show_the_factorys_gains_and_edit_the_chain(robot: bpy.types.Object) -> None:
    tuning = installed.module("scene.servos.tuning")
    assert (fields().servo, fields().p, fields().i, fields().d, fields().acceleration) == ("1", 900, 0, 0, 0.0)
    assert "p_gain" not in bpy.context.scene.robik.playing.chain
    fields().servo = "3"
    fields().p = 1200
    fields().acceleration = 3000.0
    servo = chain(robot).servos[2]
    assert (servo.id, servo.p_gain, servo.i_gain) == (3, 1200, None)
    assert servo.profile_acceleration == pytest.approx(np.radians(3000.0))
    assert fields().acceleration == pytest.approx(3000.0, rel=0.005)  # in steps of the servo's own unit
    assert chain(robot).servos[0].p_gain is None
    fields().acceleration = 1.0
    assert "its profile_acceleration must be from" in tuning.refused()
    assert chain(robot).servos[2].profile_acceleration == servo.profile_acceleration
    fields().acceleration = 0.0
    assert (chain(robot).servos[2].profile_acceleration, tuning.refused()) == (None, "")
    assert bpy.ops.robik.tune_alike() == {"FINISHED"}
    assert {one.p_gain for one in chain(robot).servos} == {1200}


def chain(robot: bpy.types.Object) -> object:
    return installed.module("scene.robot.chain").servo_chain(robot, scenes.read(robot), bpy.context.scene)


def test_connected_servos_get_gains_at_once_and_undo_takes_them_back() -> None:
    play, scene = installed.module("scene.servos.play"), bpy.context.scene
    player = hold()
    turn_until(lambda: play.status().tunings)
    fields().servo = "2"
    before = scene.robik.playing.chain
    fields().p, fields().d = 1100, 30
    turn_until(lambda: play.status().tunings[1][:3] == (1100, 0, 30))
    assert (fields().p, fields().d) == (1100, 30)
    assert play.player() is player
    assert play.status().state.value == "holding"
    assert bpy.ops.robik.tune_alike() == {"FINISHED"}
    turn_until(lambda: {one[0] for one in play.status().tunings} == {1100})
    scene.robik.playing.chain = before  # as undo does
    turn_until(lambda: {one[:3] for one in play.status().tunings} == {(900, 0, 0)})


def test_a_gain_that_a_servo_does_not_take_is_said_and_what_it_has_is_shown(robot: bpy.types.Object) -> None:
    play, tuning, scene = (
        installed.module("scene.servos.play"),
        installed.module("scene.servos.tuning"),
        bpy.context.scene,
    )
    made = chain(robot)
    servos = tuple(replace(one, model="XH430-W350", velocity_limit=3.0) for one in made.servos)
    scene.robik.playing.chain = chain_text(replace(made, servos=servos))
    with IndependentChain(ids=made.ids, model=1000) as there:
        scene.robik.port = there.port
        try:
            hold()
            turn_until(lambda: play.status().tunings)
            there.faults(1, swallow=["position_p_gain"])
            fields().p = 1000
            turn_until(tuning.refused)
            assert tuning.refused().startswith("servo 1 (")
            assert "does not take P 1000" in tuning.refused()
            turn_until(lambda: fields().p == 900)
            assert play.status().torque
            there.mend(1)
            fields().p = 1001
            turn_until(lambda: there.registers(1)["position_p_gain"] == 1001)
            assert tuning.refused() == ""
        finally:
            play.disconnect(play.LEAVING)
            scene.robik.port = "sim"


@pytest.mark.one_blender
def test_a_nudge_moves_one_motor_and_the_graph_shows_it() -> None:
    play, graph = installed.module("scene.servos.play"), installed.module("scene.servos.live_graph")
    drawn = installed.module("scene.overlay.servo_graph")
    player = hold()
    fields().servo = "4"
    turn()
    assert (drawn.picture(), play.status().trace) == (None, ())
    fields().graph = True
    turn_until(lambda: len(graph.samples()) > 20)
    rest = play.status().goals
    motion = []
    play_motion, player.play = player.play, lambda made: (motion.append(made), play_motion(made))
    installed.module("scene.servos.tuning").nudge(bpy.context.scene)
    moved = dict(zip(motion[0].actuators, np.ptp(motion[0].values, axis=0).tolist(), strict=True))
    assert moved == pytest.approx(dict.fromkeys(moved, 0.0) | {player.chain.actuators[3]: np.radians(5.0)})
    turn_until(lambda: play.status().state.value == "holding")
    turn_until(lambda: graph.samples()[-1].goal == pytest.approx(rest[3], abs=0.002))
    goals = np.array([one.goal for one in graph.samples()]) - rest[3]
    positions = np.array([one.position for one in graph.samples()]) - rest[3]
    assert np.abs(goals).max() == pytest.approx(np.radians(5.0), abs=0.002)
    assert np.abs(positions).max() == pytest.approx(np.radians(5.0), abs=0.01)
    assert play.status().goals == pytest.approx(rest, abs=0.001)
    turn_until(lambda: "ms behind" in drawn.picture().words)
    assert drawn.picture().title.startswith("4 ")
    assert drawn.picture().unit == "°"
    fields().graph = False
    turn()
    assert (drawn.picture(), graph.samples()) == (None, ())
    turn_until(lambda: play.status().trace == ())
    fields().graph = True
    turn_until(graph.samples)
    bpy.ops.robik.disconnect_servos()
    assert drawn.picture() is None


@pytest.mark.one_blender
def test_a_nudge_wants_torque_and_obeys_stop() -> None:
    play = installed.module("scene.servos.play")
    with pytest.raises(RuntimeError, match="connect first"):
        bpy.ops.robik.step_servo()
    bpy.ops.robik.connect_servos()
    with pytest.raises(RuntimeError, match="turn torque on first"):
        bpy.ops.robik.step_servo()
    bpy.ops.robik.torque_servos(on=True)
    assert bpy.ops.robik.step_servo() == {"FINISHED"}
    assert play.status().message == "played to the end, holding"
    installed.module("scene.servos.tuning").nudge(bpy.context.scene)
    assert bpy.ops.robik.stop_servos() == {"FINISHED"}
    turn_until(lambda: play.status().state.value == "holding")
    assert play.status().message.startswith("stopped")
    installed.module("scene.servos.tuning").nudge(bpy.context.scene)
    assert bpy.ops.robik.stop_servos(emergency=True) == {"FINISHED"}
    turn_until(lambda: play.status().state.value == "ready")
    assert not any(servo["torque_enable"] for servo in play.player().simulator.state().values())


def test_shapes_of_the_graph_lie_in_its_place() -> None:
    drawn, motor_graph = installed.module("scene.overlay.servo_graph"), installed.module("scene.overlay.motor_graph")
    place = drawn.raised(motor_graph.Place(60.0, 700.0, 30.0, 140.0, 1.0), 0.0)
    rows = tuple((-5.0 + 0.01 * k, 2.5 * np.sin(0.02 * k), 2.5 * np.sin(0.02 * k - 0.1), 80.0) for k in range(500))
    picture = drawn.Picture("4 knee", "error 0.10° rms", rows, 5.0, "°", "current", " mA", True)
    shapes = drawn.shapes_of(picture, place)
    points = np.concatenate(shapes.lines)
    assert points[:, 0].min() >= place.left - 60
    assert points[:, 0].max() <= place.right + 0.01
    assert place.bottom <= points[:, 1].min()
    assert points[:, 1].max() <= place.top + 22
    texts = [text for _, text, _ in shapes.labels]
    assert {"4 knee", "Goal", "Position", "current", "error 0.10° rms", "−5 s", "0 s"} <= set(texts)
    assert {"2.5°", "0.0°", "−2.5°", "80 mA"} <= set(texts)
    empty = drawn.shapes_of(drawn.Picture("4 knee", "waiting", (), 5.0, "°", "load", " %", False), place)
    assert "load" not in [text for _, text, _ in empty.labels]
