"""Soles found on the shapes of feet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.skeleton.soles import find_sole

FOOT = np.array([(x, y, z) for x in (-0.1, 0.2) for y in (-0.05, 0.05) for z in (0.0, 0.06)])


def ball(radius: float) -> np.ndarray:
    across, up = np.meshgrid(np.linspace(0, 2 * np.pi, 33), np.linspace(-np.pi / 2, np.pi / 2, 17))
    return radius * np.stack([np.cos(up) * np.cos(across), np.cos(up) * np.sin(across), np.sin(up)], axis=-1).reshape(
        -1, 3
    )


def test_a_foot_that_stands_has_its_sole_on_the_ground() -> None:
    sole = find_sole(FOOT + np.array([0.3, 0.0, 0.5]))
    assert sole is not None
    assert sorted(map(tuple, sole.round(9).tolist())) == [
        (0.2, -0.05, 0.5),
        (0.2, 0.05, 0.5),
        (0.5, -0.05, 0.5),
        (0.5, 0.05, 0.5),
    ]
    seen = sole[:, :2] - sole[:, :2].mean(axis=0)
    assert (np.diff(np.unwrap(np.arctan2(seen[:, 1], seen[:, 0]))) > 0).all(), "counter-clockwise from above"


@pytest.mark.parametrize("turn", [(0.2, 0.0), (0.0, 0.15), (-0.6, 0.3)])
def test_a_foot_that_does_not_stand_level_has_its_flat_side(turn: tuple[float, float]) -> None:
    tilted = Rotation.from_euler("yx", turn)
    sole = find_sole(tilted.apply(FOOT))
    assert sole is not None
    flat = tilted.inv().apply(sole)
    assert np.ptp(flat, axis=0) == pytest.approx([0.3, 0.1, 0.0], abs=1e-9)


def test_a_round_foot_has_what_touches_the_ground() -> None:
    """However it is turned: no facet of a ball is a sole."""
    for angle in (0.0, 0.3, 1.0):
        sole = find_sole(Rotation.from_euler("xy", (angle, angle / 2)).apply(ball(0.02)))
        assert sole is not None
        assert np.ptp(sole[:, 2]) < 1e-12
        assert 0.005 < np.ptp(sole[:, 0]) < 0.025


def test_what_is_nothing_below_has_no_sole() -> None:
    blade = np.array([(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.2, 0.0, 0.3), (0.0, 0.0, 0.3)])
    for points in (
        np.zeros((0, 3)),
        blade,
        np.array([(0.0, 0, 0), (0.1, 0, 1), (-0.1, 0, 1), (0, 0.1, 1), (0, -0.1, 1)]),
    ):
        assert find_sole(points) is None
