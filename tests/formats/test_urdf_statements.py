"""Single statements of URDF, in files of the tests' own."""

from __future__ import annotations

from math import inf
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from robik.formats import import_robot, load_robot
from robik.formats.urdf.reader import GREY
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD
from tests.formats.urdf_text import joint, rest_values, write

# Single statements of the format


def test_every_joint_type(tmp_path: Path) -> None:
    names = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar"]
    links = "".join(f'<link name="{n}"/>' for n in names)
    limit = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'
    joints = joint("ab", "fixed", "a", "b") + "".join(
        joint(f"j_{n}", n, "b", n, f'<axis xyz="0 0 2"/>{limit}') for n in names
    )
    robot = load_robot(write(tmp_path, joints, links))
    found = {j.name: j for j in robot.joints}
    types = {n: found[f"j_{n}"].type for n in names}
    assert list(types.values()) == ["revolute", "revolute", "prismatic", "fixed", "free", "planar"]
    assert found["j_revolute"].limits == ((-1.0, 2.0),)
    assert found["j_continuous"].limits == ((-inf, inf),)
    assert (found["j_prismatic"].velocity_limit, found["j_prismatic"].effort_limit) == (3.0, 4.0)
    assert np.allclose(found["j_planar"].axis, [0, 0, 1])
    assert found["base"].parent == WORLD and found["base"].type == "fixed"
    assert robot.is_grounded


