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


@pytest.mark.parametrize("frames", [60, 1200])
@pytest.mark.parametrize("wobble", [1e-5, 1e-4, 1e-3, 3e-3])
def test_a_wobble_beside_a_whole_turn_does_not_swing_the_coordinates(wobble: float, frames: int) -> None:
    """The nearest rotation vector would swing by up to 6 rad there. The coordinates are the rotation to within the
    wobble, and exactly where no whole turn is near."""
    angles = np.linspace(0.0, 3 * np.pi, 3 * frames // 2 + 1)
    time = np.linspace(0.0, 9.0, len(angles))
    off_axis = Rotation.from_rotvec(wobble * np.stack([np.sin(time), np.cos(1.4 * time), np.sin(0.6 * time)], axis=1))
    rotations = off_axis * Rotation.from_rotvec(np.outer(angles, [0.0, 0.6, 0.8]))
    values = read(joint("spherical"), rotations)
    turned = (rotations[:-1].inv() * rotations[1:]).magnitude()
    assert (np.linalg.norm(np.diff(values, axis=0), axis=1) <= 2.0001 * turned).all()
    back = np.stack([turn_matrix(joint("spherical"), row) for row in values])
    off = (Rotation.from_matrix(back) * rotations.inv()).magnitude()
    assert off.max() <= 4 * wobble
    assert off[np.abs((angles + np.pi) % (2 * np.pi) - np.pi) > 0.6].max() <= 1e-12


def test_a_wobble_that_is_seen_stays_in_the_coordinates() -> None:
    """Beside a whole turn they are never further from the rotation than a degree or so."""
    angles = np.linspace(0.0, 3 * np.pi, 91)
    rotations = noise(len(angles), 0.05, 5) * Rotation.from_rotvec(np.outer(angles, [0.0, 0.0, 1.0]))
    back = np.stack([turn_matrix(joint("spherical"), row) for row in read(joint("spherical"), rotations)])
    assert (Rotation.from_matrix(back) * rotations.inv()).magnitude().max() <= 0.0201
