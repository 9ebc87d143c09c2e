"""The solver is compiled ahead, once, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from numba import njit
from numba.core import event

from robik.jit import is_compiling
from robik.warm_up import warm_up

COUNT = """
from robik.jit import kinds_in_cache
from robik.ik import curvature, hessian, newton, sqp
print(*map(kinds_in_cache, (hessian.matrix, curvature.closure_curvature, hessian.times, newton._step, sqp._search, sqp._finish)))
"""


def test_a_process_of_its_own_compiles_everything_once() -> None:
    process = warm_up()
    assert process is not None
    assert warm_up() is None
    assert process.wait(timeout=1500) == 0


def test_the_second_process_compiles_what_solving_comes_to(tmp_path: Path) -> None:
    """Each kernel for one kind of arguments: had the second process guessed others, there would be two."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "robik.warm_up"], env=environment, check=True, timeout=600)
    told = subprocess.run([sys.executable, "-c", COUNT], env=environment, check=True, capture_output=True, text=True).stdout
    assert told.split() == ["1"] * 6


def test_compiling_is_told_while_it_lasts() -> None:
    told = []

    class Listening(event.Listener):
        def on_start(self, event: event.Event) -> None:
            told.append(is_compiling())

        def on_end(self, event: event.Event) -> None:
            pass

    assert not is_compiling()
    with event.install_listener("numba:compile", Listening()):
        assert njit(lambda x: x + 1)(1) == 2
    assert told
    assert all(told)
    assert not is_compiling()
