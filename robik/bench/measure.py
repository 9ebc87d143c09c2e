"""Measurement of the cases, and the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..clocks import cpu_seconds
from ..motions import Motion, report_summary
from ..retargeting.retarget import retarget
from .cases import Case, cases

REPEATS = 3
COLUMNS = (
    ("paper_ms", "paper, ms", 1.0),
    ("ms_per_frame_median", "ms: median", 1.0),
    ("ms_per_frame_mean", "mean", 1.0),
    ("ms_per_frame_p99", "99 %", 1.0),
    ("ms_per_frame_worst", "worst", 1.0),
    ("ms_per_frame_whole", "whole call", 1.0),
    ("iterations_mean", "iterations", 1.0),
    ("position_error_mean_m", "mean, mm", 1e3),
    ("position_error_max_m", "max, mm", 1e3),
    ("orientation_error_max_rad", "max, rad", 1.0),
    ("com_error_max_m", "CoM, mm", 1e3),
    ("peak_velocity", "peak, rad/s", 1.0),
    ("constraint_residual_max", "closure, m", 1.0),
    ("target_speed", "target m/s", 1.0),
    ("target_extent", "extent, m", 1.0),
)


def run() -> dict:
    """Return what every case takes: `{"cases": [row, ...]}`."""
    return {"cases": [row(case, solved(case)) for case in cases()]}


class Run(NamedTuple):
    """A case that was solved once."""

    motion: Motion  # that came out
    seconds: float  # processor time of the whole call


def solved(case: Case) -> list[Run]:
    """Solve a case a few times."""
    return [solve(case) for _ in range(REPEATS)]


def solve(case: Case) -> Run:
    """Solve a case once."""
    began = cpu_seconds()
    motion = retarget(case.mechanism, case.clip, case.settings)
    return Run(motion, cpu_seconds() - began)


def row(case: Case, runs: Sequence[Run]) -> dict:
    """Return the times and errors of the fastest of a case's runs, by the keys of `COLUMNS`, and its name.

    The whole call's time is by frame as well, and the least of all runs.
    """
    best = min((report_summary(run.motion) for run in runs), key=lambda found: found["ms_per_frame_median"])
    units = zip(case.mechanism.actuators, case.mechanism.actuator_units, strict=True)
    turning = [name for name, unit in units if unit == "rad"]
    speed, extent = demand(case)
    return {
        "case": case.name,
        "fps": 1 / float(np.median(np.diff(case.clip.times))),
        "paper_ms": case.paper_ms,
        **best,
        "ms_per_frame_whole": 1e3 * min(run.seconds for run in runs) / len(case.clip.times),
        "peak_velocity": max(best["peak_velocity"][name] for name in turning),
        "frames_short": len(best["frames_short"]),
        "target_speed": speed,
        "target_extent": extent,
    }


def demand(case: Case) -> tuple[float, float]:
    """Return the targets' greatest speed [m/s], and the longest edge of a box around one of their paths [m]."""
    paths = [t.position for t in case.clip.tracks.values() if t.position is not None]
    steps = np.diff(case.clip.times)[:, None]
    speed = max(float(np.linalg.norm(np.diff(p, axis=0) / steps, axis=1).max()) for p in paths)
    return speed, max(float(np.ptp(p, axis=0).max()) for p in paths)


def print_table(found: dict) -> None:
    """Print the results of `run` as a table."""
    rate = found["cases"][0]["fps"]
    print(
        f"{rate:g} frames a second, processor time, best median of {REPEATS} runs; the paper's times are from another"
        " machine and with other motions"
    )
    print("".join([f"{'':32}{'frames':>8}", *(f"{title:>12}" for _, title, _ in COLUMNS)]))
    for measured in found["cases"]:
        cells = ("" if measured[key] is None else f"{measured[key] * scale:.3g}" for key, _, scale in COLUMNS)
        print("".join([f"{measured['case']:32}{measured['frames']:8}", *(f"{cell:>12}" for cell in cells)]))
