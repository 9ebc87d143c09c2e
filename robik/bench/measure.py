"""Measuring the cases, and the table."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace

import numpy as np

from robik.bench.cases import DANCER, FPS, Case, cases
from robik.bench.clips import dance_clip
from robik.bench.growth import FPS as FOLLOWED
from robik.bench.growth import growth
from robik.mechanism.model import Mechanism
from robik.motions import Motion, report_summary
from robik.retarget.retarget import retarget
from robik.robots import load
from robik.warm_up import compile_all

REPEATS = 3
RATES = (10, 15, 24, 30, 60, 120, 240, 480, 600, 1200)  # frames a second of the dance (Fig. 6c)
COMPILE = (
    "import time; t = time.perf_counter(); import robik.bench; from robik.warm_up import compile_all; "
    "i = time.perf_counter(); compile_all(); print(time.perf_counter() - i, i - t)"
)
MEMORY_FRAMES = 12_000
MEMORY = (
    "import re; from robik.bench.cases import BALANCED; from robik.bench.walking import walk_clip; from robik.robots import load; "
    "from robik.retarget.retarget import retarget; "
    r"peak = lambda: int(re.search(r'VmHWM:\s*(\d+)', open('/proc/self/status').read())[1]); before = peak(); "
    f"walker = load('walker'); motion = retarget(walker, walk_clip(walker, {MEMORY_FRAMES} / 9, balanced=True), BALANCED); "
    f"assert len(motion.times) == {MEMORY_FRAMES}; print(peak() - before)"
)
COLUMNS = (
    ("paper_ms", "paper, ms", 1.0),
    ("ms_per_frame_median", "ms/frame", 1.0),
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
    """Measures every case, the dance at all frame rates, growing robots, and compiling with an empty and with a filled cache in
    processes of their own."""
    compile_all()
    rows = [_measured(case) for case in cases()]
    cold, warm = _compile_seconds()
    return {
        "cases": rows,
        "frame_rates": frame_rates(load("dancer")),
        "growth": [family.as_data() for family in growth()],
        "compile_cold_s": cold,
        "compile_warm_s": warm,
        "memory_mb": _memory_mb(),
    }


def _measured(case: Case) -> dict:
    motions = [_judged(retarget(case.mechanism, case.clip, case.settings), case.only) for _ in range(REPEATS)]
    best = min((report_summary(m) for m in motions), key=lambda found: found["ms_per_frame_median"])
    turning = [n for j in case.mechanism.actuated for n, unit in zip(j.coordinate_names, j.coordinate_units, strict=True) if unit == "rad"]
    speed, extent = demand(case)
    return {
        "case": case.name,
        "fps": 1 / float(np.median(np.diff(case.clip.times))),
        "paper_ms": case.paper_ms,
        **best,
        "peak_velocity": max(best["peak_velocity"][name] for name in turning),
        "frames_short": len(best["frames_short"]),
        "target_speed": speed,
        "target_extent": extent,
    }


def _judged(motion: Motion, only: tuple[str, ...]) -> Motion:
    """The motion, with errors of these targets alone if there are any."""
    report = motion.report
    if not only or report is None:
        return motion
    kept = [report.targets.index(name) for name in only]
    place, turn = report.position_error[:, kept], report.orientation_error[:, kept]
    return replace(motion, report=replace(report, targets=only, position_error=place, orientation_error=turn))


def demand(case: Case) -> tuple[float, float]:
    """How much is asked: the targets' greatest speed [m/s], and the longest edge of a box around one of their paths [m]."""
    paths = [t.position for t in case.clip.tracks.values() if t.position is not None]
    steps = np.diff(case.clip.times)[:, None]
    speed = max(float(np.linalg.norm(np.diff(p, axis=0) / steps, axis=1).max()) for p in paths)
    return speed, max(float(np.ptp(p, axis=0).max()) for p in paths)


def frame_rates(dancer: Mechanism, rates: tuple[int, ...] = RATES) -> list[dict]:
    """Milliseconds per frame of the dance at several frame rates: the mean over its frames, each from the best of a few runs."""
    rows = []
    for fps in rates:
        clip = dance_clip(dancer, fps)
        reports = [m.report for m in (retarget(dancer, clip, DANCER) for _ in range(2 * REPEATS)) if m.report]
        rows.append({
            "fps": fps,
            "ms_per_frame": float(np.min([r.milliseconds for r in reports], axis=0).mean()),
            "iterations_mean": float(reports[0].iterations.mean()),
            "position_error_max_m": float(np.nanmax(reports[0].position_error)),
        })  # fmt: skip
    return rows


def drift(motion: Motion, frames: int) -> np.ndarray:
    """How far each actuator is from where it was a lap of `frames` before, at most: (laps - 2, actuators) [rad or m].

    The first lap is left out: the path begins in it.
    """
    laps = motion.values.reshape(-1, frames, len(motion.actuators))[1:]
    return np.abs(np.diff(laps, axis=0)).max(axis=1)


def _compile_seconds() -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        times = [subprocess.run([sys.executable, "-c", COMPILE], env=environment, check=True, capture_output=True, text=True) for _ in "12"]
    cold, warm = (float(done.stdout.split()[0]) for done in times)
    return cold, warm


def _memory_mb() -> float | None:
    """Peak memory [MB] of a long bake above what importing takes, all kernels compiled before, in a process of its own.

    None but on Linux: elsewhere there is only getrusage, whose peak a process takes over from its parent.
    """
    if sys.platform != "linux":
        return None
    done = subprocess.run([sys.executable, "-c", MEMORY], check=True, capture_output=True, text=True)
    return int(done.stdout) / 2**10


def print_table(found: dict) -> None:
    """Prints what `run` measured."""
    print(f"{FPS:g} frames a second, best median of {REPEATS} runs; the paper's times are from another machine and with other motions")
    print("".join([f"{'':32}{'frames':>8}", *(f"{title:>12}" for _, title, _ in COLUMNS)]))
    for row in found["cases"]:
        cells = ("" if row[key] is None else f"{row[key] * scale:.3g}" for key, _, scale in COLUMNS)
        print("".join([f"{row['case']:32}{row['frames']:8}", *(f"{cell:>12}" for cell in cells)]))
    print("\nthe dance at several frame rates")
    for row in found["frame_rates"]:
        print(f"{row['fps']:8g} frames/s {row['ms_per_frame']:10.4f} ms/frame {row['iterations_mean']:8.2f} iterations")
    for family in found["growth"]:
        print(f"\n{family['family']}s, {FOLLOWED:g} frames/s: milliseconds grow as bodies to the power of {family['exponent']:.2f}")
        for bodies, loops, ms in zip(family["bodies"], family["loops"], family["ms_per_frame"], strict=True):
            print(f"{bodies:8} bodies {loops:4} loops {ms:12.4f} ms/frame")
    print(f"\ncompiling: {found['compile_cold_s']:.1f} s with an empty cache, {found['compile_warm_s']:.2f} s with a filled one")
    if found["memory_mb"] is not None:
        print(f"memory: {found['memory_mb']:.0f} MB above the import for {MEMORY_FRAMES} frames of the walker with its centre of mass")
