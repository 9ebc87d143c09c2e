"""Hold along random paths: in how many clips motors lose it, with any pose allowed and with the bound."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import robik
from experiments.experiment import Experiment, Found, tell
from experiments.robot_files import robots_of

OURS = ("four_bar", "validation", "walker")
FILES = (
    "turn3/fivebar.xml", "5bar_linkage/robot.urdf", "robot_delta/robot.urdf", "stewart_sdf/model.sdf",
    "talos_like/robot.urdf", "digit_like_2legs/robot.urdf",
)  # fmt: skip
SECONDS, RATE = 5.0, 60.0
WIDE = 0.25  # of the robot's size: amplitude of each of three waves
WAYS = {"any": robik.Settings(hold=0.0), "kept": robik.Settings()}


def path(robot: robik.Mechanism, frame: str, seed: int) -> robik.TargetClip:
    """Return a path of a frame's position that begins at rest: three waves an axis."""
    rng, times = np.random.default_rng(seed), np.arange(round(SECONDS * RATE)) / RATE
    waves = zip(
        rng.uniform(1.0, 5.0, (3, 3)), rng.uniform(0.0, 6.0, (3, 3)), rng.uniform(-1.0, 1.0, (3, 3)), strict=True
    )
    away = [sum(a * (np.cos(w * times + p) - np.cos(p)) for w, p, a in zip(*axis, strict=True)) for axis in waves]
    place = np.array(robot.rest_pose(frame).position) + WIDE * robot.extent * np.stack(away, axis=1)
    return robik.TargetClip(times, {frame: robik.Track(position=place)})


def run(paths: int = 2, folder: str = "") -> Found:
    """Follow each path with each robot in both ways."""
    rows: list[dict[str, Any]] = []
    for name, robot, frame in robots_of(OURS, folder, FILES):
        tell(f"hold: {name}")
        clips = [path(robot, frame, seed) for seed in range(paths)]
        for way, settings in WAYS.items():
            began = time.process_time()
            reports = [robik.retarget(robot, clip, settings).report for clip in clips]
            holds = [report.hold for report in reports if report is not None and report.hold is not None]
            rows.append({
                "robot": name, "way": way, "clips": len(clips), "below": sum(bool(hold.below) for hold in holds),
                "apart": sum(bool(hold.apart) for hold in holds), "least": min(hold.least for hold in holds),
                "off_mean_m": float(np.mean([report.position_error.mean() for report in reports if report])),
                "seconds": time.process_time() - began,
            })  # fmt: skip
    return {"hold": rows}


def show(found: Found) -> None:
    """Print two rows a robot."""
    print("clips with frames below the bound, and with frames apart from their motors' forward kinematics")
    for row in found["hold"]:
        print(
            f"{row['robot'][:32]:34}{row['way']:6}{row['below']:4} and {row['apart']} of {row['clips']}, least"
            f" {row['least']:.4f}, off {1e3 * row['off_mean_m']:.1f} mm in the mean, {row['seconds']:.1f} s"
        )


EXPERIMENT = Experiment(run=run, show=show, parameters={"paths": (2, 20), "folder": ("", "../shared/data")})
