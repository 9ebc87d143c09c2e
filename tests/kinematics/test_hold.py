"""Hold of a robot by its motors: closed forms, and screws of its joints."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from robik import robots
from robik.kinematics.assembly import prepared
from robik.kinematics.elimination import eliminate
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.frames import frame_poses
from robik.kinematics.hold import gradient, is_far, measure, new_watch
from robik.kinematics.kernels import close, forward_kinematics, new_placement
from robik.kinematics.singularity import Meter
from robik.mechanism import WORLD, Body, Joint, Mechanism
from tests.kinematics import five_bar
from tests.kinematics.linkages import stewart


def meter_of(mechanism: Mechanism) -> Meter:
    return Meter(ForwardKinematics(mechanism).topology)


def coordinates(meter: Meter, x: float, heights: np.ndarray) -> np.ndarray:
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


def test_its_derivative_is_that_of_the_closed_form() -> None:
    meter = meter_of(five_bar.robot())
    flat = prepared(meter.topology)
    watch, now = new_watch(meter.loops, meter.idle, flat, meter.topology.rest), new_placement(flat, meter.topology.rest)
    slope = np.zeros(len(flat.before))
    for z in (0.2, 0.15, 0.12, 0.11):
        before, here, after = coordinates(meter, 0.004, np.array([z - 1e-5, z, z + 1e-5]))
        now.q[:] = here
        forward_kinematics(flat, now)
        close(flat, now)
        eliminate(flat, now, watch.e)
        hold, _ = measure(flat, watch, 0)
        gradient(flat, now, watch, 0, hold, slope)
        expected = (five_bar.hold(0.004, z + 1e-5) - five_bar.hold(0.004, z - 1e-5)) / 2e-5
        np.testing.assert_allclose(slope @ (after - before) / 2e-5, expected, rtol=1e-6)
        assert is_far(flat, watch, 0, 0.999 * hold)
        assert not is_far(flat, watch, 0, 1.001 * hold)


def test_motors_lead_far_where_hold_is_low_without_changing_the_assembly() -> None:
    """One step of motors from beside a singular pose: Newton's method from there would fall to the other side."""
    robot = five_bar.robot()
    fk, places = ForwardKinematics(robot), [(0.004, 0.2), (0.03, 0.105), (0.06, 0.14), (0.004, 0.2)]
    side = np.sign(five_bar.bend(*places[0]))
    places = [(x, z) for x, z in places if np.sign(five_bar.bend(x, z)) == side]
    values = [[five_bar.angles(x, z)[f"motor_{s}"] for s in five_bar.SIDES] for x, z in places]
    found = fk.poses(np.array(values))
    hand = frame_poses(robot, "hand", found.position, found.quaternion)[0]
    np.testing.assert_allclose(hand[:, [0, 2]], places, atol=1e-9)


def test_slider_crank_loses_hold_at_its_dead_points_as_its_closed_form_says() -> None:
    """Driven by its slider, which stands still where crank and rod are in line."""
    crank, rod, y, start = 0.1, 0.25, (0.0, 1.0, 0.0), 1.0

    def place(angle: float) -> tuple[float, float]:
        lean = np.arcsin(crank * np.sin(angle) / rod)
        return crank * np.cos(angle) + rod * np.cos(lean), lean

    pin, (slide, lean) = (crank * np.cos(start), 0.0, crank * np.sin(start)), place(start)
    robot = Mechanism("slider_crank", [Body(n, 1.0) for n in ("crank", "rod", "slider")], [
        Joint("pivot", "revolute", WORLD, "crank", position=(0, 0, 0), axis=y),
        Joint("pin", "revolute", "crank", "rod", position=pin, axis=y),
        Joint("wrist", "revolute", "rod", "slider", position=(slide, 0, 0), axis=y),
        Joint("slide", "prismatic", WORLD, "slider", position=(slide, 0, 0), axis=(1, 0, 0), actuated=True),
    ])  # fmt: skip
    meter = meter_of(robot)
    tree = sorted(meter.topology.dofs, key=lambda name: meter.topology.dofs[name][0])
    angles, step = np.array([start, 0.5, 0.1, 0.01, 1e-4]), 1e-6

    def joints(angle: float) -> dict[str, float]:
        x, now = place(angle)
        turn, tilt = start - angle, now - lean  # about y, which turns z towards x
        return {"pivot": turn, "pin": tilt - turn, "wrist": -tilt, "slide": x - slide}

    q = np.array([[meter.topology.dofs[n][1] * joints(a)[n] for n in tree] for a in angles])
    rates = [{n: (joints(a + step)[n] - joints(a - step)[n]) / (2.0 * step) for n in tree} for a in angles]
    sizes = {n: meter.flat.size if n == "slide" else 1.0 for n in tree}
    moved = np.array([[rate[n] / sizes[n] for n in tree] for rate in rates])
    expected = np.abs(moved[:, tree.index("slide")]) / np.linalg.norm(moved, axis=1)
    np.testing.assert_allclose(meter.along(q).hold[:, 0], expected, rtol=1e-5)
    assert expected[0] > 0.3 and expected[-1] < 1e-3


def test_stewart_loses_hold_turned_by_a_right_angle() -> None:
    """Fichter's singular pose: there the lines of its six legs are dependent, at any height of the platform."""
    robot = stewart()
    feet, heads = (
        np.array([joint.position for joint in robot.joints if joint.name.startswith(n)]) for n in ("foot", "ball")
    )
    yaw, found = np.radians([*np.linspace(0.0, 80.0, 17), 85.0, 88.0, 89.0, 89.9]), []
    for angle in yaw:
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        high = heads @ turn.T
        legs = high - feet
        ways = legs / np.linalg.norm(legs, axis=1)[:, None]
        found.append((np.linalg.norm(legs, axis=1), np.linalg.det(np.hstack([ways, np.cross(high, ways)]))))
    lengths, lines = np.array([length for length, _ in found]), np.abs([volume for _, volume in found])
    fk = ForwardKinematics(robot)
    q, residual = fk.coordinates_along(lengths - lengths[0])
    assert residual.max() < 1e-9
    hold = Meter(fk.topology).along(q).hold[:, 0]
    assert hold[0] > 0.05 and hold[-1] < 2e-3
    np.testing.assert_allclose(hold[-4:] / lines[-4:], hold[-1] / lines[-1], rtol=0.15)


def test_motors_move_bodies_no_further_than_hold_says() -> None:
    """Perturbed by 1e-4, motors move all coordinates by at most that over hold, and by that along one way."""
    robot, rng = five_bar.robot(), np.random.default_rng(3)
    fk = ForwardKinematics(robot)
    meter = Meter(fk.topology)
    for x, z in ((0.02, 0.19), (0.03, 0.15), (0.004, 0.125)):
        motors = np.array([five_bar.angles(x, z)[f"motor_{side}"] for side in five_bar.SIDES])
        q, _ = fk.coordinates_along(motors[None])
        hold = float(meter.along(q).hold[0, 0])
        ways = rng.normal(size=(200, 2))
        ways *= 1e-4 / np.linalg.norm(ways, axis=1)[:, None]
        there = np.array([fk.coordinates_along((motors + way)[None])[0][0] for way in ways])
        moved = np.linalg.norm(there - q, axis=1).max() / 1e-4
        assert 0.9 / hold < moved < 1.05 / hold
