"""A chain of independent servos as a test has it; run as a script, the chain itself."""

from __future__ import annotations

import contextlib
import json
import runpy
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
SERVER = "tests.servo.independent.server"

if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    runpy.run_module(SERVER, run_name="__main__")

from .log import Log  # noqa: E402  (a script has no package to import from)

ENDING = 3.0  # [s] that the process gets to end by itself


class ChainError(Exception):
    """The chain's process refuses a command, or has ended."""


class IndependentChain:
    """Servos behind a pseudo-terminal, in a process of their own.

    Args:
        ids: of the servos.
        model: their model number: 1000 XH430-W350, 1010 XH430-W210, 1020 XM430-W350, 1060 XL430-W250,
            1200 XL330-M288.
        models: the model numbers of those that are another.
        baud: rate of all.
        position: where they stand at the start [counts].
        positions: where those stand that stand elsewhere.
        return_delay: of their answers [2 µs].
        firmware: version.
        seed: of random faults.
        brief: whether its log leaves out goals and what packets say, as for a show of hours.

    Commands take the ids of the servos that they are for, one or several; None is all. With `after` [s] they are done
    later, by the chain's own clock.

    Attributes:
        port: path to open.
    """

    server = SERVER

    def __init__(
        self,
        ids: Sequence[int] = (1, 2, 3, 4),
        model: int = 1000,
        *,
        models: dict[int, int] | None = None,
        baud: int = 1_000_000,
        position: int = 2048,
        positions: dict[int, int] | None = None,
        return_delay: int = 0,
        firmware: int = 46,
        seed: int = 0,
        brief: bool = False,
    ) -> None:
        options = {"model": model, "baud": baud, "position": position, "seed": seed}
        options |= {"return-delay": return_delay, "firmware": firmware}
        pairs = {"models": models or {}, "positions": positions or {}}
        command = [sys.executable, "-S", "-m", self.server, "--ids", *map(str, ids)]
        command += [f"--{name}={value}" for name, value in options.items()]
        for name, those in pairs.items():
            command.append(f"--{name}=" + ",".join(f"{id}={value}" for id, value in those.items()))
        command += ["--brief"] * brief
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._asking = threading.Lock()
        self._log, self._read = Log(), 0
        self.port: str = self._answer()["port"]

    def __enter__(self) -> IndependentChain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the chain."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended before
            self._process.stdin.close()
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(Path(self.port).parent, ignore_errors=True)  # it does so itself, unless it was killed

    @property
    def pid(self) -> int:
        """Of the chain's process."""
        return self._process.pid

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChainError("the chain's process has ended")
        return json.loads(line)

    def _ask(self, do: str, after: float = 0.0, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        line = json.dumps({"do": do, "after": after, **arguments}).encode() + b"\n"
        with self._asking:
            with contextlib.suppress(BrokenPipeError):  # which reading tells better
                self._process.stdin.write(line)
                self._process.stdin.flush()
            answer = self._answer()
        if "error" in answer:
            raise ChainError(answer["error"])
        return answer["ok"]

    # what happened

    @property
    def log(self) -> Log:
        """All that happened until now."""
        while True:
            piece = self._ask("log", since=self._read)
            self._log.extend(piece["entries"])
            self._read += len(piece["entries"])
            if self._read >= piece["size"]:
                return self._log

    def look(self, id: int) -> tuple[float, float, float]:
        """Return the chain's time [s], and where a horn is [counts] and how fast [counts/s] then."""
        servo = self._ask("state", ids=[id])[str(id)]
        return servo["time"], servo["horn"], servo["velocity"]

    def state(self) -> dict[int, dict[str, Any]]:
        """Return what each servo is like, by id: time, horn, velocity, goal, fastest, torque, deaf, entries."""
        return {int(id): state for id, state in self._ask("state", ids=None).items()}

    def motion(self) -> dict[int, dict[str, Any]]:
        """Return the same without entries, for who looks often."""
        return {int(id): state for id, state in self._ask("motion").items()}

    def registers(self, id: int) -> dict[str, int]:
        """Return the entries of a servo, as it would answer."""
        return self.state()[id]["entries"]

    @property
    def powered(self) -> set[int]:
        """Ids of the servos whose torque is on."""
        return {id for id, state in self.motion().items() if state["torque"]}

    def mark(self) -> None:
        """Begin to look for the fastest horns from here."""
        self._ask("mark")

    def fastest(self) -> dict[int, float]:
        """Return the greatest speed of each horn since the mark [counts/s]."""
        return {id: state["fastest"] for id, state in self.motion().items()}

    # faults

    def faults(self, ids: int | Sequence[int] | None = None, after: float = 0.0, **changes: Any) -> None:
        """Let something be wrong with answers and writes: see `script.ServoFaults`."""
        self._ask("faults", after, ids=_several(ids), changes=changes)

    def mend(self, ids: int | Sequence[int] | None = None, after: float = 0.0) -> None:
        """Let nothing be wrong with answers and writes any more."""
        self._ask("mend", after, ids=_several(ids))

    def line(self, after: float = 0.0, **changes: Any) -> None:
        """Let something be wrong with the adapter or the cable: see `script.LineFaults`."""
        self._ask("line", after, changes=changes)

    def babble(self, data: bytes, after: float = 0.0) -> None:
        """Deliver bytes that no servo sent."""
        self._ask("babble", after, data=data.hex())

    def reboot(self, ids: int | Sequence[int] | None = None, after: float = 0.0, seconds: float = 0.5) -> None:
        """Let servos start again, deaf for some time [s]."""
        self._ask("reboot", after, ids=_several(ids), seconds=seconds)

    def power_off(self, ids: int | Sequence[int] | None = None, after: float = 0.0) -> None:
        """Let servos lose their power."""
        self._ask("power", after, ids=_several(ids), on=False)

    def power_on(self, ids: int | Sequence[int] | None = None, after: float = 0.0) -> None:
        """Let servos get their power back."""
        self._ask("power", after, ids=_several(ids), on=True)

    def fail(self, ids: int | Sequence[int] | None, bits: int, after: float = 0.0) -> None:
        """Let servos have a hardware error: 0x01 voltage, 0x04 heat, 0x08 encoder, 0x10 shock, 0x20 overload."""
        self._ask("fail", after, ids=_several(ids), bits=bits)

    def sense(self, ids: int | Sequence[int] | None = None, after: float = 0.0, **values: float) -> None:
        """Let servos feel `celsius` [°C], `volts` [V] and `load` [units of current or 0.1 %].

        Heat and supply beyond their limits are a hardware error.
        """
        self._ask("sense", after, ids=_several(ids), **values)

    def change(self, ids: int | Sequence[int] | None = None, after: float = 0.0, **values: int) -> None:
        """Change entries of servos, as somebody else would: no rules, but the effects of writing."""
        self._ask("change", after, ids=_several(ids), values=values)

    def place(self, ids: int | Sequence[int] | None, counts: float, after: float = 0.0) -> None:
        """Turn horns by hand."""
        self._ask("place", after, ids=_several(ids), counts=counts)

    def hold(self, ids: int | Sequence[int] | None = None, after: float = 0.0) -> None:
        """Block horns."""
        self._ask("hold", after, ids=_several(ids), is_held=True)

    def release(self, ids: int | Sequence[int] | None = None, after: float = 0.0) -> None:
        """Let blocked horns go; they catch up at full speed."""
        self._ask("hold", after, ids=_several(ids), is_held=False)

    def unplug(self, after: float = 0.0) -> None:
        """Let the port vanish."""
        self._ask("unplug", after)

    def plug(self, after: float = 0.0) -> None:
        """Let the port come back, under the same name."""
        self._ask("plug", after)


def _several(ids: int | Sequence[int] | None) -> list[int] | None:
    return None if ids is None else [ids] if isinstance(ids, int) else list(ids)
