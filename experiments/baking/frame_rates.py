"""Time per frame of the dance at several frame rates (Fig. 6c)."""

from __future__ import annotations

import numpy as np

from experiments.experiment import Experiment, Found, tell
from robik.bench.cases import DANCER
from robik.bench.clips import dance_clip
from robik.mechanism.model import Mechanism
from robik.retargeting.retarget import retarget
from robik.robots import load

REPEATS = 6
RATES = (10, 15, 24, 30, 60, 120, 240, 480, 600, 1200)  # Hz


def frame_rates(dancer: Mechanism, rates: tuple[int, ...] = RATES) -> list[dict]:
    """Return a row per frame rate [Hz]: the mean time over the frames, each frame's the best of a few runs."""
    rows = []
    for fps in rates:
        tell(f"frame-rates: {fps} Hz")
        clip = dance_clip(dancer, fps)
        reports = [m.report for m in (retarget(dancer, clip, DANCER) for _ in range(REPEATS)) if m.report]
        rows.append({
            "fps": fps,
            "ms_per_frame": float(np.min([r.milliseconds for r in reports], axis=0).mean()),
            "iterations_mean": float(reports[0].iterations.mean()),
            "position_error_max_m": float(np.nanmax(reports[0].position_error)),
        })  # fmt: skip
    return rows


def run() -> Found:
    """Measure at all frame rates."""
    return {"frame_rates": frame_rates(load("dancer"))}


def show(found: Found) -> None:
    """Print a line per frame rate."""
    print("\nthe dance at several frame rates")
    for row in found["frame_rates"]:
        print(f"{row['fps']:8g} frames/s {row['ms_per_frame']:10.4f} ms/frame {row['iterations_mean']:8.2f} iterations")


EXPERIMENT = Experiment(run=run, show=show)
