"""Reading of Feetech servos, at once or while goals go out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Protocol

import numpy as np

from ...errors import ServoError
from ..emergency import Emergency
from ..line import ServoSilent
from ..servo import Servo
from .models import TABLE
from .packet import AROUND, BROADCAST, HIGHEST_ID, Instruction, Packet, encode, packets, sync_read
from .port import Port, now
from .question import LATENCY, Question

SHORTEST_LATENCY = 0.008  # [s]: the allowance between goals, where time is short, is at least this,
PATIENCE = 4.0  # and so many times the slowest ping
DRAIN = 0.01  # [s] that a late answer gets to arrive and be thrown away, so that it is not taken for the next one
LATE = 0.06  # [s] that one may be late at worst
UNHURRIED = 0.5  # [s] of asking who does not answer, where nobody says
TRIES = 3  # at what must not fail because of a lost packet
EVERYBODY = 0.8  # [s] in which all servos answer a ping to everybody
NEAR = 40  # [counts] between two looks at a position that is believed


class Addressed(Protocol):
    """Addressee of a packet: a servo of a chain, or one that is being set up."""

    @property
    def id(self) -> int:
        """Id on the bus."""

    @property
    def actuator(self) -> str:
        """Name of the actuator that the servo turns."""


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
        missing: who is left out, but hears when torque is turned off.
        emergency: see above; every read and write leaves with `EmergencyStopped` when it is pressed.
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
        self.servos, self.missing = tuple(servos), tuple[Servo, ...]()
        self.emergency, self.name, self._silence = emergency or Emergency(), port, silence
        self.round_trip, self.quickest = 0.0, inf
        self._latency, self._is_hasty, self._owes = LATENCY, False, False
        self._question: Question | None = None  # whose answers nobody waits for
        self.port = Port(port, baud_rate, self.emergency)

    @property
    def ids(self) -> tuple[int, ...]:
        """The servos' ids, in order."""
        return tuple(servo.id for servo in self.servos)

    def open_at(self, baud_rate: int) -> None:
        """Open the port again at a baud rate, if it has another one.

        Args:
            baud_rate: Rate [bit/s].

        Raises:
            ServoError: It cannot be opened.
        """
        if baud_rate != self.port.baud_rate:
            self.port.open_at(baud_rate)
            self._question, self._owes = None, False

    def close(self) -> None:
        """Close the port; whatever the servos do, they go on doing."""
        self.port.close()

    # reading

    def _asked(self, packet: bytes, sizes: Mapping[int, int]) -> dict[int, Packet]:
        """Ask, and wait for the answers; those that come."""
        self._settle()
        question = Question(self.port, packet, sizes)
        question.send(self._latency)
        while (found := question.answers(waits=True)) is None:
            continue
        if len(found) < len(sizes):
            self.drain()
        return found

    def ping(self, id: int) -> bool:
        """Return whether a servo answers.

        Args:
            id: Id of the servo.

        Returns:
            True where it does.
        """
        for _ in self._attempts():
            started = now()
            if self._asked(encode(id, Instruction.PING), {id: 0}):
                took = now() - started
                self.round_trip, self.quickest = max(self.round_trip, took), min(self.quickest, took)
                return True
        return False

    def ping_all(self) -> tuple[set[int], bool]:
        """Ask who is there at this baud rate.

        Returns:
            Ids of all that answer, and whether there were bytes that nobody sent whole: then each is to be asked alone.
        """
        self._settle()
        self.port.clear()
        asked = encode(BROADCAST, Instruction.PING)
        self.port.write(asked, changes=False)
        self.emergency.pause(EVERYBODY + HIGHEST_ID * AROUND * self.port.seconds_per_byte)
        data = self.port.arrived().removeprefix(asked)
        whole = [packet for packet, _ in packets(data)]
        found = {packet.id for packet in whole if packet.id <= HIGHEST_ID and not packet.parameters}
        return found, len(data) > AROUND * len(whole)

    def ping_each(self) -> set[int]:
        """Ask every id by itself who is there; ids of all that answer."""
        with self.in_haste(SHORTEST_LATENCY):
            return {id for id in range(HIGHEST_ID + 1) if self._asked(encode(id, Instruction.PING), {id: 0})}

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
        packet = encode(servo.id, Instruction.READ, bytes([address, size]))
        for _ in self._attempts():
            if found := self._asked(packet, {servo.id: size}):
                return found[servo.id].parameters
        raise ServoSilent(f"servo {servo.id} ({servo.actuator}) stopped answering on {self.name}")

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
        item = TABLE[entry]
        return item.decode(self.read_block(servo, item.address, item.size))

    def read_blocks(self, address: int, size: int) -> list[bytes] | None:
        """Return the same bytes of all servos' tables, in one go.

        Args:
            address: Of the first byte.
            size: Number of bytes.

        Returns:
            The bytes of each; None if some are lost.
        """
        found = self._asked(sync_read(address, size, self.ids), dict.fromkeys(self.ids, size))
        return [found[id].parameters for id in self.ids] if len(found) == len(self.ids) else None

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
        return np.array([item.decode(block) for block in blocks], dtype=np.int64)

    def positions(self) -> np.ndarray:
        """Return present positions (n,) [counts] that were seen twice: the protocol's check lets some garbage pass.

        Raises:
            ServoSilent: Names the servo that does not answer.
            ServoError: Names a servo that is somewhere else every time.
        """
        before = self.read_each("present_position")
        for _ in range(TRIES):
            there = self.read_each("present_position")
            away = np.abs(there - before)
            if not len(away) or away.max() <= NEAR:
                return there
            before = there
        servo = self.servos[int(np.argmax(away))]
        raise ServoError(
            f"servo {servo.id} ({servo.actuator}) says another position every time on {self.name}; hold it still, and"
            " check the cable"
        )

    @contextmanager
    def in_haste(self, latency: float = 0.0) -> Iterator[None]:
        """Ask only once within this context, and wait for an answer no longer than goals can.

        That is PATIENCE times what the slowest ping took.

        Args:
            latency: Time to wait at least [s].
        """
        self._latency = min(LATENCY, max(SHORTEST_LATENCY, latency, PATIENCE * self.round_trip))
        self._is_hasty = True
        try:
            yield
        finally:
            self._latency, self._is_hasty = LATENCY, False

    def _attempts(self) -> Iterator[None]:
        """Of asking a servo: one in haste.

        Else some, and on until it was silent for long, as where this computer stalls.
        """
        until, tries = now() + self._silence, 0
        while tries == 0 or (not self._is_hasty and (tries < TRIES or now() < until)):
            tries += 1
            yield

    def drain(self) -> None:
        """After an answer that did not come: it may come late, and must not become the answer to another question.

        In haste the questions are all the same, and so are the answers.
        """
        self.emergency.pause(DRAIN if self._is_hasty and not self._question else LATE)
        self._question = None
        self.port.clear()
        self._owes = self._is_hasty

    def _settle(self) -> None:
        """Wait for what haste left behind, and for answers that nobody waited for."""
        if self._question or (self._owes and not self._is_hasty):
            self.drain()

    # reading, while goals go out

    def question(self, ids: Sequence[int], address: int, size: int) -> Question:
        """Return a question to servos, which has not been asked yet.

        Args:
            ids: Ids of the servos.
            address: Of the first byte.
            size: Number of bytes.

        Returns:
            The question.
        """
        return Question(self.port, sync_read(address, size, ids), dict.fromkeys(ids, size))

    def ask(self, question: Question) -> None:
        """Ask, and go on: `answers` has what is said.

        Args:
            question: The question.
        """
        self._settle()
        question.send(LATENCY)
        self._question = question

    def answers(self) -> dict[int, Packet] | None:
        """Return the answers to what was asked, by the id of the servo; None while more may come."""
        found = self._question.answers() if self._question else {}
        if found is not None:
            self._question = None
        return found
