"""`retarget` solves the paper's problem: its states are the reference's, on our robots and on random ones.

`ROBIK_EXAMPLES=1000` draws that many random robots near their targets and as many far from them, other ones each time;
else 10 and 5, and 170 and 30 in the long tests.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from experiments.oracle.reference import ReferenceSolver, follow
from experiments.oracle.reference_objective import Objective
from experiments.oracle.reference_result import ReferenceResult
from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from tests.ik.compromise import compromise
from tests.ik.pulled import PULLED
from tests.ik.random_mechanisms import Problem, problems, rotation

EXAMPLES = int(os.environ.get("ROBIK_EXAMPLES", "0"))
CLOSED, SAME = 1e-9, 1e-6  # m; of the state
SINGULAR = 1e-4  # flexibility below which multipliers mean little
STOPPED = "the solver stopped before the optimum"


def states_of(solver: ReferenceSolver, motion: Motion) -> list[np.ndarray]:
    """The motion's states, continuous from the rest pose on."""
    states, last = [], solver.rest_state()
    assert motion.position is not None
    assert motion.quaternion is not None
    for position, quaternion in zip(motion.position, motion.quaternion, strict=True):
        last = solver.state_of(position, quaternion, near=last)
        states.append(last)
    return states


def circling(
    mechanism: Mechanism, names: tuple[str, ...], size: float, turn: float, frames: int, com: bool = False
) -> TargetClip:
    """Each frame of the robot on an ellipse of its own, turning to and fro, from where it rests."""
    solver = ReferenceSolver(mechanism, replace(PULLED, joint_limits=False))
    tracks, phase = {}, np.linspace(0.0, np.pi, frames)
    for i, name in enumerate(names):
        rest = solver.frame_pose(solver.rest_state(), name)
        way = np.stack([np.sin(phase + i) - np.sin(i), 1.0 - np.cos(phase), 0.5 * np.sin(phase)], axis=1)
        axis = np.roll([0.6, 0.0, 0.8], i)
        turned = [(Pose(quaternion=rotation(turn * s * axis)) @ rest).quaternion for s in np.sin(phase)]
        tracks[name] = Track(np.array(rest.position) + size * way, np.array(turned))
    way = np.stack([np.sin(phase), 0.5 * np.sin(2 * phase), 0 * phase], axis=1)
    masses = np.array([body.mass for body in mechanism.bodies])
    middle = masses @ np.array([body.rest_com for body in mechanism.bodies]) / masses.sum()
    return TargetClip(np.arange(frames) / 60, tracks, com=middle + 0.5 * size * way if com else None)


FEET = {
    "foot_l": Weights((10.0,) * 3, (100.0,) * 3),
    "foot_r": Weights((10.0,) * 3, (100.0,) * 3),
    "pelvis": Weights((0.0, 0.0, 1.0), (0.0,) * 3),
}
ONLY_POSITION = {"hand": Weights((1.0,) * 3, (0.0,) * 3)}
LEGS = ("pelvis", "foot_l", "foot_r")
SLOW_BODIES = {"velocity_weight": 1e-4, "linear_velocity_limit": 0.3}
CASES: dict[str, tuple[str, tuple[str, ...], float, float, dict[str, Any], bool]] = {
    "boxer": ("boxer", ("hand",), 0.03, 0.3, {}, False),
    "boxer beyond reach": ("boxer", ("hand",), 0.4, 0.8, {}, False),
    "boxer regularized": (
        "boxer",
        ("hand",),
        0.1,
        0.5,
        {"velocity_weight": 1e-4, "velocity_limit": 3.0, "state_weight": 2e-4},
        False,
    ),
    "boxer, slow bodies": ("boxer", ("hand",), 0.1, 0.5, SLOW_BODIES | {"state_weight": 2e-4}, False),
    "boxer position only": ("boxer", ("hand",), 0.02, 0.0, {"targets": ONLY_POSITION, "state_weight": 1e-4}, False),
    "walker": ("walker", LEGS, 0.01, 0.05, {}, False),
    "walker beyond reach": ("walker", LEGS, 0.15, 0.3, {"state_weight": 1e-3}, False),
    "walker balanced": (
        "walker",
        LEGS,
        0.02,
        0.05,
        {"targets": FEET, "com_weight": (10.0, 10.0, 0.0), "state_weight": 1e-2},
        True,
    ),
    "walker regularized": ("walker", LEGS, 0.05, 0.3, {"velocity_weight": 1e-3, "velocity_limit": 1.0}, True),
    "walker, slow bodies": ("walker", LEGS, 0.05, 0.3, {"velocity_weight": 1e-3, "linear_velocity_limit": 0.1}, True),
}


