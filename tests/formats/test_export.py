"""Robots written as MJCF and URDF: read back, they move alike; MuJoCo takes them and every pose of theirs."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache
from math import inf, pi
from pathlib import Path

import numpy as np
import pytest

from robik import robots
from robik.errors import FormatError
from robik.formats import import_robot, load_robot, save_robot
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.mobility import inspect
from robik.mechanism import JOINT_TYPES, WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose, Visual
from robik.mechanism.joints import TURNS
from tests.formats.mujoco_judge import Judge, open_at_poses

OWN = ["boxer", "chain", "dancer", "validation", "walker"]
OTHERS = [
    "5bar_linkage/robot.urdf", "robot_delta/robot.urdf", "talos_like/robot.urdf", "digit_like_2legs/robot.urdf",
    "robotiq_2f85/2f85.xml", "trossen_wx250s/wx250s.xml", "unitree_h1/h1.xml",
]  # fmt: skip


def loaded(name: str) -> Mechanism:
    path = (
        robots.path(name) if name in robots.names() else Path(__file__).resolve().parents[2] / "../shared/data" / name
    )
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return load_robot(path)


@cache
def fully_driven(name: str) -> Mechanism:
    """A robot with motors on more joints, until motors alone decide the pose: a rod that can spin, a spring's joint."""
    robot = loaded(name)

    def left(driven: set[str]) -> int:
        held = {"type": "fixed", "motions": (), "rest": (), "limits": (), "actuated": False}
        pairs = [{c.follower, c.leader} for c in robot.couplings if not c.others]
        driven = driven.union(*(pair for pair in pairs if not driven.isdisjoint(pair)))
        kept = [c for c in robot.couplings if driven.isdisjoint((c.follower, c.leader))]
        joints = tuple(replace(j, **held) if j.name in driven else j for j in robot.joints)  # type: ignore[arg-type]
        return inspect(robot.with_changes(joints=joints, couplings=tuple(kept))).mobility

    driven = {j.name for j in robot.actuated}
    undriven = left(driven)
    for joint in robot.joints:
        if undriven == 0:
            break
        if len(joint.motions) == 1 and joint.name not in driven:
            then = left({*driven, joint.name})
            if then < undriven:
                driven.add(joint.name)
                undriven = then
    return robot.with_changes(joints=tuple(replace(j, actuated=j.name in driven) for j in robot.joints))


def random_values(robot: Mechanism, seed: int, count: int, reach: float = 0.1) -> np.ndarray:
    """(count, A) actuator values near the rest pose, within the limits."""
    rest = np.array([v for j in robot.actuated for v in j.rest])
    limits = np.array([pair for j in robot.actuated for pair in j.limits])
    values = rest + np.random.default_rng(seed).uniform(-reach, reach, (count, len(rest)))
    return np.clip(values, limits[:, 0], limits[:, 1])


def compare_motion(robot: Mechanism, copy: Mechanism, count: int = 4) -> int:
    """Both at the same actuator values, body by body; how many of these poses were assembled."""
    assert set(copy.actuators) == set(robot.actuators)
    order = [robot.actuators.index(name) for name in copy.actuators]
    ours, theirs = ForwardKinematics(robot), ForwardKinematics(copy)
    assembled = 0
    for values in random_values(robot, 7, count):
        a, b = ours.solve(values), theirs.solve(values[order])
        assert a.assembled == b.assembled
        if a.assembled:
            assembled += 1
            for i, body in enumerate(robot.bodies):
                k = copy.body_index[body.name]
                assert np.allclose(a.position[i], b.position[k], atol=1e-9, rtol=0), body.name
                assert abs(abs(a.quaternion[i] @ b.quaternion[k]) - 1) < 1e-12, body.name
        else:
            ours.reset()
            theirs.reset()
    return assembled


