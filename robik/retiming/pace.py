"""Pace along a path: how fast time may run in each place, so that the path takes least time.

    b = ṡ²,   q̇ = q′ ṡ,   q̈ = q″ b + ½ q′ b′,   q⃛ = ṡ (q‴ b + 3/2 q″ b′ + ½ q′ b″),   τ = g + c b + m ½ b′

All but jerk are linear in b, so that each step is a convex program (Verscheure et al., IEEE T-AC 2009); the ṡ before
jerk is that of the step before. Least is Σ Δs / √b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..clip_solver.program import solved_program
from ..mechanism.motor_limits import Limits

STEPS = 12
SETTLED = 1e-3  # of the time: a step that gains less is the last
SLOWEST = 1e-6  # b at the least
MORE = 4.0  # times as much b as before, at most


@dataclass(frozen=True)
class Torques:
    """Torques along a path of K nodes: at rest, by b, and by ½ b′, (K, A) each [N m or N]."""

    rest: np.ndarray
    by_speed: np.ndarray
    by_change: np.ndarray


@dataclass(frozen=True)
class Nodes:
    """A path's derivatives by s at K nodes, (K, A) each, and the way h [s] between two nodes."""

    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    h: float


def fastest_pace(nodes: Nodes, limits: Limits, most: float, ends: float, torques: Torques | None = None) -> np.ndarray:
    """Return the pace ṡ (K,) at the nodes that takes the least time.

    ṡ is at most `most`, and `ends` at both ends. A torque that cannot even be kept at rest is left out; None keeps no
    torques.
    """
    top = _top(nodes, limits, most, ends)
    b = np.maximum(0.25 * np.minimum(top, _gentle(nodes, limits)), SLOWEST)
    rows, below, above = _linear_rows(nodes, limits, torques)
    before = np.inf
    for _ in range(STEPS):
        bent = _jerk_rows(nodes, limits, b)
        every = sparse.vstack([rows, bent], "csc")
        low = np.concatenate([below, np.full(bent.shape[0], -1.0)]) - every @ b
        high = np.concatenate([above, np.full(bent.shape[0], 1.0)]) - every @ b
        gradient, curvature = -0.5 * nodes.h * b**-1.5, 0.75 * nodes.h * b**-2.5
        scale = b  # unknowns by their own size
        H, A = sparse.diags(curvature * scale**2, format="csc"), (every @ sparse.diags(scale)).tocsc()
        reach = np.maximum(SLOWEST, 0.1 * b) / b - 1.0, np.minimum(top / b, MORE) - 1.0
        x, _, solved = solved_program(H, gradient * scale, A, low, high, reach[0], np.maximum(reach[1], reach[0]), 1e-7)
        if not solved:
            b = np.maximum(0.5 * b, SLOWEST)
            continue
        b = np.clip(b * (1.0 + x), SLOWEST, np.maximum(top, SLOWEST))
        seconds = float(nodes.h * (b**-0.5).sum())
        if before - seconds <= SETTLED * seconds and before < np.inf:
            break
        before = seconds
    return np.sqrt(b)


def _top(nodes: Nodes, limits: Limits, most: float, ends: float) -> np.ndarray:
    """Return the highest b (K,) that speeds allow."""
    with np.errstate(divide="ignore"):
        by_speed = (limits.speed / np.abs(nodes.first)).min(axis=1, initial=np.inf)
    top = np.minimum(by_speed, most) ** 2
    top[[0, -1]] = np.minimum(top[[0, -1]], ends**2)
    return top


def _gentle(nodes: Nodes, limits: Limits) -> np.ndarray:
    """Return b (K,) at which the path itself keeps accelerations and jerks, the lowest of all."""
    with np.errstate(divide="ignore"):
        by_bend = (limits.acceleration / np.abs(nodes.second)).min(initial=np.inf)
        by_jerk = (limits.jerk / np.abs(nodes.third)).min(initial=np.inf) ** (2.0 / 3.0)
    return np.full(len(nodes.first), min(by_bend, by_jerk))


def _between(K: int, h: float) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Return the matrices (K - 1, K) that give b and b′ in the middle between nodes."""
    ones = np.ones(K)
    middle = sparse.diags([0.5 * ones, 0.5 * ones], [0, 1], shape=(K - 1, K), format="csr")
    return middle, sparse.diags([-ones / h, ones / h], [0, 1], shape=(K - 1, K), format="csr")


def _stacked(factor: np.ndarray, matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return rows (K A, nodes): a matrix (K, nodes) times a factor (K, A), node by node."""
    motors = factor.shape[1]
    return sparse.diags(factor.ravel()) @ sparse.kron(matrix, np.ones((motors, 1)), "csr")


def _linear_rows(
    nodes: Nodes, limits: Limits, torques: Torques | None
) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """Return the rows of acceleration and torque by their limits, with their bounds."""
    middle, change = _between(len(nodes.first), nodes.h)
    first, second = (0.5 * (each[1:] + each[:-1]) / limits.acceleration for each in (nodes.first, nodes.second))
    rows = [_stacked(second, middle) + _stacked(0.5 * first, change)]
    below, above = [np.full(rows[0].shape[0], -1.0)], [np.full(rows[0].shape[0], 1.0)]
    if torques is not None:
        held = np.flatnonzero(np.isfinite(limits.torque))
        rest, fast, slow = (
            0.5 * (each[1:, held] + each[:-1, held]) / limits.torque[held]
            for each in (torques.rest, torques.by_speed, torques.by_change)
        )
        rows.append(_stacked(fast, middle) + _stacked(0.5 * slow, change))
        can = np.abs(rest) < 1.0
        below.append(np.where(can, -1.0 - rest, -np.inf).ravel())
        above.append(np.where(can, 1.0 - rest, np.inf).ravel())
    return sparse.vstack(rows, "csr"), np.concatenate(below), np.concatenate(above)


def _jerk_rows(nodes: Nodes, limits: Limits, b: np.ndarray) -> sparse.csr_matrix:
    """Return the rows of jerk by its limit at the inner nodes, with ṡ as in b."""
    K, h = len(b), nodes.h
    ones = np.ones(K)
    own = sparse.diags([ones], [1], shape=(K - 2, K), format="csr")
    change = sparse.diags([-ones / (2 * h), ones / (2 * h)], [0, 2], shape=(K - 2, K), format="csr")
    bend = sparse.diags([ones / h**2, -2 * ones / h**2, ones / h**2], [0, 1, 2], shape=(K - 2, K), format="csr")
    pace = np.sqrt(b[1:-1])[:, None] / limits.jerk
    first, second, third = (each[1:-1] * pace for each in (nodes.first, nodes.second, nodes.third))
    return _stacked(third, own) + _stacked(1.5 * second, change) + _stacked(0.5 * first, bend)
