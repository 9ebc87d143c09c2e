"""Servos set up by the operators, on a simulated chain behind a port of its own, as real ones are."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from time import monotonic, sleep

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.servo.brands.registry import DEFAULT
from bl_ext.user_default.robik.robik.servo.chain.chain import ServoChain
from bl_ext.user_default.robik.robik.servo.chain.file import load_chain
from bl_ext.user_default.robik.robik.servo.simulator.process import SimulatorProcess
from bpy.types import Object

from tests.blender import installed, scenes

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("empty_scene")]


@pytest.fixture
def simulator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SimulatorProcess]:
    monkeypatch.setitem(vars(DEFAULT), "likely_bauds", (57_600, 1_000_000))
    root, play = scenes.squats(frames=10), installed.module("scene.servos.play")
    settings_of = play.settings_of
    monkeypatch.setattr(
        play, "settings_of", lambda scene: replace(settings_of(scene), heartbeat=5.0, watchdog=2.0, silence=2.0)
    )  # it may stall
    with SimulatorProcess.of(
        installed.module("scene.robot.chain").servo_chain(root, scenes.read(root), bpy.context.scene),
        tmp_path / "goals.csv",
    ) as process:
        bpy.context.scene.robik.port = process.port
        yield process
        play.disconnect()


@contextmanager
def moving_to_and_fro(simulator: SimulatorProcess, id: int) -> Iterator[None]:
    """A hand that moves a servo for as long as somebody looks."""
    found = threading.Event()

    def hand() -> None:
        for k in count():
            if found.wait(0.3):
                return
            simulator.command(f"place {id} {(2400, 2048)[k % 2]}")

    thread = threading.Thread(target=hand)
    thread.start()
    try:
        yield
    finally:
        found.set()
        thread.join()


def test_from_factory_servos_to_a_chain(simulator: SimulatorProcess, tmp_path: Path) -> None:
    play, servo_setup, scene = (
        installed.module("scene.servos.play"),
        installed.module("scene.servos.setup"),
        bpy.context.scene,
    )
    for command in ("set 3 baud_rate 1", "set 3 return_delay_time 250"):
        simulator.command(command)
    assert bpy.ops.robik.scan_servos() == {"FINISHED"}
    assert sorted(one.id for one in servo_setup.seen()) == list(range(1, 13))
    assert [(c.servo.id, c.entry) for c in servo_setup.advice()] == [(3, "return_delay_time"), (3, "baud_rate")]
    assert bpy.ops.robik.prepare_servos() == {"FINISHED"}
    assert {one.baud_rate for one in servo_setup.seen()} == {1_000_000}
    assert bpy.ops.robik.set_servo(servo=12, new_id=40, new_baud=1_000_000) == {"FINISHED"}

    root = installed.module("scene.robot.parts").chosen_robot(scene)
    mechanism = scenes.read(root)
    chain = installed.module("scene.robot.chain").servo_chain(root, mechanism, scene)
    last = chain.actuators[11]
    with moving_to_and_fro(simulator, 40):
        assert bpy.ops.robik.assign_servo(actuator=last) == {"FINISHED"}
    simulator.command("place 40 2400")
    assert installed.module("scene.robot.chain").servo_chain(root, mechanism, scene).ids == (*range(1, 12), 40)

    assert bpy.ops.robik.connect_servos() == {"FINISHED"}
    with pytest.raises(RuntimeError, match="connected for playing; disconnect first"):
        bpy.ops.robik.scan_servos()
    assert bpy.ops.robik.zero_servos() == {"FINISHED"}
    kept = installed.module("scene.robot.chain").servo_chain(root, mechanism, scene)
    assert kept.servos[11].zero == 2400
    assert bpy.ops.robik.turn_servo(servo=40) == {"FINISHED"}
    assert bpy.ops.robik.save_servos(filepath=str(tmp_path / "w.servos.json")) == {"FINISHED"}
    assert load_chain(tmp_path / "w.servos.json").servos[11].direction == -1

    bpy.ops.robik.connect_servos()
    bpy.ops.robik.torque_servos(on=True)
    assert bpy.ops.robik.nudge_servo(actuator=last) == {"FINISHED"}
    state, ends = type(play.status().state), monotonic() + 60.0
    while play.status().state is not state.HOLDING:
        assert monotonic() < ends, play.status()
        play.tick(scene)
        sleep(0.02)
    assert simulator.state()[40]["position"] == pytest.approx(2400, abs=1)
    goals = np.loadtxt(tmp_path / "goals.csv", delimiter=",")
    farthest = goals[goals[:, 1] == 40, 2].min() - 2400
    assert -60 <= farthest < -30  # 5 degrees, turned round; where the machine stalls, the farthest is left out
    with pytest.raises(RuntimeError, match="torque is on; turn it off"):
        bpy.ops.robik.zero_servos()


@pytest.fixture
def unfolded() -> Object:
    """A robot whose chain's third servo is unfolded."""
    root = scenes.squats(frames=10)
    bpy.ops.robik.choose_servo(servo=3)
    return root