@pytest.mark.parametrize("extension", [".xml", ".urdf"])
@pytest.mark.parametrize("name", OWN + OTHERS)
def test_read_back_it_moves_alike(name: str, extension: str, tmp_path: Path) -> None:
    robot = fully_driven(name) if name in OTHERS else loaded(name)
    save_robot(robot, tmp_path / f"copy{extension}")
    copy = import_robot(tmp_path / f"copy{extension}").mechanism
    assert (
        compare_motion(robot, copy) > 0 or name == "dancer"
    )  # the dancer's motors contradict each other off its rest pose
    was, now = inspect(robot), inspect(copy)
    assert (now.mobility, now.loops) == (was.mobility, was.loops)
    assert now.mass == pytest.approx(was.mass, abs=1e-7)
    for body in robot.bodies:
        pose = copy.bodies[copy.body_index[body.name]].pose
        assert np.allclose(pose.position, body.pose.position, atol=1e-9)
    assert set(robot.frame_names) <= set(copy.frame_names)


@pytest.mark.parametrize("name", OWN + OTHERS)
def test_mujoco_takes_every_pose(name: str, tmp_path: Path) -> None:
    robot = loaded(name)
    save_robot(robot, tmp_path / "copy.xml")
    judge = Judge(tmp_path / "copy.xml")
    judge.place(judge.qpos_at_rest(load_robot(tmp_path / "copy.xml")))
    assert np.abs(judge.open_by()).max(initial=0.0) < 1e-9
    fk = ForwardKinematics(robot)
    for values in random_values(robot, 9, 2):
        found = fk.solve(values)
        if found.assembled:
            assert open_at_poses(judge, robot, found.position, found.quaternion) < 1e-9
        else:
            fk.reset()


@pytest.mark.parametrize("extension", [".xml", ".urdf"])
def test_a_foot_of_ninety_bodies(extension: str, tmp_path: Path) -> None:
    robot = loaded("iit_softfoot/softfoot.xml")
    save_robot(robot, tmp_path / f"copy{extension}")
    was, now = inspect(robot), inspect(load_robot(tmp_path / f"copy{extension}"))
    assert (now.mobility, now.loops, set(now.actuators)) == (was.mobility, was.loops, set(was.actuators))


# What no robot at hand has


def linkage(closer: Joint, **changes: object) -> Mechanism:
    """Two turning arms and a rod between them, held at its end."""
    arm = Body("a", 1.0, com=(0.5, 0, 0), inertia=(0.1, 0.2, 0.2, 0, 0, 0.01))
    bodies = (arm, Body("b", 2.0, pose=Pose((2, 0, 0), (0.8, 0, 0.6, 0))), Body("c", 1.0))
    joints = (
        Joint(
            "left",
            "revolute",
            WORLD,
            "a",
            axis=(0, 0, 1),
            actuated=True,
            limits=((-1, inf),),
            rest=(0.3,),
            effort_limit=3.0,
        ),
        Joint(
            "right", "universal", WORLD, "b", position=(2, 0, 0.2), axis=(0, 0, 1), axis2=(1, 0, 0), rest=(0.2, -0.4)
        ),
        Joint("elbow", "spherical", "a", "c", position=(0.2, 1, 0)),
        closer,
    )
    return Mechanism("linkage", bodies, joints).with_changes(**changes)


