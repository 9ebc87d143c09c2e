"""The wire: with its port, the only place that talks through the vendor's SDK. One thread at a time owns a `Bus`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dynamixel_sdk import COMM_RX_CORRUPT, COMM_SUCCESS, GroupSyncRead, GroupSyncWrite, Protocol2PacketHandler

from robik.errors import ServoError
from robik.servo.chain import Servo, ServoChain
from robik.servo.models import MODEL_NAMES, MODELS, POSITION_MODES, SINGLE_TURN_MODE, WATCHDOG_UNIT, describe_hardware_error
from robik.servo.port import LATENCY, OPEN_ERRORS, PORT_ERRORS, SerialPort, ports_there, reason

ALERT = 0x80  # in a status packet's error: look at the hardware error entry
SHORTEST_LATENCY, PATIENCE = 0.008, 4.0  # [s], and times the slowest ping: the allowance between goals, where time is short
DRAIN = 0.01  # [s] that a late answer gets to arrive and be thrown away, lest it be taken for the next one
TIMED_PROFILE = 0x04  # a bit of the drive mode
FAST_READ_FIRMWARE = 45  # of the X series, from which fast sync read is there
WATCHDOG_FIRMWARE = 38
TELEMETRY_START, TELEMETRY_SIZE = 126, 21  # one run without gaps, from load or current to temperature
MODEL_OF_ADDRESSES = "XH430-W350"  # the entries used here have one address in all models; `MODELS` is tested for that
TABLE = MODELS[MODEL_OF_ADDRESSES].table


class PortGone(ServoError):
    """The port itself fails: unplugged, or its other end has died."""


class ServoSilent(ServoError):
    """A servo does not answer."""


@dataclass(frozen=True)
class Found:
    """What a servo says of itself at connecting.

    Attributes:
        firmware: version.
        mode, drive_mode, homing_offset: entries of those names.
        torque: whether it is on.
        position: [counts], as read.
        low, high: its own limits for goals [counts]; None where its mode has none.
        errors: hardware error bits.
        volts, celsius: supply [V] and temperature [°C].
    """

    firmware: int
    mode: int
    drive_mode: int
    homing_offset: int
    torque: bool
    position: int
    low: int | None
    high: int | None
    errors: int
    volts: float
    celsius: float


@dataclass(frozen=True)
class Telemetry:
    """What one servo reports while it plays: position [counts], load in its own unit, volts, celsius, and the alert bit."""

    position: int
    load: int
    volts: float
    celsius: float
    alert: bool


class Bus:
    """An open port with a chain behind it.

    Args:
        chain: who should be there.
        port: a device path, or a URL that pyserial opens, such as `socket://host:port`.

    Raises:
        ServoError: the port does not exist or cannot be opened; says what to do.
    """

    def __init__(self, chain: ServoChain, port: str) -> None:
        self.chain = chain
        self.name = port
        self._packets = Protocol2PacketHandler()
        self._port = SerialPort(port)
        self._open()
        goal = TABLE["goal_position"]
        self._goals = GroupSyncWrite(self._port, self._packets, goal.address, goal.size)
        self._has_fast_read = False

    def _open(self) -> None:
        try:
            opened = self._port.setBaudRate(self.chain.baud_rate)
        except OPEN_ERRORS as error:
            raise ServoError(f"port {self.name} cannot be opened ({reason(error)}); {ports_there()}") from None
        if not opened:
            raise ServoError(f"the vendor's SDK cannot set {self.chain.baud_rate} baud; choose 4000000 or less for the chain")
        self._lower_latency()

    def _lower_latency(self) -> None:
        """USB adapters hold answers back for 16 ms unless told otherwise, which only Linux lets us do."""
        if not hasattr(self._port.ser, "set_low_latency_mode"):
            return
        try:
            self._port.ser.set_low_latency_mode(True)
        except OPEN_ERRORS:
            return  # no USB adapter

    def close(self) -> None:
        """Closes the port; whatever the servos do, they go on doing."""
        if self._port.is_open:
            self._port.is_open = False
            try:
                self._port.ser.close()
            except PORT_ERRORS:
                return  # it is gone already

    # connecting

    def find(self) -> tuple[Found, ...]:
        """Reads every servo of the chain, and writes nothing.

        Raises:
            ServoError: servos that do not answer, are another model, have a hardware error, or are set up so that they
                cannot follow positions; names all of them, and what to do.
        """
        found: list[Found] = []
        problems: list[str] = []
        self.round_trip = 0.0
        for servo in self.chain.servos:
            try:
                self._check_model(servo)
                found.append(self._read_all(servo))
                problems += self._obstacles(servo, found[-1])
            except PortGone:
                raise
            except ServoError as error:
                problems.append(str(error))
        if len(problems) == len(self.chain.servos) > 1 and not found:
            hint = f"check their power, the cable, and whether they are set to {self.chain.baud_rate} baud"
            raise ServoError(f"none of the {len(problems)} servos answers as the chain says on {self.name}; {hint}; first: {problems[0]}")
        if problems:
            raise ServoError("; ".join(problems))
        self._has_fast_read = all(f.firmware >= FAST_READ_FIRMWARE for f in found)
        return tuple(found)

    def _check_model(self, servo: Servo) -> None:
        number = self._ping(servo)
        if MODEL_NAMES.get(number) != servo.model:
            named = MODEL_NAMES.get(number, f"of an unknown model, number {number}")
            raise ServoError(f"servo {servo.id} ({servo.actuator}) is {named}, not {servo.model} as the chain says")

    def _ping(self, servo: Servo) -> int:
        for _ in range(2):  # one packet may be lost
            started = time.monotonic()
            number, result, _ = self._guard(self._packets.ping, self._port, servo.id)
            if result == COMM_SUCCESS:
                self.round_trip = max(self.round_trip, time.monotonic() - started)
                break
        else:
            hint = f"check its power, its cable, its id, and that it is set to {self.chain.baud_rate} baud"
            raise ServoSilent(f"servo {servo.id} ({servo.actuator}) does not answer on {self.name}; {hint}")
        return int(number)

    def _read_all(self, servo: Servo) -> Found:
        mode = self.read(servo, "operating_mode")
        has_limits = mode == SINGLE_TURN_MODE
        return Found(
            firmware=self.read(servo, "firmware_version"),
            mode=mode,
            drive_mode=self.read(servo, "drive_mode"),
            homing_offset=self.read(servo, "homing_offset"),
            torque=bool(self.read(servo, "torque_enable")),
            position=self.read(servo, "present_position"),
            low=self.read(servo, "min_position_limit") if has_limits else None,
            high=self.read(servo, "max_position_limit") if has_limits else None,
            errors=self.read(servo, "hardware_error_status"),
            volts=self.read(servo, "present_input_voltage") / 10,
            celsius=float(self.read(servo, "present_temperature")),
        )

    def _obstacles(self, servo: Servo, found: Found) -> list[str]:
        where = f"servo {servo.id} ({servo.actuator})"
        if found.errors:
            return [f"{where} has a hardware error ({describe_hardware_error(found.errors)}); remove the cause and reboot it"]
        if found.firmware < WATCHDOG_FIRMWARE:
            return [f"{where} has firmware {found.firmware}, too old for the bus watchdog; update it to {WATCHDOG_FIRMWARE} or later"]
        if found.mode not in POSITION_MODES:
            return [f"{where} is in operating mode {found.mode}; set it to a position mode (3, 4 or 5)"]
        if found.drive_mode & TIMED_PROFILE:
            return [f"{where} has a time-based profile; set its drive mode to a velocity-based one (without 4)"]
        if found.homing_offset:  # with a watchdog, old firmware moves by it
            return [f"{where} has a homing offset of {found.homing_offset}; set it to 0 and put it into the chain's zero"]
        return []

    # reading

    def read(self, servo: Servo, entry: str) -> int:
        """An entry of a servo's table.

        Raises:
            ServoSilent: it does not answer.
        """
        item = servo.table.table[entry]
        data, _ = self._read(servo, item.address, item.size)
        return int.from_bytes(data, "little", signed=item.is_signed)

    def _read(self, servo: Servo, address: int, size: int) -> tuple[bytes, int]:
        """Bytes of a servo's table and the error byte that came with them."""
        data, result, error = self._guard(self._packets.readTxRx, self._port, servo.id, address, size)
        if result != COMM_SUCCESS or len(data) != size:
            self._drain()
            raise ServoSilent(f"servo {servo.id} ({servo.actuator}) stopped answering on {self.name}")
        return bytes(data), int(error)

    def _drain(self) -> None:
        time.sleep(DRAIN)
        self._guard(self._port.clearPort)

    def positions(self) -> np.ndarray:
        """Present positions (n,) of all servos [counts], in one go.

        Raises:
            ServoSilent: names the one that did not answer.
        """
        return self._read_each("present_position")

    def watchdogs(self) -> np.ndarray:
        """The bus watchdogs (n,): -1 where one has stopped its servo.

        Raises:
            ServoSilent: names the one that did not answer.
        """
        return self._read_each("bus_watchdog")

    def _read_each(self, entry: str) -> np.ndarray:
        item = TABLE[entry]
        group = GroupSyncRead(self._port, self._packets, item.address, item.size)
        for servo in self.chain.servos:
            group.addParam(servo.id)
        if not (self._has_fast_read and self._read_group(group, group.fastSyncRead)) and not self._read_group(group, group.txRxPacket):
            return np.array([self.read(servo, entry) for servo in self.chain.servos], dtype=np.int64)
        raw = [int(group.getData(servo.id, item.address, item.size)) for servo in self.chain.servos]
        top = 1 << (8 * item.size)
        return np.array([value - top if item.is_signed and value >= top // 2 else value for value in raw], dtype=np.int64)

    def _read_group(self, group: GroupSyncRead, read: Callable[[], int]) -> bool:
        try:
            result = self._guard(read)
        except IndexError:  # the SDK trips over a late answer of another servo
            result = COMM_RX_CORRUPT
        if result != COMM_SUCCESS:
            self._drain()
        return bool(result == COMM_SUCCESS)

    def telemetry(self, servo: Servo) -> Telemetry:
        """Position, load and health of one servo, in one packet, with less patience than usual: goals are waiting.

        Raises:
            ServoSilent: it does not answer.
        """
        self._port.latency = min(LATENCY, max(SHORTEST_LATENCY, PATIENCE * self.round_trip))
        try:
            block, error = self._read(servo, TELEMETRY_START, TELEMETRY_SIZE)
        finally:
            self._port.latency = LATENCY

        def at(address: int, size: int, signed: bool) -> int:
            start = address - TELEMETRY_START
            return int.from_bytes(block[start : start + size], "little", signed=signed)

        return Telemetry(at(132, 4, True), at(126, 2, True), at(144, 2, False) / 10, float(at(146, 1, False)), bool(error & ALERT))

    # writing

    def send_goals(self, counts: np.ndarray) -> None:
        """Goal positions (n,) [counts] to all servos in one Sync Write, which nobody answers."""
        self._goals.clearParam()
        for id, count in zip(self.chain.ids, counts.tolist(), strict=True):
            self._goals.addParam(id, (count & 0xFFFFFFFF).to_bytes(4, "little"))
        self._send(self._goals)

    def send(self, entry: str, values: list[int]) -> None:
        """An entry of all servos in one Sync Write; unanswered, so that who needs to know reads it back."""
        item = TABLE[entry]
        group = GroupSyncWrite(self._port, self._packets, item.address, item.size)
        for id, value in zip(self.chain.ids, values, strict=True):
            group.addParam(id, (value & ((1 << 8 * item.size) - 1)).to_bytes(item.size, "little"))
        self._send(group)

    def set(self, entry: str, values: list[int]) -> None:
        """Writes an entry of all servos and makes sure of it, trying twice.

        Raises:
            ServoError: names the servo that would not take it.
        """
        for _ in range(2):
            self.send(entry, values)
            taken = self._read_each(entry).tolist()
            if taken == values:
                return
        for servo, wanted, is_value in zip(self.chain.servos, values, taken, strict=True):
            if wanted != is_value:
                what = entry.replace("_", " ")
                raise ServoError(f"servo {servo.id} ({servo.actuator}) does not take {wanted} as {what}; it stays at {is_value}")

    def set_torque(self, on: bool) -> None:
        """Torque of all servos.

        Raises:
            ServoError: a servo does not obey.
        """
        self.set("torque_enable", [int(on)] * len(self.chain.servos))

    def cut_torque(self) -> None:
        """Torque off, said three times at once since nobody answers, and then made sure of.

        Raises:
            ServoError: a servo does not obey or does not answer.
        """
        for _ in range(3):
            self.send("torque_enable", [0] * len(self.chain.servos))
        self.set_torque(False)

    def set_watchdog(self, seconds: float) -> None:
        """Lets the servos stop when no packet has come for this long; 0 turns that off and clears one that has tripped.

        Raises:
            ServoError: a servo does not take it.
        """
        units = 0 if seconds == 0 else min(127, max(1, round(seconds / WATCHDOG_UNIT)))
        self.set("bus_watchdog", [units] * len(self.chain.servos))

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        """The servos' own speed limit, by their profile; speeds (n,) of the actuators [rad/s or m/s].

        Raises:
            ServoError: a servo does not take it.
        """
        units = [servo.velocity_units(speed) for servo, speed in zip(self.chain.servos, speeds.tolist(), strict=True)]
        self.set("profile_acceleration", [0] * len(units))
        self.set("profile_velocity", units)

    def hardware_error(self, servo: Servo) -> str:
        """The hardware error of a servo in words; empty if it has none."""
        bits = self.read(servo, "hardware_error_status")
        return describe_hardware_error(bits) if bits else ""

    def _send(self, group: GroupSyncWrite) -> None:
        if self._guard(group.txPacket) != COMM_SUCCESS:
            raise PortGone(f"port {self.name} does not take what is written; check the adapter and its cable")

    def _guard(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Calls the SDK; a failing port becomes our error, and the SDK is left able to go on."""
        try:
            return call(*arguments)
        except PORT_ERRORS as error:
            self._port.is_using = False
            raise PortGone(f"port {self.name} is gone ({reason(error)}); check the adapter and its cable, then connect again") from None
