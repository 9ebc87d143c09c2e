"""Modules of this library as programs, in processes of their own.

The folder of the library is imported there as `robik`, by its path: whatever the library is called here (in Blender it
is a part of the add-on), whatever the working directory is, and without the package around it. Other packages are found
where this process finds them.

    python -P program.py MODULE [ARGUMENT ...]
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

NAME = "robik"
FOLDER = Path(__file__).resolve().parent


def command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of the library."""
    # -P: neither the working directory nor this folder is searched. -s: nor the user's packages, unless this process
    # searches them.
    return [sys.executable, "-P", "-s", str(FOLDER / "program.py"), module, *arguments]


def environment() -> dict[str, str]:
    """Return the environment variables of such a process: those of this one, and where it finds packages.

    NumPy's threads are left out: on matrices as small as a robot's they wait more than they work.
    """
    return {"OPENBLAS_NUM_THREADS": "1"} | os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def run(module: str) -> None:
    """Import the library as `robik` and run one of its modules as the main program of this process."""
    found = spec_from_file_location(NAME, FOLDER / "__init__.py")
    assert found is not None
    assert found.loader is not None
    sys.modules[NAME] = library = module_from_spec(found)
    found.loader.exec_module(library)
    runpy.run_module(f"{NAME}.{module}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    run(sys.argv.pop(1))