CLOSERS = {
    "spherical": Joint("end", "spherical", "c", "b", position=(1.5, 1.2, 0.1)),
    "the other way": Joint("end", "spherical", "b", "c", position=(1.5, 1.2, 0.1)),
    "revolute": Joint("end", "revolute", "c", "b", position=(1.5, 1.2, 0.1), axis=(0, 0, 1)),
    "fixed": Joint("end", "fixed", "c", "b", position=(1.5, 1.2, 0.1)),
    "cylindrical": Joint("end", "cylindrical", "c", "b", position=(1.5, 1.2, 0.1), axis=(1, 0, 0), rest=(0.2, 0.1)),
    "universal": Joint(
        "end", "universal", "b", "c", position=(1.5, 1.2, 0.1), axis=(1, 0, 0), axis2=(0, 1, 1), rest=(0.1, 0.5)
    ),
    "planar": Joint("end", "planar", "c", "b", position=(1.5, 1.2, 0.1), axis=(0, 0, 1)),
    "cartesian": Joint("end", "cartesian", "c", "b", position=(1.5, 1.2, 0.1)),
    "prismatic, limited": Joint(
        "end", "prismatic", "c", "b", position=(1.5, 1.2, 0.1), axis=(1, 0, 0), limits=((-0.1, 0.5),), rest=(0.1,)
    ),
    "general": Joint(
        "end",
        "general",
        "c",
        "b",
        position=(1.5, 1.2, 0.1),
        axis=(1, 0, 0),
        motions=("tx", "tz", "rx", "rz"),
        rest=(0.1, 0.2, 0.3, 0.4),
    ),
    "driven": Joint(
        "end", "cylindrical", "c", "b", position=(1.5, 1.2, 0.1), axis=(1, 0, 0), actuated=True, rest=(0.2, 0.1)
    ),
    "free": Joint("end", "free", "c", "b", position=(1.5, 1.2, 0.1)),
}


@pytest.mark.parametrize("extension", [".xml", ".urdf"])
@pytest.mark.parametrize("closer", CLOSERS)
def test_loops_of_every_type(closer: str, extension: str, tmp_path: Path) -> None:
    robot = linkage(CLOSERS[closer])
    save_robot(robot, tmp_path / f"copy{extension}")
    copy = load_robot(tmp_path / f"copy{extension}")
    assert inspect(copy).mobility == inspect(robot).mobility
    [left] = [j for j in copy.joints if j.name == "left"]
    assert (left.limits, left.effort_limit) == (((-1.0, inf),), 3.0)
    if len(robot.actuators) == inspect(robot).mobility:
        assert compare_motion(robot, copy, 3) > 0
    if extension == ".xml":
        judge = Judge(tmp_path / "copy.xml")
        found = ForwardKinematics(robot).solve(np.array([v for j in robot.actuated for v in j.rest]))
        assert open_at_poses(judge, robot, found.position, found.quaternion) < 1e-9


def has_ball(kind: str) -> bool:
    """Files count the coordinates of a ball in axes of their own, so that driven ones read otherwise."""
    return set(TURNS) <= set(JOINT_TYPES[kind].motions or ())


def tree(kind: str, flipped: bool, **fields: object) -> Mechanism:
    """A joint that moves, met from its parent or from its child, between two that are driven."""
    a, b = ("tip", "arm") if flipped else ("arm", "tip")
    joint = Joint(
        "j", kind, a, b, position=(1, 2, 3), axis=(1, 0.5, 0), axis2=(0, 0, 1), actuated=not has_ball(kind), **fields
    )  # type: ignore[arg-type]
    bodies = (
        Body("arm", 1.0, pose=Pose((0.1, 0, 0), (0.6, 0, 0.8, 0))),
        Body("tip", 1.0, pose=Pose((0, 3, 1), (0.5, 0.5, 0.5, 0.5))),
    )
    return Mechanism(
        "tree",
        bodies,
        (
            Joint("base", "prismatic", WORLD, "arm", position=(3, 0, 1), axis=(0, 1, 1), actuated=True, rest=(0.4,)),
            joint,
        ),
    )


