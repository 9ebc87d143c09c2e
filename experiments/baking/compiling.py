"""Seconds to compile the solver, with an empty and with a filled cache, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell

PROGRAM = (
    "import time; from robik.warm_up.ahead import compile_all; "
    "began = time.perf_counter(); compile_all(); print(time.perf_counter() - began)"
)


def run() -> Found:
    """Compile twice with the same cache, which is empty at first."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        tell("compiling: an empty cache")
        cold = _seconds(environment)
        tell("compiling: a filled cache")
        return {"compile_cold_s": cold, "compile_warm_s": _seconds(environment)}


def _seconds(environment: dict[str, str]) -> float:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def show(found: Found) -> None:
    """Print both."""
    print(
        f"\ncompiling: {found['compile_cold_s']:.1f} s with an empty cache, {found['compile_warm_s']:.2f} s with a"
        " filled one"
    )


EXPERIMENT = Experiment(run=run, show=show)
