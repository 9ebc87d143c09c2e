"""`python -m benchmarks.tracking`: the differential tracker's time per step beside mink's and pink's, and how trackers do live.

The libraries are those of `benchmarks/peers`, on its cases: they take one step a frame, with DAQP, without limits; RobIK keeps its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.peers.cases import Case, cases
from benchmarks.peers.handover import write_case
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.frames import frame_poses
from robik.mechanism import Mechanism
from robik.robots import load
from robik.tracking import DifferentialTracker, ForwardDynamicsTracker, Live, StateBasedTracker, Target, Targets, Tracker

PEERS = Path(__file__).resolve().parent / "peers"
PYTHON = PEERS.parents[1] / ".cache" / "peers" / "bin" / "python"
ONE_CORE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
TIMED = ("7-DoF arm", "UR10", "walker, three frames", "walker, CoM compromise")
ROUNDS = 3
LATE, MISSING = 0.4, 0.1  # of a period, of all samples
TRACKERS: dict[str, Callable[[Mechanism], Tracker]] = {
    "differential": DifferentialTracker,
    "state-based": StateBasedTracker,
    "forward dynamics": ForwardDynamicsTracker,
}


def main() -> None:
    """Measures and prints."""
    print("Microseconds per step, median; the best of three rounds in turn\n\n| | differential | mink | pink |\n|---|---|---|---|")
    for case in cases():
        if case.name in TIMED:
            times = step_times(case)
            print(f"| {case.name} | {times['RobIK']:.0f} | {times['mink']:.0f} | {times['pink']:.0f} |")
    print("\nUR10, live: samples each up to 40 % of a period late, one in ten missing; 200 steps a second out\n")
    print("| tracker | samples, Hz | delay at half a step, ms | error after the delay, mm | peak acceleration by its limit | at it |")
    print("|---|---|---|---|---|---|")
    for name, kind in TRACKERS.items():
        live = Live(kind(load("ur10")))
        for rate in (10, 30, 60):
            print(f"| {name} | {rate} | {delay(live, rate):.0f} | {' | '.join(following(live, rate))} |")


def step_times(case: Case) -> dict[str, float]:
    """Median time of a step by each library [µs], the best of some rounds, which take turns so that the machine's mood hits all alike."""
    best: dict[str, float] = {"RobIK": _our_step(case)}  # compiles
    with tempfile.TemporaryDirectory() as name:
        write_case(case, Path(name))
        for _ in range(ROUNDS):
            best["RobIK"] = min(best["RobIK"], _our_step(case))
            for library in ("mink", "pink"):
                command = [PYTHON, PEERS / "one_step.py", library, name, "hard"]
                said = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | ONE_CORE).stdout
                best[library] = min(best.get(library, np.inf), float(np.median(json.loads(said.splitlines()[-1]))))
    return best


def _our_step(case: Case) -> float:
    tracker, times, clip = DifferentialTracker(case.mechanism), [], case.clip
    for k in range(len(clip.times)):
        begin = perf_counter()
        frames = {
            n: Target(
                None if t.position is None else t.position[k],
                None if t.quaternion is None else t.quaternion[k],
                case.settings.weights(n),
            )
            for n, t in clip.tracks.items()
        }
        tracker.step(Targets(frames, None if clip.com is None else clip.com[k], case.settings.com_weight), 1 / 60)
        times.append(1e6 * (perf_counter() - begin))
    return float(np.median(times))


def played(live: Live, rate: float, seconds: float, where: Callable[[float], np.ndarray], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """What comes out (T, A), and the tool's way (T, 3) from where it starts, after samples of `where` that arrive unevenly."""
    live.restart(np.array([v for joint in live.tracker.mechanism.actuated for v in joint.rest]))
    pose, rng = live.tracker.frame("tool"), np.random.default_rng(seed)
    start, turn = np.array(pose.position), np.array(pose.quaternion)
    out, k, due = [], 0, 0.0
    while live.time < seconds:
        while due <= live.time:
            if rng.random() > MISSING:
                live.receive(Targets({"tool": Target(start + where(k / rate), turn)}), live.time)
            k += 1
            due = k / rate + float(rng.uniform(0.0, LATE / rate))
        out.append(live.step())
    fk, tool = ForwardKinematics(live.tracker.mechanism), []
    for values in out:
        found = fk.solve(values)
        tool.append(frame_poses(fk.mechanism, "tool", found.position[None], found.quaternion[None])[0][0] - start)
    return np.array(out), np.array(tool)


def delay(live: Live, rate: float) -> float:
    """From a target's step of 5 cm until the tool has gone half of it [ms], median over runs in which samples arrive differently."""
    delays = []
    for seed in range(5):
        _, tool = played(live, rate, 2.0, lambda t: np.array([0.05 if t >= 1.0 - 1e-9 else 0.0, 0.0, 0.0]), seed)
        delays.append(1e3 * ((np.argmax(tool[:, 0] > 0.025) + 1) / live.rate - 1.0))
    return float(np.median(delays))


def following(live: Live, rate: float) -> tuple[str, str, str]:
    """Along a figure of eight: mean error when the delay is taken off [mm], peak acceleration, share of steps with a motor at its limit."""
    values, tool = played(live, rate, 8.0, eight)
    times = np.arange(1, len(tool) + 1) / live.rate
    late = min(np.arange(0.0, 0.5, 0.005), key=lambda d: _error(tool, times, d))
    acceleration = np.abs(np.diff(values, n=2, axis=0)) * live.rate**2 / live.limits.acceleration
    return f"{1e3 * _error(tool, times, late):.1f}", f"{acceleration.max():.2f}", f"{100 * (acceleration > 0.99).any(axis=1).mean():.0f} %"


def eight(t: float) -> np.ndarray:
    """A figure of eight, 24 cm wide, in 4 s."""
    grow = min(t, 1.0) ** 2 * (3 - 2 * min(t, 1.0))
    return grow * np.array([0.0, 0.12 * np.sin(np.pi / 2 * t), 0.06 * np.sin(np.pi * t)])


def _error(tool: np.ndarray, times: np.ndarray, late: float) -> float:
    wanted = np.array([eight(max(t - late, 0.0)) for t in times])
    return float(np.linalg.norm(tool - wanted, axis=1)[200:].mean())


if __name__ == "__main__":
    main()
