"""A simulated servo by a clock of the test's own."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robik.servo.brands.dynamixel.models import ACCELERATION_UNIT, MODELS, VELOCITY_UNIT
from robik.servo.brands.dynamixel.simulator.servo import SimulatedServo

PER_TURN = 4096 / (2 * math.pi)


def make(model="XH430-W350", load=0.0, **entries):
    servo = SimulatedServo(MODELS[model], 1, 2048, 0.0)
    servo.motor.load = load
    for name, value in entries.items():
        write(servo, name, value)
    return servo


def write(servo, name, value):
    item = servo.model.table[name]
    servo.write(item.address, value.to_bytes(item.size, "little", signed=item.is_signed))


def read(servo, name):
    item = servo.model.table[name]
    return int.from_bytes(servo.read(item.address, item.size), "little", signed=item.is_signed)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 4095),
    st.integers(5, 130),
    st.integers(1, 300),
    st.lists(st.floats(0.001, 0.3), min_size=5, max_size=40),
)
def test_a_trapezoid_keeps_speed_and_acceleration_and_arrives(goal, velocity, acceleration, looks):
    servo = make(
        operating_mode=3,
        profile_velocity=velocity,
        profile_acceleration=acceleration,
        torque_enable=1,
        goal_position=goal,
    )
    top, change = velocity * VELOCITY_UNIT * PER_TURN, acceleration * ACCELERATION_UNIT * PER_TURN
    now, before = 0.0, (servo.motor.position, servo.motor.velocity)
    for look in looks:
        now += look
        servo.advance(now)
        assert abs(servo.motor.velocity) <= top * (1 + 1e-9)
        assert abs(servo.motor.position - before[0]) <= top * look + 1e-6
        assert abs(servo.motor.velocity - before[1]) <= change * (look + 0.002) + change * 0.002
        before = (servo.motor.position, servo.motor.velocity)
    way = abs(goal - 2048)
    servo.advance(now + 2 * way / top + 4 * top / change + 2 * math.sqrt(way / change) + 1)
    assert servo.motor.position == goal
    assert servo.motor.velocity == 0


def test_without_torque_nothing_moves_and_with_it_the_old_goal_counts():
    servo = make(goal_position=3000)
    servo.advance(5.0)
    assert read(servo, "present_position") == 2048
    write(servo, "torque_enable", 1)
    servo.advance(10.0)
    assert read(servo, "present_position") == 3000


def test_no_faster_than_the_motor_without_a_profile():
    servo = make(torque_enable=1, goal_position=4095)
    servo.advance(0.5)
    assert servo.motor.position - 2048 == pytest.approx(0.5 * 30 / 60 * 4096)


def test_velocity_mode():
    servo = make(operating_mode=1, torque_enable=1, goal_velocity=-50)
    servo.advance(2.0)
    assert servo.motor.position - 2048 == pytest.approx(-50 * 0.229 / 60 * 4096 * 2, rel=1e-3)
    assert read(servo, "present_velocity") == -50


def test_current_mode_spins_up_to_where_friction_leaves_it():
    servo = make(operating_mode=0, torque_enable=1)
    servo.advance(0.5)
    assert servo.motor.position == 2048  # no goal yet
    write(servo, "goal_current", 324)  # half
    servo.advance(0.5 + 0.03)
    assert 0.5 < servo.motor.velocity / (0.5 * 2048) < 0.7  # a time constant, on the way to about half its top speed
    servo.advance(1.5)
    assert servo.motor.velocity == pytest.approx(0.49 * 2048, rel=0.01)
    assert read(servo, "present_current") == 324
    write(servo, "goal_current", -10)  # friction holds that
    servo.advance(3.0)
    assert servo.motor.velocity == 0
    servo.motor.blocked = True
    write(servo, "goal_current", -648)
    servo.advance(5.0)
    assert read(servo, "hardware_error_status") == 0x20


def test_pwm_mode_turns_by_voltage_over_many_turns_and_stops_without_torque():
    servo = make(operating_mode=16, torque_enable=1, goal_pwm=-885)
    servo.advance(10.0)
    assert servo.motor.position == pytest.approx(2048 - 10 * 2048, abs=100)
    write(servo, "torque_enable", 0)
    stood = servo.motor.position
    servo.advance(11.0)
    assert servo.motor.position == stood


def test_current_based_position_is_only_as_strong_as_its_current():
    servo = make(operating_mode=5, torque_enable=1, goal_position=6000)
    servo.advance(5.0)
    assert read(servo, "present_position") == 6000  # more than a turn, as in mode 4
    write(servo, "goal_current", 5)
    write(servo, "goal_position", 2000)
    servo.advance(8.0)
    assert read(servo, "present_position") == 6000  # too weak to turn itself
    write(servo, "goal_current", 200)
    servo.motor.blocked = True
    servo.advance(8.5)
    assert read(servo, "present_current") == -200


def test_the_watchdog_stops_velocity_current_and_pwm_too():
    for mode, entry, value in ((1, "goal_velocity", 50), (0, "goal_current", 300), (16, "goal_pwm", 400)):
        servo = make(operating_mode=mode, torque_enable=1, bus_watchdog=5)
        servo.hear(0.0)
        write(servo, entry, value)
        servo.advance(0.05)
        assert servo.motor.velocity > 0
        servo.advance(0.5)
        stood = servo.motor.position
        servo.advance(5.0)
        assert (servo.motor.position, servo.motor.velocity, read(servo, "bus_watchdog")) == (stood, 0, -1)


def test_the_watchdog_stops_it_at_its_time_however_late_one_looks():
    servo = make(profile_velocity=10, torque_enable=1, bus_watchdog=10, goal_position=4000)
    servo.hear(0.0)
    servo.advance(60.0)
    assert servo.motor.position - 2048 == pytest.approx(0.2 * 10 * 0.229 / 60 * 4096)
    assert read(servo, "bus_watchdog") == -1


def test_a_blocked_servo_overloads_and_shuts_down():
    servo = make(torque_enable=1, goal_position=3000)
    servo.motor.blocked = True
    servo.advance(0.5)
    assert read(servo, "present_current") == 648
    servo.advance(2.0)
    assert read(servo, "hardware_error_status") == 0x20
    assert read(servo, "torque_enable") == 0


@pytest.mark.parametrize(
    ("volts", "celsius", "bit", "is_off"), [(8.0, 30.0, 0x01, False), (12.0, 85.0, 0x04, True), (12.0, 50.0, 0, False)]
)
def test_brown_out_and_heat(volts, celsius, bit, is_off):
    servo = make(torque_enable=1)  # the factory's shutdown entry leaves voltage out
    servo.sense(volts, celsius)
    assert read(servo, "hardware_error_status") == bit
    assert read(servo, "torque_enable") == (0 if is_off else 1)


def test_a_single_turn_is_folded_when_torque_comes_on():
    servo = make()
    servo.motor.position = 5000.0
    servo.advance(1.0)
    assert read(servo, "present_position") == 5000
    write(servo, "goal_position", 904)
    write(servo, "torque_enable", 1)
    assert read(servo, "present_position") == 904


# loads: an XH430's greatest torque is 648 units of current; friction takes 13 of them


@pytest.mark.parametrize(
    ("model", "entry", "greatest"), [("XM430-W350", "present_current", 1193), ("XL430-W250", "present_load", 1000)]
)
@pytest.mark.parametrize("load", [0.0, 0.3, -0.95])
def test_it_holds_against_a_load(model, entry, greatest, load):
    servo = make(model, load, torque_enable=1)
    servo.advance(60.0)
    assert read(servo, "present_position") == 2048
    assert read(servo, entry) == round(-load * greatest)
    assert read(servo, "hardware_error_status") == 0
    write(servo, "torque_enable", 0)
    assert read(servo, entry) == 0


@pytest.mark.parametrize("load", [0.0, 0.3, -0.6])
@pytest.mark.parametrize("goal", [3048, 1048])
def test_it_turns_against_friction_and_load(goal, load):
    servo = make(load=load, profile_velocity=10, torque_enable=1, goal_position=goal)
    way = math.copysign(1.0, goal - 2048)
    servo.advance(1.0)
    assert servo.motor.position - 2048 == pytest.approx(way * 10 * VELOCITY_UNIT * PER_TURN)
    assert read(servo, "present_current") == round((0.02 * way - load) * 648)
    servo.advance(60.0)
    assert (read(servo, "present_position"), read(servo, "present_current")) == (goal, round(-load * 648))


def test_an_unloaded_servo_draws_little():
    for name in ("XH430-W350", "XH430-W210", "XM430-W350"):
        servo = make(name, operating_mode=4, torque_enable=1, profile_velocity=100, goal_position=100_000)
        servo.advance(1.0)
        assert 0.02 < read(servo, "present_current") * MODELS[name].current_unit < 0.07


def test_acceleration_and_braking_draw_current():
    """100 units of acceleration, for 0.03 s, are 36 % of the top speed. It speeds up for 64 ms, and slows down from
    0.93 s on."""
    servo = make(operating_mode=4, profile_velocity=100, profile_acceleration=100, torque_enable=1, goal_position=3500)
    peak = 100 * ACCELERATION_UNIT * PER_TURN * 0.03 / 2048
    currents = []
    for millisecond in range(1, 2000):
        servo.advance(millisecond / 1000)
        servo.advance(millisecond / 1000)  # no time, no change
        currents.append(read(servo, "present_current"))
    assert set(currents[:60]) == {round((0.02 + peak) * 648)}
    assert set(currents[70:800]) == {13}
    assert set(currents[930:990]) == {round((0.02 - peak) * 648)}
    assert currents[-1] == 0
    write(servo, "profile_acceleration", 1000)
    write(servo, "goal_position", 0)
    servo.advance(2.001)
    assert read(servo, "present_current") == -648  # all it has


@pytest.mark.parametrize(("load", "share"), [(-0.5, (0.98 - 0.5) / 0.98), (0.5, 1.0), (-0.98, 0.0)])
def test_a_heavy_load_slows_it_down(load, share):
    """As every DC motor: what is left of its torque at standstill is its speed."""
    for mode, entry, value in ((4, "goal_position", 100_000), (1, "goal_velocity", 130)):
        servo = make(load=load, operating_mode=mode, torque_enable=1, **{entry: value})
        servo.advance(0.5)
        asked = 130 * VELOCITY_UNIT * PER_TURN if mode == 1 else math.inf
        assert servo.motor.velocity == pytest.approx(min(asked, share * 2048))


def test_current_drives_against_a_load():
    servo = make(load=-0.3, operating_mode=0, torque_enable=1, goal_current=324)
    servo.advance(1.0)
    assert servo.motor.velocity == pytest.approx(2048 * (0.5 - 0.3 - 0.02) / 0.98, rel=0.01)
    assert read(servo, "present_current") == 324
    write(servo, "goal_current", 190)  # nearly as much: friction holds the rest
    servo.advance(2.0)
    assert servo.motor.velocity == 0
    write(servo, "goal_current", 100)
    servo.advance(3.0)
    assert servo.motor.velocity == pytest.approx(-2048 * (0.3 - 100 / 648 - 0.02) / 0.98, rel=0.01)
    assert read(servo, "present_current") == 100


def test_voltage_draws_what_the_motors_own_leaves():
    servo = make(load=-0.3, operating_mode=16, torque_enable=1, goal_pwm=885)
    assert read(servo, "present_current") == 648  # it starts
    servo.advance(1.0)
    assert servo.motor.velocity == pytest.approx(2048 * (1.0 - 0.3 - 0.02) / 0.98, rel=0.01)
    assert read(servo, "present_current") == pytest.approx((0.3 + 0.02) * 648, abs=1)


@pytest.mark.parametrize("sign", [1, -1])
def test_too_heavy_a_load_pushes_it_away_and_overloads_it(sign):
    servo = make(load=1.5 * sign, operating_mode=4, torque_enable=1)
    servo.advance(0.9)
    assert servo.motor.velocity == pytest.approx(sign * 2048 * (1.5 - 1.0 - 0.02) / 0.98, rel=0.01)
    assert (read(servo, "present_current"), read(servo, "torque_enable")) == (-648 * sign, 1)
    servo.advance(1.5)
    assert (read(servo, "hardware_error_status"), read(servo, "torque_enable")) == (0x20, 0)
    assert (servo.motor.position - 2048) * sign > 1000
    servo.motor.load = 0.0
    servo.advance(3.0)
    assert servo.motor.velocity == 0


def test_a_current_limit_lets_a_smaller_load_push_it_away_and_never_overloads():
    servo = make(load=-0.5, operating_mode=5, torque_enable=1, goal_current=200)
    servo.advance(5.0)
    assert servo.motor.velocity == pytest.approx(-2048 * (0.5 - 200 / 648 - 0.02) / 0.98, rel=0.01)
    assert (read(servo, "present_current"), read(servo, "hardware_error_status")) == (200, 0)
    servo.motor.load = -0.1
    servo.advance(20.0)
    assert (read(servo, "present_position"), read(servo, "present_current")) == (2048, round(0.1 * 648))


def test_without_torque_its_gear_holds_a_small_load_and_a_larger_one_falls():
    servo = make(load=-0.09)
    servo.advance(60.0)
    assert (servo.motor.position, read(servo, "present_current")) == (2048, 0)
    servo.motor.load = -0.3
    servo.advance(61.0)
    assert servo.motor.velocity == pytest.approx(-2048 * (0.3 - 0.1) / 0.9, rel=0.01)
    write(servo, "operating_mode", 4)
    write(servo, "torque_enable", 1)
    servo.advance(80.0)
    assert read(servo, "present_position") == read(servo, "goal_position")


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        [
            {},
            {"profile_velocity": 20},
            {"goal_current": 300},
            {"goal_current": 600},
            {"goal_pwm": -800},
            {"goal_velocity": 40},
        ]
    ),
    st.sampled_from([0, 1, 4, 5, 16]),
    st.booleans(),
    st.floats(-1.5, 1.5),
    st.lists(st.floats(0.0, 0.5), min_size=2, max_size=12),
)
def test_it_does_not_matter_how_often_one_looks(entries, mode, torque, load, looks):
    """Motion, current, and when it overloads, or its watchdog bites."""
    how = {"operating_mode": mode, "torque_enable": int(torque), "bus_watchdog": 100, "goal_position": 4000, **entries}
    once, often = make(load=load, **how), make(load=load, **how)
    now = 0.0
    for look in looks:
        now += look
        often.advance(now)
    once.advance(now)
    assert often.motor.position == pytest.approx(once.motor.position, abs=0.1)
    assert often.motor.velocity == pytest.approx(once.motor.velocity, abs=0.6)  # below which it counts as standing
    assert read(often, "present_current") == pytest.approx(read(once, "present_current"), abs=1)
    for name in ("hardware_error_status", "torque_enable", "bus_watchdog"):
        assert read(often, name) == read(once, name)
