"""Readings of a sensor of tilt, wherever it sits."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from .mount import ImuMount

LISTENING = 0.5  # [s] in which a sensor must have said enough
LEAST_RATE = 40.0  # [Hz] of readings: less is too late for a robot that falls
WILD = 25.0  # [rad/s]: a reading that is further from the one before has been spoilt
TRUSTED = 3  # readings in a row that agree, after wild ones


class Tilt(ABC):
    """Last plausible reading of a sensor of tilt."""

    def __init__(self, mount: ImuMount) -> None:
        self.mount = mount
        self._up: np.ndarray | None = None
        self._heard = -np.inf
        self._agreed = 0

    @abstractmethod
    def close(self) -> None:
        """Listen no more."""

    @abstractmethod
    def listen(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Check that the sensor says enough, before anything moves; else raise ServoError.

        `pause` waits for a time [s].
        """

    def up(self, stale: float) -> np.ndarray | None:
        """Return the world's up (3,) in the body's axes; None if the last reading is older than `stale` [s]."""
        return self._up if time.perf_counter() - self._heard <= stale else None

    @property
    def fault(self) -> str:
        """Return why nothing can be heard any more, in words; empty where it may still speak."""
        return ""

    @property
    def where(self) -> str:
        """Return the sensor as messages name it."""
        return f"the IMU {self.mount.place}"

    def hear(self, up: np.ndarray) -> None:
        """Note a reading of the world's up (3,) in the sensor's axes, unless nothing can turn so fast."""
        now, up = time.perf_counter(), self.mount.on_body(up)
        away = 0.0 if self._up is None else float(np.linalg.norm(up - self._up))
        if away > WILD * max(min(now - self._heard, 1.0), 0.01):
            self._agreed += 1
            if self._agreed < TRUSTED:
                return
        self._agreed = 0
        self._up, self._heard = up, now
