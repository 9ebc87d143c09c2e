"""Kernels for the trial of the shortcuts: one of each sort, which call one another."""

from __future__ import annotations

from functools import partial

import numpy as np

from .fast import compiled


@partial(compiled, inline=True, entry=False, allocates=False, nogil=False)
def product(record, k):
    """Return the product of a number of each sort of field of the trial's record, at step k."""
    return record.inner.share * record.factor * record.steps[k]


@partial(compiled, inline=False, entry=False, allocates=False, nogil=False)
def write(record, k):
    """Turn flag k over and add the product into row k of the grid."""
    record.flags[k] = not record.flags[k]
    record.inner.grid[k, k + 1] += product(record, k)


@partial(compiled, inline=False, entry=True, allocates=True, nogil=True)
def top(record):
    """Return the lengths (3,) of the arrays, after both rows are written."""
    for k in range(2):
        write(record, k)
    return np.array([record.inner.grid.shape[0], record.inner.grid.shape[1], record.steps.shape[0]])
