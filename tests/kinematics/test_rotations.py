"""Quaternions and rotation vectors against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.jit import kernel
from robik.kinematics.rotations import between, half_turn, matrix_to_quaternion, product, turned
from robik.mechanism.orientations import quaternion_matrices

ANGLES = [0.0, 1e-13, 1e-7, 1e-4, 0.3, 1.5, 3.0, np.pi - 1e-6]


@kernel
def turn(q, vector):
    turned(q, 0, vector[0], vector[1], vector[2])


@kernel
def half(R, P):
    return half_turn(R, P)


def vector(angle: float, seed: int) -> np.ndarray:
    axis = np.random.default_rng(seed).normal(size=3)
    return angle * axis / np.linalg.norm(axis)


def quaternion(rotation: Rotation) -> np.ndarray:
    return np.roll(rotation.as_quat(), 1)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_way_between_two_quaternions_is_the_vector_that_turns_one_into_the_other(angle: float, sign: float) -> None:
    first, way = Rotation.random(random_state=3), vector(angle, 4)
    q = np.concatenate([[7.0], sign * quaternion(Rotation.from_rotvec(way) * first)])
    p = np.concatenate([[8.0], quaternion(first)])
    np.testing.assert_allclose(between(q, p, 1), way, atol=2e-15 + 1e-9 * angle)
    moved = p[1:].copy()
    turn(moved, way)
    np.testing.assert_allclose(moved, sign * q[1:], atol=1e-15)


@pytest.mark.parametrize("angle", [*ANGLES[:-1], np.pi - 1e-3])  # nearer to half a turn it is smoothed
def test_half_a_turn_is_the_quaternion_between_two_orientations(angle: float) -> None:
    first, way = Rotation.random(random_state=5), vector(angle, 6)
    R, P = (Rotation.from_rotvec(way) * first).as_matrix(), first.as_matrix()
    np.testing.assert_allclose(half(R, P), quaternion(Rotation.from_rotvec(way)), atol=1e-6)


def test_matrices_quaternions_and_products_are_scipy_s() -> None:
    turns = Rotation.concatenate([Rotation.random(200, random_state=7), Rotation.from_euler("xyz", np.pi * np.eye(3))])
    quaternions = np.roll(turns.as_quat(), 1, axis=1)
    np.testing.assert_allclose(quaternion_matrices(quaternions), turns.as_matrix(), atol=1e-15)
    for matrix, expected in zip(turns.as_matrix(), quaternions, strict=True):
        for sign in (1.0, -1.0):
            found = sign * expected + 0.01
            matrix_to_quaternion(np.ascontiguousarray(matrix), found)
            np.testing.assert_allclose(found, sign * expected, atol=1e-14)
    both = product(*quaternions[0], *quaternions[1])
    np.testing.assert_allclose(quaternion_matrices(np.array(both)), (turns[0] * turns[1]).as_matrix(), atol=1e-15)
