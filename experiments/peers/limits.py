"""Clips too quick for motors: RobIK frame by frame and looking ahead, beside mink with limits, and mink smoothed.

Smoothed is what follows within speeds and is then averaged over time by a bell curve, as narrow as its accelerations
let it be. What mink's coordinates come to is judged by MuJoCo, what RobIK's come to by its report.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

import mujoco
import numpy as np
from scipy.ndimage import gaussian_filter1d

from experiments import CHECKOUT
from experiments.baking.looking_ahead import quicker
from experiments.experiment import Experiment, Found, tell
from experiments.peers.cases import PULL, Case
from experiments.peers.comparison import ONE_CORE
from experiments.peers.handover import write_case
from robik.bench.cases import BALANCED
from robik.bench.clips import samples, smoothstep
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.mechanism import Mechanism
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from robik.robots import load

HERE = Path(__file__).resolve().parent
PYTHON = CHECKOUT / ".cache" / "peers" / "bin" / "python"
FPS, ACCELERATION = 120.0, 30.0  # Hz, rad/s²
QUICK = 400.0  # rad/s²: of the walker
HALVINGS = 30


@dataclass(frozen=True)
class Judged:
    """A motion of the motors, and what it is worth.

    Attributes:
        off: (T, frames) distances from the targets [m].
        motors: (T, A) [rad].
        closure: largest distance of two points that are to coincide [m].
        seconds: of the processor.
        failed: frames in which the library raised an error.
    """

    off: np.ndarray
    motors: np.ndarray
    closure: float
    seconds: float
    failed: int = 0


def quick_cases(fps: float) -> tuple[tuple[Case, float], ...]:
    """Return clips that ask for more than motors can do, with the acceleration that they may have [rad/s²]."""
    arm, walker = load("arm7"), load("walker")
    held = Settings(
        targets={"tool": Weights((1.0,) * 3, (0.0,) * 3)}, state_weight=None, enforce_velocity=True, joint_limits=False,
    )  # fmt: skip
    walking = replace(BALANCED, state_weight=None, enforce_velocity=True, contacts="ignore", joint_limits=False)
    return (
        *((Case(f"arm, a lying eight x {pace}", arm, eight(arm, pace, fps), held), ACCELERATION) for pace in (1.5, 2)),
        (Case("walker x 8", walker, quicker(walk_clip(walker, fps / 8, balanced=True), 8), walking), QUICK),
    )


def eight(arm: Mechanism, pace: float, fps: float, seconds: float = 4.0) -> TargetClip:
    """Return a lying eight of 0.6 m by 0.4 m for the arm's tool, drawn in 2.8 s at a pace of 1."""
    t, rest = samples(fps, seconds), arm.rest_pose("tool")
    u, grown = 2 * np.pi * 0.36 * pace * t, smoothstep(t / 0.5)[:, None]
    way = np.stack([0 * u, 0.3 * np.sin(u), 0.2 * np.sin(2 * u)], axis=1)
    turn = np.tile(rest.quaternion, (len(t), 1))
    return TargetClip(t, {"tool": Track(np.array(rest.position) + grown * way, turn)})


def run(fps: float = FPS) -> Found:
    """Follow every clip in each way."""
    rows = []
    for case, acceleration in quick_cases(fps):
        for way, found in ways(case, acceleration):
            tell(f"peers-limits: {case.name}, {way}")
            steps = [np.diff(found.motors, order, axis=0) * fps**order for order in (1, 2)]
            rows.append(
                {
                    "case": case.name,
                    "way": way,
                    "error_rms_m": float(np.sqrt(np.nanmean(found.off**2))),
                    "error_max_m": float(np.nanmax(found.off)),
                    "speed_share": float((np.abs(steps[0]) / case.mechanism.actuator_velocity_limits).max()),
                    "acceleration": float(np.abs(steps[1]).max()),
                    "closure_m": found.closure,
                    "cpu_s": found.seconds,
                    "failed": found.failed,
                }
            )
    return {"limits": rows}


