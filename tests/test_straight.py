"""Straight lines between samples, against values worked out by hand."""

import numpy as np

from robik.straight import straight


def test_values_lie_on_straight_lines_and_stay_beyond_the_ends() -> None:
    times, values = np.array([1.0, 2.0, 4.0]), np.array([[0.0, 10.0], [1.0, 20.0], [5.0, 0.0]])
    found = straight(np.array([0.0, 1.5, 3.0, 9.0]), times, values)
    np.testing.assert_allclose(found, [[0.0, 10.0], [0.5, 15.0], [3.0, 10.0], [5.0, 0.0]])


def test_any_shape_is_kept() -> None:
    times = np.arange(3.0)
    boxes = np.arange(24.0).reshape(3, 2, 4)
    np.testing.assert_allclose(straight(np.array([0.5]), times, boxes)[0], 0.5 * (boxes[0] + boxes[1]))
    assert straight(np.array([0.5, 1.0]), times, np.zeros((3, 0))).shape == (2, 0)
    np.testing.assert_allclose(straight(np.array([0.25]), times, np.array([0.0, 4.0, 8.0])), [1.0])