def test_a_floating_joint_to_a_link_called_world_is_a_floating_robot(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(
        f'<robot name="r"><link name="world"/><link name="b"/>{joint("j", "floating", "world", "b")}</robot>'
    )
    robot = load_robot(path)
    assert [b.name for b in robot.bodies] == ["b"]
    assert not robot.is_grounded


def test_transmissions_name_the_motors(tmp_path: Path) -> None:
    joints = joint("one", "continuous", "a", "b") + joint("two", "continuous", "b", "c")
    drive = '<transmission name="t"><joint name="two"/><actuator name="m"/></transmission>'
    robot = load_robot(write(tmp_path, joints + drive, '<link name="c"/>'))
    assert robot.actuators == ("two",)


def test_joints_with_a_motors_limits_that_transmissions_leave_out_have_motors(tmp_path: Path) -> None:
    """As Baxter's file, whose transmissions are those of its grippers; its arms hung without motors."""
    limit = '<limit lower="-1" upper="1" velocity="2" effort="30"/>'
    joints = (
        joint("arm", "revolute", "a", "b", limit)
        + joint("finger", "prismatic", "b", "c", limit)
        + joint("caster", "continuous", "b", "d")
        + joint("passive_roll", "revolute", "b", "e", limit)
        + joint("suspension_left", "prismatic", "b", "g", limit)
        + joint("twin", "prismatic", "b", "f", f'{limit}<mimic joint="finger"/>')
    )
    links = "".join(f'<link name="{name}"/>' for name in "cdefg")
    drive = '<transmission name="t"><joint name="finger"/><actuator name="m"/></transmission>'
    imported = import_robot(write(tmp_path, joints + drive, links))
    assert imported.mechanism.actuators == ("arm", "finger")
    assert any(said.startswith("arm: a transmission or ros2_control does not name it") for said in imported.report)
    told = tmp_path / "robot.loops.json"
    told.write_text('{"format": "robik-loops", "version": 1, "motors": ["finger"]}', encoding="utf-8")
    assert load_robot(tmp_path / "robot.urdf").actuators == ("finger",), "a file beside it has the last word"


def test_a_mimic_joint_rests_where_it_follows(tmp_path: Path) -> None:
    follower = joint("two", "continuous", "b", "c", '<mimic joint="one" multiplier="-2" offset="0.5"/>')
    robot = load_robot(write(tmp_path, joint("one", "continuous", "a", "b") + follower, '<link name="c"/>'))
    rest = rest_values(robot)
    assert (rest["one"][0], rest["two"][0]) == (0.0, 0.5), "what leads stays as stored"
    assert robot.couplings[0].coefficients == (0.5, -2.0)
    assert robot.actuators == ("one",)


def test_followers_of_followers_rest_where_they_follow_unless_limits_forbid(tmp_path: Path) -> None:
    last = joint("three", "{}", "c", "d", '{}<mimic joint="two" multiplier="3"/>')
    middle = joint("two", "continuous", "b", "c", '<mimic joint="one" offset="0.5"/>')
    links = '<link name="c"/><link name="d"/>'
    for kind, limit, rest in (("continuous", "", 1.5), ("revolute", '<limit lower="-1" upper="1"/>', 1.0)):
        robot = load_robot(
            write(tmp_path, last.format(kind, limit) + middle + joint("one", "continuous", "a", "b"), links)
        )
        values = rest_values(robot)
        assert values["three"][0] == pytest.approx(rest, abs=1e-9)
        assert values["one"][0] == pytest.approx(rest / 3 - 0.5, abs=1e-9)


def test_a_joint_that_mimics_none_of_the_file_moves_freely(tmp_path: Path) -> None:
    imported = import_robot(write(tmp_path, joint("one", "continuous", "a", "b", '<mimic joint="index_q1"/>')))
    assert (imported.mechanism.couplings, imported.mechanism.actuators) == ((), ("one",))
    assert "one: it mimics 'index_q1', but there is no joint of that name, so it moves freely" in imported.warnings


def test_a_zero_outside_the_limits_rests_at_the_nearest(tmp_path: Path) -> None:
    imported = import_robot(write(tmp_path, joint("j", "revolute", "a", "b", '<limit lower="0.5" upper="1"/>')))
    assert imported.mechanism.joints[1].rest == (0.5,)
    assert any("outside its limits" in w for w in imported.warnings)


def test_visuals_take_their_materials(tmp_path: Path) -> None:
    red, shape = '<material name="red"><color rgba="1 0 0 0.5"/></material>', "<geometry><{}/></geometry>"
    visuals = "".join(
        f'<visual><origin xyz="1 2 3"/>{shape.format(each)}<material name="red"/></visual>'
        for each in (
            'box size="1 2 3"',
            'cylinder radius="1" length="2"',
            'sphere radius="1"',
            'capsule radius="1" length="2"',
        )
    )
    joints = joint("j", "fixed", "a", "c") + joint("k", "fixed", "a", "b")
    robot = load_robot(write(tmp_path, joints, f'<link name="c">{visuals}</link>{red}'))
    seen = robot.bodies[robot.body_index["c"]].visuals
    assert [v.shape for v in seen] == ["box", "cylinder", "sphere", "capsule"]
    assert {v.color for v in seen} == {(1.0, 0.0, 0.0, 0.5)}
    assert seen[0].pose.position == (1.0, 2.0, 3.0)


def test_packages_that_the_user_names_are_searched(tmp_path: Path) -> None:
    (tmp_path / "ros" / "arm" / "meshes").mkdir(parents=True)
    (tmp_path / "ros" / "arm" / "meshes" / "a.stl").write_text("solid")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path = folder / "robot.urdf"
    path.write_text('<robot name="r"><link name="a"><visual><geometry><mesh filename="package://arm/meshes/a.stl" '
                    'scale="1 2 -3"/>'
                    '</geometry></visual></link></robot>')  # fmt: skip
    missing = import_robot(path)
    assert any("there is no such mesh" in w for w in missing.warnings)
    for packages in ([tmp_path / "ros"], [tmp_path / "ros" / "arm"]):
        found = import_robot(path, packages)
        [visual] = found.mechanism.bodies[0].visuals
        assert (path.parent / visual.file).is_file()
        assert visual.size == (1.0, 2.0, -3.0)
        assert not found.warnings


def test_warnings_of_load_robot_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    load_robot(write(tmp_path, joint("j", "revolute", "a", "b")))
    assert "taken for unlimited" in caplog.text


# What exporters leave behind


def warnings_of(path: Path) -> list[str]:
    return list(import_robot(path).warnings)


def test_parts_that_nothing_ties_are_left_out(tmp_path: Path) -> None:
    """Fasteners, cameras and other models of the same assembly."""
    links = '<link name="bolt"/><link name="c"/><link name="d"/><link name="e"/>'
    joints = (
        joint("j", "continuous", "a", "b") + joint("k", "continuous", "b", "c") + joint("m", "continuous", "d", "e")
    )
    follower = joint("m2", "continuous", "e", "f", '<mimic joint="m"/>') + '<link name="f"/>'
    imported = import_robot(
        write(tmp_path, '<link name="g"/>' + joint("n", "fixed", "c", "g") + joints + follower, links)
    )
    assert [b.name for b in imported.mechanism.bodies] == ["a", "b", "c", "g"]
    assert imported.warnings == ("bolt, d, e, f: no joint ties it to the robot, so it was left out",)


def test_limits_that_were_not_filled_in_are_none(tmp_path: Path) -> None:
    zero = '<limit lower="0" upper="0" effort="0" velocity="0"/>'
    locked = '<limit lower="0.1" upper="0.1" effort="1" velocity="1"/>'
    joints = joint("j", "revolute", "a", "b", zero) + joint("k", "revolute", "b", "c", locked)
    imported = import_robot(write(tmp_path, joints, '<link name="c"/>'))
    assert [j.limits for j in imported.mechanism.joints[1:]] == [((-inf, inf),), ((0.1, 0.1),)]
    assert (
        "j: its limits are all zero, as of a form that was not filled in; it was taken for unlimited"
        in imported.warnings
    )
    assert "k: its lower limit is its upper limit, which locks it" in imported.warnings


def test_limits_that_do_not_count_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, joint("j", "continuous", "a", "b", '<limit lower="-1" upper="1" effort="1" velocity="1"/>'))
    assert warnings_of(path) == [
        "j: it is continuous, so its lower and upper limit do not count; a joint with limits is called revolute"
    ]


