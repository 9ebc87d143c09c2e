"""Open port with a sensor of tilt behind it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ...errors import ServoError
from ..serial_port import OPEN_ERRORS, PORT_ERRORS, lower_latency, open_serial, reason, unopened
from .mount import ImuMount
from .protocols import PROTOCOLS, Packets

LISTENING = 0.5  # [s] in which a sensor must have said enough
LEAST_RATE = 40.0  # [Hz] of readings: less is too late for a robot that falls
NAP = 2e-3  # [s] between looks at whether there is more
MOST = 4096  # bytes that are taken at once
WILD = 25.0  # [rad/s]: a reading that is further from the one before has been spoilt
TRUSTED = 3  # readings in a row that agree, after wild ones


class Imu:
    """A sensor that is listened to; nobody waits for it. One thread at a time owns it.

    Args:
        mount: which one.

    Raises:
        ServoError: the port cannot be opened; says what to do.
    """

    def __init__(self, mount: ImuMount) -> None:
        self.mount = mount
        self._packets = Packets(PROTOCOLS[mount.type])
        self._up: np.ndarray | None = None
        self._heard = -np.inf
        self._agreed = 0
        self._fault = ""
        try:
            self._port = open_serial(mount.port, mount.rate)
        except OPEN_ERRORS as error:
            raise ServoError(f"the IMU: {unopened(mount.port, error)}") from None
        lower_latency(self._port)

    def close(self) -> None:
        """Close the port."""
        self._port.close()

    def listen(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Make sure that it says enough, before anything moves.

        Args:
            pause: Waits so long [s].

        Raises:
            ServoError: It says nothing, nothing that can be understood, or too little.
        """
        began, count, self._packets.spoilt = time.perf_counter(), 0, 0
        while time.perf_counter() - began < LISTENING:
            count += self._take()
            if self._fault:
                raise ServoError(self._fault)
            pause(NAP)
        where, rate = f"the IMU on {self.mount.port}", count / LISTENING
        if not count and not self._packets.spoilt:
            raise ServoError(f"{where} says nothing; check its power and its cable")
        if not count:
            raise ServoError(
                f"{where} says nothing that a sensor of type {self.mount.type} would at {self.mount.rate} baud; set"
                " its type and baud_rate in the servo file"
            )
        if rate < LEAST_RATE:
            raise ServoError(
                f"{where} gives {rate:.0f} readings a second, but {LEAST_RATE:.0f} are needed; set it to 100 or more"
            )

    def up(self, stale: float) -> np.ndarray | None:
        """Return the world's up in the body's axes (3,); None where nothing was heard for so long.

        Args:
            stale: How old a reading may be [s].

        Returns:
            Direction (3,), or None where nothing was heard for so long.
        """
        self._take()
        return self._up if time.perf_counter() - self._heard <= stale else None

    @property
    def fault(self) -> str:
        """Return why nothing can be heard any more, in words; empty where its port is there."""
        return self._fault

    def _take(self) -> int:
        """Take in what has arrived, without waiting; returns how many readings that were."""
        if self._fault:
            return 0
        try:
            waiting = self._port.in_waiting
            data = self._port.read(min(waiting, MOST)) if waiting else b""
        except PORT_ERRORS as error:
            self._fault = f"the IMU on {self.mount.port} is gone ({reason(error)}); check its cable"
            return 0
        found = self._packets.feed(data)
        for up in found:
            self._judge(self.mount.on_body(up))
        return len(found)

    def _judge(self, up: np.ndarray) -> None:
        """Take a reading, unless nothing could have turned so fast since the last."""
        now = time.perf_counter()
        away = 0.0 if self._up is None else float(np.linalg.norm(up - self._up))
        if away > WILD * max(min(now - self._heard, 1.0), 0.01):
            self._agreed += 1
            if self._agreed < TRUSTED:
                return
        self._agreed = 0
        self._up, self._heard = up, now
