"""Elimination in groups of many loops that share links: by entries, against dense linear algebra, and in what time."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import pytest

from experiments.baking.growth import followed, row_of_cranks
from robik.ik.newton import newton_step
from robik.jit import kernel
from robik.kinematics import sparse_elimination
from robik.kinematics.assembly import project
from robik.kinematics.elimination import eliminate
from robik.kinematics.kernels import close, closure_jacobian, forward_kinematics, integrate
from robik.kinematics.null_space import extend, multipliers, particular, reduce_gradient, reduce_matrix
from robik.mechanism import WORLD, Body, Joint, Mechanism
from robik.retargeting.retarget import Retargeting, retarget
from tests.kinematics.test_elimination import call_refactor, null_space, placed


@kernel
def call_particular(flat, e, right, step):
    particular(flat, e, right, step)


@kernel
def call_multipliers(flat, e, gradient, out):
    multipliers(flat, e, gradient, out)


@kernel
def call_reduce_gradient(flat, e, gradient):
    reduce_gradient(flat, e, gradient)


@kernel
def call_reduce_matrix(flat, e, K):
    reduce_matrix(flat, e, K)


@kernel
def call_newton_step(flat, now, tables, work):
    return newton_step(flat, now, tables, work, True, True, False)


def scissor(cells: int) -> Mechanism:
    """A scissor linkage: crossed bars, each hinged to the next pair at its ends."""
    bodies, joints = [], [Joint("base", "revolute", WORLD, "up_0", axis=(0.0, 1.0, 0.0), actuated=True)]
    across = (0.0, 1.0, 0.0)
    for k in range(cells):
        bodies += [Body(f"up_{k}", 1.0, com=(0.1 * k, 0.0, 0.0)), Body(f"down_{k}", 1.0, com=(0.1 * k, 0.0, 0.0))]
        middle, end = (0.1 * k, 0.0, 0.0), 0.1 * k - 0.05
        joints.append(
            Joint(f"cross_{k}", "revolute", f"up_{k}", f"down_{k}", position=middle, axis=across, actuated=k == 0)
        )
        for sign, one, other in ((1.0, "up", "down"), (-1.0, "down", "up")) if k else ():
            pin = (end, 0.0, 0.05 * sign)
            joints.append(
                Joint(f"{one}_end_{k}", "revolute", f"{one}_{k - 1}", f"{other}_{k}", position=pin, axis=across)
            )
    return Mechanism("scissor", tuple(bodies), tuple(joints))


LINKAGES: dict[str, Callable[[], Mechanism]] = {
    "four-bars": lambda: row_of_cranks(40, 1), "five-bars": lambda: row_of_cranks(30, 2),
    "scissor": lambda: scissor(40),
}  # fmt: skip


@pytest.fixture(params=LINKAGES)
def linkage(request: pytest.FixtureRequest) -> tuple[Any, Any, Any]:
    flat, now, e = placed(LINKAGES[request.param](), 1, 0.02)
    assert e.sparse.slot.tolist() == [0], "one wide group"
    return flat, now, e


def test_the_rank_and_the_null_space_are_those_of_the_jacobian(linkage: tuple[Any, Any, Any]) -> None:
    flat, now, e = linkage
    J = closure_jacobian(flat, now)
    assert int(e.rank.sum()) == int(e.dependent.sum()) == np.linalg.matrix_rank(J, tol=1e-7 * np.abs(J).max())
    assert np.abs(J @ null_space(flat, e)).max() < 1e-12
    assert sorted(e.row) == sorted(flat.group_rows) and sorted(e.column) == sorted(flat.group_columns)


def test_what_is_held_never_depends_on_others(linkage: tuple[Any, Any, Any]) -> None:
    flat, now, e = linkage
    held = np.flatnonzero(e.dependent)[::3]
    e.free[held] = False
    eliminate(flat, now, e)
    assert not e.dependent[held].any()
    J = closure_jacobian(flat, now)[:, e.free]
    assert int(e.rank.sum()) == np.linalg.matrix_rank(J, tol=1e-7 * np.abs(J).max())


def test_products_are_those_with_matrices(linkage: tuple[Any, Any, Any]) -> None:
    flat, now, e = linkage
    rng, d, rows = np.random.default_rng(2), len(flat.before), len(now.value)
    J, Z, free = closure_jacobian(flat, now), null_space(flat, e), ~e.dependent
    wanted = J @ rng.normal(size=d)
    step = np.zeros(d)
    call_particular(flat, e, wanted, step)
    np.testing.assert_allclose(J @ step, wanted, rtol=0, atol=1e-9)
    gradient, out = rng.normal(size=d), np.zeros(rows)
    call_multipliers(flat, e, gradient, out)
    np.testing.assert_allclose((J.T @ out)[e.dependent], gradient[e.dependent], rtol=0, atol=1e-9)
    reduced = gradient.copy()
    call_reduce_gradient(flat, e, reduced)
    np.testing.assert_allclose(reduced[free], Z.T @ gradient, rtol=0, atol=1e-9)
    assert not reduced[e.dependent].any()
    K = rng.normal(size=(d, d))
    K += K.T
    small = Z.T @ K @ Z
    call_reduce_matrix(flat, e, K)
    np.testing.assert_allclose(K[np.ix_(free, free)], small, rtol=0, atol=1e-9 * max(1.0, np.abs(small).max()))


def test_factors_near_by_are_those_of_a_new_elimination(linkage: tuple[Any, Any, Any]) -> None:
    flat, now, e = linkage
    step = np.random.default_rng(3).uniform(-0.02, 0.02, len(flat.before))
    extend(flat, e, step)
    integrate(flat, now.q.copy(), step, 1.0, now.q)
    forward_kinematics(flat, now)
    close(flat, now)
    assert call_refactor(flat, now, e)
    assert np.abs(closure_jacobian(flat, now) @ null_space(flat, e)).max() < 1e-12
    assert project(flat, now, e, np.zeros(len(step)), np.zeros(len(now.value))) < 1e-10
    now.force[:] = now.moment[:] = 0.0  # of loops that nothing moves any more
    assert not call_refactor(flat, now, e)


def test_entries_grow_with_the_bodies() -> None:
    entries = []
    for cranks in (30, 120):
        flat, _, e = placed(row_of_cranks(cranks, 2), 1, 0.02)
        F, rank = e.sparse, int(e.rank[0])
        entries.append(sum(int(count[0, :rank].sum()) for count in (F.lower_count, F.upper_count, F.rest_count)))
        assert entries[-1] < 4 * len(flat.before)
    assert entries[1] < 4.5 * entries[0]


@pytest.mark.parametrize("rods", [1, 2])
def test_a_motion_is_that_of_dense_elimination(rods: int, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = row_of_cranks(40, rods)
    clip, settings = followed(robot)
    clip = clip.part(0, 20)
    by_entries = retarget(robot, clip, settings)
    monkeypatch.setattr(sparse_elimination, "WIDE", 10_000)
    dense = retarget(robot, clip, settings)
    np.testing.assert_allclose(by_entries.values, dense.values, rtol=0, atol=1e-9)
    assert by_entries.report is not None and dense.report is not None
    assert by_entries.report.residual.max() < 1e-10
    assert abs(by_entries.report.iterations.mean() - dense.report.iterations.mean()) < 0.5


@pytest.mark.parametrize("rods", [1, 2])
def test_a_step_takes_little_longer_than_the_bodies_are_more(rods: int) -> None:
    """Three times the bodies took up to 17 times as long; now it is 4 to 9 times."""
    assert _seconds(row_of_cranks(450 // (rods + 1), rods)) < 16.0 * _seconds(row_of_cranks(150 // (rods + 1), rods))


def _seconds(robot: Mechanism) -> float:
    """Processor time of Newton's step, the shortest of a few."""
    clip, settings = followed(robot)
    work = Retargeting(robot, clip.part(0, 3), settings)
    for _ in work.steps():
        pass
    solver, times = work.solver, []
    for _ in range(12):
        began = process_time()
        call_newton_step(solver.flat, solver._memory.last, solver._tables, solver._work)
        times.append(process_time() - began)
    return min(times)
