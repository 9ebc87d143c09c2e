"""The way back onto the loops."""

from __future__ import annotations

import numpy as np
from numba import njit

from robik.kinematics.elimination import eliminate, particular
from robik.kinematics.kernels import close, move, place

CLOSURE_TOLERANCE = 1e-11  # of the robot's size
REDUNDANT_TOLERANCE = 1e-7  # of the robot's size: what rows that a file's rounded numbers contradict may be left with


@njit(cache=True)
def pull_back(flat, now, e, correction, right):
    """Brings `now` onto the loops by Newton steps of the followers, with the factors at hand while they contract, else with new ones.

    Returns the closure residual [m]; above REDUNDANT_TOLERANCE · size it did not succeed.
    """
    place(flat, now)
    residual = close(flat, now)
    tolerance = CLOSURE_TOLERANCE * flat.size
    fresh = 0
    for _ in range(30):
        if residual <= tolerance:
            return residual
        for i in range(right.shape[0]):
            right[i] = -now.value[i]
        for i in range(correction.shape[0]):
            correction[i] = 0.0
        particular(flat, e, right, correction)
        largest = 0.0
        for i in range(correction.shape[0]):
            largest = max(largest, abs(correction[i]))
        if not largest < 1.0:
            return np.inf
        move(flat, now.q, correction, 1.0, now.q)
        place(flat, now)
        before, residual = residual, close(flat, now)
        if not residual <= 0.3 * before:
            if largest < 1e-12 or fresh == 6:
                return residual
            eliminate(flat, now, e)
            fresh += 1
    return residual
