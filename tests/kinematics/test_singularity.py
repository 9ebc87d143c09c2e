"""Distances from singular poses where geometry says where those are, and what actuators do not move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experiments.robots import four_bar
from robik import robots
from robik.kinematics.driven import actuation
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.frames import frame_poses
from robik.kinematics.mobility import inspect
from robik.kinematics.singularity import Followed, distances, meter_of, whole
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose


def planar_arm(upper: float = 0.4, fore: float = 0.3, size: float = 1.0) -> Mechanism:
    z, a, b = (0.0, 0.0, 1.0), size * upper, size * (upper + fore)
    joints = (
        Joint("shoulder", "revolute", WORLD, "upper", position=(0.0, 0.0, 0.0), axis=z, actuated=True),
        Joint("elbow", "revolute", "upper", "fore", position=(a, 0.0, 0.0), axis=z, actuated=True, rest=(0.5,)),
    )
    return Mechanism(
        "arm", (Body("upper", 1.0), Body("fore", 1.0)), joints, frames=(Frame("hand", "fore", Pose((b, 0.0, 0.0))),)
    )


def test_four_bar_s_crank_loses_hold_at_its_dead_point() -> None:
    linkage = robots.load("four_bar")
    angles = four_bar.REACH - np.array([1.0, 0.1, 1e-2, 1e-4, 1e-6])
    found = distances(linkage, angles[:, None])
    assert (np.diff(found.hold) < 0).all()
    np.testing.assert_allclose(
        found.hold[2:-1] / found.hold[3:], 10.0, rtol=0.15
    )  # as the square root of what is left to turn
    assert found.hold[0] > 0.3 and found.hold[-1] < 1e-2
    assert found.steer.min() > 0.5, "the crank moves its own handle whatever the others do"
    np.testing.assert_array_equal(found.nearest, np.minimum(found.loops, np.minimum(found.hold, found.steer)))


def test_hold_is_the_actuators_share_of_the_motion() -> None:
    """Of a motion of length one, by finite differences of forward kinematics."""
    linkage = robots.load("four_bar")
    fk = ForwardKinematics(linkage)
    fk.move(np.array([1.5]))
    before = fk.coordinates
    fk.move(np.array([1.5 + 1e-6]))
    rates = (fk.coordinates - before) / 1e-6
    assert distances(linkage, np.array([[1.5]])).hold[0] == pytest.approx(1 / np.linalg.norm(rates), rel=1e-4)


def test_a_folding_parallelogram_could_go_on_either_way() -> None:
    y = (0.0, 1.0, 0.0)
    joints = [
        Joint("j1", "revolute", WORLD, "a", position=(0, 0, 0), axis=y, actuated=True),
        Joint("j2", "revolute", "a", "b", position=(0, 0, 1), axis=y),
        Joint("j3", "revolute", "b", "c", position=(2, 0, 1), axis=y),
        Joint("j4", "revolute", WORLD, "c", position=(2, 0, 0), axis=y),
    ]
    parallelogram = Mechanism("parallelogram", [Body(n, 1.0) for n in "abc"], joints)
    found = distances(parallelogram, np.array([[0.0], [np.pi / 2 - 0.1], [np.pi / 2 - 1e-3]]))
    assert found.loops[0] > 0.1
    assert found.loops[1] < 0.3 * found.loops[0]
    assert found.loops[2] < 0.03 * found.loops[1]
    assert np.isinf(found.steer).all(), "no frame, nothing to steer"


def test_an_arm_steers_as_its_jacobian_says() -> None:
    """One frame's two rotations and positions against two hinges: min |J v| / |v| by the closed form."""
    arm = planar_arm()
    elbow = np.array([0.5, 1.0, 2.0, np.pi / 2])  # its rest pose is stretched: 0.5 there is straight
    found = distances(arm, np.stack([0 * elbow, elbow], axis=1))
    for k, bend in enumerate(elbow - 0.5):
        elbow_at = np.array([0.4, 0.0])
        hand = elbow_at + 0.3 * np.array([np.cos(bend), np.sin(bend)])
        J = np.array([[-hand[1], elbow_at[1] - hand[1]], [hand[0], hand[0] - elbow_at[0]]]) / 0.4
        expected = np.linalg.svd(np.vstack([J, [[1.0, 1.0]]]), compute_uv=False)[-1]
        assert found.steer[k] == pytest.approx(expected, rel=1e-6)
    assert np.isinf(found.loops).all()
    np.testing.assert_allclose(found.hold, 1.0)


def test_a_spatial_arm_steers_as_finite_differences_say() -> None:
    """All six joints of an arm whose axes point everywhere, its tool off every axis."""
    arm = robots.load("ur10")
    fk, values = ForwardKinematics(arm), np.array([0.3, -1.1, 1.4, -0.7, 0.9, 0.5])

    def tool(q: np.ndarray) -> tuple[np.ndarray, Rotation]:
        found = fk.solve(q)
        place, R = frame_poses(arm, "tool", found.position[None], found.quaternion[None])
        return place[0] / fk.flat.size, Rotation.from_matrix(R[0])

    columns = []
    for step in 1e-6 * np.eye(6):
        (ahead, R), (behind, P) = tool(values + step), tool(values - step)
        columns.append(np.concatenate([ahead - behind, (R * P.inv()).as_rotvec()]) / 2e-6)
    expected = np.linalg.svd(np.array(columns), compute_uv=False)[-1]
    assert distances(arm, values[None], ("tool",)).steer[0] == pytest.approx(expected, rel=1e-6)


