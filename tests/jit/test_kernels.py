"""Compiled functions that call one another by symbol, and the groups of arrays that they get by one pointer."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

from robik.jit import by_reference, kernel
from robik.jit.passes import INSTEAD
from robik.kinematics.rotations import cross

LAYERS = """
from robik.jit import inlined, kernel

@kernel
def deep(x):
    return x + 1

@inlined
def between(x):
    return 2 * deep(x)

@kernel(allocates=True)
def top(x):
    return between(x) + deep(x)
"""
ABOVE = """
from layers import between
from robik.jit import kernel

@kernel
def above(x):
    return between(x) + between(3 * x)
"""
USE = (
    "import layers; value = layers.top(1.0); "
    "print(value, sum(layers.top.stats.cache_hits.values()), sum(layers.deep.stats.cache_misses.values()))"
)

USE_ABOVE = "import above; print(above.above(1.0), sum(above.between.stats.cache_hits.values()))"


class Inner(NamedTuple):
    grid: np.ndarray
    share: float


class Outer(NamedTuple):
    inner: Inner
    flags: np.ndarray
    every_other: np.ndarray
    count: int


@kernel
def read_and_write(outer, at):
    outer.flags[at] = not outer.flags[at]
    outer.inner.grid[at, at + 1] += outer.inner.share * outer.count * outer.every_other[at]
    return outer.inner.grid.shape[0] + outer.inner.grid.shape[1] * 10 + outer.every_other.shape[0] * 100


def _run(folder, use=USE):
    """Runs `USE` in a new process: the value of the topmost, whether it came from disk, whether the deepest did not."""
    (folder / "layers.py").write_text(LAYERS)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
    }
    return subprocess.run(
        [sys.executable, "-c", use], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()


def test_a_process_with_a_cache_brings_along_the_kernels_that_cached_code_calls(tmp_path):
    assert _run(tmp_path) == ["6.0", "0", "1"]
    assert _run(tmp_path) == ["6.0", "1", "0"]


def test_what_the_cache_has_goes_into_what_is_compiled_later(tmp_path):
    _run(tmp_path)
    (tmp_path / "above.py").write_text(ABOVE)
    assert _run(tmp_path, USE_ABOVE) == ["12.0", "1"]
    assert _run(tmp_path, USE_ABOVE) == ["12.0", "0"]


def test_what_another_version_left_in_the_cache_is_not_read(tmp_path):
    _run(tmp_path)
    indices = list(tmp_path.glob("cache/**/layers.*.nbi"))
    assert len(indices) == 3
    for index in indices:
        index.write_bytes(pickle.dumps(numba.__version__) + b"of classes that are no more")
    assert _run(tmp_path) == ["6.0", "0", "1"]


@kernel
def _private(x):
    return x


def unknown(x):
    return x.nothing


def test_numba_is_as_it_was_after_a_compilation_that_fails():
    before = [getattr(owner, name) for owner, name, _ in INSTEAD]
    with pytest.raises(numba.core.errors.TypingError):
        kernel(unknown)(1.0)
    assert [getattr(owner, name) for owner, name, _ in INSTEAD] == before
    assert numba.njit(lambda n: np.array([k * k for k in range(n)]))(3).tolist() == [0, 1, 4]


def test_python_cannot_call_what_is_for_compiled_functions():
    for function in (cross, _private):
        with pytest.raises(TypeError, match="for compiled functions"):
            function(1.0)


def test_compiled_code_reads_and_writes_the_arrays_of_a_reference():
    grid, flags = np.arange(12.0).reshape(3, 4), np.array([False, True])
    outer = by_reference(Outer(by_reference(Inner(grid, 0.5)), flags, np.arange(6.0)[::2], 3))
    assert read_and_write(outer, 1) == 3 + 40 + 300
    assert grid[1, 2] == 6.0 + 0.5 * 3 * 2.0
    assert flags.tolist() == [False, False]
    assert outer.inner.grid is grid and outer.count == 3


def test_groups_of_other_kinds_of_arrays_are_other_types():
    whole = by_reference(Inner(np.arange(4), 1.0))
    assert whole._numba_type_ != by_reference(Inner(np.zeros((2, 2)), 1.0))._numba_type_
    assert whole._numba_type_ == by_reference(Inner(np.ones(7, np.int64), 2.0))._numba_type_
