"""Elimination of dependent coordinates against dense linear algebra on the whole closure Jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robik import robots
from robik.jit import kernel
from robik.kinematics import blocks as blocks_module
from robik.kinematics.assembly import prepared, project
from robik.kinematics.blocks import BLOCK, blocks
from robik.kinematics.elimination import eliminate, new_elimination, refactor
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.kernels import close, closure_jacobian, forward_kinematics, integrate, new_placement
from robik.kinematics.null_space import extend
from robik.kinematics.passive import passive_values
from robik.mechanism import WORLD, Body, Joint, Mechanism
from robik.mechanism.topology import build_topology, limited_topology
from tests.ik.balls import tripod

LOOPED = {"walker": lambda: robots.load("walker"), "dancer": lambda: robots.load("dancer"),
          "validation": lambda: robots.load("validation"), "tripod": lambda: tripod(cone=0.3)}  # fmt: skip


def placed(robot: Mechanism, seed: int, away: float = 0.1) -> tuple[Any, Any, Any]:
    """A robot's arrays, an elimination, and a placement on the loops away from rest."""
    topology = limited_topology(robot)
    flat = prepared(topology)
    now, e = new_placement(flat, topology.rest), new_elimination(flat)
    forward_kinematics(flat, now)
    close(flat, now)
    eliminate(flat, now, e)
    step = np.random.default_rng(seed).uniform(-away, away, len(flat.before))
    extend(flat, e, step)
    integrate(flat, now.q.copy(), step, 1.0, now.q)
    assert project(flat, now, e, np.zeros(len(step)), np.zeros(len(now.value))) < 1e-10 * max(1.0, flat.size)
    eliminate(flat, now, e)
    return flat, now, e


def null_space(flat: Any, e: Any) -> np.ndarray:
    """Columns (d, d - rank): the motions of all coordinates as each independent one moves alone."""
    columns = []
    for i in np.flatnonzero(~e.dependent):
        step = np.zeros(len(flat.before))
        step[i] = 1.0
        extend(flat, e, step)
        columns.append(step)
    return np.array(columns).T


@pytest.mark.parametrize("name", LOOPED)
@pytest.mark.parametrize("seed", range(3))
def test_dependent_coordinates_are_as_many_as_the_rank_and_keep_the_loops_closed(name: str, seed: int) -> None:
    flat, now, e = placed(LOOPED[name](), seed)
    J = closure_jacobian(flat, now)
    rank = np.linalg.matrix_rank(J, tol=1e-7 * np.abs(J).max())
    assert int(e.rank.sum()) == int(e.dependent.sum()) == rank
    assert np.abs(J @ null_space(flat, e)).max() < 1e-9


@pytest.mark.parametrize("name", LOOPED)
def test_what_is_held_never_depends_on_others(name: str) -> None:
    flat, now, e = placed(LOOPED[name](), 1)
    held = np.flatnonzero(e.dependent)[::2]
    e.free[held] = False
    eliminate(flat, now, e)
    assert not e.dependent[held].any()
    J, allowed = closure_jacobian(flat, now), np.flatnonzero(e.free)
    assert int(e.rank.sum()) == np.linalg.matrix_rank(J[:, allowed], tol=1e-7 * np.abs(J).max())


@kernel
def call_refactor(flat, now, e):
    return refactor(flat, now, e)


@pytest.mark.parametrize("name", LOOPED)
def test_factors_near_by_are_those_of_the_jacobian_there(name: str) -> None:
    flat, now, e = placed(LOOPED[name](), 2)
    step = np.random.default_rng(3).uniform(-0.05, 0.05, len(flat.before))
    extend(flat, e, step)
    integrate(flat, now.q.copy(), step, 1.0, now.q)
    forward_kinematics(flat, now)
    close(flat, now)
    before = e.dependent.copy()
    assert call_refactor(flat, now, e)
    assert (e.dependent == before).all()
    assert np.abs(closure_jacobian(flat, now) @ null_space(flat, e)).max() < 1e-12


def four_bar(size: float) -> Mechanism:
    """A crank, a coupler and a rocker on the ground."""
    pins = {name: tuple((size * np.array([x, 0.0, z])).tolist()) for name, x, z in
            (("drive", 0, 0), ("low", 0.1, 0.3), ("high", 0.7, 0.5), ("foot", 0.8, 0))}  # fmt: skip
    links = {"drive": (WORLD, "crank"), "low": ("crank", "coupler"), "high": ("coupler", "rocker"),
             "foot": (WORLD, "rocker")}  # fmt: skip
    joints = [Joint(name, "revolute", *links[name], position=at, axis=(0, 1, 0), actuated=name == "drive")
              for name, at in pins.items()]  # fmt: skip
    return Mechanism("four-bar", [Body(name, 1.0) for name in ("crank", "coupler", "rocker")], joints)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_factors_near_by_are_refused_where_a_pivot_vanishes_beside_the_robots_size(size: float) -> None:
    """The loops' wrenches are made as small as they are where links come to lie in line."""
    flat, now, e = placed(four_bar(size), 1)
    for share, holds in ((1.0, True), (1e-5, True), (1e-10, False), (0.0, False)):
        close(flat, now)
        now.force[:] *= share
        now.moment[:] *= share
        assert call_refactor(flat, now, e) is holds


@pytest.mark.parametrize("frames", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_blocks_cover_every_frame_once(frames: int) -> None:
    found = [k for part in blocks(frames) for k in range(part.start, part.stop)]
    assert found == list(range(frames))
    assert all(part.stop - part.start <= BLOCK for part in blocks(frames))


def test_values_that_are_read_in_blocks_are_those_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ball's coordinates go on from block to block."""
    robot = tripod()
    fk = ForwardKinematics(robot)
    rng, rows = np.random.default_rng(3), []
    for k in range(9):
        rows.append(fk.solve(np.array([*(0.05 * rng.normal(size=3)), 0.9 * k, 0.0, 0.0])))
    topology = build_topology(robot)
    com = np.array([row.position for row in rows])[:, topology.order]
    quaternion = np.array([row.quaternion for row in rows])[:, topology.order]
    q = np.zeros((9, len(topology.rest)))
    whole = passive_values(topology, q, com, quaternion)
    monkeypatch.setattr(blocks_module, "BLOCK", 2)
    parts = passive_values(topology, q, com, quaternion)
    for name, values in whole.items():
        assert np.abs(parts[name] - values).max() == 0.0, name


@pytest.mark.parametrize("name", LOOPED)
def test_coordinates_that_may_not_be_dependent_are_noticed_where_loops_tie_them(name: str) -> None:
    flat, now, e = placed(LOOPED[name](), 5)
    eliminate(flat, now, e)
    assert not e.tied[0]
    e.free[:] = e.dependent
    eliminate(flat, now, e)
    assert not e.tied[0], "any values of the independent coordinates have dependent ones"
    e.free[np.flatnonzero(e.dependent)[0]] = False
    eliminate(flat, now, e)
    assert e.tied[0], "one row has lost its coordinate"
