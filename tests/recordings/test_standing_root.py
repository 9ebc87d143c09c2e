"""Where a robot stands that follows a recording, of a trunk on two feet whose heights are known."""

from __future__ import annotations

import numpy as np
import pytest

from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.recordings.retargeting import standing_root
from robik.skeleton.mapping import Row

ROWS = [
    Row(frame="hand", bone="Hand"),
    Row(frame="left", bone="LeftFoot", part="foot", side="l"),
    Row(frame="right", bone="RightFoot", part="foot", side="r"),
]
SOLE = ((0.1, 0.03, 0.0), (-0.1, 0.03, 0.0), (-0.1, -0.03, 0.0), (0.1, -0.03, 0.0))


def robot(with_soles: bool, height: float = 0.0, is_held: bool = False) -> Mechanism:
    """Return a trunk with a hand that hangs lower than its feet, 0.7 and 0.65 m below it."""
    heights = {"left": 0.3, "right": 0.35, "hand": 0.1}
    bodies = [Body("trunk", 5.0, pose=Pose((0.0, 0.0, 1.0 + height)))]
    bodies += [Body(name, 1.0, pose=Pose((0.0, 0.0, z + height))) for name, z in heights.items()]
    joints = [Joint(f"to_{name}", "spherical", "trunk", name, position=(0.0, 0.0, 1.0 + height)) for name in heights]
    if is_held:
        joints.append(Joint("wall", "fixed", WORLD, "trunk"))
    soles = {"left": SOLE, "right": SOLE, "hand": ()} if with_soles else dict.fromkeys(heights, ())
    frames = [Frame(f"{name}_frame", name, Pose((0.0, 0.0, -0.02)), sole) for name, sole in soles.items()]
    return Mechanism("r", bodies, joints, frames=frames)


def test_a_robot_without_a_place_is_lifted_onto_its_lower_foot() -> None:
    found = standing_root(robot(False), robot(True), ROWS)
    np.testing.assert_allclose(found.position, [0.0, 0.0, -0.28], atol=1e-6)
    np.testing.assert_array_equal(found.matrix, np.eye(3))
    barefoot = standing_root(robot(True), robot(False), ROWS)
    np.testing.assert_allclose(barefoot.position, [0.0, 0.0, -0.3], atol=1e-6)


@pytest.mark.parametrize("is_held", [True, False])
def test_a_robot_that_is_held_or_has_a_place_already_stays(is_held: bool) -> None:
    known = robot(True)
    assert standing_root(known, known, ROWS) == Pose()
    after = robot(True, is_held=True) if is_held else robot(True, height=0.2)
    assert standing_root(known, after, ROWS) == Pose()
