"""What is no sole: the cubes that stand for meshes which may not be read, and what is below a robot that lies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.feet.sole_turns import ground_height
from robik.formats import load_robot
from robik.kinematics.mobility import inspect
from robik.skeleton.feet import missing_feet, on_its_feet
from robik.skeleton.mapping import Row
from robik.skeleton.shapes import shapes_of

FOOT = {
    "box": '<box size="0.2 0.08 0.03"/>',
    "a mesh that leads out of the folder": '<mesh filename="../elsewhere/foot.stl"/>',
}


def urdf(foot: str, mass: str = "", turned: str = "0 0 0") -> str:
    links, joints = ['<link name="root"/>', f'<link name="pelvis">{mass}</link>'], []
    joints.append(
        '<joint name="up" type="fixed"><parent link="root"/><child link="pelvis"/>'
        f'<origin xyz="0 0 0" rpy="{turned}"/></joint>'
    )
    for side, y in (("left", 0.1), ("right", -0.1)):
        for name, parent, z in (
            ("thigh", "pelvis", -0.02),
            ("shin", f"{side}_thigh", -0.4),
            ("foot", f"{side}_shin", -0.4),
        ):
            shape = f"<visual><geometry>{foot}</geometry></visual>" if name == "foot" else ""
            links.append(f'<link name="{side}_{name}">{shape}</link>')
            joints.append(
                f'<joint name="{side}_{name}_pitch" type="revolute"><parent link="{parent}"/>'
                f'<child link="{side}_{name}"/><origin xyz="0 {y if parent == "pelvis" else 0} {z}"/>'
                '<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>'
            )
    return f'<robot name="biped">{"".join(links)}{"".join(joints)}</robot>'


@pytest.mark.parametrize("kind", FOOT)
def test_only_shapes_of_its_own_give_a_robot_soles(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "robot" / "biped.urdf"
    file.parent.mkdir()
    file.write_text(urdf(FOOT[kind]))
    robot = load_robot(file)
    found = on_its_feet(robot, shapes_of(robot, file))
    assert [frame.name for frame in found.frames if frame.is_foot] == (["foot_l", "foot_r"] if kind == "box" else [])


FLOATING = (
    '<joint name="up" type="fixed"><parent link="root"/>',
    '<joint name="up" type="floating"><parent link="world"/>',
)


@pytest.mark.parametrize(("by", "floats"), [(0.0, False), (1.2, False), (0.83, False), (0.0, True), (1.2, True)])
def test_a_robot_without_a_place_stands_on_the_ground(tmp_path: Path, by: float, floats: bool) -> None:
    """A URDF's root is the origin, mostly in the hips: motions of the robot would have their ground far below.

    As Hi's, which has a floating joint there.
    """
    file = tmp_path / "biped.urdf"
    text = urdf(FOOT["box"]).replace('<origin xyz="0 0 0"', f'<origin xyz="0 0 {by}"')
    file.write_text(text.replace(*FLOATING).replace('"root"', '"world"') if floats else text)
    robot = load_robot(file)
    found = on_its_feet(robot, shapes_of(robot, file))
    assert robot.is_grounded != floats and not found.is_grounded
    assert ground_height(found) == pytest.approx(0.0, abs=1e-12)
    rise = 0.02 + 0.4 + 0.4 + 0.015 - by
    for body, before in zip(found.bodies, robot.bodies, strict=True):
        assert np.subtract(body.pose.position, before.pose.position) == pytest.approx([0.0, 0.0, rise], abs=1e-12)
        assert body.pose.quaternion == before.pose.quaternion
    for joint in found.joints:
        before = next(j for j in robot.joints if j.name == joint.name)
        assert np.subtract(joint.position, before.position) == pytest.approx([0.0, 0.0, rise], abs=1e-12)
    held = inspect(found)
    assert held.closure_residual < 1e-12
    assert len(held.actuators) == 6


@pytest.mark.parametrize(
    ("turned", "lies"), [("0 0 0", False), ("0.3 0.3 0", False), ("1.5708 0 0", True), ("0 -1.5708 0", True)]
)
def test_a_robot_that_lies_in_its_rest_pose_has_no_soles_and_is_told_so(
    tmp_path: Path, turned: str, lies: bool
) -> None:
    """As Bullet's humanoid, whose file has y upwards: the backs of its feet were taken for soles."""
    mass = '<inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    file = tmp_path / "biped.urdf"
    file.write_text(urdf(FOOT["box"], mass, turned))
    robot = load_robot(file)
    found = on_its_feet(robot, shapes_of(robot, file))
    assert any(frame.is_foot for frame in found.frames) == (not lies)
    rows = [Row(frame=f"{side}_foot", bone="Foot", part="foot") for side in ("left", "right")]
    assert ("lies in its rest pose" in missing_feet(found, rows)) == lies


@pytest.mark.parametrize(("height", "rise"), [(-0.025, 0.02), (0.1, 0.0)], ids=["cleats below", "a bracket above"])
def test_what_is_fixed_below_a_foot_is_what_it_stands_on(tmp_path: Path, height: float, rise: float) -> None:
    """As Wolfgang, whose cleats are bodies of their own: it stood 10 mm in the ground."""
    fixed = "".join(
        f'<link name="{side}_{k}"><visual><geometry><box size="0.02 0.03 0.02"/></geometry></visual></link>'
        f'<joint name="{side}_{k}_fixed" type="fixed"><parent link="{side}_foot"/><child link="{side}_{k}"/>'
        f'<origin xyz="{0.08 * (1 - 2 * (k % 2))} {0.02 * (1 - 2 * (k // 2))} {height}"/></joint>'
        for side in ("left", "right")
        for k in range(4)
    )
    file = tmp_path / "biped.urdf"
    file.write_text(urdf(FOOT["box"]).replace("</robot>", f"{fixed}</robot>"))
    robot = load_robot(file)
    sole = np.array(on_its_feet(robot, shapes_of(robot, file)).frame("foot_l").sole)
    assert sole[:, 2] == pytest.approx(-0.015 - rise, abs=1e-9)
    assert np.ptp(sole[:, 0]) == pytest.approx(0.18 if rise else 0.2, abs=1e-9)


def test_a_robot_that_floats_a_little_above_the_ground_rests_on_it(tmp_path: Path) -> None:
    """As MJCFs have robots, by 15 mm and more: their motions hovered in MuJoCo, or stood in the floor."""
    file = tmp_path / "biped.urdf"
    text = urdf(FOOT["box"]).replace('<origin xyz="0 0 0"', '<origin xyz="0 0 0.84"')
    file.write_text(text.replace(*FLOATING).replace('"root"', '"world"'))
    robot = load_robot(file)
    found = on_its_feet(robot, shapes_of(robot, file))
    assert ground_height(found) == pytest.approx(0.0, abs=1e-9)
    down = np.array(robot.bodies[0].pose.position) - np.array(found.bodies[0].pose.position)
    assert down == pytest.approx([0.0, 0.0, 0.005], abs=1e-9)
