"""What robot files get wrong and the formats' own readers forgive: read as meant, with a warning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.formats import Imported, import_robot
from robik.mechanism import WORLD, Coupling, Joint
from tests.formats import mjcf_text, sdf_text, urdf_text

Z = '<axis xyz="0 0 1"/>'


def joint_of(imported: Imported, name: str) -> Joint:
    return next(joint for joint in imported.mechanism.joints if joint.name == name)


def warned(imported: Imported, *words: str) -> bool:
    return any(all(word in warning for word in words) for warning in imported.warnings)


# URDF


def test_limits_of_a_urdf_that_are_swapped_are_exchanged(tmp_path: Path) -> None:
    limit = '<limit lower="0.5" upper="-1.5" velocity="1" effort="1"/>'
    imported = import_robot(urdf_text.write(tmp_path, urdf_text.joint("j", "revolute", "a", "b", Z + limit)))
    assert joint_of(imported, "j").limits == ((-1.5, 0.5),)
    assert warned(imported, "j: ", "exchanged")


def test_joints_of_a_urdf_on_a_world_that_is_no_link_stand_on_the_ground(tmp_path: Path) -> None:
    joints = urdf_text.joint("up", "fixed", "world", "a", '<origin xyz="0 0 2"/>') + urdf_text.joint(
        "j", "continuous", "a", "b", Z
    )
    imported = import_robot(urdf_text.write(tmp_path, joints))
    assert joint_of(imported, "up").parent == WORLD
    assert imported.mechanism.bodies[0].pose.position == (0.0, 0.0, 2.0)
    assert warned(imported, "'world'", "ground")


def test_one_number_scales_a_mesh_of_a_urdf_in_all_directions(tmp_path: Path) -> None:
    (tmp_path / "m.stl").write_bytes(b"")
    mesh = '<link name="c"><visual><geometry><mesh filename="m.stl" scale="0.001"/></geometry></visual></link>'
    joints = urdf_text.joint("j", "continuous", "a", "b", Z) + urdf_text.joint("k", "fixed", "b", "c")
    bodies = import_robot(urdf_text.write(tmp_path, joints, mesh)).mechanism.bodies
    assert [v.size for body in bodies for v in body.visuals] == [(0.001,) * 3]


# SDF


def test_limits_of_an_sdf_that_are_swapped_are_exchanged(tmp_path: Path) -> None:
    axis = sdf_text.axis("0 0 1", "<lower>2</lower><upper>1</upper>")
    text = sdf_text.sdf(sdf_text.link("a") + sdf_text.joint("j", "revolute", "world", "a", axis))
    imported = import_robot(sdf_text.write(tmp_path, text))
    assert joint_of(imported, "j").limits == ((1.0, 2.0),)
    assert warned(imported, "j", "exchanged")


def test_a_joint_of_an_sdf_that_is_called_as_a_link_gets_another_name(tmp_path: Path) -> None:
    follows = '<mimic joint="a" axis="axis"><multiplier>2</multiplier></mimic>'
    inner = (
        sdf_text.joint("a", "revolute", "world", "a", sdf_text.axis("0 0 1"))  # before the link, as files have it too
        + sdf_text.link("a")
        + sdf_text.link("b", "1 0 0 0 0 0", relative_to="a")
        + sdf_text.joint("b", "revolute", "a", "b", sdf_text.axis("0 0 1", inner=follows))
        + '<frame name="b" attached_to="b"><pose>0 0 1 0 0 0</pose></frame>'
        + '<plugin name="controller" filename="c"><joint_name>a</joint_name></plugin>'
    )
    imported = import_robot(sdf_text.write(tmp_path, sdf_text.sdf(inner)))
    robot = imported.mechanism
    assert [body.name for body in robot.bodies] == ["a", "b"]
    assert {joint.name: (joint.child, joint.actuated) for joint in robot.joints} == {
        "a_joint": ("a", True),
        "b_joint": ("b", False),
    }
    assert robot.couplings == (Coupling("b_joint", "b_joint", "a_joint", (0.0, 2.0)),)
    assert [(frame.name, frame.body, frame.pose.position) for frame in robot.frames] == [
        ("b_frame", "b", (0.0, 0.0, 1.0))
    ]
    assert warned(imported, "a: ", "a_joint") and warned(imported, "b: ", "b_frame")


# MJCF

BALL = '<body name="b"><joint name="h" type="ball"/><geom size="1" mass="1"/></body>'
TWO = f'<body name="a"><freejoint/><geom size="1" mass="1"/>{BALL}</body>'


@pytest.mark.parametrize(
    "qpos", ["0 0 2 0 0 0 0 1 0 0 0", "0 0 2 1 0 0 0 0 0 0 0", "0 0 2 1 0 0 0 nan 0 0 0", "0 0 2 1 0 0 0 1 0 0 x"]
)
def test_a_keyframe_of_no_pose_costs_the_keyframe(qpos: str, tmp_path: Path) -> None:
    path = mjcf_text.write(tmp_path, TWO, f'<keyframe><key name="home" qpos="{qpos}"/></keyframe>')
    imported = import_robot(path)
    assert imported.mechanism.bodies[0].pose.position == (0.0, 0.0, 0.0)
    assert warned(imported, "keyframe 'home'", "left out")
    assert not any("rest pose" in sentence and "keyframe" in sentence for sentence in imported.report)


def test_a_blank_keyframe_does_not_sink_a_robot_into_the_floor(tmp_path: Path) -> None:
    """As a template has it; where the body stands at the origin anyway, and for other poses, the file has its way."""
    raised = TWO.replace('name="a"', 'name="a" pos="0 0 0.7"')

    def height(body: str, qpos: str) -> float:
        imported = import_robot(
            mjcf_text.write(tmp_path, body, f'<keyframe><key name="home" qpos="{qpos}"/></keyframe>')
        )
        assert warned(imported, "keyframe 'home'", "all zeros") == (body is raised and qpos == blank)
        return imported.mechanism.bodies[0].pose.position[2]

    blank = "0 0 0 1 0 0 0 1 0 0 0"
    assert height(raised, blank) == pytest.approx(0.7)
    assert height(TWO, blank) == 0.0
    assert height(raised, "0 0 0.5 1 0 0 0 1 0 0 0") == pytest.approx(0.5)


def test_the_next_keyframe_counts_where_the_first_has_no_pose(tmp_path: Path) -> None:
    keys = '<key name="home" qpos="0 0 2 0 0 0 0 1 0 0 0"/><key name="up" qpos="0 0 3 1 0 0 0 1 0 0 0"/>'
    imported = import_robot(mjcf_text.write(tmp_path, TWO, f"<keyframe>{keys}</keyframe>"))
    assert imported.mechanism.bodies[0].pose.position == (0.0, 0.0, 3.0)


@pytest.mark.parametrize(("asset", "model"), [('file="arm.xml"', "gripper"), ('name="tool" file="arm.xml"', "tool")])
def test_a_model_is_attached_by_its_own_name(asset: str, model: str, tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(
        '<mujoco model="gripper"><worldbody><body name="palm"><joint name="turn"/><geom size="1"'
        ' mass="1"/></body></worldbody></mujoco>'
    )
    mount = f'<body name="a"><geom size="1" mass="1"/><attach model="{model}" body="palm" prefix="l_"/></body>'
    robot = import_robot(mjcf_text.write(tmp_path, mount, f"<asset><model {asset}/></asset>")).mechanism
    assert [body.name for body in robot.bodies] == ["a", "l_palm"]
    assert np.isclose(robot.mass, 2.0)


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ('<origin xyz="0 0"/><geometry><sphere radius="1"/></geometry>', "its visual: its origin's xyz"),
        ('<geometry><box size="1 1"/></geometry>', "its box's size"),
        ('<geometry><mesh filename="m.stl" scale="1 1 1 1"/></geometry>', "its mesh's scale"),
    ],
)
def test_a_visual_of_a_urdf_that_cannot_be_read_costs_no_robot(inner: str, words: str, tmp_path: Path) -> None:
    link = f'<link name="a"><inertial><mass value="2"/></inertial><visual>{inner}</visual></link>'
    path = urdf_text.write(tmp_path)
    path.write_text(f'<robot name="r">{link}</robot>')
    imported = import_robot(path)
    assert imported.mechanism.bodies[0].mass == 2.0
    assert warned(imported, "link 'a'", words, "so it is not shown")


def test_a_visual_of_an_sdf_that_cannot_be_read_costs_no_robot(tmp_path: Path) -> None:
    visual = '<visual name="v"><geometry><box><size>1 1</size></box></geometry></visual>'
    imported = import_robot(sdf_text.write(tmp_path, sdf_text.sdf(sdf_text.link("a", inner=visual))))
    assert warned(imported, "link 'a'", "its visual 'v'", "so it is not shown")


def test_a_joint_that_mimics_a_fixed_one_stands_at_its_offset(tmp_path: Path) -> None:
    joints = urdf_text.joint("still", "fixed", "a", "b") + urdf_text.joint(
        "j", "revolute", "b", "c", Z + '<limit lower="-1" upper="1"/><mimic joint="still" offset="0.5" multiplier="2"/>'
    )
    imported = import_robot(urdf_text.write(tmp_path, joints, '<link name="c"/>'))
    assert imported.mechanism.couplings == ()
    assert not joint_of(imported, "j").motions
    turn = imported.mechanism.rest_pose("b").inverse() @ imported.mechanism.rest_pose("c")
    np.testing.assert_allclose(turn.quaternion, [np.cos(0.25), 0.0, 0.0, np.sin(0.25)], atol=1e-12)


@pytest.mark.parametrize(
    ("soft", "limits"),
    [
        ('soft_lower_limit="-0.8" soft_upper_limit="2"', (-0.8, 1.0)),
        ("", (-1.0, 1.0)),
        ('soft_lower_limit="0" soft_upper_limit="0"', (-1.0, 1.0)),
        ('soft_lower_limit="2" soft_upper_limit="3"', (-1.0, 1.0)),
    ],
)
def test_limits_that_a_safety_controller_keeps_count(soft: str, limits: tuple[float, float], tmp_path: Path) -> None:
    inner = Z + f'<limit lower="-1" upper="1"/><safety_controller k_velocity="1" {soft}/>'
    imported = import_robot(urdf_text.write(tmp_path, urdf_text.joint("j", "revolute", "a", "b", inner)))
    assert joint_of(imported, "j").limits == (limits,)


# MJCF


def test_a_file_that_is_included_twice_stands_in_both_places(tmp_path: Path) -> None:
    (tmp_path / "finger.xml").write_text('<mujoco><geom size="0.1" mass="1"/></mujoco>')
    body = '<body name="{}"><joint type="hinge"/><include file="finger.xml"/></body>'
    imported = import_robot(mjcf_text.write(tmp_path, body.format("one") + body.format("two")))
    assert [b.mass for b in imported.mechanism.bodies if b.name in ("one", "two")] == [1.0, 1.0]


# SDF


@pytest.mark.parametrize("uri", ["model://part", "part"])
def test_a_model_beside_one_of_gazebo_s_is_included(uri: str, tmp_path: Path) -> None:
    for name in ("whole", "part"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.config").write_text("<model><sdf>model.sdf</sdf></model>")
    sdf_text.write(tmp_path / "part", sdf_text.sdf(sdf_text.link("b"), name="part"))
    inner = sdf_text.link("a") + f"<include><uri>{uri}</uri></include>"
    weld = sdf_text.joint("j", "fixed", "a", "part::b")
    imported = import_robot(sdf_text.write(tmp_path / "whole", sdf_text.sdf(inner + weld)))
    assert len(imported.mechanism.bodies) == 2
