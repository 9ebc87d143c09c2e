"""SDF robots: frames by every rule of the format, joints of every type, loops."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from math import inf, pi
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.errors import FormatError
from robik.formats import import_robot, load_robot, save_robot
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD
from tests.formats.sdf_text import FRAMES, HOLD, axis, joint, link, matrix, only, sdf, write

# The platform


def stewart(shared_data: Path) -> tuple[Path, ElementTree.Element]:
    path = shared_data / "stewart_sdf" / "model.sdf"
    model = ElementTree.parse(path).getroot().find("model")
    assert model is not None
    return path, model


def test_the_platform_has_its_loops_mobility_and_pistons(shared_data: Path) -> None:
    path, _ = stewart(shared_data)
    imported = import_robot(path)
    found = inspect(imported.mechanism)
    assert (len(imported.mechanism.bodies), found.loops, found.mobility) == (26, 5, 6 + 6)  # it floats
    assert found.actuators == tuple(f"piston{i}_prismatic_joint" for i in range(1, 7))
    assert found.closure_residual < 1e-12
    assert any("floats" in line for line in imported.report)


def test_the_platforms_links_and_joints_are_where_the_file_says(shared_data: Path) -> None:
    path, model = stewart(shared_data)
    robot = load_robot(path)
    links = {each.get("name"): matrix(each.findtext("pose", "")) for each in model.findall("link")}
    for body in robot.bodies:
        np.testing.assert_allclose(body.pose.position, links[body.name][:3, 3], atol=1e-9)
        np.testing.assert_allclose(body.pose.matrix, links[body.name][:3, :3], atol=1e-9)
    for each in model.findall("joint"):  # of version 1.5: in the child, the axes in the joint's frame
        found = only(robot, each.get("name", ""))
        ends = [each.findtext(end, "").strip() for end in ("parent", "child")]
        assert [found.parent, found.child] == ends
        T = links[ends[1]] @ matrix(each.findtext("pose", ""))
        np.testing.assert_allclose(found.position, T[:3, 3], atol=1e-9)
        for text, mine in ((each.findtext("axis/xyz"), found.axis), (each.findtext("axis2/xyz"), found.axis2)):
            if text is not None:
                np.testing.assert_allclose(mine, T[:3, :3] @ [float(v) for v in text.split()], atol=1e-9)


def test_pistons_move_the_platform_as_their_lengths_say(shared_data: Path) -> None:
    path, model = stewart(shared_data)
    robot = load_robot(path)
    values = np.array([j.rest[0] for j in robot.actuated]) + np.random.default_rng(1).uniform(0.1, 0.3, (5, 6))
    position, quaternion, residual = body_poses(robot, values, None)
    assert residual.max() < 1e-9
    poses = {each.get("name"): matrix(each.findtext("pose", "")) for each in model.findall("link")}
    for row, p, q in zip(values, position, quaternion, strict=True):
        for i, length in enumerate(row, start=1):
            cylinder, shaft = (robot.body_index[f"piston{i}_{part}_link"] for part in ("cylinder", "shaft"))
            along = Rotation.from_quat(q[cylinder], scalar_first=True).as_matrix()[:, 2]
            offset = np.linalg.inv(poses[f"piston{i}_cylinder_link"]) @ poses[f"piston{i}_shaft_link"]
            np.testing.assert_allclose(p[shaft] - p[cylinder], (offset[2, 3] + length) * along, atol=1e-8)


def test_a_native_copy_changes_nothing(shared_data: Path, tmp_path: Path) -> None:
    robot = load_robot(stewart(shared_data)[0])
    save_robot(robot, tmp_path / "copy.robik.json")
    assert repr(load_robot(tmp_path / "copy.robik.json")) == repr(robot)


def test_poses_are_relative_to_whatever_they_name(tmp_path: Path) -> None:
    robot = load_robot(write(tmp_path, sdf(FRAMES)))
    a = matrix("1 2 3 0.1 0.2 0.3")
    f = a @ matrix("0 0 1 0 0 0.5")
    g = f @ matrix("1 0 0 0 0 0")
    b = g @ matrix("0 1 0 0.3 0 0")
    j = g @ matrix("0 0.5 0 0 0 0.2")
    c = j @ matrix("0 0 1 0 0 0")
    hand = c @ matrix("0 0 0.5 0 0.4 0")
    upper = hand @ np.linalg.inv(matrix("0 2 0 0 0 0.7"))
    for name, T in {"a": a, "b": b, "c": c, "arm::hand": hand, "arm::upper": upper}.items():
        body = robot.bodies[robot.body_index[name]]
        np.testing.assert_allclose(body.pose.position, T[:3, 3], atol=1e-12)
        np.testing.assert_allclose(body.pose.matrix, T[:3, :3], atol=1e-12)
    hinge = only(robot, "j")
    assert (hinge.parent, hinge.child) == ("a", "b")
    np.testing.assert_allclose(hinge.position, j[:3, 3], atol=1e-12)
    np.testing.assert_allclose(hinge.axis, [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(only(robot, "k").axis, c[:3, 0], atol=1e-12)
    assert (only(robot, "arm::elbow").parent, only(robot, "arm::elbow").child) == ("arm::upper", "arm::hand")
    frames = {frame.name: frame for frame in robot.frames}
    assert (frames["f"].body, frames["g"].body) == ("a", "a")
    np.testing.assert_allclose(frames["g"].pose.position, np.linalg.inv(a)[:3] @ g[:, 3], atol=1e-12)


def test_the_model_stands_where_its_own_pose_says(tmp_path: Path) -> None:
    robot = load_robot(write(tmp_path, sdf("<pose>0 0 5 0 0 0</pose>" + link("a", "1 0 0 0 0 0") + HOLD)))
    assert robot.bodies[0].pose.position == (1.0, 0.0, 5.0)


@pytest.mark.parametrize(("version", "in_model"), [("1.4", True), ("1.6", False), ("1.9", False)])
def test_axes_are_in_the_frame_that_the_version_says(version: str, in_model: bool, tmp_path: Path) -> None:
    turned = joint("j", "revolute", "a", "b", f"<pose>0 0 0 0 0 {pi / 2}</pose>" + axis("1 0 0"))
    robot = load_robot(write(tmp_path, sdf(link("a") + link("b") + turned + HOLD, version)))
    np.testing.assert_allclose(only(robot, "j").axis, [1, 0, 0] if in_model else [0, 1, 0], atol=1e-12)


def test_old_files_may_ask_for_the_models_axes(tmp_path: Path) -> None:
    inner = axis("1 0 0", inner="<use_parent_model_frame>1</use_parent_model_frame>")
    robot = load_robot(
        write(
            tmp_path, sdf(link("a") + link("b", "0 0 0 0 0 1") + joint("j", "revolute", "a", "b", inner) + HOLD, "1.6")
        )
    )
    np.testing.assert_allclose(only(robot, "j").axis, [1, 0, 0], atol=1e-12)


def test_poses_may_be_in_degrees_or_quaternions(tmp_path: Path) -> None:
    posed = (
        '<pose degrees="true">0 0 0 0 0 90</pose>',
        f'<pose rotation_format="quat_xyzw">1 2 3 0 0 {np.sin(0.3)} {np.cos(0.3)}</pose>',
    )
    links = "".join(f'<link name="{name}">{pose}</link>' for name, pose in zip("ab", posed, strict=True))
    robot = load_robot(write(tmp_path, sdf(links + joint("j", "fixed", "a", "b") + HOLD)))
    np.testing.assert_allclose(robot.bodies[0].pose.matrix[:, 0], [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(robot.bodies[1].pose.matrix, matrix("0 0 0 0 0 0.6")[:3, :3], atol=1e-12)


# Joints


def test_every_joint_type(tmp_path: Path) -> None:
    kinds = {
        "revolute": 1,
        "continuous": 1,
        "prismatic": 1,
        "screw": 1,
        "universal": 2,
        "revolute2": 2,
        "ball": 0,
        "fixed": 0,
    }
    limit = "<lower>-1</lower><upper>2</upper><velocity>3</velocity><effort>-1</effort>"
    text = link("a") + HOLD
    for kind, axes in kinds.items():
        inner = "".join((axis("0 0 2", limit), axis("0 1 0", limit, "axis2"))[:axes])
        text += link(kind) + joint(f"j_{kind}", kind, "a", kind, inner + "<screw_thread_pitch>0.5</screw_thread_pitch>")
    robot = load_robot(write(tmp_path, sdf(text)))
    types = {kind: only(robot, f"j_{kind}").type for kind in kinds}
    assert list(types.values()) == [
        "revolute",
        "revolute",
        "prismatic",
        "revolute",
        "universal",
        "universal",
        "spherical",
        "fixed",
    ]
    hinge = only(robot, "j_revolute")
    assert (hinge.limits, hinge.velocity_limit, hinge.effort_limit) == (((-1.0, 2.0),), 3.0, inf)
    assert only(robot, "j_continuous").limits == ((-inf, inf),)
    assert only(robot, "j_universal").limits == ((-1.0, 2.0), (-1.0, 2.0))
    np.testing.assert_allclose(only(robot, "j_universal").axis, [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(only(robot, "j_universal").axis2, [0, 1, 0], atol=1e-12)
    [screw] = robot.couplings
    assert only(robot, "j_screw_slide").type == "prismatic"
    assert (screw.follower, screw.leader) == ("j_screw_slide", "j_screw")
    assert screw.coefficients == pytest.approx((0, 0.5 / (2 * pi)))


def test_a_screw_has_a_motor_that_turns_it(tmp_path: Path) -> None:
    limit = "<lower>-1</lower><upper>2</upper><velocity>3</velocity><effort>4</effort>"
    screw = joint("j", "screw", "a", "b", axis("0 1 0", limit) + "<screw_thread_pitch>0.5</screw_thread_pitch>")
    robot = load_robot(write(tmp_path, sdf(link("a") + link("b", "0 0 1 0 0 0") + screw + HOLD)))
    assert (robot.actuators, inspect(robot).mobility) == (("j",), 1)
    assert (only(robot, "j").limits, only(robot, "j").velocity_limit, only(robot, "j").effort_limit) == (
        ((-1.0, 2.0),),
        3.0,
        4.0,
    )
    position, quaternion, _ = body_poses(robot, np.array([[0.3]]), None)
    b = robot.body_index["b"]
    np.testing.assert_allclose(position[0, b], (0, 0.5 * 0.3 / (2 * pi), 1), atol=1e-12)
    np.testing.assert_allclose(
        Rotation.from_quat(quaternion[0, b], scalar_first=True).as_rotvec(), (0, 0.3, 0), atol=1e-12
    )
    save_robot(robot, tmp_path / "r.urdf")
    assert load_robot(tmp_path / "r.urdf").actuators == ("j",)


@pytest.mark.parametrize("second", ["1 0 0", "0 1 1"])
@pytest.mark.parametrize("kind", ["revolute2", "universal"])
def test_joints_with_two_axes_are_driven_about_both(second: str, kind: str, tmp_path: Path) -> None:
    two = link("a") + link("b") + joint("j", kind, "a", "b", axis("0 0 1") + axis(second, tag="axis2")) + HOLD
    hinge = link("c") + joint("k", "revolute", "b", "c", axis("0 0 1"))
    plugin = '<plugin filename="gz-sim-joint-controller-system" name="x"><joint_name>j</joint_name></plugin>'
    assert len(load_robot(write(tmp_path, sdf(two))).actuators) == 2  # it names no motors
    named = load_robot(write(tmp_path, sdf(two + hinge + plugin)))
    assert len(named.actuators) == 2 and not only(named, "k").actuated


def test_a_universal_joint_that_a_loop_decides_is_not_driven(tmp_path: Path) -> None:
    """A plate on a cardan that two slides with balls at their ends tilt: an ankle."""
    text = link("a") + link("plate", "0 0 1 0 0 0") + HOLD
    text += joint("ankle", "universal", "a", "plate", axis("1 0 0") + axis("0 1 0", tag="axis2"))
    for name, at in (("left", "1 1"), ("right", "1 -1")):
        text += link(f"{name}_foot", f"{at} 0 0 0 0") + link(f"{name}_rod", f"{at} 0.5 0 0 0")
        text += joint(f"{name}_ball", "ball", "a", f"{name}_foot") + joint(
            f"{name}_slide", "prismatic", f"{name}_foot", f"{name}_rod", axis("0 0 1")
        )
        text += joint(
            f"{name}_end", "ball", f"{name}_rod", "plate", f'<pose relative_to="{name}_rod">0 0 0.5 0 0 0</pose>'
        )
    assert load_robot(write(tmp_path, sdf(text))).actuators == ("left_slide", "right_slide")


def test_an_old_screw_counts_its_thread_the_other_way(tmp_path: Path) -> None:
    screw = joint("j", "screw", "a", "b", axis("0 0 1") + f"<thread_pitch>{-2 * pi / 0.5}</thread_pitch>")
    [coupling] = load_robot(write(tmp_path, sdf(link("a") + link("b") + screw + HOLD))).couplings
    assert coupling.coefficients == pytest.approx((0, 0.5 / (2 * pi)))


def test_two_axes_that_are_not_square_become_two_hinges(tmp_path: Path) -> None:
    two = joint("j", "revolute2", "a", "b", axis("0 0 1") + axis("0 1 1", "<lower>-1</lower><upper>1</upper>", "axis2"))
    robot = load_robot(write(tmp_path, sdf(link("a") + link("b") + two + HOLD)))
    assert [b.name for b in robot.bodies] == ["a", "b", "j_between"]
    assert (only(robot, "j").child, only(robot, "j_axis2").parent) == ("j_between", "j_between")
    np.testing.assert_allclose(only(robot, "j_axis2").axis, np.array([0, 1, 1]) / np.sqrt(2), atol=1e-12)
    _, quaternion, _ = body_poses(robot, np.array([[0.3, 0.4]]), None)
    expected = Rotation.from_rotvec([0, 0, 0.3]) * Rotation.from_rotvec(0.4 * np.array([0, 1, 1]) / np.sqrt(2))
    found = Rotation.from_quat(quaternion[0, robot.body_index["b"]], scalar_first=True)
    assert (found.inv() * expected).magnitude() < 1e-12


def test_a_gearbox_couples_the_hinges_on_its_reference_body(tmp_path: Path) -> None:
    wheels = link("a") + link("b", "1 0 0 0 0 0") + link("c", "3 0 0 0 0 0")
    wheels += joint("one", "revolute", "a", "b", axis("0 0 1")) + joint("two", "revolute", "a", "c", axis("0 0 -1"))
    gear = "<gearbox_ratio>2</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body>"
    box = joint("g", "gearbox", "b", "c", axis("0 0 1") + axis("0 0 1", tag="axis2") + gear)
    robot = load_robot(write(tmp_path, sdf(wheels + box + HOLD)))
    assert robot.actuators == ("one",)
    _, quaternion, _ = body_poses(robot, np.array([[0.3]]), None)
    turned = [Rotation.from_quat(quaternion[0, robot.body_index[n]], scalar_first=True).as_rotvec()[2] for n in "bc"]
    np.testing.assert_allclose(turned, [0.3, -0.6], atol=1e-12)  # θ₂ = −ratio θ₁ about the same axis


@pytest.mark.parametrize("ends", [("b", "c"), ("c", "b")])
def test_a_gearbox_may_stand_on_the_world(ends: tuple[str, str], tmp_path: Path) -> None:
    wheels = link("b", "1 0 0 0 0 0") + link("c", "3 0 0 0 0 0")
    wheels += joint("one", "revolute", "world", "b", axis("0 0 1")) + joint(
        "two", "revolute", "c", "world", axis("0 0 1")
    )
    gear = "<gearbox_ratio>2</gearbox_ratio><gearbox_reference_body>world</gearbox_reference_body>"
    robot = load_robot(
        write(tmp_path, sdf(wheels + joint("g", "gearbox", *ends, axis("0 0 1") + axis("0 0 1", tag="axis2") + gear)))
    )
    assert len(robot.actuators) == 1
    _, quaternion, _ = body_poses(robot, np.array([[0.3]]), None)
    turned = [Rotation.from_quat(quaternion[0, robot.body_index[n]], scalar_first=True).as_rotvec()[2] for n in ends]
    assert turned[1] == pytest.approx(-2 * turned[0])


def test_a_mimic_is_a_coupling(tmp_path: Path) -> None:
    mimic = (
        '<mimic joint="one"'
        ' axis="axis"><multiplier>2</multiplier><offset>0.1</offset><reference>0.5</reference></mimic>'
    )
    arms = link("a") + link("b") + link("c") + joint("one", "revolute", "a", "b", axis("0 0 1"))
    robot = load_robot(
        write(tmp_path, sdf(arms + joint("two", "revolute", "b", "c", axis("0 0 1", inner=mimic)) + HOLD, "1.11"))
    )
    assert robot.couplings[0].coefficients == pytest.approx((0.1 - 2 * 0.5, 2))
    assert robot.actuators == ("one",)


def test_the_world_may_be_the_child(tmp_path: Path) -> None:
    limit = "<lower>-1</lower><upper>2</upper>"
    robot = load_robot(
        write(tmp_path, sdf(link("a", "0 0 1 0 0 0") + joint("j", "revolute", "a", "world", axis("1 0 0", limit))))
    )
    j = robot.joints[0]
    assert (j.parent, j.child, j.limits) == (WORLD, "a", ((-1.0, 2.0),))
    np.testing.assert_allclose(j.axis, [-1, 0, 0])


def test_links_with_two_parents_close_loops(tmp_path: Path) -> None:
    corners = {"a": "0 0", "b": "1 0", "c": "1 1", "d": "0 1"}
    bars = "".join(link(name, f"{at} 0 0 0 0") for name, at in corners.items())
    at = {"ab": "0 0 0", "bc": "0 0 0", "ad": "0 -1 0", "dc": "-1 0 0"}
    hinges = "".join(
        joint(f"j{i}", "revolute", *ends, f"<pose>{place} 0 0 0</pose>" + axis("0 0 1"))
        for i, (ends, place) in enumerate(at.items())
    )
    robot = load_robot(write(tmp_path, sdf(bars + hinges + HOLD)))
    found = inspect(robot)
    assert (found.loops, found.mobility, found.actuators) == (1, 1, ("j0",))


def test_controllers_among_the_plugins_name_the_motors(tmp_path: Path) -> None:
    hinges = joint("one", "revolute", "a", "b", axis("0 0 1")) + joint("two", "revolute", "b", "c", axis("0 0 1"))
    plugin = '<plugin filename="gz-sim-joint-position-controller-system" name="x"><joint_name>two</joint_name></plugin>'
    robot = load_robot(write(tmp_path, sdf(link("a") + link("b") + link("c") + hinges + plugin + HOLD)))
    assert robot.actuators == ("two",)


# Links


def test_masses_are_the_files_or_come_from_shapes(tmp_path: Path) -> None:
    given = (
        "<inertial><pose>1 2 3 0 0"
        " 0.5</pose><mass>4</mass><inertia><ixx>1</ixx><iyy>2</iyy><izz>3</izz><ixy>0.1</ixy></inertia></inertial>"
    )
    shapes = (
        '<inertial auto="true"><density>500</density></inertial><collision name="c"><pose>0 0 1 0 0'
        " 0</pose><geometry><box>"
    )
    shapes += '<size>0.1 0.2 0.3</size></box></geometry></collision>'  # fmt: skip
    text = link("a", inner=given) + link("b", inner=shapes) + link("c", inner="<visual/>") + HOLD
    imported = import_robot(write(tmp_path, sdf(text + joint("j", "fixed", "a", "b") + joint("k", "fixed", "a", "c"))))
    a, b, c = imported.mechanism.bodies
    R = matrix("0 0 0 0 0 0.5")[:3, :3]
    I = R @ [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 3]] @ R.T  # noqa: E741
    assert (a.mass, a.com) == (4.0, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(a.inertia, [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
    assert b.mass == pytest.approx(3.0)
    assert b.com == pytest.approx((0, 0, 1))
    np.testing.assert_allclose(b.inertia[:3], 3 / 12 * np.array([0.13, 0.1, 0.05]))
    assert c.mass == 1.0
    assert any(w.startswith("c: it says no mass") for w in imported.warnings)


def test_visuals_and_meshes_in_the_models_folder(tmp_path: Path) -> None:
    write(tmp_path, "solid", "meshes/part.stl")
    shapes = ["<box><size>1 2 3</size></box>", '<sphere><radius>0.5"</radius></sphere>',
              "<cylinder><radius>1</radius><length>2</length></cylinder>",
              "<mesh><uri>meshes/part.stl</uri><scale>1 2 3</scale></mesh>", "<mesh><uri>model://r/meshes/part.stl</uri></mesh>",
              "<mesh><uri>../secret.stl</uri></mesh>"]  # fmt: skip
    visuals = "".join(
        f'<visual name="v{i}"><geometry>{s}</geometry><material><diffuse>1 0 0 1</diffuse></material></visual>'
        for i, s in enumerate(shapes)
    )
    (tmp_path / "model.config").write_text("<model><name>r</name></model>")
    imported = import_robot(write(tmp_path, sdf(link("a", inner=visuals) + HOLD)))
    found = imported.mechanism.bodies[0].visuals
    assert [v.shape for v in found] == ["box", "sphere", "cylinder", "mesh", "mesh", "box"]
    assert [v.file for v in found[3:5]] == ["meshes/part.stl"] * 2
    assert found[3].size == (1.0, 2.0, 3.0)
    assert found[0].color == (1.0, 0.0, 0.0, 1.0)
    assert any("a mesh was not read" in w for w in imported.warnings)


def test_a_part_of_a_mesh_is_the_whole_mesh(tmp_path: Path) -> None:
    write(tmp_path, "solid", "part.stl")
    part = (
        "<visual"
        ' name="v"><geometry><mesh><uri>part.stl</uri><submesh><name>x</name></submesh></mesh></geometry></visual>'
    )
    imported = import_robot(write(tmp_path, sdf(link("a", inner=part) + HOLD)))
    assert imported.mechanism.bodies[0].visuals[0].file == "part.stl"
    assert "a: it means a part of a mesh (<submesh>), but the whole mesh was read" in imported.warnings


# Files in files


def test_models_are_included_from_the_folder_and_from_packages(tmp_path: Path) -> None:
    write(
        tmp_path,
        sdf(
            link("palm") + link("tip", "0 0 1 0 0 0") + joint("bend", "revolute", "palm", "tip", axis("1 0 0")),
            name="hand",
        ),
        "hand/hand.sdf",
    )
    write(
        tmp_path,
        '<model><sdf version="1.4">old.sdf</sdf><sdf version="1.9">hand.sdf</sdf></model>',
        "hand/model.config",
    )
    include = "<include><uri>{}</uri><name>left</name><pose>0 1 0 0 0 0</pose></include>"
    text = link("a") + include + joint("j", "fixed", "a", "left::palm") + HOLD
    write(tmp_path, sdf(text.format("hand")), "near.sdf")
    write(tmp_path, sdf(text.format("model://hand")), "robot/model.sdf")
    for path, packages in ((tmp_path / "near.sdf", []), (tmp_path / "robot" / "model.sdf", [tmp_path])):
        robot = import_robot(path, packages).mechanism
        assert [b.name for b in robot.bodies] == ["a", "left::palm", "left::tip"]
        np.testing.assert_allclose(robot.bodies[2].pose.position, [0, 1, 1])
        assert only(robot, "left::bend").type == "revolute"


def test_a_merged_models_things_stand_in_the_model_around_it(tmp_path: Path) -> None:
    tip = '<model name="end"><pose>0 0 2 0 0 0</pose>' + link("tip") + "</model>"
    bend = joint("bend", "revolute", "palm", "end::tip", axis("0 1 0", expressed_in="__model__"))
    write(tmp_path, sdf(link("palm", "0 0 1 0 0 0") + tip + bend + '<frame name="f"/>', name="hand"), "hand.sdf")
    write(tmp_path, sdf('<include merge="1"><uri>hand.sdf</uri></include>', name="arm"), "arm.sdf")
    text = link("a") + '<include merge="true"><uri>arm.sdf</uri><pose>0 5 0 0 0 1</pose></include>'
    robot = load_robot(write(tmp_path, sdf(text + joint("j", "revolute", "a", "palm", axis("1 0 0")) + HOLD)))
    assert [body.name for body in robot.bodies] == ["a", "palm", "end::tip"]
    np.testing.assert_allclose(
        [body.pose.position for body in robot.bodies], [(0, 0, 0), (0, 5, 1), (0, 5, 2)], atol=1e-12
    )
    assert [joint.name for joint in robot.joints] == ["bend", "j", "hold"]
    np.testing.assert_allclose(only(robot, "bend").axis, (-np.sin(1), np.cos(1), 0), atol=1e-12)
    assert [(frame.name, frame.body) for frame in robot.frames] == [
        ("f", "palm")
    ]  # it is attached to the merged model's first link


def test_a_merged_models_things_keep_the_merged_name_where_theirs_is_taken(tmp_path: Path) -> None:
    write(
        tmp_path,
        sdf(link("a") + link("tip") + joint("j", "revolute", "a", "tip", axis("1 0 0")), name="hand"),
        "hand.sdf",
    )
    text = '<include merge="true"><uri>hand.sdf</uri></include>' + link("a") + HOLD + joint("k", "fixed", "a", "tip")
    robot = load_robot(write(tmp_path, sdf(text)))
    assert [b.name for b in robot.bodies] == ["_merged__hand__::a", "tip", "a"]
    assert (only(robot, "j").parent, only(robot, "hold").child) == ("_merged__hand__::a", "a")


@pytest.mark.parametrize(
    ("of_include", "of_model", "fixed"), [("true", "", True), ("1", "0", True), ("", "true", True), ("0", "1", False)]
)
@pytest.mark.parametrize("merge", ["", ' merge="true"'])
def test_what_includes_a_model_says_whether_it_is_static(
    of_include: str, of_model: str, fixed: bool, merge: str, tmp_path: Path
) -> None:
    write(tmp_path, sdf(f"<static>{of_model}</static>" + link("palm"), name="hand"), "hand.sdf")
    text = f"<include{merge}><uri>hand.sdf</uri><static>{of_include}</static></include>"
    assert load_robot(write(tmp_path, sdf(text))).is_grounded == fixed


def test_a_floor_beside_the_robot_is_no_part_of_it(tmp_path: Path) -> None:
    """Its mass would count in the robot's centre of mass."""
    floor = '<model name="floor"><static>true</static>' + link("plane") + "</model>"
    arm = (
        '<model name="arm">'
        + link("a")
        + link("b")
        + HOLD
        + joint("j", "revolute", "a", "b", axis("1 0 0"))
        + "</model>"
    )
    imported = import_robot(write(tmp_path, f'<sdf version="1.9"><world name="w">{floor}{arm}</world></sdf>'))
    assert [b.name for b in imported.mechanism.bodies] == ["arm::a", "arm::b"]
    assert imported.warnings == ("floor::plane: no joint ties it to the robot, so it was left out",)
    alone = load_robot(write(tmp_path, f'<sdf version="1.9"><world name="w">{floor}</world></sdf>'))
    assert [b.name for b in alone.bodies] == ["floor::plane"] and alone.is_grounded


def test_a_model_that_is_not_there_is_named_where_it_is_missed(tmp_path: Path) -> None:
    text = sdf(link("a") + "<include><uri>model://gripper</uri></include>" + joint("j", "fixed", "a", "gripper::base"))
    with pytest.raises(
        FormatError, match=r"nothing is called 'gripper::base'; .*; model://gripper could not be included"
    ):
        load_robot(write(tmp_path, text))


def test_models_are_included_wherever_the_file_is_named_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "robots", sdf(link("b"), name="hand"), "hand.sdf")
    hold = "<include><uri>hand.sdf</uri></include>" + joint("j", "fixed", "a", "hand::b")
    write(tmp_path / "robots", sdf(link("a") + hold))
    monkeypatch.chdir(tmp_path)
    assert [b.name for b in load_robot("robots/model.sdf").bodies] == ["a", "hand::b"]


def test_of_several_models_the_first_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    text = sdf(link("a")).replace("</model>", '</model><model name="other">' + link("b") + "</model>")
    imported = import_robot(write(tmp_path, text))
    assert imported.warnings == ("model 'other': only the file's first model is read, so it was left out",)
