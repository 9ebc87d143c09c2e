"""The trial of the numba at hand: without shortcuts the same comes out, and a line of the log says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robik.jit.sources import sources

NO_SYMBOLS = """
from llvmlite import binding
add = binding.add_symbol
def add_symbol(name, address):
    if name.startswith("robik"):
        raise TypeError("no symbols here")
    add(name, address)
binding.add_symbol = add_symbol
"""
NO_REFERENCES = """
import numba.extending
unbox = numba.extending.unbox
def refuse(kind):
    if kind.__module__.startswith("robik"):
        raise NotImplementedError("no types of others")
    return unbox(kind)
numba.extending.unbox = refuse
"""
SOLVE = """
import logging
logging.basicConfig(format="%(levelname)s %(message)s")
logging.getLogger("robik").setLevel("INFO")
import layers
inner = layers.by_reference(layers.Inner(layers.numbers, 2.0))
print(layers.total(layers.by_reference(layers.Outer(inner, layers.numbers[::2], 3))))
print(layers.numbers.tolist())
print(layers.total(layers.by_reference(layers.Special(inner, layers.numbers[::2], 0))))
"""
LAYERS = """
from typing import NamedTuple
import numpy as np
from robik.jit import by_reference, compiled_for_record, inlined, kernel

numbers = np.arange(6.0)

class Inner(NamedTuple):
    numbers: np.ndarray
    share: float

class Outer(NamedTuple):
    inner: Inner
    every_other: np.ndarray
    count: int

class Special(Outer):
    pass

@inlined
def scaled(inner, k):
    return inner.share * inner.numbers[k]

@kernel
def _add(outer):
    for k in range(outer.count):
        outer.inner.numbers[k] += scaled(outer.inner, k)

@compiled_for_record(Outer, otherwise=7.0)
def for_outer(x, record):
    return x * record.every_other[2]

@compiled_for_record(Special, otherwise=0)
def for_special(count, record):
    return count + record.count + 1

@compiled_for_record(Inner, otherwise=7.0)
def for_inner(x, record):
    return x.never

@kernel(nogil=True)
def total(outer):
    _add(outer)
    return for_outer(outer.inner.numbers.sum(), outer) + for_inner(1.0, outer) + 100 * for_special(4, outer)
"""


def run(folder: Path, before: str) -> tuple[list[str], str]:
    """Returns what kernels give, and the log but for how long compiling takes, in a process in which code runs before
    robik is imported."""
    (folder / "layers.py").write_text(LAYERS)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, "-c", before + SOLVE], env=environment, capture_output=True, text=True, check=True
    )
    said = (line for line in done.stderr.splitlines(keepends=True) if "compiling the solver" not in line)
    return done.stdout.splitlines(), "".join(said)


EXPECTED = [str((3 * (0 + 1 + 2) + 3 + 4 + 5) * 4.0 + 7.0), str([0.0, 3.0, 6.0, 3.0, 4.0, 5.0]), str(7.0 + 7.0 + 500.0)]


def test_with_the_numba_that_is_known_nothing_is_said(tmp_path: Path) -> None:
    assert run(tmp_path, "") == (EXPECTED, "")


@pytest.mark.parametrize(
    ("before", "said"),
    [(NO_SYMBOLS, ("no symbols here",)), (NO_REFERENCES, ("with records as tuples", "no types of others"))],
    ids=["no shortcuts", "no references"],
)
def test_with_another_numba_the_same_comes_out_and_the_log_says_so_once(
    tmp_path: Path, before: str, said: tuple[str, ...]
) -> None:
    values, log = run(tmp_path, before)
    assert values == EXPECTED
    (line,) = log.splitlines()
    assert line.startswith("WARNING numba")
    assert "without shortcuts" in line
    assert all(part in line for part in said)
    values, log = run(tmp_path, before)
    assert values == EXPECTED
    assert log == line.replace("WARNING", "INFO") + "\n"
    if before == NO_SYMBOLS:  # the folder of plain code is named by the digest of all sources, so a change is seen
        (index,) = tmp_path.glob("cache/**/layers.total*.nbi")
        assert sources().startswith(index.relative_to(tmp_path / "cache").parts[0].partition("-")[2])
