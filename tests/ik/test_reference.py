"""The reference itself, held against what does not share its code: closed forms, finite differences, SciPy's own
optimizers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.linalg import qr
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.spatial.transform import Rotation

from experiments.oracle.maximal import JointFrames, Rows, motion
from experiments.oracle.reference import ReferenceSolver, follow
from experiments.oracle.reference_objective import Objective
from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.errors import MechanismError
from robik.mechanism import JOINT_TYPES, WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose
from robik.mechanism.joints import MOTIONS
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from tests.ik.random_mechanisms import Problem, mechanisms, problems

EASY = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], derandomize=True
)
GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.35, 0.9, 0.7  # of the four-bar linkage [m]
LOOSE = Settings(joint_limits=False, state_weight=1e-7)


def four_bar(actuated: str = "o") -> Mechanism:
    """A linkage in the xz plane, as in the paper's Fig. 2: ground, crank, coupler, rocker; its rest pose by closed
    form."""
    a, b = four_bar_points(1.0)
    points = {"o": (0.0, 0.0, 0.0), "a": (a[0], 0.0, a[1]), "b": (b[0], 0.0, b[1]), "p": (GROUND, 0.0, 0.0)}
    ends = {"o": ("ground", "crank"), "a": ("crank", "coupler"), "b": ("coupler", "rocker"), "p": ("ground", "rocker")}
    joints = [Joint("earth", "fixed", WORLD, "ground")]
    joints += [
        Joint(
            k,
            "revolute",
            *ends[k],
            position=points[k],
            axis=(0.0, -1.0, 0.0),
            axis2=(1.0, 0.0, 0.0),
            actuated=k == actuated,
        )
        for k in ends
    ]
    middle = {"ground": ("o", "p"), "crank": ("o", "a"), "coupler": ("a", "b"), "rocker": ("b", "p")}
    bodies = [Body(name, 1.0, com=tuple(0.5 * (np.array(points[i]) + points[j]))) for name, (i, j) in middle.items()]
    return Mechanism("four-bar", tuple(bodies), tuple(joints), frames=(Frame("tip", "coupler", Pose(points["b"])),))


def four_bar_points(crank: float) -> tuple[np.ndarray, np.ndarray]:
    """The moving pins (x, z) at a crank angle [rad]: two circles cut, the upper cut."""
    a = CRANK * np.array([np.cos(crank), np.sin(crank)])
    span = np.array([GROUND, 0.0]) - a
    length = np.hypot(*span)
    along = (length**2 + COUPLER**2 - ROCKER**2) / (2 * length)
    across = np.sqrt(COUPLER**2 - along**2)
    return a, a + along * span / length + across * np.array([-span[1], span[0]]) / length


def random_state(solver: ReferenceSolver, seed: int, size: float = 0.3) -> np.ndarray:
    """Not assembled, quaternions not unit: derivatives must hold everywhere."""
    rest = solver.rest_state()
    return rest + size * np.random.default_rng(seed).normal(size=rest.shape)


def central(function: Callable[[np.ndarray], object], state: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Derivative of a function of the state by central differences, (…, 7 n)."""
    columns = []
    for k in range(state.size):
        shift = np.zeros(state.size)
        shift[k] = step
        shift = shift.reshape(state.shape)
        columns.append((np.asarray(function(state + shift)) - np.asarray(function(state - shift))) / (2 * step))
    return np.stack(columns, axis=-1)


