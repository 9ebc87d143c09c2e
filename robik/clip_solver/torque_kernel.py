"""Compiled kernels for torques along a clip: steps between neighbouring frames, and how they change with each frame."""

from __future__ import annotations

from ..jit import inlined, kernel
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import difference, integrate, stand_at
from ..kinematics.null_space import extend

VARIED = 1e-6  # rad or m: step by which derivatives of torques are taken


@kernel
def steps_between(flat, q, before, after, back, ahead):
    """Fill the steps (T, d) from the frames `before` and to the frames `after`, each (T,) with itself for none."""
    for k in range(q.shape[0]):
        difference(flat, q[k], q[before[k]], back[k])
        difference(flat, q[after[k]], q[k], ahead[k])


@kernel
def tangents(flat, work, beside, q, first, last, wanted, model, Z):
    """Fill Z (n, m, d), the derivatives of all degrees of freedom by the independent ones, frame by frame.

    `wanted` (T,) has the place of each frame in Z; -1 for none.
    """
    for k in range(first, last):
        if wanted[k] < 0:
            continue
        stand_at(flat, beside.now, q[k])
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

    The rows of `triples` (n, 3) are a frame before, the frame and the frame after. `varied` (n, 3 m, nq) has
    coordinates, `back` and `ahead` (n, 3 m, d) steps; a frame with fewer than m independent coordinates has its own
    in the rest. `place` (T,) is that of a frame in Z (frames, m, d), the derivatives by its independent
    coordinates.
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
