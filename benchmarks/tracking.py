"""`python -m benchmarks.tracking`: the differential tracker's time per step beside mink's and pink's.

The libraries are those of `benchmarks/peers`, on its cases: they take one step a frame, with DAQP, without limits; RobIK keeps its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.peers.cases import Case, cases
from benchmarks.peers.handover import write_case
from robik.tracking import DifferentialTracker, Target, Targets

PEERS = Path(__file__).resolve().parent / "peers"
PYTHON = PEERS.parents[1] / ".cache" / "peers" / "bin" / "python"
ONE_CORE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
TIMED = ("7-DoF arm", "UR10", "walker, three frames", "walker, CoM compromise")
ROUNDS = 3


def main() -> None:
    """Measures and prints."""
    print("Microseconds per step, median; the best of three rounds in turn\n\n| | differential | mink | pink |\n|---|---|---|---|")
    for case in cases():
        if case.name in TIMED:
            times = step_times(case)
            print(f"| {case.name} | {times['RobIK']:.0f} | {times['mink']:.0f} | {times['pink']:.0f} |")


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


if __name__ == "__main__":
    main()
