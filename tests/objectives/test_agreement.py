"""Objectives over two bodies, and postures: states are the reference's, on trees, on loops and on chains too long for a
matrix."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from experiments.oracle.reference import ReferenceSolver, follow
from experiments.oracle.reference_asked import terms
from robik import robots
from robik.clips.clip import TargetClip
from robik.ik.work import SMALL
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.objectives.distance import Distance
from robik.objectives.look_at import LookAt
from robik.objectives.objective import Objective
from robik.objectives.posture import Posture
from robik.objectives.relative_frame import RelativeFrame
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from tests.ik.pulled import PULLED
from tests.ik.random_mechanisms import rotation
from tests.ik.test_agreement import CLOSED, SAME, circling, states_of
from tests.ik.test_reference import central, random_state

FRAMES = 8
WAY = np.sin(np.linspace(0.0, 2.0, FRAMES))


def seen(mechanism: Mechanism, name: str, other: str) -> Pose:
    """A frame's rest pose, seen from another's."""
    first, second = mechanism.rest_pose(name), mechanism.rest_pose(other)
    offset = second.matrix.T @ (np.array(first.position) - second.position)
    return Pose.of(second.matrix.T @ first.matrix, offset)


def relative(mechanism: Mechanism, name: str, other: str, size: float, turn: float) -> RelativeFrame:
    """A frame that moves and turns, seen from another, from where it rests."""
    rest = seen(mechanism, name, other)
    position = np.array(rest.position) + size * WAY[:, None] * [0.6, -0.5, 0.8]
    turned = [(Pose(quaternion=rotation(turn * w * np.array([0.0, 0.6, 0.8]))) @ rest).quaternion for w in WAY]
    return RelativeFrame(name, other, position, np.array(turned))


def beside(mechanism: Mechanism, name: str, size: float, away: tuple[float, float, float]) -> np.ndarray:
    """A point (T, 3) that moves beside where a frame rests."""
    return np.array(mechanism.rest_pose(name).position) + away + size * WAY[:, None] * [0.0, 1.0, 0.5]


def tentacle(bodies: int) -> Mechanism:
    """A chain of hinges across it by turns, with more degrees of freedom than a matrix is quick for."""
    length = 1.0 / bodies
    links = tuple(
        Body(f"link_{k}", 1.0 / bodies, com=(0.0, 0.0, 0.5 * length), pose=Pose((0.0, 0.0, k * length)))
        for k in range(bodies)
    )
    joints = tuple(
        Joint(
            f"hinge_{k}", "revolute", f"link_{k - 1}" if k else WORLD, f"link_{k}", position=(0.0, 0.0, k * length),
            axis=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))[k % 2], actuated=True,
        )
        for k in range(bodies)
    )  # fmt: skip
    return Mechanism("tentacle", links, joints, frames=(Frame("tip", links[-1].name, Pose((0.0, 0.0, length))),))


@dataclass
class Case:
    """A robot, what it is asked for, and which frames circle beside that."""

    mechanism: Mechanism
    asked: list[Objective]
    names: tuple[str, ...] = ()
    size: float = 0.02
    settings: dict[str, Any] = field(default_factory=dict)


def boxer_looks() -> Case:
    boxer = robots.load("boxer")
    asked = [
        LookAt("hand", beside(boxer, "hand", 0.3, (0.5, 0.2, 0.4)), axis=(0.0, 0.6, 0.8)),
        Posture("elbow", 0.4 * WAY),
    ]
    return Case(boxer, asked, settings={"state_weight": 1e-4})


def boxer_keeps_away() -> Case:
    boxer = robots.load("boxer")
    asked: list[Objective] = [
        Distance("hand", 0.05 + 0.1 * WAY, point=beside(boxer, "hand", 0.1, (0.1, 0.1, 0.0))),
        Distance("hand", 0.3 - 0.1 * WAY, "shoulder"),
    ]
    return Case(boxer, asked, settings={"state_weight": 1e-4})


def walker_feet() -> Case:
    walker = robots.load("walker")
    return Case(walker, [relative(walker, "foot_l", "foot_r", 0.02, 0.1)], ("pelvis",))


def walker_beyond_reach() -> Case:
    walker = robots.load("walker")
    asked = [relative(walker, "foot_l", "pelvis", 0.3, 0.3), relative(walker, "foot_r", "foot_l", 0.1, 0.3)]
    uneven = Weights((1.0, 0.1, 2.0), (0.5, 1.0, 0.0))
    return Case(walker, asked, ("foot_r",), settings={"state_weight": 1e-3, "objectives": {asked[0].key: uneven}})


def walker_all() -> Case:
    walker = robots.load("walker")
    asked: list[Objective] = [
        LookAt("pelvis", beside(walker, "foot_l", 0.1, (0.3, 0.0, 0.1))),
        LookAt("foot_l", np.zeros((FRAMES, 3)), "foot_r", (0.0, 1.0, 0.2)),
        Distance("foot_l", 0.12 + 0.05 * WAY, "foot_r"),
        Posture(walker.actuators[0], 0.1 * WAY),
    ]
    return Case(walker, asked, ("foot_r",), settings={"state_weight": 1e-3})


def dancer_hips() -> Case:
    dancer = robots.load("dancer")
    bodies = [body.name for body in dancer.bodies]
    frame = dancer.frames[0].name
    asked = [relative(dancer, frame, bodies[1], 0.01, 0.05), LookAt(frame, beside(dancer, frame, 0.1, (1.0, 0.0, 0.3)))]
    return Case(dancer, asked, settings={"state_weight": 1e-3})


def tentacle_curls() -> Case:
    chain = tentacle(SMALL + 6)
    asked: list[Objective] = [
        relative(chain, "tip", "link_30", 0.05, 0.4),
        LookAt("link_40", beside(chain, "link_40", 0.2, (0.4, 0.0, 0.2)), axis=(0.0, 0.0, 1.0)),
        LookAt("link_10", np.zeros((FRAMES, 3)), "link_55", axis=(0.6, 0.0, 0.8)),
        Distance("link_20", 0.25 - 0.05 * WAY, "link_50"),
        Posture("hinge_5", 0.1 * WAY),
    ]
    return Case(chain, asked, ("tip",), 0.05, {"state_weight": 1e-3})


CASES = {made.__name__: made for made in (
    boxer_looks, boxer_keeps_away, walker_feet, walker_beyond_reach, walker_all, dancer_hips, tentacle_curls,
)}  # fmt: skip


def clip_of(case: Case, frames: int) -> TargetClip:
    """The first frames of what a case asks for."""
    led = circling(case.mechanism, case.names, case.size, 0.1, FRAMES, com="tip" in case.names)
    return TargetClip(led.times, led.tracks, com=led.com, objectives=tuple(case.asked)).part(0, frames)


@pytest.mark.parametrize("name", CASES)
def test_states_are_optima_of_the_reference(name: str) -> None:
    """The reference, started in a state, stays there: it is an optimum of the problem in maximal coordinates."""
    case = CASES[name]()
    chosen = replace(PULLED, joint_limits=False, **case.settings)
    clip = clip_of(case, 2 if name.startswith("tentacle") else 3)
    solver = ReferenceSolver(case.mechanism, chosen)
    previous, moved = solver.rest_state(), 0.0
    for k, state in enumerate(states_of(solver, retarget(case.mechanism, clip, chosen))):
        targets = {n: (track.position[k], track.quaternion[k]) for n, track in clip.tracks.items()}  # type: ignore[index]
        com = None if clip.com is None else clip.com[k]
        asked = terms(solver, clip.objectives, k)
        stays = solver.solve(targets, com, previous, 1 / 60 if k else None, start=state, asked=asked)
        assert stays.converged
        assert np.abs(solver.residual(state)).max() < CLOSED
        np.testing.assert_allclose(state, stays.state, rtol=0, atol=SAME, err_msg=f"frame {k}")
        moved = max(moved, float(np.abs(state - solver.rest_state()).max()))
        previous = state
    assert moved > 1e-3


@pytest.mark.parametrize("name", ["boxer_looks", pytest.param("walker_feet", marks=pytest.mark.long)])
def test_the_reference_goes_to_the_same_states(name: str) -> None:
    """Each from its own last state on, where there is one optimum near."""
    case = CASES[name]()
    chosen = replace(PULLED, joint_limits=False, **case.settings)
    clip = clip_of(case, 4)
    solver = ReferenceSolver(case.mechanism, chosen)
    for state, result in zip(
        states_of(solver, retarget(case.mechanism, clip, chosen)), follow(case.mechanism, clip, chosen), strict=True
    ):
        assert result.converged
        np.testing.assert_allclose(state, result.state, rtol=0, atol=SAME)


@pytest.mark.parametrize("name", ["boxer_looks", "boxer_keeps_away", "walker_all", "walker_beyond_reach"])
def test_the_reference_s_terms_have_exact_derivatives(name: str) -> None:
    case = CASES[name]()
    solver = ReferenceSolver(case.mechanism, replace(PULLED, joint_limits=False, **case.settings))
    state = random_state(solver, 3, 0.02)
    asked = tuple(item.checked(FRAMES) for item in case.asked)
    for term in terms(solver, asked, FRAMES - 1):
        np.testing.assert_allclose(term.gradient(state), central(term.value, state), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(term.hessian(state), central(term.gradient, state), rtol=1e-5, atol=1e-6)
