"""Recordings of the servos' reports while they played."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain as chained
from itertools import count
from pathlib import Path
from typing import IO

import numpy as np

from ...errors import ServoError
from ..bus.telemetry import Telemetry
from ..chain.chain import ServoChain
from .response import lag_of

MOMENT = ("time", "on the way")
COLUMNS = ("goal", "position", "load", "celsius", "volts", "errors")
CURRENT = "current"  # [A], in load's place where the servo measures it; earlier versions wrote its load in its own unit


class Recorder:
    """Recorder of a line per look, from the first frame on.

    A line has the time, the place on the way, and `COLUMNS` of every servo that was seen. The CSV file is made at
    the first look. A file that is there already stays: the new one then gets the next free name beside it.

    Attributes:
        said: what became of the recording where it is not what was asked for, in words; empty otherwise.
    """

    def __init__(self, path: str | Path, chain: ServoChain) -> None:
        self._path, self._chain, self.said = Path(path), chain, ""
        self._file: IO[str] | None = None
        self._is_over = False

    def add(self, time: float, at: float, goals: np.ndarray, seen: Sequence[Telemetry | None]) -> None:
        """Write a look at a time [s] and place on the way [s], with goals (n,) [counts].

        A servo that was not looked at is None in `seen`. Where writing fails the recording ends, and nothing else
        does.
        """
        if self._is_over:
            return
        wanted = self._chain.values(goals).tolist()
        present = self._chain.values(np.array([0 if one is None else one.position for one in seen])).tolist()
        row = [f"{time:.6f}", f"{at:.6f}"]
        for servo, goal, position, one in zip(self._chain.servos, wanted, present, seen, strict=True):
            if one is None:
                row += [""] * len(COLUMNS)
                continue
            current = servo.amperes(one.load)
            load = str(one.load) if current is None else f"{current:.4f}"
            row += [f"{goal:.5f}", f"{position:.5f}", load, f"{one.celsius:.0f}", f"{one.volts:.1f}", str(one.errors)]
        try:
            if self._file is None:
                self._file = self._open()
            csv.writer(self._file).writerow(row)
        except OSError as error:
            self._give_up(error)

    def _open(self) -> IO[str]:
        """Return the file of a new take, with its first line."""
        for path in chained([self._path], (self._path.with_stem(f"{self._path.stem}-{k}") for k in count(2))):
            try:
                file = open(path, "x", newline="", encoding="utf-8")  # noqa: SIM115  (open as long as the recorder)
            except FileExistsError:
                continue
            if path != self._path:
                self.said = f"the telemetry is in {path}, since {self._path} holds an earlier take"
            csv.writer(file).writerow(
                _head(labels(self._chain), [s.datasheet.current_unit is not None for s in self._chain.servos])
            )
            return file
        raise AssertionError("numbers never end")

    def close(self) -> None:
        """End the file."""
        try:
            if self._file is not None:
                self._file.close()
        except OSError as error:
            self._give_up(error)
        if self._file is None and not self._is_over:
            self.said = "no telemetry was recorded: it ended before any servo was looked at"
        self._is_over = True

    def _give_up(self, error: OSError) -> None:
        if self._is_over:
            return
        self._is_over = True
        self.said = f"the recording of telemetry ended early: {error.strerror or error}"
        if self._file is not None:
            with suppress(OSError):
                self._file.close()


@contextmanager
def recorded(
    path: str, chain: ServoChain, said: Callable[[str], None]
) -> Iterator[Callable[[float, float, np.ndarray, Sequence[Telemetry | None]], None] | None]:
    """Record within this context, and yield the function that records a look; None without a path.

    At the end `said` is called with what became of the recording, where it is not as asked.
    """
    if not path:
        yield None
        return
    recorder = Recorder(path, chain)
    try:
        yield recorder.add
    finally:
        recorder.close()
        said(recorder.said)


def check_writable(path: str | Path, what: str = "telemetry") -> None:
    """Check, before anything moves, that a file can be written; its content stays.

    A ServoError calls the content `what`.
    """
    is_new = not Path(path).exists()
    try:
        with open(path, "a", encoding="utf-8"):
            pass
        if is_new:
            Path(path).unlink()
    except OSError as error:
        raise ServoError(f"the {what} cannot be recorded to {path}: {error.strerror or error}") from None


def labels(chain: ServoChain) -> list[str]:
    """Return a name for each servo: its actuator's, with the id where two servos share one."""
    return [
        name if chain.actuators.count(name) == 1 else f"{name} #{id}"
        for name, id in zip(chain.actuators, chain.ids, strict=True)
    ]


def _head(names: Sequence[str], measured: Sequence[bool]) -> list[str]:
    """Return the first line; `measured` is whether a servo measures its current."""
    columns = [[CURRENT if column == "load" and amperes else column for column in COLUMNS] for amperes in measured]
    return [*MOMENT, *(f"{column} {name}" for name, own in zip(names, columns, strict=True) for column in own)]


@dataclass(frozen=True)
class Recording:
    """Content of a recording: see `Recorder`.

    Attributes:
        times: (K,) since the first frame [s].
        at: (K,) where on the way [s]: behind the time after a pause, and on and on in a loop.
        names: of the n servos.
        goal, position: (K, n) of the actuators [rad or m]; NaN, as everything else, where a servo was not looked at.
        load: (K, n) in the servos' own unit; NaN where there is a current.
        current: (K, n) [A]; NaN where there is a load.
        celsius, volts: (K, n).
        errors: (K, n) bits.
    """

    times: np.ndarray
    at: np.ndarray
    names: tuple[str, ...]
    goal: np.ndarray
    position: np.ndarray
    load: np.ndarray
    current: np.ndarray
    celsius: np.ndarray
    volts: np.ndarray
    errors: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """Return how far each servo is from its goal (K, n) [rad or m]."""
        return self.position - self.goal

    @property
    def lag(self) -> np.ndarray:
        """By how much each servo follows later than told (n,) [s]: error against speed, least squares.

        0 where it never moves.
        """
        return np.array([self._lag_of(k) for k in range(len(self.names))])

    def _lag_of(self, k: int) -> float:
        seen = np.isfinite(self.position[:, k])
        return lag_of(self.times[seen], self.goal[seen, k], self.position[seen, k])


def load_recording(path: str | Path) -> Recording:
    """Read what `Recorder` wrote; raise ServoError if there is no such file, or it is something else."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            head, *rows = list(csv.reader(file))
        table = np.array([[cell or "nan" for cell in row] for row in rows], dtype=float).reshape(len(rows), len(head))
    except (OSError, ValueError, csv.Error) as error:
        raise ServoError(f"{path} is not a recording of telemetry: {error}") from None
    names = tuple(cell.removeprefix("goal ") for cell in head[len(MOMENT) :: len(COLUMNS)])
    measured = [f"{CURRENT} {name}" in head for name in names]
    if head != _head(names, measured) or not rows:
        raise ServoError(
            f"{path} is not a recording of telemetry: its first line must be {', '.join(MOMENT)}, then for each servo"
            f" {', '.join(COLUMNS)}"
        )
    goal, position, load, *others = [table[:, len(MOMENT) + k :: len(COLUMNS)] for k in range(len(COLUMNS))]
    loads = np.where(measured, np.nan, load), np.where(measured, load, np.nan)
    return Recording(table[:, 0], table[:, 1], names, goal, position, *loads, *others)
