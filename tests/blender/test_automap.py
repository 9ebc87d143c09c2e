"""Mapping a character at once: by names, by presets, by what is selected; and the ways to fit it."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik import robots

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def mapped(root: bpy.types.Object) -> dict[str, str]:
    return {t.frame: t.bone or t.source.name for t in root.robik.robot.character.targets}


def walker_and_rig() -> tuple[bpy.types.Object, bpy.types.Object]:
    return scenes.import_robot("walker"), scenes.walking_rig()


def test_names_map_and_fit_and_bake() -> None:
    root, rig = walker_and_rig()
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    assert mapped(root) == {"pelvis": "Hips", "foot_l": "Foot.L", "foot_r": "Foot.R"}
    character = root.robik.robot.character
    assert character.rig == rig
    assert 0.2 < character.scale < 0.6
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert root.robik.robot.result.frames == 24


def test_mapping_again_keeps_weights_and_what_is_not_mapped() -> None:
    root, _ = walker_and_rig()
    bpy.ops.robik.auto_map()
    targets = root.robik.robot.character.targets
    targets[1].weight = 0.25
    extra = scenes.empty("extra", np.zeros((1, 3)))
    scenes.follow(extra, "torso")
    bpy.ops.robik.auto_map(fit=False)
    assert mapped(root) == {"pelvis": "Hips", "foot_l": "Foot.L", "foot_r": "Foot.R", "torso": "extra"}
    assert targets[1].weight == 0.25


def test_what_cannot_be_fitted_is_mapped_all_the_same_and_can_be_undone() -> None:
    root, _ = walker_and_rig()
    bpy.ops.robik.add_target(frame="torso")
    root.robik.robot.character.targets[0].source = None
    bpy.ops.ed.undo_push(message="A target that follows nothing")
    assert bpy.ops.robik.auto_map("EXEC_DEFAULT", True) == {"FINISHED"}
    assert mapped_frames(root) == ["torso", "pelvis", "foot_l", "foot_r"]
    bpy.ops.ed.undo()
    assert mapped_frames(bpy.context.scene.robik.robot) == ["torso"]


def mapped_frames(root: bpy.types.Object) -> list[str]:
    return [t.frame for t in root.robik.robot.character.targets]


def test_pairs_can_be_given() -> None:
    root, _ = walker_and_rig()
    pairs = [
        {"name": "pelvis", "followed": "Hips", "use": True},
        {"name": "foot_l", "followed": "Shin.L", "use": True},
        {"name": "foot_r", "followed": "x", "use": False},
    ]
    assert bpy.ops.robik.auto_map(pairs=pairs, fit=False) == {"FINISHED"}
    assert mapped(root) == {"pelvis": "Hips", "foot_l": "Shin.L"}
    for wrong, says in (
        ({"name": "nose", "followed": "Hips", "use": True}, "no frame 'nose'"),
        ({"name": "foot_r", "followed": "Tail", "use": True}, "'Tail'.*no such bone"),
    ):
        with pytest.raises(RuntimeError, match=says):
            bpy.ops.robik.auto_map(pairs=[wrong])
    assert mapped(root) == {"pelvis": "Hips", "foot_l": "Shin.L"}


def test_plus_gives_what_auto_map_would_give() -> None:
    root, rig = walker_and_rig()
    bpy.ops.robik.auto_map(fit=False)
    targets = root.robik.robot.character.targets
    mapped_rows = {t.bone: (t.frame, t.weight, tuple(t.position_weight), tuple(t.orientation_weight)) for t in targets}
    targets.clear()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ("Foot.R", "Hips"):
        rig.data.bones.active = rig.data.bones[bone]
        assert bpy.ops.robik.add_target() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    by_hand = {t.bone: (t.frame, t.weight, tuple(t.position_weight), tuple(t.orientation_weight)) for t in targets}
    assert by_hand == {bone: mapped_rows[bone] for bone in ("Foot.R", "Hips")}
    assert by_hand["Foot.R"][0] == "foot_r"


def test_recording_maps(shared_data: Path) -> None:
    root = scenes.import_robot("walker")
    bpy.ops.import_anim.bvh(filepath=str(shared_data / "bvh" / "standard_skeleton.bvh"))
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    assert mapped(root) == {"pelvis": "Hips", "foot_l": "LeftFoot", "foot_r": "RightFoot"}


def test_objects_map_by_their_names() -> None:
    root = scenes.import_robot("walker")
    holder = scenes.empty("dancer", np.zeros((1, 3)))
    for name in ("Pelvis", "LeftFoot", "RightFoot"):
        scenes.empty(name, np.zeros((1, 3))).parent = holder
    root.robik.robot.character.rig = holder
    assert bpy.ops.robik.auto_map(fit=False) == {"FINISHED"}
    assert mapped(root) == {"pelvis": "Pelvis", "foot_l": "LeftFoot", "foot_r": "RightFoot"}


def test_without_a_clear_rig_it_says_so() -> None:
    root = scenes.import_robot("walker")
    with pytest.raises(RuntimeError, match="no armature in this scene"):
        bpy.ops.robik.auto_map()
    scenes.walking_rig("A")
    scenes.walking_rig("B")
    bpy.context.view_layer.objects.active = root
    with pytest.raises(RuntimeError, match="there are A, B"):
        bpy.ops.robik.auto_map()
    bpy.ops.object.armature_add()
    root.robik.robot.character.rig = single = bpy.context.object
    single.name = "Single"
    with pytest.raises(RuntimeError, match="neither names nor shape of 'Single'"):
        bpy.ops.robik.auto_map()


def test_shape_tells_what_names_do_not() -> None:
    root, rig = walker_and_rig()
    thighs = {side: rig.data.bones[f"Thigh.{side}"] for side in "LR"}
    feet = {side: rig.data.bones[f"Foot.{side}"] for side in "LR"}
    for bone in rig.data.bones:
        bone.name = "x"
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    hips = thighs["L"].parent.name
    assert mapped(root) == {"pelvis": hips, "foot_l": feet["L"].name, "foot_r": feet["R"].name}


def test_preset_is_a_file_that_brings_the_mapping_to_another_scene() -> None:
    root, _ = walker_and_rig()
    bpy.ops.robik.auto_map()
    target = root.robik.robot.character.targets[1]
    target.weight, target.position_weight, target.offset_location = 0.5, (1.0, 0.25, 0.0), (0.0, 0.5, 0.0)
    other = scenes.empty("prop", np.zeros((1, 3)))
    scenes.follow(other, "torso")
    assert bpy.ops.robik.mapping_preset_add(name="My walker") == {"FINISHED"}
    file = bpy.utils.preset_find("My_walker", "robik/mapping")
    assert Path(file).parent.name == "mapping"
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    root, rig = walker_and_rig()
    scenes.empty("prop", np.zeros((1, 3)))
    assert bpy.ops.robik.load_mapping(filepath=file) == {"FINISHED"}
    assert mapped(root) == {"pelvis": "Hips", "foot_l": "Foot.L", "foot_r": "Foot.R", "torso": "prop"}
    loaded = root.robik.robot.character.targets[1]
    assert (loaded.source, loaded.weight) == (rig, 0.5)
    assert tuple(loaded.position_weight) == (1.0, 0.25, 0.0)
    assert tuple(loaded.offset_location) == (0.0, 0.5, 0.0)
    assert bpy.ops.robik.mapping_preset_add(name="My walker", remove_name=True) == {"FINISHED"}
    assert not Path(file).exists()
    with pytest.raises(RuntimeError, match=r"there is no preset '.*My_walker.py'; choose a file"):
        bpy.ops.robik.load_mapping(filepath=file)


def test_preset_from_elsewhere_is_loaded_and_what_does_not_suit_is_said(tmp_path: Path) -> None:
    root, _ = walker_and_rig()
    bpy.ops.robik.auto_map()
    panel = installed.module("panels.character.mapping")

    def status(robot: bpy.types.Object) -> tuple[str, str]:
        return panel._status(robot, panel._frames(robot), bpy.context)

    bpy.ops.robik.mapping_preset_add(name="Mine")
    file = Path(bpy.utils.preset_find("Mine", "robik/mapping")).rename(tmp_path / "from a friend.py")
    root.robik.robot.character.targets.clear()
    assert bpy.ops.robik.load_mapping("INVOKE_DEFAULT", filepath=str(file)) == {"FINISHED"}
    assert mapped(root) == {"pelvis": "Hips", "foot_l": "Foot.L", "foot_r": "Foot.R"}
    assert status(root)[1] == "CHECKMARK"
    boxer = scenes.import_robot("boxer")
    assert bpy.ops.robik.load_mapping(filepath=str(file)) == {"FINISHED"}
    assert status(boxer) == (
        "The robot has no frame 'pelvis' to follow Rig › Hips: choose another, or switch that target off",
        "ERROR",
    )
    file.write_text("nonsense(")
    with pytest.raises(RuntimeError, match="no preset of a mapping"):
        bpy.ops.robik.load_mapping(filepath=str(file))


def test_source_from_the_selection() -> None:
    root, rig = walker_and_rig()
    bpy.ops.robik.auto_map(fit=False)
    root.robik.robot.character.active = 1
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones["Shin.L"]
    assert bpy.ops.robik.choose_source() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert mapped(root)["foot_l"] == "Shin.L"
    bpy.context.view_layer.objects.active = root
    with pytest.raises(RuntimeError, match="nothing to follow is selected"):
        bpy.ops.robik.choose_source()


def first_poses(root: bpy.types.Object) -> dict[str, np.ndarray]:
    """Where the clip's first sample wants the frames."""
    from tests.blender.test_mapping import clip

    return {name: track.position[0] for name, track in clip(root).tracks.items()}


