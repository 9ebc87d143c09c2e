"""Loops beside a URDF: frames called so, side files, and what is wrong in them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from robik.errors import AssemblyError, FormatError
from robik.formats import import_robot, load_robot
from robik.kinematics.mobility import inspect
from tests.formats.urdf_text import fourbar, joint


def test_frames_named_closing_close_as_a_hinge(tmp_path: Path) -> None:
    imported = import_robot(fourbar(tmp_path))
    robot = imported.mechanism
    closer = robot.joints[-1]
    assert (closer.name, closer.type) == ("pin", "revolute")
    first, second = (robot.bodies[robot.body_index[n]].pose.position for n in ("closing_pin_1", "closing_pin_2"))
    assert np.allclose(first, second, atol=1e-12)
    assert inspect(robot).mobility == 1
    assert len(robot.actuators) == 1  # one joint decides the others
    assert max(abs(v) for j in robot.joints[:-1] for v in j.rest) < 0.2  # the assembly mode near the stored pose


def test_frames_that_cannot_be_a_hinge_are_read_as_a_ball(tmp_path: Path) -> None:
    path = fourbar(tmp_path)
    path.write_text(path.read_text().replace('<origin xyz="0.3 0.01 0"/>', '<origin xyz="0.3 0.01 0" rpy="0.3 0 0"/>'))
    imported = import_robot(path)
    assert imported.mechanism.joints[-1].type == "spherical"
    assert any("ball" in w for w in imported.warnings)
    assert inspect(imported.mechanism).closure_residual < 1e-10


def test_our_own_file_of_loops(tmp_path: Path) -> None:
    path = fourbar(tmp_path, names=("one", "two"))
    said = {"format": "robik-loops", "version": 1, "motors": ["right"]}
    loops = [{"name": "pin", "frames": ["one", "q"], "type": "revolute", "axis": [0, 0, 1]}]
    path.with_name("robot.loops.json").write_text(json.dumps({**said, "loops": loops}))
    robot = load_robot(path)
    assert robot.actuators == ("right",)
    assert (robot.joints[-1].name, robot.joints[-1].parent, robot.joints[-1].child) == ("pin", "one", "two")
    assert inspect(robot).mobility == 1


def test_limits_that_keep_a_loop_open_give_way_with_a_warning(tmp_path: Path) -> None:
    wide = import_robot(fourbar(tmp_path, 0.45, '<limit lower="-0.6" upper="0.6"/>'))
    assert wide.mechanism.joints[1].limits == ((-0.6, 0.6),)
    assert not any("widened" in w for w in wide.warnings)
    tight = import_robot(fourbar(tmp_path, 0.6, '<limit lower="1.0" upper="1.2"/>'))
    assert any("widened" in w and "left" in w for w in tight.warnings)
    assert tight.mechanism.joints[1].rest[0] < 1.0
    assert inspect(tight.mechanism).closure_residual < 1e-10


def test_a_loop_that_cannot_close_is_refused_with_its_gap(tmp_path: Path) -> None:
    with pytest.raises(AssemblyError, match=r"loop 'pin' .* stays open by 1\.?[0-9]*e\+0?3 mm and .* degrees"):
        load_robot(fourbar(tmp_path, 2.0))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("closed_loop: [['one', 'none']]", "no link or joint that is called 'none'"),
        ("closed_loop: [['one', 'two']]\ntype: ['5d']", "must be 3d or 6d"),
        ("closed_loop: [['one', 'two']]\ntype: []\njoint_name: 3", "a list of names"),
        ("closed_loop: [['one', 'two', 'b']]", "pair of frames"),
        ("closed_loop: [['one', 'one']]", "ties link 'one' to itself"),
        ("joint_name: ['left']\njoint_type: ['SCREW']", "unknown type 'SCREW'"),
        ("joint_name: ['none']\njoint_type: ['SPHERICAL']", "there is no such joint"),
        ("closed_loop: [", "not YAML"),
        ("closed_loop: !!python/object/apply:os.system ['true']", "not YAML"),
        ("[" * 5000, "YAML|nested"),
    ],
)
def test_what_is_wrong_in_robot_yaml_is_said(content: str, says: str, tmp_path: Path) -> None:
    path = fourbar(tmp_path, names=("one", "two"))
    path.with_name("robot.yaml").write_text(content)
    with pytest.raises(FormatError, match=says):
        load_robot(path)


def test_a_loop_of_two_links_that_are_one_part_anyway_does_no_harm(tmp_path: Path) -> None:
    path = fourbar(tmp_path)
    path.write_text(path.read_text().replace('<parent link="d"/><child link="closing_pin_2"/><origin xyz="0 0.2 0"/>',
                                             '<parent link="c"/><child link="closing_pin_2"/><origin xyz="0.3 0.01 '
                                             '0"/>'))  # fmt: skip
    found = inspect(load_robot(path))
    assert (found.loops, found.mobility, found.actuators) == (1, 3, ("left", "middle", "right"))


def test_half_of_a_loop_is_told(tmp_path: Path) -> None:
    imported = import_robot(fourbar(tmp_path, names=("closing_pin_1", "closing_pin_b")))
    assert imported.warnings == (
        "closing_pin_1: half of a loop, but there is no link 'closing_pin_2', so nothing is closed there",
    )


def test_joints_called_passive_are_the_last_to_become_motors(tmp_path: Path) -> None:
    text = fourbar(tmp_path).read_text().replace('"left"', '"passive_left"')
    (tmp_path / "robot.urdf").write_text(text, encoding="utf-8")
    assert import_robot(tmp_path / "robot.urdf").mechanism.actuators == (
        "right",
    )  # beside "left", which is first, without that name


def test_a_guessed_loop_is_a_ball_where_a_hinge_leaves_the_limits(tmp_path: Path) -> None:
    turned = '<origin xyz="0.3 0 0" rpy="0.5 0 0"/>'
    text = fourbar(tmp_path).read_text().replace('<origin xyz="0.3 0.01 0"/>', turned)
    swing = joint(
        "swing", "revolute", "b2", "c", '<axis xyz="1 0 0"/><limit lower="-0.01" upper="0.01" velocity="1" effort="1"/>'
    )
    text = text.replace('<child link="c"/>', '<child link="b2"/>', 1).replace(
        "</robot>", f'<link name="b2"/>{swing}</robot>'
    )
    (tmp_path / "robot.urdf").write_text(text, encoding="utf-8")
    imported = import_robot(tmp_path / "robot.urdf")
    pin = next(joint for joint in imported.mechanism.joints if joint.name == "pin")
    assert pin.type == "spherical"
    assert any(
        "beyond the limits of swing" in warning and "hinges would leave the robot" in warning
        for warning in imported.warnings
    )
    assert not any("widened" in warning for warning in imported.warnings)
