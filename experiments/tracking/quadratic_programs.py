"""Solvers of small quadratic programs on those of a differential step; docs/tracking.md has the outcome.

Of daqp, piqp, proxsuite, clarabel, osqp and quadprog, those are measured that this Python has. The programs are random,
of a step's size: a cost of low rank and a little damping, bounds on all unknowns, redundant rows among the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from experiments.experiment import Experiment, Found, tell

Program = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]  # P, q, equality rows, rows, bound
Answer = tuple[np.ndarray | None, bool]
SIZES = ((6, 0, 0), (7, 0, 4), (24, 0, 30), (42, 24, 0))  # unknowns, equalities, rows
PROGRAMS = 200


def installed(name: str) -> Any:
    """Return a module; None where this Python does not have it."""
    return import_module(name) if find_spec(name) else None


clarabel, daqp, osqp, piqp, proxsuite, quadprog = map(
    installed, ("clarabel", "daqp", "osqp", "piqp", "proxsuite", "quadprog")
)


def program(rng: np.random.Generator, n: int, equalities: int, rows: int) -> Program:
    """½ xᵀ P x + qᵀ x with A x = 0, |G x| ≤ bound and |x| ≤ bound."""
    J = rng.normal(size=(min(n, 9), n))
    A, G = rng.normal(size=(equalities, n)), rng.normal(size=(rows, n))
    if equalities > 3:
        A[-1], A[-2] = A[0] + A[1], A[2]
    if rows > 2:
        G[-1] = G[0]
    return J.T @ J + 1e-6 * np.eye(n), -J.T @ rng.normal(size=len(J)), A, G, 0.3


def by_daqp(P: np.ndarray, q: np.ndarray, A: np.ndarray, G: np.ndarray, bound: float) -> Answer:
    """Solve a program by DAQP."""
    n, top = len(q), np.full(len(q) + len(A) + len(G), bound)
    top[n : n + len(A)] = 0.0
    sense = np.zeros(len(top), np.int32)
    sense[n : n + len(A)] = 5
    x, _, status, _ = daqp.solve(P, q, np.vstack([A, G]), top, -top, sense)
    return x, status == 1


def by_piqp(P: np.ndarray, q: np.ndarray, A: np.ndarray, G: np.ndarray, bound: float) -> Answer:
    """Solve a program by PIQP."""
    solver, side, all_x = piqp.DenseSolver(), np.full(len(G), bound), np.full(len(q), bound)
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    solver.setup(P, q, A, np.zeros(len(A)), G, -side, side, -all_x, all_x)
    status = solver.solve()
    return solver.result.x, status == piqp.PIQP_SOLVED


def by_proxqp(P: np.ndarray, q: np.ndarray, A: np.ndarray, G: np.ndarray, bound: float) -> Answer:
    """Solve a program by ProxQP."""
    top = np.full(len(G) + len(q), bound)
    found = proxsuite.proxqp.dense.solve(
        P, q, A, np.zeros(len(A)), np.vstack([G, np.eye(len(q))]), -top, top, eps_abs=1e-9, eps_rel=0
    )
    return found.x, found.info.status == proxsuite.proxqp.PROXQP_SOLVED


def by_quadprog(P: np.ndarray, q: np.ndarray, A: np.ndarray, G: np.ndarray, bound: float) -> Answer:
    """Solve a program by quadprog."""
    half = np.vstack([G, np.eye(len(q))])
    right = np.concatenate([np.zeros(len(A)), np.full(2 * len(half), -bound)])
    try:
        return quadprog.solve_qp(P, -q, np.vstack([A, half, -half]).T, right, len(A))[0], True
    except ValueError:  # its word for a program that it cannot solve
        return None, False


def by_clarabel(P: np.ndarray, q: np.ndarray, A: np.ndarray, G: np.ndarray, bound: float) -> Answer:
    """Solve a program by Clarabel."""
    half, settings = np.vstack([G, np.eye(len(q))]), clarabel.DefaultSettings()
    settings.verbose = False
    right = np.concatenate([np.zeros(len(A)), np.full(2 * len(half), bound)])
    cones = [clarabel.ZeroConeT(len(A)), clarabel.NonnegativeConeT(2 * len(half))]
    rows = csc_matrix(np.vstack([A, half, -half]))
    found = clarabel.DefaultSolver(csc_matrix(np.triu(P)), q, rows, right, cones, settings).solve()
    return np.array(found.x), str(found.status) == "Solved"


def by_osqp(P: np.ndarray, q: np.ndarray, A: np.ndarray, G: np.ndarray, bound: float) -> Answer:
    """Solve a program by OSQP."""
    rows = np.vstack([A, G, np.eye(len(q))])
    top, solver = np.concatenate([np.zeros(len(A)), np.full(len(rows) - len(A), bound)]), osqp.OSQP()
    options = {"verbose": False, "eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 20000, "polishing": True}
    solver.setup(csc_matrix(np.triu(P)), q, csc_matrix(rows), -top, top, **options)
    found = solver.solve()
    return found.x, found.info.status == "solved"


SOLVERS: dict[str, tuple[Any, Callable[..., Answer]]] = {
    "DAQP": (daqp, by_daqp), "quadprog": (quadprog, by_quadprog), "PIQP": (piqp, by_piqp),
    "ProxQP": (proxsuite, by_proxqp), "Clarabel": (clarabel, by_clarabel), "OSQP": (osqp, by_osqp),
}  # fmt: skip


def run(programs: int = PROGRAMS) -> Found:
    """Solve random programs of each size; return median microseconds and the number of solved ones by solver."""
    rows = []
    if missing := [name for name, (module, _) in SOLVERS.items() if module is None]:
        tell(f"quadratic-programs: without {', '.join(missing)}, which are not installed")
    solvers = {name: solve for name, (module, solve) in SOLVERS.items() if module is not None}
    for size in SIZES:
        rng = np.random.default_rng(0)
        drawn = [program(rng, *size) for _ in range(programs)]
        for name, solve in solvers.items():
            tell(f"quadratic-programs: {size}, {name}")
            times, solved = [], 0
            for each in drawn:
                begin = process_time()
                _, good = solve(*each)
                times.append(1e6 * (process_time() - begin))
                solved += good
            rows.append(
                {"size": size, "solver": name, "us": float(np.median(times)), "solved": solved, "programs": programs}
            )
    return {"quadratic_programs": rows}


def show(found: Found) -> None:
    """Print a line per size and solver."""
    for row in found["quadratic_programs"]:
        print(f"{row['size']}: {row['solver']:9} {row['us']:7.1f} µs, {row['solved']} of {row['programs']}")


EXPERIMENT = Experiment(run=run, show=show, parameters={"programs": (PROGRAMS, PROGRAMS)})
