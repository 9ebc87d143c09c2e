"""The wire: with its port, the only place that talks through the vendor's SDK. One thread at a time owns a `Bus`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...errors import ServoError
from ...extras import extra
from ..chain import Servo, ServoChain
from ..emergency import Emergency, EmergencyStopped
from .models import MODELS, as_bytes, watchdog_units
from .port import LATENCY, OPEN_ERRORS, PORT_ERRORS, SerialPort, ports_there, reason
from .question import REFUSED, TRIPS, Question

with extra("servo"):
    from dynamixel_sdk import COMM_RX_CORRUPT, COMM_SUCCESS, GroupSyncRead, GroupSyncWrite, Protocol2PacketHandler

SHORTEST_LATENCY, PATIENCE = (
    0.008,
    4.0,
)  # [s], and times the slowest ping: the allowance between goals, where time is short
DRAIN = 0.01  # [s] that a late answer gets to arrive and be thrown away, lest it be taken for the next one
LATE = 0.06  # [s] that one may be late at worst
UNHURRIED = 0.5  # [s] of asking who does not answer, where nobody says
TRIES = 3  # at what must not fail because of a lost packet
BROADCAST = 0xFE  # the id that every servo hears
SLICE = 0.005  # [s] of waiting at a time: the emergency stop may be pressed meanwhile
MODEL_OF_ADDRESSES = "XH430-W350"  # the entries used here have one address in all models; `MODELS` is tested for that
TABLE = MODELS[MODEL_OF_ADDRESSES].table


class PortGone(ServoError):
    """The port itself fails: unplugged, or its other end has died."""


class ServoSilent(ServoError):
    """A servo does not answer."""


class Bus:
    """An open port with a chain behind it.

    Args:
        chain: who should be there.
        port: a device path, or a URL that pyserial opens, such as `socket://host:port`.
        silence: how long a servo of the chain is asked again, unless goals are waiting, before it counts as gone [s].
        emergency: the owner's emergency stop.

    Attributes:
        chain: whom `set` and its like write to.
        emergency: see above; every read and write leaves with `EmergencyStopped` when it is pressed.
        missing: who should be there as well, but did not answer at connecting.
        has_fast_read: whether all of them answer fast sync reads; found out at connecting.
        round_trip: of the slowest ping so far [s].

    Raises:
        ServoError: the port does not exist or cannot be opened; says what to do.
    """

    def __init__(
        self, chain: ServoChain, port: str, silence: float = UNHURRIED, emergency: Emergency | None = None
    ) -> None:
        self.chain, self.emergency = chain, emergency or Emergency()
        self.name = port
        self.missing: tuple[Servo, ...] = ()
        self._silence = silence
        self.has_fast_read = False
        self.round_trip = 0.0
        self._is_hasty = self._owes = False
        self._question: Question | None = None  # whose answers nobody waits for
        self._packets = Protocol2PacketHandler()
        self._port = SerialPort(port, self.emergency)
        self.open_at(chain.baud_rate)

    def open_at(self, baud_rate: int) -> None:
        """Opens the port, or opens it anew, at a baud rate.

        Raises:
            ServoError: it cannot be.
        """
        try:
            self._port.setBaudRate(baud_rate)
        except OPEN_ERRORS as error:
            raise ServoError(f"port {self.name} cannot be opened ({reason(error)}); {ports_there()}") from None

    def close(self) -> None:
        """Closes the port; whatever the servos do, they go on doing."""
        if self._port.is_open:
            self._port.is_open = False
            try:
                self._port.ser.close()
            except PORT_ERRORS:
                return  # it is gone already

    # reading

    def ping(self, id: int) -> int | None:
        """The model number of the servo with this id; None if none answers."""
        for _ in self._attempts():
            self._settle()
            started = time.monotonic()
            number, result, error = self._read_guarded(
                lambda: self._packets.ping(self._port, id), (0, COMM_RX_CORRUPT, 0)
            )
            if result == COMM_SUCCESS and not error & REFUSED:
                self.round_trip = max(self.round_trip, time.monotonic() - started)
                return int(number)
            self._drain()
        return None

    def ping_all(self) -> dict[int, tuple[int, int]]:
        """Model number and firmware of all that answer at this baud rate, by id."""
        self._settle()
        found, _ = self._read_guarded(lambda: self._packets.broadcastPing(self._port), ({}, COMM_RX_CORRUPT))
        return {int(id): (int(number), int(firmware)) for id, (number, firmware) in found.items()}

    def read(self, servo: Servo, entry: str) -> int:
        """An entry of a servo's table.

        Raises:
            ServoSilent: it does not answer.
        """
        item = servo.table.table[entry]
        return int.from_bytes(self.read_block(servo, item.address, item.size), "little", signed=item.is_signed)

    def read_block(self, servo: Servo, address: int, size: int) -> bytes:
        """Bytes of a servo's table.

        Raises:
            ServoSilent: it does not answer.
        """
        for _ in self._attempts():
            self._settle()
            data, result, error = self._read_guarded(
                lambda: self._packets.readTxRx(self._port, servo.id, address, size), ([], COMM_RX_CORRUPT, 0)
            )
            # of an answer that is a refusal, to a question that arrived broken, the SDK gives the checksum as data
            if result == COMM_SUCCESS and len(data) == size and not error & REFUSED:
                return bytes(data)
            self._drain()
        raise ServoSilent(f"servo {servo.id} ({servo.actuator}) stopped answering on {self.name}")

    def read_blocks(self, address: int, size: int, ids: Sequence[int] = ()) -> list[bytes] | None:
        """The same bytes of servos' tables, the chain's unless others are named, in one go; None if some are lost."""
        ids = ids or self.chain.ids
        group = GroupSyncRead(self._port, self._packets, address, size)
        for id in ids:
            group.addParam(id)
        self._settle()
        result = self._read_guarded(group.fastSyncRead if self.has_fast_read else group.txRxPacket, COMM_RX_CORRUPT)
        blocks = [bytes(group.data_dict[id]) for id in ids]
        if result == COMM_SUCCESS and all(len(block) == size for block in blocks):
            return blocks
        self._drain()
        return None

    def read_each(self, entry: str) -> np.ndarray:
        """An entry of all servos (n,).

        Raises:
            ServoSilent: names the one that did not answer.
        """
        item = TABLE[entry]
        blocks = self.read_blocks(item.address, item.size)
        if blocks is None:
            blocks = [self.read_block(servo, item.address, item.size) for servo in self.chain.servos]
        return np.array([int.from_bytes(block, "little", signed=item.is_signed) for block in blocks], dtype=np.int64)

    def positions(self) -> np.ndarray:
        """Present positions (n,) of all servos [counts].

        Raises:
            ServoSilent: names the one that did not answer.
        """
        return self.read_each("present_position")

    @contextmanager
    def in_haste(self, latency: float = 0.0) -> Iterator[None]:
        """Ask only once within this, and wait for an answer no longer than goals can: PATIENCE times what the slowest
        ping took, or at least a latency [s]."""
        self._port.latency = min(LATENCY, max(SHORTEST_LATENCY, latency, PATIENCE * self.round_trip))
        self._is_hasty = True
        try:
            yield
        finally:
            self._port.latency = LATENCY
            self._is_hasty = False

    def _attempts(self) -> Iterator[None]:
        """Of asking a servo: one in haste.

        Else some, and on until it was silent for long, be it because this computer stalls.
        """
        until, tries = time.monotonic() + self._silence, 0
        while tries == 0 or (not self._is_hasty and (tries < TRIES or time.monotonic() < until)):
            tries += 1
            yield

    def _drain(self) -> None:
        """After an answer that did not come: it may come late, and must not become the answer to another question.

        In haste the questions are all the same, and so are the answers.
        """
        self.pause(DRAIN if self._is_hasty and not self._question else LATE)
        self._question = None
        self._port.drop()
        self._guard(self._port.clearPort)
        self._owes = self._is_hasty

    def pause(self, seconds: float) -> None:
        """Wait, unless the emergency stop is pressed.

        Raises:
            EmergencyStopped: it is.
        """
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.emergency.check()
            time.sleep(min(left, SLICE))

    def _settle(self) -> None:
        """Wait for what haste left behind, and for answers that nobody waited for."""
        if self._question or (self._owes and not self._is_hasty):
            self._drain()

    # reading, while goals go out

    def ask(self, ids: Sequence[int], address: int, size: int) -> None:
        """Ask servos for the same bytes, and go on: `answers` has what they say."""
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

    # writing

    def write_blocks(self, address: int, size: int, blocks: Sequence[bytes], ids: Sequence[int] = ()) -> None:
        """Bytes of the servos' tables, the chain's unless others are named, in one Sync Write, which nobody answers;
        who needs to know reads them back."""
        group = GroupSyncWrite(self._port, self._packets, address, size)
        for id, block in zip(ids or self.chain.ids, blocks, strict=True):
            group.addParam(id, block)
        if self._guard(group.txPacket) != COMM_SUCCESS:
            raise PortGone(f"port {self.name} does not take what is written; check the adapter and its cable")

    def send(self, entry: str, values: Sequence[int]) -> None:
        """An entry of all servos in one Sync Write."""
        item = TABLE[entry]
        self.write_blocks(item.address, item.size, [as_bytes(value, item.size) for value in values])

    def set(self, entry: str, values: list[int]) -> None:
        """Writes an entry of all servos and makes sure of it, trying again where a packet was lost.

        Raises:
            ServoError: names the servo that would not take it.
        """
        for _ in range(TRIES):
            self.send(entry, values)
            taken = self.read_each(entry).tolist()
            if taken == values:
                return
        for servo, wanted, is_value in zip(self.chain.servos, values, taken, strict=True):
            if wanted != is_value:
                what = entry.replace("_", " ")
                raise ServoError(
                    f"servo {servo.id} ({servo.actuator}) does not take {wanted} as {what}; it stays at {is_value}"
                )

    def set_one(self, servo: Servo, entry: str, value: int) -> None:
        """Writes an entry of one servo, whether it is in the chain or not, and makes sure of it.

        Raises:
            ServoError: it does not take it.
        """
        item = servo.table.table[entry]
        data = list(as_bytes(value, item.size))
        for _ in self._attempts():
            failed = (COMM_RX_CORRUPT, 0)
            result, error = self._read_guarded(
                lambda: self._packets.writeTxRx(self._port, servo.id, item.address, item.size, data), failed
            )
            if result == COMM_SUCCESS and not error & REFUSED:
                return
            self._drain()
        refusal = self._packets.getRxPacketError(error) if result == COMM_SUCCESS else "it does not answer"
        raise ServoError(
            f"servo {servo.id} ({servo.actuator}) does not take {value} as {entry.replace('_', ' ')}:"
            f" {refusal.strip('[] !')}"
        )

    def reboot(self, servo: Servo) -> None:
        """Reboots a servo: its torque goes off; it answers again after half a second or so."""
        self._read_guarded(lambda: self._packets.reboot(self._port, servo.id), None)

    def set_torque(self, powered: Sequence[bool]) -> None:
        """Turn torque on or off, for each servo of the chain.

        Raises:
            ServoError: a servo does not obey.
        """
        self.set("torque_enable", [int(on) for on in powered])

    def cut_torque(self) -> list[bool | None]:
        """Turn torque off at once, whatever else was going on: nobody answers a Sync Write, so it is sent three times,
        and who is missing may still hear it. A packet that met somebody's late answer on the wire is lost: those that
        still have torque are told again, one by one.

        Returns:
            Torque of each servo of the chain as read back, None where one does not answer.
        """
        ids, item = [*self.chain.ids, *(servo.id for servo in self.missing)], TABLE["torque_enable"]
        with self.emergency.serving():
            for _ in range(TRIES):
                self.write_blocks(item.address, item.size, [bytes(item.size)] * len(ids), ids)
            self._drain()  # of answers to what was asked before
            return [self.cut_torque_of(servo) for servo in self.chain.servos]

    def cut_torque_of_all(self) -> None:
        """Turn torque off on every servo at this baud rate, known or not, by a broadcast that nobody answers."""
        item = TABLE["torque_enable"]
        with self.emergency.serving():
            for _ in range(TRIES):
                self._guard(self._packets.writeTxOnly, self._port, BROADCAST, item.address, item.size, [0] * item.size)
            self._guard(self._port.ser.flush)
            self._drain()  # the last packet has to be on the wire before anybody changes the baud rate

    def cut_torque_of(self, servo: Servo) -> bool | None:
        """Turn the torque of a servo off, if it is not; returns it as read back, None if the servo does not answer."""
        item, powered = TABLE["torque_enable"], None
        for _ in range(TRIES):
            powered = self._torque_of(servo)
            if powered is False:
                break
            self.write_blocks(item.address, item.size, [bytes(item.size)], [servo.id])
        return powered

    def _torque_of(self, servo: Servo) -> bool | None:
        with self.in_haste(LATENCY):
            try:
                return bool(self.read(servo, "torque_enable"))
            except ServoSilent:
                return None

    def set_watchdog(self, seconds: float) -> None:
        """Lets the servos stop when no packet has come for this long; 0 turns that off and clears one that has tripped.

        Raises:
            ServoError: a servo does not take it.
        """
        self.set("bus_watchdog", [watchdog_units(seconds)] * len(self.chain.servos))

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        """The servos' own speed limit, by their profile; speeds (n,) of the actuators [rad/s or m/s].

        Raises:
            ServoError: a servo does not take it.
        """
        units = [servo.velocity_units(speed) for servo, speed in zip(self.chain.servos, speeds.tolist(), strict=True)]
        self.set("profile_acceleration", [0] * len(units))
        self.set("profile_velocity", units)

    # the SDK

    def _read_guarded(self, call: Callable[[], Any], failed: Any) -> Any:
        """As `_guard`; and what the SDK makes of garbage, which it trips over in its own ways, is `failed`."""
        try:
            return self._guard(call)
        except TRIPS:
            self._port.is_using = False
            return failed

    def _guard(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Calls the SDK; a failing port becomes our error, and the SDK is left able to go on."""
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