@pytest.mark.parametrize("extension", [".xml", ".urdf"])
@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(
    ("kind", "rest"),
    [("revolute", (0.3,)), ("prismatic", (0.3,)), ("cylindrical", (0.3, 0.4)), ("universal", (0.3, 0.4)),
     ("spherical", (0.1, 0.2, 0.3)),
     ("planar", (0.1, 0.2, 0.3)), ("cartesian", (0.1, 0.2, 0.3)), ("fixed", ())],
)  # fmt: skip
def test_joints_of_every_type_either_way(
    kind: str, rest: tuple[float, ...], flipped: bool, extension: str, tmp_path: Path
) -> None:
    robot = tree(kind, flipped, rest=rest) if rest else tree("revolute", flipped)
    if not rest:
        fixed = replace(robot.joints[1], type="fixed", motions=(), rest=(), limits=(), actuated=False)
        robot = robot.with_changes(joints=(robot.joints[0], fixed))
    save_robot(robot, tmp_path / f"copy{extension}")
    copy = load_robot(tmp_path / f"copy{extension}")
    assert compare_motion(robot, copy) == 4
    assert inspect(copy).mobility == inspect(robot).mobility
    if extension == ".xml":
        found = ForwardKinematics(robot).solve(random_values(robot, 1, 1)[0])
        assert open_at_poses(Judge(tmp_path / "copy.xml"), robot, found.position, found.quaternion) < 1e-9


@pytest.mark.parametrize("extension", [".xml", ".urdf"])
@pytest.mark.parametrize("is_joint", [False, True])
def test_a_floating_robot_floats(is_joint: bool, extension: str, tmp_path: Path) -> None:
    robot = tree("revolute", False)
    base = (Joint("float", "free", WORLD, "arm"),) if is_joint else ()
    robot = robot.with_changes(joints=(*base, robot.joints[1]))
    save_robot(robot, tmp_path / f"copy{extension}")
    copy = load_robot(tmp_path / f"copy{extension}")
    assert not copy.is_grounded
    assert compare_motion(robot, copy) == 4


@pytest.mark.parametrize("extension", [".xml", ".urdf"])
@pytest.mark.parametrize("coefficients", [(0.1, -2.0), (0.5,), (0.1, 0.5, -0.3, 0.2, 0.7)])
def test_couplings(coefficients: tuple[float, ...], extension: str, tmp_path: Path) -> None:
    value = float(np.polynomial.Polynomial(coefficients)(0.4))
    robot = tree("revolute", False, rest=(value,))
    joints = (robot.joints[0], replace(robot.joints[1], actuated=False))
    robot = robot.with_changes(joints=joints, couplings=(Coupling("gear", "j", "base", coefficients),))
    save_robot(robot, tmp_path / f"copy{extension}")
    assert compare_motion(robot, load_robot(tmp_path / f"copy{extension}")) == 4
    if extension == ".xml":
        judge = Judge(tmp_path / "copy.xml")
        found = ForwardKinematics(robot).solve(np.array([0.7]))
        assert open_at_poses(judge, robot, found.position, found.quaternion) < 1e-9


def test_mujoco_takes_equalities_whose_names_would_be_the_same(tmp_path: Path) -> None:
    """Of a hinge two points; beside it a loop called as the second would be, and a coupling called as the first."""
    z = (0.0, 0.0, 1.0)
    joints = [Joint(name, "revolute", *ends, position=at, axis=z) for name, ends, at in (
        ("left", (WORLD, "a"), (0, 0, 0)), ("mid", ("a", "b"), (1, 0, 0)), ("end", (WORLD, "b"), (1, 1, 0)),
        ("right", (WORLD, "c"), (5, 0, 0)), ("far", ("c", "d"), (6, 0, 0)), ("end_2", (WORLD, "d"), (6, 1, 0)),
    )]  # fmt: skip
    bodies = tuple(Body(name, 1.0) for name in "abcd")
    robot = Mechanism("r", bodies, tuple(joints), couplings=(Coupling("end", "far", "mid", (0.0, 1.0)),))
    save_robot(robot, tmp_path / "copy.xml")
    model = Judge(tmp_path / "copy.xml").model
    assert [model.equality(k).name for k in range(model.neq)] == ["end", "end_3", "end_2", "end_2_2", "end_4"]


