"""Turns of soles: the side that is up, feet tilted until they lie flat, and the ground of the rest pose."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ..mechanism.model import Mechanism
from .support import sole_axes

UP = np.array([0.0, 0.0, 1.0])


def up_of(mechanism: Mechanism, name: str) -> np.ndarray:
    """Return a sole's unit normal (3,), in the frame's coordinates, on the side that is up in the rest pose."""
    normal = sole_axes(mechanism.frame(name))[2]
    return normal if (mechanism.rest_pose(name).matrix @ normal)[2] >= 0 else -normal


def laid_on(orientation: Rotation, up: np.ndarray, normal: np.ndarray = UP) -> Rotation:
    """Return a foot's orientation, tilted by as little as lays its sole on a plane.

    `up` (3,) is the sole's normal in the frame's coordinates, `normal` (3,) the plane's in the world.
    """
    return _shortest(orientation.apply(up), normal) * orientation


def flattened(mechanism: Mechanism, name: str, orientation: Rotation) -> Rotation:
    """Return a foot's orientation, tilted by as little as lays its sole flat on level ground."""
    return laid_on(orientation, up_of(mechanism, name))


def ground_height(mechanism: Mechanism) -> float:
    """Return the height [m] of the ground on which a robot stands in its rest pose; 0 without feet.

    It is under the lowest of its soles, turned level.
    """
    feet = [frame for frame in mechanism.frames if frame.is_foot]
    heights = [
        mechanism.rest_pose(f.name).position[2] + float(up_of(mechanism, f.name) @ np.mean(f.sole, axis=0))
        for f in feet
    ]
    return min(heights, default=0.0)


def _shortest(a: np.ndarray, b: np.ndarray) -> Rotation:
    """Return the smallest rotation that takes the unit vector a to the unit vector b."""
    axis, cosine = np.cross(a, b), float(a @ b)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        return Rotation.identity() if cosine > 0 else Rotation.from_rotvec([np.pi, 0.0, 0.0])
    return Rotation.from_rotvec(axis / sine * np.arctan2(sine, cosine))
