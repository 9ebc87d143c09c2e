"""Ways, deadlines and the preflight: what can be judged without a servo."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robik.errors import ServoError
from robik.retarget.motion import Motion
from robik.servo.chain import Servo, ServoChain, default_chain
from robik.servo.preflight import preflight
from robik.servo.schedule import Lateness, Schedule
from robik.servo.trajectory import Along, Between, Slowing, sample_times

POSES = arrays(float, 4, elements=st.floats(-3, 3))
CHAIN = default_chain(("a", "b"), {"a": (-1, 1), "b": (-1, 1)}, {"a": 2.0, "b": 2.0})


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
    return Motion(times, ("b", "ignored", "a"), np.column_stack([np.sin(times), times, 0.5 * np.cos(times)]))


def test_along_a_motion_linear_is_interpolation_of_the_right_columns():
    motion = _motion()
    times = np.random.default_rng(0).uniform(0, 2, 500)
    values = Along(motion, CHAIN).at(times)
    assert values[:, 0] == pytest.approx(np.interp(times + 5, motion.times, motion.values[:, 2]), abs=1e-12)
    assert values[:, 1] == pytest.approx(np.interp(times + 5, motion.times, motion.values[:, 0]), abs=1e-12)


def test_along_a_motion_passes_its_samples_exactly_and_cubic_is_nearer_to_the_curve():
    motion = _motion()
    for interpolation in ("linear", "cubic"):
        assert Along(motion, CHAIN, interpolation).at(motion.times - 5.0) == pytest.approx(motion.values[:, [2, 0]], abs=1e-9)
    times = np.linspace(0, 2, 333)
    exact = np.column_stack([0.5 * np.cos(times + 5), np.sin(times + 5)])
    errors = [np.abs(Along(motion, CHAIN, i).at(times) - exact).max() for i in ("linear", "cubic")]
    assert errors[1] < errors[0] / 20


def test_a_single_frame_is_a_motion():
    along = Along(Motion(np.zeros(1), ("a", "b"), np.array([[0.1, 0.2]])), CHAIN)
    assert along.at(np.array([0.0, 1.0])) == pytest.approx(np.array([[0.1, 0.2], [0.1, 0.2]]))
    assert len(sample_times(along, 100)) == 1


@given(st.floats(0, 2), st.floats(0.05, 1))
def test_slowing_stays_on_the_way_and_comes_to_a_stand(start, duration):
    along = Along(_motion(), CHAIN)
    slowing = Slowing(along, start, duration)
    times = np.linspace(0, duration, 400)
    values = slowing.at(times)
    assert values[0] == pytest.approx(along.at(np.array([start]))[0])
    speed = np.abs(np.diff(values, axis=0)) / (times[1] - times[0])
    assert speed.max() <= 1.01  # of the motion itself
    assert speed[-1].max() < 0.01
    assert values[-1] == pytest.approx(along.at(np.array([start + duration / 2]))[0], abs=1e-9)


# deadlines


def test_a_late_goal_is_dropped_and_lag_does_not_build_up():
    schedule = Schedule(500.0)
    schedule.start()
    started, numbers = time.monotonic(), []
    for k in range(40):
        numbers.append(schedule.wait(10_000))
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
    assert expected - 1e-9 <= lateness.percentile(percent) <= expected + 4.1e-5 or lateness.percentile(percent) == lateness.worst
    assert lateness.worst == max(values)


# preflight


def _check(values, rate=100.0, times=None, chain=CHAIN, names=("a", "b")):
    values = np.asarray(values, dtype=float)
    times = np.arange(len(values)) * 0.1 if times is None else times
    return preflight(Motion(times, names, values), chain, rate)


def test_a_motion_at_the_limits_may_be_played():
    assert _check([[-1, 1], [-0.8, 0.8], [-0.6, 1.0], [-0.8, 0.9]]).problems == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[0, 0], [0, 0.1], [0, 1.05], [0, 1]], ["b: 1.05 at 0.200 s is above its limit 1"]),
        ([[0, 0], [-0.1, 0], [-1.2, 0]], ["a: -1.2 at 0.200 s is below its limit -1"]),
        ([[0, 0], [0, 0], [0.25, 0]], ["a: 2.5 per second", "0.110 s", "limit 2"]),
        ([[-1, 0], [1, 0]], ["a: jumps by 0.2"]),
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


def test_a_rate_that_the_bus_cannot_carry_comes_with_the_arithmetic():
    slow = ServoChain(tuple(Servo(f"m{k}", k) for k in range(12)), 57_600)
    found = preflight(Motion(np.zeros(1), slow.actuators, np.zeros((1, 12))), slow, 100.0)
    assert "74 bytes × 10 bits / 57600 baud = 12.85 ms of the 10.00 ms" in found.problems[0]
    assert "rate" in _check([[0, 0]], rate=5000).problems[0]


@given(arrays(float, (20, 2), elements=st.floats(-2, 2)), st.sampled_from([10.0, 50.0, 333.0]))
@settings(max_examples=40)
def test_what_passes_keeps_the_limits_at_every_goal(values, rate):
    motion = Motion(np.arange(20) * 0.5, ("a", "b"), values)
    if preflight(motion, CHAIN, rate).problems:
        return
    along = Along(motion, CHAIN)
    goals = along.at(sample_times(along, rate))
    assert np.abs(goals).max() <= 1 + 1e-6
    assert (np.abs(np.diff(goals, axis=0)) * rate).max() <= 2.0 * 1.001
