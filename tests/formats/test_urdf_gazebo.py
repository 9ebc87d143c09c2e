"""What a URDF says of loops and couplings outside its tree: in <gazebo>, in ros2_control, in other dialects."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import numpy as np
import pytest

from robik.errors import FormatError
from robik.formats import import_robot, load_robot
from robik.formats.imported import Imported
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD
from tests.formats import sdf_text
from tests.formats.urdf_text import fourbar, joint, write

PIN = """<gazebo><joint name="pin" type="revolute"><parent>c</parent><child>d</child><pose>0 0.2 0 0 0 0</pose>
    <axis><xyz>0 0 1</xyz></axis></joint></gazebo>"""


def closed(folder: Path, inner: str = PIN) -> Path:
    """Write a parallelogram of two rods of 0.2 m and one of 0.3 m, stored closed, with what is to close it."""
    path = fourbar(folder, names=("one", "two"))
    path.write_text(path.read_text().replace("</robot>", f"{inner}</robot>"), encoding="utf-8")
    return path


def two_hinges(folder: Path, inner: str) -> Imported:
    """Import a robot of two hinges on one base, j and k."""
    hinges = joint("j", "continuous", "a", "b") + joint("k", "continuous", "a", "c")
    return import_robot(write(folder, hinges + inner, '<link name="c"/>'))


def equations(found: Imported) -> list[tuple[str, str, tuple[float, ...]]]:
    return [(c.follower, c.leader, c.coefficients) for c in found.mechanism.couplings]


# Joints in <gazebo>


def test_a_joint_in_gazebo_closes_a_loop(tmp_path: Path) -> None:
    found = inspect(load_robot(closed(tmp_path)))
    assert (found.loops, found.mobility, found.actuators) == (1, 1, ("left",))


def test_joints_in_gazebo_are_where_libsdformat_has_them(tmp_path: Path) -> None:
    """The numbers are libsdformat's (12.3), of the same file."""
    joints = (
        joint("ab", "continuous", "a", "b", '<origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><axis xyz="0 0 1"/>')
        + joint("ac", "continuous", "a", "c", '<origin xyz="-0.3 0.1 0.2" rpy="-0.2 0.7 1.1"/><axis xyz="0 1 0"/>')
        + """<gazebo><joint name="pin" type="revolute"><parent>ab</parent><child>c</child>
            <pose>0.05 -0.1 0.15 0.3 0.2 -0.4</pose><axis><xyz>1 2 -2</xyz></axis></joint></gazebo>
            <gazebo><joint name="rod" type="prismatic"><parent>b</parent><child>c</child>
            <pose relative_to="ab">0.2 0 -0.1 0 0.5 0</pose><axis><xyz expressed_in="__model__">3 0 4</xyz>
            <limit><lower>-0.1</lower><upper>0.2</upper></limit></axis></joint></gazebo>"""
    )
    robot = load_robot(write(tmp_path, joints, '<link name="c"/>'))
    pin, rod = robot.joints[-2:]
    assert (pin.name, pin.type, pin.parent, pin.child) == ("pin", "revolute", "b", "c")
    assert np.allclose(pin.position, [-0.173104, 0.198953, 0.295424], atol=1e-6)
    assert np.allclose(pin.axis, [-0.493905, 0.269975, -0.826541], atol=1e-6)
    assert (rod.name, rod.type, rod.limits) == ("rod", "prismatic", ((-0.1, 0.2),))
    assert np.allclose(rod.position, [0.259317, 0.356178, 0.315054], atol=1e-6)
    assert np.allclose(rod.axis, [0.6, 0, 0.8], atol=1e-6)


def test_a_joint_to_the_world_in_gazebo_is_the_robot_s_base(tmp_path: Path) -> None:
    rail = """<gazebo><joint name="rail" type="prismatic"><parent>world</parent><child>a</child>
        <axis><xyz>0 1 0</xyz></axis></joint></gazebo>"""
    robot = load_robot(write(tmp_path, joint("j", "continuous", "a", "b") + rail))
    assert [(j.name, j.type) for j in robot.joints] == [("j", "revolute"), ("rail", "prismatic")]
    assert (robot.joints[1].parent, robot.joints[1].child) == (WORLD, "a")
    assert inspect(robot).mobility == 2


def test_a_joint_in_gazebo_may_lead_one_of_the_tree_and_have_the_motor(tmp_path: Path) -> None:
    rail = """<gazebo><joint name="rail" type="prismatic"><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz>
        <mimic joint="j"><multiplier>0.1</multiplier><offset>0.5</offset></mimic></axis></joint></gazebo>
        <transmission><joint name="j"/></transmission>"""
    found = import_robot(write(tmp_path, joint("j", "continuous", "a", "b") + rail))
    assert equations(found) == [("rail", "j", (0.5, 0.1))]
    assert found.mechanism.actuators == ("j",)


