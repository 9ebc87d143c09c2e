"""A mechanism is checked when it is made: what is wrong is named, what is right is kept to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robik.errors import MechanismError
from robik.mechanism import JOINT_TYPES, WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose, Visual
from robik.mechanism.pose import matrix_quaternion, quaternion_matrix

A, B = Body("a", 1.0), Body("b", 2.0)
TURN = Joint("turn", "revolute", "a", "b")

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "mass": (lambda: Body("a", -1), r"body 'a'.*mass.*zero or more"),
    "mass NaN": (lambda: Body("a", nan), r"body 'a'.*mass.*finite"),
    "mass of text": (lambda: Body("a", "x"), r"body 'a'.*mass.*finite number, not"),  # type: ignore[arg-type]
    "inertia": (lambda: Body("a", inertia=(1, 2, 3)), r"body 'a'.*inertia.*6 finite"),  # type: ignore[arg-type]
    "com": (lambda: Body("a", com=(0, inf, 0)), r"body 'a'.*com.*3 finite"),
    "position": (lambda: Pose((0, 10**400, 0)), r"position.*3 finite"),
    "quaternion": (lambda: Pose(quaternion=(1, 1, 0, 0)), r"unit quaternion"),
    "quaternion of three": (lambda: Pose(quaternion=(1, 0, 0)), r"4 finite"),  # type: ignore[arg-type]
    "huge quaternion": (lambda: Pose(quaternion=(1e300, 0, 0, 1e300)), r"unit quaternion"),
    "shape": (lambda: Visual("cone", (1, 1)), r"box, cylinder.*'cone'"),
    "size": (lambda: Visual("sphere", (1, 1)), r"sphere's size.*finite"),
    "flat box": (lambda: Visual("box", (1, 0, 1)), r"box's size.*positive"),
    "mesh": (lambda: Visual("mesh", (1, 1, 1)), r"names a file"),
    "color": (lambda: Visual("sphere", (1,), color=(0, 0, 2, 1)), r"color.*from 0 to 1"),
    "color of three": (lambda: Visual("sphere", (1,), color=(0, 0, 1)), r"color.*4 finite"),  # type: ignore[arg-type]
    "type": (lambda: Joint("j", "hinge", "a", "b"), r"joint 'j'.*'hinge'.*revolute"),
    "itself": (lambda: Joint("j", "fixed", "a", "a"), r"joint 'j'.*'a' to itself"),
    "child world": (lambda: Joint("j", "fixed", "a", WORLD), r"joint 'j'.*swap"),
    "axis": (lambda: Joint("j", "revolute", "a", "b", axis=(0, 0, 0)), r"joint 'j'.*axis must not be zero"),
    "axis NaN": (lambda: Joint("j", "revolute", "a", "b", axis=(0, nan, 1)), r"joint 'j'.*axis.*finite"),
    "parallel": (
        lambda: Joint("j", "universal", "a", "b", axis=(0, 0, 1), axis2=(0, 0, -3)),
        r"joint 'j'.*axis2.*parallel",
    ),
    "fixed motor": (lambda: Joint("j", "fixed", "a", "b", actuated=True), r"joint 'j'.*cannot be actuated"),
    "motions": (lambda: Joint("j", "general", "a", "b", motions=("qx",)), r"joint 'j'.*motions.*tx, ty"),
    "motions twice": (lambda: Joint("j", "general", "a", "b", motions=("rx", "rx")), r"joint 'j'.*motions"),
    "motions' order": (lambda: Joint("j", "general", "a", "b", motions=("rx", "tx"), rest=(1, 2)), r"joint 'j'.*order"),
    "foreign motions": (lambda: Joint("j", "revolute", "a", "b", motions=("tx",)), r"joint 'j'.*only a general one"),
    "limits": (lambda: Joint("j", "revolute", "a", "b", limits=((1, -1),)), r"joint 'j'.*low to high"),
    "limits' form": (lambda: Joint("j", "revolute", "a", "b", limits=(-1, 1)), r"joint 'j'.*limits.*pair"),  # type: ignore[arg-type]
    "limits NaN": (lambda: Joint("j", "revolute", "a", "b", limits=((nan, 1),)), r"joint 'j'.*low to high"),
    "limits' count": (lambda: Joint("j", "universal", "a", "b", limits=((-1, 1),)), r"joint 'j'.*2 entries \(rx, ry\)"),
    "rest": (lambda: Joint("j", "revolute", "a", "b", limits=((1, 2),)), r"joint 'j'.*rest value 0.*1 to 2"),
    "rest NaN": (lambda: Joint("j", "revolute", "a", "b", rest=(nan,)), r"joint 'j'.*rest.*finite"),
    "velocity": (lambda: Joint("j", "revolute", "a", "b", velocity_limit=nan), r"joint 'j'.*velocity_limit.*positive"),
    "effort": (lambda: Joint("j", "revolute", "a", "b", effort_limit=-1), r"joint 'j'.*effort_limit.*positive"),
    "sole": (lambda: Frame("f", "a", sole=((0, 0, 0), (1, 0, 0))), r"frame 'f'.*three points, not 2"),
    "coefficients": (lambda: Coupling("c", "x", "y", ()), r"coupling 'c'.*coefficients"),
    "coefficient": (lambda: Coupling("c", "x", "y", (nan,)), r"coupling 'c'.*finite"),
    "no name": (lambda: Mechanism("", (A,)), r"must have a name"),
    "no bodies": (lambda: Mechanism("m", ()), r"'m' has no bodies"),
    "nameless body": (lambda: Mechanism("m", (Body(""),)), r"must have a name"),
    "two bodies": (lambda: Mechanism("m", (A, A)), r"two of one name.*'a'"),
    "body world": (lambda: Mechanism("m", (Body(WORLD),)), r"'world' is the name of the ground"),
    "frame a": (lambda: Mechanism("m", (A,), frames=(Frame("a", "a"),)), r"two of one name.*'a'"),
    "two joints": (lambda: Mechanism("m", (A, B), (TURN, TURN)), r"two of one name.*joint 'turn'"),
    "coordinates": (
        lambda: Mechanism("m", (A, B), (Joint("j", "universal", "a", "b"), Joint("j.rx", "revolute", "a", "b"))),
        r"two of one name.*'j.rx'",
    ),
    "unknown body": (lambda: Mechanism("m", (A,), (TURN,)), r"joint 'turn'.*unknown body 'b'.*are a"),
    "frame's body": (lambda: Mechanism("m", (A,), frames=(Frame("f", "c"),)), r"frame 'f'.*unknown body 'c'"),
    "coordinate": (
        lambda: Mechanism("m", (A, B), (TURN,), couplings=(Coupling("c", "turn", "x"),)),
        r"coupling 'c'.*'x'.*turn",
    ),
    "self-coupled": (
        lambda: Mechanism("m", (A, B), (TURN,), couplings=(Coupling("c", "turn", "turn"),)),
        r"coupling 'c'.*itself",
    ),
    "loose": (lambda: Mechanism("m", (A, B)), r"2 unconnected parts \(a; b\)"),
    "half grounded": (lambda: Mechanism("m", (A, B), (Joint("j", "fixed", WORLD, "a"),)), r"2 unconnected parts"),
    "no such frame": (
        lambda: Mechanism("m", (A,), frames=(Frame("f", "a"),)).frame("g"),
        r"no frame or body 'g'; there are a, f",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_things_are_named(name: str) -> None:
    make, said = WRONG[name]
    with pytest.raises(MechanismError, match=said) as error:
        make()
    assert "\n" not in str(error.value)
    assert "np.float64" not in str(error.value)


numbers = st.floats(-1e9, 1e9)
triples = st.tuples(numbers, numbers, numbers)
directions = triples.filter(lambda v: np.linalg.norm(v) > 1e-6)


@given(axis=directions, axis2=directions)
def test_joint_frames_are_rotations_and_checking_again_changes_nothing(axis: tuple, axis2: tuple) -> None:
    a, b = np.array(axis) / np.linalg.norm(axis), np.array(axis2) / np.linalg.norm(axis2)
    if np.linalg.norm(np.cross(a, b)) < 2e-6:
        return
    joint = Joint("j", "universal", "a", "b", axis=axis, axis2=axis2)
    np.testing.assert_allclose(joint.matrix.T @ joint.matrix, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(joint.axis, a, atol=1e-14)
    assert joint.axis2 is not None
    assert np.dot(joint.axis2, b) > 0
    again = Joint("j", "universal", "a", "b", axis=joint.axis, axis2=joint.axis2)
    assert repr(again) == repr(joint)


@given(axis=directions)
def test_an_axis_alone_gives_a_frame(axis: tuple) -> None:
    m = Joint("j", "revolute", "a", "b", axis=axis).matrix
    np.testing.assert_allclose(m.T @ m, np.eye(3), atol=1e-14)
    assert np.linalg.det(m) > 0


def test_an_axis_may_be_of_any_length() -> None:
    for scale in (1e-11, 1.0, 1e300, 1.7e308):
        np.testing.assert_allclose(
            Joint("j", "revolute", "a", "b", axis=(scale, -scale, 0)).axis, (0.5**0.5, -(0.5**0.5), 0), atol=1e-15
        )


@given(q=st.tuples(numbers, numbers, numbers, numbers).filter(lambda v: np.linalg.norm(v) > 1e-6), position=triples)
def test_poses_invert_and_survive_being_checked_again(q: tuple, position: tuple) -> None:
    unit = np.array(q) / np.linalg.norm(q)
    pose = Pose(position, tuple(unit))
    assert repr(Pose(pose.position, pose.quaternion)) == repr(pose)
    assert pose.quaternion[0] >= 0
    np.testing.assert_allclose(pose.matrix.T @ pose.matrix, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(quaternion_matrix(matrix_quaternion(pose.matrix)), pose.matrix, atol=1e-14)
    nothing = pose @ pose.inverse()
    np.testing.assert_allclose(nothing.position, 0, atol=float(1e-13 * (1 + np.linalg.norm(position))))
    np.testing.assert_allclose(nothing.matrix, np.eye(3), atol=1e-13)


def test_a_quaternion_off_by_rounding_is_corrected() -> None:
    assert Pose(quaternion=(0.7071, 0.7071, 0, 0)).quaternion == pytest.approx((0.5**0.5, 0.5**0.5, 0, 0), abs=1e-15)
    assert Pose(quaternion=(-1, 0, 0, 0)) == Pose()
    assert Pose(quaternion=(0, -1, 0, 0)) == Pose(quaternion=(0, 1, 0, 0))


# Blender's files keep a joint's type by its place in the list: new ones come last.
SAVED_IN_THIS_ORDER = [
    "fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "cartesian", "free", "general",
]  # fmt: skip


def test_joint_types_and_their_coordinates() -> None:
    single, double, triple = (
        ("revolute", "prismatic"),
        ("cylindrical", "universal"),
        ("spherical", "planar", "cartesian"),
    )
    wanted = {"fixed": 0, "free": 6} | dict.fromkeys(single, 1) | dict.fromkeys(double, 2) | dict.fromkeys(triple, 3)
    for name, count in wanted.items():
        joint = Joint("j", name, "a", "b")
        assert len(joint.motions) == len(joint.rest) == len(joint.limits) == len(joint.coordinate_names) == count
        assert joint.is_ball == (name in ("spherical", "free"))
    assert set(wanted) | {"general"} == set(JOINT_TYPES)
    assert list(JOINT_TYPES) == SAVED_IN_THIS_ORDER
    joint = Joint("j", "cylindrical", "a", "b")
    assert (joint.coordinate_names, joint.coordinate_units) == (("j.tx", "j.rx"), ("m", "rad"))
    assert TURN.coordinate_names == ("turn",)


def test_a_mechanism_knows_its_parts() -> None:
    lift = Joint("lift", "cylindrical", WORLD, "a", actuated=True)
    robot = Mechanism("m", (A, B), (lift, TURN), frames=(Frame("tip", "b", Pose((1, 0, 0))),))
    assert robot.actuators == ("lift.tx", "lift.rx")
    assert robot.mass == 3.0
    assert robot.frame_names == ("tip", "a", "b")
    assert robot.frame("tip").pose.position == (1, 0, 0)
    assert robot.frame("b") == Frame("b", "b")
    assert robot.is_grounded
    assert not Mechanism("m", (A, B), (TURN,)).is_grounded
    assert not Mechanism("m", (A,), (Joint("base", "free", WORLD, "a"),)).is_grounded
    with pytest.raises(MechanismError, match="unconnected"):
        robot.with_changes(joints=(lift,))


def test_a_body_s_centre_of_mass_in_the_world() -> None:
    body = Body("a", 1.0, com=(1, 0, 0), pose=Pose((0, 0, 1), (0.5**0.5, 0, 0, 0.5**0.5)))
    np.testing.assert_allclose(body.rest_com, (0, 1, 1), atol=1e-15)