def test_the_boxer_s_shoulder_is_singular_upright() -> None:
    boxer = robots.load("boxer")
    values = np.zeros((3, 4))
    values[:, 3] = boxer.joints[-1].rest[0]
    values[:, 1] = 0.0, np.pi / 2 - 0.028, np.pi / 2
    found = distances(boxer, values)
    assert found.steer[0] > 0.3 and found.steer[1] < 0.05 and found.steer[2] < 1e-12


@pytest.mark.parametrize("size", [0.01, 10.0])
def test_size_does_not_matter(size: float) -> None:
    bends = np.array([[0.2, 0.9], [0.1, 0.6]])
    np.testing.assert_allclose(
        distances(planar_arm(size=size), bends).steer, distances(planar_arm(), bends).steer, rtol=1e-12
    )


def test_what_no_actuator_moves_is_named() -> None:
    """A rod between two balls spins about itself; a loose arm swings."""
    joints = [
        Joint("crank", "revolute", WORLD, "a", position=(0, 0, 0), axis=(0, 1, 0), actuated=True),
        Joint("ball_1", "spherical", "a", "rod", position=(0, 0, 1)),
        Joint("ball_2", "spherical", "rod", "c", position=(2, 0.3, 1)),
        Joint("rocker", "revolute", WORLD, "c", position=(2, 0, 0), axis=(0, 1, 0)),
        Joint("loose", "revolute", "c", "bell", position=(2, 0, 0.5), axis=(1, 0, 0)),
    ]
    found = actuation(Mechanism("rods", [Body(n, 1.0) for n in ("a", "rod", "c", "bell")], joints))
    assert (found.freedoms, found.actuated, found.surplus) == (3, 1, 0)
    assert len(found.idle) == 2
    assert ("loose",) in found.idle
    assert any("ball_1" in joints and "loose" not in joints for joints in found.idle)


def test_actuators_that_must_agree_are_counted() -> None:
    dancer, walker = actuation(robots.load("dancer")), actuation(robots.load("walker"))
    assert (dancer.freedoms, dancer.actuated, dancer.surplus, dancer.idle) == (6, 8, 2, ())
    assert (walker.freedoms, walker.actuated, walker.surplus, walker.idle) == (12, 12, 0, ()), "on its floating base"
    linkage = robots.load("four_bar")
    driven = linkage.with_changes(joints=[replace(j, actuated=j.type == "revolute") for j in linkage.joints])
    assert (actuation(driven).actuated, actuation(driven).surplus) == (4, 3)


def test_redundant_rows_are_told_loop_by_loop() -> None:
    walker = inspect(robots.load("walker"))
    assert sum(group.redundant for group in walker.loop_groups) == walker.redundant_rows == 12
    assert sum(len(group.joints) for group in walker.loop_groups) == walker.loops
    left, right = walker.loop_groups
    assert left.redundant == right.redundant == 6
    assert {name.replace("_r", "_l").replace("_lod", "_rod").replace("_loll", "_roll") for name in right.joints} == set(
        left.joints
    )
    assert set(left.rows) == {5}
    assert "6 redundant" in " ".join(walker.lines())


def test_motors_with_a_part_in_a_singular_pose_are_told() -> None:
    """A straight elbow makes shoulder and elbow singular for a hand that follows places, not for one that turns too."""
    arm = planar_arm()
    fk = ForwardKinematics(arm)
    meter, place = meter_of(fk.topology), Followed("hand", np.ones(3, bool), np.zeros((3, 0)))
    straight, bent = (fk.coordinates_along(np.array([[0.2, elbow]]))[0][0] for elbow in (0.5, 1.7))
    assert max(meter.by_joint(straight, [place]).values()) < 1e-9
    assert min(meter.by_joint(bent, [place]).values()) > 0.3
    assert min(meter.by_joint(straight, whole(arm)).values()) > 0.1
    assert set(meter.by_joint(straight, whole(arm, ["upper"]))) == {"shoulder", "elbow"}


def test_a_leg_s_motors_are_nearer_to_a_singular_pose_as_it_stretches() -> None:
    robot = robots.load("walker")
    fk, values, found = ForwardKinematics(robot), np.zeros((3, 12)), []
    values[:, robot.actuators.index("knee_l")] = 0.0, -0.2, -0.4
    for q in fk.coordinates_along(values)[0]:
        found.append(meter_of(fk.topology).by_joint(q, whole(robot)))
    assert found[0]["knee_l"] > 1.1 * found[1]["knee_l"] > 1.2 * found[2]["knee_l"]
    assert found[2]["ankle_pitch_r"] == pytest.approx(found[0]["ankle_pitch_r"], rel=1e-6), "it has not moved"
