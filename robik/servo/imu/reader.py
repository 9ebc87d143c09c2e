"""Open port with a sensor of tilt behind it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ...errors import ServoError
from ..bus.emergency import Emergency
from ..bus.serial_port import OPEN_ERRORS, PORT_ERRORS, lower_latency, open_serial, reason, unopened
from .mount import ImuMount
from .protocols import PROTOCOLS, Packets
from .tilt import LEAST_RATE, LISTENING, Tilt

NAP = 2e-3  # [s] between looks at whether there is more
MOST = 4096  # bytes that are taken at once


class Imu(Tilt):
    """A sensor that is listened to; nobody waits for it. One thread at a time owns it.

    Raise ServoError if its port cannot be opened.
    """

    def __init__(self, mount: ImuMount) -> None:
        super().__init__(mount)
        self._packets = Packets(PROTOCOLS[mount.type])
        self._fault = ""
        try:
            self._port = open_serial(mount.port, mount.rate, Emergency())
        except OPEN_ERRORS as error:
            raise ServoError(f"the IMU: {unopened(mount.port, error)}") from None
        lower_latency(self._port)

    def close(self) -> None:
        self._port.close()

    def listen(self, pause: Callable[[float], None] = time.sleep) -> None:
        began, count, self._packets.spoilt = time.perf_counter(), 0, 0
        while time.perf_counter() - began < LISTENING:
            count += self._take()
            if self._fault:
                raise ServoError(self._fault)
            pause(NAP)
        where, rate = self.where, count / LISTENING
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
        self._take()
        return super().up(stale)

    @property
    def fault(self) -> str:
        return self._fault

    def _take(self) -> int:
        """Take in what has arrived, without waiting; returns how many readings that were."""
        if self._fault:
            return 0
        try:
            waiting = self._port.in_waiting
            data = self._port.read(min(waiting, MOST)) if waiting else b""
        except PORT_ERRORS as error:
            self._fault = f"{self.where} is gone ({reason(error)}); check its cable"
            return 0
        found = self._packets.feed(data)
        for up in found:
            self.hear(up)
        return len(found)
