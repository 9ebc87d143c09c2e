"""Fewer keys within a tolerance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from robik.errors import ClipError
from robik.retargeting.reduce import reduce_keys


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 300), st.floats(1e-6, 0.5))
def test_every_sample_is_met(seed: int, count: int, tolerance: float) -> None:
    random = np.random.default_rng(seed)
    times = np.cumsum(random.uniform(0.1, 2.0, count))
    values = np.cumsum(random.normal(size=count)) * random.choice([0.01, 1.0])
    keys = reduce_keys(times, values, tolerance)
    assert np.abs(keys.at(times) - values).max() <= tolerance * (1 + 1e-9)
    assert set(keys.times) <= set(times)
    assert keys.times[[0, -1]].tolist() == times[[0, -1]].tolist()


def test_smooth_curves_need_few_keys() -> None:
    times = np.arange(0, 10, 1 / 60)
    values = 0.5 * np.sin(2 * np.pi * times / 2.5) + 0.1 * np.sin(5 * times)
    keys = reduce_keys(times, values, np.radians(0.1))
    assert len(keys.times) < len(times) / 8
    between = np.linspace(0, times[-1], 5000)
    assert np.abs(keys.at(between) - CubicHermiteSpline(keys.times, keys.values, keys.slopes)(between)).max() < 1e-12
    assert np.abs(keys.at(between) - np.interp(between, times, values)).max() < np.radians(0.15)


def test_straight_lines_need_two() -> None:
    assert len(reduce_keys(np.arange(100.0), 3 * np.arange(100.0), 1e-6).times) == 2
    assert reduce_keys(np.array([4.0]), np.array([1.0]), 1.0).at(np.array([0.0, 9.0])).tolist() == [1.0, 1.0]


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ClipError, match="tolerance"):
        reduce_keys(np.arange(3.0), np.zeros(3), 0.0)
    with pytest.raises(ClipError, match="increasing"):
        reduce_keys(np.array([0.0, 0.0]), np.zeros(2), 1.0)


def test_a_curve_may_pass_by_just_the_tolerance() -> None:
    values = np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    assert reduce_keys(np.arange(7.0), values, 0.5).times.tolist() == [0.0, 6.0]
    assert 3.0 in reduce_keys(np.arange(7.0), values, 0.5 - 1e-12).times
