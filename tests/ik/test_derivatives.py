"""Closure rows, gradient and Hessian of the compiled terms against finite differences, at poses away from rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import robots
from robik.ik.articulated import factor, solve
from robik.ik.hessian import System, matrix, new_system, times
from robik.ik.solver import Solver
from robik.jit.references import Reference
from robik.kinematics.curvature import closure_curvature
from robik.kinematics.elimination import eliminate, new_elimination
from robik.kinematics.kernels import Placement, close, closure_jacobian, forward_kinematics, integrate, new_placement
from robik.kinematics.null_space import extend
from robik.mechanism import WORLD, Body, Coupling, Joint, Mechanism, Pose
from robik.objectives.above import Above
from robik.objectives.clearance import Clearance
from robik.objectives.distance import Distance
from robik.objectives.frame_pose import FramePoses
from robik.objectives.look_at import LookAt
from robik.objectives.objective import Objective
from robik.objectives.posture import Posture, drawable_coordinates
from robik.objectives.registry import gather, objective, stiffen
from robik.objectives.relative_frame import RelativeFrame
from robik.objectives.settings import Settings
from robik.objectives.terms import ROWS, ROWS_TIED, Terms, gradient, new_terms
from robik.objectives.weights import Weights


def everything() -> Mechanism:
    """All joint types in a tree and as cuts, with a coupling, some of them away from zero at rest."""
    names = "abcdefghi"
    rng = np.random.default_rng(5)
    bodies = [
        Body(n, 1.0 + i, com=tuple(rng.normal(size=3)), pose=Pose(tuple(rng.normal(size=3))))
        for i, n in enumerate(names)
    ]
    types = ["spherical", "cylindrical", "universal", "planar", "cartesian", "revolute", "prismatic", "fixed"]
    rests: list[tuple[float, ...]] = [(0.3, 0.2, -0.4), (0.1, 0.5), (0.4, -0.3), (), (0.1, 0.2, 0.3), (), (), ()]
    joints = [
        Joint(
            t,
            t,
            WORLD if i == 0 else names[i - 1],
            names[i],
            position=tuple(rng.normal(size=3)),
            axis=tuple(rng.normal(size=3)),
            rest=rest,
        )
        for i, (t, rest) in enumerate(zip(types, rests, strict=True))
    ]
    joints.append(Joint("tip", "spherical", "h", "i", position=(1.0, 0.0, 0.5)))
    cuts = [
        ("cylindrical", "a", "e"),
        ("universal", "c", "g"),
        ("free", WORLD, "h"),
        ("fixed", "b", "i"),
        ("general", "d", "i"),
    ]
    for k, (kind, near, far) in enumerate(cuts):
        motions = ("tx", "rz") if kind == "general" else ()
        joints.append(
            Joint(
                f"cut{k}",
                kind,
                near,
                far,
                position=tuple(rng.normal(size=3)),
                axis=tuple(rng.normal(size=3)),
                motions=motions,
            )
        )
    return Mechanism(
        "everything",
        bodies,
        joints,
        couplings=(
            Coupling(
                "gear", "revolute", "prismatic", (0.1, 0.7, -0.4, 0.2), (("planar.tz", 0.6), ("cartesian.ty", -0.3))
            ),
        ),
    )


def asked_of(mechanism: Mechanism, pairs: list[tuple[str, str]]) -> tuple[Objective, ...]:
    """Every kind of objective over one body and over two, unmet, and joints drawn to a pose."""
    rng, asked = np.random.default_rng(7), []
    for first, second in pairs:
        asked += [
            RelativeFrame(first, second, rng.normal(size=(1, 3)), np.array([[0.6, 0.0, 0.0, 0.8]])),
            LookAt(second, rng.normal(size=(1, 3)), first, tuple(rng.normal(size=3))),
            LookAt(first, 3.0 * rng.normal(size=(1, 3))),
            Distance(first, np.array([0.7]), second),
            Distance(second, np.array([0.2]), point=rng.normal(size=(1, 3))),
            Above(first, least=np.array([4.0]), points=rng.normal(size=(2, 3))),
        ]
        if first != second:
            asked.append(Clearance(first, second, least=np.array([9.0]), points=rng.normal(size=(2, 2, 3))))
    asked += [Posture(name, np.array([0.3])) for name in drawable_coordinates(mechanism)[:3]]
    return tuple(item.checked(1) for item in asked)


PAIRS = {
    "boxer": [("hand", "shoulder")],
    "walker": [("foot_l", "foot_r"), ("pelvis", "foot_l")],
    "everything": [("c", "i"), ("g", "b"), ("h", "h")],
}


@pytest.fixture(params=["boxer", "walker", "everything", "boxer, all", "walker, all", "everything, all"])
def solver(request: pytest.FixtureRequest) -> Solver:
    robot, _, extra = request.param.partition(", ")
    mechanism = everything() if robot == "everything" else robots.load(robot)
    names = ("c", "i") if robot == "everything" else tuple(f.name for f in mechanism.frames)
    asked = asked_of(mechanism, PAIRS[robot]) if extra else ()
    heavy = {
        item.key: Weights((0.5, 1.0, 2.0), (1.5, 0.7, 0.4)) if isinstance(item, RelativeFrame) else 1.5
        for item in asked
    }
    weighed = Settings(
        state_weight=0.3, velocity_weight=1e-2, velocity_limit=1.0, com_weight=(0.5, 1.0, 2.0), objectives=heavy
    )
    made = Solver(mechanism, names, weighed, True, asked)
    rng = np.random.default_rng(1)
    targets = {name: (rng.normal(size=(1, 3)), np.array([[0.6, 0.0, 0.8, 0.0]])) for name in names}
    wanted = made.compile_targets(targets, None, np.zeros(1))
    tables = made._tables
    tables.targets[:], tables.centre_of_mass.target[:] = wanted.targets[0], rng.normal(size=3)
    tables.velocity.weight[0], tables.velocity.threshold[:] = 1e-2, (1e-2, 1e-3)
    pull_at_contacts(tables.frame_pose)
    return made


def pull_at_contacts(frames: FramePoses) -> None:
    """Let the frames be asked for what their contacts hold, each of a point and of axes of its own."""
    rng, t = np.random.default_rng(8), len(frames.body)
    frames.tension[:] = rng.uniform(0.2, 1.0, (t, 4))
    for own in (frames.held_point, frames.own_point):
        own[:] = rng.normal(size=(t, 3))
    for axes in (frames.held_axes, frames.own_axes):
        axes[:] = Rotation.random(t, random_state=9).as_matrix()


def away(solver: Solver, distance: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates away from rest, loops open, and room for a step."""
    rng = np.random.default_rng(2)
    q = solver.topology.rest.copy()
    integrate(solver.flat, solver.topology.rest, distance * rng.normal(size=len(solver.flat.before)), 1.0, q)
    return q, np.zeros(len(solver.flat.before))


