"""Interior point method for convex quadratic programs whose unknowns are coupled with near ones alone.

    min gᵀx + ½ xᵀHx   s.t.   below ≤ Rx ≤ above,   low ≤ x ≤ high

With slacks s > 0 and multipliers z > 0 of all finite bounds, Cx + s = d, the equations of Newton's method are reduced
to the unknowns,

    (H + Cᵀ diag(z/s) C) Δx = −(Hx + g + Cᵀz) − Cᵀ (r + z (Cx + s − d)) / s,

with r what is missing of the products s z. The matrix is a band, since R couples frames with the next three only.
Predictor and corrector are Mehrotra's (SIAM J. Optimization 2, 1992).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..jit import by_reference
from .interior_point import Entries, Point, Quadratic, Scratch, interior_point

WIDEST = 600  # of a band: beyond that it is not sparse enough for this
ROUNDED = 1e-6  # of the gradient: what may be left of the Lagrangian's


class Solution(NamedTuple):
    """Solution of a program."""

    x: np.ndarray  # (n,) unknowns
    multipliers: np.ndarray  # (m,) of the rows, positive at their upper bounds


def solve_banded(
    hessian: sparse.csc_matrix,
    gradient: np.ndarray,
    rows: sparse.csr_matrix,
    of_rows: tuple[np.ndarray, np.ndarray],
    of_unknowns: tuple[np.ndarray, np.ndarray],
    tolerance: float,
    accuracy: float,
) -> Solution | None:
    """Return the solution of a program; None where there is none, or this method does not find it.

    `hessian` (n, n) is an upper triangle, `rows` are (m, n); the lower and upper bounds of rows and unknowns may be
    infinite. Rows are met to `tolerance`, the objective to `accuracy`.
    """
    rows = rows.tocsr()
    width = _width(hessian, rows)
    if not len(gradient) or width > WIDEST:
        return None
    low, high = (np.concatenate(pair) for pair in zip(of_rows, of_unknowns, strict=True))
    upper, lower = np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))
    program = by_reference(
        Quadratic(
            upper=_entries(hessian),
            gradient=np.ascontiguousarray(gradient, float),
            rows=_entries(rows),
            at=np.concatenate([upper, lower]),
            sign=np.repeat([1.0, -1.0], [len(upper), len(lower)]),
            most=np.concatenate([high[upper], -low[lower]]),
        )
    )
    n, count, steep = len(gradient), len(program.at), float(np.abs(gradient).max())
    s = np.maximum(program.most, 0.1)  # of unknowns at rest
    now = by_reference(Point(np.zeros(n), s, max(steep, 1e-6) / 10.0 / np.maximum(s, 1.0)))
    step = by_reference(Point(np.zeros(n), np.zeros(count), np.zeros(count)))
    lists = np.zeros(n), np.zeros(count), np.zeros(count), np.zeros(len(low)), np.zeros((n, width + 1))
    room, flat = by_reference(Scratch(*lists, step)), max(tolerance, ROUNDED * steep)
    if not interior_point(program, now, room, tolerance, flat, accuracy):
        return None
    of_bounds = np.bincount(program.at, program.sign * now.z, minlength=len(low))
    return Solution(now.x, of_bounds[: rows.shape[0]])


def _entries(matrix: sparse.csc_matrix | sparse.csr_matrix) -> Entries:
    indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return by_reference(Entries(*indices, matrix.data.astype(float)))


def _width(hessian: sparse.csc_matrix, rows: sparse.csr_matrix) -> int:
    """Return the number of diagonals below the main one that the program couples unknowns by."""
    far = np.arange(hessian.shape[1])[np.diff(hessian.indptr) > 0]
    first = np.minimum.reduceat(hessian.indices, hessian.indptr[far]) if len(far) else far
    widths = [0, int((far - first).max(initial=0))]
    starts = rows.indptr[:-1][np.diff(rows.indptr) > 0]
    if len(starts):
        spans = np.maximum.reduceat(rows.indices, starts) - np.minimum.reduceat(rows.indices, starts)
        widths.append(int(spans.max()))
    return max(widths)
