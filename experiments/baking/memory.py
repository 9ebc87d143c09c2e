"""Peak memory of a long bake beyond that of importing, all kernels compiled before, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell

FRAMES = 12_000
PROGRAM = (
    "import re; from robik.bench.cases import BALANCED; from robik.bench.walking import walk_clip; from robik.robots"
    " import load; "
    "from robik.retargeting.retarget import retarget; "
    r"peak = lambda: int(re.search(r'VmHWM:\s*(\d+)', open('/proc/self/status').read())[1]); "
    "before, walker = peak(), load('walker'); "
)
COMPILE = "retarget(walker, walk_clip(walker, 10.0, balanced=True), BALANCED)"
BAKE = f"""motion = retarget(walker, walk_clip(walker, {FRAMES} / 9, balanced=True), BALANCED)
assert len(motion.times) == {FRAMES}; print(peak() - before)"""


def run() -> Found:
    """Bake the walker with its centre of mass.

    None [MB] but on Linux: elsewhere there is only getrusage, whose peak a process takes over from its parent.
    """
    if sys.platform != "linux":
        return {"memory_mb": None}
    tell(f"memory: a bake of {FRAMES} frames")
    _output(COMPILE)
    return {"memory_mb": int(_output(BAKE)) / 2**10}


def _output(steps: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM + steps], cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def show(found: Found) -> None:
    """Print it."""
    if found["memory_mb"] is not None:
        print(
            f"memory: {found['memory_mb']:.0f} MB above the import for {FRAMES} frames of the walker with its centre of"
            " mass"
        )


EXPERIMENT = Experiment(run=run, show=show)
