"""Humanoids of a folder on a recording, as `robik retarget` makes them when nothing is set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.experiment import Experiment, Found, tell
from robik import robots
from robik.bake.settings import BakeSettings
from robik.errors import RobikError
from robik.mechanism import Mechanism
from robik.recordings.recording import load_recording
from robik.recordings.retargeting import Retargeted, retarget_recording
from robik.skeleton.anatomy import ARM, LEG
from robik.skeleton.robot import robot_anatomy

FOLDER = Path(__file__).parents[3] / "shared" / "data"
RECORDING = FOLDER / "bvh" / "05_20-mb.bvh"
FILES = (".urdf", ".xml")
FEWEST = 3  # motions of a limb; a gripper's fingers have fewer
LIMBS = {(LEG, "l"), (LEG, "r"), (ARM, "l"), (ARM, "r")}
JUMP_TIME = 1 / 120  # s


def humanoids(folder: Path) -> Iterator[tuple[Path, Mechanism]]:
    """Yield the robots of a folder that have two legs and two arms, each with its file."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in FILES or path.name in ("package.xml", "scene.xml"):
            continue
        try:
            robot = robots.load(path)
        except RobikError as error:
            tell(f"humanoids: {path.name} is left out: {error}")
            continue
        if {(limb.kind, limb.side) for limb in robot_anatomy(robot).limbs if limb.freedom >= FEWEST} >= LIMBS:
            yield path, robot


def figures(path: Path, found: Retargeted) -> dict:
    """Return a row of the table: distances of placed targets, and the largest step of a motor in 1/120 s."""
    motion = found.motion
    assert motion.report is not None
    error = motion.report.position_error
    speeds = np.abs(np.diff(motion.values, axis=0)) / np.diff(motion.times)[:, None]
    return {
        "robot": path.stem, "left_out": found.following.left_out, "scale": found.following.placement.scale,
        "error_mean_m": float(np.nanmean(error)), "error_max_m": float(np.nanmax(error)),
        "step_rad": float(speeds.max()) * JUMP_TIME, "ms": float(np.median(motion.report.milliseconds)),
    }  # fmt: skip


def run(folder: str, recording: str, balance: str) -> Found:
    """Retarget the recording onto every humanoid."""
    played, rows = load_recording(recording), []
    for path, robot in humanoids(Path(folder)):
        tell(f"humanoids: {path.stem}")
        try:
            found = retarget_recording(
                robot,
                played,
                robot_file=path,
                balance=balance,
                pin_feet=balance != "off",
                settings=BakeSettings(look_ahead=False),
            )
        except RobikError as error:
            tell(f"humanoids: {path.stem} is left out: {error}")
            continue
        rows.append(figures(path, found))
    return {"humanoids": rows}


def show(found: Found) -> None:
    """Print a line per robot."""
    print(f"\n{'robot':24}{'left out':>9}{'scale':>8}{'mean mm':>9}{'most mm':>9}{'step rad':>9}{'ms':>7}")
    for row in found["humanoids"]:
        print(
            f"{row['robot']:24}{row['left_out']:9d}{row['scale']:8.4f}{1e3 * row['error_mean_m']:9.2f}"
            f"{1e3 * row['error_max_m']:9.1f}{row['step_rad']:9.3f}{row['ms']:7.2f}"
        )


EXPERIMENT = Experiment(
    run=run,
    show=show,
    parameters={
        "folder": (str(FOLDER), str(FOLDER)),
        "recording": (str(RECORDING), str(RECORDING)),
        "balance": ("off", "off"),
    },
)
