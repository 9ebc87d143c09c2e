"""The simulated chain behind a port, with the faults that tests ask for."""

from __future__ import annotations

import json
import sys
import threading
import time
from math import nan
from pathlib import Path
from typing import IO, Any

from ...errors import ServoError
from ..brands.driver import driver_of
from ..bus.schedule import take_precedence
from ..chain.chain import BITS_PER_BYTE, ServoChain
from ..chain.file import load_chain
from .clock import Clock
from .imu import SimulatedImu
from .port import Noise, PseudoTerminal, Socket
from .simulated import Answer, GoalRecord, Simulated, SimulatedBus

POLL = 0.1  # [s] between looks at whether to end
SHORTEST_SLEEP = 1e-4  # [s]; less than what a sleep itself takes
HEAVIEST = 2.0  # load from outside, of the greatest torque


class Server:
    """A simulated chain of one brand at a port, until it is ended.

    `record` is a file that gets a line `time,id,counts` per goal position that a servo takes, `imu` the simulated
    sensor on a port of its own.

    Attributes:
        traffic: bytes that came in and were dealt with, and bytes that were sent in answer.
    """

    def __init__(
        self,
        chain: ServoChain,
        port: PseudoTerminal | Socket,
        record: str | Path | None = None,
        imu: SimulatedImu | None = None,
    ) -> None:
        self.port, self._imu = port, imu
        self.traffic = (0, 0)
        self._chain = chain
        self._record: IO[str] | None = open(record, "w", encoding="ascii") if record else None  # noqa: SIM115  (open as long as the server)
        self.clock, self.noise = Clock(), Noise()
        self.simulated = self._new()
        self._free = 0.0  # when the bus is [s]
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def _new(self) -> SimulatedBus:
        driver = driver_of(self._chain.brand.name)
        return driver.simulate(self._chain, self.clock.now, self._write_record if self._record else None)

    @property
    def name(self) -> str:
        """The port behind which the servos are."""
        return self.port.name

    def run(self) -> None:
        """Serve until `end`."""
        take_precedence()  # servos do not wait for anybody's computer
        while not self._ended.is_set():
            self._serve_some()
        self._flush()

    def _serve_some(self) -> None:
        data = self.port.read(POLL)
        if not data:
            self._flush()
            return
        heard = self.noise.spoil(data)
        with self._lock:
            answers = self.simulated.receive(heard, self.clock.now, self.port.baud_rate)
            self._occupy(len(data))
        sent = self._send(answers)
        self.traffic = (self.traffic[0] + len(data), self.traffic[1] + sent)

    def end(self) -> None:
        """Make `run` return."""
        self._ended.set()

    def obey(self, commands: IO[str], replies: IO[str]) -> None:
        """Read commands, a line each, and reply with a line of JSON, until there are no more; then end the server.

        `silent ID`, `answer ID`, `error ID BITS`, `block ID`, `free ID`, `load ID SHARE`, `place ID COUNTS`, `set
        ID ENTRY VALUE`, `sense ID VOLTS CELSIUS`, `reboot ID`; `noise KIND AMOUNT` for a kind of `Noise`, `unplug`,
        `plug`; `state` and `traffic` reply with a line of JSON. A load is torque from outside, as a share of the
        servo's greatest, positive towards larger counts. `hold` lets the servos' time stand still, whatever the
        machine does: motion, profiles, watchdogs, reboots, overloads, and the silence after which half a packet is
        forgotten; `pass SECONDS` lets exactly that much of it pass. What bytes take on the bus stays real. `renew`
        puts new servos there, empties the record, and lets time go again. `imu …` goes to the sensor
        (`SimulatedImu.command`).
        """
        for line in commands:
            with self._lock:
                try:
                    reply = self._command(line.split())
                except (ValueError, KeyError) as error:
                    reply = {"error": f"cannot do {line.strip()!r}: {error}"}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()
        self.end()

    def _command(self, words: list[str]) -> Any:
        self._advance()
        match words:
            case ["state"]:
                self._flush()
                return {servo.id: servo.state() for servo in self.simulated.servos}
            case ["traffic"]:
                return self.traffic
            case ["hold"]:
                self.clock.hold()
            case ["pass", seconds]:
                self.clock.let_pass(float(seconds))
                self._advance()
            case ["imu", *rest] if (imu := self._imu or self.simulated.board) is not None and imu.command(rest):
                return {}
            case ["renew"]:
                self._renew()
            case ["noise", "drop" | "corrupt" | "duplicate" | "late" as kind, amount]:
                setattr(self.noise, kind, float(amount))
            case ["unplug"]:
                self.port.unplug()
            case ["plug"]:
                self.port.plug()
                return {"port": self.port.name}
            case [verb, id, *rest] if id.isdecimal() and _pull(self._servo(int(id)), verb, rest, self.clock.now):
                return {}
            case _:
                return {"error": f"unknown command {' '.join(words)!r}"}
        return {}

    def _servo(self, id: int) -> Simulated:
        """Raise ValueError: it is not on the chain."""
        for servo in self.simulated.servos:
            if servo.id == id:
                return servo
        raise ValueError(f"there is no servo {id}")

    def _advance(self) -> None:
        for servo in self.simulated.servos:
            servo.advance(self.clock.now)

    def _renew(self) -> None:
        self.clock, self.noise = Clock(), Noise()
        self.simulated = self._new()
        if self._record:
            self._record.seek(0)
            self._record.truncate()

    def _occupy(self, size: int, seconds: float = 0.0) -> None:
        """Bytes take their time on the bus, and what comes after them waits."""
        self._free = max(self._free, time.perf_counter()) + seconds + size * BITS_PER_BYTE / self._chain.baud_rate

    def _send(self, answers: list[Answer]) -> int:
        """Return how many bytes go out: together, as an adapter hands them over.

        A sleep for each would cost far more than it should.
        """
        if not answers:
            return 0
        self._occupy(0, sum(answer.seconds for answer in answers) + self.noise.delay)
        if (seconds := self._free - time.perf_counter()) > SHORTEST_SLEEP:
            time.sleep(seconds)
        data = self.noise.spoil(b"".join(answer.data for answer in answers))
        self.port.write(data)
        return len(data)

    def _write_record(self, goal: GoalRecord) -> None:
        assert self._record is not None
        self._record.write(f"{goal.time:.6f},{goal.id},{goal.counts}\n")

    def _flush(self) -> None:
        if self._record:
            self._record.flush()


