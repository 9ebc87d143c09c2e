"""The paper's experimental mechanisms are what their descriptions say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import pi

import numpy as np
import pytest

from experiments.robots import validation
from robik import robots
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD, Body, Joint, Mechanism
from tests.robots.constraints import Hinged


@pytest.fixture(scope="module")
def dancer() -> Mechanism:
    return robots.load("dancer")


def test_dancer_s_count(dancer: Mechanism) -> None:
    hinges = [j for j in dancer.joints if j.type == "revolute"]
    assert (len(dancer.bodies), len(hinges), len(dancer.joints), len(dancer.actuators)) == (12, 12, 13, 8)
    assert sum(not j.actuated for j in hinges) == 4
    assert dancer.is_grounded
    ties = Counter(end for j in hinges for end in (j.parent, j.child))
    assert set(ties) == {b.name for b in dancer.bodies} and set(ties.values()) == {2}, "one loop through every body"
    found = inspect(dancer)
    assert (found.loops, found.mobility, found.redundant_rows) == (1, 6, 0)


def test_dancer_s_mobility_by_a_model_of_its_own(dancer: Mechanism) -> None:
    hinged = dancer.with_changes(joints=tuple(j for j in dancer.joints if j.type == "revolute"))
    residual, jacobian = Hinged(hinged).closure()
    assert abs(residual).max() < 1e-11
    values = np.linalg.svd(jacobian, compute_uv=False)
    rank = int((values > 1e-9 * values[0]).sum())
    assert jacobian.shape[1] - 6 - rank == 6, "with the stand held"
    assert values[rank - 1] > 1e-3, "beyond doubt"


def test_feet_may_be_two_bodies_on_the_ground(dancer: Mechanism) -> None:
    """The same robot with each foot a body of its own, both grounded."""
    feet = tuple(Body(f"foot_{side}", 0.2) for side in "lr")
    hinges = [j for j in dancer.joints if j.type == "revolute"]
    left = [replace(j, parent="foot_l") if j.parent == "stand" else j for j in hinges]
    moved = [replace(j, parent="foot_r") if j.parent == "foot_l" and j.name.endswith("_r") else j for j in left]
    mounts = tuple(Joint(f"mount_{f.name}", "fixed", WORLD, f.name) for f in feet)
    two = dancer.with_changes(bodies=(*feet, *dancer.bodies[1:]), joints=(*mounts, *moved))
    found = inspect(two)
    assert (found.bodies, found.loops, found.mobility, found.redundant_rows) == (13, 1, 6, 0)


def test_chain_alternates() -> None:
    chain = robots.load("chain")
    assert [j.type for j in chain.joints] == ["fixed"] + ["revolute", "prismatic"] * 6
    assert all(j.actuated for j in chain.joints[1:])
    assert all(a.child == b.parent for a, b in zip(chain.joints[:-1], chain.joints[1:], strict=True))
    found = inspect(chain)
    assert (found.loops, found.mobility) == (0, 12)


def test_validation_mechanism_has_every_joint_type_and_one_freedom() -> None:
    mechanism = robots.load("validation")
    assert {"revolute", "prismatic", "cylindrical", "universal", "spherical", "cartesian", "fixed"} == {
        j.type for j in mechanism.joints
    }
    found = inspect(mechanism)
    assert (found.loops, found.mobility, found.redundant_rows, found.actuators) == (3, 1, 2, ("crank_drive",))


def test_validation_mechanism_s_tool_is_where_geometry_puts_it() -> None:
    """Forward kinematics, all round and back, against the closed form."""
    mechanism = robots.load("validation")
    angles = np.concatenate([np.linspace(0, 2 * pi, 25), np.linspace(2 * pi, -pi, 37)])
    position, quaternion, residual = body_poses(mechanism, angles[:, None])
    tool = mechanism.body_index["tool"]
    expected = [validation.tool_pose(a) for a in angles]
    np.testing.assert_allclose(position[:, tool], [p.position for p in expected], atol=1e-10)
    turned = np.abs(np.einsum("ti,ti->t", quaternion[:, tool], [p.quaternion for p in expected]))
    np.testing.assert_allclose(turned, 1.0, atol=1e-12)
    assert residual.max() < 1e-10
