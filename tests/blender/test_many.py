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


@pytest.mark.parametrize("only_root", [False, True])
@pytest.mark.parametrize("linked", [False, True])  # Shift-D, and Alt-D
def test_shift_d_makes_a_second_robot_although_joints_are_hidden(only_root: bool, linked: bool) -> None:
    root = scenes.squats(frames=8)
    bpy.ops.robik.bake()
    bpy.context.view_layer.update()
    for part in bpy.context.scene.objects:
        part.select_set(part == root or (not only_root and part in root.children_recursive))  # hidden ones are not
    bpy.context.view_layer.objects.active = root
    stood, objects = bodies_at(root, 5), len(root.children_recursive)
    bpy.ops.object.duplicate(linked=linked)
    copy = next(o for o in bpy.context.selected_objects if o.robik.kind == "ROBOT")
    bpy.context.view_layer.update()
    assert len(copy.children_recursive) == len(root.children_recursive) == objects
    assert scenes.read(copy) == scenes.read(root)
    assert copy.robik.robot.identity != root.robik.robot.identity
    assert all(o.hide_get() for o in copy.children_recursive if o.robik.kind == "JOINT")
    copy.location.x = 1.0
    choose(copy)
    copy.robik.robot.character.location[0] = 1.0
    lower(copy)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert bodies_at(root, 5) == pytest.approx(stood, abs=1e-6)
    assert np.abs(bodies_at(copy, 5)[:, 2, 3] - stood[:, 2, 3]).max() > 0.01


def test_a_robot_that_lost_a_joint_keeps_it_lost_beside_its_copy() -> None:
    root = scenes.import_robot("boxer")
    bpy.context.view_layer.update()
    bpy.ops.robik.duplicate_robot()
    copy = bpy.context.scene.robik.robot
    bpy.context.view_layer.update()
    bpy.data.objects.remove(next(o for o in copy.children_recursive if o.robik.kind == "JOINT"))
    copy.update_tag()
    bpy.context.view_layer.update()
    kinds = [[o for o in each.children_recursive if o.robik.kind == "JOINT"] for each in (root, copy)]
    assert len(kinds[1]) == len(kinds[0]) - 1


def test_a_robot_without_joints_says_so_and_gets_them_back_from_its_file() -> None:
    root = scenes.import_robot("boxer")
    joints = [o for o in root.children_recursive if o.robik.kind == "JOINT"]
    count = len(joints)
    bpy.data.batch_remove(joints)
    with pytest.raises(RuntimeError, match=r"no joints left"):
        bpy.ops.robik.bake()
    assert bpy.ops.robik.reload_robot() == {"FINISHED"}
    assert len(scenes.read(root).joints) == count


def baked_walker() -> None:
    scenes.add_squats(frames=8)
    assert bpy.ops.robik.bake() == {"FINISHED"}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A file with a baked walker."""
    scenes.kept(baked_walker)
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
        with pytest.raises(RuntimeError, match=r"linked from library.blend and cannot be changed here: make a"):
            getattr(bpy.ops.robik, name)()
    assert scenes.everything() == before


def overridden(library: Path) -> bpy.types.Object:
    """The root of a library override of the library's robot."""
    linked = bring(library, link=True)
    bpy.context.scene.collection.children.link(linked)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    bpy.context.scene.collection.children.unlink(linked)
    root = override_root()
    choose(root)
    return root


def override_root() -> bpy.types.Object:
    return next(o for o in bpy.context.scene.objects if o.robik.kind == "ROBOT" and o.override_library is not None)


def open_again(file: Path) -> bpy.types.Object:
    """The override after its file was saved and opened."""
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.open_mainfile(filepath=str(file))
    return override_root()