def test_a_schema_s_namespace_does_no_harm(tmp_path: Path) -> None:
    path = write(tmp_path, joint("j", "continuous", "a", "b"))
    path.write_text(path.read_text().replace('name="r"', 'xmlns="http://drake.mit.edu" name="r"'))
    assert load_robot(path).actuators == ("j",)


def test_a_shape_without_extent_is_not_shown(tmp_path: Path) -> None:
    flat = '<link name="c"><visual><geometry><box size="10 10 0"/></geometry></visual></link>'
    path = write(tmp_path, joint("j", "continuous", "a", "b") + joint("k", "fixed", "b", "c"), flat)
    assert warnings_of(path) == ["link 'c': a box without extent is not shown"]


def test_a_mesh_is_found_whatever_the_capitals_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "Part 1.stl").write_text("solid")
    mesh = '<link name="c"><visual><geometry><mesh filename="package://gone/Part 1.STL"/></geometry></visual></link>'
    imported = import_robot(write(tmp_path, joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "c"), mesh))
    assert imported.mechanism.bodies[2].visuals[0].file == "Part 1.stl"
    assert not imported.warnings


@pytest.mark.parametrize(
    ("uri", "file"),
    [
        ("My%20Part.stl", "My Part.stl"),
        ("package://r/My%20Part.stl", "My Part.stl"),
        ("package://r/my%20part.STL", "My Part.stl"),
        ("file://{}/My%20Part.stl", "My Part.stl"),
        ("file://{}/in%20it/a.stl", "in it/a.stl"),
        ("50%25%20.stl", "50%25%20.stl"),
        ("package://r/50%25%20.stl", "50%25%20.stl"),
        ("both%20.stl", "both%20.stl"),
        ("gone%20.stl", None),
        ("..%2Foutside.stl", None),
        ("package://r/gone%20.stl", None),
    ],
)
def test_a_mesh_is_looked_for_as_it_is_named_then_decoded(uri: str, file: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "a%20b"  # whose own name is not decoded
    (folder / "in it").mkdir(parents=True)
    for name in ("My Part.stl", "50%25%20.stl", "both%20.stl", "both .stl", "in it/a.stl", "../outside.stl"):
        (folder / name).write_text("solid")
    mesh = (
        '<link name="c"><visual><geometry><mesh'
        f' filename="{uri.format(quote(str(folder)))}"/></geometry></visual></link>'
    )
    imported = import_robot(write(folder, joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "c"), mesh))
    if file is None:
        assert imported.warnings == (f"{uri}: there is no such mesh",)
    else:
        assert imported.warnings == ()
        assert imported.mechanism.bodies[2].visuals[0].file == file


