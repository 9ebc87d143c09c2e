"""Reading of servos through the vendor's SDK: with its port and `wire`, the only place that talks through it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any, Protocol

import numpy as np

from ...errors import ServoError
from ...extras import extra
from ..emergency import Emergency, EmergencyStopped
from ..line import PortGone, ServoSilent
from ..serial_port import OPEN_ERRORS, PORT_ERRORS, ports_there, reason
from ..servo import Servo
from .models import MODELS, SHAPE
from .port import LATENCY, SerialPort
from .question import REFUSED, TRIPS, Question

with extra("servo"):
    from dynamixel_sdk import COMM_RX_CORRUPT, COMM_SUCCESS, GroupSyncRead, Protocol2PacketHandler

SHORTEST_LATENCY = 0.008  # [s]: the allowance between goals, where time is short, is at least this,
PATIENCE = 4.0  # and so many times the slowest ping
DRAIN = 0.01  # [s] that a late answer gets to arrive and be thrown away, so that it is not taken for the next one
LATE = 0.06  # [s] that one may be late at worst
UNHURRIED = 0.5  # [s] of asking who does not answer, where nobody says
TRIES = 3  # at what must not fail because of a lost packet
TABLE = MODELS[SHAPE].table  # the entries used here have one address in all models that are played


class Addressed(Protocol):
    """Addressee of a packet: a servo of a chain, or one that is being set up."""

    @property
    def id(self) -> int:
        """Id on the bus."""

    @property
    def actuator(self) -> str:
        """Name of the actuator that the servo turns."""

    @property
    def model(self) -> str:
        """Name of the model."""


class Reader:
    """An open port with servos behind it, of which it reads.

    Args:
        servos: who should be there.
        port: a device path, or a URL that pyserial opens, such as `socket://host:port`.
        baud_rate: at which to open it [bit/s].
        silence: how long a servo is asked again, unless goals are waiting, before it counts as gone [s].
        emergency: the owner's emergency stop.

    Attributes:
        servos: whose entries are read and written where nobody else is named.
        emergency: see above; every read and write leaves with `EmergencyStopped` when it is pressed.
        missing: who is left out, but hears when torque is turned off.
        has_fast_read: whether all servos answer fast sync reads; found out at connecting.
        round_trip, quickest: of the slowest and of the quickest ping so far [s].

    Raises:
        ServoError: the port does not exist or cannot be opened; says what to do.
    """

    def __init__(
        self,
        servos: Sequence[Servo],
        port: str,
        baud_rate: int,
        silence: float = UNHURRIED,
        emergency: Emergency | None = None,
    ) -> None:
        self.servos, self.emergency = tuple(servos), emergency or Emergency()
        self.name = port
        self.missing: tuple[Servo, ...] = ()
        self._silence = silence
        self.has_fast_read = False
        self.round_trip, self.quickest = 0.0, inf
        self._is_hasty = self._owes = False
        self._question: Question | None = None  # whose answers nobody waits for
        self._packets = Protocol2PacketHandler()
        self._port = SerialPort(port, self.emergency)
        self.open_at(baud_rate)

    @property
    def ids(self) -> tuple[int, ...]:
        """The servos' ids, in order."""
        return tuple(servo.id for servo in self.servos)

    def open_at(self, baud_rate: int) -> None:
        """Open the port, or open it again, at a baud rate.

        Args:
            baud_rate: Rate [bit/s].

        Raises:
            ServoError: It cannot be opened.
        """
        try:
            self._port.setBaudRate(baud_rate)
        except OPEN_ERRORS as error:
            raise ServoError(f"port {self.name} cannot be opened ({reason(error)}); {ports_there()}") from None

    def close(self) -> None:
        """Close the port; whatever the servos do, they go on doing."""
        if self._port.is_open:
            try:
                self._port.closePort()
            except PORT_ERRORS:
                return  # it is gone already

    # reading

    def ping(self, id: int) -> int | None:
        """Return the model number of a servo.

        Args:
            id: Id of the servo.

        Returns:
            The number; None if none answers.
        """
        for _ in self._attempts():
            self._settle()
            started = time.perf_counter()
            number, result, error = self._read_guarded(
                lambda: self._packets.ping(self._port, id), (0, COMM_RX_CORRUPT, 0)
            )
            if result == COMM_SUCCESS and not error & REFUSED:
                took = time.perf_counter() - started
                self.round_trip, self.quickest = max(self.round_trip, took), min(self.quickest, took)
                return int(number)
            self.drain()
        return None

    def ping_all(self) -> dict[int, tuple[int, int]]:
        """Model number and firmware of all that answer at this baud rate, by id."""
        self._settle()
        found, _ = self._read_guarded(lambda: self._packets.broadcastPing(self._port), ({}, COMM_RX_CORRUPT))
        return {int(id): (int(number), int(firmware)) for id, (number, firmware) in found.items()}

    def read(self, servo: Addressed, entry: str) -> int:
        """Return an entry of a servo's table.

        Args:
            servo: The servo.
            entry: Name of the entry.

        Returns:
            Its value.

        Raises:
            ServoSilent: It does not answer.
        """
        item = MODELS[servo.model].table[entry]
        return int.from_bytes(self.read_block(servo, item.address, item.size), "little", signed=item.is_signed)

    def read_block(self, servo: Addressed, address: int, size: int) -> bytes:
        """Return bytes of a servo's table.

        Args:
            servo: The servo.
            address: Of the first byte.
            size: Number of bytes.

        Returns:
            The bytes.

        Raises:
            ServoSilent: It does not answer.
        """
        for _ in self._attempts():
            self._settle()
            data, result, error = self._read_guarded(
                lambda: self._packets.readTxRx(self._port, servo.id, address, size), ([], COMM_RX_CORRUPT, 0)
            )
            # of an answer that is a refusal, to a question that arrived broken, the SDK gives the checksum as data
            if result == COMM_SUCCESS and len(data) == size and not error & REFUSED:
                return bytes(data)
            self.drain()
        raise ServoSilent(f"servo {servo.id} ({servo.actuator}) stopped answering on {self.name}")

    def read_blocks(self, address: int, size: int, ids: Sequence[int] = ()) -> list[bytes] | None:
        """Return the same bytes of servos' tables, in one go.

        Args:
            address: Of the first byte.
            size: Number of bytes.
            ids: Ids of the servos; the chain's if left out.

        Returns:
            The bytes of each; None if some are lost.
        """
        group = GroupSyncRead(self._port, self._packets, address, size)
        ids = ids or self.ids
        for id in ids:
            group.addParam(id)
        self._settle()
        result = self._read_guarded(group.fastSyncRead if self.has_fast_read else group.txRxPacket, COMM_RX_CORRUPT)
        blocks = [bytes(group.data_dict[id]) for id in ids]
        if result == COMM_SUCCESS and all(len(block) == size for block in blocks):
            return blocks
        self.drain()
        return None

    def read_each(self, entry: str) -> np.ndarray:
        """Return an entry of all servos.

        Args:
            entry: Name of the entry.

        Returns:
            Values (n,).

        Raises:
            ServoSilent: Names the one that did not answer.
        """
        item = TABLE[entry]
        blocks = self.read_blocks(item.address, item.size)
        if blocks is None:
            blocks = [self.read_block(servo, item.address, item.size) for servo in self.servos]
        return np.array([int.from_bytes(block, "little", signed=item.is_signed) for block in blocks], dtype=np.int64)

    @contextmanager
    def in_haste(self, latency: float = 0.0) -> Iterator[None]:
        """Ask only once within this context, and wait for an answer no longer than goals can.

        That is PATIENCE times what the slowest ping took.

        Args:
            latency: Time to wait at least [s].
        """
        self._port.latency = min(LATENCY, max(SHORTEST_LATENCY, latency, PATIENCE * self.round_trip))
        self._is_hasty = True
        try:
            yield
        finally:
            self._port.latency = LATENCY
            self._is_hasty = False

    def _attempts(self) -> Iterator[None]:
        """Of asking a servo: one in haste.

        Else some, and on until it was silent for long, as where this computer stalls.
        """
        until, tries = time.perf_counter() + self._silence, 0
        while tries == 0 or (not self._is_hasty and (tries < TRIES or time.perf_counter() < until)):
            tries += 1
            yield

    def drain(self) -> None:
        """After an answer that did not come: it may come late, and must not become the answer to another question.

        In haste the questions are all the same, and so are the answers.
        """
        self.emergency.pause(DRAIN if self._is_hasty and not self._question else LATE)
        self._question = None
        self._port.drop()
        self._guard(self._port.clearPort)
        self._owes = self._is_hasty

    def _settle(self) -> None:
        """Wait for what haste left behind, and for answers that nobody waited for."""
        if self._question or (self._owes and not self._is_hasty):
            self.drain()

    # reading, while goals go out

    @property
    def seconds_per_byte(self) -> float:
        """Time of a byte on the wire [s]."""
        return self._port.seconds_per_byte

    def ask(self, ids: Sequence[int], address: int, size: int) -> None:
        """Ask servos for the same bytes, and go on: `answers` has what they say.

        Args:
            ids: Ids of the servos.
            address: Of the first byte.
            size: Number of bytes.
        """
        self._settle()
        question = Question(self._port, self._packets, ids, address, size, self.has_fast_read)
        self._guard(question.send)
        self._question = question

    def answers(self) -> dict[int, bytes] | None:
        """Return the bytes of each servo that has answered what was asked, by id; None while answers may still come."""
        found = self._guard(self._question.answers) if self._question else {}
        if found is not None:
            self._question = None
            self._port.drop()
        return found

    # the SDK

    def _read_guarded(self, call: Callable[[], Any], failed: Any) -> Any:
        """As `_guard`; and what the SDK makes of garbage, which it trips over in its own ways, is `failed`."""
        try:
            return self._guard(call)
        except TRIPS:
            self._port.is_using = False
            return failed

    def _guard(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call the SDK; a failing port becomes our error, and the SDK is left able to go on."""
        try:
            return call(*arguments)
        except EmergencyStopped:
            self._port.is_using = False
            raise
        except PORT_ERRORS as error:
            self._port.is_using = False
            raise PortGone(
                f"port {self.name} is gone ({reason(error)}); check the adapter and its cable, then connect again"
            ) from None
