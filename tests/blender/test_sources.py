"""What a target follows may be moved by anything: what Blender evaluates is what counts, whether sampled alone or with
its whole scene."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES = np.array([1.0, 3.0, 7.5, 12.0])


def sample(*sources: tuple[bpy.types.Object, str]) -> np.ndarray:
    """Positions (T, sources, 3) by the add-on's sampling."""
    scenes.import_robot("walker")
    for (source, bone), frame in zip(sources, ("pelvis", "foot_l", "foot_r"), strict=False):
        scenes.follow(source, frame, bone)
    targets = bpy.context.scene.robik.robot.robik.robot.character.targets
    module = installed.module("scene.character.sampling")
    return installed.module("robik.steps").finish(module.sample_sources(bpy.context, targets, [], FRAMES))[0]


def evaluated(source: bpy.types.Object, bone: str = "") -> np.ndarray:
    """Positions (T, 3) as the whole scene shows them."""
    seen = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        found = source.evaluated_get(bpy.context.evaluated_depsgraph_get())
        seen.append(
            (found.matrix_world @ found.pose.bones[bone].matrix if bone else found.matrix_world).translation.copy()
        )
    bpy.context.scene.frame_set(1)
    return np.array(seen)


def driven() -> bpy.types.Object:
    """By another object, and by the frame."""
    leader = scenes.empty("leader", np.column_stack([np.arange(12.0), np.zeros(12), np.zeros(12)]))
    made = scenes.empty("driven", np.zeros((1, 3)))
    made.animation_data_clear()
    curve = made.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.name, variable.type = "x", "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].transform_type = leader, "LOC_X"
    curve.driver.expression = "2 * x + 0.1 * frame"
    return made


def driven_by_scene() -> bpy.types.Object:
    made = scenes.empty("driven by scene", np.zeros((1, 3)))
    made.animation_data_clear()
    curve = made.driver_add("location", 1)
    variable = curve.driver.variables.new()
    variable.name = "f"
    variable.targets[0].id_type, variable.targets[0].id, variable.targets[0].data_path = (
        "SCENE",
        bpy.context.scene,
        "frame_current",
    )
    curve.driver.expression = "0.1 * f"
    return made


def in_nla() -> bpy.types.Object:
    made = scenes.empty("in NLA", np.column_stack([np.zeros(12), np.arange(12.0), np.zeros(12)]))
    data = made.animation_data
    strip = data.nla_tracks.new().strips.new("strip", 3, data.action)
    if hasattr(strip, "action_slot") and strip.action_slot is None:
        strip.action_slot = data.action.slots[0]
    strip.scale, data.action = 0.5, None
    return made


def parented() -> bpy.types.Object:
    """To a bone, through a scaled object in a collection that is hidden."""
    rig = scenes.walking_rig("Carrier rig", frames=12)
    rig.scale = (2, 1, 0.5)
    made = scenes.empty("parented", np.column_stack([np.zeros(12), np.zeros(12), np.arange(12.0) * 0.1]))
    made.parent, made.parent_type, made.parent_bone = rig, "BONE", "Shin.L"
    hidden = bpy.data.collections.new("hidden")
    bpy.context.scene.collection.children.link(hidden)
    hidden.hide_viewport = True
    hidden.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    return made


def constrained() -> bpy.types.Object:
    """On a path, looking at something."""
    curve = bpy.data.curves.new("path", "CURVE")
    spline = curve.splines.new("POLY")
    spline.points.add(2)
    for point, co in zip(spline.points, ((0, 0, 0, 1), (1, 1, 0, 1), (1, 1, 2, 1)), strict=True):
        point.co = co
    path = bpy.data.objects.new("path", curve)
    bpy.context.scene.collection.objects.link(path)
    made = scenes.empty("on path", np.zeros((1, 3)))
    made.animation_data_clear()
    follows = made.constraints.new("FOLLOW_PATH")
    follows.target, follows.use_fixed_location = path, True
    for frame, offset in ((1, 0.0), (12, 1.0)):
        follows.offset_factor = offset
        follows.keyframe_insert("offset_factor", frame=frame)
    return made


@pytest.mark.parametrize("make", [driven, driven_by_scene, in_nla, parented, constrained])
def test_what_is_sampled_is_what_is_seen(make: object) -> None:
    source = make()  # type: ignore[operator]
    bpy.context.view_layer.update()
    wanted = evaluated(source)
    scenes_before = len(bpy.data.scenes)
    assert sample((source, ""))[:, 0] == pytest.approx(wanted, abs=1e-6)
    assert np.ptp(wanted, axis=0).max() > 0.05  # it did move
    assert len(bpy.data.scenes) == scenes_before
    assert bpy.context.scene.frame_current == 1


