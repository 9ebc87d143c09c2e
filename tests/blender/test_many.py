"""Several robots and scenes; robots that are renamed, duplicated, appended, linked: each behaves as any other object
does."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes
from tests.blender.test_bakes import lower, slider_curves

pytestmark = pytest.mark.usefixtures("empty_scene")
AT = np.arange(1.0, 9.0)


def choose(root: bpy.types.Object) -> None:
    bpy.context.scene.robik.robot = root


def bodies_at(root: bpy.types.Object, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    return np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)])


def test_two_robots_in_one_scene() -> None:
    walker = scenes.squats(frames=8)
    bpy.ops.robik.bake()
    before = slider_curves(walker, AT)
    boxer, _ = scenes.punches(frames=8)
    with_both = installed.module("scene.robot.parts")
    assert with_both.chosen_robot(bpy.context.scene) == boxer
    bpy.ops.robik.bake()
    assert slider_curves(walker, AT) == pytest.approx(before)
    bpy.context.scene.robik.robot = None
    with pytest.raises(RuntimeError, match=r"2 robots in this scene.*choose one"):
        bpy.ops.robik.bake()
    stands = bodies_at(walker, 4)
    boxer["elbow"] += 0.2  # a slider of one moves nothing of the other
    boxer.update_tag()
    bpy.context.view_layer.update()
    assert np.array([np.array(b.matrix_world) for b in scenes.body_objects(walker)]) == pytest.approx(stands)


def test_two_scenes_have_their_own_robots_and_rates() -> None:
    scenes.squats(frames=8)
    first = bpy.context.scene
    second = bpy.data.scenes.new("Second")
    bpy.context.window.scene = second
    second.render.fps = 30
    with pytest.raises(RuntimeError, match="no robot in this scene"):
        bpy.ops.robik.bake()
    boxer, _ = scenes.punches(frames=8)
    bpy.ops.robik.bake()
    assert second.robik.robot == boxer
    assert installed.module("scene.robot.parts").robots(first) == [first.robik.robot]
    bpy.context.window.scene = first
    bpy.ops.robik.bake()
    assert first.robik.robot.robik.robot.result.frames == 8


def test_renamed_robot_and_bodies() -> None:
    root = scenes.squats(frames=8)
    bpy.ops.robik.bake()
    before = slider_curves(root, AT)
    root.name = "Gustav"
    for body in scenes.body_objects(root):
        body.name = f"part of Gustav {body.robik.order}"
    lower(root)
    bpy.ops.robik.bake()
    assert np.abs(slider_curves(root, AT) - before).max() > 0.01
    bpy.ops.robik.use_bake(index=0)
    assert slider_curves(root, AT) == pytest.approx(before)
    assert np.abs(bodies_at(root, 5) - bodies_at(root, 1)).max() > 0.01


def duplicate(root: bpy.types.Object) -> bpy.types.Object:
    """As Select Hierarchy and Shift+D do."""
    for selected in bpy.context.selected_objects:
        selected.select_set(False)
    for part in (root, *root.children_recursive):
        part.hide_set(False)
        part.select_set(True)
    bpy.context.view_layer.objects.active = root
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    return next(o for o in bpy.context.selected_objects if o.robik.kind == "ROBOT")


@pytest.mark.parametrize("baked", [False, True])
def test_duplicated_robot_goes_its_own_way(baked: bool) -> None:
    root = scenes.squats(frames=8)
    if baked:
        bpy.ops.robik.bake()
    copy = duplicate(root)
    copy.location.x = 1.0
    bpy.context.view_layer.update()
    stood = bodies_at(root, 5)
    if baked:
        assert bodies_at(copy, 5)[:, :3, 3] - stood[:, :3, 3] == pytest.approx(np.tile([1.0, 0, 0], (31, 1)), abs=1e-5)
    assert scenes.read(copy) == scenes.read(root)
    choose(copy)
    copy.robik.robot.character.location[0] = 1.0
    lower(copy)
    bpy.ops.robik.bake()
    assert bodies_at(root, 5) == pytest.approx(stood, abs=1e-6)
    assert np.abs(bodies_at(copy, 5)[:, 2, 3] - stood[:, 2, 3]).max() > 0.01
    bpy.ops.robik.reduce_keys()
    bpy.ops.robik.rebuild_bodies()
    assert bodies_at(root, 5) == pytest.approx(stood, abs=1e-6)


def test_duplicate_robot_takes_hidden_joints_along_and_can_be_edited_alone() -> None:
    root = scenes.squats(frames=8)
    bpy.ops.robik.bake()
    stood, objects = bodies_at(root, 5), len(bpy.data.objects)
    assert bpy.ops.robik.duplicate_robot() == {"FINISHED"}
    copy = bpy.context.scene.robik.robot
    assert copy != root
    assert len(bpy.data.objects) == objects + len(root.children_recursive) + 1
    assert scenes.read(copy) == scenes.read(root)
    assert all(o.hide_get() for o in copy.children_recursive if o.robik.kind == "JOINT")
    assert bodies_at(copy, 5) == pytest.approx(stood, abs=1e-6)
    copy["knee_l"] -= 0.2
    copy.update_tag()
    bpy.context.view_layer.update()
    assert bpy.ops.robik.key_pose() == {"FINISHED"}
    assert bodies_at(root, 5) == pytest.approx(stood, abs=1e-6)
    assert np.abs(bodies_at(copy, 5) - stood).max() > 0.005


def test_a_duplicate_that_lost_its_hidden_joints_says_so_and_gets_them_back_from_its_file() -> None:
    root = scenes.import_robot("boxer")
    for part in (root, *root.children_recursive):
        part.select_set(True)  # joints are hidden, so they are not
    bpy.ops.object.duplicate()
    copy = next(o for o in bpy.context.selected_objects if o.robik.kind == "ROBOT")
    choose(copy)
    with pytest.raises(RuntimeError, match=r"no joints left.*use Duplicate Robot"):
        bpy.ops.robik.bake()
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert len(scenes.read(copy).joints) == len(scenes.read(root).joints)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A file with a baked walker."""
    scenes.squats(frames=8)
    bpy.ops.robik.bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return tmp_path / "library.blend"