@pytest.mark.parametrize("extension", [".xml", ".urdf"])
@pytest.mark.parametrize("kind", ["spherical", "fixed", "free"])
def test_a_joint_called_as_another_s_coordinate_gets_a_name_of_its_own(
    kind: str, extension: str, tmp_path: Path
) -> None:
    named = Joint("h.rx", kind, WORLD, "a", actuated=kind == "spherical")
    hinges = Joint("h", "universal", "a", "b", position=(0, 0, 1), actuated=True)
    robot = Mechanism(
        "r",
        (
            Body("a", 1.0, com=(0, 0, 0), inertia=(1, 1, 1, 0, 0, 0)),
            Body("b", 1.0, com=(0, 0, 0), inertia=(1, 1, 1, 0, 0, 0)),
        ),
        (named, hinges),
    )
    [said] = [s for s in save_robot(robot, tmp_path / f"copy{extension}") if "has its name" in s]
    assert said == "h.rx: another joint's coordinate has its name, so it is called 'h.rx_2'"
    copy = load_robot(tmp_path / f"copy{extension}")
    assert {"h.rx", "h.ry"} <= set(copy.actuators)
    assert inspect(copy).mobility == inspect(robot).mobility
    if extension == ".xml":
        assert Judge(tmp_path / "copy.xml").model.nu == len(robot.actuators)


@pytest.mark.parametrize("extension", [".xml", ".urdf"])
@pytest.mark.parametrize("motions", ["tx ty tz rx ry rz", "tx tz rx ry rz", "ty rx ry rz"])
def test_every_motor_of_a_joint_that_also_slides_is_written(motions: str, extension: str, tmp_path: Path) -> None:
    free = tuple(motions.split())
    kind = {"type": "free"} if len(free) == 6 else {"type": "general", "motions": free}
    robot = Mechanism(
        "r",
        (Body("a", 1.0, com=(0, 0, 0), inertia=(1, 1, 1, 0, 0, 0)),),
        (Joint("j", parent=WORLD, child="a", actuated=True, **kind),),
    )  # type: ignore[arg-type]
    save_robot(robot, tmp_path / f"copy{extension}")
    assert set(load_robot(tmp_path / f"copy{extension}").actuators) == {f"j.{motion}" for motion in free}
    if extension == ".xml":
        assert Judge(tmp_path / "copy.xml").model.nu == len(free)


@pytest.mark.parametrize("extension", [".xml", ".urdf"])
def test_a_robot_without_motors_gets_none(extension: str, tmp_path: Path) -> None:
    robot = tree("revolute", False)
    robot = robot.with_changes(joints=tuple(replace(j, actuated=False) for j in robot.joints))
    save_robot(robot, tmp_path / f"copy{extension}")
    copy = import_robot(tmp_path / f"copy{extension}")
    assert copy.mechanism.actuators == ()
    assert not copy.warnings
    assert not any("names no motors" in line for line in copy.report)
    if extension == ".xml":
        assert Judge(tmp_path / "copy.xml").model.nu == 0


def test_what_mjcf_cannot_hold_is_refused(tmp_path: Path) -> None:
    robot = tree("revolute", False)
    robot = robot.with_changes(couplings=(Coupling("gear", "j", "base", (0, 0, 0, 0, 0, 1)),), joints=(robot.joints[0],
                               replace(robot.joints[1], actuated=False, rest=(0.4**5,))))  # fmt: skip
    with pytest.raises(FormatError, match="'gear' is of degree 5; MJCF knows up to 4"):
        save_robot(robot, tmp_path / "copy.xml")
    assert not list(tmp_path.iterdir())
    named = robot.with_changes(couplings=(), name="a\x00b")
    for extension in (".xml", ".urdf"):
        with pytest.raises(FormatError, match=r"'\\x00'"):
            save_robot(named, tmp_path / f"copy{extension}")


