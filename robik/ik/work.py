"""Memory of the solver: room for a robot's numbers, allocated once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, compiled_for_record
from ..kinematics.elimination import Elimination, new_elimination
from ..kinematics.kernels import Placement, new_placement
from ..mechanism.topology import SMALL, Flat
from ..objectives.terms import Terms, low_rank_rows, new_terms
from . import articulated
from .hessian import System, new_system


class Program(NamedTuple):
    """Bounds that a step holds, beyond those that the factored system does (`program.py`)."""

    held: np.ndarray  # (k,) coordinates on a bound
    number: np.ndarray  # (2,) k, and that of the last program
    pending: np.ndarray  # (3,) whether the system is yet to be factored between them, has a new basis, is convex
    pulls: np.ndarray  # (k, d) forces on each as forces on the independent coordinates
    planes: np.ndarray  # (k, n) normals of their planes
    normals: np.ndarray  # (k, n) the same, orthogonal to one another and of length one
    shares: np.ndarray  # (k, k) the planes' own normals in terms of those
    forces: np.ndarray  # (k,) of the bounds
    way: np.ndarray  # (n,) to the optimum without the bounds
    along: np.ndarray  # (n,) to the optimum with them
    direction: np.ndarray  # (d,) `along` as a step of all coordinates


def new_program(d: int) -> Program:
    """Return room for the bounds of d degrees of freedom."""
    squares, rows = [np.zeros((d, d)) for _ in range(4)], [np.zeros(d) for _ in range(4)]
    return by_reference(Program(np.zeros(d, np.int64), np.zeros(2, np.int64), np.zeros(3, np.bool_), *squares, *rows))


class Work(NamedTuple):
    """Scratch of the solver."""

    e: Elimination  # elimination of dependent coordinates
    terms: Terms  # forces and second derivatives of the objectives
    system: System  # factors of the second derivatives
    trial: Placement  # placement of a step that is tried
    H: np.ndarray  # (d, d) second derivatives over the listed coordinates, or their factor
    gradient: np.ndarray  # (d,) of the model at the step so far
    step: np.ndarray  # (d,) of this iteration
    correction: np.ndarray  # (d,) step of a projection
    right: np.ndarray  # (rows,) closure to be corrected
    multiplier: np.ndarray  # (rows,) λ
    independent: np.ndarray  # (d,) the listed independent coordinates
    listed: np.ndarray  # (1,) their number
    reduced: np.ndarray  # (d,) vector over them
    K: np.ndarray  # (d, d) second derivatives over all coordinates
    slope: np.ndarray  # (d,) gradient of the objective
    vectors: np.ndarray  # (d + 1, d) eigenvectors
    program: Program  # bounds that a step holds
    shares: np.ndarray  # (d,) scratch
    lower: np.ndarray  # (d,) the frame's bounds on scalar coordinates [rad or m]
    upper: np.ndarray  # (d,) likewise
    model: np.ndarray  # (d, d) convex second derivatives that stand in for indefinite ones
    unheld: np.ndarray  # (d,) whether the last step leaves a coordinate free


class LargeWork(Work):
    """Scratch of a robot of more than `SMALL` degrees of freedom.

    A kind of its own, so that what only such a robot needs is compiled for it alone.
    """


def new_work(flat: Flat, q: np.ndarray, tied: np.ndarray | None = None, more: int = 0) -> Work:
    """Return room for solving a mechanism that stands at q (nq,); `LargeWork` for many degrees of freedom.

    `tied` (k, 2) has the bodies of the objectives over two bodies (`ObjectiveTables.tied`); None for a clip without
    such. `more` is the number of low-rank rows beside theirs.
    """
    kind = Work if len(flat.before) <= SMALL else LargeWork
    d, rows = len(flat.before), len(flat.row_kind) + len(flat.coupling_leader)
    return by_reference(
        kind(
            e=new_elimination(flat),
            terms=new_terms(flat, tied, more),
            system=new_system(flat, low_rank_rows(tied) + more),
            trial=new_placement(flat, q),
            H=np.zeros((d, d)),
            gradient=np.zeros(d),
            step=np.zeros(d),
            correction=np.zeros(d),
            right=np.zeros(rows),
            multiplier=np.zeros(rows),
            independent=np.zeros(d, np.int64),
            listed=np.zeros(1, np.int64),
            reduced=np.zeros(d),
            K=np.zeros((d, d)),
            slope=np.zeros(d),
            vectors=np.zeros((d + 1, d)),
            program=new_program(d),
            shares=np.zeros(d),
            lower=np.full(d, -np.inf),
            upper=np.full(d, np.inf),
            model=np.zeros((d, d)),
            unheld=np.ones(d, np.bool_),
        )
    )


@compiled_for_record(LargeWork, otherwise=False)
def factor_tree(flat, now, work):
    """Factor the second derivatives by `articulated.factor`; return False for up to `SMALL` degrees of freedom."""
    return articulated.factor(flat, now, work.e, work.terms, work.system)


@compiled_for_record(LargeWork)
def solve_tree(flat, now, x, work):
    """Replace x (d,) by the solution of `articulated.solve`, for robots of more than `SMALL` degrees of freedom."""
    articulated.solve(flat, now, work.e, work.terms, work.system, x)
