"""Directions of joints: unit vectors, and ones at right angles to each other."""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot

import numpy as np

from ..errors import MechanismError
from .pose import Vector, cross, vector


def unit(values: Iterable[float], what: str) -> Vector:
    """Return the unit vector along a vector; raise MechanismError, which calls it `what`, where it is zero."""
    v = np.array(vector(values, what))
    length = hypot(*v)
    if length < 1e-12:
        raise MechanismError(f"{what} must not be zero; give a direction, for example [0, 0, 1]")
    if abs(length - 1.0) > 4e-16:  # a unit vector must survive a round trip to the last bit
        v = v / abs(v).max()  # so that no length overflows
        v = v / hypot(*v)
    return vector(v, what)


def perpendicular(axis: Vector, values: Iterable[float], what: str) -> Vector:
    """Return the unit vector nearest to a vector at right angles to the unit vector `axis`.

    Raise MechanismError, which calls the vector `what`, where the two are parallel.
    """
    a, b = np.array(axis), np.array(unit(values, what))
    if abs(a @ b) <= 1e-14:  # perpendicular already: a round trip must not change the last bit
        return vector(b, what)
    b = b - (a @ b) * a
    if np.linalg.norm(b) < 1e-6:
        raise MechanismError(f"{what} must not be parallel to its axis")
    b = np.array(unit(b, what))
    return unit(b - (a @ b) * a, what)  # again, for what cancellation left


def any_perpendicular(a: np.ndarray) -> np.ndarray:
    """Return a unit vector (3,) at right angles to the unit vector a (3,)."""
    b = np.zeros(3)
    b[int(np.argmin(np.abs(a)))] = 1.0
    b = cross(a, b)
    return b / np.linalg.norm(b)