@settings(EASY, max_examples=15)
@given(mechanisms(bodies=(2, 4)), st.integers(0, 99))
def test_rows_derivatives_are_exact(mechanism: Mechanism, seed: int) -> None:
    solver = ReferenceSolver(mechanism, LOOSE)
    state, rows = random_state(solver, seed), solver.constraints
    by_complex_step = np.zeros((len(rows), state.size))
    for k in range(state.size):
        shifted = state.astype(complex)
        shifted.reshape(-1)[k] += 1e-30j
        by_complex_step[:, k] = rows.value(shifted).imag / 1e-30
    np.testing.assert_allclose(rows.jacobian(state), by_complex_step, rtol=1e-13, atol=1e-13)
    multipliers = np.random.default_rng(seed).normal(size=len(rows))
    curvature = central(lambda s: multipliers @ rows.jacobian(s), state)
    np.testing.assert_allclose(rows.curvature(state, multipliers), curvature, rtol=1e-7, atol=1e-7)


@settings(EASY, max_examples=10)
@given(problems(length=1, velocity=True), st.integers(0, 99))
def test_objective_derivatives_are_exact(problem: Problem, seed: int) -> None:
    solver = ReferenceSolver(problem.mechanism, problem.settings)
    previous = random_state(solver, seed, 0.1)
    previous[:, 3:] /= np.linalg.norm(previous[:, 3:], axis=1)[:, None]
    com = None if problem.com is None else problem.com[0]
    objective = Objective(solver, problem.targets[0], com, previous, problem.dt, problem.settings)
    state = random_state(solver, seed + 1, 0.1)
    assert (objective._turned(previous) < 1e-12).all()
    np.testing.assert_allclose(objective.gradient(state), central(objective.value, state, 1e-6), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(objective.hessian(state), central(objective.gradient, state), rtol=1e-6, atol=1e-6)


def test_velocity_term_is_the_papers() -> None:
    body = Body("b", 1.0)
    solver = ReferenceSolver(
        Mechanism("m", (body,)), Settings(velocity_weight=0.3, velocity_limit=2.0, state_weight=1e-6)
    )
    previous = solver.rest_state()
    objective = Objective(solver, {}, None, previous, 0.05, solver.settings)
    for angle in (0.05, 0.099, 0.101, 0.3, 3.0):
        state = previous.copy()
        state[0, 3:] = np.cos(angle / 2), 0, np.sin(angle / 2), 0
        x, t = 2 * (1 - np.cos(angle)), 2 * (1 - np.cos(0.1))
        expected = 0.3 * (np.log(x / t) ** 3 if x > t else 0.0) + 0.5e-6 * np.sum((state - previous) ** 2)
        assert objective.value(state) == pytest.approx(expected, rel=1e-12)


GENERAL = [
    ("tx",),
    ("ry",),
    ("rz",),
    ("ry", "rz"),
    ("rx", "rz"),
    ("tz", "ry"),
    ("tx", "ty", "rx", "ry"),
    ("tx", "ty", "tz", "rx"),
    MOTIONS,
]
KINDS = [(name, row.motions) for name, row in JOINT_TYPES.items() if row.motions is not None] + [
    ("general", m) for m in GENERAL
]


@pytest.mark.parametrize(("kind", "motions"), KINDS)
def test_joint_rows_lock_exactly_what_is_not_free(kind: str, motions: tuple[str, ...]) -> None:
    rng = np.random.default_rng(3)
    rest = tuple(0.5 * rng.normal(size=len(motions)))
    bodies = (Body("a", com=(0.1, 0.2, 0.3)), Body("b", com=(-0.3, 0.1, 0.0), pose=Pose((0.5, 0.0, 0.2))))
    axes = tuple(rng.normal(size=3)), tuple(rng.normal(size=3))
    own = motions if kind == "general" else ()
    joint = Joint(
        "j",
        kind,
        "a",
        "b",
        position=tuple(rng.normal(size=3)),
        axis=axes[0],
        axis2=axes[1],
        actuated=bool(motions),
        rest=rest,
        motions=own,
    )
    solver = ReferenceSolver(Mechanism("m", bodies, (joint,)), LOOSE)
    frames = solver.joints[0]
    assert isinstance(frames, JointFrames)
    for _ in range(5):
        values = 0.7 * rng.normal(size=len(motions))
        state, parent, shift = solver.rest_state(), Rotation.from_rotvec(rng.normal(size=3)), rng.normal(size=3)
        turn, slide = motion(joint, values)  # the child's frame in the parent's; then both anywhere in the world
        child_turn = frames.parent_axes @ turn @ frames.child_axes.T
        com = frames.parent_origin + frames.parent_axes @ slide + child_turn @ (state[1, :3] - frames.child_origin)
        state[0] = [*(parent.apply(state[0, :3]) + shift), *parent.as_quat()[[3, 0, 1, 2]]]
        state[1] = [*(parent.apply(com) + shift), *(parent * Rotation.from_matrix(child_turn)).as_quat()[[3, 0, 1, 2]]]
        assert np.abs(solver.residual(state)).max() < 1e-14
        assert len(solver.constraints) == 6 - len(motions)
        rank = np.linalg.matrix_rank(solver._jacobian(solver.constraints, state))
        assert rank == 6 - len(motions) + 2  # and two unit lengths
        if motions:
            near = values + 2 * np.pi * np.array([0 if m[0] == "t" or joint.is_ball else 3 for m in motions])
            np.testing.assert_allclose(solver.actuator_values(state, near), near, atol=1e-13)
            every = Rows(frames.rows(solver.length, values), 2)
            assert len(every) == 6
            assert np.abs(every.value(state)).max() < 1e-14


def test_a_ball_is_read_without_jumps() -> None:
    joint = Joint("j", "spherical", WORLD, "b", axis2=(0.0, 1.0, 0.0), actuated=True)
    solver = ReferenceSolver(Mechanism("m", (Body("b", 1.0),), (joint,)), LOOSE)
    previous = np.zeros(3)
    for angle in np.linspace(0.0, 9.0, 91)[1:]:
        state = solver.rest_state()
        state[0, 3:] = np.cos(angle / 2), 0.6 * np.sin(angle / 2), 0.0, 0.8 * np.sin(angle / 2)
        values = solver.actuator_values(state, previous)
        np.testing.assert_allclose(values, [0.6 * angle, 0.0, 0.8 * angle], atol=1e-9)
        previous = values


def test_four_bar_has_the_papers_count() -> None:
    solver = ReferenceSolver(four_bar(), LOOSE)
    assert len(solver.residual(solver.rest_state())) == 30
    objective = Objective(solver, {}, None, solver.rest_state(), None, LOOSE)
    assert solver._model(objective, solver.rest_state()).null.shape == (28, 1)


def test_four_bar_forward_kinematics_by_closed_form() -> None:
    solver = ReferenceSolver(four_bar(), LOOSE)
    state = solver.rest_state()
    for crank in np.linspace(1.0, 1.0 + 2 * np.pi, 12):
        state, residual = solver.fk(np.array([crank - 1.0]), state)
        assert residual < 1e-12
        x, _, z = solver.frame_pose(state, "tip").position
        np.testing.assert_allclose([x, z], four_bar_points(crank)[1], atol=1e-10)
        assert solver.actuator_values(state, np.array([crank - 1.0]))[0] == pytest.approx(crank - 1.0, abs=1e-10)


def test_four_bar_that_cannot_assemble_says_so() -> None:
    solver = ReferenceSolver(four_bar("p"), LOOSE)  # the rocker cannot go round
    _, residual = solver.fk(np.array([2.5]), solver.rest_state())
    assert residual > 1e-2


@pytest.mark.parametrize("target", [(1.2, 0.9), (0.2, 0.4), (0.9, 0.1), (3.0, 2.0)])
def test_four_bar_reaches_as_far_as_it_can(target: tuple[float, float]) -> None:
    """Out of reach, the assembled linkage goes to the nearest point of its coupler curve, found here by a search over
    the crank."""
    solver = ReferenceSolver(four_bar(), Settings(state_weight=1e-12, joint_limits=False))
    wanted = np.array([target[0], 0.0, target[1]])
    result = solver.solve({"tip": (wanted, None)}, None, solver.rest_state(), None)
    assert result.converged
    assert result.constraint_residual < 1e-11

    def distance(crank: float) -> float:
        return float(np.hypot(*(four_bar_points(crank)[1] - target)))

    here = float(solver.actuator_values(result.state, np.zeros(1))[0]) + 1.0
    best = minimize_scalar(distance, bounds=(here - 0.5, here + 0.5), method="bounded", options={"xatol": 1e-10})
    reached = solver.frame_pose(result.state, "tip").position
    assert np.linalg.norm(np.array(reached) - wanted) == pytest.approx(best.fun, abs=1e-9)
    slope = brentq(lambda c: distance(c + 1e-5) - distance(c - 1e-5), here - 0.1, here + 0.1)
    assert here == pytest.approx(slope, abs=1e-6)


def test_boxer_reaches_what_it_can_reach() -> None:
    """The hand's pose from a product of rotations about the resting axes; its inverse must give the angles back."""
    mechanism = robots.load("boxer")
    solver = ReferenceSolver(mechanism, Settings(state_weight=1e-9, joint_limits=False))
    frame, actuated = mechanism.frame("hand"), [j for j in mechanism.joints if j.actuated]
    body = mechanism.bodies[mechanism.body_index[frame.body]]
    rng = np.random.default_rng(8)
    for _ in range(6):
        values = np.array([j.rest[0] for j in actuated]) + 0.3 * rng.normal(size=len(actuated))
        turn, shift = np.eye(3), np.zeros(3)
        for joint, value in zip(actuated, values, strict=True):
            own = Rotation.from_rotvec((value - joint.rest[0]) * np.array(joint.axis)).as_matrix()
            shift = shift + turn @ (np.array(joint.position) - own @ np.array(joint.position))
            turn = turn @ own
        wanted = Pose.of(turn, shift) @ body.pose @ frame.pose
        by_fk, residual = solver.fk(values, solver.rest_state())
        assert residual < 1e-12
        np.testing.assert_allclose(solver.frame_pose(by_fk, "hand").position, wanted.position, atol=1e-12)
        result = solver.solve(
            {"hand": (np.array(wanted.position), np.array(wanted.quaternion))}, None, solver.rest_state(), None
        )
        assert result.converged
        np.testing.assert_allclose(solver.actuator_values(result.state, values), values, atol=1e-5)


def by_scipy(solver: ReferenceSolver, objective: Objective, start: np.ndarray) -> np.ndarray:
    """Equation 3 by SciPy's SLSQP, which knows nothing of null spaces, pulling back or our Hessians; redundant rows are
    left out."""
    shape = start.shape
    jacobian = solver._jacobian(solver.constraints, start)
    rank = np.linalg.matrix_rank(jacobian, tol=1e-9)
    kept = qr(jacobian.T, mode="economic", pivoting=True)[2][:rank]
    constraint = {
        "type": "eq",
        "fun": lambda x: solver.residual(x.reshape(shape))[kept],
        "jac": lambda x: solver._jacobian(solver.constraints, x.reshape(shape))[kept],
    }
    result = minimize(
        lambda x: objective.value(x.reshape(shape)),
        start.ravel(),
        jac=lambda x: objective.gradient(x.reshape(shape)),
        method="SLSQP",
        constraints=[constraint],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return result.x.reshape(shape)


@pytest.mark.parametrize("case", ["boxer", "boxer beyond reach", "boxer regularized", "four-bar beyond reach"])
def test_agrees_with_scipys_optimizers(case: str) -> None:
    if case.startswith("boxer"):
        mechanism, name = robots.load("boxer"), "hand"
    else:
        mechanism, name = four_bar(), "tip"
    chosen = Settings(
        targets={name: Weights((1.0, 2.0, 0.5), (0.3, 0.1, 0.0))},
        state_weight=1e-2,
        velocity_weight=1e-2 if "regularized" in case else 0.0,
        velocity_limit=3.0,
        joint_limits=False,
    )
    solver = ReferenceSolver(mechanism, chosen)
    rest = solver.rest_state()
    pose = solver.frame_pose(rest, name)
    away = np.array([0.5, 0.3, 0.6]) if "beyond" in case else np.array([0.02, -0.05, 0.03])
    target = (
        np.array(pose.position) + away,
        np.array((Pose(quaternion=(np.cos(0.2), 0, np.sin(0.2), 0)) @ pose).quaternion),
    )
    com = rest[:, :3].mean(0)
    objective = Objective(solver, {name: target}, com, rest, 1 / 60, chosen)
    result = solver.solve({name: target}, com, rest, 1 / 60)
    theirs = by_scipy(solver, objective, rest)
    assert result.converged
    assert np.abs(solver.residual(theirs)).max() < 1e-7
    assert result.objective <= objective.value(theirs) + 1e-8
    np.testing.assert_allclose(theirs, result.state, atol=2e-5)


@settings(EASY, max_examples=12)
@given(problems(length=2))
def test_random_problems_end_assembled_and_stationary(problem: Problem) -> None:
    solver = ReferenceSolver(problem.mechanism, problem.settings)
    previous = solver.rest_state()
    assert np.abs(solver.residual(previous)).max() < 1e-14
    for k, targets in enumerate(problem.targets):
        com, dt = None if problem.com is None else problem.com[k], problem.dt if k else None
        result = solver.solve(targets, com, previous, dt)
        assert np.isfinite(result.state).all()
        assert result.constraint_residual < 1e-10
        assert (
            result.objective <= Objective(solver, targets, com, previous, dt, problem.settings).value(previous) + 1e-12
        )
        if result.flexibility > 1e-5 and abs(result.curvature) > 1e-5:  # else loops lock, or the optimum is a valley
            assert result.converged
            assert result.stationarity < 1e-7
        previous = result.state


def test_velocity_term_holds_the_boxer_back() -> None:
    mechanism = robots.load("boxer")
    pose = ReferenceSolver(mechanism, LOOSE).frame_pose(ReferenceSolver(mechanism, LOOSE).rest_state(), "hand")
    position = np.array(pose.position) + np.outer(np.linspace(0.0, 1.0, 4), [0.0, 0.1, 0.1])
    clip = TargetClip(np.arange(4) / 60, {"hand": Track(position, np.tile(pose.quaternion, (4, 1)))})
    speeds = []
    for weight in (0.0, 1.0):
        results = follow(mechanism, clip, replace(LOOSE, velocity_weight=weight, velocity_limit=1.0))
        turns = [np.abs((a.state[:, 3:] * b.state[:, 3:]).sum(1)) for a, b in pairwise(results)]
        speeds.append(max(2 * 60 * np.arccos(np.minimum(t, 1.0)).max() for t in turns))
    assert speeds[0] > 3.0
    assert speeds[1] < 1.5


def test_couplings_are_refused() -> None:
    mechanism = four_bar().with_changes(couplings=(Coupling("gear", "o", "p"),))
    with pytest.raises(MechanismError, match="gear"):
        ReferenceSolver(mechanism, LOOSE)


def test_own_frames_and_states_are_inverse() -> None:
    solver = ReferenceSolver(robots.load("walker"), LOOSE)
    state = random_state(solver, 5)
    state[:, 3:] /= np.linalg.norm(state[:, 3:], axis=1)[:, None]
    np.testing.assert_allclose(solver.state_of(*solver.own_frames(state), near=state), state, atol=1e-13)
    position, _ = solver.own_frames(solver.rest_state())
    np.testing.assert_allclose(position, [body.pose.position for body in solver.mechanism.bodies], atol=1e-15)
