"""The chain: conversions, limits, and its file with the mistakes that people make in it."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robik import robots
from robik.errors import RobikError, ServoError
from robik.servo.brands.dynamixel.brand import DYNAMIXEL
from robik.servo.brands.dynamixel.models import MODELS, VELOCITY_UNIT
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.chain.servo import Servo

ANGLES = st.floats(-1.5, 1.5)


@given(st.lists(ANGLES, min_size=3, max_size=3), st.sampled_from([1, -1]), st.floats(0.5, 4), st.integers(1000, 3000))
def test_counts_are_nearest_and_come_back(values, direction, ratio, zero):
    servos = tuple(
        Servo(f"m{k}", k, "XH430-W350", direction, zero, ratio, position_limits=(-2, 2), velocity_limit=1.0)
        for k in range(3)
    )
    chain = ServoChain(servos)
    counts = chain.counts(np.array(values))
    exact = zero + direction * ratio * np.array(values) * 4096 / (2 * np.pi)
    assert np.abs(counts - exact).max() <= 0.5 + 1e-9
    assert np.abs(chain.values(counts) - values).max() <= 0.5 / (ratio * 4096 / (2 * np.pi)) + 1e-12


@given(st.floats(-50, 50), st.sampled_from([1, -1]), st.floats(-1.5, -0.1), st.floats(0.1, 1.5))
def test_no_goal_is_ever_outside_the_limits(value, direction, low, high):
    chain = ServoChain((Servo("m", 1, direction=direction, position_limits=(low, high)),))
    back = chain.values(chain.counts(np.array([value])))[0]
    assert low - 1e-6 <= back <= high + 1e-6


def test_a_current_limit_needs_a_servo_that_measures_its_current(tmp_path):
    servo = Servo("knee", 1, current_limit=1)
    assert servo.current_units == int(1 / 2.69e-3)
    save_chain(ServoChain((servo,)), tmp_path / "c.servos.json")
    assert load_chain(tmp_path / "c.servos.json").servos == (servo,)
    with pytest.raises(ServoError, match="servo of 'knee': an XL430-W250 cannot measure its current"):
        Servo("knee", 1, "XL430-W250", current_limit=1.0)
    with pytest.raises(ServoError, match="current_limit must be a positive number"):
        Servo("knee", 1, current_limit=0.0)


def test_speeds_are_rounded_up_and_never_to_unlimited():
    servo = Servo("m", 1, gear_ratio=2.0, velocity_limit=1.0)
    assert servo.velocity_units(1e-9) == 1
    assert servo.velocity_units(10 * VELOCITY_UNIT) == 20
    assert servo.speed(20) == pytest.approx(10 * VELOCITY_UNIT)


def test_file_round_trip(tmp_path):
    chain = ServoChain(
        (Servo("a", 3, "XL430-W250", -1, 1000, 2.5, (-0.1, 0.7), 1.25), Servo("a", 4), Servo('b, "q"', 9)),
        3_000_000,
        "r",
    )
    save_chain(chain, tmp_path / "x.servos.json")
    assert load_chain(tmp_path / "x.servos.json") == chain


def test_our_walker_has_its_servos():
    walker = robots.load("walker")
    chain = load_chain(robots.servos_path("walker"))
    assert chain.actuators == walker.actuators
    assert chain.ids == tuple(range(1, 13))
    assert {servo.model for servo in chain.servos} <= {"XH430-W350", "XH430-W210"}
    assert chain.bus_time(100) < 0.1
    limits = {n: limit for j in walker.actuated for n, limit in zip(j.coordinate_names, j.limits, strict=True)}
    for servo in chain.servos:  # where the robot was drawn again, write the chain again: `default_chain`, `save_chain`
        assert servo.position_limits == pytest.approx(limits[servo.actuator])


def test_factory_baud_rate_cannot_stream_twelve_servos_at_60_hz():
    chain = default_chain(tuple("abcdefghijkl"), baud_rate=57_600)
    assert chain.goal_bytes == 74
    assert chain.goal_seconds == pytest.approx(12.85e-3, abs=1e-5)
    assert chain.bus_time(60) > 0.75


def _file(tmp_path, **changes):
    servo = {"actuator": "knee", "id": 1} | changes.pop("servo", {})
    data = {"format": "robik-servos", "version": 1, "baud_rate": 1_000_000, "servos": [servo]} | changes
    path = tmp_path / "bad.servos.json"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"servo": {"model": "XH430-W35"}}, ["knee", "XH430-W35", "XH430-W350"]),
        ({"servo": {"id": 253}}, ["knee", "0 to 252"]),
        ({"servo": {"id": True}}, ["knee", "0 to 252"]),
        ({"servo": {"direction": 0}}, ["knee", "1 or -1"]),
        ({"servo": {"gear_ratio": 0}}, ["knee", "gear_ratio", "positive"]),
        ({"servo": {"velocity_limit": "fast"}}, ["knee", "velocity_limit"]),
        ({"servo": {"position_limits": [1, -1]}}, ["knee", "position_limits", "low then high"]),
        ({"servo": {"position_limits": [0, float("inf")]}}, ["knee", "finite"]),
        ({"servo": {"zero": 1.5}}, ["knee", "zero"]),
        ({"servo": {"colour": "red"}}, ["knee", "colour", "direction"]),
        ({"servo": {"position_limits": [-120, 120]}}, ["knee", "[-120, 120]", "rad", "multi_turn"]),
        ({"servo": {"position_limits": [-10, 10]}}, ["knee", "[-10, 10]", "more than a turn"]),
        ({"servo": {"position_limits": [-90, 90], "gear_ratio": 3.0, "velocity_limit": 1}}, ["knee", "[-90, 90]"]),
        ({"servo": {"position_limits": [-5000, 5000], "multi_turn": True}}, ["knee", "256 turns"]),
        ({"servo": {"position_limits": [-1e308, 1e308]}}, ["knee", "position_limits", "1e+308"]),
        ({"servo": {"position_limits": [10**400, 10**401]}}, ["knee", "position_limits"]),
        ({"servo": {"position_limits": [True, 2]}}, ["knee", "position_limits"]),
        ({"servo": {"velocity_limit": 1000}}, ["knee", "velocity_limit 1000", "at most 4.712 fits"]),
        ({"servo": {"velocity_limit": 20}}, ["knee", "velocity_limit 20", "XH430-W350 makes 3.142 rad/s without load"]),
        ({"servo": {"velocity_limit": 3.0, "gear_ratio": 300.0}}, ["knee", "velocity_limit 3", "900 rad/s"]),
        ({"servo": {"gear_ratio": 1e300}}, ["knee", "gear_ratio", "1e+300"]),
        ({"servo": {"gear_ratio": 10**400}}, ["knee", "gear_ratio"]),
        ({"servo": {"zero": 10**9}}, ["knee", "zero"]),
        ({"servo": {"current_limit": 900}}, ["knee", "current_limit 900", "amperes"]),
        ({"servo": {"multi_turn": 1}}, ["knee", "multi_turn", "true or false"]),
        ({"servo": {"model": [1]}}, ["knee", "unknown model [1]"]),
        ({"servo": {"model": {"a": 1}}}, ["knee", "unknown model"]),
        ({"servo": {"model": None}}, ["knee", "unknown model None"]),
        ({"servo": {"actuator": ["knee"]}}, ["must name its actuator"]),
        ({"servo": {"direction": [1]}}, ["knee", "direction"]),
        ({"robot": [1]}, ["robot", "[1]"]),
        ({"baud_rate": 1234}, ["baud_rate", "1000000"]),
        ({"baud_rate": [1]}, ["baud_rate"]),
        ({"format": "robik"}, ["robik-servos"]),
        ({"version": 9}, ["9", "version 1"]),
        ({"servos": []}, ["at least one"]),
        ({"servos": [{"id": 1}]}, ["actuator"]),
        ({"servos": [{"actuator": "a", "id": 1}, {"actuator": "b", "id": 1}]}, ["'a'", "'b'", "same id 1"]),
        ({"speed": 1}, ["speed"]),
    ],
)
def test_mistakes_are_named_in_one_line(tmp_path, changes, words):
    with pytest.raises(ServoError) as caught:
        load_chain(_file(tmp_path, **changes))
    text = str(caught.value)
    assert "\n" not in text
    assert all(word in text for word in ["bad.servos.json", *words]), text


@pytest.mark.parametrize(
    "entries",
    [
        {"position_limits": [-100.0, 100.0], "multi_turn": True},
        {"position_limits": [0.0, 2 * np.pi]},
        {"gear_ratio": 300.0, "position_limits": [0.0, 0.2], "velocity_limit": 0.015},  # a spindle
        {"gear_ratio": 3.0, "velocity_limit": 1.0, "zero": 5000},
    ],
)
def test_limits_that_a_model_can_keep(tmp_path, entries):
    chain = load_chain(_file(tmp_path, servo=entries))
    assert list(chain.servos[0].position_limits) == entries.get("position_limits", [-np.pi, np.pi * 2047 / 2048])


def test_broken_json_and_a_missing_file(tmp_path):
    (tmp_path / "x.servos.json").write_text("{")
    for name in ("x.servos.json", "none.servos.json"):
        with pytest.raises(RobikError, match=name):
            load_chain(tmp_path / name)


def test_the_entries_that_the_bus_uses_have_one_address_in_all_models_that_are_played():
    shared = [
        *(
            "goal_position",
            "present_position",
            "present_velocity",
            "present_input_voltage",
            "present_temperature",
            "bus_watchdog",
        ),
        *(
            "torque_enable",
            "operating_mode",
            "hardware_error_status",
            "profile_velocity",
            "profile_acceleration",
            "drive_mode",
        ),
        *("homing_offset", "firmware_version", "min_position_limit", "max_position_limit"),
    ]
    for model in map(MODELS.get, DYNAMIXEL.playable):
        for name in shared:
            assert (model.table[name].address, model.table[name].size) == (
                MODELS["XH430-W350"].table[name].address,
                MODELS["XH430-W350"].table[name].size,
            )
        assert all(item.low <= item.initial <= item.high for item in model.items), model.name
        assert sum(item.size for item in model.items) == len(model.item_at), f"{model.name}: entries overlap"
