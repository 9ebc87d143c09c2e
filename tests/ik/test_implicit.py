"""The implicit formulation: its sensitivities against finite differences, its answers against the state-based one, and
where they part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.baking.clips import validation_clip
from experiments.baking.workspace import handle_clip
from experiments.implicit import DrivenRows, ImplicitSolver, closure_model, forward, moved
from experiments.oracle.maximal import JointFrames, motion, motion_derivatives
from experiments.oracle.reference import ReferenceSolver
from experiments.robots import four_bar
from robik import robots
from robik.bench.clips import boxer_clip
from robik.clips.clip import TargetClip, Track
from robik.errors import MechanismError
from robik.ik.solver import Solver
from robik.mechanism import JOINT_TYPES, WORLD, Body, Coupling, Frame, Joint, Mechanism
from robik.mechanism.joints import MOTIONS
from robik.objectives.settings import Settings
from robik.retargeting.retarget import Retargeting, retarget
from tests.ik.pulled import PULLED
from tests.ik.random_mechanisms import Problem, problems

LOOSE = Settings(joint_limits=False, state_weight=1e-7)
KINDS = [(name, row.motions) for name, row in JOINT_TYPES.items() if row.motions]
KINDS += [("general", ("ty", "rx", "rz")), ("general", MOTIONS[1:])]


@pytest.mark.parametrize(("kind", "motions"), KINDS)
@pytest.mark.parametrize("size", [1e-6, 0.8])
def test_how_a_joint_moves_with_its_values(kind: str, motions: tuple[str, ...], size: float) -> None:
    joint = Joint("j", kind, WORLD, "b", motions=motions if kind == "general" else ())
    values = size * np.random.default_rng(len(motions)).normal(size=len(motions))
    for k, derivatives in enumerate(motion_derivatives(joint, values)):
        ahead, behind = (motion(joint, values + 1e-6 * sign * np.eye(len(motions))[k]) for sign in (1, -1))
        for found, plus, minus in zip(derivatives, ahead, behind, strict=True):
            np.testing.assert_allclose(found, (plus - minus) / 2e-6, rtol=0, atol=1e-9)


def everything_driven(mechanism: Mechanism) -> Mechanism:
    return mechanism.with_changes(joints=[replace(j, actuated=bool(j.motions)) for j in mechanism.joints])


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(problems(far=False, length=1), st.integers(0, 99))
def test_derivatives_of_forward_kinematics(problem: Problem, seed: int) -> None:
    """Of ½|C_FK|² by the state, twice, and of the rows by the values: every joint type, driven, at states that are not
    assembled."""
    mechanism, rng = everything_driven(problem.mechanism), np.random.default_rng(seed)
    solver = ReferenceSolver(mechanism, LOOSE)
    joints: list[JointFrames] = solver.joints
    drives = DrivenRows(joints, [j for j in joints if j.joint.actuated], solver.length, len(mechanism.bodies))
    p = np.array([v for j in drives.driven for v in j.joint.rest])
    p = p + 0.3 * rng.normal(size=len(p))
    rows, state = drives.at(p), moved(solver.rest_state(), 0.3 * rng.normal(size=6 * len(mechanism.bodies)))
    np.testing.assert_allclose(np.linalg.norm(state[:, 3:], axis=1), 1.0, atol=1e-15)
    value, slope, hessian = closure_model(rows, state)
    way, h = rng.normal(size=len(slope)), 1e-4
    ahead, behind = (0.5 * float(np.sum(rows.value(moved(state, sign * h * way)) ** 2)) for sign in (1, -1))
    energy = 0.5 * float(value @ value)
    assert slope @ way == pytest.approx((ahead - behind) / (2 * h), rel=1e-5, abs=1e-5)
    assert way @ hessian @ way == pytest.approx((ahead - 2 * energy + behind) / h**2, rel=1e-4, abs=1e-3)
    for k, (at, own) in enumerate(drives.slopes(p)):
        step = 1e-6 * np.eye(len(p))[k]
        numeric = (drives.at(p + step).value(state) - drives.at(p - step).value(state)) / 2e-6
        analytic = np.zeros(len(rows))
        analytic[at : at + 6] = own.value(state)
        np.testing.assert_allclose(analytic, numeric, atol=1e-8)


@pytest.mark.parametrize("turn", [0.3, 1.5])
def test_gradient_by_the_implicit_function_theorem(turn: float) -> None:
    """Assembled at the smaller turn of the crank, apart at the larger one."""
    linkage = robots.load("four_bar")
    solver = ImplicitSolver(linkage, ("handle",), LOOSE)
    p = np.array([linkage.joints[1].rest[0] + turn])
    apart = np.abs(solver.rows.at(p).value(solver.state(p))).max()
    assert (apart > 1e-3) == (turn == 1.5)
    objective = solver.objective({"handle": (np.array([-0.05, 0.01, 0.08]), None)}, None, None)
    _, gradient = solver.value_and_gradient(objective, p)
    ahead, behind = (solver.value_and_gradient(objective, p + h)[0] for h in (1e-5, -1e-5))
    assert gradient[0] == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)


def test_forward_kinematics_takes_apart_by_least_squares() -> None:
    """A slide driven to 0.2 m whose body is also welded to the ground at 0: half of the way to either, and no
    rotation."""
    joints = (Joint("drive", "prismatic", WORLD, "b", actuated=True), Joint("weld", "fixed", WORLD, "b"))
    solver = ImplicitSolver(Mechanism("m", (Body("b", 1.0),), joints, frames=(Frame("tip", "b"),)), ("tip",), LOOSE)
    np.testing.assert_allclose(solver.state(np.array([0.2])), [[0.1, 0, 0, 1, 0, 0, 0]], atol=1e-12)
    rows = solver.rows.at(np.array([0.2]))
    np.testing.assert_allclose(closure_model(rows, forward(rows, solver._paper.rest_state()))[1], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    "robot",
    [pytest.param("boxer", marks=pytest.mark.long), pytest.param("validation", marks=pytest.mark.long), "four_bar"],
)
def test_within_the_workspace_both_formulations_agree(robot: str) -> None:
    mechanism = robots.load(robot)
    clips = {
        "boxer": lambda: boxer_clip(mechanism, 10.0, 0.8),
        "validation": lambda: validation_clip(60.0, 0.15),
        "four_bar": lambda: handle_clip(0.8, 15),
    }
    clip: TargetClip = clips[robot]()
    chosen = Settings(state_weight=1e-6)
    states, implicit = retarget(mechanism, clip, chosen), Retargeting(mechanism, clip, chosen, ImplicitSolver).run()
    assert implicit.report is not None
    assert implicit.report.residual.max() < 1e-9
    np.testing.assert_allclose(implicit.values, states.values, rtol=0, atol=2e-5)
    np.testing.assert_allclose(implicit.position, states.position, rtol=0, atol=1e-5)


@pytest.mark.long
def test_beyond_the_workspace_only_the_implicit_formulation_comes_apart() -> None:
    """Fig. 5: the handle is to go where the linkage cannot. One stays assembled, and as near as can be; the other meets
    it, in pieces."""
    linkage, clip = robots.load("four_bar"), handle_clip(2.6, 40)
    whole, apart = retarget(linkage, clip), Retargeting(linkage, clip, formulation=ImplicitSolver).run()
    assert whole.report is not None and apart.report is not None
    beyond = whole.values[:, 0] > four_bar.REACH - 1e-6
    assert 0.3 < beyond.mean() < 0.8
    assert whole.report.residual.max() < 1e-10
    assert whole.values[:, 0].max() <= four_bar.REACH + 1e-6, "where coupler and rocker are stretched"
    assert apart.report.residual[~beyond].max() < 1e-9
    assert apart.report.residual[beyond][3:].min() > 1e-3, "open, by [m]"
    assert np.nanmax(apart.report.position_error) < 0.011 < 0.1 < np.nanmax(whole.report.position_error), "off by [m]"


def test_limits_of_actuators_hold() -> None:
    boxer = robots.load("boxer")
    clip = boxer_clip(boxer, 10.0, 1.0)
    joints = [
        replace(j, limits=((r - 0.2, r + 0.2),)) if j.actuated else j for j in boxer.joints for r in (*j.rest, 0.0)[:1]
    ]
    tight = boxer.with_changes(joints=joints)
    motion = Retargeting(tight, clip, PULLED, formulation=ImplicitSolver).run()
    rest = np.array([j.rest[0] for j in boxer.actuated])
    assert np.abs(motion.values - rest).max() == pytest.approx(0.2, abs=1e-12)


@pytest.mark.long
def test_a_floating_robot_takes_its_base_along() -> None:
    pair = Mechanism(
        "pair",
        (Body("a", 1.0), Body("b", 1.0, com=(0.2, 0.0, 0.0))),
        (Joint("hinge", "revolute", "a", "b", position=(0.1, 0.0, 0.0), axis=(0.0, 0.0, 1.0), actuated=True),),
        frames=(Frame("tip", "b"), Frame("root", "a")),
    )
    way = Track(np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3], [0.2, 0.3, 0.5]]))
    clip = TargetClip(np.arange(3) / 10, {"root": way, "tip": way})
    for formulation in (Solver, ImplicitSolver):
        motion = Retargeting(pair, clip, formulation=formulation).run()
        assert motion.report is not None
        assert np.nanmax(motion.report.position_error) < 1e-5
        assert motion.report.residual.max() < 1e-9


def test_couplings_are_refused() -> None:
    bodies = (Body("a", 1.0), Body("b", 1.0))
    joints = (Joint("i", "revolute", WORLD, "a", actuated=True), Joint("j", "revolute", "a", "b"))
    geared = Mechanism("geared", bodies, joints, frames=(), couplings=(Coupling("gear", "j", "i"),))
    with pytest.raises(
        MechanismError, match="robot 'geared' has the coupling 'gear', which the implicit formulation cannot hold"
    ):
        ImplicitSolver(geared, ("b",), Settings())
