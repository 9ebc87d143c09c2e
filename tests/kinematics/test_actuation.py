"""Coordinates of balls that turn on and on: curves over frames that jump no further than the rotation turns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.kinematics.actuation import values_between
from robik.mechanism import WORLD, Joint
from robik.mechanism.constraints import turn_matrix

FRAMES = 60  # of each turn


def read(joint: Joint, rotations: Rotation) -> np.ndarray:
    """Return the coordinates (T, 3) [rad] of rotations of the joint's child side."""
    R = rotations.as_matrix()
    return values_between(joint, np.zeros((len(R), 3)), R)[:, -3:]


def joint(kind: str) -> Joint:
    """Return a ball, or a joint that leaves all motions free."""
    return Joint("turns", kind, WORLD, "body", actuated=True)


def noise(frames: int, size: float, seed: int) -> Rotation:
    """Return small rotations in any direction."""
    return Rotation.from_rotvec(size * np.random.default_rng(seed).normal(size=(frames, 3)))


@pytest.mark.parametrize("kind", ["spherical", "free"])
@pytest.mark.parametrize("size", [0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6])
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.6, -0.48, 0.64)])
def test_a_ball_that_turns_on_goes_through_whole_turns_without_a_jump(kind: str, size: float, axis: tuple) -> None:
    """The rotation that is left after a whole turn has no direction but rounding's."""
    angles = np.linspace(0.0, 4 * np.pi, 2 * FRAMES + 1)  # frames at one and two whole turns
    angles = np.concatenate([angles, angles[-2::-1]])
    rotations = noise(len(angles), size, 3) * Rotation.from_rotvec(angles[:, None] * np.array(axis))
    values = read(joint(kind), rotations)
    assert np.abs(np.linalg.norm(np.diff(values, axis=0), axis=1) - 2 * np.pi / FRAMES).max() < 1e-3
    assert np.abs(values - angles[:, None] * np.array(axis)).max() < 1e-3
    back = np.stack([turn_matrix(joint("spherical"), row) for row in values])
    assert (Rotation.from_matrix(back) * rotations.inv()).magnitude().max() <= 1e-5


@pytest.mark.parametrize("wobble", [1e-4, 1e-3])
def test_the_coordinates_are_the_rotation_near_a_whole_turn_too(wobble: float) -> None:
    """A wobble that is seen is kept: what comes back is the rotation that was read."""
    angles = np.linspace(0.0, 3 * np.pi, 3 * FRAMES // 2 + 1)
    rotations = noise(len(angles), wobble, 5) * Rotation.from_rotvec(np.outer(angles, [0.0, 0.0, 1.0]))
    back = np.stack([turn_matrix(joint("spherical"), row) for row in read(joint("spherical"), rotations)])
    assert (Rotation.from_matrix(back) * rotations.inv()).magnitude().max() <= 1e-5
