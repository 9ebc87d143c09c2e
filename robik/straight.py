"""Values between samples, on straight lines."""

from __future__ import annotations

import numpy as np


def straight(at: np.ndarray, times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return values at other times, on straight lines between samples; the first and the last beyond them.

    Args:
        at: Times (N,) [s].
        times: Times of the samples (T,), increasing [s].
        values: Samples (T, …).

    Returns:
        Values (N, …).
    """
    columns = [np.interp(at, times, column) for column in values.reshape(len(times), -1).T]
    return np.array(columns).reshape(len(columns), len(at)).T.reshape(len(at), *values.shape[1:])
