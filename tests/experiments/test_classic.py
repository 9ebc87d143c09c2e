"""The textbook solvers: their Jacobian, their answers, what they do at the edge of reach, and what they refuse."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

from experiments.tracking.analytic import Limb, hybrid, limb, two_link
from experiments.tracking.classic import (
    ClassicTracker,
    _markers,
    _nearest,
    cyclic_coordinate_descent,
    damped_least_squares,
    jacobian_transpose,
    nonlinear_optimisation,
    pseudo_inverse,
)
from experiments.tracking.serial_chain import ChainTarget, SerialChain, rotation_vector
from experiments.tracking.two_link import LINKS, two_link_arm
from robik.errors import ClipError, MechanismError
from robik.mechanism import Frame, Joint, Mechanism
from robik.robots import load
from robik.tracking import Target, Targets

ITERATIVE = (
    pseudo_inverse,
    damped_least_squares,
    jacobian_transpose,
    cyclic_coordinate_descent,
    nonlinear_optimisation,
)
EASY = (pseudo_inverse, damped_least_squares, nonlinear_optimisation)


def goals(chain: SerialChain, count: int, spread: float, seed: int = 0, rotation: bool = True) -> list[ChainTarget]:
    """Where the frame is at random joints, all near those at rest."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        chain.place(chain.clamped(chain.rest + spread * rng.uniform(-1, 1, len(chain.rest))))
        found.append(ChainTarget(chain.position.copy(), chain.rotation.copy() if rotation else None))
    return found


def error(chain: SerialChain, q: np.ndarray, target: ChainTarget) -> float:
    chain.place(q)
    return float(np.abs(chain.error(target)).max())


@pytest.mark.parametrize("robot", ["ur10", "arm7", "chain"])
def test_jacobian_is_the_derivative(robot):
    chain, h = SerialChain(load(robot), "tool"), 1e-6
    q = chain.clamped(chain.rest + 0.3)
    chain.place(q)
    J = chain.jacobian()
    for i in range(len(q)):
        step = h * np.eye(len(q))[i]
        chain.place(q + step)
        ahead = chain.position.copy(), chain.rotation.copy()
        chain.place(q - step)
        linear, angular = (ahead[0] - chain.position) / (2 * h), rotation_vector(ahead[1] @ chain.rotation.T) / (2 * h)
        assert np.abs(J[:, i] - np.concatenate([linear, angular])).max() < 1e-8


@pytest.mark.parametrize(
    "vector", [(0, 0, 0), (1e-8, 0, 0), (1, -2, 0.5), (pi - 1e-7, 0, 0), (0, pi, 0), (0, -2.2, 2.2)]
)
def test_rotation_vector(vector):
    R = Rotation.from_rotvec(vector).as_matrix()
    assert np.abs(Rotation.from_rotvec(rotation_vector(R)).as_matrix() - R).max() < 1e-8


@pytest.mark.parametrize("method", ITERATIVE, ids=lambda m: m.__name__)
@pytest.mark.parametrize("robot", ["ur10", "arm7"])
def test_iterative_solvers_come_to_targets_near_by(method, robot):
    """What is called reached is reached, between the limits; the transpose gets nearer, but not there in 200 steps."""
    chain = SerialChain(load(robot), "tool")
    reached = []
    for target in goals(chain, 8, 0.2):
        found = method(chain, chain.rest, target, 200)
        assert found.reached == (error(chain, found.q, target) <= 1e-5)
        assert (found.q >= chain.lower).all() and (found.q <= chain.upper).all()
        assert error(chain, found.q, target) < 0.3 * error(chain, chain.rest, target)
        reached.append(found.reached)
    assert all(reached) or method not in EASY


def test_euler_steps_go_half_of_the_way():
    """As many iterations as halving takes: from 0.1 m to 1e-5 m, fourteen."""
    chain = SerialChain(load("ur10"), "tool")
    chain.place(chain.rest)
    target = ChainTarget(chain.position + np.array([0.0, 0.0, 0.1]), chain.rotation.copy())
    assert 13 <= pseudo_inverse(chain, chain.rest, target).iterations <= 16


@pytest.mark.parametrize("rotation", [False, True])
def test_coordinate_descent_s_step_is_the_best_of_that_joint(rotation):
    chain = SerialChain(load("chain"), "tool")
    target = goals(chain, 1, 0.4, rotation=rotation)[0]
    chain.place(chain.rest)
    points, aims = _markers(chain, target, 0.15)
    start = {i: _nearest(chain, i, points, aims) for i in range(12)}

    def cost(i: int, by: float) -> float:
        chain.place(chain.rest + by * np.eye(12)[i])
        return float(np.sum((_markers(chain, target, 0.15)[0] - aims) ** 2))

    for i, by in start.items():
        best = minimize_scalar(
            lambda x, i=i: cost(i, x), bounds=(by - 0.5, by + 0.5), method="bounded", options={"xatol": 1e-8}
        )
        assert cost(i, by) < best.fun + 1e-12


