"""Feet whose meshes may not be read: the cubes that stand for them are no soles."""

from __future__ import annotations

from pathlib import Path

import pytest

from robik.formats import load_robot
from robik.skeleton.feet import on_its_feet
from robik.skeleton.shapes import shapes_of

FOOT = {
    "box": '<box size="0.2 0.08 0.03"/>',
    "a mesh that leads out of the folder": '<mesh filename="../elsewhere/foot.stl"/>',
}


def urdf(foot: str) -> str:
    links, joints = ['<link name="pelvis"/>'], []
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
