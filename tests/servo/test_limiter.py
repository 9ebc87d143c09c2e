"""The limiter, against wishes that no sane person would have."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robik.errors import RobikError
from robik.limiter import Limiter, braking_speed

LIMITS = np.array([[-1.0, 1.0], [-0.2, 2.5], [-3.0, -1.0]])
SPEEDS = np.array([3.0, 5.0, 0.7])
ACCELERATIONS = np.array([20.0, 60.0, 5.0])
START = np.array([0.3, 0.0, -2.0])
TINY = 1e-9

number = st.floats(-10, 10) | st.sampled_from([np.nan, np.inf, -np.inf, 1e300])
wish = st.none() | st.tuples(number, number, number).map(np.array)
scrub = st.lists(
    st.tuples(wish, st.integers(1, 60)), min_size=1, max_size=12
)  # a wish, and for how many periods it stands


def make(period=0.01):
    limiter = Limiter(LIMITS, SPEEDS, ACCELERATIONS, period)
    limiter.place(START)
    return limiter


@settings(max_examples=80, deadline=None)
@given(scrub, st.sampled_from([0.002, 0.01, 0.05]), number, st.floats(0.0, 1.0))
def test_whatever_is_wished_limits_speeds_and_accelerations_hold(script, period, drift, share):
    limiter = make(period)
    position, velocity = limiter.position, limiter.velocity
    for wished, periods in script:
        for _ in range(periods):
            now = limiter.step(wished, drift, share)
            speed = (now - position) / period
            assert (LIMITS[:, 0] - TINY <= now).all()
            assert (now <= LIMITS[:, 1] + TINY).all()
            assert (np.abs(speed) <= SPEEDS + 1e-6).all()
            assert (np.abs(speed - velocity) <= ACCELERATIONS * period + 1e-6).all()
            position, velocity = now, speed


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(st.floats(-1, 1), st.floats(-0.2, 2.5), st.floats(-3, -1)).map(np.array),
    st.sampled_from([0.002, 0.01, 0.05]),
)
def test_a_wish_that_stands_is_reached_without_overshoot(wished, period):
    limiter = make(period)
    way = np.abs(wished - START)
    longest = (way / SPEEDS + 2 * SPEEDS / ACCELERATIONS + 2 * np.sqrt(way / ACCELERATIONS)).max() + 3 * period
    left = wished - START
    for _ in range(int(longest / period) + 2):
        now = wished - limiter.step(wished)
        assert (np.abs(now) <= np.abs(left) + TINY).all()
        assert (now * left >= -TINY).all()
        left = now
    assert np.abs(left).max() < TINY
    assert np.abs(limiter.velocity).max() < 1e-6


def test_a_lost_wish_is_a_smooth_stop():
    limiter = make()
    for _ in range(30):
        limiter.step(np.array([0.9, 2.0, -1.1]))
    moving = np.abs(limiter.velocity)
    steps = int(np.ceil((moving / (ACCELERATIONS * 0.01)).max()))
    speeds = []
    for _ in range(steps):
        limiter.step(np.array([np.nan, 2.0, -1.1]))  # one lost joint stops alone
        speeds.append(np.abs(limiter.velocity[0]))
    assert speeds == sorted(speeds, reverse=True)
    assert speeds[-1] == 0
    for _ in range(steps):
        limiter.step(None)
    assert limiter.is_at_rest


def test_a_motion_within_the_limits_passes_unchanged():
    limiter = Limiter(LIMITS[:1], SPEEDS[:1], ACCELERATIONS[:1], 0.01)
    times = np.arange(600) * 0.01
    way = 0.9 * np.sin(3.0 * times - np.pi / 2)[:, None]  # 2.7 rad/s, 8.1 rad/s²
    limiter.place(way[0])
    ahead = np.vstack([way[2:], way[-1:]])
    followed = [limiter.step(now, (then - now) / 0.01).copy() for now, then in zip(way[1:], ahead, strict=True)]
    assert np.abs(np.array(followed) - way[1:])[:-1].max() < TINY  # the last one ends from full speed


def test_from_outside_the_limits_it_only_comes_inside():
    limiter = make()
    limiter.place(np.array([1.5, -0.9, -2.0]))
    before = limiter.position
    for _ in range(300):
        now = limiter.step(np.array([5.0, -5.0, -2.0]))
        assert now[0] <= before[0] + TINY
        assert now[1] >= before[1] - TINY
        before = now
    assert now[:2] == pytest.approx([1.0, -0.2], abs=1e-9)


@given(st.floats(0, 10), st.floats(0.5, 100), st.sampled_from([0.001, 0.01, 0.05]))
def test_from_the_braking_speed_one_can_just_stop(distance, acceleration, period):
    speed = float(braking_speed(np.array([distance]), np.array([acceleration]), period)[0])
    way, steps = 0.0, 0
    while speed > 1e-12:
        way += speed * period
        speed -= acceleration * period
        steps += 1
    assert way == pytest.approx(distance, abs=1e-9 * max(1, steps))


@pytest.mark.parametrize("wrong", [(0.0, 1.0, 0.01), (1.0, np.nan, 0.01), (1.0, 1.0, 0.0)])
def test_what_cannot_be_a_limiter(wrong):
    speed, acceleration, period = wrong
    with pytest.raises(RobikError, match="above 0"):
        Limiter(np.array([[-1.0, 1.0]]), np.array([speed]), np.array([acceleration]), period)