def _pull(servo: Simulated, verb: str, words: list[str], now: float) -> bool:
    """Run one test command. Return False if it is unknown."""
    match verb, words:
        case "silent", []:
            servo.silent = True
        case "answer", []:
            servo.silent = False
        case "error", [bits]:
            servo.raise_error(int(bits, 0))
        case "block", []:
            servo.motor.blocked = True
        case "free", []:
            servo.motor.blocked = False
        case "load", [share]:
            servo.motor.load = _load(share)
        case "place", [counts]:
            servo.motor.position = float(counts)
            servo.motor.halt()
        case "set", [entry, value]:
            servo.set(entry, int(value))
        case "sense", [volts, celsius]:
            servo.sense(float(volts), float(celsius))
        case "reboot", []:
            servo.reboot(now)
        case _:
            return False
    return True


def _load(share: str) -> float:
    """Raise ValueError: it is no number, or beyond all sense."""
    try:
        load = float(share)
    except ValueError:
        load = nan
    if not abs(load) <= HEAVIEST:
        raise ValueError(f"a load is a share of the greatest torque, from -{HEAVIEST:g} to {HEAVIEST:g}")
    return load


def main(arguments: list[str]) -> int:
    """Serve a chain by the arguments FILE [--record FILE] [--socket], and return the exit code.

    Its port is in the first line, its sensor's in the second; commands come on standard input until it ends.
    """
    record = arguments[arguments.index("--record") + 1] if "--record" in arguments else None
    try:
        chain = load_chain(arguments[0])
        over_socket = "--socket" in arguments
        imu = SimulatedImu(chain.imu, over_socket) if chain.imu is not None and not chain.imu.is_on_bus else None
        server = Server(chain, Socket() if over_socket else PseudoTerminal(), record, imu)
    except (ServoError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(server.port.name, imu.port.name if imu else "", sep="\n", flush=True)
    threading.Thread(target=server.obey, args=(sys.stdin, sys.stdout), daemon=True).start()
    server.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
