"""What came out of a retargeting, and its files."""

from __future__ import annotations

import csv
import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robik.errors import ClipError
from robik.files import write_whole
from robik.mechanism.model import Mechanism

if TYPE_CHECKING:
    from robik.retarget.speed_cost import SpeedCost


@dataclass(frozen=True)
class Report:
    """How well a motion follows its clip, per frame.

    Attributes:
        targets: names of the T frames' targets, columns of the errors below.
        position_error: (T, targets) distance [m]; NaN where a target has no position or no weight on it.
        orientation_error: (T, targets) angle [rad]; NaN likewise.
        com_error: (T,) distance along the weighted axes [m]; NaN without a CoM target.
        residual: (T,) largest closure residual [m]; rotations count by the robot's size.
        iterations: (T,) of the solver.
        velocity: (T, actuators) [rad/s or m/s], the step into each frame.
        velocity_limit: (actuators,) of the motors, infinite where unknown.
        milliseconds: (T,) of computing each frame.
        short: (frame, why) for each frame in which something was not met.
        speed_cost: what keeping speeds costs, None where no speed is held back or nobody asked.
    """

    targets: tuple[str, ...]
    position_error: np.ndarray
    orientation_error: np.ndarray
    com_error: np.ndarray
    residual: np.ndarray
    iterations: np.ndarray
    velocity: np.ndarray
    velocity_limit: np.ndarray
    milliseconds: np.ndarray
    short: tuple[tuple[int, str], ...]
    speed_cost: SpeedCost | None = None

    @property
    def too_fast(self) -> np.ndarray:
        """Indices of the frames that some actuator would have to enter faster than its motor can."""
        return np.flatnonzero((np.abs(self.velocity) > self.velocity_limit * (1 + 1e-6)).any(axis=1))


@dataclass(frozen=True)
class Motion:
    """A robot's motion: a column per actuator, and where it was solved the bodies' states and the report.

    Attributes:
        times: (T,) increasing [s].
        actuators: names (`Mechanism.actuators`).
        values: (T, actuators) [rad or m], without jumps of 2π.
        bodies: the bodies' names, in order, where states are known.
        position: (T, bodies, 3) of each body's own frame, world coordinates [m], or None.
        quaternion: (T, bodies, 4) likewise, unit quaternions wxyz, or None.
        com: (T, 3) the robot's centre of mass [m], or None.
        report: or None.
    """

    times: np.ndarray
    actuators: tuple[str, ...]
    values: np.ndarray
    bodies: tuple[str, ...] = ()
    position: np.ndarray | None = None
    quaternion: np.ndarray | None = None
    com: np.ndarray | None = None
    report: Report | None = None

    def __post_init__(self) -> None:
        times, values = np.asarray(self.times, dtype=float), np.asarray(self.values, dtype=float)
        if times.ndim != 1 or not len(times):
            raise ClipError("a motion needs at least one time")
        if values.shape != (len(times), len(self.actuators)):
            raise ClipError(f"a motion's values must have the shape ({len(times)}, {len(self.actuators)}), not {values.shape}")
        if not (np.isfinite(times).all() and np.isfinite(values).all()):
            raise ClipError("a motion's times and values must be finite")
        if len(times) > 1 and (np.diff(times) <= 0).any():
            k = int(np.argmax(np.diff(times) <= 0)) + 1
            raise ClipError(f"a motion's times must increase; sample {k} at {times[k]:g} s follows {times[k - 1]:g} s")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "actuators", tuple(self.actuators))

    def peak_velocity(self) -> dict[str, float]:
        """Largest speed between neighbouring samples [rad/s or m/s], per actuator."""
        if len(self.times) < 2:
            return dict.fromkeys(self.actuators, 0.0)
        speed = np.abs(np.diff(self.values, axis=0) / np.diff(self.times)[:, None]).max(axis=0)
        return dict(zip(self.actuators, speed.tolist(), strict=True))


def save_motion(motion: Motion, path: str | Path) -> None:
    """Writes `time` and a column per actuator as CSV, whole or not at all."""
    lines = [",".join(["time", *(_cell(a) for a in motion.actuators)])]
    for time, row in zip(motion.times.tolist(), motion.values.tolist(), strict=True):
        lines.append(",".join([repr(time), *(repr(v) for v in row)]))
    write_whole(path, "\n".join(lines) + "\n")


