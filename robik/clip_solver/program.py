"""The quadratic program of one step of all frames, solved by an interior point method for banded programs.

    min gᵀx + ½ xᵀHx   s.t.   −1 ≤ D (v + J x) / l ≤ 1,   lower ≤ v + J x ≤ upper,   |x| ≤ radius

x holds the steps of the independent coordinates of all frames, v the bounded coordinates, J their derivatives, D their
differences over time and l the limits of these. H is block-tridiagonal and D a band.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..extras import extra
from .banded import solve_banded
from .bounds import Bounds, Differences
from .model import Model
from .quadratic import DAMPING, Quadratic
from .torques import TorqueRows, free

TOLERANCE = 1e-8  # of rows, which are of size one
SLACK = 1e-4  # of the conditions of an optimum, where the objective need not be more accurate
FINEST = 1e-9  # accuracy of the objective at the least
GOOD = 1e-6  # residuals with which a solution is taken if rounding stops the method before; rows are of size one
ITERATIONS = 50


@dataclass(frozen=True)
class Step:
    """Solution of a program.

    Attributes:
        dz: (T, m) step of the independent coordinates; zero where a frame has fewer.
        decreases: (T,) of the objective in each frame, as the model promises them.
        multipliers: of the rows, positive at their upper bounds.
        solved: whether there is a solution; without one the rest means nothing.
        gives_way: whether torques may be beyond their limits, at a price.
    """

    dz: np.ndarray
    decreases: np.ndarray
    multipliers: np.ndarray
    solved: bool
    gives_way: bool = False

    @property
    def decrease(self) -> float:
        """Decrease of the objective over all frames, as the model promises it."""
        return float(self.decreases.sum())

    @property
    def price(self) -> float:
        """Largest multiplier of a row."""
        return float(np.abs(self.multipliers).max(initial=0.0))


class Program:
    """Quadratic program of one step of a clip's frames, at one place of the clip.

    `values` (T, R) are those of the bounded coordinates, `previous` (T,) has the frame before each, -1 for none,
    and `order` the frames that move, in the program's order. `torques` are those near their limits; None for no
    rows of them. `quadratic` is computed from the model if left out.
    """

    def __init__(
        self,
        model: Model,
        values: np.ndarray,
        bounds: Bounds,
        orders: tuple[Differences, ...],
        previous: np.ndarray,
        order: np.ndarray,
        accuracy: float = FINEST,
        quadratic: Quadratic | None = None,
        torques: TorqueRows | None = None,
    ):
        frames, m = model.independent.shape
        counts = np.zeros(frames, np.int64)
        counts[order] = model.number[order]
        self._independent = np.asarray(model.independent)
        self._model, self._order, self._accuracy = model, order, max(accuracy, FINEST)
        self._parts, self._torques = (values, bounds, orders, previous), torques
        self._quadratic = quadratic or Quadratic.of(model, previous, free(model, torques))
        stays = _fixed(values, bounds, int(self._independent.max(initial=0)) + 1)
        goes = ~np.take_along_axis(stays, self._independent, axis=1)
        self._used = (np.arange(m) < counts[:, None]) & ~self._quadratic.local & goes  # (T, m) whether it is an unknown
        counts = self._used.sum(axis=1)
        start = np.zeros(frames, np.int64)
        start[order] = np.cumsum(counts[order]) - counts[order]
        self._size = int(counts.sum())
        self._column = np.where(self._used, start[:, None] + np.cumsum(self._used, axis=1) - 1, -1)
        own, gradient = self._quadratic.reduced()
        self._hessian, self._gradient = self._upper(own), self._flat(gradient)
        self._jacobian = self._derivatives(len(bounds.dof))
        self._low, self._high = self._box(values, bounds)
        self._rows, self._low_rows, self._high_rows, self._row_frame, self.rows_of = self._differences(bounds, orders)
        self._of_torque = np.zeros(len(self._row_frame), bool)
        if torques is not None:
            self._append(torques)
        self._now = self._row_values(values, None if torques is None else torques.shares)
        self._below, self._above = self._low_rows - self._now, self._high_rows - self._now

    def corrected(self, step: Step, radius: np.ndarray, moved: np.ndarray, shares: np.ndarray | None = None) -> Step:
        """Return the step again, with the rows bent as they are where it leads (second-order correction).

        `moved` (T, R) are the bounded coordinates after the step, `shares` (T, A + E) torques as shares of their
        limits; None where none is limited. The trust region `radius` (T, d) is of each degree of freedom [rad or
        m].
        """
        bent = self._row_values(moved, shares) - self._rows @ self._flat(step.dz)
        kept = self._below, self._above
        self._below, self._above = self._low_rows - bent, self._high_rows - bent
        found = self.solve(radius)
        self._below, self._above = kept
        return found

    def nearest(self, radius: np.ndarray) -> Step:
        """Return the shortest step within `radius` (T, d) [rad or m] that keeps all bounds, to first order."""
        kept = self._hessian, self._gradient
        self._hessian, self._gradient = sparse.identity(self._size, format="csc"), np.zeros(self._size)
        found = self.solve(radius)
        self._hessian, self._gradient = kept
        return found

    def solve(self, radius: np.ndarray, price: float | None = None, only_torque: bool = False) -> Step:
        """Return the step within the trust region `radius` (T, d) of each degree of freedom [rad or m].

        `price` is that of each frame's largest violation of rows, with `only_torque` of those of torques alone;
        None where all rows must hold. `Step.solved` says if bounds are kept.
        """
        within = np.take_along_axis(radius, self._independent, axis=1)
        reach = self._flat(within)
        low, high = np.maximum(self._low, -reach), np.minimum(self._high, reach)
        if price is None:
            parts = self._hessian, self._gradient, self._rows, self._below, self._above, low, high
            x, multipliers, solved = solved_program(*parts, self._accuracy)
        else:
            x, multipliers, solved = self._solve_elastic(
                low, high, price, self._of_torque if only_torque else np.ones(len(self._of_torque), bool)
            )
        x = np.clip(x, low, high)
        dz = np.zeros(self._column.shape)
        dz[self._used] = x[self._column[self._used]]
        self._quadratic.complete(dz, self._order)
        if (np.abs(dz) > within + 1e-12).any():  # what was eliminated has left the trust region
            values, bounds, orders, previous = self._parts
            whole = Quadratic.of(self._model, previous, np.zeros_like(self._quadratic.local))
            again = self._order, self._accuracy, whole, self._torques
            program = Program(self._model, values, bounds, orders, previous, *again)
            program._below, program._above = self._below, self._above  # its rows are the same, as bent as they are here
            return program.solve(radius, price, only_torque)
        return Step(dz, self._quadratic.decrease(dz), multipliers, solved)

    def left(self, step: Step) -> float:
        """Return the sum of what a step leaves beyond the rows' bounds, to first order."""
        return float(self.left_at(step).sum())

    def left_at(self, step: Step) -> np.ndarray:
        """Return what a step leaves beyond bounds, to first order, by the first frame (T,) that moves a row."""
        moved = self._rows @ self._flat(step.dz)
        over = np.maximum(np.maximum(self._below - moved, moved - self._above), 0.0)
        return np.bincount(self._row_frame, over, minlength=len(self._column))

    def _solve_elastic(
        self, low: np.ndarray, high: np.ndarray, price: float, gives: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return a solution with one more unknown per frame behind its own, by which rows that give may be violated."""
        moving = len(self._order)
        counts = np.count_nonzero(self._used[self._order], axis=1)
        slack = np.cumsum(counts) + np.arange(moving)
        own = np.arange(self._size) + np.repeat(np.arange(moving), counts)
        into = sparse.csc_matrix((np.ones(self._size), (own, np.arange(self._size))), (self._size + moving, self._size))
        place = np.zeros(len(self._column), np.int64)
        place[self._order] = slack
        count = self._rows.shape[0]
        relief = sparse.csr_matrix((gives * 1.0, (np.arange(count), place[self._row_frame])), (count, into.shape[0]))
        rows, bounded = self._rows @ into.T, np.flatnonzero(np.isfinite(self._below))
        room = np.full((2, into.shape[0]), np.inf)
        room[0][own], room[1][own] = low, high
        room[0][slack] = 0.0
        cost = into @ self._gradient
        cost[slack] = price
        gentle = sparse.csc_matrix((np.full(moving, DAMPING), (slack, slack)), (into.shape[0],) * 2)
        x, multipliers, solved = solved_program(
            (into @ self._hessian @ into.T + gentle).tocsc(),
            cost,
            sparse.vstack([rows - relief, (rows + relief).tocsr()[bounded]], "csr"),
            np.concatenate([np.full(count, -np.inf), self._below[bounded]]),
            np.concatenate([self._above, np.full(len(bounded), np.inf)]),
            room[0],
            room[1],
            self._accuracy,
        )
        multipliers[bounded] += multipliers[count:]
        return x[own], multipliers[:count], solved

    def _flat(self, values: np.ndarray) -> np.ndarray:
        """Return values (T, m) in the program's order."""
        found = np.zeros(self._size)
        found[self._column[self._used]] = values[self._used]
        return found

    def _upper(self, own: np.ndarray) -> sparse.csc_matrix:
        """Return the upper triangle of the Hessian, with blocks (T, m, m) of the frames."""
        column, parts = self._column, self._quadratic
        rows, columns = np.triu_indices(column.shape[1])
        i, j, data = column[:, rows].ravel(), column[:, columns].ravel(), own[:, rows, columns].ravel()
        a, b = (
            np.broadcast_to(c, parts.cross.shape) for c in (column[parts.last][:, :, None], column[parts.tied][:, None])
        )
        i, j = np.concatenate([i, np.minimum(a, b).ravel()]), np.concatenate([j, np.maximum(a, b).ravel()])
        data, inside = np.concatenate([data, parts.cross.ravel()]), (i >= 0) & (j >= 0)
        shape = (self._size, self._size)
        return sparse.coo_matrix((data[inside], (i[inside], j[inside])), shape=shape).tocsc()

    def _derivatives(self, coordinates: int) -> sparse.csr_matrix:
        """Return the derivatives (T R, unknowns) of the bounded coordinates."""
        frame, r, a = np.nonzero(self._model.motion)
        kept = self._used[frame, a]
        frame, r, a = frame[kept], r[kept], a[kept]
        shape = (len(self._column) * coordinates, self._size)
        data = self._model.motion[frame, r, a]
        return sparse.csr_matrix((data, (frame * coordinates + r, self._column[frame, a])), shape=shape)

    def _box(self, values: np.ndarray, bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and highest steps of the unknowns that are bounded coordinates themselves."""
        d = int(max(self._model.independent.max(initial=0), bounds.dof.max(initial=0))) + 1
        room = np.full((2, len(values), d), np.inf)
        room[0][:, bounds.dof], room[1][:, bounds.dof] = bounds.lower - values, bounds.upper - values
        room[0][:, np.setdiff1d(np.arange(d), bounds.dof)] = -np.inf
        low, high = (np.take_along_axis(side, self._model.independent, axis=1) for side in room)
        return np.minimum(self._flat(low), 0.0), np.maximum(self._flat(high), 0.0)

    def _differences(
        self, bounds: Bounds, orders: tuple[Differences, ...]
    ) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return the rows, their bounds, the first frame of each that moves, and which values each part is of.

        They are differences by their limits, and positions of dependent coordinates [rad or m].
        """
        frames, R = self._parts[0].shape
        lead = np.diff(self._jacobian.indptr) <= 1  # a coordinate that is an unknown itself, or does not move
        limited = np.tile(np.isfinite(bounds.lower) | np.isfinite(bounds.upper), frames)
        kept = np.flatnonzero(limited & ~lead)
        rows, where, of = [self._jacobian[kept]], [kept // R], [kept]
        below, above = [bounds.lower[kept % R]], [bounds.upper[kept % R]]
        for order, limit in zip(orders, bounds.limits, strict=True):
            held = np.flatnonzero(np.isfinite(limit))
            if not len(held) or not len(order.frames):
                of.append(np.zeros(0, np.int64))
                continue
            windows = np.arange(len(order.frames))[:, None] + np.zeros_like(order.frames)
            shape = (len(order.frames), frames)
            D = sparse.csr_matrix((order.weights.ravel(), (windows.ravel(), order.frames.ravel())), shape=shape)
            D.eliminate_zeros()  # windows in which nothing moves
            chosen = (np.arange(frames)[:, None] * R + held).ravel()
            scale = sparse.diags(np.tile(1.0 / limit[held], len(order.frames)))
            moved = (scale @ sparse.kron(D, sparse.identity(len(held)), "csr") @ self._jacobian[chosen]).tocsr()
            some = np.flatnonzero(np.diff(moved.indptr))
            first = np.argmax(self._used.any(axis=1)[order.frames], axis=1)
            where.append(np.repeat(order.frames[np.arange(len(order.frames)), first], len(held))[some])
            rows.append(moved[some])
            of.append(some // len(held) * R + held[some % len(held)])
            below.append(np.full(len(some), -1.0))
            above.append(np.full(len(some), 1.0))
        return sparse.vstack(rows, "csr"), np.concatenate(below), np.concatenate(above), np.concatenate(where), of

    def _append(self, torques: TorqueRows) -> None:
        """Add the rows of torques, as shares of their limits."""
        column = self._column[torques.frames]
        there = column >= 0
        row = np.broadcast_to(np.arange(len(column))[:, None, None], column.shape)
        shape = (len(column), self._size)
        rows = sparse.csr_matrix((torques.slopes[there], (row[there], column[there])), shape=shape)
        some = np.flatnonzero(np.diff(rows.indptr))
        first = np.argmax(self._used.any(axis=1)[torques.frames[some]], axis=1)
        self._rows = sparse.vstack([self._rows, rows[some]], "csr")
        self._low_rows = np.concatenate([self._low_rows, torques.lowest[some]])
        self._high_rows = np.concatenate([self._high_rows, np.ones(len(some))])
        self._row_frame = np.concatenate([self._row_frame, torques.frames[some, first]])
        self._of_torque = np.concatenate([self._of_torque, np.ones(len(some), bool)])
        self.rows_of.append(torques.of[some])

    def _row_values(self, values: np.ndarray, shares: np.ndarray | None) -> np.ndarray:
        """Return what the rows bound, at values (T, R) of the bounded coordinates and torques (T, A), by shares."""
        _, bounds, orders, _ = self._parts
        found = [values.ravel()[self.rows_of[0]]]
        for order, limit, of in zip(orders, bounds.limits, self.rows_of[1:4], strict=True):
            found.append((order.of(values, bounds.outside) / limit).ravel()[of])
        if self._torques is not None and shares is not None:
            found.append(shares.ravel()[self.rows_of[-1]])
        return np.concatenate(found)


def _fixed(values: np.ndarray, bounds: Bounds, dofs: int) -> np.ndarray:
    """Return which degrees of freedom (T, d) are at the only place that they may have, as motors that stay at rest."""
    found = np.zeros((len(values), max(dofs, int(bounds.dof.max(initial=-1)) + 1)), bool)
    found[:, bounds.dof] = (values == bounds.lower) & (values == bounds.upper)
    return found


def solved_program(
    hessian: sparse.csc_matrix,
    gradient: np.ndarray,
    rows: sparse.csr_matrix,
    below: np.ndarray,
    above: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    accuracy: float,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return solution (n,), multipliers (m,) and success of a convex quadratic program with banded rows.

    `hessian` (n, n) is an upper triangle. The rows (m, n) are between `below` and `above` (m,), the unknowns
    between `low` and `high` (n,). Multipliers are positive at upper bounds. Our own method solves what has a solution
    two to four times faster; what it leaves is PIQP's: by a sparse factorization, or by blocks, which stand
    ill-conditioned rows longer.
    """
    tolerance = min(max(TOLERANCE, 0.1 * accuracy), SLACK)
    solution = solve_banded(hessian, gradient, rows, (below, above), (low, high), tolerance, accuracy)
    if solution is not None:
        return solution.x, solution.multipliers, True
    with extra("look-ahead"):
        import piqp

    bounded = (rows.tocsc(), below, above) if rows.shape[0] else (None, None, None)
    for factorization in (piqp.KKTSolver.sparse_ldlt, piqp.KKTSolver.sparse_multistage):
        solver = piqp.SparseSolver()
        settings = solver.settings
        settings.kkt_solver, settings.max_iter, settings.preconditioner_scale_cost = factorization, ITERATIONS, True
        settings.eps_abs, settings.eps_duality_gap_abs = tolerance, accuracy
        solver.setup(hessian, gradient, None, None, *bounded, low, high)
        status = solver.solve()
        found, info = solver.result, solver.result.info
        near = max(info.primal_res, info.dual_res) <= GOOD and info.duality_gap <= max(GOOD, accuracy)
        solved = status == piqp.PIQP_SOLVED or (status == piqp.PIQP_MAX_ITER_REACHED and near)
        if solved or status == piqp.PIQP_PRIMAL_INFEASIBLE:
            break
    multipliers = np.array(found.z_u) - np.array(found.z_l) if rows.shape[0] else np.zeros(0)
    return np.array(found.x), multipliers, solved