def test_a_colour_without_alpha_is_opaque(tmp_path: Path) -> None:
    looks = '<geometry><sphere radius="1"/></geometry><material name="red"><color rgba="1 0 0"/></material>'
    red = f'<link name="c"><visual>{looks}</visual></link>'
    robot = load_robot(write(tmp_path, joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "c"), red))
    assert robot.bodies[2].visuals[0].color == (1.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("rgba", ["1 1", "", "red", "nan 0 0 1", "1 0 0 1 1"])
def test_a_colour_that_is_none_is_left_out_with_a_warning(rgba: str, tmp_path: Path) -> None:
    shape = '<geometry><sphere radius="1"/></geometry>'
    visuals = [f'<visual>{shape}<material name="{name}">{own}</material></visual>' for name, own in (
        ("none", ""), ("red", f'<color rgba="{rgba}"/>'), ("own", f'<color rgba="{rgba}"/>'))]  # fmt: skip
    materials = (
        f'<material name="none"><color rgba="{rgba}"/></material><material name="red"><color rgba="1 0 0'
        ' 1"/></material>'
    )
    link = f'<link name="c">{"".join(visuals)}</link>'
    imported = import_robot(
        write(tmp_path, joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "c"), materials + link)
    )
    assert [v.color for v in imported.mechanism.bodies[2].visuals] == [GREY, (1.0, 0.0, 0.0, 1.0), GREY]
    [warning] = imported.warnings
    assert (
        f"material 'none', material 'red', material 'own': its rgba must have 4 finite numbers, not {rgba!r}, so it was"
        " left out" in warning
    )


def test_balls_as_bullet_writes_them_have_motors_as_other_joints(tmp_path: Path) -> None:
    rod = '<link name="c"/>'
    hip = joint("hip", "spherical", "a", "b", '<origin xyz="0 0 1"/><dynamics damping="2"/>')
    robot = load_robot(write(tmp_path, hip + joint("knee", "continuous", "b", "c"), rod))
    assert robot.actuators == ("hip.rx", "hip.ry", "hip.rz", "knee")
    ball = next(one for one in robot.joints if one.name == "hip")
    assert (ball.type, ball.resistance.damping) == ("spherical", 2.0)
    one = '<transmission name="t"><joint name="knee"/></transmission>'
    limp = load_robot(write(tmp_path, hip + joint("knee", "continuous", "b", "c") + one, rod))
    assert limp.actuators == ("knee",), "where the file names motors, these are all"
    told = [line for line in inspect(limp).lines() if line.startswith("no actuator moves")]
    assert told == ["no actuator moves: hip"], "once, though it could turn three ways"


def test_a_robot_without_visuals_shows_its_collision_shapes(tmp_path: Path) -> None:
    """As Bullet's humanoid, of which nothing was seen, and whose soles were not found."""
    box = '<{0}><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></{0}>'
    seen, hit = box.format("visual"), box.format("collision")
    joints = joint("base", "fixed", "a", "b") + joint("up", "fixed", "b", "c") + joint("hip", "continuous", "c", "d")
    path = write(tmp_path, joints, f'<link name="c"/><link name="d">{hit}</link>')
    bare = import_robot(path)
    [shape] = bare.mechanism.bodies[bare.mechanism.body_index["d"]].visuals
    assert (shape.shape, shape.size) == ("box", (1.0, 2.0, 3.0))
    assert any("its collision shapes are shown" in line for line in bare.report)
    path = write(tmp_path, joints, f'<link name="c">{seen}</link><link name="d">{hit}</link>')
    dressed = import_robot(path)
    assert dressed.mechanism.bodies[dressed.mechanism.body_index["d"]].visuals == ()
    assert not any("collision shapes" in line for line in dressed.report)
