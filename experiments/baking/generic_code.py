"""Time per frame of code for any CPU of this kind, against code for this very CPU, in pairs of processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell

KINDS = {"generic": "any CPU of this kind", "": "this CPU"}  # what numba compiles for
PROGRAM = """
import json, sys
from time import process_time_ns
from robik.bench.cases import cases
from robik.retargeting.retarget import Retargeting
found = {}
for case in cases():
    least = float("inf")
    for _ in range(int(sys.argv[1])):
        work = Retargeting(case.mechanism, case.clip, case.settings)
        steps = work.steps()
        next(steps)
        began = process_time_ns()
        for _ in steps:
            pass
        least = min(least, 1e-6 * (process_time_ns() - began) / len(case.clip.times))
    found[case.name] = least
print(json.dumps(found))
"""


def run(pairs: int, repeats: int) -> Found:
    """Solve the paper's cases by both, one after the other; return ratios of milliseconds per frame."""
    ratios: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as work:
        for name, text in KINDS.items():
            tell(f"generic-code: compiling for {text}")
            _times(name, work, 1)
        for pair in range(pairs):
            tell(f"generic-code: pair {pair + 1} of {pairs}")
            order = list(KINDS) if pair % 2 else list(KINDS)[::-1]
            took = {name: _times(name, work, repeats) for name in order}
            for case, ms in took["generic"].items():
                ratios.setdefault(case, []).append(ms / took[""][case])
    return {
        "generic_code": [
            {"case": case, "slower": float(np.median(found)) - 1.0, "low": min(found) - 1.0, "high": max(found) - 1.0}
            for case, found in ratios.items()
        ]
    }


def _times(name: str, work: str, repeats: int) -> dict[str, float]:
    """Return the milliseconds of the processor per frame by case."""
    environment = os.environ | {"NUMBA_CACHE_DIR": os.path.join(work, name or "own"), "NUMBA_CPU_NAME": name}
    if not name:
        del environment["NUMBA_CPU_NAME"]
    command = [sys.executable, "-c", PROGRAM, str(repeats)]
    done = subprocess.run(command, env=environment, cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def show(found: Found) -> None:
    """Print a line per case."""
    print("\ncode for any CPU is slower than code for this one: median of the pairs, least and most")
    for row in found["generic_code"]:
        print(f"{row['case']:28}{row['slower']:7.1%}{row['low']:9.1%}{row['high']:9.1%}")


EXPERIMENT = Experiment(run=run, show=show, parameters={"pairs": (5, 15), "repeats": (5, 10)})
