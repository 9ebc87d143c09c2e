"""Choice of the independent coordinates of a clip: motors, where they can be.

Between motors that are independent coordinates the differences over time are linear, so bounds that one iterate keeps
all steps keep, and the projection onto the loops moves none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..jit import kernel
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import stand_at
from ..kinematics.null_space import extend
from .stances import Stances, Stretch

SAMPLES = 5  # frames in which the motors are tried one by one
STEEP = 100.0  # of the unit step of an independent coordinate: a dependent one that moves by more is close to singular


@kernel
def _spread(flat, work, beside, q):
    """Return the number of dependent degrees of freedom at coordinates q (nq,), and their spread.

    The spread is the largest step of one for a unit step of an independent coordinate.
    """
    stand_at(flat, beside.now, q)
    rank = eliminate(flat, beside.now, work.e)
    largest = 0.0
    for i in range(work.step.shape[0]):
        if not work.e.dependent[i]:
            work.step[:] = 0.0
            work.step[i] = 1.0
            extend(flat, work.e, work.step)
            for j in range(work.step.shape[0]):
                largest = max(largest, abs(work.step[j]))
    return rank, largest


@kernel
def spread_frames(flat, work, beside, q, rank, largest):
    """Fill each frame's number of dependent freedoms and their largest step, as in `_spread`, at q (T, nq)."""
    for k in range(q.shape[0]):
        rank[k], largest[k] = _spread(flat, work, beside, q[k])


def make_independent(stances: Stances, q: np.ndarray, motors: np.ndarray) -> None:
    """Make motors (degrees of freedom) independent coordinates in all frames of each stance, by its `work.e.free`.

    No motor of a stance becomes so if one of its frames is too close to a pose in which they cannot be.
    """
    for stretches in stances.kinds().values():
        _choose(stances, stretches, q, motors)


def _choose(stances: Stances, stretches: Sequence[Stretch], q: np.ndarray, motors: np.ndarray) -> None:
    """Mark motors in one stance."""
    free = stances.of(stretches[0].names).work.e.free
    free[:] = True
    everything = np.concatenate([np.arange(each.first, each.last) for each in stretches])
    sample = np.unique(everything[np.linspace(0, len(everything) - 1, SAMPLES).astype(int)])
    full, _ = _measured(stances, stretches, q, sample)

    def fits(frames: np.ndarray, wanted: np.ndarray) -> bool:
        rank, largest = _measured(stances, stretches, q, frames)
        return bool((rank == wanted).all() and largest.max() <= STEEP)

    free[motors] = False
    if not fits(sample, full):
        free[motors] = True
        for motor in motors:
            free[motor] = False
            if not fits(sample, full):
                free[motor] = True
    led = free.copy()
    free[:] = True
    all_ranks, _ = _measured(stances, stretches, q, everything)
    free[:] = led
    if not fits(everything, all_ranks):
        free[:] = True


def _measured(
    stances: Stances, stretches: Sequence[Stretch], q: np.ndarray, frames: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return ranks and largest steps of frames (F,), in order."""
    rank, largest = np.zeros(len(frames), np.int64), np.zeros(len(frames))
    for each in stretches:
        some = slice(*np.searchsorted(frames, (each.first, each.last)).tolist())
        if some.start < some.stop:
            stance = stances.put(each)
            spread_frames(stance.flat, stance.work, stance.beside, q[frames[some]], rank[some], largest[some])
    return rank, largest
