"""Seams of loops, on curves whose ends are known."""

from __future__ import annotations

import numpy as np
import pytest

from robik.errors import ClipError
from robik.motions import BaseTrack, Motion
from robik.motions.seam import closed, closed_motion

TIMES = np.linspace(0.0, 4.0, 401)


def wave() -> np.ndarray:
    """Two columns that end elsewhere than they begin, at other speeds."""
    return np.column_stack([np.sin(1.3 * TIMES) + 0.2 * TIMES, np.cos(0.7 * TIMES)])


def test_the_end_is_the_beginning_in_value_and_speed() -> None:
    found = closed(TIMES, wave(), 0.8)
    np.testing.assert_allclose(found[-1], found[0], atol=1e-12)
    twice = np.vstack([found, found[1:]])
    jumps = np.abs(np.diff(twice, 2, axis=0)) / 0.01**2  # acceleration, over the seam, too
    inside = jumps[:399].max(axis=0)
    assert (jumps[399] <= 1.05 * inside).all()  # a jump of speed by v would be v / 0.01 here: 60 and more


def test_only_the_end_changes() -> None:
    found = closed(TIMES, wave(), 0.8)
    np.testing.assert_array_equal(found[: 401 - 81], wave()[: 401 - 81])
    assert np.abs(found[-40:] - wave()[-40:]).max() > 0.1


def test_what_is_closed_stays() -> None:
    values = np.sin(2 * np.pi * TIMES / 4.0)[:, None]
    np.testing.assert_allclose(closed(TIMES, values, 1.0), values, atol=2e-4)


def test_the_base_comes_back_in_place() -> None:
    """It goes 2 m along x, evenly but for a sway of 2 cm: what is left is the sway."""
    half = 0.05 * np.sin(1.1 * TIMES)
    turns = np.column_stack([np.cos(half), np.zeros((401, 2)), np.sin(half)])
    sway = 0.02 * np.sin(np.pi * TIMES)
    position = np.column_stack([0.5 * TIMES, sway, 0.3 + 0.05 * TIMES])
    track = BaseTrack(body="", position=position, quaternion=turns)
    motion = Motion(times=TIMES, actuators=("a", "b"), values=wave(), base=track)
    found = closed_motion(motion, 1.0)
    assert found.base is not None
    np.testing.assert_allclose(found.values[-1], found.values[0], atol=1e-12)
    np.testing.assert_allclose(found.base.position[:, 0], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.base.position[:300, 1], sway[:300], atol=1e-9)
    np.testing.assert_allclose(found.base.position[:300, 2], position[:300, 2])  # heights are led back at the end
    np.testing.assert_allclose(found.base.position[-1], position[0], atol=1e-12)
    np.testing.assert_allclose(found.base.quaternion[:300], turns[:300], atol=1e-14)
    assert abs(found.base.quaternion[-1] @ turns[0]) == pytest.approx(1.0)
    steps = np.abs(np.diff(np.vstack([found.base.quaternion, found.base.quaternion[1:50]]), axis=0)).max()
    assert steps < 2e-3


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_no_time_to_blend_is_refused(seconds: float) -> None:
    with pytest.raises(ClipError, match="above 0 s"):
        closed(TIMES, wave(), seconds)


def test_two_samples_are_no_loop() -> None:
    with pytest.raises(ClipError, match="three samples"):
        closed(TIMES[:2], wave()[:2], 0.5)