def test_closure_jacobian(solver: Solver) -> None:
    q, step = away(solver)
    now = new_placement(solver.flat, q)
    forward_kinematics(solver.flat, now)
    close(solver.flat, now)
    J, expected = closure_jacobian(solver.flat, now), np.zeros((len(now.value), len(step)))
    for i in range(len(step)):
        for sign in (1.0, -1.0):
            step[:] = 0.0
            step[i] = sign * 1e-6
            integrate(solver.flat, q, step, 1.0, now.q)
            forward_kinematics(solver.flat, now)
            close(solver.flat, now)
            expected[:, i] += sign * now.value / 2e-6
    np.testing.assert_allclose(J, expected, atol=1e-8)


def tied_of(solver: Solver) -> np.ndarray | None:
    """The bodies that objectives tie, None without such objectives."""
    return solver._tables.tied if solver.objectives else None


def room_for(solver: Solver) -> System:
    """Room for the system of a solver."""
    return new_system(solver.flat, ROWS + ROWS_TIED * len(solver._tables.tied))


def both_matrices(solver: Solver, now: Placement, terms: Terms, system: System) -> np.ndarray:
    """The second derivatives (d, d) in full, which are those of the products column by column."""
    K = np.zeros((len(solver.flat.before),) * 2)
    products = np.zeros_like(K)
    for i, unit in enumerate(np.eye(len(K))):
        times(solver.flat, now, solver._tables, terms, system, unit, products[i])
    matrix(solver.flat, now, terms, system, K)
    np.testing.assert_allclose(K, products, atol=1e-10 * np.abs(K).max() + 1e-13)
    return K


def test_gradient_hessian_and_closure_curvature(solver: Solver) -> None:
    flat, tables = solver.flat, solver._tables
    q, step = away(solver)
    d = len(step)
    now, other = new_placement(flat, q), new_placement(flat, q)
    forward_kinematics(flat, now)
    close(flat, now)
    multiplier = np.random.default_rng(3).normal(size=len(now.value))
    terms, slope, system = new_terms(flat, tied_of(solver)), np.zeros(d), room_for(solver)
    gather(flat, now, tables, terms, 1.0)
    gradient(flat, now, terms, slope)
    stiffen(flat, now, tables, terms)
    K = both_matrices(solver, now, terms, system)
    closure_curvature(flat, now, multiplier, system)
    bent = both_matrices(solver, now, terms, system)

    def at(*moves: tuple[int, float]) -> np.ndarray:
        step[:] = 0.0
        for i, h in moves:
            step[i] += h
        integrate(flat, q, step, 1.0, other.q)
        forward_kinematics(flat, other)
        close(flat, other)
        return np.array([objective(flat, other, tables), multiplier @ other.value])

    expected = np.array([(at((i, 1e-6)) - at((i, -1e-6)))[0] / 2e-6 for i in range(d)])
    np.testing.assert_allclose(slope, expected, atol=1e-7 * max(1.0, np.abs(slope).max()))
    h = 1e-4
    for i in range(d):
        for j in range(i + 1):
            mixed = (at((i, h), (j, h)) - at((i, h), (j, -h)) - at((i, -h), (j, h)) + at((i, -h), (j, -h))) / (
                4 * h * h
            )
            assert K[i, j] == pytest.approx(mixed[0], abs=1e-5 * max(1.0, np.abs(K).max())), (i, j)
            assert K[i, j] - bent[i, j] == pytest.approx(mixed[1], abs=1e-5), (i, j)