def chain_of(root: Object) -> ServoChain:
    return installed.module("scene.robot.chain").servo_chain(root, scenes.read(root), bpy.context.scene)


def test_the_fields_of_a_servo_read_and_edit_the_chain(unfolded: Object) -> None:
    playing, before = bpy.context.scene.robik.playing, chain_of(unfolded)
    fields, servo = playing.servo, before.servos[2]
    assert (fields.id, fields.zero, fields.model, fields.current) == (3, 2048, servo.model, 0.0)
    assert [fields.lowest, fields.highest] == pytest.approx(np.degrees(servo.position_limits))
    assert fields.speed == pytest.approx(np.degrees(servo.velocity_limit))
    assert playing.chain == "", "who only looks changes nothing"
    fields.lowest, fields.highest, fields.speed, fields.acceleration = -20.0, 25.0, 90.0, 900.0
    fields.gear_ratio, fields.current, fields.zero, fields.model, fields.id = 2.0, 0.5, 2100, "XM540-W270", 40
    wanted = {
        "position_limits": np.radians((-20.0, 25.0)).tolist(),
        "velocity_limit": np.pi / 2,
        "acceleration_limit": 5 * np.pi,
    }
    wanted |= {"gear_ratio": 2.0, "current_limit": 0.5, "zero": 2100}
    made = chain_of(unfolded)
    assert {name: getattr(made.servos[2], name) for name in wanted} == {
        name: pytest.approx(value) for name, value in wanted.items()
    }
    assert (made.servos[2].id, made.servos[2].model, playing.chosen, fields.id) == (40, "XM540-W270", 40, 40)
    assert [s for k, s in enumerate(made.servos) if k != 2] == [s for k, s in enumerate(before.servos) if k != 2]
    fields.current = 0.0
    assert chain_of(unfolded).servos[2].current_limit is None
    fields.port = "/dev/ttyUSB7"
    assert [servo.port for servo in chain_of(unfolded).servos[1:4]] == ["", "/dev/ttyUSB7", ""]
    assert fields.port == "/dev/ttyUSB7"
    with pytest.raises(TypeError):
        fields.model = "PH42-020-S300"  # which is not played


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("id", 4, r"have the same id 4; ids must differ"),
        ("id", 253, r"its id must be a whole number from 0 to 252, not 253"),
        ("gear_ratio", 0.0, r"its gear_ratio must be a positive number, not 0\.0"),
        ("lowest", 500.0, r"its position_limits must be two finite numbers, low then high, not \(8\.7"),
        ("speed", -1.0, r"its velocity_limit must be a positive number"),
        ("current", -1.0, r"its current_limit must be a positive number, not -1\.0"),
    ],
)
def test_a_field_that_cannot_be_so_says_why_and_changes_nothing(
    unfolded: Object, field: str, value: float, says: str
) -> None:
    fields, before = installed.module("scene.servos.fields"), chain_of(unfolded)
    setattr(bpy.context.scene.robik.playing.servo, field, value)
    assert re.search(says, fields.refused())
    assert bpy.context.scene.robik.playing.chain == ""
    assert chain_of(unfolded) == before
    bpy.context.scene.robik.playing.servo.zero = 2000
    assert fields.refused() == ""


def test_a_motor_that_slides_has_its_fields_in_millimetres(unfolded: Object) -> None:
    name = chain_of(unfolded).actuators[2]
    unfolded.id_properties_ui(name).update(subtype="DISTANCE")
    bpy.context.scene.robik.playing.servo.highest = 25.0
    assert chain_of(unfolded).servos[2].position_limits[1] == pytest.approx(0.025)


