"""UsdPhysics joints: what single statements become, in files of the tests' own."""

from __future__ import annotations

from math import pi, radians
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.formats import import_robot, load_robot
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD

pytest.importorskip("pxr", reason="needs usd-core")

from tests.formats.usd_text import ALL_SIX, HOLD, TWO, body, d6, joint, only, usda, write


def test_joints_against_the_world_may_name_it_on_either_side(tmp_path: Path) -> None:
    frame = "point3f physics:localPos0 = (1, 2, 3);float physics:lowerLimit = -10;float physics:upperLimit = 20"
    other = "point3f physics:localPos1 = (1, 2, 3);float physics:lowerLimit = -10;float physics:upperLimit = 20"
    for inner, a, b in ((frame, WORLD, "a"), (other, "a", WORLD)):
        robot = load_robot(write(tmp_path, usda(body("a", (1, 2, 3)) + joint("j", "RevoluteJoint", a, b, inner))))
        j = robot.joints[0]
        assert (j.parent, j.child) == (WORLD, "a")
        np.testing.assert_allclose(j.position, [1, 2, 3])
        np.testing.assert_allclose(j.limits, [(radians(-10), radians(20))])
        # body1 turns about body0: positive is the body against the world, or the world against the body
        np.testing.assert_allclose(j.axis, [1, 0, 0] if a == WORLD else [-1, 0, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("free", "kind", "axes", "limits"),
    [
        ({"rotZ": (-10, 20)}, "revolute", [2], [(radians(-10), radians(20))]),
        ({"transY": (-1, 2)}, "prismatic", [1], [(-1, 2)]),
        ({"transY": (-1, 2), "rotY": (-10, 20)}, "cylindrical", [1], [(-1, 2), (radians(-10), radians(20))]),
        ({"rotX": (-10, 20), "rotZ": (-30, 40)}, "universal", [0, 2],
         [(radians(-10), radians(20)), (radians(-30), radians(40))]),
        ({"transX": (-1, 2), "transZ": (-3, 4), "rotY": (-10, 20)}, "planar", [1, 2],
         [(-3, 4), (-1, 2), (radians(-10), radians(20))]),
        ({"transX": (-1, 2), "transY": (-3, 4), "rotZ": (-10, 20)}, "planar", [2, 0],
         [(-1, 2), (-3, 4), (radians(-10), radians(20))]),
        ({}, "fixed", [], []),
        ({"transX": (-1, 2), "rotZ": (-10, 20)}, "general", [0, 1], [(-1, 2), (radians(-10), radians(20))]),
    ],
)  # fmt: skip
def test_a_plain_joint_is_what_its_limits_leave_free(
    free: dict, kind: str, axes: list[int], limits: list, tmp_path: Path
) -> None:
    inner, schemas = d6(free, tuple(k for k in ALL_SIX if k not in free))
    robot = load_robot(
        write(tmp_path, usda(body("a") + body("b") + HOLD + joint("j", "Joint", "a", "b", inner, schemas)))
    )
    j = only(robot, "j")
    assert j.type == kind
    if axes:
        np.testing.assert_allclose(j.axis, np.eye(3)[axes[0]], atol=1e-15)
    if len(axes) > 1:
        np.testing.assert_allclose(j.axis2, np.eye(3)[axes[1]], atol=1e-15)
    np.testing.assert_allclose(np.ravel(j.limits), np.ravel(limits), atol=1e-15)


@pytest.mark.parametrize(("low", "high", "mobility"), [(0.5, 0.5, 6), (0.2, 2.0, 7)])
def test_a_distance_is_a_rod(low: float, high: float, mobility: int, tmp_path: Path) -> None:
    inner = (
        f"point3f physics:localPos0 = (0.5, 0, 0);float physics:minDistance = {low};float physics:maxDistance = {high}"
    )
    robot = load_robot(write(tmp_path, usda(TWO + HOLD + joint("d", "DistanceJoint", "a", "b", inner))))
    found = inspect(robot)
    # the body keeps six motions less the distance; the rod's spin about itself is the ball's, not its universal joint's
    assert found.mobility == mobility - 1
    assert [b.mass for b in robot.bodies] == [1, 1, 0]
    assert robot.actuators == ()  # the file names no motors, but nothing drives a rod
    ball = only(robot, "d")
    assert np.linalg.norm(np.subtract(ball.position, (0.5, 0, 0))) == pytest.approx(0.5)
    if low < high:
        assert ball.limits[0] == pytest.approx((low, high))
        assert ball.rest[0] == pytest.approx(0.5)


def test_a_plain_joint_may_keep_a_distance(tmp_path: Path) -> None:
    """As a distance joint, where nothing else limits or drives it; else there is a warning."""
    reach = "float limit:distance:physics:low = {};float limit:distance:physics:high = 1.5"
    for low, mobility in ((1.5, 5), (0.5, 6)):
        text = usda(
            TWO + HOLD + joint("d", "Joint", "a", "b", reach.format(low), ("PhysicsLimitAPI:distance",)),
            'upAxis = "Z"\nmetersPerUnit = 0.5',
        )
        robot = load_robot(write(tmp_path, text))
        assert inspect(robot).mobility == mobility
    ball = only(robot, "d")
    assert ball.limits[0] == pytest.approx((0.25, 0.75))
    inner, schemas = d6({}, ("transZ",))
    imported = import_robot(
        write(tmp_path, usda(TWO + HOLD + joint("d", "Joint", "a", "b", f"{inner};{reach.format(1)}", schemas)))
    )
    assert only(imported.mechanism, "d").motions == ("tx", "ty", "rx", "ry", "rz")
    assert (
        "d: only a joint without other limits and drives can keep a distance, so that limit was left out"
        in imported.warnings
    )


def test_bodies_that_joints_need_have_names_of_their_own(tmp_path: Path) -> None:
    distance = joint("d", "DistanceJoint", "a", "b", "float physics:maxDistance = 1")
    robot = load_robot(
        write(
            tmp_path, usda(TWO + body("d_rod", (0, 1, 0)) + HOLD + distance + joint("e", "RevoluteJoint", "a", "d_rod"))
        )
    )
    assert [b.name for b in robot.bodies] == ["a", "b", "d_rod", "d_rod_2"]


def test_joints_out_of_the_articulation_close_loops(tmp_path: Path) -> None:
    corners = {"a": (0, 0, 0), "b": (1, 0, 0), "c": (1, 1, 0), "d": (0, 1, 0)}
    names = list(corners)
    bars = "".join(body(name, at) for name, at in corners.items())
    hinges = HOLD
    for i, (a, b) in enumerate(zip(names, [*names[1:], "a"], strict=True)):
        step = tuple(np.subtract(corners[b], corners[a]).astype(float))
        # the first joint is the one to leave out
        inner = (
            f'uniform token physics:axis = "Z";point3f physics:localPos0 = {step};bool physics:excludeFromArticulation'
            f" = {int(i == 0)}"
        )
        hinges += joint(f"j{i}", "RevoluteJoint", a, b, inner)
    robot = load_robot(write(tmp_path, usda(bars + hinges)))
    assert [j.name for j in robot.joints] == ["hold", "j1", "j2", "j3", "j0"]
    found = inspect(robot)
    assert (found.loops, found.mobility, len(found.actuators)) == (1, 1, 1)


def test_a_joint_may_name_a_prim_below_its_body(tmp_path: Path) -> None:
    site = (
        'def Xform "site"\n{\ndouble3 xformOp:translate = (0, 0, 2)\nuniform token[] xformOpOrder ='
        ' ["xformOp:translate"]\n}'
    )
    hinge = joint("j", "RevoluteJoint", "a/site", "b")
    robot = load_robot(write(tmp_path, usda(body("a", inner=site) + body("b", (0, 0, 2)) + HOLD + hinge)))
    j = only(robot, "j")
    assert (j.parent, j.child) == ("a", "b")
    np.testing.assert_allclose(j.position, [0, 0, 2])
    np.testing.assert_allclose(robot.bodies[1].pose.position, [0, 0, 2])


# What other schemas add


def test_several_joints_between_two_bodies_are_read_one_after_the_other(tmp_path: Path) -> None:
    turned = (
        "quatf physics:localRot0 = (0.9238795, 0, 0.3826834, 0);quatf physics:localRot1 = (0.9238795, 0, 0.3826834, 0)"
    )
    at = "point3f physics:localPos0 = (1, 0, 0.5);point3f physics:localPos1 = (0, 0, 0.5)"
    pair = joint("y", "RevoluteJoint", "a", "b", f'uniform token physics:axis = "Y";{at}')
    pair += joint("x", "RevoluteJoint", "a", "b", f'uniform token physics:axis = "X";{at};{turned}')
    imported = import_robot(write(tmp_path, usda(TWO + HOLD + pair)))
    robot = imported.mechanism
    assert (inspect(robot).loops, inspect(robot).mobility) == (0, 2)
    assert any("one after the other" in w for w in imported.warnings)
    position, quaternion, _ = body_poses(robot, np.array([[0.3, 0.4]]), None)
    first = Rotation.from_rotvec([0, 0.3, 0])
    second = Rotation.from_rotvec(0.4 * Rotation.from_euler("y", 45, degrees=True).apply([1, 0, 0]))
    found = Rotation.from_quat(quaternion[0, robot.body_index["b"]], scalar_first=True)
    assert (found.inv() * first * second).magnitude() < 1e-6
    anchor = np.array([1, 0, 0.5])
    np.testing.assert_allclose(position[0, robot.body_index["b"]], anchor + found.apply([0, 0, -0.5]), atol=1e-6)


def test_two_hinges_of_a_door_stay_a_loop(tmp_path: Path) -> None:
    hinges = "".join(
        joint(f"h{z}", "RevoluteJoint", "a", "b",
              f'uniform token physics:axis = "Z";point3f physics:localPos0 = (1, 0, {z})'
              f";point3f physics:localPos1 = (0, 0, {z})") for z in (0, 1)
    )  # fmt: skip
    found = inspect(load_robot(write(tmp_path, usda(TWO + HOLD + hinges))))
    assert (found.loops, found.mobility, found.redundant_rows) == (1, 1, 5)


def test_actuators_of_their_own_name_the_motors(tmp_path: Path) -> None:
    chain = body("c", (2, 0, 0)) + joint("one", "RevoluteJoint", "a", "b") + joint("two", "RevoluteJoint", "b", "c")
    for kind, relation in (("MjcActuator", "mjc:target"), ("NewtonActuator", "newton:targets")):
        actuator = f'def {kind} "m"\n{{\nrel {relation} = </r/two>\n}}\n'
        assert load_robot(write(tmp_path, usda(TWO + HOLD + chain + actuator))).actuators == ("two",)


@pytest.mark.parametrize(
    ("schema", "inner", "coefficients"),
    [
        (
            "MjcEqualityJointAPI",
            "double mjc:coef0 = 0.5;double mjc:coef1 = 1.5;rel mjc:target = </r/one>",
            (0.5, 1.5, 0, 0, 0),
        ),
        (
            "NewtonMimicAPI",
            "float newton:mimicCoef0 = 90;float newton:mimicCoef1 = 2;rel newton:mimicJoint = </r/one>",
            (pi / 2, 2),
        ),
        (
            "PhysxMimicJointAPI:rotX",
            (
                "float physxMimicJoint:rotX:gearing = 2;float physxMimicJoint:rotX:offset = 90;"
                "rel physxMimicJoint:rotX:referenceJoint = </r/one>"
            ),
            (-pi / 2, -2),
        ),
    ],
)
def test_joints_that_follow_others_are_coupled(
    schema: str, inner: str, coefficients: tuple[float, ...], tmp_path: Path
) -> None:
    chain = (
        body("c", (2, 0, 0))
        + joint("one", "RevoluteJoint", "a", "b")
        + joint("two", "RevoluteJoint", "b", "c", inner, (schema,))
    )
    robot = load_robot(write(tmp_path, usda(TWO + HOLD + chain)))
    [coupling] = robot.couplings
    assert (coupling.follower, coupling.leader) == ("two", "one")
    assert coupling.coefficients == pytest.approx(coefficients)
    assert robot.actuators == ("one",)
