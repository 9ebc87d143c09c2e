"""Trial of the numba at hand: whether our shortcuts through its inside work with it.

A few small kernels go through all of them once, with a record by reference, and must give what Python gives. The
outcome is kept with the compiled code, since a trial takes as long as it does to compile.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np

from .cache import room, shipped_room

LOG = logging.getLogger("robik")


@dataclass(frozen=True)
class Numba:
    """Outcome of the trial.

    Attributes:
        fast: kernels compile with all shortcuts (`fast`), else as numba does it by itself (`plain`).
        references: records are handed over by reference, else as the tuples that they are.
        reason: what went wrong; empty if nothing did.
    """

    fast: bool
    references: bool
    reason: str = ""


@cache
def numbas() -> Numba:
    """Return the outcome of the trial: the one that is kept, else of one now."""
    name = f"trial-{numba.__version__}-{llvmlite.__version__}.json"
    kept, shipped = room() / name, shipped_room()
    found = _read(kept) or (_read(shipped / name) if shipped else None)
    if found is None:
        found = _tried()
        _write(kept, found)
        if found.reason:
            LOG.warning("%s", _sentence(found))
    elif found.reason:
        LOG.info("%s", _sentence(found))
    return found


def _sentence(found: Numba) -> str:
    shape = "" if found.references else " and with records as tuples"
    return (
        f"numba {numba.__version__}: kernels are compiled without shortcuts{shape}, which takes longer ({found.reason})"
    )


def _tried() -> Numba:
    wrong_fast = _problem_of(_fast)
    wrong_reference = _problem_of(_reference) if wrong_fast else ""
    return Numba(
        fast=not wrong_fast,
        references=not wrong_reference,
        reason="; ".join(filter(None, (wrong_fast, wrong_reference))),
    )


def _problem_of(attempt: Callable[[], None]) -> str:
    """Return what goes wrong in an attempt, in one line."""
    try:
        attempt()
    except Exception as error:  # numba's inside may fail in any way
        lines = str(error).strip().splitlines() or [""]
        return f"{type(error).__name__}: {lines[-1].strip()}"
    return ""


class _Inner(NamedTuple):
    grid: np.ndarray  # an array
    share: float  # a number


class _Outer(NamedTuple):
    inner: _Inner  # a record in the record
    flags: np.ndarray  # an array of truth values
    steps: np.ndarray  # an array of whole numbers
    factor: int  # a whole number


def _fast() -> None:
    """Call kernels that are compiled with all shortcuts, then loaded with them, and check what they do."""
    from .fast import loaded_again
    from .probe import top

    _check(top)
    _check(loaded_again(top))


def _reference() -> None:
    """Call a function that numba compiles by itself, with a record by reference, and check what it does."""

    @numba.njit
    def top(record):
        for k in range(2):
            record.flags[k] = not record.flags[k]
            record.inner.grid[k, k + 1] += record.inner.share * record.factor * record.steps[k]
        return np.array([record.inner.grid.shape[0], record.inner.grid.shape[1], record.steps.shape[0]])

    _check(top)


def _check(top: Callable) -> None:
    from .references import Reference

    grid, flags, steps = np.zeros((2, 3)), np.array([False, True]), np.arange(1.0, 5.0)[::2]  # with strides
    inner: Any = Reference(_Inner(grid, 0.5))
    lengths = top(Reference(_Outer(inner, flags, steps, 4)))
    if (
        lengths.tolist() != [2, 3, 2]
        or flags.tolist() != [True, False]
        or grid.tolist() != [[0.0, 2.0, 0.0], [0.0, 0.0, 6.0]]
    ):
        raise ArithmeticError(f"a trial gives {lengths.tolist()}, {flags.tolist()}, {grid.tolist()}")


def _read(path: Path) -> Numba | None:
    try:
        return Numba(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _write(path: Path, found: Numba) -> None:
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(json.dumps(asdict(found)), encoding="utf-8")
    os.replace(unfinished, path)
