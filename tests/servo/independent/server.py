"""The process of an independent chain: servos behind a port, and commands of a test, a line of JSON each."""

from __future__ import annotations

import argparse
import contextlib
import gc
import heapq
import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from .bus import Bus
from .port import Port
from .script import LineFaults, changed
from .servo import STARTING, Servo
from .table import BAUD_RATES, MODELS
from .wire import Decoder

BITS_PER_BYTE = 10
BROKEN_OFF = 0.01  # [s] without a byte, after which the rest of a packet comes no more
LOOK = 0.5  # [s] between looks at whether the parent is still there
PIECE = 500  # entries of the log that go over at a time
PRIORITY = 20  # of the scheduler's real-time class


class Server:
    """The chain, and all that a test asks of it.

    Args:
        config: ids, model, models, baud, position, positions, return_delay, firmware, seed, brief.
    """

    decoder: Callable[[], Any] = Decoder
    bus: Callable[..., Any] = Bus

    def __init__(self, config: argparse.Namespace) -> None:
        self._chance = random.Random(config.seed)
        self._line, self._byte = LineFaults(), BITS_PER_BYTE / config.baud
        self._log: list[list[Any]] = []
        self._is_brief = config.brief
        self._decoder, self._port, self._order = self.decoder(), Port(), count()
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        self._heard = self._flush = 0.0
        self._out, self._in, self._is_over = bytearray(), bytearray(), False
        self._servos = {id: self._servo(id, config) for id in config.ids}
        self._bus = self.bus(list(self._servos.values()), self._chance)
        self._rejected = 0

    def _servo(self, id: int, config: argparse.Namespace) -> Servo:
        model = MODELS[config.models.get(id, config.model)]
        servo = Servo(model, id, config.positions.get(id, config.position), time.monotonic(), self._note)
        servo.put("baud_rate", BAUD_RATES.index(config.baud))
        servo.put("return_delay_time", config.return_delay)
        servo.put("firmware_version", config.firmware)
        return servo

    def _note(self, kind: str, *details: Any) -> None:
        if self._is_brief and kind == "goal":
            return
        if self._is_brief and kind == "packet":
            details = (*details[:-1], "")
        self._log.append([kind, *details])

    # the loop

    def run(self) -> None:
        """Serve until the test ends it, or is gone."""
        parent = os.getppid()
        os.set_blocking(0, False)
        os.set_blocking(1, False)
        self._say({"port": self._port.name})
        try:
            while not self._is_over and os.getppid() == parent:
                self._wait()
                if self._due and self._due[0][0] <= time.monotonic():
                    heapq.heappop(self._due)[2]()
        finally:
            self._port.remove()

    def _wait(self) -> None:
        """Wait for bytes, commands, or what is due."""
        wait = min(LOOK, max(0.0, self._due[0][0] - time.monotonic())) if self._due else LOOK
        files = [0] if self._port.file is None else [0, self._port.file]
        ready, writable, _ = select.select(files, [1] if self._out else [], [], wait)
        if writable:
            del self._out[: os.write(1, self._out[:65536])]
        if self._port.file in ready:
            self._hear(self._port.read())
        if 0 in ready:
            self._take(os.read(0, 65536))

    def _at(self, when: float, act: Callable[[], object]) -> None:
        heapq.heappush(self._due, (when, next(self._order), act))

    # the line

    def _hear(self, data: bytes) -> None:
        arrived = time.monotonic()
        if arrived - self._heard > BROKEN_OFF:
            self._decoder.reset()
        self._heard = max(arrived, self._heard) + len(data) * self._byte
        if self._line.echo:
            self._deliver(data, self._heard)
        for packet, behind in self._decoder.feed(data):
            now = self._heard - behind * self._byte
            self._bus.advance(now)
            self._note("packet", now, arrived, packet.id, packet.code, packet.parameters.hex())
            due = now  # whatever else is still to come: a servo whose answer is late does not keep the others waiting
            for answer in self._bus.obey(packet, now, self._port.baud_rate):
                due += answer.seconds + len(answer.data) * self._byte
                self._deliver(self._line.spoil(answer.data, self._chance), due)
        if self._decoder.rejected > self._rejected:
            self._rejected = self._decoder.rejected
            self._note("event", self._heard, 0, "wrong checksum")

    def _deliver(self, data: bytes, due: float) -> None:
        """Give bytes to the computer: when they are due, or when the adapter next passes on what it has."""
        if self._line.latency:
            if due > self._flush:
                self._flush = due + self._line.latency
            due = self._flush
        self._at(due, lambda: self._port.write(data))

    # commands

    def _take(self, data: bytes) -> None:
        self._is_over = not data
        self._in += data
        while (end := self._in.find(b"\n")) >= 0:
            line = bytes(self._in[:end])
            del self._in[: end + 1]
            self._command(**json.loads(line))

    def _command(self, do: str, after: float = 0.0, **arguments: Any) -> None:
        if after > 0:
            self._at(time.monotonic() + after, lambda: self._act(do, arguments))
            self._say({"ok": None})
        else:
            self._say(self._act(do, arguments))

    def _act(self, do: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self._bus.advance(time.monotonic())
        try:
            return {"ok": getattr(self, f"_do_{do}")(**arguments)}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return {"error": f"{do}: {error}"}

    def _say(self, what: dict[str, Any]) -> None:
        self._out += json.dumps(what).encode() + b"\n"

    def _those(self, ids: list[int] | None) -> list[Servo]:
        """Return the servos that a command is for; all where it names none."""
        if ids is None:
            return list(self._servos.values())
        if unknown := [id for id in ids if id not in self._servos]:
            raise ValueError(f"there is no servo {unknown[0]}; there are {', '.join(map(str, self._servos))}")
        return [self._servos[id] for id in ids]

    def _do_log(self, since: int) -> dict[str, Any]:
        return {"entries": self._log[since : since + PIECE], "size": len(self._log)}

    def _do_state(self, ids: list[int] | None) -> dict[int, Any]:
        return {servo.get("id"): _motion(servo) | {"entries": servo.values()} for servo in self._those(ids)}

    def _do_motion(self) -> dict[int, Any]:
        return {servo.get("id"): _motion(servo) for servo in self._servos.values()}

    def _do_mark(self) -> None:
        for servo in self._servos.values():
            servo.horn.fastest = abs(servo.horn.velocity)

    def _do_faults(self, ids: list[int] | None, changes: dict[str, Any]) -> None:
        for servo in self._those(ids):
            servo.faults = changed(servo.faults, changes)

    def _do_mend(self, ids: list[int] | None) -> None:
        for servo in self._those(ids):
            servo.faults = type(servo.faults)()

    def _do_line(self, changes: dict[str, Any]) -> None:
        self._line = changed(self._line, changes)

    def _do_babble(self, data: str) -> None:
        self._port.write(bytes.fromhex(data))

    def _do_reboot(self, ids: list[int] | None, seconds: float = STARTING) -> None:
        for servo in self._those(ids):
            servo.reboot(time.monotonic(), seconds=seconds)
            self._at(time.monotonic() + seconds, lambda: self._bus.advance(time.monotonic()))

    def _do_power(self, ids: list[int] | None, on: bool) -> None:
        for servo in self._those(ids):
            servo.power(on, time.monotonic())

    def _do_fail(self, ids: list[int] | None, bits: int) -> None:
        for servo in self._those(ids):
            servo.fail(bits)

    def _do_sense(self, ids: list[int] | None, **values: Any) -> None:
        for servo in self._those(ids):
            servo.sense(**values)

    def _do_change(self, ids: list[int] | None, values: dict[str, int]) -> None:
        for servo in self._those(ids):
            for name, value in values.items():
                servo.change(name, value, "test")

    def _do_place(self, ids: list[int] | None, counts: float) -> None:
        for servo in self._those(ids):
            servo.horn.place(counts)

    def _do_hold(self, ids: list[int] | None, is_held: bool) -> None:
        for servo in self._those(ids):
            servo.hold(is_held)

    def _do_unplug(self) -> None:
        self._port.unplug()
        self._note("event", time.monotonic(), 0, "unplugged")

    def _do_plug(self) -> None:
        self._port.plug()
        self._decoder.reset()
        self._note("event", time.monotonic(), 0, "plugged")


def _motion(servo: Servo) -> dict[str, Any]:
    horn = servo.horn
    servo.read(0, 1)  # what it says of itself is as of now
    return {
        "time": servo.now, "horn": horn.position, "velocity": horn.velocity, "goal": horn.goal,
        "fastest": horn.fastest, "torque": servo.is_on, "deaf": servo.is_deaf(),
    }  # fmt: skip


def _take_precedence() -> None:
    """Ask for a place before others on a busy machine."""
    gc.disable()  # nothing here makes cycles
    with contextlib.suppress(OSError, AttributeError):  # not allowed, or not this system
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


def _pairs(text: str) -> dict[int, int]:
    return {int(id): int(value) for id, value in (pair.split("=") for pair in text.split(",") if pair)}


def serve(kind: type[Server], models: Iterable[int], baud_rates: Iterable[int]) -> int:
    """Serve a chain; prints the port as JSON, then takes commands from standard input until it ends."""
    parser = argparse.ArgumentParser(description="A chain of simulated servos of its own, behind a pseudo-terminal.")
    parser.add_argument("--ids", type=int, nargs="+", default=[1, 2, 3, 4], help="of the servos")
    parser.add_argument("--model", type=int, default=1000, choices=sorted(models), help="model number of all")
    parser.add_argument("--models", type=_pairs, default={}, help="model numbers of some: 3=1060,4=1200")
    parser.add_argument("--baud", type=int, default=1_000_000, choices=tuple(baud_rates))
    parser.add_argument("--position", type=int, default=2048, help="where they stand [counts]")
    parser.add_argument("--positions", type=_pairs, default={}, help="where some stand: 3=1000,4=3000")
    parser.add_argument("--return-delay", type=int, default=0, help="[2 µs]")
    parser.add_argument("--firmware", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0, help="of random faults")
    parser.add_argument("--brief", action="store_true", help="log when packets came, not what they say: for hours")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the player
    server = kind(parser.parse_args())
    _take_precedence()
    server.run()
    return 0


if __name__ == "__main__":
    sys.exit(serve(Server, MODELS, BAUD_RATES))
