"""Memory of the solver: room for a robot's numbers, allocated once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, compiled_for_record
from ..kinematics.elimination import Elimination, new_elimination
from ..kinematics.kernels import Placement, new_placement
from ..mechanism.topology import Flat
from ..objectives.terms import ROWS, ROWS_TIED, Terms, new_terms
from . import articulated
from .hessian import System, new_system

SMALL = 64  # degrees of freedom up to which a matrix is quicker than the way from the tips to the root and back


class Program(NamedTuple):
    """Bounds that a step holds, beyond those that the factored system does (`program.py`).

    `held` (k,) coordinates, with k and that of the last program in `number` (2,); `pulls` (k, d), what a force on each
    is on the independent ones; `normals` (k, n) of their planes, orthogonal to one another, and `shares` (k, k), what
    the planes' own normals have of these; `forces` (k,). `way` (n,) leads to the optimum without the bounds, `along`
    (n,) with them; `direction` (d,) is the latter's of all coordinates.
    """

    held: np.ndarray
    number: np.ndarray
    pulls: np.ndarray
    normals: np.ndarray
    shares: np.ndarray
    forces: np.ndarray
    way: np.ndarray
    along: np.ndarray
    direction: np.ndarray


def new_program(d: int) -> Program:
    """Return room for the bounds of d degrees of freedom.

    Args:
        d: Degrees of freedom.

    Returns:
        Zeros.
    """
    squares, rows = [np.zeros((d, d)) for _ in range(3)], [np.zeros(d) for _ in range(4)]
    return by_reference(Program(np.zeros(d, np.int64), np.zeros(2, np.int64), *squares, *rows))


class Work(NamedTuple):
    """Scratch of the solver.

    The frame's bounds on scalar coordinates, `lower` and `upper` (d,), the second derivatives (d, d) of the convex
    `model` that stands in for an indefinite one, and which coordinates the last step leaves free, `unheld` (d,).
    """

    e: Elimination
    terms: Terms
    system: System
    trial: Placement
    H: np.ndarray
    gradient: np.ndarray
    step: np.ndarray
    correction: np.ndarray
    right: np.ndarray
    multiplier: np.ndarray
    independent: np.ndarray
    listed: np.ndarray
    reduced: np.ndarray
    K: np.ndarray
    slope: np.ndarray
    vectors: np.ndarray
    program: Program
    shares: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    model: np.ndarray
    unheld: np.ndarray


class LargeWork(Work):
    """Scratch of a robot of more than `SMALL` degrees of freedom.

    Another type, so that what only such a robot needs is compiled for it alone.
    """


def new_work(flat: Flat, q: np.ndarray, tied: np.ndarray | None = None) -> Work:
    """Return room for solving a mechanism.

    Args:
        flat: The robot.
        q: (nq,) coordinates that stand in it at first.
        tied: (k, 2) bodies of the objectives over two bodies (`ObjectiveTables.tied`); None where a clip asks for none.

    Returns:
        `Work`, or `LargeWork` for many degrees of freedom.
    """
    kind = Work if len(flat.before) <= SMALL else LargeWork
    d, rows = len(flat.before), len(flat.row_kind) + len(flat.coupling_leader)
    return by_reference(
        kind(
            e=new_elimination(flat),
            terms=new_terms(flat, tied),
            system=new_system(flat, ROWS + (0 if tied is None else ROWS_TIED * len(tied))),
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
    """Factor the second derivatives by `articulated.factor`.

    For a robot of more than `SMALL` degrees of freedom.

    Args:
        flat: The mechanism's arrays for the kernels.
        now: Placement of the bodies.
        work: Scratch of the solver.

    Returns:
        Whether they are positive definite; False for smaller robots.
    """
    return articulated.factor(flat, now, work.e, work.terms, work.system)


@compiled_for_record(LargeWork)
def solve_tree(flat, now, x, work):
    """Solve by `articulated.solve`, for a robot of more than `SMALL` degrees of freedom.

    Args:
        flat: The mechanism's arrays for the kernels.
        now: Placement of the bodies.
        x: A reduced gradient (d,); the solution afterwards.
        work: Scratch of the solver.
    """
    articulated.solve(flat, now, work.e, work.terms, work.system, x)
