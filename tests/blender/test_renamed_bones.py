"""Bones that are renamed: what follows them goes on."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def mapped() -> tuple[bpy.types.Object, bpy.types.Object]:
    """The walker, following the bones of a walking rig by Auto-Map."""
    rig, root = scenes.walking_rig(), scenes.import_robot("walker")
    root.robik.robot.character.rig = rig
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    return root, rig


def followed(root: bpy.types.Object) -> dict[str, str]:
    return {target.frame: target.bone for target in root.robik.robot.character.targets}


def test_a_renamed_bone_is_followed() -> None:
    root, rig = mapped()
    before = followed(root)
    rig.data.bones["Foot.L"].name = "ankle.left"
    bpy.context.view_layer.update()
    assert followed(root) == {f: b.replace("Foot.L", "ankle.left") for f, b in before.items()} != before
    assert bpy.ops.robik.bake() == {"FINISHED"}


def test_all_bones_renamed_at_once_in_edit_mode_and_a_new_one_among_them_are_followed() -> None:
    root, rig = mapped()
    before = followed(root)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    added = rig.data.edit_bones.new("A prop")
    added.head, added.tail = (1.0, 0.0, 0.0), (1.0, 0.0, 0.1)
    for bone in rig.data.edit_bones:
        bone.name = f"mixamorig:{bone.name}"
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert followed(root) == {frame: f"mixamorig:{bone}" for frame, bone in before.items()}


def test_bones_renamed_while_nobody_looked_are_followed_in_a_file_that_is_opened(tmp_path: Path) -> None:
    root, rig = mapped()
    rig.data.bones["Foot.L"].name = "ankle.left"  # no update: the file is saved as it is
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    root = bpy.context.scene.robik.robot
    assert "ankle.left" in followed(root).values()
    assert "Foot.L" not in followed(root).values()


def test_a_deleted_bone_is_not_confused_with_another() -> None:
    root, rig = mapped()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["Foot.L"])
    added = rig.data.edit_bones.new("Hat")
    added.head, added.tail = (0.0, 0.0, 1.5), (0.0, 0.0, 1.7)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert "Foot.L" in followed(root).values()
    with pytest.raises(RuntimeError, match=r"'Foot.L', which 'Rig' does not have"):
        bpy.ops.robik.bake()


def test_bones_at_one_place_are_told_apart_by_their_place_in_the_list() -> None:
    renamed = installed.module("scene.character.renaming").renamed
    here, there = [0.0, 0.0, 1.0, 0.0, 0.0, 1.2], [0.0, 0.0, 0.5, 0.0, 0.0, 0.7]
    before = [["ORG-hand", *here], ["DEF-hand", *here], ["foot", *there]]
    assert renamed(before, [["ORG-palm", *here], ["DEF-palm", *here], ["foot", *there]]) == {
        "ORG-hand": "ORG-palm",
        "DEF-hand": "DEF-palm",
    }
    assert renamed(before, [["ORG-palm", *here], ["DEF-palm", *here]]) == {}  # which of them is anybody's guess
