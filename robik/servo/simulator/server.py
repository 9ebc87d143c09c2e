"""The simulated chain behind a port, here or in a process of its own, with the faults that tests ask for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from ... import program
from ...errors import ServoError
from ..chain import BITS_PER_BYTE, ServoChain
from ..chain_file import load_chain, save_chain
from ..driver import driver_of
from ..schedule import take_precedence
from .clock import Clock
from .imu import SimulatedImu
from .port import Noise, PseudoTerminal, Socket
from .simulated import Answer, GoalRecord, Simulated, SimulatedBus

POLL = 0.1  # [s] between looks at whether to end
SHORTEST_SLEEP = 1e-4  # [s]; less than what a sleep itself takes
START_TIMEOUT = 20.0  # [s] for the child to come up, on a busy machine
HEAVIEST = 2.0  # load from outside, of the greatest torque


class Server:
    """A simulated chain at a port, until it is ended.

    Args:
        chain: what to simulate, of one brand.
        port: where.
        record: a file that gets a line `time,id,counts` per goal position that a servo takes.
        imu: the simulated sensor on a port of its own; None where there is none.

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
        """Read commands, a line each, until there are no more; then end the server.

        `silent ID`, `answer ID`, `error ID BITS`, `block ID`, `free ID`, `load ID SHARE`, `place ID COUNTS`,
        `set ID ENTRY VALUE`, `sense ID VOLTS CELSIUS`, `reboot ID`; `noise KIND AMOUNT` for a kind of `Noise`,
        `unplug`, `plug`; `state` and `traffic` reply with a line of JSON. A load is torque from outside, as a share of
        the servo's greatest, positive towards larger counts. `hold` lets the servos' time stand still, whatever the
        machine does: motion, profiles, watchdogs, reboots, overloads, and the silence after which half a packet is
        forgotten; `pass SECONDS` lets exactly that much of it pass. What bytes take on the bus stays real. `renew` puts
        new servos there, empties the record, and lets time go again. `imu …` goes to the sensor
        (`SimulatedImu.command`).

        Args:
            commands: A line each.
            replies: Gets a line of JSON for each.
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


class SimulatorProcess:
    """A simulated chain in a process of its own, which ends with this one.

    Args:
        servos: a `*.servos.json` file.
        record: see `Server`.
        over_socket: on a socket; else behind a pseudo-terminal where the system has them.

    Attributes:
        port: of the servos.
        imu_port: of the sensor beside the bus; empty where there is none, or where it is on the bus.

    Raises:
        ServoError: it did not start, with its own words for why.
    """

    def __init__(self, servos: str | Path, record: str | Path | None = None, over_socket: bool = False) -> None:
        arguments = [str(servos), *(["--record", str(record)] if record else [])]
        arguments += ["--socket"] if over_socket or not hasattr(os, "openpty") else []
        self._process = subprocess.Popen(
            program.command("servo.simulator.server", *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=program.environment(),
            start_new_session=True,  # Ctrl-C is for the player, which still needs the servos to stop on
        )
        timer = threading.Timer(START_TIMEOUT, self._process.kill)
        timer.start()
        assert self._process.stdout is not None
        self.port = self._process.stdout.readline().strip()
        self.imu_port = self._process.stdout.readline().strip()
        timer.cancel()
        if not self.port:
            words = self._last_words()
            self.end()
            raise ServoError(f"the simulated chain did not start: {words}")

    @classmethod
    def of(cls, chain: ServoChain, record: str | Path | None = None) -> SimulatorProcess:
        """Return a simulated chain, from memory.

        Args:
            chain: The chain of servos.
            record: File for the goals that servos take, or None.

        Returns:
            The simulator, which runs.
        """
        with TemporaryDirectory() as folder:
            path = Path(folder) / "chain.servos.json"
            save_chain(chain, path)
            return cls(path, record)

    def command(self, line: str) -> Any:
        """Let the server do something.

        Args:
            line: A command that `Server.obey` lists.

        Returns:
            Its reply.

        Raises:
            ServoError: It cannot be done, or the server has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise ServoError(f"the simulated chain has ended: {self._last_words()}")
        reply = json.loads(answer)
        if isinstance(reply, dict) and "error" in reply:
            raise ServoError(f"the simulated chain: {reply['error']}")
        return reply

    def _last_words(self) -> str:
        assert self._process.stderr is not None
        words = self._process.stderr.read().strip().splitlines()
        return words[-1] if words else "it said nothing"

    def unplug(self) -> None:
        """Pull the adapter out."""
        self.command("unplug")

    def plug(self) -> None:
        """Put it in again; `port` is another one then."""
        self.port = self.command("plug")["port"]

    def hold(self) -> None:
        """Let the servos' time stand still until `renew`."""
        self.command("hold")

    def let_pass(self, seconds: float) -> None:
        """Let some of the servos' time pass, which is held.

        Args:
            seconds: How much [s].
        """
        self.command(f"pass {seconds!r}")

    def state(self) -> dict[int, dict[str, float]]:
        """Return the state of every servo by id, without a packet on the bus.

        Position [counts], velocity [counts/s], some entries of its table, and by the servos' clock when it last heard a
        packet and when it last moved [s].
        """
        return {int(id): entries for id, entries in self.command("state").items()}

    def kill(self) -> None:
        """End it at once, as if the cable were pulled."""
        self._process.kill()
        self.end()

    def end(self) -> None:
        """End it and wait until it is gone."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                _close(pipe)
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> SimulatorProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def _close(pipe: IO[str]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return  # the process was gone before what was written to it


def main(arguments: list[str]) -> int:
    """Serve a chain: its port in the first line, its sensor's in the second, commands on standard input until it ends.

    Args:
        arguments: FILE [--record FILE] [--socket].

    Returns:
        The exit code.
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
