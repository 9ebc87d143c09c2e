"""Modules of the library as programs, and code on disk that serves the library under two names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robik import program

LIBRARY = Path(program.__file__).parent
# Imports the library as a part of a package, whose own modules must not be touched.
AS_A_PART = f"""
import sys, types
package = types.ModuleType("package"); package.__path__ = [{str(LIBRARY.parent)!r}]; sys.modules["package"] = package
"""
CHAIN = f"""
from {{name}}.servo.chain.file import load_chain
from {{name}}.servo.simulator.process import SimulatorProcess
with SimulatorProcess.of(load_chain({str(LIBRARY / "data" / "robots" / "walker.servos.json")!r})) as chain:
    print(len(chain.state()))
"""
SOLVE = """
from {name}.jit import by_reference
from {name}.robots import load
from {name}.kinematics import kernels
from {name}.mechanism.topology import build_topology
topology = build_topology(load("boxer"))
flat = by_reference(topology.flat)
kernels.forward_kinematics(flat, kernels.new_placement(flat, topology.rest))
compiled = [kernel for kernel in vars(kernels).values() if hasattr(kernel, "stats") and kernel.overloads]
print(len(compiled) > 0, sum(len(kernel.stats.cache_misses) for kernel in compiled))
"""


def run(code: str, folder: Path, **environment: str) -> str:
    """Return what a Python prints that runs in a folder."""
    environment = os.environ | {"PYTHONPATH": str(LIBRARY.parent)} | environment
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder with another package `robik`, as in a checkout of the library, and an add-on's `__init__` that must not
    run."""
    (tmp_path / "robik").mkdir()
    (tmp_path / "robik" / "__init__.py").write_text("raise SystemExit('the wrong robik')")
    return tmp_path


def test_a_program_runs_beside_a_folder_of_the_same_name(trap: Path) -> None:
    done = subprocess.run(
        program.command("cli", "inspect", "walker"), cwd=trap, env=program.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("walker: 31 bodies")


def test_a_process_of_a_library_that_is_part_of_a_package_runs_out_of_the_same_folder(trap: Path) -> None:
    """The package's `__init__` is not there to run: the package is made by hand here."""
    assert run(AS_A_PART + CHAIN.format(name="package.robik"), trap, PYTHONPATH=str(trap)) == "12"


def test_the_folder_around_the_library_is_not_searched(tmp_path: Path) -> None:
    (tmp_path / "robik").mkdir()
    for name in ("__init__.py", "program.py"):
        (tmp_path / "robik" / name).write_bytes((LIBRARY / name).read_bytes())
    (tmp_path / "scene.py").touch()
    (tmp_path / "__init__.py").write_text("raise SystemExit('the add-on itself')")
    (tmp_path / "robik" / "tell.py").write_text(
        "import sys, importlib.util as u\nprint(__name__, __package__, sys.argv[1:], u.find_spec('scene'),"
        " u.find_spec('program'))"
    )
    command = [sys.executable, "-P", str(tmp_path / "robik" / "program.py"), "tell", "a", "b"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})
    assert done.stdout.strip() == "__main__ robik ['a', 'b'] None None", done.stderr


@pytest.mark.parametrize("names", [("robik", "package.robik"), ("package.robik", "robik")], ids=" then ".join)
def test_code_on_disk_serves_the_library_under_both_names(names: tuple[str, str], tmp_path: Path) -> None:
    told = [
        run(AS_A_PART + SOLVE.format(name=name), tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache")).split()
        for name in names
    ]
    assert told[0][0] == told[1][0] == "True"
    assert int(told[0][1]) > 0
    assert int(told[1][1]) == 0
