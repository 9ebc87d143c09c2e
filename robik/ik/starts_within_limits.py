"""Starts of a pose between the motors' limits, for where the way from the rest pose ends short of the targets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..mechanism.model import Mechanism
from ..mechanism.topology import Topology
from ..objectives.registry import missed
from .memory import Output
from .sequence import UNMET
from .solver import ClipTargets, Solver
from .sqp import UNREACHED

STARTS = 32  # of 200 random poses each of eleven arms and linkages, the hardest was met from the 20th


def starts_within_limits(mechanism: Mechanism, topology: Topology, at: np.ndarray) -> Iterator[np.ndarray]:
    """Yield coordinates (nq,) with the motors elsewhere between their limits: in the middle, then all over (Sobol).

    Coordinates without a motor are those of `at` (nq,), as are balls and the base; loops may be open.
    """
    dofs = np.array([topology.dofs[name][0] for name in mechanism.actuators if name in topology.dofs], dtype=int)
    flat = topology.flat
    dofs = dofs[flat.dof_q[dofs] >= 0]
    if not len(dofs):
        return
    low = np.where(np.isfinite(flat.lower[dofs]), flat.lower[dofs], -np.pi)
    high = np.where(np.isfinite(flat.upper[dofs]), flat.upper[dofs], np.pi)
    for share in _shares(len(dofs)):
        q = at.copy()
        q[flat.dof_q[dofs]] = low + share * (high - low)
        yield q


def _shares(motors: int) -> Iterator[np.ndarray]:
    """Yield shares (motors,) of the ranges: the middle, then Sobol's sequence but for its first, which is a corner."""
    yield np.full(motors, 0.5)
    from scipy.stats.qmc import Sobol  # takes long to import

    yield from Sobol(motors, scramble=False).random(STARTS)[1:]


def start_of_first_frame(solver: Solver, output: Output, clip_targets: ClipTargets) -> np.ndarray | None:
    """Return coordinates (nq,) from which a clip's first frame meets its targets; None if it does so from rest.

    None, too, where no start meets them: an arm that cannot reach them stretches as it did. The solver is reset;
    `output` has room for a frame.
    """
    starts, found = starts_within_limits(solver.mechanism, solver.topology, solver.topology.rest), None
    solver.solve(output, 0, 1, clip_targets)
    while _misses(solver, output) and (found := next(starts, None)) is not None:
        solver.start_at(found)
        solver.solve(output, 0, 1, clip_targets)
    found = None if found is None else output.q[0].copy()
    solver.reset()
    return found


def _misses(solver: Solver, output: Output) -> bool:
    """Return whether the frame that was solved last misses its targets."""
    reached = output.status[0] != UNREACHED
    return not reached or missed(solver.flat, solver._memory.last, solver.tables) > UNMET
