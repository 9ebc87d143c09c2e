"""What all frames of a clip have to keep: bounds on coordinates and their differences over time, and torques."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bounds import Bounds, Differences, beyond
from .torques import Torques

UNFORESEEN = 0.01  # of a limit: a torque that is so much further beyond it than a step promised


@dataclass(frozen=True)
class Constraints:
    """Bounds of a clip's frames.

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
        """What has bounds over several `frames` each: the differences, and torques where they are limited."""
        return self.orders if self.torques is None else (*self.orders, self.torques)

    def beyond(self, q: np.ndarray) -> list[np.ndarray]:
        """Return what coordinates q (T, nq) have beyond bounds: positions, then each of `windows` (W, …) by shares."""
        found = beyond(self.bounds, self.orders, q[:, self.bounds.at])
        return found if self.torques is None else [*found, self.torques.beyond(q)]

    def excess(self, q: np.ndarray) -> float:
        """Return the sum of what coordinates q (T, nq) have beyond bounds."""
        return float(sum(part.sum() for part in self.beyond(q)))

    def values(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the bounded coordinates (T, R) of coordinates q (T, nq), and the torques (T, A) where limited."""
        return q[:, self.bounds.at], None if self.torques is None else self.torques.shares(q)

    def grow(self, q: np.ndarray) -> None:
        """Take note of what is near its limit at coordinates q (T, nq) and has no row yet."""
        if self.torques is not None:
            self.torques.grow(q)

    def bent(self, q: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Return in which frames (T,) torques at coordinates q (T, nq) bend away from what a step to first order left.

        Args:
            q: Coordinates after the step.
            left: (T,) what it left beyond limits, by the frames that its rows begin to move with.

        Returns:
            Whether a torque is further beyond its limit.
        """
        if self.torques is None:
            return np.zeros(len(q), bool)
        found: np.ndarray = self.torques.beyond(q).max(axis=1) > left[self.torques.frames].max(axis=1) + UNFORESEEN
        return found

    def frames_beyond(self, q: np.ndarray, least: float) -> np.ndarray:
        """Return which frames (T,) have a part in something that is beyond bounds by more than `least`."""
        positions, *windows = self.beyond(q)
        found: np.ndarray = (positions > least).any(axis=1)
        for window, over in zip(self.windows, windows, strict=True):
            found[window.frames[(over > least).any(axis=1)]] = True
        return found