def test_a_second_servo_is_added_and_removed_in_one_step_each(unfolded: Object) -> None:
    scene, before = bpy.context.scene, chain_of(unfolded)
    name = before.actuators[2]
    bpy.ops.ed.undo_push(message="Start")
    assert bpy.ops.robik.add_servo("EXEC_DEFAULT", True, actuator=name) == {"FINISHED"}
    pair = [servo for servo in chain_of(unfolded).servos if servo.actuator == name]
    assert pair == [before.servos[2], replace(before.servos[2], id=13, direction=-before.servos[2].direction)]
    assert scene.robik.playing.chosen == 13
    assert bpy.ops.robik.remove_servo("EXEC_DEFAULT", True, servo=3) == {"FINISHED"}
    assert bpy.ops.robik.remove_servo("EXEC_DEFAULT", True, servo=13) == {"FINISHED"}
    assert name not in chain_of(unfolded).actuators
    bpy.ops.ed.undo()
    bpy.ops.ed.undo()
    root = installed.module("scene.robot.parts").chosen_robot(bpy.context.scene)
    assert [servo for servo in chain_of(root).servos if servo.actuator == name] == pair
    bpy.ops.ed.undo()
    root = installed.module("scene.robot.parts").chosen_robot(bpy.context.scene)
    assert chain_of(root) == before
    assert bpy.ops.robik.remove_servo(servo=3) == {"FINISHED"}
    assert bpy.ops.robik.add_servo(actuator=name) == {"FINISHED"}
    made, was = chain_of(root).servos[-1], before.servos[2]
    assert (made.actuator, made.id, made.model) == (name, 3, was.model)
    assert made.position_limits == pytest.approx(was.position_limits), "the robot's own"
    with pytest.raises(RuntimeError, match="the robot has no motor 'tail'; it has "):
        bpy.ops.robik.add_servo(actuator="tail")
    with pytest.raises(RuntimeError, match="the chain has no servo 99; it has 1, 2, "):
        bpy.ops.robik.remove_servo(servo=99)


def test_what_cannot_be_set_up_says_so() -> None:
    scenes.squats(frames=10)
    for operator in (bpy.ops.robik.scan_servos, bpy.ops.robik.prepare_servos):
        with pytest.raises(RuntimeError, match="simulated servos need no setting up"):
            operator()
    with pytest.raises(RuntimeError, match="the latest scan found no servo 99"):
        bpy.ops.robik.set_servo(servo=99, new_id=1)


@pytest.mark.one_blender
def test_servos_of_the_other_protocol_are_found_and_chosen() -> None:
    root = scenes.squats(frames=10)
    servo_setup, scene = installed.module("scene.servos.setup"), bpy.context.scene
    of_motors = installed.module("scene.robot.chain").one_per_motor
    with SimulatorProcess.of(of_motors(scenes.read(root), "AX-12A", "dynamixel1")) as process:
        scene.robik.port = process.port
        assert bpy.ops.robik.scan_servos() == {"FINISHED"}
        words = "no known servo answers as Dynamixel, but 12 as Dynamixel Protocol 1 (AX-12A)"
        assert servo_setup.task().said == f"{words}; choose such a model for a servo of the chain, and scan again"
        assert servo_setup.seen() == []
        servo_setup.edit(scene, root, 1, brand="dynamixel1", model="AX-12A")
        assert bpy.ops.robik.scan_servos() == {"FINISHED"}
        assert [(one.id, one.model) for one in servo_setup.seen()] == [(id, "AX-12A") for id in range(1, 13)]
        assert servo_setup.advice() == []


@pytest.mark.one_blender
def test_bakes_keep_to_the_speeds_of_the_servos() -> None:
    root, _ = scenes.punches(24)
    bpy.context.scene.render.fps = 60
    motors = scenes.read(root).actuators
    bake = root.robik.robot.bake
    bake.enforce_velocity = True
    bpy.ops.robik.bake()
    before = {row.name: row.peak_velocity for row in root.robik.robot.result.actuators}
    fastest = max(before, key=before.get)
    installed.module("scene.servos.setup").edit(
        bpy.context.scene, root, motors.index(fastest) + 1, velocity_limit=before[fastest] / 2
    )
    assert bpy.ops.robik.take_servo_speeds() == {"FINISHED"}
    limits = {joint.name: joint.velocity_limit for joint in scenes.read(root).actuated}
    assert limits[fastest] == pytest.approx(before[fastest] / 2, rel=1e-6)
    bpy.ops.robik.bake()
    now = {row.name: row.peak_velocity for row in root.robik.robot.result.actuators}
    assert now[fastest] <= before[fastest] / 2 * (1 + 1e-6)
