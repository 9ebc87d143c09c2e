"""What the servos reported while they played, in a file, and how well they followed."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from ..errors import ServoError
from .chain import ServoChain
from .dynamixel.exchange import Telemetry

MOMENT = ("time", "on the way")
COLUMNS = ("goal", "position", "load", "celsius", "volts", "errors")
CURRENT = "current"  # [A], in load's place where the servo measures it; earlier versions wrote its load in its own unit


class Recorder:
    """Writes a line per look, from the first frame on: the time, where on the way, and for every servo what `COLUMNS` says.

    Args:
        path: a CSV file; what it held before is replaced.
        chain: whose servos.

    Raises:
        ServoError: the file cannot be written.
    """

    def __init__(self, path: str | Path, chain: ServoChain) -> None:
        self._path, self._chain = path, chain
        try:
            self._file: IO[str] = open(path, "w", newline="", encoding="utf-8")  # noqa: SIM115  (open as long as the recorder)
        except OSError as error:
            raise ServoError(f"the telemetry cannot be recorded to {path}: {error.strerror or error}") from None
        self._write = csv.writer(self._file).writerow
        self._write(_head(labels(chain), [servo.table.current_unit is not None for servo in chain.servos]))

    def add(self, time: float, at: float, goals: np.ndarray, seen: list[Telemetry]) -> None:
        """A look at all servos: when [s], where on the way [s], goals (n,) [counts] and what they reported."""
        wanted = self._chain.values(goals).tolist()
        present = self._chain.values(np.array([one.position for one in seen])).tolist()
        row = [f"{time:.6f}", f"{at:.6f}"]
        for servo, goal, position, one in zip(self._chain.servos, wanted, present, seen, strict=True):
            current = servo.amperes(one.load)
            load = str(one.load) if current is None else f"{current:.4f}"
            row += [f"{goal:.5f}", f"{position:.5f}", load, f"{one.celsius:.0f}", f"{one.volts:.1f}", str(one.errors)]
        self._write(row)

    def close(self) -> None:
        """Ends the file.

        Raises:
            ServoError: it cannot be written to its end.
        """
        try:
            self._file.close()
        except OSError as error:
            raise ServoError(f"the telemetry could not be recorded to {self._path}: {error.strerror or error}") from None


def check_writable(path: str | Path) -> None:
    """Make sure, before anything moves, that telemetry can be written to a file. What it holds stays.

    Raises:
        ServoError: it cannot.
    """
    is_new = not Path(path).exists()
    try:
        with open(path, "a", encoding="utf-8"):
            pass
        if is_new:
            Path(path).unlink()
    except OSError as error:
        raise ServoError(f"the telemetry cannot be recorded to {path}: {error.strerror or error}") from None


def labels(chain: ServoChain) -> list[str]:
    """A name for each servo: its actuator's, with the id where two servos share one."""
    return [name if chain.actuators.count(name) == 1 else f"{name} #{id}" for name, id in zip(chain.actuators, chain.ids, strict=True)]


def _head(names: Sequence[str], measured: Sequence[bool]) -> list[str]:
    """The first line; `measured` is whether a servo measures its current."""
    columns = [[CURRENT if column == "load" and amperes else column for column in COLUMNS] for amperes in measured]
    return [*MOMENT, *(f"{column} {name}" for name, own in zip(names, columns, strict=True) for column in own)]


@dataclass(frozen=True)
class Recording:
    """What `Recorder` wrote.

    Attributes:
        times: (K,) since the first frame [s].
        at: (K,) where on the way [s]: behind the time after a pause, and on and on in a loop.
        names: of the n servos.
        goal, position: (K, n) of the actuators [rad or m].
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
        """How far each servo is from its goal (K, n) [rad or m]."""
        return self.position - self.goal

    @property
    def lag(self) -> np.ndarray:
        """By how much each servo follows later than told (n,) [s]: error against speed, least squares; 0 where it never moves."""
        speed = np.gradient(self.goal, self.times, axis=0) if len(self.times) > 1 else np.zeros_like(self.goal)
        power = (speed**2).sum(axis=0)
        return np.where(power > 0, -(self.error * speed).sum(axis=0) / np.where(power > 0, power, 1.0), 0.0)


def load_recording(path: str | Path) -> Recording:
    """Reads what `Recorder` wrote.

    Raises:
        ServoError: there is no such file, or it is something else.
    """
    try:
        with open(path, newline="", encoding="utf-8") as file:
            head, *rows = list(csv.reader(file))
        table = np.array(rows, dtype=float).reshape(len(rows), len(head))
    except (OSError, ValueError) as error:
        raise ServoError(f"{path} is not a recording of telemetry: {error}") from None
    names = tuple(cell.removeprefix("goal ") for cell in head[len(MOMENT) :: len(COLUMNS)])
    measured = [f"{CURRENT} {name}" in head for name in names]
    if head != _head(names, measured) or not rows:
        raise ServoError(
            f"{path} is not a recording of telemetry: its first line must be {', '.join(MOMENT)}, then for each servo {', '.join(COLUMNS)}"
        )
    goal, position, load, *others = [table[:, len(MOMENT) + k :: len(COLUMNS)] for k in range(len(COLUMNS))]
    loads = np.where(measured, np.nan, load), np.where(measured, load, np.nan)
    return Recording(table[:, 0], table[:, 1], names, goal, position, *loads, *others)