def test_weakly_held_directions_are_followed_to_the_optimum() -> None:
    """A target out of the crane's plane: one of its three motions is held by the state weight alone, whose optimum is
    flat (1e-6)."""
    joints = (
        Joint("shoulder", "revolute", WORLD, "boom", position=(-0.5, 0.5, 0.0), axis=(0.0, 0.0, 1.0)),
        Joint("elbow", "revolute", "boom", "jib", position=(0.5, 0.0, 0.0), axis=(0.0, 0.0, 1.0)),
        Joint("slide", "prismatic", "jib", "hook", position=(0.5, 0.0, 0.0), axis=(0.0, 1.0, 0.0)),
    )
    tip = Frame("tip", "hook", Pose((-0.8, 0.0, -0.6), (0.823, 0.205, -0.513, -0.131)))
    crane = Mechanism("crane", tuple(Body(name) for name in ("boom", "jib", "hook")), joints, frames=(tip,))
    chosen = Settings(targets={"tip": Weights((10.0, 1.0, 1.0), (0.0,) * 3)}, state_weight=1e-6, joint_limits=False)
    solver = ReferenceSolver(crane, chosen)
    clip = TargetClip(np.arange(2) / 60, {"tip": Track(np.array([(-0.837, -0.11, -0.614), (-0.832, -0.09, -0.538)]))})
    first, second = states_of(solver, retarget(crane, clip, chosen))
    wanted = solver.solve({"tip": (clip.tracks["tip"].position[1], None)}, None, first, 1 / 60, start=second)
    assert wanted.curvature > 1e-7
    np.testing.assert_allclose(second, wanted.state, atol=SAME)


LONG = ("walker, slow bodies", "walker regularized", "boxer beyond reach")


@pytest.mark.parametrize("case", [pytest.param(c, marks=pytest.mark.long) if c in LONG else c for c in CASES])
def test_our_robots_follow_the_reference(case: str) -> None:
    robot, names, size, turn, fields, com = CASES[case]
    mechanism, chosen = robots.load(robot), replace(PULLED, joint_limits=False, **fields)
    clip = circling(mechanism, names, size, turn, 20, com)
    solver = ReferenceSolver(mechanism, chosen)
    expected = follow(mechanism, clip, chosen)
    motion = retarget(mechanism, clip, chosen)
    states = states_of(solver, motion)
    values = np.zeros(len(mechanism.actuators))
    for k, (state, result) in enumerate(zip(states, expected, strict=True)):
        assert result.converged
        assert np.abs(solver.residual(state)).max() < CLOSED
        np.testing.assert_allclose(state, result.state, rtol=0, atol=SAME, err_msg=f"frame {k}")
        values = solver.actuator_values(result.state, values)
        np.testing.assert_allclose(motion.values[k], values, rtol=0, atol=1e-5, err_msg=f"frame {k}")


@pytest.mark.parametrize(
    ("pelvis", "lift"),
    [(1e-4, 0.0), pytest.param(1e-2, -0.02, marks=pytest.mark.long), pytest.param(0.1, 0.03, marks=pytest.mark.long)],
)
def test_a_compromise_is_the_reference_s(pelvis: float, lift: float) -> None:
    """Each state is where the reference goes from the state before it."""
    walker = robots.load("walker")
    clip, chosen = compromise(walker, pelvis, lift)
    solver = ReferenceSolver(walker, chosen)
    motion = retarget(walker, clip, chosen)
    assert motion.report is not None
    assert motion.report.iterations.max() <= 6
    states = states_of(solver, motion)
    for k in range(15, len(states), 64):
        targets = {name: (track.position[k], track.quaternion[k]) for name, track in clip.tracks.items()}  # type: ignore[index]
        expected = solver.solve(targets, clip.com[k], states[k - 1], 1 / 60)  # type: ignore[index]
        assert expected.converged
        assert np.abs(solver.residual(states[k])).max() < CLOSED
        np.testing.assert_allclose(states[k], expected.state, rtol=0, atol=SAME, err_msg=f"frame {k}")


def clip_of(problem: Problem) -> TargetClip:
    tracks = {}
    for name, (position, quaternion) in problem.targets[0].items():
        poses = [frame[name] for frame in problem.targets]
        positions = None if position is None else np.array([p for p, _ in poses])
        tracks[name] = Track(positions, None if quaternion is None else np.array([q for _, q in poses]))
    com = None if problem.com is None else np.array(problem.com)
    return TargetClip(np.arange(len(problem.targets)) * problem.dt, tracks, com=com)


