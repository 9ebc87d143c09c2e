"""A robot whose CAD file has changed: read again in place, with what no longer matches listed."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from bl_ext.user_default.robik.robik.formats import import_robot
from bl_ext.user_default.robik.robik.mechanism import Mechanism
from bl_ext.user_default.robik.scene.importing.robot_file import folders_nearby

from tests.blender import scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def urdf(
    path: Path, hand: str = "hand", wrist: bool = True, reach: float = 2.0, size: float = 0.1, thumb: bool = False
) -> None:
    """An arm: base, upper, lower, hand, and on the side a tail."""
    links = ["base", "upper", "lower", "tail", *([hand] if wrist else []), *(["thumb"] if thumb else [])]
    joints = [("shoulder", "base", "upper", 1.5), ("elbow", "upper", "lower", reach), ("wag", "base", "tail", 1.0)]
    joints += [("wrist", "lower", hand, 1.0)] if wrist else []
    joints += [("grip", hand, "thumb", 1.0)] if thumb else []
    shape = f'<visual><geometry><box size="{size} 0.1 0.3"/></geometry></visual>'
    weight = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    text = "".join(f'<link name="{n}">{shape}{weight}</link>' for n in links)
    text += "".join(
        f'<joint name="{n}" type="revolute"><origin xyz="0 0 0.3"/><parent link="{p}"/><child link="{c}"/><axis xyz="0'
        f' 1 0"/><limit lower="-{r}" upper="{r}" velocity="3" effort="9"/></joint>'
        for n, p, c, r in joints
    )
    path.write_text(f'<robot name="arm">{text}</robot>', encoding="utf-8")


@pytest.fixture
def baked(tmp_path: Path) -> tuple[bpy.types.Object, Path]:
    """The arm, baked after an empty, with a hat on its lower arm, servos set up, and a setting of its own."""
    file = tmp_path / "arm.urdf"
    urdf(file)
    bpy.ops.robik.import_robot(filepath=str(file))
    root = bpy.context.scene.robik.robot
    for frame, height in (("hand", 0.8), ("tail", 0.3)):
        scenes.follow(scenes.empty(f"to {frame}", [(0.1 + 0.01 * k, 0, height) for k in range(5)]), frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 5
    root.robik.robot.bake.samples = 2
    assert bpy.ops.robik.bake() == {"FINISHED"}
    hat = bpy.data.objects.new("hat", None)
    bpy.context.scene.collection.objects.link(hat)
    hat.parent = part(root, "lower")
    return root, file


def part(root: bpy.types.Object, label: str) -> bpy.types.Object:
    return next(p for p in root.children_recursive if p.robik.label == label)


def told(root: bpy.types.Object) -> str:
    return root.robik.robot.report + "\n" + root.robik.robot.warnings


def as_in(file: Path) -> Mechanism:
    return import_robot(file).mechanism


def test_unchanged_file_changes_nothing(baked: tuple[bpy.types.Object, Path]) -> None:
    root, file = baked
    objects, before, values = set(bpy.data.objects), scenes.everything(), dict(root.items())
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert set(bpy.data.objects) == objects
    assert scenes.everything() == before
    assert scenes.read(root) == as_in(file)
    assert {k: root[k] for k in ("shoulder", "elbow")} == {k: values[k] for k in ("shoulder", "elbow")}
    assert root.robik.robot.warnings == ""
    assert "gone" not in told(root) and "changed" not in told(root)


def test_changed_limits_and_looks_are_taken_over_and_the_bake_stays(baked: tuple[bpy.types.Object, Path]) -> None:
    root, file = baked
    hat, action = bpy.data.objects["hat"], root.animation_data.action
    urdf(file, reach=1.0, size=0.2)
    bpy.ops.robik.reload_robot()
    assert scenes.read(root) == as_in(file)
    assert hat.parent == part(root, "lower")
    assert root.animation_data.action == action
    assert [t.frame for t in root.robik.robot.character.targets] == ["hand", "tail"]
    assert root.robik.robot.bake.samples == 2
    assert "changed limits: elbow" in told(root)
    assert "changed looks: base, upper" in told(root)
    assert "bake again" in told(root)
    assert root.id_properties_ui("elbow").as_dict()["max"] == pytest.approx(1.0)


def test_renamed_body_and_removed_joint_are_listed(baked: tuple[bpy.types.Object, Path]) -> None:
    root, file = baked
    urdf(file, hand="gripper")
    bpy.ops.robik.reload_robot()
    assert "bodies that are gone: hand" in told(root)
    assert "new bodies: gripper" in told(root)
    assert "targets whose frame is gone: hand" in told(root)
    assert "baked curves whose body is gone: hand" in told(root)
    assert "wrist" in root  # its motor goes on
    urdf(file, wrist=False)
    hat = bpy.data.objects["hat"]
    hat.parent = part(root, "gripper")
    bpy.ops.robik.reload_robot()
    assert scenes.read(root) == as_in(file)
    assert "motors that are gone: wrist" in told(root)
    assert "baked curves whose motor is gone: wrist" in told(root)
    assert "objects that hung on a part that is gone: hat" in told(root)
    assert "wrist" not in root


def test_servos_that_no_longer_match_are_listed(baked: tuple[bpy.types.Object, Path], tmp_path: Path) -> None:
    from bl_ext.user_default.robik.robik.servo.chain.chain import default_chain
    from bl_ext.user_default.robik.robik.servo.chain.file import save_chain

    root, file = baked
    save_chain(default_chain(("shoulder", "elbow", "wag", "wrist"), {}, {}, robot="arm"), tmp_path / "arm.servos.json")
    bpy.context.scene.robik.servos = str(tmp_path / "arm.servos.json")
    urdf(file, thumb=True)
    bpy.ops.robik.reload_robot()
    assert "motors that no servo drives yet: grip" in told(root)
    urdf(file, wrist=False)
    bpy.ops.robik.reload_robot()
    assert "servos whose motor is gone: wrist" in told(root)
    assert bpy.context.scene.robik.servos == str(tmp_path / "arm.servos.json")


def test_arguments_of_a_xacro_file_are_kept_with_the_robot(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf.xacro"
    text = '<xacro:arg name="name"/><link name="$(arg name)"/><link name="hand"/>'
    text += (
        '<joint name="j" type="continuous"><parent link="$(arg name)"/><child link="hand"/><axis xyz="0 0 1"/></joint>'
    )
    file.write_text(f'<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">{text}</robot>', encoding="utf-8")
    for arguments, says in (("", "'name' has no default; give it at import"), ("name=arm", "not like name:=value")):
        with pytest.raises(RuntimeError, match=says):
            bpy.ops.robik.import_robot(filepath=str(file), arguments=arguments)
    assert bpy.ops.robik.import_robot(filepath=str(file), arguments="name:='left arm'") == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    assert [b.robik.label for b in scenes.body_objects(root)] == ["left arm", "hand"]
    file.write_text(file.read_text(encoding="utf-8").replace("hand", "fist"), encoding="utf-8")
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert [b.robik.label for b in scenes.body_objects(root)] == ["left arm", "fist"]


def test_broken_file_changes_nothing(baked: tuple[bpy.types.Object, Path]) -> None:
    root, file = baked
    objects, before = set(bpy.data.objects), scenes.read(root)
    file.write_text("<robot", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"arm\.urdf"):
        bpy.ops.robik.reload_robot()
    assert set(bpy.data.objects) == objects
    assert scenes.read(root) == before


@pytest.mark.parametrize("moved", [False, True])
def test_body_made_by_hand_is_carried_along(baked: tuple[bpy.types.Object, Path], moved: bool) -> None:
    """With its mesh and materials, its joint, its motor's value, and what hangs on it; and it moves with the body that
    carries it."""
    root, file = baked
    camera = by_hand(root, "camera")
    mesh, before = camera.data, scenes.read(root)
    root["pan"] = 0.3
    urdf(file)
    if moved:
        file.write_text(
            file.read_text().replace('<origin xyz="0 0 0.3"/>', '<origin xyz="0 0 0.4"/>'), encoding="utf-8"
        )
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    after = scenes.read(root)
    assert (camera.data, camera.parent) == (mesh, part(root, "camera"))
    assert [slot.name for slot in camera.material_slots] == ["Glass"]
    assert root["pan"] == 0.3
    assert "'camera'" not in root.robik.robot.warnings
    if not moved:
        assert after == before
    was, now = (robot.bodies[robot.body_index["camera"]].pose.position for robot in (before, after))
    assert now[2] - was[2] == pytest.approx(0.2 if moved else 0.0, abs=1e-6)  # two joints below it


def test_mesh_made_by_hand_stays_where_the_file_takes_its_body_s_name(baked: tuple[bpy.types.Object, Path]) -> None:
    root, file = baked
    camera = by_hand(root, "thumb")
    where = camera.matrix_world.copy()
    urdf(file, thumb=True)
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert (
        "body 'thumb' was made by hand; the file now has one of that name, which took its place; its mesh was left in"
        " the scene" in told(root)
    )
    assert as_in(file).body_index["thumb"] == scenes.read(root).body_index["thumb"]
    assert (camera.parent, camera.robik.kind) == (None, "NONE")
    assert (camera.matrix_world - where).to_translation().length < 1e-6


def test_mesh_made_by_hand_stays_where_what_carried_it_is_gone(baked: tuple[bpy.types.Object, Path]) -> None:
    root, file = baked
    camera = by_hand(root, "camera")
    text = file.read_text()
    file.write_text(text.replace('"lower"', '"forearm"'), encoding="utf-8")
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert (
        "body 'camera' was made by hand and is gone with what it was tied to; its mesh was left in the scene"
        in told(root)
    )
    assert "joint 'pan' was made by hand and is gone with its body 'camera'" in told(root)
    assert "camera" not in scenes.read(root).body_index
    assert camera.parent is None


def by_hand(root: bpy.types.Object, name: str) -> bpy.types.Object:
    """A cube on the lower arm, as a body that a motor turns."""
    bpy.context.scene.frame_set(1)
    assert bpy.ops.robik.rest_pose() == {"FINISHED"}
    bpy.ops.mesh.primitive_cube_add(size=0.05, location=(0.1, 0, 0.5))
    made, lower = bpy.context.object, part(root, "lower")
    made.name = name
    made.data.materials.append(bpy.data.materials.new("Glass"))
    for other in bpy.context.view_layer.objects:
        other.select_set(other in (made, lower))
    bpy.context.view_layer.objects.active = made
    assert bpy.ops.robik.add_joint(type="revolute", name="pan", actuated=True) == {"FINISHED"}
    return made


def test_packages_that_lie_beside_the_file_are_offered_and_kept(tmp_path: Path) -> None:
    file, meshes = tmp_path / "arm" / "robots" / "arm.urdf", tmp_path / "arm" / "arm_meshes"
    file.parent.mkdir(parents=True)
    meshes.mkdir()
    corners = "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0"
    (meshes / "m.stl").write_text(
        f"solid m\nfacet normal 0 0 1\nouter loop\n{corners}\nendloop\nendfacet\nendsolid m\n"
    )
    mesh = '<visual><geometry><mesh filename="package://arm_meshes/m.stl"/></geometry></visual>'
    file.write_text(f'<robot name="arm"><link name="base">{mesh}</link></robot>', encoding="utf-8")
    bpy.ops.robik.import_robot(filepath=str(file))
    root = bpy.context.scene.robik.robot
    assert "arm_meshes" in root.robik.robot.warnings
    offered = folders_nearby(root)
    assert offered == str(meshes)
    assert bpy.ops.robik.reload_robot(packages=offered) == {"FINISHED"}
    assert root.robik.robot.warnings == ""
    assert any(child.type == "MESH" and len(child.data.vertices) == 3 for child in root.children_recursive)
    assert folders_nearby(root) == ""
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert root.robik.robot.warnings == "", "the folders are kept with the robot"