@pytest.mark.parametrize("held", [0, 3])
def test_newton_systems(solver: Solver, held: int) -> None:
    """From the tips to the root and back, the solution is that of the reduced matrix, and so is the word on its
    definiteness."""
    flat, tables, rng = solver.flat, solver._tables, np.random.default_rng(4)
    tables.asked.clearance.weight[:] = 0.0  # second derivatives of walls across their force need the whole matrix
    q, _ = away(solver, 0.05)
    now, terms, system, e = (
        new_placement(flat, q),
        new_terms(flat, tied_of(solver)),
        room_for(solver),
        new_elimination(flat),
    )
    forward_kinematics(flat, now)
    close(flat, now)
    d = len(flat.before)
    e.free[rng.choice(d, held, replace=False)] = False
    eliminate(flat, now, e)
    independent = np.flatnonzero(e.free & ~e.dependent)
    Z = np.zeros((d, len(independent)))
    for column, i in enumerate(independent):
        Z[i, column] = 1.0
        step = Z[:, column].copy()
        extend(flat, e, step)
        Z[:, column] = step
    definite = []
    tables.change_of_state.previous_R[:], tables.change_of_state.previous_c[:] = now.R, now.c
    for state_weight in (0.01, 1.0, 1e2, 1e4):
        tables.change_of_state.weight[:] = state_weight
        gather(flat, now, tables, terms, 1.0)
        stiffen(flat, now, tables, terms)
        closure_curvature(flat, now, 0.01 * rng.normal(size=len(now.value)), system)
        reduced = Z.T @ both_matrices(solver, now, terms, system) @ Z
        assert reduced == pytest.approx(reduced.T, abs=1e-9 * np.abs(reduced).max())
        definite.append(bool(np.linalg.eigvalsh(reduced)[0] > 0))
        assert factor(flat, now, e, terms, system) == definite[-1]
        if definite[-1]:
            x = np.zeros(d)
            x[independent] = right = rng.normal(size=len(independent))
            solve(flat, now, e, terms, system, x)
            np.testing.assert_allclose(x, Z @ np.linalg.solve(reduced, right), rtol=1e-6, atol=1e-9)
    assert any(definite)


def weights_of(tables: Reference) -> Iterator[np.ndarray]:
    """Yield the arrays of weights in a record of records; what is calm has a sum of its own."""
    for name, value in vars(tables).items():
        if isinstance(value, Reference) and name != "calm":
            yield from weights_of(value)
        elif isinstance(value, np.ndarray) and ("weight" in name or name == "tension"):
            yield value
    if hasattr(tables, "calm"):
        yield from weights_of(tables.calm.posture)


def test_each_weight_counts_by_itself_and_what_has_none_counts_nothing(solver: Solver) -> None:
    """Sum, gradient and second derivatives are linear in the weights, those of single axes among them."""
    flat, tables = solver.flat, solver._tables
    now = new_placement(flat, away(solver)[0])
    forward_kinematics(flat, now)
    close(flat, now)
    whole = sum_gradient_and_matrix(solver, now)
    weights = list(weights_of(tables))
    kept = [weight.copy() for weight in weights]
    for weight in weights:
        weight[:] = 0.0
    total = nothing = sum_gradient_and_matrix(solver, now)
    assert not np.abs(nothing).max()
    for weight, values in zip(weights, kept, strict=True):
        for place in zip(*np.nonzero(values), strict=True):
            weight[place] = values[place]
            total = total + sum_gradient_and_matrix(solver, now)
            weight[place] = 0.0
    np.testing.assert_allclose(total, whole, atol=1e-9 * np.abs(whole).max())


def sum_gradient_and_matrix(solver: Solver, now: Placement) -> np.ndarray:
    """Return the objective, its gradient and its second derivatives in one row."""
    flat, tables = solver.flat, solver._tables
    terms, slope = new_terms(flat, tied_of(solver)), np.zeros(len(flat.before))
    gather(flat, now, tables, terms, 1.0)
    gradient(flat, now, terms, slope)
    stiffen(flat, now, tables, terms)
    K = both_matrices(solver, now, terms, room_for(solver))
    return np.concatenate([[objective(flat, now, tables)], slope, K.ravel()])
