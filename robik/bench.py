"""`robik bench`: milliseconds per frame on this machine, now, on one core."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robik.ik.objectives import Settings, Weights
from robik.kinematics.forward import body_poses
from robik.kinematics.frames import frame_poses
from robik.mechanism.model import Mechanism
from robik.mechanism.pose import matrix_quaternion
from robik.retarget.clip import TargetClip, Track
from robik.retarget.motion import report_summary
from robik.retarget.retarget import retarget
from robik.robots import load

FPS = 1200.0  # as the paper samples its animations (V)
SECONDS = 2.0
REPEATS = 3
COMPILE = (
    "import time; t = time.perf_counter(); from robik.bench import compile_all; i = time.perf_counter(); compile_all(); "
    "print(time.perf_counter() - i, i - t)"
)


@dataclass(frozen=True)
class Case:
    """A robot, a clip and how to follow it."""

    name: str
    mechanism: Mechanism
    clip: TargetClip
    settings: Settings


def cases(fps: float = FPS) -> tuple[Case, ...]:
    """What is measured: the boxer without and with the velocity regularizer, the walker naively and with its centre of mass held."""
    boxer, walker = load("boxer"), load("walker")
    punch = boxer_clip(boxer, fps)
    regularized = Settings(state_weight=2e-4, velocity_weight=1e-4, velocity_limit=0.9 * boxer.actuated[0].velocity_limit)
    strides = walker_clip(walker, fps)
    naive = TargetClip(strides.times, strides.tracks)
    feet = Weights((10.0,) * 3, (100.0,) * 3)
    balanced = Settings({"foot_l": feet, "foot_r": feet}, com_weight=(10.0, 10.0, 0.0), state_weight=1e-2)
    return (
        Case("boxer", boxer, punch, Settings(state_weight=2e-4)),
        Case("boxer, velocities regularized", boxer, punch, regularized),
        Case("walker, naive", walker, naive, Settings(state_weight=1e-2)),
        Case("walker, centre of mass", walker, strides, balanced),
    )


def boxer_clip(boxer: Mechanism, fps: float) -> TargetClip:
    """The hand's poses while the arm swings through most of its range: reachable, position and orientation."""
    t = np.arange(int(SECONDS * fps)) / fps
    values = np.stack([0.9 * np.sin(2.1 * t), 0.8 * np.sin(1.7 * t + 0.4), 0.9 * np.sin(2.6 * t), 1.1 + 0.7 * np.sin(3.0 * t)], axis=1)
    position, quaternion, _ = body_poses(boxer, values)
    x, R = frame_poses(boxer, "hand", position, quaternion)
    return TargetClip(t, {"hand": Track(x, np.array([matrix_quaternion(r) for r in R]))})


def walker_clip(walker: Mechanism, fps: float) -> TargetClip:
    """Steps in place and forward: feet lift 3 cm and stride 6 cm, the pelvis sways 2 cm and nods, the centre of mass should be 1 cm
    further to the side than that, so that not everything can be met."""
    t = np.arange(int(SECONDS * fps)) / fps
    phase = np.pi * t
    rest = {f.name: walker.bodies[walker.body_index[f.body]].pose @ f.pose for f in walker.frames}
    tracks = {}
    for name, side in (("foot_l", 1.0), ("foot_r", -1.0)):
        lift = np.maximum(0.0, side * np.sin(2 * phase)) ** 2
        move = np.stack([0.03 * (1 - np.cos(phase)) * side, 0 * t, 0.03 * lift], axis=1)
        tracks[name] = Track(np.array(rest[name].position) + move, np.tile(rest[name].quaternion, (len(t), 1)))
    sway = np.sin(2 * phase)
    hips = np.stack([0 * t, -0.02 * sway, -0.012 + 0.006 * np.cos(4 * phase)], axis=1)
    tracks["pelvis"] = Track(np.array(rest["pelvis"].position) + hips, np.tile(rest["pelvis"].quaternion, (len(t), 1)))
    com = sum(b.mass * b.rest_com for b in walker.bodies) / walker.mass + np.stack([0 * t, -0.03 * sway, 0 * t], axis=1)
    return TargetClip(t, tracks, com)


def compile_all() -> None:
    """Compiles, or loads from the cache, everything that solving needs."""
    for case in cases(fps=10.0):
        retarget(case.mechanism, case.clip, case.settings)


def run() -> dict:
    """Measures every case, and compiling with an empty and with a filled cache in processes of their own."""
    compile_all()
    rows = []
    for case in cases():
        best = None
        for _ in range(REPEATS):
            found = report_summary(retarget(case.mechanism, case.clip, case.settings))
            if best is None or found["ms_per_frame_median"] < best["ms_per_frame_median"]:
                best = found
        assert best is not None
        del best["peak_velocity"]
        best["frames_short"] = len(best["frames_short"])
        rows.append({"case": case.name, "fps": FPS, **best})
    cold, warm = _compile_seconds()
    return {"cases": rows, "compile_cold_s": cold, "compile_warm_s": warm}


def _compile_seconds() -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        times = [subprocess.run([sys.executable, "-c", COMPILE], env=environment, check=True, capture_output=True, text=True) for _ in "12"]
    cold, warm = (float(done.stdout.split()[0]) for done in times)
    return cold, warm


def print_table(found: dict) -> None:
    """Prints what `run` measured."""
    columns: Sequence[tuple[str, str, float]] = (
        ("ms_per_frame_median", "ms/frame", 1.0),
        ("iterations_mean", "iterations", 1.0),
        ("position_error_max_m", "off, mm", 1e3),
        ("com_error_max_m", "CoM, mm", 1e3),
        ("constraint_residual_max", "closure, m", 1.0),
    )
    print(f"{FPS:g} frames a second, {found['cases'][0]['frames']} frames, best median of {REPEATS} runs")
    print("".join([f"{'':32}", *(f"{title:>12}" for _, title, _ in columns)]))
    for row in found["cases"]:
        print("".join([f"{row['case']:32}", *(f"{row[key] * scale:12.4g}" for key, _, scale in columns)]))
    print(f"compiling: {found['compile_cold_s']:.1f} s with an empty cache, {found['compile_warm_s']:.2f} s with a filled one")
