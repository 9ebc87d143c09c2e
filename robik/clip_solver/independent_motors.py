"""Choice of the independent coordinates of a clip: motors, where they can be.

Between motors that are independent coordinates the differences over time are linear, so bounds that one iterate keeps
all steps keep, and the projection onto the loops moves none of them.
"""

from __future__ import annotations

import numpy as np

from ..ik.work import Work
from ..jit import kernel
from ..kinematics.elimination import eliminate
from ..kinematics.null_space import extend
from ..mechanism.topology import Flat
from .model import Frames, Neighbours, stand

SAMPLES = 5  # frames in which the motors are tried one by one
STEEP = 100.0  # of the unit step of an independent coordinate: a dependent one that moves by more is close to singular


@kernel
def _spread(flat, work, beside, q):
    """Return the number of dependent degrees of freedom at coordinates q (nq,), and their spread.

    The spread is the largest step of one for a unit step of an independent coordinate.
    """
    stand(flat, beside.now, q)
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
    """Fill rank and largest (T,), as `_spread` returns them, at coordinates q (T, nq).

    Args:
        flat: The mechanism's arrays for the kernels.
        work: Scratch of the solver.
        beside: Placements of neighbouring frames, scratch.
        q: Coordinates (T, nq).
        rank: Filled with the number of dependent degrees of freedom (T,).
        largest: Filled with the largest step of one of them (T,).
    """
    for k in range(q.shape[0]):
        rank[k], largest[k] = _spread(flat, work, beside, q[k])


def make_independent(flat: Flat, work: Work, beside: Neighbours, frames: Frames, motors: np.ndarray) -> None:
    """Mark motors in `work.e.free` so that they are independent coordinates in every frame.

    None if some frame is too close to a pose in which they cannot be.

    Args:
        flat: The mechanism's arrays for the kernels.
        work: Scratch of the solver.
        beside: Placements of neighbouring frames, scratch.
        frames: Frames of the clip.
        motors: Indices of the motors' degrees of freedom.
    """
    free = work.e.free
    free[:] = True
    chosen = np.unique(np.linspace(0, len(frames.q) - 1, SAMPLES).astype(int))
    sample, everything = frames.q[chosen], frames.q[:]
    full, _ = _measured(flat, work, beside, sample)

    def fits(q: np.ndarray, wanted: np.ndarray) -> bool:
        rank, largest = _measured(flat, work, beside, q)
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
    all_ranks, _ = _measured(flat, work, beside, everything)
    free[:] = led
    if not fits(everything, all_ranks):
        free[:] = True


def _measured(flat: Flat, work: Work, beside: Neighbours, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ranks (T,) and largest steps (T,) at coordinates q (T, nq)."""
    rank, largest = np.zeros(len(q), np.int64), np.zeros(len(q))
    spread_frames(flat, work, beside, q, rank, largest)
    return rank, largest
