"""Limiter from requested positions to what motors can do.

Positions stay inside the limits, speeds and accelerations never exceed theirs, whatever is requested.
"""

from __future__ import annotations

import numpy as np

from .errors import RobikError


def braking_speed(distance: np.ndarray, acceleration: np.ndarray, period: float) -> np.ndarray:
    """Return the highest speed for the next step from which a stand is possible within a distance, step by step.

    n steps at v, v − a h, …, v − (n−1) a h cover  h (n v − a h n (n−1) / 2);  solved for v with the smallest n that
    fits. Exact, so it holds for steps of one length only; for steps of any length there is `tracking.limits.approach`.
    """
    change = acceleration * period
    steps = np.maximum(1.0, np.ceil(0.5 * (np.sqrt(1.0 + 8.0 * distance / (change * period)) - 1.0)))
    return distance / (steps * period) + change * (steps - 1.0) / 2.0


class Limiter:
    """Follows wishes, step by step. From any state it can come to a stand inside the limits.

    Attributes:
        position, velocity: (n,) of now.
    """

    def __init__(self, limits: np.ndarray, speeds: np.ndarray, accelerations: np.ndarray, period: float) -> None:
        if not (np.all(np.asarray(speeds) > 0) and np.all(np.asarray(accelerations) > 0) and period > 0):
            raise RobikError("a limiter needs speeds, accelerations and a period above 0")
        self._low, self._high = np.asarray(limits, dtype=float).T
        self._speeds, self._accelerations, self._period = (
            np.asarray(speeds, float),
            np.asarray(accelerations, float),
            period,
        )
        self.position = self.velocity = np.zeros(len(self._low))

    def place(self, position: np.ndarray) -> None:
        """Stand here [rad or m]; where that is outside the limits, it will only move inwards."""
        self.position, self.velocity = np.array(position, dtype=float), np.zeros(len(self._low))

    @property
    def is_at_rest(self) -> bool:
        """Return whether nothing moves."""
        return bool((self.velocity == 0.0).all())

    def clipped(self, wish: np.ndarray) -> np.ndarray:
        """Return a requested position inside the limits."""
        return np.clip(wish, self._low, self._high)

    def step(
        self, wish: np.ndarray | None, wish_velocity: np.ndarray | float = 0.0, speed_share: np.ndarray | float = 1.0
    ) -> np.ndarray:
        """Return another period towards a wish."""
        wished = np.full(len(self._low), np.nan) if wish is None else np.asarray(wish, dtype=float)
        lost = ~np.isfinite(wished)
        aim = self.clipped(np.where(lost, self.position, wished))
        drift = np.where(lost, 0.0, np.nan_to_num(np.broadcast_to(wish_velocity, aim.shape), posinf=0.0, neginf=0.0))
        distance = aim - drift * self._period - self.position
        velocity = np.where(lost, 0.0, drift + np.sign(distance) * self._braking(np.abs(distance)))
        top = self._speeds * np.clip(speed_share, 0.0, 1.0)
        self.velocity = self._possible(np.clip(velocity, -top, top))
        self.position = self.position + self.velocity * self._period
        return self.position

    def _braking(self, distance: np.ndarray) -> np.ndarray:
        return braking_speed(distance, self._accelerations, self._period)

    def _possible(self, velocity: np.ndarray) -> np.ndarray:
        """Return the nearest velocity that acceleration and limits allow."""
        change = self._accelerations * self._period
        velocity = np.clip(velocity, self.velocity - change, self.velocity + change)
        up, down = self._high - self.position, self.position - self._low
        velocity = np.where(
            up >= 0, np.minimum(velocity, self._braking(np.maximum(up, 0.0))), np.minimum(velocity, 0.0)
        )
        velocity = np.where(
            down >= 0, np.maximum(velocity, -self._braking(np.maximum(down, 0.0))), np.maximum(velocity, 0.0)
        )
        return np.clip(velocity, -self._speeds, self._speeds)