def test_an_axis_in_gazebo_is_in_the_joint_s_frame_whatever_it_says(tmp_path: Path) -> None:
    old = PIN.replace("</axis>", "<use_parent_model_frame>1</use_parent_model_frame></axis>")
    found = import_robot(closed(tmp_path, old))
    assert any(w.startswith("pin: its use_parent_model_frame does not count") for w in found.warnings)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("<parent>c<", "<parent>gone<"), "joint 'pin': its parent: nothing is called 'gone'; there are"),
        (("<gazebo>", '<gazebo reference="c">'), "'pin' stands in <gazebo reference='c'>, where Gazebo reads none"),
        (('name="pin"', 'name="left"'), "two things are called 'left'"),
        (('"revolute"', '"hinge"'), "joint 'pin': unknown type 'hinge'"),
        (("0 0.2 0 0 0 0", "0 0.2"), "joint 'pin': its pose must have 6 finite numbers"),
        (("<parent>c<", "<parent>d<"), "joint 'pin': it ties 'd' to itself"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_joint_in_gazebo_is_said(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=says):
        load_robot(closed(tmp_path, PIN.replace(*change)))


# Couplings

PLUGIN = '<gazebo><plugin name="m" filename="lib{}.so">{}<mimicJoint>{}</mimicJoint>{}</plugin></gazebo>'
SCALE = "<multiplier>-2</multiplier><offset>0.25</offset>"


@pytest.mark.parametrize(
    "inner",
    [
        PLUGIN.format("roboticsgroup_gazebo_mimic_joint_plugin", "<joint>j</joint>", "k", SCALE),
        PLUGIN.format("gazebo_ros_mimic_joint", "<jointName>k</jointName>", "j", SCALE),  # Care-O-bot's
        '<ros2_control><joint name="k"><param name="mimic">j</param><param name="multiplier"> -2 </param>'
        '<param name="offset">0.25</param></joint></ros2_control>',
    ],
    ids=["roboticsgroup", "cob", "ros2_control"],
)
def test_a_joint_follows_another_whoever_says_it(inner: str, tmp_path: Path) -> None:
    found = two_hinges(tmp_path, inner)
    assert equations(found) == [("k", "j", (0.25, -2.0))]
    assert found.mechanism.actuators == ("j",)
    assert found.warnings == ()


def test_a_follower_with_a_command_interface_has_no_motor_beside_its_leader_s(tmp_path: Path) -> None:
    """In a robot with a loop as in one without."""
    finger = '<link name="tip"/>' + joint("finger", "continuous", "a", "tip")
    commanded = """<ros2_control><joint name="left"><command_interface name="position"/></joint><joint name="finger">
        <param name="mimic">left</param><command_interface name="position"/></joint></ros2_control>"""
    robot = load_robot(closed(tmp_path, PIN + finger + commanded))
    assert (robot.actuators, inspect(robot).mobility) == (("left",), 1)


def test_a_plugin_s_multiplier_is_one_where_it_says_none(tmp_path: Path) -> None:
    assert equations(two_hinges(tmp_path, PLUGIN.format("x", "<joint>k</joint>", "j", ""))) == [("j", "k", (0.0, 1.0))]


@pytest.mark.parametrize(
    ("inner", "warnings"),
    [
        (PLUGIN.format("x", "<joint>j</joint>", "k", SCALE), ()),
        (
            PLUGIN.format("x", "<joint>k</joint>", "j", "<multiplier>-0.5</multiplier><offset>0.125</offset>"),
            (),  # j = 0.125 − k / 2 is k = 0.25 − 2 j
        ),
        (
            PLUGIN.format("x", "<joint>j</joint>", "k", ""),
            ("k: plugin 'm' couples it otherwise than <mimic>, which counts",),
        ),
    ],
    ids=["the same", "the other way round", "another"],
)
def test_what_is_coupled_twice_is_coupled_once(inner: str, warnings: tuple[str, ...], tmp_path: Path) -> None:
    follower = joint("k", "continuous", "a", "c", '<mimic joint="j" multiplier="-2" offset="0.25"/>')
    path = write(tmp_path, joint("j", "continuous", "a", "b") + follower + inner, '<link name="c"/>')
    found = import_robot(path)
    assert equations(found) == [("k", "j", (0.25, -2.0))]
    assert found.warnings == warnings


def test_a_side_file_s_coupling_counts_before_a_plugin_s(tmp_path: Path) -> None:
    said = {"name": "gear", "follower": "k", "leader": "j", "coefficients": [0, 3]}
    content = {"format": "robik-loops", "version": 1, "couplings": [said]}
    (tmp_path / "robot.loops.json").write_text(json.dumps(content))
    assert equations(two_hinges(tmp_path, PLUGIN.format("x", "<joint>j</joint>", "k", ""))) == [("k", "j", (0, 3))]


def test_a_joint_that_follows_none_is_told(tmp_path: Path) -> None:
    found = two_hinges(tmp_path, PLUGIN.format("x", "<joint>gone</joint>", "k", ""))
    assert found.warnings == ("k: it mimics 'gone', but there is no joint of that name, so it moves freely",)
    found = two_hinges(tmp_path, PLUGIN.format("x", "<joint>j</joint>", "gone", ""))
    assert found.warnings == ("gone: plugin 'm' says what it mimics, but there is no joint of that name",)


# Loops that are not read

DRAKE = "<drake:{0}><drake:bodyA name='b'/><drake:bodyC name='c'/></drake:{0}>"
UNREAD = {
    "early": ('<loop_joint name="x" type="ball"><link1 link="b"/><link2 link="c"/></loop_joint>', "<loop_joint> 'x'"),
    "URDF+": ('<loop name="x"><predecessor link="b"/><successor link="c"/></loop>', "<loop> 'x'"),
    "URDF+ gears": ('<coupling name="x"><predecessor link="b"/><successor link="c"/></coupling>', "<coupling> 'x'"),
    "urdfdom": ('<constraint name="x"><parent link="b"/><child link="c"/></constraint>', "<constraint> 'x'"),
    "bushing": (DRAKE.format("linear_bushing_rpy"), "<linear_bushing_rpy>"),
    "ball": (DRAKE.format("ball_constraint"), "<ball_constraint>"),
    "weld": (DRAKE.format("weld_constraint"), "<weld_constraint>"),
    "distance": (DRAKE.format("distance_constraint"), "<distance_constraint>"),
    "Pegasus": ('<gazebo><plugin name="x"><joint>p</joint><child>b</child><parent>c</parent></plugin></gazebo>',
                "<plugin> 'x'"),
}  # fmt: skip


@pytest.mark.parametrize(("inner", "element"), UNREAD.values(), ids=UNREAD.keys())
def test_a_loop_that_is_not_read_is_refused_by_name(inner: str, element: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as told:
        two_hinges(tmp_path, inner)
    assert f"{element} between" in str(told.value)
    assert "say the robot's loops in robot.loops.json" in str(told.value)


@pytest.mark.parametrize("inner", [PIN, *(inner for inner, _ in UNREAD.values())], ids=["gazebo", *UNREAD.keys()])
def test_a_side_file_that_tells_the_loops_counts_alone(inner: str, tmp_path: Path) -> None:
    path = closed(tmp_path, inner)
    loops = [{"name": "told", "frames": ["one", "two"], "type": "revolute", "axis": [0, 0, 1]}]
    content = {"format": "robik-loops", "version": 1, "loops": loops}
    path.with_name("robot.loops.json").write_text(json.dumps(content))
    found = import_robot(path)
    assert (inspect(found.mechanism).loops, inspect(found.mechanism).mobility) == (1, 1)
    assert any(said.endswith("robot.loops.json tells the loops, so it was not read") for said in found.report)


def test_a_side_file_that_tells_motors_alone_leaves_the_loops_to_the_urdf(tmp_path: Path) -> None:
    content = {"format": "robik-loops", "version": 1, "motors": ["right"]}
    path = closed(tmp_path)
    path.with_name("robot.loops.json").write_text(json.dumps(content))
    found = inspect(load_robot(path))
    assert (found.loops, found.mobility, found.actuators) == (1, 1, ("right",))


# The same in SDF

TWO = "".join(
    [
        *(sdf_text.link(name) for name in "abc"),
        *(sdf_text.joint(n, "revolute", "a", c, sdf_text.axis("0 0 1")) for n, c in (("j", "b"), ("k", "c"))),
    ]
)


def test_an_sdf_s_plugin_couples_joints(tmp_path: Path) -> None:
    plugin = PLUGIN.format("x", "<joint>j</joint>", "k", SCALE).removeprefix("<gazebo>").removesuffix("</gazebo>")
    found = import_robot(sdf_text.write(tmp_path, sdf_text.sdf(TWO + plugin)))
    assert equations(found) == [("k", "j", (0.25, -2.0))]
    [joint] = [j for j in found.mechanism.joints if j.name == "k"]
    assert joint.limits in ((), ((-inf, inf),))
    gone = plugin.replace("<joint>j", "<joint>gone")
    found = import_robot(sdf_text.write(tmp_path, sdf_text.sdf(TWO + gone)))
    assert equations(found) == []
    assert any(warning.startswith("plugin 'm': it couples 'k' to 'gone'") for warning in found.warnings)


def test_an_sdf_s_loop_that_is_not_read_is_refused_by_name(tmp_path: Path) -> None:
    ball = "<drake:ball_constraint><drake:body_A>b</drake:body_A><drake:body_B>c</drake:body_B></drake:ball_constraint>"
    with pytest.raises(FormatError, match="<ball_constraint> between 'b' and 'c': it closes a loop in a way that is"):
        load_robot(sdf_text.write(tmp_path, sdf_text.sdf(TWO + ball)))
