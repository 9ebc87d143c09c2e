"""Hold of a robot by its motors: closed forms, and screws of its joints."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from robik import robots
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.hold import HoldMeter
from robik.mechanism import WORLD, Body, Joint, Mechanism
from tests.kinematics import five_bar


def meter_of(mechanism: Mechanism) -> HoldMeter:
    return HoldMeter(ForwardKinematics(mechanism).topology)


def coordinates(meter: HoldMeter, x: float, heights: np.ndarray) -> np.ndarray:
    tree = sorted(meter.topology.dofs, key=lambda name: meter.topology.dofs[name][0])
    return np.array([[five_bar.angles(x, z)[name] for name in tree] for z in heights])


def test_five_bar_has_the_hold_of_its_closed_form() -> None:
    meter, heights = meter_of(five_bar.robot()), np.array([0.2, 0.16, 0.13, 0.11, 0.1, 0.09, 0.07])
    expected = [five_bar.hold(0.004, z) for z in heights]
    np.testing.assert_allclose(meter.along(coordinates(meter, 0.004, heights)).hold[:, 0], expected, rtol=1e-9)
    assert min(expected) < 0.1 < 0.3 < max(expected)


def test_hold_goes_through_zero_between_two_samples() -> None:
    meter, heights = meter_of(five_bar.robot()), np.linspace(0.2, 0.05, 12)
    side = np.sign([five_bar.bend(0.004, z) for z in heights])
    crossed = meter.along(coordinates(meter, 0.004, heights)).crossed[:, 0]
    assert crossed.sum() == 1
    np.testing.assert_array_equal(np.flatnonzero(crossed), np.flatnonzero(np.diff(side)) + 1)
    assert not meter.along(coordinates(meter, 0.004, heights[side == side[0]])).crossed.any()


def test_what_is_lost_is_named() -> None:
    meter = meter_of(five_bar.robot())
    nearest = min(np.linspace(0.05, 0.2, 1501), key=lambda z: abs(five_bar.bend(0.004, z)))
    lost = meter.lost(coordinates(meter, 0.004, np.array([nearest]))[0], 0)
    assert set(lost.motors) == {"motor_l", "motor_r"}
    assert set(lost.bodies) == {"fore_l", "fore_r"}


def test_idle_spin_does_not_count() -> None:
    """A rod between two balls spins, a bell swings: neither takes anything from the crank's hold."""
    joints = [
        Joint("crank", "revolute", WORLD, "a", position=(0, 0, 0), axis=(0, 1, 0), actuated=True),
        Joint("ball_1", "spherical", "a", "rod", position=(0, 0, 1)),
        Joint("ball_2", "spherical", "rod", "c", position=(2, 0.3, 1)),
        Joint("rocker", "revolute", WORLD, "c", position=(2, 0, 0), axis=(0, 1, 0)),
        Joint("loose", "revolute", "c", "bell", position=(2, 0, 0.5), axis=(1, 0, 0)),
    ]
    robot = Mechanism("rods", [Body(name, 1.0) for name in ("a", "rod", "c", "bell")], joints)
    meter = meter_of(robot)
    assert meter.idle_bodies == {"rod", "bell"}
    q, _ = ForwardKinematics(robot).coordinates_along(np.linspace(-0.5, 0.5, 11)[:, None])
    assert meter.along(q).hold.min() > 0.2


def test_dancer_has_hold_where_those_motors_that_are_left_determine_it() -> None:
    """Eight motors, six freedoms: six motors are enough where the screws of all other hinges are independent."""
    dancer, held, lost = robots.load("dancer"), 0, 0
    hinges = [joint for joint in dancer.joints if joint.type == "revolute"]
    screws = np.array([[*j.axis, *np.cross(j.position, j.axis)] for j in hinges])
    for kept in combinations([joint.name for joint in dancer.actuated], 6):
        passive = np.linalg.svd(screws[[joint.name not in kept for joint in hinges]], compute_uv=False)
        joints = [replace(joint, actuated=joint.name in kept) for joint in dancer.joints]
        fewer = dancer.with_changes(joints=joints)
        meter = meter_of(fewer)
        hold = float(meter.along(meter.topology.rest[None]).hold.min())
        assert (hold > 1e-6) == (passive[-1] > 1e-6) or meter.idle_bodies, kept
        held, lost = held + (hold > 1e-6), lost + (passive[-1] <= 1e-6)
    assert held > 10
