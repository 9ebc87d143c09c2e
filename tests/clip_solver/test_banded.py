"""The banded interior point method against PIQP, NumPy and what a solution must meet."""

from __future__ import annotations

import numpy as np
import piqp
import pytest
from scipy import sparse

from robik.clip_solver.band import add_products, factor, solve
from robik.clip_solver.banded import solve_banded

TOLERANCE, ACCURACY = 1e-8, 1e-6


def banded(rng: np.random.Generator, n: int, width: int) -> np.ndarray:
    """A positive definite matrix (n, n) with so many diagonals below its own."""
    root = np.tril(np.triu(rng.normal(size=(n, n)), -width))
    return root @ root.T + 0.1 * np.eye(n)


def stored(matrix: np.ndarray, width: int) -> np.ndarray:
    band = np.zeros((len(matrix), width + 1))
    for off in range(width + 1):
        band[: len(matrix) - off, off] = np.diag(matrix, -off)
    return band


@pytest.mark.parametrize(("n", "width"), [(1, 0), (3, 2), (7, 1), (30, 4), (41, 9), (64, 20), (9, 8), (50, 0)])
def test_factors_and_solutions_are_numpys(n: int, width: int) -> None:
    rng = np.random.default_rng(n)
    matrix, right = banded(rng, n, width), rng.normal(size=n)
    band, x = stored(matrix, width), right.copy()
    assert factor(band)
    np.testing.assert_allclose(band, stored(np.linalg.cholesky(matrix), width), rtol=1e-9, atol=1e-12)
    solve(band, x)
    np.testing.assert_allclose(matrix @ x, right, atol=1e-8)
    assert not factor(stored(matrix - 2.0 * np.linalg.eigvalsh(matrix)[-1] * np.eye(n), width))


def test_products_are_added_to_the_band() -> None:
    rng = np.random.default_rng(3)
    inside = np.arange(12) - np.arange(9)[:, None]
    rows = np.where((inside >= 0) & (inside < 4), rng.normal(size=(9, 12)), 0.0)
    weights, band = rng.random(9), np.zeros((12, 4))
    csr = sparse.csr_matrix(rows)
    add_products(band, csr.indptr.astype(np.int32), csr.indices.astype(np.int32), csr.data, weights)
    np.testing.assert_allclose(band, stored(rows.T @ np.diag(weights) @ rows, 3), atol=1e-12)


class Case:
    """A program over frames: accelerations and jerks of motors within limits, as those of a clip are."""

    def __init__(self, seed: int, frames: int = 40, motors: int = 4, tight: float = 0.5) -> None:
        rng = np.random.default_rng(seed)
        n = frames * motors
        scale = 10.0 ** rng.uniform(-1, 2, n)
        self.H = sparse.csc_matrix(np.triu(banded(rng, n, 2 * motors - 1) * np.sqrt(np.outer(scale, scale))))
        self.g = rng.normal(size=n) * scale
        eye, parts = sparse.identity(motors), []
        for order in (1, 2, 3):
            D = np.diff(np.eye(frames), order, axis=0)
            parts.append(sparse.kron(D, eye))
        self.R = sparse.vstack(parts, "csc")
        self.below = -tight * rng.uniform(0.2, 1.0, self.R.shape[0])
        self.above = tight * rng.uniform(0.2, 1.0, self.R.shape[0])
        self.above[rng.random(len(self.above)) < 0.1] = np.inf
        self.low, self.high = np.full(n, -1.0), np.where(rng.random(n) < 0.5, np.inf, 1.0)

    def ours(self):
        bounds = (self.below, self.above), (self.low, self.high)
        return solve_banded(self.H, self.g, self.R, *bounds, TOLERANCE, ACCURACY)

    def piqp(self) -> np.ndarray:
        solver = piqp.SparseSolver()
        solver.settings.eps_abs = solver.settings.eps_duality_gap_abs = 1e-9
        solver.setup(self.H, self.g, None, None, self.R, self.below, self.above, self.low, self.high)
        assert solver.solve() == piqp.PIQP_SOLVED
        return np.array(solver.result.x)

    def value(self, x: np.ndarray) -> float:
        whole = self.H + sparse.triu(self.H, 1).T
        return float(self.g @ x + 0.5 * x @ (whole @ x))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("tight", [0.02, 0.5, 50.0])
def test_solutions_are_piqps(seed: int, tight: float) -> None:
    case = Case(seed, tight=tight)
    found = case.ours()
    assert found is not None
    x, moved = found.x, case.R @ found.x
    assert (moved <= case.above + 1e-7).all() and (moved >= case.below - 1e-7).all()
    assert (x <= case.high + 1e-7).all() and (x >= case.low - 1e-7).all()
    best = case.value(case.piqp())
    assert case.value(x) == pytest.approx(best, abs=10 * ACCURACY + 1e-8 * abs(best))
    slack = np.minimum(case.above - moved, moved - case.below)
    assert np.abs(found.multipliers[slack > 1e-3]).max(initial=0.0) < 1e-2 * max(np.abs(found.multipliers).max(), 1.0)
    upper = case.above - moved < moved - case.below
    large = np.abs(found.multipliers) > 1e-3 * max(np.abs(found.multipliers).max(), 1.0)
    assert (np.sign(found.multipliers[large]) == np.where(upper, 1.0, -1.0)[large]).all()


def test_what_has_no_solution_is_given_back() -> None:
    case = Case(0)
    case.low[:4], case.high[:4] = 0.9, 1.0
    case.low[4:8], case.high[4:8] = -1.0, -0.9  # further from each other than a row allows
    assert case.ours() is None
    none = np.zeros(0)
    empty = sparse.csc_matrix((0, 0))
    assert solve_banded(empty, none, empty, (none, none), (none, none), TOLERANCE, ACCURACY) is None


def test_without_bounds_it_is_one_step() -> None:
    case = Case(1)
    free = np.full(len(case.g), np.inf)
    rows = sparse.csc_matrix((0, len(case.g)))
    found = solve_banded(case.H, case.g, rows, (np.zeros(0), np.zeros(0)), (-free, free), TOLERANCE, ACCURACY)
    assert found is not None
    whole = (case.H + sparse.triu(case.H, 1).T).toarray()
    np.testing.assert_allclose(found.x, np.linalg.solve(whole, -case.g), rtol=1e-6)
    assert found.multipliers.shape == (0,)