def test_ik_to_something_that_moves() -> None:
    rig = scenes.walking_rig(frames=12)
    goal = scenes.empty("goal", np.column_stack([np.full(12, 0.1), np.linspace(0, -0.4, 12), np.full(12, 0.3)]))
    solver = rig.pose.bones["Shin.L"].constraints.new("IK")
    solver.target, solver.chain_count = goal, 2
    rig.pose.bones["Foot.R"].constraints.new("COPY_LOCATION").target = goal
    wanted = [evaluated(rig, "Foot.L"), evaluated(rig, "Foot.R")]
    found = sample((rig, "Hips"), (rig, "Foot.L"), (rig, "Foot.R"))
    assert found[:, 1] == pytest.approx(wanted[0], abs=1e-6)
    assert found[:, 2] == pytest.approx(wanted[1], abs=1e-6)


def test_handlers_of_others_are_heeded() -> None:
    made = scenes.empty("handled", np.zeros((1, 3)))
    made.animation_data_clear()

    def move(scene: bpy.types.Scene, _depsgraph: object) -> None:
        made.location.x = 0.5 * scene.frame_current

    bpy.app.handlers.frame_change_pre.append(move)
    try:
        assert sample((made, ""))[:, 0, 0] == pytest.approx(0.5 * np.floor(FRAMES))
    finally:
        bpy.app.handlers.frame_change_pre.remove(move)


def test_library_overrides(tmp_path: Path) -> None:
    rig = scenes.walking_rig("Hero", frames=12)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "hero.blend"), link=True) as (_, into):
        into.objects = ["Hero"]
    bpy.context.scene.collection.objects.link(linked := into.objects[0])
    rig = linked.override_create(remap_local_usages=True)
    rig.location.x = 3.0
    turn = rig.pose.bones["Hips"]
    turn.rotation_mode = "XYZ"
    turn.rotation_euler.x = 0.5
    bpy.context.view_layer.update()
    wanted = evaluated(rig, "Foot.L")
    assert sample((rig, "Hips"), (rig, "Foot.L"))[:, 1] == pytest.approx(wanted, abs=1e-6)
    assert wanted[0, 0] > 2.5
    assert np.ptp(wanted, axis=0).max() > 0.05


def off(rig: bpy.types.Object) -> None:
    rig.hide_viewport = True


def in_excluded_collection(rig: bpy.types.Object) -> None:
    left_out = bpy.data.collections.new("left out")
    bpy.context.scene.collection.children.link(left_out)
    left_out.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    bpy.context.view_layer.layer_collection.children["left out"].exclude = True


def in_disabled_collection(rig: bpy.types.Object) -> None:
    in_excluded_collection(rig)
    bpy.context.view_layer.layer_collection.children["left out"].exclude = False
    bpy.data.collections["left out"].hide_viewport = True


@pytest.mark.parametrize("hide", [off, in_excluded_collection, in_disabled_collection])
def test_what_blender_lets_stand_still_is_named(hide: object) -> None:
    rig = scenes.walking_rig(frames=12)
    driven_by_scene()  # so that the whole scene is sampled
    root = scenes.import_robot("walker")
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    hide(rig)  # type: ignore[operator]
    bpy.context.view_layer.update()
    for name in ("bake", "fit_character", "match_now"):
        with pytest.raises(
            RuntimeError, match=r"'pelvis' follows 'Rig', which stands still while .* disabled in viewports or excluded"
        ):
            getattr(bpy.ops.robik, name)()
    follow = installed.module("scene.bake.follow")
    assert not follow.step(root, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), 0.02)
    assert "stands still" in follow.problem(root)


@pytest.mark.parametrize("whole", [False, True])
def test_what_only_the_eye_hides_is_followed(whole: bool) -> None:
    rig = scenes.walking_rig(frames=12)
    if whole:
        driven_by_scene()
    wanted = evaluated(rig, "Foot.L")
    rig.hide_set(True)
    assert sample((rig, "Hips"), (rig, "Foot.L"))[:, 1] == pytest.approx(wanted, abs=1e-6)
    assert bpy.ops.robik.match_now() == {"FINISHED"}


def test_an_excluded_collection_is_sampled_by_itself() -> None:
    rig = scenes.walking_rig(frames=12)
    wanted = evaluated(rig, "Foot.L")
    in_excluded_collection(rig)
    assert sample((rig, "Hips"), (rig, "Foot.L"))[:, 1] == pytest.approx(wanted, abs=1e-6)