def test_overridden_robot_is_posed_mapped_and_baked_and_all_of_it_is_there_in_a_file_that_is_opened_again(
    library: Path, tmp_path: Path
) -> None:
    root = overridden(library)
    scenes.walking_rig()
    bpy.context.scene.frame_end = 8
    bpy.context.scene.frame_set(1)
    bpy.ops.robik.use_bake(index=0)
    for part in (root, *scenes.body_objects(root)):
        part.animation_data.action = None
    stood = np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)])
    root["knee_l"] -= 0.3
    root.update_tag()
    bpy.context.view_layer.update()
    posed = np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)])
    assert np.abs(posed - stood).max() > 0.01
    bpy.ops.robik.set_targets(targets=[])
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    root.robik.robot.bake.samples = 2
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert bpy.ops.robik.detect_contacts() == {"FINISHED"}
    targets = [(t.name, t.frame, t.bone, t.enabled, len(t.stands)) for t in root.robik.robot.character.targets]
    assert sum(enabled for *_, enabled, _ in targets) >= 3
    curves, scale = slider_curves(root, AT), root.robik.robot.character.scale
    assert np.ptp(curves, axis=0).max() > 0.01
    root = open_again(tmp_path / "shot.blend")
    character = root.robik.robot.character
    assert [(t.name, t.frame, t.bone, t.enabled, len(t.stands)) for t in character.targets] == targets
    assert (character.scale, root.robik.robot.bake.samples) == (scale, 2)
    assert [bake.name for bake in root.robik.robot.bakes] == ["walker bake 1", "walker bake 2"]
    assert root.robik.robot.result.frames == 15
    assert slider_curves(root, AT) == pytest.approx(curves)
    choose(root)
    assert bpy.ops.robik.bake() == {"FINISHED"}


def test_overridden_robot_s_slider_stays_where_it_was_put(library: Path, tmp_path: Path) -> None:
    root = overridden(library)
    for part in (root, *scenes.body_objects(root)):
        part.animation_data.action = None
    root["knee_l"] -= 0.3
    root.update_tag()
    bpy.context.view_layer.update()
    value, stood = root["knee_l"], np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)])
    root = open_again(tmp_path / "shot.blend")
    assert root["knee_l"] == pytest.approx(value)
    assert np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)]) == pytest.approx(stood, abs=1e-6)


def test_what_is_the_library_s_is_not_removed_from_an_override(library: Path) -> None:
    root = overridden(library)
    root.robik.robot.character.active = 0
    for name in ("remove_target", "remove_bake"):
        with pytest.raises(RuntimeError, match="comes from the robot's library file"):
            getattr(bpy.ops.robik, name)()
    for name in ("reload_robot", "duplicate_robot"):
        with pytest.raises(RuntimeError, match=r"its parts are those of library\.blend"):
            getattr(bpy.ops.robik, name)()


def test_overridden_robot_plays_and_can_be_made_one_s_own(library: Path) -> None:
    linked = bring(library, link=True)
    bpy.context.scene.collection.children.link(linked)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    root = next(o for o in bpy.context.scene.objects if o.robik.kind == "ROBOT" and o.override_library is not None)
    choose(root)
    assert np.abs(bodies_at(root, 5) - bodies_at(root, 1)).max() > 0.01
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


def test_triggers_and_sticks_of_an_override_are_there_in_a_file_that_is_opened_again(
    library: Path, tmp_path: Path
) -> None:
    root = overridden(library)
    for add in (bpy.ops.robik.add_trigger, bpy.ops.robik.add_trigger, bpy.ops.robik.add_stick, bpy.ops.robik.add_stick):
        assert add() == {"FINISHED"}
    performance = root.robik.robot.performance
    performance.triggers[0].name, performance.triggers[1].key = "wave", "q"
    assert bpy.ops.robik.add_trigger() == {"FINISHED"}
    performance.sticks[1].motor = "knee_l"
    performance.chosen_stick = 0
    assert bpy.ops.robik.remove_stick() == {"FINISHED"}
    performance = open_again(tmp_path / "shot.blend").robik.robot.performance
    assert [(row.name, row.key) for row in performance.triggers] == [("wave", "1"), ("clip 2", "q"), ("clip 1", "2")]
    assert [row.motor for row in performance.sticks] == ["knee_l"]
    choose(override_root())
    assert bpy.ops.robik.remove_stick() == {"FINISHED"}
    with pytest.raises(RuntimeError, match="no stick is chosen; click one in the list"):
        bpy.ops.robik.remove_stick()


def test_robot_that_is_linked_as_an_instance_says_how_to_get_it(library: Path) -> None:
    folder = f"{library}/Collection/"
    bpy.ops.wm.link(filepath=folder + "walker", directory=folder, filename="walker", instance_collections=True)
    with pytest.raises(RuntimeError, match=r"'walker' only shows a robot.*Library Override > Make$"):
        bpy.ops.robik.bake()
    shown = bpy.context.scene.objects["walker"]
    shown.select_set(True)
    bpy.context.view_layer.objects.active = shown
    bpy.ops.object.make_override_library()
    assert bpy.ops.robik.reduce_keys() == {"FINISHED"}
