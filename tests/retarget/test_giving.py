"""By how much a standing leg gives way, of a robot so simple that it is worked out by hand."""

from __future__ import annotations

import pytest

from robik.balance.giving import motors_give, sole_share, sole_width
from robik.dynamics.drives import Drive
from robik.mechanism.model import Mechanism
from robik.mechanism.parts import Body, Frame, Joint
from robik.mechanism.pose import Pose

WIDTHS = {"wide": 0.12, "narrow": 0.08}


def two_legs(feet: tuple[str, ...] = ("wide", "narrow")) -> Mechanism:
    """Return a weight of 8 kg, 0.5 m high, over feet of 1 kg beside it, each on an ankle about x that is 0.1 m high."""
    sides = {"wide": 0.05, "narrow": -0.08}
    bodies = [Body("weight", 10.0 - len(feet), com=(0.0, 0.0, 0.5))]
    joints, frames = [], [Frame("head", "weight", Pose((0.0, 0.0, 0.6)))]
    for name in feet:
        x, y = 0.1, WIDTHS[name] / 2
        bodies.append(Body(name, 1.0, com=(0.0, sides[name], 0.02)))
        ankle = {"position": (0.0, sides[name], 0.1), "axis": (1.0, 0.0, 0.0), "actuated": True}
        joints.append(Joint(f"ankle_{name}", "revolute", "weight", name, **ankle))
        sole = tuple((s * x, sides[name] + t * y, 0.0) for s, t in ((1, 1), (-1, 1), (-1, -1), (1, -1)))
        frames.append(Frame(f"sole_{name}", name, Pose(), sole))
    return Mechanism("legs", bodies, joints, frames=frames)


def test_the_softest_leg_moves_the_weight_by_its_distance_over_its_share() -> None:
    """An ankle of stiffness k bears a share k / (m g h) of the weight; of motors half as stiff, half of that."""
    robot = two_legs()
    height = (8.0 * 0.5 + 2 * 0.02) / 10.0
    aside = (0.05 - 0.08) / 10.0
    needed = 10.0 * 9.81 * height
    stiffness = {"wide": 30.0 * needed, "narrow": 20.0 * needed}
    drives = {f"ankle_{name}": Drive(k) for name, k in stiffness.items()}
    gives = {"wide": (0.05 - aside) / (0.5 * 30.0), "narrow": (0.08 + aside) / (0.5 * 20.0)}
    assert motors_give(robot, drives) == pytest.approx(max(gives.values()), rel=1e-3)
    drives["ankle_narrow"] = Drive(200.0 * needed)
    assert motors_give(robot, drives) == pytest.approx(gives["wide"], rel=1e-3)
    drives["ankle_narrow"] = Drive(0.2 * needed)
    assert motors_give(robot, drives) == pytest.approx(0.35 * 0.08), "more would leave no room for the weight"


def test_where_motors_are_unknown_a_share_of_the_narrowest_sole_counts() -> None:
    assert sole_width(two_legs()) == pytest.approx(0.08)
    assert sole_width(two_legs(("wide",))) == pytest.approx(0.12)
    assert sole_share(two_legs(("wide",))) == pytest.approx(0.024)
    assert sole_width(two_legs(())) == sole_share(two_legs(())) == 0.0
