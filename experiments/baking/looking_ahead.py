"""Look-ahead beside frame by frame: errors, accelerations and jerks at the same speeds, and their plots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from experiments.baking.clips import singular_clip
from experiments.drawing import COLORS
from experiments.experiment import Experiment, Found, tell
from experiments.held_feet import DANCE, FOLDER, ROBOTS
from robik.bench.cases import BALANCED, BOXER, DANCER, Case
from robik.bench.clips import dance_clip
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip
from robik.mechanism.motor_limits import DEFAULT_SPEED
from robik.motions import Motion
from robik.recordings.recording import load_recording
from robik.recordings.retargeting import retarget_recording
from robik.retargeting.retarget import retarget
from robik.robots import load

ACCELERATION, JERK = 100.0, 5000.0  # rad/s², rad/s³
WAYS = ("frame by frame", "look-ahead, speed", "look-ahead, speed, acceleration, jerk")


def cases(fps: float) -> tuple[Case, ...]:
    """Return clips that are too quick for motors, at a rate [Hz]."""
    boxer, dancer, walker = (load(name) for name in ("boxer", "dancer", "walker"))
    held: dict[str, Any] = {"state_weight": None, "enforce_velocity": True}
    return (
        Case("dancer, twice as fast", dancer, quicker(dance_clip(dancer, fps / 2), 2), replace(DANCER, **held)),
        Case("boxer, singular", boxer, singular_clip(fps), replace(BOXER, **held)),
        *(
            Case(
                f"walker, 8 times as fast, feet {feet}",
                walker,
                quicker(walk_clip(walker, fps / 8, balanced=True), 8),
                replace(BALANCED, contacts=contacts, **held),
            )
            for feet, contacts in (("followed", "ignore"), ("held", "hold"))
        ),
    )


def recorded_dance(folder: Path = FOLDER) -> Case:
    """Return a person's dance on G1, as a recording's bake follows it: with walls, contacts and balance."""
    found = retarget_recording(folder / ROBOTS["g1"], load_recording(folder / DANCE))
    return Case("G1, a recorded dance", found.mechanism, found.clip, found.settings.frame_by_frame())


def quicker(clip: TargetClip, factor: float) -> TargetClip:
    """Return a clip that is played so many times faster."""
    return replace(clip, times=clip.times / factor)


def solved(case: Case) -> dict[str, Motion]:
    """Return the case's motion in each way."""
    limited = replace(case.settings, look_ahead=True, acceleration_limit=ACCELERATION, jerk_limit=JERK)
    settings = case.settings, replace(case.settings, look_ahead=True), limited
    return {way: retarget(case.mechanism, case.clip, chosen) for way, chosen in zip(WAYS, settings, strict=True)}


def run(fps: float = 120.0) -> Found:
    """Measure every case at a frame rate [Hz]."""
    rows = []
    for case in cases(fps):
        for way, motion in solved(case).items():
            tell(f"look-ahead: {case.name}, {way}")
            report = motion.report
            assert report is not None
            error = report.position_error
            rows.append(
                {
                    "case": case.name,
                    "way": way,
                    "error_rms_m": float(np.sqrt(np.nanmean(error**2))),
                    "error_max_m": float(np.nanmax(error)),
                    "speed_share": float((np.abs(report.velocity) / report.velocity_limit).max()),
                    "acceleration": float(np.abs(report.acceleration).max()),
                    "jerk": float(np.abs(report.jerk).max()),
                    "residual_m": float(report.residual.max()),
                    "milliseconds": float(report.milliseconds.sum()),
                }
            )
    return {"look_ahead": rows}


def show(found: Found) -> None:
    """Print the table."""
    print(f"{'case':38}{'way':40}{'rms mm':>8}{'max mm':>8}{'speed':>7}{'rad/s²':>9}{'rad/s³':>10}{'ms':>8}")
    for row in found["look_ahead"]:
        print(
            f"{row['case']:38}{row['way']:40}{1e3 * row['error_rms_m']:8.2f}{1e3 * row['error_max_m']:8.2f}"
            f"{row['speed_share']:7.3f}{row['acceleration']:9.0f}{row['jerk']:10.0f}{row['milliseconds']:8.0f}"
        )


def figure(case: Case) -> Figure:
    """Draw speed, acceleration, jerk of the busiest motor and the error over time, each way beside the others."""
    motions = solved(case)
    drawing, rows = plt.subplots(4, 1, figsize=(6.4, 6.4), sharex=True, layout="constrained")
    for (way, motion), color in zip(motions.items(), COLORS, strict=False):
        report = motion.report
        assert report is not None
        limit = report.velocity_limit
        curves = (
            np.abs(report.velocity / np.where(limit < np.inf, limit, DEFAULT_SPEED)).max(axis=1),
            np.abs(report.acceleration).max(axis=1),
            np.abs(report.jerk).max(axis=1),
            1e3 * np.nanmax(report.position_error, axis=1),
        )
        for axes, curve in zip(rows, curves, strict=True):
            axes.plot(motion.times, curve, color=color, linewidth=0.9, label=way)
    for axes, label in zip(rows, ("speed / limit", "rad/s²", "rad/s³", "off by, mm"), strict=True):
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
    rows[1].set_ylim(top=4 * ACCELERATION)
    rows[2].set_ylim(top=4 * JERK)
    rows[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False, fontsize=7)
    rows[-1].set_xlabel("s")
    drawing.suptitle(case.name)
    return drawing


EXPERIMENT = Experiment(run=run, show=show, parameters={"fps": (120.0, 480.0)})
