"""Results of solving a motion, as files: `REPORT.json` and `STATES.npz`."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from ..arrays import listed, numbers, pack, read_npz, texts
from ..errors import ClipError, FormatError
from ..files import read_whole, write_whole
from .motion import Motion

MOST = 2_000_000_000  # bytes of a file of states
STATES = ("times", "bodies", "position", "quaternion")


def report_summary(motion: Motion) -> dict:
    """Return the report as plain data, as `REPORT.json` holds it.

    Args:
        motion: The motion.

    Returns:
        A value per key of `REPORT.json`.

    Raises:
        ClipError: The motion has no report.
    """
    report = motion.report
    if report is None:
        raise ClipError("this motion has no report; only a solved one has")
    return {
        "frames": len(motion.times),
        **_times(report.milliseconds),
        "iterations_mean": float(np.mean(report.iterations)),
        "position_error_max_m": _worst(report.position_error),
        "position_error_mean_m": _mean(report.position_error),
        "orientation_error_max_rad": _worst(report.orientation_error),
        "com_error_max_m": _worst(report.com_error),
        "constraint_residual_max": float(report.residual.max()),
        "rounding_m": report.rounding,
        "peak_velocity": motion.peak_velocity(),
        "peak_acceleration": dict(
            zip(motion.actuators, np.abs(report.acceleration).max(axis=0, initial=0.0).tolist(), strict=False)
        ),
        "peak_jerk": dict(zip(motion.actuators, np.abs(report.jerk).max(axis=0, initial=0.0).tolist(), strict=False)),
        "look_ahead": report.look_ahead.as_data() if report.look_ahead else None,
        "frames_too_fast": report.too_fast.tolist(),
        "frames_jumping": report.jumping.tolist(),
        "speed_cost": report.speed_cost.as_data() if report.speed_cost else None,
        "quality": asdict(report.quality),
        "penetration": report.penetration.as_data() if report.penetration else None,
        "hold": report.hold.as_data() if report.hold else None,
        "moved_footholds": [item.as_data() for item in report.moved],
        "adjustments": [item.as_data() for item in report.adjustments],
        "seconds": dict(report.seconds),
        "frames_nearly": report.nearly.tolist(),
        "frames_short": [{"frame": int(k), "why": why} for k, why in report.short],
        "objectives": [
            {
                "name": error.key,
                f"error_max_{error.unit}": _worst(error.values),
                f"error_mean_{error.unit}": _mean(error.values),
            }
            for error in report.objectives
        ],
    }


def _times(milliseconds: np.ndarray) -> dict[str, float]:
    """Return the figures of the frames' times (T,) [ms]."""
    return {
        "ms_per_frame_median": float(np.median(milliseconds)),
        "ms_per_frame_mean": float(np.mean(milliseconds)),
        "ms_per_frame_p99": float(np.percentile(milliseconds, 99)),
        "ms_per_frame_worst": float(milliseconds.max()),
    }


def save_report(motion: Motion, path: str | Path) -> None:
    """Write `report_summary` as JSON, whole or not at all.

    Args:
        motion: The motion.
        path: The file to be written, for its name.

    Raises:
        ClipError: The motion has no report.
        FormatError: The file cannot be written.
    """
    write_whole(path, json.dumps(report_summary(motion), indent=2) + "\n")


def save_states(motion: Motion, path: str | Path, residual: np.ndarray | None = None) -> None:
    """Write the poses of a motion's bodies as `.npz`.

    Its arrays are `times` (T,) [s], `bodies` (n,), `position` (T, n, 3) [m] and `quaternion` (T, n, 4) wxyz.

    Args:
        motion: with its bodies' poses.
        path: of the file.
        residual: (T,) of the loops' closure [m], which is written too if it is given.

    Raises:
        ClipError: the motion has no states.
        FormatError: the file cannot be written.
    """
    if motion.position is None or motion.quaternion is None:
        raise ClipError("this motion has no states; only a solved one, or one put through forward kinematics, has")
    states = {
        "times": motion.times,
        "bodies": np.array(motion.bodies),
        "position": motion.position,
        "quaternion": motion.quaternion,
    }
    if residual is not None:
        states["residual"] = residual
    content = pack(states)
    write_whole(path, lambda file: file.write(content))


def load_states(path: str | Path, motion: Motion, bodies: tuple[str, ...]) -> Motion:
    """Return the motion with the poses of its bodies, from what `save_states` writes.

    Args:
        path: Of the file.
        motion: At the same times.
        bodies: The names that the file must have.

    Returns:
        The motion, with bodies' poses.

    Raises:
        ClipError: Names the file and what is wrong: no states, of other bodies, or of other times.
    """
    try:
        arrays = read_npz(read_whole(path, MOST), STATES)
        times, names = numbers(arrays, "times"), texts(arrays, "bodies")
        if names != bodies:
            raise ClipError(f"these are states of other bodies than the robot's: {listed(names)}")
        if times.shape != motion.times.shape or np.abs(times - motion.times).max() > 1e-6:
            raise ClipError(f"its {times.size} samples are not at the motion's {len(motion.times)} times")
        position, quaternion = (
            numbers(arrays, name, (len(times), len(bodies), width))
            for name, width in (("position", 3), ("quaternion", 4))
        )
    except (ClipError, FormatError) as error:
        raise ClipError(f"{path}: {error}") from None
    return replace(motion, bodies=bodies, position=position, quaternion=quaternion)


def _worst(values: np.ndarray) -> float:
    return float(np.nanmax(values)) if np.isfinite(values).any() else 0.0


def _mean(values: np.ndarray) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else 0.0
