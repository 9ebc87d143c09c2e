"""Kernels that Python runs give what compiled ones give; a small robot is described without numba and SciPy."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from robik import robots
from robik.commands.robots import FEW
from robik.kinematics.mobility import inspect
from robik.robots import load

LOADED = "import sys; print(*(name for name in ('numba', 'llvmlite', 'scipy') if name in sys.modules), file=sys.stderr)"


def run(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Return what a Python program prints."""
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, env=environment
    )


def test_a_small_robot_is_described_without_numba_and_scipy() -> None:
    done = run(f"from robik.cli import main; main(); {LOADED}", "inspect", "walker", "--json")
    walker = load("walker")
    assert done.stderr.split() == [] and len(walker.bodies) <= FEW
    assert json.loads(done.stdout) == json.loads(json.dumps(inspect(walker).as_data()))


def test_python_describes_robots_as_compiled_kernels_do() -> None:
    code = (
        "import json, numpy; from robik import robots; from robik.kinematics.mobility import inspect;"
        "numpy.seterr(all='ignore');"
        "print(json.dumps({name: inspect(robots.load(name)).as_data() for name in robots.names()}))"
    )
    told = json.loads(run(code, NUMBA_DISABLE_JIT="1").stdout)
    known = {name: json.loads(json.dumps(inspect(load(name)).as_data())) for name in robots.names()}
    assert told.keys() == known.keys()
    for name, data in known.items():
        assert told[name].pop("closure_residual") == pytest.approx(data.pop("closure_residual"), abs=1e-12)
        assert told[name] == data


def test_a_command_within_another_process_leaves_its_kernels_compiled() -> None:
    code = (
        "from robik.cli import main; main(['inspect', 'walker']); from robik import jit; print(jit.kernel.__module__)"
    )
    assert run(code).stdout.split()[-1] == "robik.jit.kernels"
