"""Smooth paths over the support against a dense quadratic program that another method solves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from robik.balance.com_path import Smoothness, levers, outside, smooth_inside, zero_moment

COUNT = 24


def box(x: float, y: float, half: float) -> np.ndarray:
    """A square's corners (4, 2), counter-clockwise."""
    return np.array([x, y]) + half * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])


SUPPORTS = [None if k in (7, 8) else box(0.3 * (k // 12), 0.1 * (-1) ** (k // 6), 0.05) for k in range(COUNT)]
WISH = np.stack([np.linspace(-0.1, 0.4, COUNT), 0.02 * np.sin(np.arange(COUNT))], axis=1)


def moments(lever: np.ndarray) -> np.ndarray:
    """The matrix (N, N) of z = p - λ D₂p."""
    A = np.eye(len(lever))
    for k in range(1, len(lever) - 1):
        A[k, k - 1 : k + 2] -= lever[k] * np.array([1.0, -2.0, 1.0])
    return A


def expected(smoothness: Smoothness, lever: np.ndarray) -> np.ndarray:
    """The path by a trust-region interior point method, each axis by itself: the supports are squares."""
    D2, D3, A = np.diff(np.eye(COUNT), 2, axis=0), np.diff(np.eye(COUNT), 3, axis=0), moments(lever)
    H = np.eye(COUNT) + smoothness.acceleration * D2.T @ D2 + smoothness.jerk * D3.T @ D3
    path = []
    for axis in range(2):
        low = [-np.inf if s is None else s[:, axis].min() for s in SUPPORTS]
        high = [np.inf if s is None else s[:, axis].max() for s in SUPPORTS]
        wish = WISH[:, axis]
        found = minimize(
            lambda p, r=wish: 0.5 * p @ H @ p - p @ r, np.zeros(COUNT), jac=lambda p, r=wish: H @ p - r,
            hess=lambda p: H, constraints=LinearConstraint(A, low, high), method="trust-constr",
            options={"gtol": 1e-10, "xtol": 1e-12, "maxiter": 3000},
        )  # fmt: skip
        path.append(found.x)
    return np.array(path).T


@pytest.mark.parametrize(
    ("smoothness", "lever"),
    [
        (Smoothness(acceleration=20.0), 0.0),
        (Smoothness(acceleration=5.0, jerk=50.0), 0.0),
        (Smoothness(acceleration=20.0, jerk=10.0), 3.0),
    ],
)
def test_a_smooth_path_is_the_quadratic_programs_optimum(smoothness: Smoothness, lever: float) -> None:
    levels = np.full(COUNT, lever)
    found = smooth_inside(WISH, SUPPORTS, smoothness, levels if lever else None, tolerance=1e-8, most=40000)
    assert np.abs(found - expected(smoothness, levels)).max() < 2e-5
    assert outside(zero_moment(found, levels), SUPPORTS).max() < 1e-6


def test_a_path_that_is_smooth_and_inside_stays_as_it_is() -> None:
    wish = np.tile([0.01, -0.02], (COUNT, 1))
    found = smooth_inside(wish, [box(0.0, 0.0, 0.05)] * COUNT, Smoothness(acceleration=100.0, jerk=10.0))
    assert np.abs(found - wish).max() < 1e-9


def test_levers_are_height_over_what_pulls_down() -> None:
    height, rate = 0.8 + 0.05 * np.sin(np.arange(30) * 0.2), 30.0
    found = levers(height + 0.3, 0.3, rate)
    rise = np.gradient(np.gradient(height, 1 / rate), 1 / rate)
    assert np.abs(found[3:-3] / rate**2 - (height / (9.81 + rise))[3:-3]).max() < 2e-3
    assert found[0] == pytest.approx(0.8 / 9.81 * rate**2)
    falling = levers(np.array([1.0, 1.0 - 1.0, 0.0]), 0.0, 100.0)  # faster than free fall: the lever stays bounded
    assert (falling >= 0.0).all()
    assert levers(np.array([1.0, 1.0]), 0.0, 10.0) == pytest.approx([100.0 / 9.81] * 2)


def test_distances_from_supports() -> None:
    points = np.array([[0.0, 0.0], [0.08, 0.0], [0.09, -0.08], [5.0, 5.0]])
    supports = [box(0.0, 0.0, 0.05), box(0.0, 0.0, 0.05), box(0.0, 0.0, 0.05), None]
    assert outside(points, supports) == pytest.approx([0.0, 0.03, 0.05, 0.0])


@pytest.mark.parametrize(("half", "lever"), [(0.05, 0.0), (0.02, 0.0), (0.02, 50.0)])
def test_a_stiff_path_over_small_supports_is_found_in_few_iterations(half: float, lever: float) -> None:
    """The penalty follows whichever lags, the supports or the path; kept as it begins, 1,600 iterations are too few."""
    count = 240
    supports = [box(0.15 * (k // 24), 0.1 * (-1) ** (k // 24), half) for k in range(count)]
    wish = np.stack([np.linspace(-0.1, 1.4, count), np.zeros(count)], axis=1)
    levels = np.full(count, lever)
    found = smooth_inside(wish, supports, Smoothness(acceleration=200.0, jerk=1000.0), levels, most=400)
    assert outside(zero_moment(found, levels), supports).max() < 4e-5