def rest_position(frame: str) -> np.ndarray:
    mechanism = robots.load("walker")
    found = mechanism.frame(frame)
    return np.array((mechanism.bodies[mechanism.body_index[found.body]].pose @ found.pose).position)


def test_fit_by_height_is_robot_against_character() -> None:
    root, rig = walker_and_rig()
    rig.scale = (2, 2, 2)
    bpy.context.view_layer.update()
    character = root.robik.robot.character
    character.fit_by = "HEIGHT"
    bpy.ops.robik.auto_map()
    shown = [v for v in root.children_recursive if v.robik.kind == "VISUAL"]
    heights = [(v.matrix_world @ vertex.co).z for v in shown for vertex in v.data.vertices]
    assert character.scale == pytest.approx(
        np.ptp(heights) / 2.5, rel=0.05
    )  # 1.25 m of bones, doubled; boxes around rounded parts


def test_exact_fit_changes_nothing() -> None:
    root = scenes.squats(frames=3)
    character = root.robik.robot.character
    character.scale, character.yaw, character.stride, character.fit_by = 2.0, 1.0, 3.0, "EXACT"
    character.targets[0].offset_location = (1, 2, 3)
    assert bpy.ops.robik.fit_character() == {"FINISHED"}
    for name, position in first_poses(root).items():
        assert position == pytest.approx(rest_position(name), abs=1e-6)


