"""Compiled code of the solver that a zip brings: for any CPU of its platform, made by the Python that it is for.

It is made in a process that has nothing but the zip's own wheels and NumPy, and kept in .cache/ as long as neither the
sources of compiled code nor the wheels change.

    python -m tools.compiled    gives it to the tests' cache: with NUMBA_CPU_NAME=generic they compile little then
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from tools.process import run

CHECKOUT = Path(__file__).resolve().parents[1]
CACHE = CHECKOUT / ".cache"
SOURCES = CHECKOUT / "robik" / "jit" / "sources.py"
WARM_UP = CHECKOUT / "robik" / "warm_up"
BLENDERS = {"3.11": "5.0", "3.13": "5.2"}  # whose NumPy is there while a Python compiles
NEEDED = {"numba", "llvmlite", "scipy", "daqp", "piqp"}  # of the wheels, what solving imports
KINDS = {".nbi", ".nbc", ".json"}  # an index and the code of a function, and whether numba can be taken shortcuts with


def compiled(platform: str, python: str, wheels: Iterable[Path]) -> Path | None:
    """Return a folder of compiled code, as `robik/jit/compiled` has it; None without such a Python on this machine.

    It is for this process's platform, a version of Python such as `3.13`, and the wheels of the zip.
    """
    interpreter = interpreter_of(python)
    if interpreter is None or python not in BLENDERS:
        return None
    wheels = [wheel for wheel in wheels if wheel.name.partition("-")[0] in NEEDED]
    marks = "-".join(re.sub(r"-(cp|py).*", "", wheel.stem) for wheel in wheels)
    place = CACHE / "compiled" / f"{platform}-py{python}-{marks}" / _digest()
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as work:
            packages, found = Path(work) / "packages", Path(work) / "found"
            unpack(wheels, packages)
            run(*_numpy(python, packages))
            compile_into(found, interpreter, packages)
            shutil.rmtree(place, ignore_errors=True)
            os.rename(found, place)
    return place


def interpreter_of(python: str) -> str | None:
    """Return the path of a Python of a version that runs on this machine; None if there is none."""
    if python == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions"
    uv = home / ".local" / "share" / "uv" / "python"
    candidates: list[str | Path] = [
        f"python{python}",
        *pyenv.glob(f"{python}.*/bin/python"),
        *uv.glob(f"cpython-{python}.*/bin/python"),
    ]
    asked = "import sys; print(sys.executable if '%d.%d' % sys.version_info[:2] == sys.argv[1] else '')"
    for candidate in candidates:
        try:  # a shim on the path may not run
            done = subprocess.run([candidate, "-c", asked, python], capture_output=True, text=True)
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.strip()
    return None


def unpack(wheels: Iterable[Path], folder: Path) -> None:
    """Unpack wheels into one folder, from which they are imported."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


def compile_into(folder: Path, interpreter: str, packages: Path) -> None:
    """Compile all that solving needs for any CPU of this kind, and keep what numba loads of it in a folder.

    In one process: builds take all processors anyway, and two compile some of the same.
    """
    with tempfile.TemporaryDirectory(dir=folder.parent) as cache:
        environment = {
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CACHE_DIR": cache,
            "PYTHONPATH": str(packages),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ROBIK_WAITING": "1",
        }
        program = CHECKOUT / "robik" / "program.py"
        run(interpreter, "-P", "-s", program, "warm_up", "alone", environment=os.environ | environment)
        (room,) = Path(cache).glob("py*-*")
        unfinished = folder.with_suffix(".unfinished")
        (unfinished / room.name).mkdir(parents=True)
        for file in sorted(file for file in room.iterdir() if file.suffix in KINDS):
            shutil.copy(file, unfinished / room.name)
        os.rename(unfinished, folder)


def give_to_tests() -> None:
    """Copy what zips bring to the tests' cache, but for what is there."""
    for room in (CACHE / "compiled").glob("*/*/py*"):
        kept = CACHE / "numba" / room.name
        kept.mkdir(parents=True, exist_ok=True)
        for file in room.iterdir():
            if not (kept / file.name).exists():
                shutil.copy(file, kept)


def _numpy(python: str, folder: Path) -> list[str | Path]:
    """Return the command that installs the NumPy of a Blender into a folder."""
    pins = (CHECKOUT / "requirements" / f"blender-{BLENDERS[python]}.txt").read_text(encoding="utf-8")
    (numpy,) = re.findall(r"^numpy==.*$", pins, re.MULTILINE)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install")
    return [
        *pip, "--quiet", "--no-deps", "--only-binary=:all:", "--python-version", python, "--target", folder, numpy
    ]  # fmt: skip


def _digest() -> str:
    """Return a digest of the sources of compiled code, and of what is compiled ahead.

    The library's own module computes the first. It is loaded by its path, without numba, which may not be here.
    """
    spec = importlib.util.spec_from_file_location("robik_sources", SOURCES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = hashlib.sha256(module.sources().encode())
    for source in sorted(WARM_UP.glob("*.py")):
        found.update(source.read_bytes())
    return found.hexdigest()[:32]


if __name__ == "__main__":
    give_to_tests()
