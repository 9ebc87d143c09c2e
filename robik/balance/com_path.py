"""Smooth paths of the centre of mass over the support.

For a robot that moves slowly the centre of mass p itself must be over the support S. For one that moves faster it is
the zero-moment point z, where the ground's force acts. With all mass in one point at height h, which accelerates by ḧ
(the cart on a table):

    z = p − λ p̈,  λ = h / (g + ḧ)

Among the paths that keep z in S (λ = 0: p in S), the one taken is smooth and near the preferred path r:

    minimise  Σ |pₖ − rₖ|² + a Σ |D₂ p|² + j Σ |D₃ p|²   subject to  zₖ ∈ Sₖ

It is a convex quadratic program with banded matrices, solved by the alternating direction method of multipliers (ADMM).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from ..feet.support import nearest

BANDS = 3  # above the diagonal of the program's matrix
GRAVITY = 9.81  # m/s²


@dataclass(frozen=True, kw_only=True)
class Smoothness:
    """Smoothness of a path.

    Attributes:
        acceleration: weight a of second differences [samples⁴].
        jerk: weight j of third differences [samples⁶].
    """

    acceleration: float
    jerk: float = 0.0


def smooth_inside(
    wish: np.ndarray,
    supports: Sequence[np.ndarray | None],
    smoothness: Smoothness,
    lever: np.ndarray | None = None,
    tolerance: float = 2e-5,
    most: int = 4000,
) -> np.ndarray:
    """Return the smooth path p (N, 2) [m] near the wish r whose zero-moment point stays inside the supports Sₖ.

    A support is the corners (K, 2) of a convex polygon, a segment or a point [m], or None for anywhere. `lever` is λ
    (N,) [samples²]; None where the path itself is to be inside. The zero-moment point may end `tolerance` [m] outside,
    after at most `most` iterations.
    """
    project = _projection(supports)
    level = np.zeros(len(wish)) if lever is None else np.asarray(lever, dtype=float)
    hessian = _hessian(len(wish), smoothness)
    along = _squared(level)
    penalty = 10.0 if lever is None else 1.0
    factor = _factor(hessian, along, penalty)
    inside = project(wish)
    dual = np.zeros_like(wish)
    path = wish
    for iteration in range(most):
        path = cho_solve_banded((factor, False), wish + penalty * _back(level, inside - dual))
        point = zero_moment(path, level)
        previous, inside = inside, project(point + dual)
        dual += point - inside
        off, change = np.abs(point - inside).max(), np.abs(inside - previous).max()
        if max(off, change) < tolerance:
            break
        if iteration % 25 == 24 and not 0.2 < off / max(change, 1e-12) < 5.0:  # one of the two lags: rebalance
            scale = float(np.clip(np.sqrt(off / max(change, 1e-12)), 0.2, 5.0))
            penalty, dual = penalty * scale, dual / scale
            factor = _factor(hessian, along, penalty)
    return path


def zero_moment(path: np.ndarray, lever: np.ndarray) -> np.ndarray:
    """Return the zero-moment point z = p − λ D₂p (N, 2) of a path p (N, 2) [m], with λ (N,) [samples²].

    The path neither speeds up nor slows down at its ends.
    """
    point = path.copy()
    point[1:-1] -= lever[1:-1, None] * (path[:-2] - 2.0 * path[1:-1] + path[2:])
    return point


def levers(height: np.ndarray, ground: np.ndarray | float, rate: float) -> np.ndarray:
    """Return λ (N,) [samples²] of a centre of mass at heights (N,) over ground [m], at `rate` samples a second."""
    rise = np.zeros_like(height)
    if len(height) > 2:
        rise[1:-1] = (height[:-2] - 2.0 * height[1:-1] + height[2:]) * rate**2
    return np.maximum(height - ground, 0.0) / np.maximum(GRAVITY + rise, 0.2 * GRAVITY) * rate**2


def outside(points: np.ndarray, supports: Sequence[np.ndarray | None]) -> np.ndarray:
    """Return the distances (N,) of points (N, 2) from their supports (K, 2) [m]; 0 inside, and where there is none."""
    return np.linalg.norm(points - _projection(supports)(points), axis=1)


def _projection(supports: Sequence[np.ndarray | None]) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that takes points (N, 2) to the nearest ones inside the supports."""
    free = np.array([s is None for s in supports])
    corners = max((len(s) for s in supports if s is not None), default=1)
    polygons = np.stack(
        [np.zeros((corners, 2)) if s is None else s[np.minimum(np.arange(corners), len(s) - 1)] for s in supports]
    )
    return lambda points: np.where(free[:, None], points, nearest(points, polygons))


def _hessian(n: int, smoothness: Smoothness) -> np.ndarray:
    """Return I + a D₂ᵀD₂ + j D₃ᵀD₃ as its bands above the diagonal and the diagonal, which comes last (4, n)."""
    bands = np.zeros((BANDS + 1, n))
    bands[BANDS] = 1.0
    for weight, stencil in ((smoothness.acceleration, (1.0, -2.0, 1.0)), (smoothness.jerk, (-1.0, 3.0, -3.0, 1.0))):
        _add_squares(bands, np.tile(np.sqrt(weight) * np.array(stencil), (max(n - len(stencil) + 1, 0), 1)))
    return bands


def _squared(lever: np.ndarray) -> np.ndarray:
    """Return AᵀA of the rows of `zero_moment`, in bands (4, n)."""
    bands = np.zeros((BANDS + 1, len(lever)))
    bands[BANDS, [0, -1]] = 1.0
    inner = lever[1:-1]
    _add_squares(bands, np.column_stack([-inner, 1.0 + 2.0 * inner, -inner]))
    return bands


def _add_squares(bands: np.ndarray, rows: np.ndarray) -> None:
    """Add RᵀR to a matrix in bands; row k of R begins in column k with the k-th of `rows` (K, S)."""
    count, size = rows.shape
    for i in range(size):
        for j in range(i, size):
            bands[BANDS - (j - i), j : j + count] += rows[:, i] * rows[:, j]


def _back(lever: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return Aᵀ values (N, 2), A being the rows of `zero_moment`."""
    result = values.copy()
    inner = lever[1:-1, None] * values[1:-1]
    result[1:-1] += 2.0 * inner
    result[:-2] -= inner
    result[2:] -= inner
    return result


def _factor(hessian: np.ndarray, along: np.ndarray, penalty: float) -> np.ndarray:
    return cholesky_banded(hessian + penalty * along)