def test_two_links_by_the_law_of_cosines():
    """Against the plane geometry itself, both elbows, full circle."""
    chain = SerialChain(two_link_arm(), "tip")
    a, b = LINKS
    rng = np.random.default_rng(1)
    for _ in range(100):
        one, two = rng.uniform(-pi, pi), rng.uniform(-2.5, 2.5)
        place = np.array([a * cos(one) + b * cos(one + two), a * sin(one) + b * sin(one + two), 0.0])
        found = two_link(chain, np.array([one, two]), ChainTarget(place))
        assert found.reached and found.q == pytest.approx([one, two], abs=1e-6)
    beyond = two_link(chain, np.zeros(2), ChainTarget(np.array([0.0, 9.0, 0.0])))
    assert not beyond.reached and beyond.q == pytest.approx([pi / 2, 0.0], abs=1e-6)


def test_the_elbow_goes_round_its_circle_while_the_hand_stands():
    arm7 = load("arm7")
    chain = SerialChain(arm7, "tool")
    arm, rng = Limb(chain), np.random.default_rng(2)
    for _ in range(20):
        q = rng.uniform(chain.lower, chain.upper)
        chain.place(q)
        target, here = ChainTarget(chain.position.copy(), chain.rotation.copy()), arm.angle(q)
        answers = list(arm.answers(q, target, here))
        assert min(np.abs(np.mod(a - q + pi, 2 * pi) - pi).max() for a in answers) < 1e-6, "q itself is one of them"
        for by in np.linspace(-pi, pi, 9):
            for answer in arm.answers(q, target, here + by):
                assert error(chain, answer, target) < 1e-9
                assert abs(np.mod(arm.angle(answer) - here - by + pi, 2 * pi) - pi) < 1e-6


def test_limb_reaches_what_the_arm_can_reach_between_its_limits():
    chain = SerialChain(load("arm7"), "tool")
    rng = np.random.default_rng(3)
    for _ in range(40):
        chain.place(0.9 * rng.uniform(chain.lower, chain.upper))
        target = ChainTarget(chain.position.copy(), chain.rotation.copy())
        found = limb(chain, chain.rest, target)
        assert found.reached and error(chain, found.q, target) < 1e-9


def test_hybrid_moves_little_and_takes_what_the_limb_cannot():
    """On a slide, the arm reaches beyond its own length, and the elbow goes where that costs the joints least."""
    chain = SerialChain(load("arm7"), "tool")
    target = goals(chain, 1, 0.8, seed=5)[0]
    plain, found = limb(chain, chain.rest, target), hybrid(chain, chain.rest, target)
    assert found.reached
    assert np.linalg.norm(found.q - chain.rest) < np.linalg.norm(plain.q - chain.rest)
    sliding = SerialChain(_on_a_slide(load("arm7")), "tool")
    sliding.place(sliding.rest)
    away = ChainTarget(sliding.position + np.array([0.0, 1.2, 0.0]), sliding.rotation.copy())
    found = hybrid(sliding, sliding.rest, away)
    assert found.reached and 0.3 < found.q[0] < 1.5


def _on_a_slide(arm: Mechanism) -> Mechanism:
    mount = arm.joints[0]
    slide = Joint("rail", "prismatic", "world", mount.child, axis=(0.0, 1.0, 0.0), actuated=True, limits=((-2.0, 2.0),))
    return arm.with_changes(joints=(slide, *arm.joints[1:]))


@pytest.mark.parametrize("method", [*ITERATIVE, limb], ids=lambda m: m.__name__)
def test_as_trackers_they_follow_a_frame(method):
    tracker = ClassicTracker(load("arm7"), method, most=200)
    pose = tracker.frame("tool")
    for k in range(20):
        target = np.add(pose.position, (0.0, 0.005 * k, 0.0))
        tracker.step(Targets({"tool": Target(target, np.array(pose.quaternion))}), 0.01)
    assert np.linalg.norm(tracker.frame("tool").position - target) < (0.01 if method is jacobian_transpose else 1e-4)
    with pytest.raises(ClipError, match="one frame"):
        tracker.step(Targets({"tool": Target(target), "hand": Target(target)}), 0.01)


@pytest.mark.parametrize(
    ("robot", "frame", "says"),
    [
        ("walker", "pelvis", "loops"),
        ("dancer", "pelvis_frame", "loops"),
        ("arm7", "forearm", "3 of its joints do not move"),
    ],
)
def test_what_is_no_serial_chain_is_said(robot, frame, says):
    with pytest.raises(MechanismError, match=f"not a serial chain.*{says}"):
        SerialChain(load(robot), frame)


def test_closed_forms_say_what_they_need():
    chain = SerialChain(load("ur10"), "tool")
    with pytest.raises(MechanismError, match="that takes two hinges"):
        two_link(chain, chain.rest, ChainTarget(np.zeros(3)))
    with pytest.raises(MechanismError, match="that takes seven hinges"):
        limb(chain, chain.rest, ChainTarget(np.zeros(3)))
    with pytest.raises(MechanismError, match="no frame"):
        SerialChain(load("ur10"), "nose")
    mechanism = load("arm7").with_changes(frames=(Frame("side", "flange"),))
    assert SerialChain(mechanism, "side").point is not None
