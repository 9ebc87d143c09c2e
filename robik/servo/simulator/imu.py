"""A simulated sensor of tilt at a port of its own, with the faults that tests ask for."""

from __future__ import annotations

import random
import threading
import time
from math import radians

from ..imu.mount import ImuMount
from ..imu.protocols import PROTOCOLS
from ..schedule import take_precedence
from .port import PseudoTerminal, Socket

RATE = 100.0  # [Hz] of packets
NOISE = radians(0.05)


class SimulatedImu:
    """A sensor that says how it is tilted, a hundred times a second, until it is ended.

    It stands upright unless somebody tilts it: a simulated chain knows nothing of the robot's weight.

    Args:
        mount: what it speaks.
        over_socket: on a socket instead of a pseudo-terminal.

    Attributes:
        port: its own.
    """

    def __init__(self, mount: ImuMount, over_socket: bool = False) -> None:
        self.port: PseudoTerminal | Socket = Socket() if over_socket else PseudoTerminal()
        self._protocol = PROTOCOLS[mount.type]
        self._tilt = (0.0, 0.0)
        self._rate, self._is_silent, self._is_garbled = RATE, False, False
        self._random = random.Random(0)
        self._ended = threading.Event()
        threading.Thread(target=self._run, name="simulated imu", daemon=True).start()

    def end(self) -> None:
        """Say no more."""
        self._ended.set()

    def command(self, words: list[str]) -> bool:
        """Do what a test asks for.

        `tilt ROLL PITCH` [degrees], `silent`, `answer`, `garble`, `clear`, `rate HZ`, `unplug`.

        Args:
            words: Of one of these.

        Returns:
            Whether it is known.
        """
        match words:
            case ["tilt", roll, pitch]:
                self._tilt = radians(float(roll)), radians(float(pitch))
            case ["silent" | "answer" as verb]:
                self._is_silent = verb == "silent"
            case ["garble" | "clear" as verb]:
                self._is_garbled = verb == "garble"
            case ["rate", rate]:
                self._rate = float(rate)
            case ["unplug"]:
                self._is_silent = True
                self.port.unplug()
            case _:
                return False
        return True

    def _run(self) -> None:
        take_precedence()
        count, due = 0, time.perf_counter()
        while not self._ended.is_set():
            due = max(due + 1.0 / self._rate, time.perf_counter() - 0.1)
            time.sleep(max(due - time.perf_counter(), 0.0))
            self.port.read(0.0)  # lets a client in; a sensor hears nothing
            count += 1
            if self._is_silent:
                continue
            roll, pitch = (angle + self._random.gauss(0.0, NOISE) for angle in self._tilt)
            packet = self._protocol.packet(roll, pitch, count)
            try:
                self.port.write(self._random.randbytes(len(packet)) if self._is_garbled else packet)
            except OSError:
                self._is_silent = True  # pulled out meanwhile
