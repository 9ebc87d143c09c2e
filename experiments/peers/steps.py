"""The differential tracker's time per step beside mink's and pink's, on the cases of the comparison.

The libraries take one step a frame, with DAQP, without limits; RobIK keeps its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from time import process_time

import numpy as np

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell
from experiments.peers.cases import Case, cases
from experiments.peers.handover import write_case
from robik.tracking import DifferentialTracker, Target, Targets

PEERS = Path(__file__).resolve().parent
PYTHON = CHECKOUT / ".cache" / "peers" / "bin" / "python"
ONE_CORE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
TIMED = ("7-DoF arm", "UR10", "walker, three frames", "walker, CoM compromise")
ROUNDS = (1, 3)  # by default, in full


def run(rounds: int = ROUNDS[0]) -> Found:
    """Return the median microseconds of a step by case and library, the best of some rounds in turn."""
    chosen = [case for case in cases() if case.name in TIMED]
    return {"steps_us": {case.name: step_times(case, rounds) for case in chosen}}


def show(found: Found) -> None:
    """Print a table."""
    print(
        "Microseconds per step, median; the best of some rounds in turn\n\n| | differential | mink | pink"
        " |\n|---|---|---|---|"
    )
    for name, times in found["steps_us"].items():
        print(
            f"| {name} |"
            f" {' | '.join(f'{times[each]:.0f}' if each in times else '' for each in ('RobIK', 'mink', 'pink'))} |"
        )


def step_times(case: Case, rounds: int) -> dict[str, float]:
    """Return the median time of a step by each library [µs].

    The best of some rounds, which alternate so that the machine's load affects all alike.
    """
    if not PYTHON.exists():
        tell("peers-steps: mink and pink are not installed; experiments/peers/environments installs them")
    best: dict[str, float] = {"RobIK": _our_step(case)}  # compiles
    with tempfile.TemporaryDirectory() as name:
        write_case(case, Path(name))
        for k in range(rounds):
            tell(f"peers-steps: {case.name}, round {k + 1} of {rounds}")
            best["RobIK"] = min(best["RobIK"], _our_step(case))
            for library in ("mink", "pink") if PYTHON.exists() else ():
                command = [PYTHON, PEERS / "one_step.py", library, name, "hard"]
                said = subprocess.run(
                    command, check=True, capture_output=True, text=True, env=os.environ | ONE_CORE
                ).stdout
                best[library] = min(best.get(library, np.inf), float(np.median(json.loads(said.splitlines()[-1]))))
    return best


def _our_step(case: Case) -> float:
    tracker, times, clip = DifferentialTracker(case.mechanism), [], case.clip
    for k in range(len(clip.times)):
        begin = process_time()
        frames = {
            n: Target(
                None if t.position is None else t.position[k],
                None if t.quaternion is None else t.quaternion[k],
                case.settings.weights(n),
            )
            for n, t in clip.tracks.items()
        }
        tracker.step(Targets(frames, None if clip.com is None else clip.com[k], case.settings.com_weight), 1 / 60)
        times.append(1e6 * (process_time() - begin))
    return float(np.median(times))


EXPERIMENT = Experiment(run=run, show=show, parameters={"rounds": ROUNDS})
