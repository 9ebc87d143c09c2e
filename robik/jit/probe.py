"""Kernels for the trial of the shortcuts: one of each sort, which call one another."""

from __future__ import annotations

from functools import partial

import numpy as np

from .fast import compiled


@partial(compiled, inline=True, entry=False, allocates=False, nogil=False)
def product(record, k):
    """Return a number of each sort of field, multiplied.

    Args:
        record: The record of the trial.
        k: Index into its steps.

    Returns:
        The product.
    """
    return record.inner.share * record.factor * record.steps[k]


@partial(compiled, inline=False, entry=False, allocates=False, nogil=False)
def write(record, k):
    """Turn a flag over and add the product into the grid.

    Args:
        record: The record of the trial.
        k: Index of the row.
    """
    record.flags[k] = not record.flags[k]
    record.inner.grid[k, k + 1] += product(record, k)


@partial(compiled, inline=False, entry=True, allocates=True, nogil=True)
def top(record):
    """Return lengths of the arrays, after both rows are written.

    Args:
        record: The record of the trial.

    Returns:
        Lengths (3,).
    """
    for k in range(2):
        write(record, k)
    return np.array([record.inner.grid.shape[0], record.inner.grid.shape[1], record.steps.shape[0]])