def bring(library: Path, link: bool) -> bpy.types.Collection:
    with bpy.data.libraries.load(str(library), link=link) as (_, into):
        into.collections = ["walker"]
    return into.collections[0]


def test_appended_robot_works_like_one_s_own(library: Path) -> None:
    bpy.context.scene.collection.children.link(bring(library, link=False))
    root = installed.module("scene.robot.parts").chosen_robot(bpy.context.scene)
    assert np.abs(bodies_at(root, 5) - bodies_at(root, 1)).max() > 0.01
    bpy.ops.robik.reduce_keys()
    for target in root.robik.robot.character.targets:  # its sources came along, but stand in no scene
        if bpy.context.scene.objects.get(target.source.name) is None:
            bpy.context.scene.collection.objects.link(target.source)
    bpy.context.scene.frame_end = 8
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert len(root.robik.robot.bakes) == 2


def test_a_root_that_came_alone_says_how_to_get_the_robot(library: Path) -> None:
    bpy.ops.wm.append(filepath=f"{library}/Object/walker", directory=f"{library}/Object/", filename="walker")
    with pytest.raises(RuntimeError, match="no bodies here; append the robot's collection"):
        bpy.ops.robik.bake()


CHANGES = (
    "bake",
    "auto_map",
    "reduce_keys",
    "rebuild_bodies",
    "key_pose",
    "add_target",
    "fit_character",
    "detect_contacts",
    "reload_robot",
)


def test_linked_robot_plays_and_says_why_it_cannot_be_changed(library: Path) -> None:
    bpy.context.scene.collection.children.link(bring(library, link=True))
    root = installed.module("scene.robot.parts").chosen_robot(bpy.context.scene)
    assert np.abs(bodies_at(root, 5) - bodies_at(root, 1)).max() > 0.01
    assert scenes.read(root).name == "walker"
    assert np.ptp(slider_curves(root, AT), axis=0).max() > 0.01
    before = scenes.everything()
    for name in CHANGES:
        with pytest.raises(RuntimeError, match=r"linked from library.blend and cannot be changed here: make it local"):
            getattr(bpy.ops.robik, name)()
    assert scenes.everything() == before


def test_overridden_robot_plays_and_can_be_made_one_s_own(library: Path) -> None:
    linked = bring(library, link=True)
    bpy.context.scene.collection.children.link(linked)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    root = next(o for o in bpy.context.scene.objects if o.robik.kind == "ROBOT" and o.override_library is not None)
    choose(root)
    assert np.abs(bodies_at(root, 5) - bodies_at(root, 1)).max() > 0.01
    with pytest.raises(RuntimeError, match="a library override and cannot be changed here: make it local"):
        bpy.ops.robik.reduce_keys()
    bpy.ops.object.make_local(type="ALL")
    root = installed.module("scene.robot.parts").chosen_robot(bpy.context.scene)
    assert root.library is None
    assert bpy.ops.robik.reduce_keys() == {"FINISHED"}
    assert np.abs(bodies_at(root, 5) - bodies_at(root, 1)).max() > 0.01


def test_overridden_robot_is_whole_in_a_file_that_is_opened_again(library: Path, tmp_path: Path) -> None:
    linked = bring(library, link=True)
    bpy.context.scene.collection.children.link(linked)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    bpy.context.scene.collection.children.unlink(linked)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    root = installed.module("scene.robot.parts").chosen_robot(bpy.context.scene)
    assert root.override_library is not None
    assert len(scenes.read(root).joints) == 36  # each ties bodies of the override
    for part in bpy.context.scene.objects:
        part.select_set(True)
    bpy.ops.object.make_local(type="ALL")
    assert bpy.ops.robik.reduce_keys() == {"FINISHED"}


def test_robot_that_is_linked_as_an_instance_says_how_to_get_it(library: Path) -> None:
    folder = f"{library}/Collection/"
    bpy.ops.wm.link(filepath=folder + "walker", directory=folder, filename="walker", instance_collections=True)
    with pytest.raises(RuntimeError, match=r"'walker' only shows a robot.*Library Override > Make, then .* Make Local"):
        bpy.ops.robik.bake()
    shown = bpy.context.scene.objects["walker"]
    shown.select_set(True)
    bpy.context.view_layer.objects.active = shown
    bpy.ops.object.make_override_library()
    for part in bpy.context.scene.objects:
        part.select_set(True)
    bpy.ops.object.make_local(type="ALL")
    assert bpy.ops.robik.reduce_keys() == {"FINISHED"}
