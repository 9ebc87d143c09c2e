"""Cholesky's factor of rows that begin late, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from robik.ik.envelope import copy_lower, factor_envelope, solve_envelope
from robik.jit import kernel


@kernel
def solve(K, first, chosen, n, L, lead, x):
    """Factor K between chosen rows, and solve for x; return whether it is positive definite."""
    copy_lower(K, first, chosen, n, L, lead)
    if not factor_envelope(L, n, lead):
        return False
    solve_envelope(L, n, lead, x)
    return True


@pytest.mark.parametrize("n", [1, 2, 5, 23, 60])
@pytest.mark.parametrize("width", [0, 1, 4, 100])
def test_rows_that_begin_late_are_factored_and_solved(n: int, width: int) -> None:
    rng = np.random.default_rng(n)
    near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width * rng.random(n)[:, None]
    half = np.where(near, rng.normal(size=(n, n)), 0.0)
    whole = half @ half.T + np.eye(n)
    chosen = np.sort(rng.choice(2 * n, n, replace=False))
    source, first = np.full((2 * n, 2 * n), np.nan), np.zeros(2 * n, np.int64)
    source[np.ix_(chosen, chosen)] = whole
    first[chosen] = [chosen[np.flatnonzero(row)[0]] for row in whole]
    L, lead = np.full((n, n), np.nan), np.zeros(n, np.int64)
    right = rng.normal(size=n)
    x = right.copy()
    assert solve(source, first, chosen, n, L, lead, x)
    assert lead.tolist() == [int(np.flatnonzero(row)[0]) for row in np.tril(whole)]
    assert np.tril(L) == pytest.approx(np.linalg.cholesky(whole), abs=1e-12)
    assert whole @ x == pytest.approx(right, abs=1e-9)


def test_what_is_not_positive_definite_is_told() -> None:
    K, places = np.diag([1.0, 2.0, -1.0]), np.arange(3)
    assert not solve(K, places, places, 3, np.zeros((3, 3)), np.zeros(3, np.int64), np.ones(3))
