"""Constraints of a clip's frames: bounds on coordinates and their differences over time, and torques."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bounds import Bounds, Differences, beyond
from .torques import Torques

UNFORESEEN = 0.01  # of a limit: a torque that is so much further beyond it than a step promised


@dataclass(frozen=True)
class Constraints:
    """Constraints of a clip's frames.

    Attributes:
        bounds: Of the coordinates.
        orders: Differences of order 1 to 3.
        torques: Of the motors; None where none is limited.
    """

    bounds: Bounds
    orders: tuple[Differences, ...]
    torques: Torques | None = None

    @property
    def windows(self) -> tuple[Differences | Torques, ...]:
        """Return what has bounds over several `frames` each: the differences, and torques where they are limited."""
        return self.orders if self.torques is None else (*self.orders, self.torques)

    def beyond(self, q: np.ndarray) -> list[np.ndarray]:
        """Return what coordinates have beyond bounds.

        Args:
            q: Coordinates (T, nq).

        Returns:
            Of positions (T, R) [rad or m], then of each of `windows` by shares of its limits.
        """
        found = beyond(self.bounds, self.orders, q[:, self.bounds.at])
        return found if self.torques is None else [*found, self.torques.beyond(q)]

    def excess(self, q: np.ndarray) -> float:
        """Return the sum of what coordinates have beyond bounds.

        Args:
            q: Coordinates (T, nq).

        Returns:
            The sum; 0.0 where all bounds are kept.
        """
        return float(sum(part.sum() for part in self.beyond(q)))

    def values(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the values that have bounds.

        Args:
            q: Coordinates (T, nq).

        Returns:
            The bounded coordinates (T, R), and torques (T, A) by shares of their limits; None where none is limited.
        """
        return q[:, self.bounds.at], None if self.torques is None else self.torques.shares(q)

    def grow(self, q: np.ndarray) -> bool:
        """Take note of torques that are near their limits and have no row yet.

        Args:
            q: Coordinates (T, nq).

        Returns:
            Whether there are new ones.
        """
        return self.torques is not None and self.torques.grow(q)

    def bent(self, q: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Return in which frames torques bend away from what a step has left of them to first order.

        Args:
            q: Coordinates (T, nq) after the step.
            left: (T,) what it left beyond limits, by the frames that its rows begin to move with.

        Returns:
            Whether a torque of each frame (T,) is further beyond its limit.
        """
        if self.torques is None:
            return np.zeros(len(q), bool)
        found: np.ndarray = self.torques.beyond(q).max(axis=1) > left[self.torques.frames].max(axis=1) + UNFORESEEN
        return found

    def frames_beyond(self, q: np.ndarray, least: float) -> np.ndarray:
        """Return which frames have a part in something that is beyond bounds.

        Args:
            q: Coordinates (T, nq).
            least: By how much it is beyond at the least.

        Returns:
            Whether each frame has (T,).
        """
        positions, *windows = self.beyond(q)
        found: np.ndarray = (positions > least).any(axis=1)
        for window, over in zip(self.windows, windows, strict=True):
            found[window.frames[(over > least).any(axis=1)]] = True
        return found
