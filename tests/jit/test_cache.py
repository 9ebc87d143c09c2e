"""The folder that keeps compiled code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robik.jit.sources import LIBRARY

ROOM = "from robik.jit.cache import folder; print(folder()); import os; print(os.path.isdir(folder()))"


def chosen(**environment: str) -> Path:
    """Returns the folder that a process chooses, which exists while it runs, and of which it says nothing."""
    path, said = told(**environment)
    assert said == ""
    return path


def told(**environment: str) -> tuple[Path, str]:
    """Returns the folder that a process chooses, and what it says on stderr."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", ROOM],
        env=kept | environment,
        cwd=LIBRARY.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    path, there = done.stdout.splitlines()
    assert there == "True"
    return Path(path), done.stderr


def test_it_is_the_one_that_the_environment_names(tmp_path: Path) -> None:
    assert chosen(NUMBA_CACHE_DIR=str(tmp_path / "given")) == tmp_path / "given"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
def test_it_is_the_users_else(tmp_path: Path) -> None:
    assert chosen(XDG_CACHE_HOME=str(tmp_path)) == tmp_path / "robik"
    assert chosen(HOME=str(tmp_path)) == tmp_path / ".cache" / "robik"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="other systems keep temporary files of each user apart")
def test_where_that_cannot_be_written_it_is_the_users_own_among_temporary_files(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    place = chosen(NUMBA_CACHE_DIR=str(tmp_path / "file"), TMPDIR=str(tmp_path))
    assert place == tmp_path / f"robik-compiled-{os.getuid()}"
    assert place.stat().st_mode & 0o777 == 0o700, "the next process finds it again"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="other systems keep temporary files of each user apart")
def test_where_others_can_write_to_that_it_is_one_of_the_process_and_a_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    shared = tmp_path / f"robik-compiled-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    place, said = told(NUMBA_CACHE_DIR=str(tmp_path / "file"), TMPDIR=str(tmp_path))
    assert not place.exists(), "taken away with the process"
    assert not list(shared.iterdir())
    assert said.count("\n") == 1
    assert f"{tmp_path / 'file'} cannot be written, {shared} is open to other users" in said
    assert "ROBIK_CACHE_DIR" in said


def test_nothing_is_written_beside_the_sources(tmp_path: Path) -> None:
    code = "import numpy as np; from robik.jit import probe; from robik.jit.trial import numbas; print(numbas().fast)"
    copied = tmp_path / "robik"
    (copied / "jit").mkdir(parents=True)
    (copied / "__init__.py").touch()
    (copied / "own_folder.py").write_bytes((LIBRARY / "own_folder.py").read_bytes())
    for source in (LIBRARY / "jit").glob("*.py"):
        (copied / "jit" / source.name).write_bytes(source.read_bytes())
    before = set(copied.rglob("*"))
    environment = os.environ | {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.pop("NUMBA_CACHE_DIR")
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"
    assert set(copied.rglob("*")) == before
    assert list((tmp_path / "cache").rglob("*.nbc"))
