"""Compiled kernels for torques along a clip: steps between neighbouring frames, and how they change with each frame."""

from __future__ import annotations

from ..jit import inlined, kernel
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import difference, integrate
from ..kinematics.null_space import extend
from .model import stand

VARIED = 1e-6  # rad or m: step by which derivatives of torques are taken


@kernel
def steps_between(flat, q, before, after, back, ahead):
    """Fill the steps into frames and out of them.

    Args:
        flat: The mechanism's arrays for the kernels.
        q: Coordinates (T, nq).
        before: Frame before each (T,); the frame itself for none.
        after: Frame after each (T,); the frame itself for none.
        back: Filled with the steps (T, d) from the frames before.
        ahead: Filled with the steps (T, d) to the frames after.
    """
    for k in range(q.shape[0]):
        difference(flat, q[k], q[before[k]], back[k])
        difference(flat, q[after[k]], q[k], ahead[k])


@kernel
def tangents(flat, work, beside, q, first, last, wanted, model, Z):
    """Fill the derivatives of all degrees of freedom by the independent ones.

    Args:
        flat: The mechanism's arrays for the kernels, on its contacts.
        work: Scratch of the solver.
        beside: Placements of neighbouring frames, scratch.
        q: Coordinates (T, nq) of the clip's frames.
        first: First frame on these contacts.
        last: The frame after the last.
        wanted: Place of each frame (T,) in `Z`; -1 for none.
        model: Model where the frames are, with their independent coordinates.
        Z: Filled with derivatives (n, m, d).
    """
    for k in range(first, last):
        if wanted[k] < 0:
            continue
        stand(flat, beside.now, q[k])
        eliminate(flat, beside.now, work.e)
        for a in range(model.number[k]):
            step = Z[wanted[k], a]
            step[:] = 0.0
            step[model.independent[k, a]] = 1.0
            extend(flat, work.e, step)


@inlined
def _copy(values, out):
    for i in range(values.shape[0]):
        out[i] = values[i]


@kernel
def vary_frames(flat, q, triples, place, model, Z, room, varied, back, ahead):
    """Fill frames' coordinates and the steps beside them, once for each coordinate that is varied in three frames.

    Args:
        flat: The mechanism's arrays for the kernels.
        q: Coordinates (T, nq) of the clip's frames.
        triples: The frame before, the frame itself and the frame after (n, 3).
        place: Place of each frame (T,) in `Z`.
        model: Model where the frames are, with the number of their independent coordinates.
        Z: Derivatives (frames, m, d) by these.
        room: Scratch (3, nq).
        varied: Filled with coordinates (n, 3 m, nq); where a frame has fewer than m, with what they are.
        back: Filled with the steps from the frame before (n, 3 m, d).
        ahead: Filled with the steps to the frame after (n, 3 m, d).
    """
    m = Z.shape[1]
    for i in range(triples.shape[0]):
        for j in range(3):
            _copy(q[triples[i, j]], room[j])
        for j in range(3):
            k = triples[i, j]
            for a in range(m):
                row = j * m + a
                if a < model.number[k]:
                    integrate(flat, q[k], Z[place[k], a], VARIED, room[j])
                _copy(room[1], varied[i, row])
                difference(flat, room[1], room[0], back[i, row])
                difference(flat, room[2], room[1], ahead[i, row])
                _copy(q[k], room[j])
