"""Check with another numba than the pinned one: the same motions, and how long they take to compile.

python -m tools.other_numba 0.61.2        in an environment of its own below .cache/
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from importlib.metadata import version
from pathlib import Path

import numpy as np

from tools.extension import CACHE, CHECKOUT

PACKAGES = ("numpy", "scipy", "daqp")  # what inverse kinematics needs beside numba, in the versions that are here
ROBOTS = ("boxer", "walker, centre of mass")
EQUAL = 1e-9  # rad or m
SOLVE = f"""
import logging, sys, time
logging.basicConfig(level="INFO", format="%(message)s")
import numpy as np
from robik.bench.cases import cases
from robik.retargeting.retarget import retarget
began = time.process_time()
chosen = [case for case in cases(fps=10.0) if case.name in {ROBOTS}]
solved = {{case.name: retarget(case.mechanism, case.clip, case.settings).values for case in chosen}}
np.savez(sys.argv[1], seconds=time.process_time() - began, **solved)
"""


def main() -> None:
    """Solve with both, compare, and print what the other took."""
    parser = argparse.ArgumentParser(description="Compares motions solved with another numba.")
    parser.add_argument("version", help="of numba, for example 0.61.2")
    folder = CACHE / f"numba-{parser.parse_args().version}"
    python = _environment(folder, f"numba=={parser.parse_args().version}")
    expected, found = _solved(Path(sys.executable), CACHE / "numba"), _solved(python, folder / "compiled")
    for name in ROBOTS:
        apart = np.abs(expected[name] - found[name]).max()
        print(f"{name}: {apart:.1e} apart")
        if not apart <= EQUAL:
            sys.exit(f"{name}: more than {EQUAL:g} apart")
    print(f"Compiled, or loaded, and solved in {found['seconds']:.0f} s of processor time")


def _environment(folder: Path, numba: str) -> Path:
    """Return the Python of an environment with that numba, which is set up once."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (folder / "ready").exists():
        pins = [f"{name}=={version(name)}" for name in PACKAGES]  # numpy's own rounding differs between versions
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", numba, *pins], check=True)
        (folder / "ready").touch()
    return python


def _solved(python: Path, cache: Path) -> dict[str, np.ndarray]:
    """Return the actuators' values (T, A) of each robot, and the seconds that solving took, compilation included."""
    cache.mkdir(parents=True, exist_ok=True)
    out = cache / "solved.npz"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(CHECKOUT)}
    subprocess.run([python, "-P", "-c", SOLVE, out], env=environment, check=True)
    with np.load(out) as solved:
        return dict(solved)


if __name__ == "__main__":
    main()
