"""Single precision, in which Blender keeps settings: what is kept there and what is made here are the same numbers."""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot

import numpy as np


def single(value: float) -> float:
    """Return the number of single precision that is nearest to a value."""
    return float(np.float32(value))


def singles(values: Iterable[float]) -> tuple[float, ...]:
    """Return the numbers of single precision that are nearest to values."""
    return tuple(map(single, values))


def unit(quaternion: Iterable[float]) -> tuple[float, float, float, float]:
    """Return a quaternion of single precision brought to unit length in double."""
    w, x, y, z = quaternion
    length = hypot(w, x, y, z)
    return (w / length, x / length, y / length, z / length)
