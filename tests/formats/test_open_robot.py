"""Robots as files store them: a tree whose joints may point either way, and how far its loops are open."""

from __future__ import annotations

import numpy as np
import pytest

from robik.formats.assembly.open_joint import OpenJoint, joint_values
from robik.formats.assembly.open_robot import OpenRobot
from robik.mechanism import WORLD, Body, Coupling, Pose
from robik.mechanism.pose import matrix_quaternion


def frame(rng: np.random.Generator) -> Pose:
    q = rng.normal(size=4)
    return Pose(tuple(rng.normal(size=3)), tuple(q / np.linalg.norm(q)))


KINDS: list[tuple[str, tuple[str, ...]]] = [
    *((kind, ()) for kind in ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar")),
    ("general", ("ty", "rx", "rz")),
]


def robot(seed: int, backwards: bool) -> OpenRobot:
    """A chain through every kind of joint, each second one from its child to its parent if `backwards`, and a loop over
    all of it."""
    rng = np.random.default_rng(seed)
    names = [WORLD, *(f"b{i}" for i in range(len(KINDS)))]
    joints = []
    for i, (kind, free) in enumerate(KINDS):
        ends = names[i : i + 2] if i == 0 or not backwards or i % 2 else names[i : i + 2][::-1]
        joints.append(OpenJoint(f"j{i}", kind, *ends, near=frame(rng), far=frame(rng), free=free))
    joints.append(OpenJoint("loop", "cylindrical", names[1], names[-1], near=frame(rng), far=frame(rng)))
    return OpenRobot("r", tuple(Body(n) for n in names[1:]), tuple(joints))


@pytest.mark.parametrize("backwards", [False, True])
def test_closure_has_its_own_derivatives(backwards: bool) -> None:
    for seed in range(3):
        made = robot(seed, backwards)
        q = np.random.default_rng(seed).uniform(-1, 1, len(made.stored))
        _, jacobian = made.closure(q)
        step = 1e-6
        for k in range(len(q)):
            e = np.eye(len(q))[k] * step
            difference = (made.closure(q + e)[0] - made.closure(q - e)[0]) / (2 * step)
            np.testing.assert_allclose(jacobian[:, k], difference, atol=1e-7)


def test_joints_stand_at_the_coordinates_that_place_them() -> None:
    made = robot(5, True)
    q = np.random.default_rng(1).uniform(-1, 1, len(made.stored))
    now = made.placed(q)
    for joint in made.joints[:-1]:
        Ra, pa, Rb, pb = made.joint_frames(joint, now)
        at = made.at[joint.name]
        np.testing.assert_allclose(
            joint_values(joint, Ra.T @ Rb, Ra.T @ (pb - pa)), q[at : at + len(joint.motions)], atol=1e-12
        )


def test_a_part_is_what_lies_between_its_loops_and_the_body_they_hang_on() -> None:
    """Else a robot with a loop at the end of each of its fingers would be placed whole for each of them."""
    spine = [OpenJoint(f"s{k}", "revolute", WORLD if k == 0 else f"s{k - 1}", f"s{k}") for k in range(20)]
    rods = [OpenJoint("crank", "revolute", "s19", "crank"), OpenJoint("rod", "revolute", "crank", "rod")]
    gear = OpenJoint("gear", "revolute", "s5", "gear")
    pin, coupling = OpenJoint("pin", "revolute", "rod", "s19"), Coupling("g", "gear", "s6", (0.0, 2.0))
    names = [joint.child for joint in (*spine, *rods, gear)]
    made = OpenRobot("r", tuple(map(Body, names)), (*spine, *rods, gear, pin), couplings=(coupling,))
    loop, geared = made.parts
    assert (loop.ground, list(loop.hangs_on), [j.name for j in loop.closers]) == ("s19", ["crank", "rod"], ["pin"])
    assert (geared.ground, sorted(geared.hangs_on), geared.closers) == ("s5", ["gear", "s6"], ())


def test_a_joint_turned_round_holds_the_same_two_bodies_alike() -> None:
    rng = np.random.default_rng(2)
    near, far = frame(rng), frame(rng)
    bodies, joint = (Body("a"), Body("b")), OpenJoint("j", "universal", "a", "b", near=near, far=far)
    forth, back = (OpenRobot("r", bodies, (OpenJoint("base", "fixed", WORLD, end), joint)) for end in "ab")
    q = np.array([0.3, -0.4])
    one, other = forth.placed(q), back.placed(q)
    a, b = forth.order["a"], forth.order["b"]
    relative = one.R[a].T @ one.R[b], one.R[a].T @ (one.p[b] - one.p[a])
    a, b = back.order["a"], back.order["b"]
    np.testing.assert_allclose(other.R[a].T @ other.R[b], relative[0], atol=1e-14)
    np.testing.assert_allclose(other.R[a].T @ (other.p[b] - other.p[a]), relative[1], atol=1e-14)
    assert matrix_quaternion(relative[0])[0] >= 0
