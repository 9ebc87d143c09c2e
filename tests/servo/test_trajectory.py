"""Ways, deadlines and the preflight: what can be judged without a servo."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robik.errors import ClipError, ServoError
from robik.motions import BaseTrack, Motion, load_motion, save_motion
from robik.motions.needs import Needs
from robik.motions.resampling import resampled
from robik.servo.bus.schedule import Lateness, Schedule
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.chain.export import export_motion
from robik.servo.chain.servo import Servo
from robik.servo.chain.trajectory import MOST_GOALS, Along, Between, Linear, Round, check_length, part, sample_times
from robik.servo.play.preflight import preflight
from robik.servo.play.softening import fitting_speed, soften
from robik.servo.port.guide import Journey
from robik.servo.port.status import PlaySettings

POSES = arrays(float, 4, elements=st.floats(-3, 3))
_BOTH = default_chain(("a", "b"), {"a": (-1, 1), "b": (-1, 1)}, {"a": 2.0, "b": 2.0})
CHAIN = replace(_BOTH, servos=tuple(replace(servo, acceleration_limit=25.0) for servo in _BOTH.servos))


@given(POSES, POSES, arrays(float, 4, elements=st.floats(0.1, 5)))
def test_between_two_stands_nobody_is_faster_than_allowed(start, end, speeds):
    way = Between(start, end, speeds)
    times = np.linspace(0, max(way.duration, 1e-3), 2001)
    values = way.at(times)
    assert np.abs(values[0] - start).max() < 1e-12
    assert np.abs(values[-1] - end).max() < 1e-9
    fastest = np.abs(np.diff(values, axis=0)).max(axis=0) / (times[1] - times[0])
    assert (fastest <= speeds * (1 + 1e-6)).all()


def _motion(seconds=2.0, rate=24.0):
    times = 5.0 + np.arange(int(seconds * rate) + 1) / rate
    return Motion(
        times=times,
        actuators=("b", "ignored", "a"),
        values=np.column_stack([np.sin(times), times, 0.5 * np.cos(times)]),
    )


def test_along_a_motion_linear_is_interpolation_of_the_right_columns():
    motion = _motion()
    times = np.random.default_rng(0).uniform(0, 2, 500)
    values = Along(motion, CHAIN).at(times)
    assert values[:, 0] == pytest.approx(np.interp(times + 5, motion.times, motion.values[:, 2]), abs=1e-12)
    assert values[:, 1] == pytest.approx(np.interp(times + 5, motion.times, motion.values[:, 0]), abs=1e-12)


def test_a_floating_robots_base_is_nothing_to_its_servos(tmp_path):
    """Read from a file, it changes neither goals nor what the preflight says, and no board gets it."""
    plain = Motion(
        times=np.arange(50) / 25, actuators=("b", "a"), values=0.1 * np.sin(np.arange(100).reshape(50, 2) / 30)
    )
    base = BaseTrack(body="pelvis", position=np.full((50, 3), 99.0), quaternion=np.tile([1.0, 0.0, 0.0, 0.0], (50, 1)))
    save_motion(replace(plain, base=base), tmp_path / "m.csv")
    floating = load_motion(tmp_path / "m.csv")
    assert floating.base is not None
    times = np.linspace(0, 2, 77)
    assert (Along(floating, CHAIN).at(times) == Along(plain, CHAIN).at(times)).all()
    assert preflight(floating, CHAIN, PlaySettings()) == preflight(plain, CHAIN, PlaySettings())
    assert preflight(floating, CHAIN, PlaySettings()).warnings == ()
    assert part(floating, 0.5, 1.0).actuators == ("b", "a")
    files = [
        export_motion(motion, tmp_path / "m.h", chain=CHAIN) or (tmp_path / "m.h").read_bytes()
        for motion in (floating, plain)
    ]
    assert files[0] == files[1]


def test_along_a_motion_passes_its_samples_exactly_and_cubic_is_nearer_to_the_curve():
    motion = _motion()
    for interpolation in ("linear", "cubic"):
        assert Along(motion, CHAIN, interpolation).at(motion.times - 5.0) == pytest.approx(
            motion.values[:, [2, 0]], abs=1e-9
        )
    times = np.linspace(0, 2, 333)
    exact = np.column_stack([0.5 * np.cos(times + 5), np.sin(times + 5)])
    errors = [np.abs(Along(motion, CHAIN, i).at(times) - exact).max() for i in ("linear", "cubic")]
    assert errors[1] < errors[0] / 20


def test_a_single_frame_is_a_motion():
    along = Along(Motion(times=np.zeros(1), actuators=("a", "b"), values=np.array([[0.1, 0.2]])), CHAIN)
    assert along.at(np.array([0.0, 1.0])) == pytest.approx(np.array([[0.1, 0.2], [0.1, 0.2]]))
    assert len(sample_times(along, 100)) == 1


@given(st.floats(0, 2), st.floats(0.05, 1))
def test_stopping_stays_on_the_way_and_comes_to_a_stand(start, stop_time):
    along, h = Along(_motion(), CHAIN), 0.002
    journey = Journey(along, stop_time)
    journey.step(start, 1.0)
    journey.stop()
    began, values = journey.at, [along.at(np.array([journey.at]))[0]]
    while not journey.is_over:
        values.append(journey.step(h, 1.0))
    speed = np.abs(np.diff(values, axis=0)) / h
    assert speed.max(initial=0.0) <= 1.01  # of the motion itself
    assert (journey.at == along.duration) or journey.at == pytest.approx(began + stop_time / 2, abs=2 * h)
    assert len(values) * h <= stop_time + 3 * h


def test_a_pause_stands_and_goes_on_where_it_was():
    along = Along(_motion(), CHAIN)
    journey, plain = Journey(along, 0.2), Journey(along, 0.2)
    for _ in range(50):
        journey.step(0.01, 1.0), plain.step(0.01, 1.0)
    for _ in range(100):
        stood = journey.step(0.01, 0.0)
    assert journey.is_resting
    assert not journey.is_over
    assert journey.at == pytest.approx(0.6)
    assert stood == pytest.approx(along.at(np.array([journey.at]))[0])
    while not journey.is_over:
        journey.step(0.01, 1.0)
    while not plain.is_over:
        plain.step(0.01, 1.0)
    assert journey.step(0.01, 1.0) == pytest.approx(plain.step(0.01, 1.0))


def test_a_stretch_at_another_speed():
    motion = _motion()
    cut = part(motion, 5.51, 6.49, 2.0)
    assert cut.times[[0, -1]] == pytest.approx(np.array([5.51, 6.49]) / 2)
    assert cut.values[0] == pytest.approx([np.interp(5.51, motion.times, column) for column in motion.values.T])
    times = np.linspace(0, 0.49, 77)
    assert Along(cut, CHAIN).at(times) == pytest.approx(Along(motion, CHAIN).at(0.51 + 2 * times))
    with pytest.raises(ServoError, match="from 4 to 6 s is not in the motion, which goes from 5 to 7 s"):
        part(motion, 4.0, 6.0)
    with pytest.raises(ServoError, match="speed of playing must be positive"):
        part(motion, speed=0.0)


def test_round_and_round():
    """A circle goes on without a halt; a way that ends elsewhere goes slowly back."""
    times = np.arange(61) / 60 * 2
    circle = Along(
        Motion(
            times=times, actuators=("a", "b"), values=np.column_stack([np.cos(np.pi * times), np.sin(np.pi * times)])
        ),
        CHAIN,
    )
    speeds, limits = np.array([0.5, 0.5]), np.array([4.0, 4.0])
    way = Round(circle, speeds, 1 / 30, limits)
    assert way.length == pytest.approx(2 + 1 / 30)
    assert way.at(np.array([0.3 + 3 * way.length])) == pytest.approx(circle.at(np.array([0.3])))
    line = Along(
        Motion(times=np.array([0.0, 1.0]), actuators=("a", "b"), values=np.array([[0.0, 0.0], [0.9, 0.1]])), CHAIN
    )
    way = Round(line, speeds, 1.0 / 60, limits)
    fine = np.linspace(0, 2 * way.length, 4001)
    fastest = np.abs(np.diff(way.at(fine), axis=0)).max() / (fine[1] - fine[0])
    assert fastest == pytest.approx(0.9, rel=1e-3)  # the line's own
    assert way.at(np.array([1.0, way.length - 1e-9])) == pytest.approx(np.array([[0.9, 0.1], [0.0, 0.0]]), abs=1e-6)


# deadlines


def test_a_late_goal_is_dropped_and_lag_does_not_build_up():
    schedule = Schedule(500.0)
    schedule.start()
    started, numbers = time.monotonic(), []
    for k in range(40):
        numbers.append(schedule.wait())
        schedule.done()
        if k % 10 == 9:
            time.sleep(0.02)  # ten periods
    elapsed = time.monotonic() - started
    assert numbers == sorted(set(numbers))
    assert schedule.sent == 40
    assert schedule.dropped == numbers[-1] + 1 - 40
    assert schedule.dropped >= 3 * 9
    assert numbers[-1] / 500 == pytest.approx(elapsed - 0.02, abs=0.03)  # the last sleep comes after the last goal


def test_the_last_goal_is_never_dropped():
    schedule = Schedule(100.0)
    schedule.start()
    time.sleep(0.1)
    assert schedule.wait(3) == 3
    assert schedule.dropped == 3


@settings(max_examples=30)
@given(st.lists(st.floats(0, 0.05), min_size=1, max_size=300), st.sampled_from([50, 90, 99]))
def test_percentiles_from_the_histogram(values, percent):
    lateness = Lateness()
    for value in values:
        lateness.add(value)
    expected = np.percentile(values, percent, method="inverted_cdf")
    assert (
        expected - 1e-9 <= lateness.percentile(percent) <= expected + 4.1e-5
        or lateness.percentile(percent) == lateness.worst
    )
    assert lateness.worst == max(values)


# preflight


def _check(values, rate=100.0, times=None, chain=CHAIN, names=("a", "b")):
    values = np.asarray(values, dtype=float)
    times = np.arange(len(values)) * 0.1 if times is None else times
    return preflight(Motion(times=times, actuators=names, values=values), chain, PlaySettings(rate=rate))


def test_a_motion_at_the_limits_may_be_played():
    assert _check([[-1, 1], [-0.8, 0.8], [-0.6, 1.0], [-0.8, 0.9]], chain=_BOTH).problems == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[0, 0], [0, 0.1], [0, 1.05], [0, 1]], ["b: 1.05 at 0.200 s is above its limit 1"]),
        ([[0, 0], [-0.1, 0], [-1.2, 0]], ["a: -1.2 at 0.200 s is below its limit -1"]),
        ([[0, 0], [0, 0], [0.25, 0]], ["a: 2.5 per second", "0.110 s", "limit 2"]),
        ([[-1, 0], [1, 0]], ["a: jumps by 0.2"]),
        ([[0, 0], [0.15, 0], [0, 0]], ["a: accelerates by 30 per second² at 0.100 s, above its limit 25"]),
    ],
)
def test_what_is_wrong_is_listed(values, words):
    found = _check(values)
    text = "; ".join(found.problems)
    assert all(word in text for word in words), text
    with pytest.raises(ServoError, match="must not be played"):
        found.check()


def test_missing_columns_and_servos():
    assert "no column for b" in _check([[0.0]], names=("a",)).problems[0]
    assert _check([[0, 0, 0]], names=("a", "b", "c")).warnings == ("c has no servo and is left out",)


def test_a_start_far_from_where_the_robot_stands_is_refused_or_asked_for():
    motion = Motion(times=np.array([0.0, 0.1]), actuators=("a", "b"), values=np.array([[0.0, 0.0], [0.1, 0.0]]))
    assert preflight(motion, CHAIN, PlaySettings(), (0.1, -0.1)).warnings == ()
    far = "the robot stands far from the first frame, b by 0.8; the approach takes 3.0 s"
    refused = preflight(motion, CHAIN, PlaySettings(), (0.1, -0.8))
    assert (refused.problems, refused.warnings) == (
        (f"{far}; bring it nearer, or ask for softening, and it goes there slowly",),
        (),
    )
    asked_for = preflight(motion, CHAIN, PlaySettings(), (0.1, -0.8), from_afar=True)
    assert (asked_for.problems, asked_for.warnings) == ((), (far,))
    assert preflight(motion, CHAIN, PlaySettings(approach_speed=2.0), (0.1, -0.8)).problems == ()  # it is there soon


def test_a_rate_that_the_bus_cannot_carry_comes_with_the_arithmetic():
    slow = ServoChain(tuple(Servo(f"m{k}", k) for k in range(12)), 57_600)
    found = preflight(
        Motion(times=np.zeros(1), actuators=slow.actuators, values=np.zeros((1, 12))), slow, PlaySettings()
    )
    assert "74 bytes × 10 bits / 57600 baud = 12.85 ms of the 10.00 ms" in found.problems[0]
    assert "rate" in _check([[0, 0]], rate=5000).problems[0]


@given(arrays(float, (20, 2), elements=st.floats(-2, 2)), st.sampled_from([10.0, 50.0, 333.0]))
@settings(max_examples=40)
def test_what_passes_keeps_the_limits_at_every_goal(values, rate):
    motion = Motion(times=np.arange(20) * 0.5, actuators=("a", "b"), values=values)
    if preflight(motion, CHAIN, PlaySettings(rate=rate)).problems:
        return
    along = Along(motion, CHAIN)
    goals = along.at(sample_times(along, rate))
    assert np.abs(goals).max() <= 1 + 1e-6
    assert (np.abs(np.diff(goals, axis=0)) * rate).max() <= 2.0 * 1.001


# softening


@given(
    arrays(float, (20, 2), elements=st.floats(-2, 2)),
    st.sampled_from([50.0, 100.0, 333.0]),
    st.sampled_from([0.02, 0.1, 0.5]),
)
@settings(max_examples=40, deadline=None)
def test_what_is_softened_may_be_played(values, rate, step):
    motion = Motion(times=np.arange(20) * step, actuators=("a", "b"), values=values)
    softened = soften(motion, CHAIN, rate)
    assert preflight(softened.motion, CHAIN, PlaySettings(rate=rate)).problems == ()


def test_what_need_not_be_softened_stays_and_what_must_be_says_by_how_much():
    times = np.arange(200) / 100
    calm = Motion(times=times, actuators=("a", "b"), values=np.column_stack([0.9 * np.cos(2 * times), -np.cos(times)]))
    assert max(soften(calm, CHAIN, 100.0).deviation.values()) < 0.004  # it ends in a stand
    between_stands = replace(calm, values=np.column_stack([0.9 * np.cos(np.pi * times / 1.99), 0 * times]))
    kept = soften(between_stands, CHAIN, 100.0)
    assert (kept.motion.values == between_stands.values).all()
    assert kept.deviation == {"a": 0.0, "b": 0.0}
    jump = Motion(times=times, actuators=("a", "b"), values=np.column_stack([0.5 * (times > 1), 0 * times]))
    assert soften(jump, CHAIN, 100.0).deviation["a"] == pytest.approx(0.5, abs=0.05)
    assert soften(jump, CHAIN, 100.0).motion.values[-1] == pytest.approx([0.5, 0], abs=1e-6)


def test_a_softened_motion_still_says_what_has_no_servo():
    times = np.arange(20) / 10
    motion = Motion(times=times, actuators=("a", "c", "b"), values=np.column_stack([0 * times, times, 0 * times]))
    softened = soften(motion, CHAIN, 50.0).motion
    assert preflight(softened, CHAIN, PlaySettings()).warnings == ("c has no servo and is left out",)
    assert softened.values[:, softened.actuators.index("c")] == pytest.approx(softened.times.clip(max=1.9))


def test_a_motion_that_is_too_fast_fits_at_a_lower_speed():
    times = np.arange(100) / 50
    fast = Motion(times=times, actuators=("a", "b"), values=np.column_stack([0.9 * np.sin(6 * times), np.zeros(100)]))
    speed = fitting_speed(fast, CHAIN)
    assert 0.3 < speed < 0.5
    assert preflight(part(fast, speed=speed), CHAIN, PlaySettings()).problems == ()
    assert preflight(part(fast, speed=speed * 1.1), CHAIN, PlaySettings()).problems
    assert fitting_speed(part(fast, speed=speed), CHAIN) == pytest.approx(1.0)


@pytest.mark.parametrize(("last", "speed"), [(1e12, 1.0), (1.0, 1e-9), (1e6, 1.0)])
def test_a_motion_that_takes_too_long_is_refused_in_a_sentence(last, speed):
    long = part(Motion(times=np.array([0.0, last]), actuators=("a", "b"), values=np.zeros((2, 2))), speed=speed)
    (problem,) = preflight(long, CHAIN, PlaySettings()).problems
    assert problem.startswith(f"the motion takes {last / speed:.4g} s, more than 10 h at 100 Hz")
    with pytest.raises(ServoError, match="more than 10 h at 100 Hz"):
        soften(long, CHAIN, 100.0)


def test_times_beyond_any_clock():
    with pytest.raises(ClipError, match=r"in seconds, at most 1e\+12; sample 1 is at 1e\+300 s"):
        Motion(times=np.array([0.0, 1e300]), actuators=("a",), values=np.zeros((2, 1)))
    with pytest.raises(ClipError, match="choose a lower rate"):
        resampled(Motion(times=np.array([0.0, 1e12]), actuators=("a",), values=np.zeros((2, 1))), 100.0)


def test_a_line_runs_from_its_start_to_its_end_and_stays() -> None:
    line = Linear(np.array([1.0, -2.0]), np.array([3.0, 2.0]), 4.0)
    np.testing.assert_allclose(
        line.at(np.array([-1.0, 0.0, 1.0, 4.0, 9.0])), [[1, -2], [1, -2], [1.5, -1], [3, 2], [3, 2]]
    )


def test_a_motion_may_have_so_many_goals_and_none_more() -> None:
    start, end = np.zeros(1), np.ones(1)
    check_length(Linear(start, end, MOST_GOALS / 100.0), 100.0)
    with pytest.raises(ServoError, match=r"more than .* h at 100 Hz; play a stretch of it"):
        check_length(Linear(start, end, (MOST_GOALS + 1) / 100.0), 100.0)


def test_what_a_motion_was_made_to_stand_with_is_said_where_it_is_not_set():
    checked, stiff = preflight(_motion(), CHAIN, PlaySettings()), _with_gain(CHAIN, 10500)
    needs = Needs(carry_weight=True, p_gain=10500.0)

    def warned(chain, carries):
        return checked.with_needs(needs, chain, carries, feels=False).warnings[len(checked.warnings) :]

    told = "the motion was made to stand with {}, which is not set"
    assert warned(CHAIN, False) == (told.format("Carry Weight and a P gain of 10500"),)
    assert warned(CHAIN, True) == (told.format("a P gain of 10500"),)
    assert warned(stiff, False) == (told.format("Carry Weight"),)
    assert warned(stiff, True) == ()
    assert checked.with_needs(None, CHAIN, False, False) is checked


def _with_gain(chain, p_gain):
    return replace(chain, servos=tuple(replace(servo, p_gain=p_gain) for servo in chain.servos))
