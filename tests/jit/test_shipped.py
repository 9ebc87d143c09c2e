"""Compiled code that came with the extension, and what a process takes of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robik.jit import cache
from robik.jit.cache import FOR_THIS_CPU, delete_unused_rooms, room
from robik.jit.sources import LIBRARY

# Two kernels, and what they call, of a library whose code lies in a folder of its own; prints how many were compiled,
# and what they give.
SOLVE = """
import sys
from pathlib import Path
from numba.core import event
from robik.jit import cache
cache.COMPILED = Path(sys.argv[1])
compiled = []
class Listening(event.Listener):
    def on_start(self, event): compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
event.register("numba:compile", Listening())
from robik.jit import by_reference
from robik.kinematics.kernels import close, forward_kinematics, new_placement
from robik.mechanism.topology import build_topology
from robik.robots import load
topology = build_topology(load("boxer"))
flat = by_reference(topology.flat)
now = new_placement(flat, topology.rest + 0.1)
forward_kinematics(flat, now)
close(flat, now)
print(len(compiled), now.everything.tobytes().hex())
"""


def solved(home: Path, shipped: Path, **more: str) -> tuple[int, str]:
    """Return how many kernels a new process compiles, and the placement that it computes, as bytes."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(home), "PYTHONPATH": str(LIBRARY.parent)}
    environment.pop("NUMBA_CPU_NAME", None)
    environment |= more
    done = subprocess.run(
        [sys.executable, "-P", "-c", SOLVE, shipped], env=environment, capture_output=True, text=True, check=True
    )
    count, placement = done.stdout.split()
    return int(count), placement


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return code for any CPU of this kind."""
    folder = tmp_path_factory.mktemp("shipped")
    count, _ = solved(folder, folder / "nothing", NUMBA_CPU_NAME="generic")
    assert count > 10
    return folder


def test_it_is_loaded_where_the_user_has_none(shipped: Path, tmp_path: Path) -> None:
    compiled, _ = solved(tmp_path, shipped)
    assert compiled == 0
    assert not list(tmp_path.rglob("*.nbc"))


def test_code_for_this_cpu_goes_first(shipped: Path, tmp_path: Path) -> None:
    """It gives the same to the last bit, and what came with the extension is not needed beside it."""
    generic = solved(tmp_path, shipped)[1]
    compiled, native = solved(tmp_path, shipped, **{FOR_THIS_CPU: "1"})
    assert compiled > 10
    assert native == generic
    assert solved(tmp_path, tmp_path / "nothing") == (0, native)


def test_code_of_other_sources_is_left_alone(shipped: Path, tmp_path: Path) -> None:
    (room_of_shipped,) = shipped.glob("py*-*")
    (tmp_path / "shipped").mkdir()
    os.symlink(room_of_shipped, tmp_path / "shipped" / f"{room_of_shipped.name[:-1]}_")
    compiled, _ = solved(tmp_path / "home", tmp_path / "shipped")
    assert compiled > 10


def test_rooms_that_nobody_used_for_a_month_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    room.cache_clear()
    for name, days in (("py311-old", 31), ("py311-new", 29), ("mine", 99)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "code.nbc").touch()
        os.utime(tmp_path / name, (time.time() - days * 24 * 3600,) * 2)
    delete_unused_rooms()
    assert {path.name for path in tmp_path.iterdir()} == {"py311-new", "mine", room().name}
    room.cache_clear()
