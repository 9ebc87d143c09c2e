"""Skeleton of a character, and its motion, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import ClipError


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Bones of a character in its rest pose, in the world, Z up; a ClipError names the bone that is wrong.

    Attributes:
        names: N bones; unique.
        parents: (N,) index of each bone's parent, −1 for a root.
        positions: (N, 3) where each bone begins [m].
        quaternions: (N, 4) orientation of each bone, wxyz.
        tips: (N, 3) where each bone ends [m]; the bone's own position where it has no length.
    """

    names: tuple[str, ...]
    parents: np.ndarray
    positions: np.ndarray
    quaternions: np.ndarray
    tips: np.ndarray

    def __post_init__(self) -> None:
        count = len(self.names)
        if len(set(self.names)) != count:
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ClipError(f"two bones are called {twice!r}; the bones of a skeleton must have different names")
        object.__setattr__(self, "parents", _array("parents", self.parents, (count,), int))
        object.__setattr__(self, "positions", _array("positions", self.positions, (count, 3)))
        object.__setattr__(self, "quaternions", _array("quaternions", self.quaternions, (count, 4)))
        object.__setattr__(self, "tips", _array("tips", self.tips, (count, 3)))
        _check_parents(self.names, self.parents)

    @cached_property
    def index(self) -> dict[str, int]:
        """Index of each bone by its name."""
        return {name: k for k, name in enumerate(self.names)}


@dataclass(frozen=True, eq=False)
class SkeletonMotion:
    """Poses of a skeleton over time, in the world.

    Attributes:
        skeleton: N bones.
        times: (T,) increasing [s].
        positions: (T, N, 3) [m].
        quaternions: (T, N, 4) wxyz.
    """

    skeleton: Skeleton
    times: np.ndarray
    positions: np.ndarray
    quaternions: np.ndarray

    def __post_init__(self) -> None:
        shape = len(self.times), len(self.skeleton.names)
        object.__setattr__(self, "positions", _array("positions", self.positions, (*shape, 3)))
        object.__setattr__(self, "quaternions", _array("quaternions", self.quaternions, (*shape, 4)))


def _array(what: str, values: Sequence | np.ndarray, shape: tuple[int, ...], kind: type = float) -> np.ndarray:
    array: np.ndarray = np.ascontiguousarray(values, dtype=kind).reshape(
        shape if np.size(values) == 0 else np.shape(values)
    )
    if array.shape != shape:
        raise ClipError(f"a skeleton's {what} must have the shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ClipError(f"a skeleton's {what} must be finite numbers")
    array.setflags(write=False)
    return array


def _check_parents(names: Sequence[str], parents: np.ndarray) -> None:
    """Check that bones form trees. Raises ClipError."""
    for k, name in enumerate(names):
        above, steps = int(parents[k]), 0
        while above >= 0:
            if above >= len(names) or steps > len(names):
                raise ClipError(
                    f"bone {name!r} hangs on no root: its parents must be bones of the skeleton without a circle"
                )
            above, steps = int(parents[above]), steps + 1