def ways(case: Case, acceleration: float) -> Iterator[tuple[str, Judged]]:
    """Yield each way of following a case, and what comes out."""
    ahead = replace(case.settings, look_ahead=True)
    for name, settings in (
        ("RobIK, speed", case.settings),
        ("RobIK, speed, look-ahead", ahead),
        ("RobIK, speed and acceleration, look-ahead", replace(ahead, acceleration_limit=acceleration)),
    ):
        retarget(case.mechanism, case.clip, settings)  # compiles
        began = process_time()
        motion = retarget(case.mechanism, case.clip, settings)
        seconds, report = process_time() - began, motion.report
        assert report is not None
        yield name, Judged(report.position_error, motion.values, float(report.residual.max()), seconds)
    if not PYTHON.exists():
        tell("peers-limits: mink is not installed; experiments/peers/environments installs it")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_case(case, folder)
        data = json.loads((folder / "case.json").read_text())
        data |= {"motors": case.mechanism.actuators, "acceleration": acceleration, "damping": PULL}
        data["speeds"] = case.mechanism.actuator_velocity_limits.tolist()
        (folder / "case.json").write_text(json.dumps(data))
        slow = _mink(folder, "speed")
        yield "mink, speed", _judged(case, folder, *slow)
        yield "mink, speed and acceleration", _judged(case, folder, *_mink(folder, "acceleration"))
        yield "mink, speed, smoothed to acceleration", _smoothed(case, folder, *slow, acceleration)


def _mink(folder: Path, way: str) -> tuple[np.ndarray, float, int]:
    """Return mink's coordinates (T, nq), its processor time [s] and the frames that failed."""
    result = folder / f"{way}.npz"
    command: list[str | Path] = [PYTHON, HERE / "limited_runner.py", folder, result, way]
    subprocess.run(command, check=True, env=os.environ | ONE_CORE, stdout=subprocess.DEVNULL)
    with np.load(result) as file:
        return file["q"], float(file["seconds"]), int(file["failed"])


def _judged(case: Case, folder: Path, q: np.ndarray, seconds: float, failed: int) -> Judged:
    """Return what coordinates (T, nq) come to, by MuJoCo's kinematics."""
    model = mujoco.MjModel.from_xml_path(str(folder / "robot.xml"))
    data, names, off = mujoco.MjData(model), list(case.clip.tracks), np.zeros((len(q), len(case.clip.tracks)))
    points = [name for name, _ in json.loads((folder / "case.json").read_text())["points"]]
    closure = 0.0
    for k, row in enumerate(q):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        for i, name in enumerate(names):
            target = case.clip.tracks[name].position
            assert target is not None
            off[k, i] = np.linalg.norm(data.site(f"{name}_target").xpos - target[k])
        for name in points:
            apart = data.site(f"{name}_a").xpos - data.site(f"{name}_b").xpos
            closure = max(closure, float(np.linalg.norm(apart)))
    return Judged(off, q[:, _places(case, folder)], closure, seconds, failed)


def _smoothed(case: Case, folder: Path, q: np.ndarray, seconds: float, failed: int, acceleration: float) -> Judged:
    """Return what coordinates come to that are smoothed until the motors keep an acceleration [rad/s²]."""
    fps, began, low, high = 1.0 / float(np.diff(case.clip.times)[0]), process_time(), 0.0, 1.0
    at = _places(case, folder)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        changes = np.diff(_averaged(q[:, at], middle * fps), 2, axis=0) * fps**2
        low, high = (low, middle) if np.abs(changes).max() <= acceleration else (middle, high)
    best = _averaged(q, high * fps)
    return _judged(case, folder, best, seconds + process_time() - began, failed)


def _places(case: Case, folder: Path) -> list[int]:
    """Return where the motors are among MuJoCo's coordinates."""
    model = mujoco.MjModel.from_xml_path(str(folder / "robot.xml"))
    return [int(model.joint(name).qposadr[0]) for name in case.mechanism.actuators]


def _averaged(q: np.ndarray, width: float) -> np.ndarray:
    """Return coordinates (T, n) averaged by a bell curve, whose width is in samples; no speed grows by it."""
    found: np.ndarray = gaussian_filter1d(q, max(width, 1e-3), axis=0, mode="nearest")
    return found


def show(found: Found) -> None:
    """Print the table."""
    print("| | | off, mm: rms, most | speed of its limit | acceleration, rad/s² | loops open, m | CPU, s | failed |")
    print("|---|---|---|---|---|---|---|---|")
    for row in found["limits"]:
        print(
            f"| {row['case']} | {row['way']} | {1e3 * row['error_rms_m']:.3g}, {1e3 * row['error_max_m']:.3g} |"
            f" {row['speed_share']:.3f} | {row['acceleration']:.0f} | {row['closure_m']:.0e} | {row['cpu_s']:.2f} |"
            f" {row['failed']} |"
        )


EXPERIMENT = Experiment(run=run, show=show, parameters={"fps": (FPS, FPS)})
