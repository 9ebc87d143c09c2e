"""Bad URDF files: refused in one sentence, or kept to the robot's folder; nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from robik.errors import FormatError
from robik.formats import import_robot, load_robot
from robik.mechanism import Mechanism
from tests.formats import fuzz
from tests.formats.urdf_text import fourbar, joint, write

# Files that mean no good


def robot(inner: str, links: str = "ab") -> str:
    return "<robot name='r'>" + "".join(f"<link name='{n}'/>" for n in links) + inner + "</robot>"


TO_C = joint("j", "fixed", "a", "c")
BOMB = '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (BOMB + '<robot name="&b;"><link name="a"/></robot>', "DOCTYPE"),
        ('<!DOCTYPE robot SYSTEM "file:///etc/passwd"><robot name="r"><link name="a"/></robot>', "DOCTYPE"),
        ('<robot name="r"><link name="a"/>', "not XML"),
        ("", "it is empty"),
        ('<robot name="&x;"><link name="a"/></robot>', "not XML"),
        ('<?xml version="1.0" encoding="klingon"?><robot/>', "not XML"),
        ("<sdf><link name='a'/></sdf>", "must be <robot>"),
        ("<robot name='r'/>", "no <link>"),
        ("<robot name='r'><link/></robot>", "has no name"),
        (robot("".join(f"<link name='l{i}'/>" for i in range(2001))), "it has 2003 links"),
        (robot("", "aa"), "two links are called 'a'"),
        (
            robot("<link name='c'><inertial><mass value='nan'/></inertial></link>" + TO_C, "a"),
            "link 'c': its mass: value must",
        ),
        (robot("<link name='c'><inertial><mass value='-1'/></inertial></link>" + TO_C, "a"), "or more kilograms"),
        (robot("<link name='c'><inertial><mass value='1e999'/></inertial></link>" + TO_C, "a"), "finite"),
        (robot(""), "'a', 'b' are no joint's child"),
        (robot(joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "a")), "ring"),
        (robot(joint("j", "fixed", "a", "a"), "a"), "ring"),
        (
            robot(
                joint("j", "fixed", "b", "c") + joint("k", "fixed", "c", "b") + joint("l", "fixed", "a", "d"), "abcd"
            ),
            "ring: b, c hang on",
        ),
        (robot(joint("j", "fixed", "a", "b") + joint("k", "fixed", "a", "b")), "child of two joints"),
        (robot(joint("j", "fixed", "a", "b") + joint("j", "fixed", "a", "c"), "abc"), "two joints are called 'j'"),
        (robot(joint("j", "helical", "a", "b")), "unknown type 'helical'"),
        (robot(joint("j", "revolute", "a", "c")), "name of a link, not 'c'"),
        (robot(joint("j", "continuous", "a", "b", "<axis xyz='0 0 0'/>")), "axis must not be zero"),
        (robot(joint("j", "continuous", "a", "b", "<origin xyz='0 nan 0'/>")), "3 finite numbers"),
        (
            "<robot xmlns:xacro='http://www.ros.org/wiki/xacro'><link name='a'/><xacro:none/></robot>",
            "unknown macro",
        ),
        (
            robot(joint("j", "continuous", "a", "b", "<mimic joint='k'/>") + joint("k", "planar", "b", "c"), "abc"),
            "mimics 'k'",
        ),
    ],
)
def test_bad_files_are_refused_in_one_sentence(content: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(content)
    with pytest.raises(FormatError, match=says) as raised:
        load_robot(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_bytes(b'<robot name="\xff\xfe"><link name="a"/></robot>')
    with pytest.raises(FormatError, match=r"not XML: .*; its text is not UTF-8"):
        load_robot(path)


@pytest.mark.parametrize(
    "uri",
    ["../../secret.stl", "/etc/passwd", "file:///etc/passwd", "https://example.com/a.stl", "package://../../secret.stl",
     "//host/a.stl",
     "\\\\host\\a.stl", "package://p/%2e%2e/%2e%2e/%2e%2e/secret.stl", "file:////host/a.stl", ""],
)  # fmt: skip
def test_a_mesh_elsewhere_is_not_read_but_stood_for(uri: str, tmp_path: Path) -> None:
    (tmp_path / "secret.stl").write_text("solid")
    folder = tmp_path / "in" / "robot"
    folder.mkdir(parents=True)
    path = folder / "robot.urdf"
    path.write_text(
        f'<robot name="r"><link name="a"><visual><geometry><mesh filename="{uri}"/></geometry></visual></link></robot>'
    )
    imported = import_robot(path)
    assert [v.shape for v in imported.mechanism.bodies[0].visuals] == ["box"]
    assert any(w.startswith("link 'a': a mesh was not read") for w in imported.warnings)


def test_a_link_in_the_folder_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.stl").write_text("solid")
    folder = tmp_path / "robot"
    folder.mkdir()
    try:
        (folder / "a.stl").symlink_to(tmp_path / "secret.stl")
    except OSError as error:
        pytest.skip(f"no symbolic links here: {error}")
    path = folder / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="a.stl"/></geometry></visual></link></robot>'
    )
    assert import_robot(path).mechanism.bodies[0].visuals[0].shape == "box"


KINDS = ["fixed", "floating", "planar", "revolute", "continuous", "prismatic"]


@pytest.mark.parametrize("seed", range(5))
def test_mutated_files_end_in_a_robot_or_in_a_sentence(seed: int, tmp_path: Path) -> None:
    looped = fourbar(tmp_path).read_text()
    tree = joint(
        "j",
        "revolute",
        "a",
        "b",
        '<origin xyz="1 0 0" rpy="0 1 0"/><limit lower="0" upper="1" velocity="1" effort="1"/>',
    )
    inertial = '<link name="c"><inertial><origin xyz="0 0 1" rpy="1 0 0"/><mass value="1"/>'
    inertial += '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    inertial += '<visual><geometry><box size="1 1 1"/></geometry></visual></link>'
    mimic = joint(
        "k", "prismatic", "b", "c", '<mimic joint="j" multiplier="2" offset="0"/><limit lower="-9" upper="9"/>'
    )
    plain = write(tmp_path, tree + mimic, inertial).read_text()
    beside = """<gazebo><joint name="pin" type="revolute"><parent>b</parent><child>d</child><pose>0 0 0 0 0 0</pose>
        <axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint><plugin name="p">
        <joint>j</joint><mimicJoint>m</mimicJoint><multiplier>2</multiplier></plugin></gazebo><ros2_control>
        <joint name="m"><param name="mimic">j</param><param name="multiplier">2</param></joint></ros2_control>"""
    more = '<link name="d"/>' + joint("m", "continuous", "b", "d") + beside
    tied = plain.replace("</robot>", f"{more}</robot>")
    files = [looped, *[plain, tied] * 10]
    outcomes = fuzz.import_mutants(tmp_path / "mutant.urdf", files, seed, fuzz.CASES // 5, KINDS)
    assert {Mechanism, FormatError} <= set(outcomes)
