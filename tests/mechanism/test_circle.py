"""Circles through points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robik.errors import MechanismError
from robik.mechanism.circle import Circle, common_axis, fit_circle
from robik.mechanism.pose import Pose


@given(seed=st.integers(0, 10_000), count=st.integers(3, 40), radius=st.floats(1e-4, 10.0), part=st.floats(1.5, 6.2))
def test_points_on_a_circle_give_it_back(seed: int, count: int, radius: float, part: float) -> None:
    rng = np.random.default_rng(seed)
    q = rng.normal(size=4)
    R, center = Pose((0, 0, 0), tuple(q / np.linalg.norm(q))).matrix, rng.uniform(-1, 1, 3)
    angles = np.linspace(0, part, count)
    points = center + radius * (np.cos(angles)[:, None] * R[:, 0] + np.sin(angles)[:, None] * R[:, 1])
    found = fit_circle(points)
    assert np.linalg.norm(found.center - center) < 1e-9 * max(radius, 1.0)
    assert abs(found.radius - radius) < 1e-9 * max(radius, 1.0)
    assert abs(abs(found.normal @ R[:, 2]) - 1.0) < 1e-9
    assert found.off < 1e-9 * max(radius, 1.0)


def test_noise_moves_the_centre_less_than_itself() -> None:
    angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    points = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles]) + np.random.default_rng(1).normal(
        scale=1e-3, size=(64, 3)
    )
    found = fit_circle(points)
    assert np.linalg.norm(found.center) < 1e-3
    assert found.off < 4e-3


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([[0, 0, 0], [1, 0, 0]], "three points"),
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], "on a line"),
        ([[0, 0, 0], [4, 0, 0], [4, 1, 0], [0, 1, 0], [2, 1, 0]], "no circle"),
    ],
)
def test_what_is_no_circle_is_refused(points: list, says: str) -> None:
    with pytest.raises(MechanismError, match=says):
        fit_circle(np.array(points, dtype=float))


def test_both_rims_of_a_hole_have_their_axis_in_common() -> None:
    up = np.array([0.0, 0.0, 1.0])
    rims = [Circle(np.array([1.0, 2.0, z]), up, 0.1, 0.0) for z in (0.0, 0.5)]
    point, axis = common_axis(rims)
    assert (point.tolist(), axis.tolist()) == ([1.0, 2.0, 0.25], [0.0, 0.0, 1.0])
    with pytest.raises(MechanismError, match="several axes"):
        common_axis([rims[0], Circle(np.array([1.1, 2.0, 0.0]), up, 0.1, 0.0)])
