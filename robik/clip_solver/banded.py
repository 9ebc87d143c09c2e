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

from .band import add_products, factor, solve

ITERATIONS = 40
WIDEST = 600  # of a band: beyond that it is not sparse enough for this
SIGNS = (1.0, -1.0, 1.0, -1.0)  # of bounds: rows from above and below, then unknowns
BACK = 0.995  # of the way to the nearest bound that is taken
ROUNDED = 1e-6  # of the gradient: what may be left of the Lagrangian's
SHORT, STALLS = 1e-3, 4  # so many steps in a row that are shorter bring nothing: no solution, or a hard one


class Solution(NamedTuple):
    """Solution of a program."""

    x: np.ndarray  # (n,) unknowns
    multipliers: np.ndarray  # (m,) of the rows, positive at their upper bounds


def solve_banded(
    hessian: sparse.csc_matrix,
    gradient: np.ndarray,
    rows: sparse.csc_matrix,
    of_rows: tuple[np.ndarray, np.ndarray],
    of_unknowns: tuple[np.ndarray, np.ndarray],
    tolerance: float,
    accuracy: float,
) -> Solution | None:
    """Return the solution of a program; None where there is none, or this method does not find it.

    `hessian` (n, n) is an upper triangle, `rows` are (m, n); the lower and upper bounds of rows and unknowns may be
    infinite. Rows are met to `tolerance`, the objective to `accuracy`.
    """
    program = _Banded(hessian, gradient, rows, of_rows, of_unknowns)
    return program.solve(tolerance, accuracy) if len(gradient) and program.width <= WIDEST else None


class _Banded:
    """A program, with its bounds one below the other: rows from above and below, then unknowns likewise."""

    def __init__(
        self,
        hessian: sparse.csc_matrix,
        gradient: np.ndarray,
        rows: sparse.csc_matrix,
        of_rows: tuple[np.ndarray, np.ndarray],
        of_unknowns: tuple[np.ndarray, np.ndarray],
    ) -> None:
        self._g, self._rows = gradient, rows.tocsr()
        self._columns = self._rows.T.tocsr()
        self._upper = upper = hessian.tocoo()
        self._H = (upper + sparse.triu(upper, 1).T).tocsr()
        self._at = tuple(np.flatnonzero(np.isfinite(each)) for each in (*of_rows[::-1], *of_unknowns[::-1]))
        parts = zip(SIGNS, (*of_rows[::-1], *of_unknowns[::-1]), self._at, strict=True)
        self._d = np.concatenate([sign * each[at] for sign, each, at in parts])
        self._cuts = np.cumsum([len(at) for at in self._at])[:-1]
        first = self._rows.indptr[:-1][np.diff(self._rows.indptr) > 0]
        spans = np.maximum.reduceat(self._rows.indices, first) - np.minimum.reduceat(self._rows.indices, first)
        self.width = int(max((upper.col - upper.row).max(initial=0), spans.max(initial=0) if len(first) else 0))

    def _summed(self, values: np.ndarray, signs: tuple[float, ...] = SIGNS) -> tuple[np.ndarray, np.ndarray]:
        """Return values of the bounds, summed by row (m,) and by unknown (n,)."""
        found = np.zeros(self._rows.shape[0]), np.zeros(len(self._g))
        for k, (sign, part, at) in enumerate(zip(signs, np.split(values, self._cuts), self._at, strict=True)):
            found[k // 2][at] += sign * part
        return found

    def _bounded(self, x: np.ndarray) -> np.ndarray:
        """Return C x."""
        moved = self._rows @ x
        up, down, high, low = self._at
        return np.concatenate([moved[up], -moved[down], x[high], -x[low]])

    def _back(self, values: np.ndarray) -> np.ndarray:
        """Return Cᵀ of values of the bounds (n,)."""
        of_rows, of_unknowns = self._summed(values)
        return np.asarray(self._columns @ of_rows + of_unknowns)

    def _factored(self, weights: np.ndarray) -> np.ndarray | None:
        """Return the factor of H + Cᵀ diag(w) C; None if rounding leaves none."""
        of_rows, of_unknowns = self._summed(weights, (1.0, 1.0, 1.0, 1.0))
        band, upper, rows = np.zeros((len(self._g), self.width + 1)), self._upper, self._rows
        band[upper.row, upper.col - upper.row] = upper.data
        band[:, 0] += of_unknowns
        add_products(band, rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data, of_rows)
        return band if factor(band) else None

    def solve(self, tolerance: float, accuracy: float) -> Solution | None:
        """Return the solution; None if it is not found."""
        n_bounds = len(self._d)
        if not n_bounds:
            factored = self._factored(np.zeros(0))
            return None if factored is None else Solution(_solved(factored, -self._g), np.zeros(self._rows.shape[0]))
        x, s, z = self._start()
        steep = ROUNDED * float(np.abs(self._g).max())
        stalls = 0
        for _ in range(ITERATIONS):
            dual, primal = self._H @ x + self._g + self._back(z), self._bounded(x) + s - self._d
            gap = float(s @ z)
            short = np.abs(primal).max() <= tolerance and np.abs(dual).max() <= max(tolerance, steep)
            if short and gap + float(np.abs(dual) @ np.abs(x)) <= accuracy:
                return Solution(x, self._summed(z)[0])
            factored = self._factored(z / s)
            if factored is None:
                return None
            mean = gap / n_bounds
            dx, ds, dz = self._step(factored, dual, primal, s, z, -s * z)
            share = (_longest(s, ds), _longest(z, dz))
            after = float((s + share[0] * ds) @ (z + share[1] * dz)) / n_bounds
            dx, ds, dz = self._step(factored, dual, primal, s, z, (after / mean) ** 3 * mean - s * z - ds * dz)
            longest = min(1.0, BACK * _longest(s, ds)), min(1.0, BACK * _longest(z, dz))
            stalls = stalls + 1 if min(longest) < SHORT else 0
            if stalls >= STALLS or not np.isfinite(dx).all():
                return None
            x, s, z = x + longest[0] * dx, s + longest[0] * ds, z + longest[1] * dz
        return None

    def _step(
        self, factored: np.ndarray, dual: np.ndarray, primal: np.ndarray, s: np.ndarray, z: np.ndarray, r: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the steps of unknowns, slacks and multipliers by which the products s z change by r."""
        right = -dual - self._back((r + z * primal) / s)
        dx = _solved(factored, right)
        ds = -primal - self._bounded(dx)
        return dx, ds, (r - z * ds) / s

    def _start(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where to begin: unknowns at rest, slacks and multipliers of one size."""
        x = np.zeros(len(self._g))
        s = np.maximum(self._d - self._bounded(x), 0.1)
        scale = max(float(np.abs(self._g).max()), 1e-6) / 10.0
        return x, s, np.full(len(s), scale) / np.maximum(s, 1.0)


def _solved(factored: np.ndarray, right: np.ndarray) -> np.ndarray:
    x = right.copy()
    solve(factored, x)
    return x


def _longest(values: np.ndarray, steps: np.ndarray) -> float:
    """Return the largest share of steps, up to 1, after which values are still positive."""
    down = steps < 0.0
    return min(1.0, float((-values[down] / steps[down]).min(initial=1.0)))
