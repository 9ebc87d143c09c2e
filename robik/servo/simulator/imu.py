"""Simulated sensors of tilt, at a port of their own or on the servos' bus, with the faults that tests ask for."""

from __future__ import annotations

import random
import threading
import time
from math import radians

from ..bus.schedule import take_precedence
from ..imu.boards import BOARDS, MODEL_NUMBER
from ..imu.mount import ImuMount
from ..imu.protocols import PROTOCOLS
from .port import PseudoTerminal, Socket

RATE = 100.0  # [Hz] of packets
NOISE = radians(0.05)


class SimulatedTilt:
    """A sensor that stands upright unless somebody tilts it: a simulated chain knows nothing of the robot's weight."""

    def __init__(self) -> None:
        self._tilt = (0.0, 0.0)
        self._is_silent, self._is_garbled = False, False
        self._random = random.Random(0)

    def command(self, words: list[str]) -> bool:
        """Do what a test asks for, and return whether the command is known.

        `tilt ROLL PITCH` [degrees], `silent`, `answer`, `garble`, `clear`.
        """
        match words:
            case ["tilt", roll, pitch]:
                self._tilt = radians(float(roll)), radians(float(pitch))
            case ["silent" | "answer" as verb]:
                self._is_silent = verb == "silent"
            case ["garble" | "clear" as verb]:
                self._is_garbled = verb == "garble"
            case _:
                return False
        return True

    def felt(self) -> tuple[float, float]:
        """Return roll and pitch as it feels them, with noise [rad]."""
        roll, pitch = (angle + self._random.gauss(0.0, NOISE) for angle in self._tilt)
        return roll, pitch


class SimulatedBoard(SimulatedTilt):
    """A board with a sensor on the servos' bus: its control table, as far as anybody reads it."""

    def __init__(self, mount: ImuMount) -> None:
        super().__init__()
        self.id, self._board = mount.bus_id, BOARDS[mount.type]

    @property
    def number(self) -> int:
        """Return the number that it says it is."""
        return self._board.number

    @property
    def is_silent(self) -> bool:
        """Return whether it answers nothing."""
        return self._is_silent

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of its table; those that are not simulated are 0."""
        board, table = self._board, bytearray(address + size + 256)
        table[: MODEL_NUMBER[1]] = board.number.to_bytes(MODEL_NUMBER[1], "little")
        table[board.address : board.address + board.size] = board.data(*self.felt())
        return bytes(table[address : address + size])

    def spoilt(self, packet: bytes) -> bytes:
        """Return an answer as it goes over the wire, perhaps with noise."""
        return self._random.randbytes(len(packet)) if self._is_garbled else packet


class SimulatedImu(SimulatedTilt):
    """A sensor that says how it is tilted, a hundred times a second, until it is ended.

    `over_socket` it is on a socket instead of a pseudo-terminal.

    Attributes:
        port: its own.
    """

    def __init__(self, mount: ImuMount, over_socket: bool = False) -> None:
        super().__init__()
        self.port: PseudoTerminal | Socket = Socket() if over_socket else PseudoTerminal()
        self._protocol, self._rate = PROTOCOLS[mount.type], RATE
        self._ended = threading.Event()
        threading.Thread(target=self._run, name="simulated imu", daemon=True).start()

    def end(self) -> None:
        """Say no more."""
        self._ended.set()

    def command(self, words: list[str]) -> bool:
        match words:
            case ["rate", rate]:
                self._rate = float(rate)
            case ["unplug"]:
                self._is_silent = True
                self.port.unplug()
            case _:
                return super().command(words)
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
            packet = self._protocol.packet(*self.felt(), count)
            self.port.write(self._random.randbytes(len(packet)) if self._is_garbled else packet)