def test_frames_looks_and_names_survive(tmp_path: Path) -> None:
    shapes = (Visual("box", (1, 2, 3), pose=Pose((1, 0, 0), (0.6, 0.8, 0, 0)), color=(1, 0, 0, 0.5)),
              Visual("sphere", (0.5,)),
              Visual("cylinder", (0.1, 2)), Visual("capsule", (0.2, 3)))  # fmt: skip
    body = Body('Ärm <&"手>', 1.0, visuals=shapes)
    robot = Mechanism("ä & b", (body,), (Joint("ß", "revolute", WORLD, body.name, actuated=True),),
                      frames=(Frame("tip", body.name, Pose((1, 2, 3), (0, 0, 1, 0))),))  # fmt: skip
    for extension in (".xml", ".urdf"):
        said = save_robot(robot, tmp_path / f"copy{extension}")
        assert not said
        copy = load_robot(tmp_path / f"copy{extension}")
        [seen] = [b for b in copy.bodies if b.name == body.name]
        assert [(v.shape, v.size, v.color) for v in seen.visuals] == [(v.shape, v.size, v.color) for v in shapes]
        assert np.allclose(seen.visuals[0].pose.matrix, shapes[0].pose.matrix, atol=1e-12)
        assert copy.name == robot.name
        frame = copy.frame("tip")
        at = copy.bodies[copy.body_index[frame.body]].pose @ frame.pose
        assert np.allclose(at.position, [1, 2, 3])


def test_upright_pitches_lose_nothing(tmp_path: Path) -> None:
    for pitch in (pi / 2, -pi / 2, pi / 2 - 1e-7, pi / 2 - 1e-10):
        for roll in (0.3, -2.0):
            turn = Pose((0, 0, 0), tuple(np.array([np.cos(pitch / 2), 0, np.sin(pitch / 2), 0])))
            turn = turn @ Pose((0, 0, 0), (float(np.cos(roll / 2)), float(np.sin(roll / 2)), 0.0, 0.0))
            robot = Mechanism("r", (Body("a", pose=turn),), (Joint("j", "fixed", WORLD, "a"),))
            save_robot(robot, tmp_path / "r.urdf")
            assert np.allclose(load_robot(tmp_path / "r.urdf").bodies[0].pose.matrix, turn.matrix, atol=1e-12, rtol=0)


def test_a_side_file_of_another_robot_does_not_count(tmp_path: Path) -> None:
    save_robot(linkage(CLOSERS["spherical"]), tmp_path / "r.urdf")
    assert (tmp_path / "r.loops.json").exists()
    save_robot(robots.load("boxer"), tmp_path / "r.urdf")
    assert inspect(load_robot(tmp_path / "r.urdf")).loops == 0


def test_a_urdf_is_one_for_others_too(tmp_path: Path) -> None:
    """What ROS wants: limits of effort and velocity for each joint that has bounds, numbers that are finite."""
    save_robot(robots.load("walker"), tmp_path / "walker.urdf")
    root = ElementTree.parse(tmp_path / "walker.urdf").getroot()
    for joint in root.findall("joint"):
        if joint.get("type") in ("revolute", "prismatic"):
            limit = joint.find("limit")
            assert limit is not None
            assert {"lower", "upper", "effort", "velocity"} <= set(limit.attrib)
            assert np.isfinite([float(v) for v in limit.attrib.values()]).all()


def test_what_has_a_motors_limits_and_no_motor_has_none_when_it_is_read_back(tmp_path: Path) -> None:
    """A reader of transmissions alone would give it one (`left_out_motors`)."""
    limited = Joint("loose", "revolute", "a", "b", limits=((-1.0, 1.0),), velocity_limit=3.0, effort_limit=2.0)
    driven = Joint("hip", "revolute", WORLD, "a", actuated=True)
    robot = Mechanism("r", [Body("a", 1.0), Body("b", 1.0)], [driven, limited])
    save_robot(robot, tmp_path / "r.urdf")
    assert load_robot(tmp_path / "r.urdf").actuators == ("hip",)
