"""Objectives that ask for no less than a least length, about points that are fixed on the robot."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..errors import ClipError
from .objective import Objective, Own, States, TargetError, samples_of


@dataclass(frozen=True, kw_only=True)
class Least(Objective):
    """A length that is no less than a least one, about points that are fixed on the robot.

    Attributes:
        least: (T,) least length [m].
        points: in the coordinates of the robot's frames [m].
        FORM: of its key, as a pattern with the names of the fields that it gives.
        POINTS: end of its points' key in `CLIP.npz`.
        SHAPE: of its points; K for any number.
        ABOUT: what its points are, for messages.
    """

    least: np.ndarray
    points: np.ndarray

    FORM: ClassVar[str]
    POINTS: ClassVar[str]
    SHAPE: ClassVar[str]
    ABOUT: ClassVar[str]
    WEIGHT = 1000.0  # beside targets that weigh 1 and less, and a centre of mass over the feet that weighs 100
    ROW = None  # no editor lists it: it is made from the robot's shape

    @property
    def layout(self) -> tuple[Any, ...]:
        return self.key, self.points.tobytes()

    def arrays(self) -> dict[str, np.ndarray]:
        return {self.key: self.least, f"{self.key}.{self.POINTS}": self.points}

    @classmethod
    def take(cls, arrays: dict[str, np.ndarray]) -> list[Self]:
        found = []
        for key in list(arrays):
            match = re.fullmatch(cls.FORM, key)
            if match and not key.endswith(f".{cls.POINTS}"):
                if f"{key}.{cls.POINTS}" not in arrays:
                    raise ClipError(f"{key!r} needs {key}.{cls.POINTS}: {cls.ABOUT} {cls.SHAPE} [m]")
                least, points = arrays.pop(key), arrays.pop(f"{key}.{cls.POINTS}")
                found.append(cls(**match.groupdict(), least=least, points=points))
        return found

    def part(self, kept: slice | np.ndarray) -> Self:
        return replace(self, least=self.least[kept])

    def checked(self, samples: int) -> Self:
        least, points = samples_of(self.key, self.least, samples), np.array(self.points, dtype=float)
        wanted = tuple(len(points) if n == "K" else int(n) for n in self.SHAPE.strip("()").split(", "))
        if points.shape != wanted or not points.size or not np.isfinite(points).all():
            raise ClipError(f"{self.key}.{self.POINTS} must be finite numbers of the shape {self.SHAPE}")
        points.setflags(write=False)
        return replace(self, least=least, points=points)

    def fill(self, table: Any, i: int, own: Own, weight: float, per_square_metre: float) -> None:
        own(table.least)[:, i] = self.least
        table.weight[i] = weight * per_square_metre

    def errors(self, states: States, weight: float) -> list[TargetError]:
        return []

    @staticmethod
    def shapes(t: int) -> list[tuple[int, ...]]:
        return [(t,)]