def compare(problem: Problem, tally: Counter) -> None:
    """Each frame of a random problem against the reference, from the same previous state.

    A state must be an optimum of the paper's problem: the reference, started there, stays. Started from the previous
    state it should get there too; where it finds another optimum, `tally` keeps whether a better one.
    """
    solver, motion = (
        ReferenceSolver(problem.mechanism, problem.settings),
        retarget(problem.mechanism, clip_of(problem), problem.settings),
    )
    assert motion.report is not None
    stopped = {k for k, why in motion.report.short if STOPPED in why}
    previous = solver.rest_state()
    for k, state in enumerate(states_of(solver, motion)):
        frame = problem.targets[k], None if problem.com is None else problem.com[k], previous, problem.dt if k else None
        objective = Objective(solver, *frame, problem.settings)
        value = objective.value(state)
        tally["frames"] += 1
        assert np.abs(solver.residual(state)).max() < CLOSED
        assert value <= objective.value(previous) * (1 + 1e-12) + 1e-15
        if k in stopped:
            tally["stopped"] += 1
        else:
            expected = solver.solve(*frame)
            if not same(state, expected):
                stays = solver.solve(*frame, start=state)
                assert same(state, stays), (
                    f"frame {k}: no optimum; {np.abs(state - stays.state).max():.2e} away from one"
                )
                tally["worse" if value > expected.objective + 1e-9 * (1 + abs(value)) else "other"] += 1
        previous = state


def same(state: np.ndarray, result: ReferenceResult) -> bool:
    """Whether a state is the reference's, or could not be told from it: at a singular pose, or where the optimum is
    flat."""
    sharp = result.converged and result.flexibility > SINGULAR and result.curvature > 1e-8
    return bool(np.abs(state - result.state).max() < SAME) or not sharp


def compare_random(examples: int, far: bool) -> Counter:
    """Compare so many random problems; what became of their frames."""
    tally: Counter = Counter()

    @settings(
        max_examples=EXAMPLES or examples,
        derandomize=not EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(problems(far=far, length=2, every_type=True))
    def compared(problem: Problem) -> None:
        compare(problem, tally)

    compared()
    return tally


@pytest.mark.parametrize("examples", [10, pytest.param(170, marks=pytest.mark.long)])
def test_random_robots_near_their_targets(examples: int) -> None:
    tally = compare_random(examples, far=False)
    assert tally["worse"] <= 0.01 * tally["frames"], tally
    assert tally["stopped"] <= 0.02 * tally["frames"], tally


@pytest.mark.parametrize("examples", [5, pytest.param(30, marks=pytest.mark.long)])
def test_random_robots_far_from_their_targets(examples: int) -> None:
    tally = compare_random(examples, far=True)
    assert tally["worse"] <= 0.1 * tally["frames"], tally
    assert tally["stopped"] <= 0.5 * tally["frames"], tally


def test_redundant_loops_whose_closure_never_changes() -> None:
    """A slide and a hinge in one plane close on a planar joint in the same: nothing they do could open the loop."""
    bodies = (Body("a", 1.0), Body("b", 1.0, com=(0.1, 0.0, 0.0)), Body("c", 1.0, com=(0.2, 0.1, 0.0)))
    joints = (
        Joint("slide", "prismatic", "a", "b", position=(0.3, 0.0, 0.0), axis=(1.0, 0.0, 0.0)),
        Joint("hinge", "revolute", "b", "c", position=(0.4, 0.2, 0.0), axis=(0.0, 0.0, 1.0)),
        Joint("loop", "planar", "a", "c", position=(0.1, 0.3, 0.0), axis=(0.0, 0.0, 1.0)),
    )
    mechanism = Mechanism("planar", bodies, joints, frames=(Frame("tip", "c"),))
    chosen = Settings(state_weight=1e-4, joint_limits=False)
    clip = circling(mechanism, ("tip", "b"), 0.1, 0.5, 10)
    states = states_of(ReferenceSolver(mechanism, chosen), retarget(mechanism, clip, chosen))
    for state, result in zip(states, follow(mechanism, clip, chosen), strict=True):
        np.testing.assert_allclose(state, result.state, rtol=0, atol=SAME)


def test_a_stretched_loop_stays_closed() -> None:
    """Two bars stretched between fixed pins: to first order the middle pin moves aside, in truth nothing does."""
    bodies = (Body("a", 1.0, com=(0.5, 0.0, 0.0)), Body("b", 1.0, com=(1.5, 0.0, 0.0)))
    joints = (
        Joint("o", "revolute", WORLD, "a", position=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)),
        Joint("pin", "revolute", "a", "b", position=(1.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)),
        Joint("end", "spherical", WORLD, "b", position=(2.0, 0.0, 0.0)),
    )
    mechanism, chosen = (
        Mechanism("stretched", bodies, joints, frames=(Frame("middle", "a", Pose((1.0, 0.0, 0.0))),)),
        replace(PULLED, joint_limits=False),
    )
    for pull in (1e-3, 1e-2, 0.1, 1.0):
        clip = TargetClip(np.arange(3) / 60, {"middle": Track(np.tile([1.0, pull, 0.0], (3, 1)))})
        solver = ReferenceSolver(mechanism, chosen)
        for state in states_of(solver, retarget(mechanism, clip, chosen)):
            assert np.abs(solver.residual(state)).max() < CLOSED