def load_motion(path: str | Path) -> Motion:
    """Reads what `save_motion` writes.

    Raises:
        ClipError: names the file, the line and the column that is wrong.
    """
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    except FileNotFoundError:
        raise ClipError(f"{path}: there is no such file") from None
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise ClipError(f"{path} is not a motion (.csv): {error}") from None
    if not rows or not rows[0] or rows[0][0] != "time":
        raise ClipError(f"{path}: the first line must name the columns, 'time' first, then the actuators")
    names, numbers = rows[0], []
    for k, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise ClipError(f"{path}, line {k}: {len(row)} columns where the first line names {len(names)}")
        try:
            numbers.append([float(cell) for cell in row])
        except ValueError as error:
            raise ClipError(f"{path}, line {k}: {error}") from None
    if not numbers:
        raise ClipError(f"{path}: there is no line with numbers")
    table = np.array(numbers)
    try:
        return Motion(table[:, 0], tuple(names[1:]), table[:, 1:])
    except ClipError as error:
        raise ClipError(f"{path}: {error}") from None


def values_for(mechanism: Mechanism, motion: Motion, source: str | Path) -> np.ndarray:
    """A motion's values (T, A) in the order of a robot's actuators.

    Raises:
        ClipError: names the source and the actuators that have no column.
    """
    if missing := [name for name in mechanism.actuators if name not in motion.actuators]:
        raise ClipError(f"{source}: no column for {', '.join(missing)} of robot {mechanism.name!r}")
    return motion.values[:, [motion.actuators.index(name) for name in mechanism.actuators]]


def save_states(motion: Motion, path: str | Path, residual: np.ndarray | None = None) -> None:
    """Writes `times`, `bodies`, `position` (T, n, 3) [m] and `quaternion` (T, n, 4) of the bodies' own frames as `.npz`, and where it is
    given the closure's `residual` (T,) [m]."""
    if motion.position is None or motion.quaternion is None:
        raise ClipError("this motion has no states; only a solved one, or one put through forward kinematics, has")
    states = {"times": motion.times, "bodies": np.array(motion.bodies), "position": motion.position, "quaternion": motion.quaternion}
    if residual is not None:
        states["residual"] = residual
    write_whole(path, lambda file: np.savez_compressed(file, **states))


def load_states(path: str | Path, motion: Motion, bodies: tuple[str, ...]) -> Motion:
    """The motion with the poses of its bodies, from what `save_states` writes.

    Raises:
        ClipError: names the file and what is wrong: no states, of other bodies, or of other times.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            times, names, position, quaternion = (file[key] for key in ("times", "bodies", "position", "quaternion"))
    except FileNotFoundError:
        raise ClipError(f"{path}: there is no such file") from None
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ClipError(f"{path} holds no states (.npz): {error}") from None
    if tuple(names.tolist()) != bodies:
        raise ClipError(f"{path}: these are states of other bodies than the robot's: {', '.join(names.tolist()[:4])}, …")
    if times.shape != motion.times.shape or np.abs(times - motion.times).max() > 1e-6:
        raise ClipError(f"{path}: its {len(times)} samples are not at the motion's {len(motion.times)} times")
    return replace(motion, bodies=bodies, position=position, quaternion=quaternion)


def report_summary(motion: Motion) -> dict:
    """The report as plain data, as `REPORT.json` holds it."""
    report = motion.report
    if report is None:
        raise ClipError("this motion has no report; only a solved one has")
    return {
        "frames": len(motion.times),
        "ms_per_frame_median": float(np.median(report.milliseconds)),
        "iterations_mean": float(np.mean(report.iterations)),
        "position_error_max_m": _worst(report.position_error),
        "position_error_mean_m": _mean(report.position_error),
        "orientation_error_max_rad": _worst(report.orientation_error),
        "com_error_max_m": _worst(report.com_error),
        "constraint_residual_max": float(report.residual.max()),
        "peak_velocity": motion.peak_velocity(),
        "frames_too_fast": report.too_fast.tolist(),
        "speed_cost": report.speed_cost.as_data() if report.speed_cost else None,
        "frames_short": [{"frame": int(k), "why": why} for k, why in report.short],
    }


def save_report(motion: Motion, path: str | Path) -> None:
    """Writes `report_summary` as JSON, whole or not at all."""
    write_whole(path, json.dumps(report_summary(motion), indent=2) + "\n")


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text


def _worst(values: np.ndarray) -> float:
    return float(np.nanmax(values)) if np.isfinite(values).any() else 0.0


def _mean(values: np.ndarray) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else 0.0
