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
        """Return the excess of coordinates q (T, nq) beyond bounds.

        The first array (T, R) is of positions [rad or m], those of each of `windows` are shares of its limits.
        """
        found = beyond(self.bounds, self.orders, q[:, self.bounds.at])
        return found if self.torques is None else [*found, self.torques.beyond(q)]

    def excess(self, q: np.ndarray) -> float:
        """Return the sum of what is `beyond` bounds at coordinates q (T, nq); 0.0 where all are kept."""
        return float(sum(part.sum() for part in self.beyond(q)))

    def values(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the bounded coordinates (T, R), and torques (T, A + E) by shares of their limits.

        Torques are None where none is limited.
        """
        return q[:, self.bounds.at], None if self.torques is None else self.torques.shares(q)

    def grow(self, q: np.ndarray) -> bool:
        """Note torques near their limits at q (T, nq) that have no row yet; return True if there are any."""
        return self.torques is not None and self.torques.grow(q)

    def bent(self, q: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Return flags (T,) of frames with a torque further beyond its limit than a step left it to first order.

        The step leads to q (T, nq); `left` (T,) is what it left beyond limits, by the frames with which its rows
        begin to move.
        """
        if self.torques is None:
            return np.zeros(len(q), bool)
        found: np.ndarray = self.torques.beyond(q).max(axis=1) > left[self.torques.frames].max(axis=1) + UNFORESEEN
        return found

    def frames_beyond(self, q: np.ndarray, least: float) -> np.ndarray:
        """Return flags (T,) of frames with influence on a bound that q (T, nq) exceed by more than `least`."""
        positions, *windows = self.beyond(q)
        found: np.ndarray = (positions > least).any(axis=1)
        for window, over in zip(self.windows, windows, strict=True):
            found[window.frames[(over > least).any(axis=1)]] = True
        return found