@pytest.mark.one_blender
def test_stride_lengthens_the_way_and_nothing_else() -> None:
    root, rig = walker_and_rig()
    bpy.context.scene.frame_end = 2
    for frame, x in ((1, 0.0), (2, 1.0)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    ways = []
    for stride in (1.0, 2.0):
        root.robik.robot.character.stride = stride
        bpy.ops.robik.auto_map()
        from tests.blender.test_mapping import clip

        tracks = clip(root).tracks
        ways.append(tracks["pelvis"].position[1] - tracks["pelvis"].position[0])
        apart = tracks["foot_l"].position[0] - tracks["foot_r"].position[0]
        assert abs(apart[:2]).max() == pytest.approx(
            abs(rest_position("foot_l") - rest_position("foot_r"))[:2].max(), abs=0.03
        )
    assert ways[1][0] == pytest.approx(2 * ways[0][0], rel=5e-3)


@pytest.mark.one_blender
def test_a_turned_walk_goes_another_way_from_where_the_robot_stands() -> None:
    root, rig = walker_and_rig()
    bpy.context.scene.frame_end = 2
    for frame, x in ((1, 5.0), (2, 6.0)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    character = root.robik.robot.character
    ways, starts = [], []
    for yaw in (0.0, np.pi / 2):
        character.yaw = yaw
        bpy.ops.robik.auto_map()
        from tests.blender.test_mapping import clip

        assert character.yaw == pytest.approx(yaw)
        tracks = clip(root).tracks
        starts.append(np.mean([track.position[0] for track in tracks.values()], axis=0))
        ways.append(tracks["pelvis"].position[1] - tracks["pelvis"].position[0])
    assert ways[1] == pytest.approx([-ways[0][1], ways[0][0], ways[0][2]], abs=1e-6)
    assert ways[0][0] > 0.2
    assert starts[1] == pytest.approx(starts[0], abs=1e-6)
    assert np.abs(starts[0][:2]).max() < 0.02


def test_match_rest_aligns_rest_poses_at_any_time() -> None:
    root, _ = walker_and_rig()
    bpy.ops.robik.auto_map()
    fitted = {t.frame: np.array(t.offset_rotation) for t in root.robik.robot.character.targets}
    bpy.context.scene.frame_set(6)
    for target in root.robik.robot.character.targets:
        target.offset_rotation = (0.5, 0.5, 0.5, 0.5)
    assert bpy.ops.robik.match_now(poses="REST") == {"FINISHED"}
    for target in root.robik.robot.character.targets:
        assert abs(np.array(target.offset_rotation) @ fitted[target.frame]) == pytest.approx(1.0, abs=1e-3)
