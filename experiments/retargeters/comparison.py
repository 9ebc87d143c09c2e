"""Every clip on G1 by RobIK and by mink as GMR sets it, one after the other, judged by MuJoCo."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell
from experiments.retargeters.human import ARMS, LEGS, Human, human_of, targets, weights
from experiments.retargeters.judge import Judge, Verdict
from experiments.walking_character import walking_character
from robik.bake.settings import BakeSettings
from robik.motions.layout import numbers_of
from robik.motions.simulator_archive import qpos_of
from robik.recordings.recording import load_recording, part_of_time
from robik.recordings.retargeting import retarget_recording
from robik.skeleton.skeleton import SkeletonMotion

FOLDER = CHECKOUT.parent / "shared/data"
ROBOT = "unitree_g1/g1_29dof.xml"
DANCE, ON_ONE_LEG, STRANGER = "bvh/05_20-mb.bvh", (0.9, 4.0), "bvh/bvh_test1.bvh"
ONE_CORE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
SMALLER = 0.72  # of the scale: the legs as long as G1's


def run(folder: str = str(FOLDER), clips: str = "walk,dance,one leg,stranger") -> Found:
    """Retarget each clip by each; return the verdicts by clip."""
    robot = Path(folder) / ROBOT
    asked = {name: clip for name, clip in _clips(Path(folder)).items() if name in clips.split(",")}
    dance = load_recording(Path(folder) / DANCE)
    retarget_recording(robot, part_of_time(dance, 1.0, 1.5))  # compiles
    judge = Judge(robot)
    found: Found = {}
    for name, clip in asked.items():
        human = human_of(clip)
        found[name] = {}
        for library, follow in _libraries(robot, clip, human).items():
            tell(f"{name}, {library}")
            found[name][library] = asdict(judge.judge(human, *follow()))
    return found


def _clips(folder: Path) -> dict[str, SkeletonMotion]:
    dance = load_recording(folder / DANCE)
    moving = part_of_time(dance, float(dance.times[1]), None)  # its first sample is a T-pose
    return {
        "walk": walking_character(), "dance": moving, "one leg": part_of_time(dance, *ON_ONE_LEG),
        "stranger": load_recording(folder / STRANGER),
    }  # fmt: skip


def _libraries(robot: Path, clip: SkeletonMotion, human: Human) -> dict:
    """Return what follows the clip, by name: each returns joints (T, nq) and the seconds of each frame (T,)."""
    found = {
        "RobIK": lambda: _robik(robot, clip),
        "… balance off": lambda: _robik(robot, clip, "off"),
        "… looking ahead": lambda: _robik(robot, clip, look_ahead=True),
    }
    if not (CHECKOUT / ".cache/peers/made-from").exists():  # written once the installation is whole
        tell("mink is not installed; experiments/peers/environments installs it")
        return found
    return found | {
        "mink, GMR's weights": lambda: _mink(robot, human, 1.0),
        "… legs' scale as RobIK's": lambda: _mink(robot, human, SMALLER),
    }


def _robik(
    robot: Path, clip: SkeletonMotion, balance: str = "auto", look_ahead: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    found = retarget_recording(robot, clip, balance=balance, settings=BakeSettings(look_ahead=look_ahead))
    assert found.motion.report is not None  # a solved motion has one
    return qpos_of(numbers_of(found.motion, found.mechanism)), 1e-3 * found.motion.report.milliseconds


def _mink(robot: Path, human: Human, smaller: float) -> tuple[np.ndarray, np.ndarray]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "case.json").write_text(json.dumps({"robot": str(robot), "weights": weights()}))
        np.savez(folder / "targets.npz", **targets(human, robot, smaller * LEGS, smaller * ARMS))
        python, runner = CHECKOUT / ".cache/peers/bin/python", Path(__file__).with_name("two_stages.py")
        command = [python, runner, folder, folder / "result.npz"]
        subprocess.run(command, check=True, env=os.environ | ONE_CORE, stdout=subprocess.DEVNULL)
        with np.load(folder / "result.npz") as file:
            return file["qpos"], file["seconds"]


def show(found: Found) -> None:
    """Print the table of docs/benchmarks.md."""
    print(
        "| | | slide, mm/s | float, mm | tilt, ° | in the floor: mm, frames | in itself: mm, frames | jump, rad |"
        " thigh, shin, upper arm, forearm, ° | balanced | ms a frame: mean, longest |"
    )
    print(f"|{'---|' * 11}")
    for name, verdicts in found.items():
        for library, given in verdicts.items():
            v = Verdict(**given)
            ways = ", ".join(f"{angle:.1f}" for angle in v.directions.values())
            print(
                f"| {name} | {library} | {v.slide_mm_s:.2g} | {v.float_mm:.2g} | {v.tilt_deg:.2g} |"
                f" {v.floor_mm:.2g}, {100 * v.floor_share:.0f} % | {v.self_mm:.2g}, {100 * v.self_share:.0f} % |"
                f" {v.jump_rad:.2f} | {ways} | {100 * v.inside:.0f} % | {v.milliseconds:.2f}, {v.longest:.1f} |"
            )


EXPERIMENT = Experiment(
    run=run,
    show=show,
    parameters={"folder": (str(FOLDER),) * 2, "clips": ("walk,dance,one leg,stranger",) * 2},
)
