"""Exporting the motors' curves: one operator, every format, with a floating robot's base."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.motions import FORMATS, load_motion, save_motion
from bl_ext.user_default.robik.robik.motions.posing import posed
from bpy.types import Object

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES = np.arange(1.0, 25.0)


def baking() -> None:
    scenes.squats()
    assert bpy.ops.robik.bake() == {"FINISHED"}


@pytest.fixture
def baked(empty_scene: None) -> Object:
    return scenes.kept(baking)


def export(path: Path, **options: str) -> Path:
    assert bpy.ops.robik.export_motion(filepath=str(path), **options) == {"FINISHED"}
    return path


def test_a_floating_robots_base_is_exported_as_it_is_keyed(baked: Object, tmp_path: Path) -> None:
    motion = load_motion(export(tmp_path / "walk.csv"))
    walker = scenes.read(baked)
    assert motion.actuators == walker.actuators
    assert motion.base is not None
    keyed = {body.robik.label: scenes.keyed_pose(body, FRAMES) for body in scenes.body_objects(baked)}
    torso = keyed[motion.base.body]
    assert np.ptp(motion.base.position[:, 2]) > 0.03, "it squats"
    np.testing.assert_array_equal(motion.base.position, torso[:, :3])
    np.testing.assert_allclose(motion.base.quaternion, torso[:, 3:], rtol=0, atol=1e-6)  # keys are in single precision
    position = posed(walker, motion)[0].position
    assert position is not None
    for k, body in enumerate(walker.bodies):
        np.testing.assert_allclose(position[:, k], keyed[body.name][:, :3], rtol=0, atol=1e-5)


def test_the_extension_of_a_scripts_file_tells_the_format(baked: Object, tmp_path: Path) -> None:
    plain = load_motion(export(tmp_path / "walk.csv"))
    for name in ("walk.json", "walk.npz"):
        motion = load_motion(export(tmp_path / name))
        assert (motion.values == plain.values).all()
        assert motion.base is not None and plain.base is not None
        assert (motion.base.position == plain.base.position).all()
    assert "joint_names:" in export(tmp_path / "walk.yaml").read_text()
    assert "walk_counts[24][12]" in export(tmp_path / "walk.h").read_text()
    assert "void setup()" in export(tmp_path / "walk.ino").read_text()
    with pytest.raises(
        RuntimeError, match=r"walk\.bvh: a motion is exported as \.csv, .*; or name its format: csv, json"
    ):
        bpy.ops.robik.export_motion(filepath=str(tmp_path / "walk.bvh"))


def test_the_format_that_is_chosen_wins(baked: Object, tmp_path: Path) -> None:
    assert export(tmp_path / "walk.csv", format="json").read_text().startswith("{")
    with pytest.raises(TypeError, match=r"'csv', 'json', 'npz', 'lafan1-csv', 'gmr-pkl'"):
        export(tmp_path / "walk.csv", format="bvh")


def test_the_menu_is_the_registry() -> None:
    menu = bpy.ops.robik.export_motion.get_rna_type().properties["format"].enum_items
    assert [(item.identifier, item.name) for item in menu] == [
        (name, row.label) for name, row in FORMATS.items() if row.write
    ]


def test_the_file_browser_gives_the_formats_extension() -> None:
    operator = installed.module("operators.bake.baking").ROBIK_OT_export_motion

    class Asked:
        filename_ext = operator.filename_ext

        def __init__(self, filepath: str, format: str) -> None:
            self.filepath, self.format = filepath, format

    for filepath, format, extension in (
        ("", "csv", ".csv"),
        ("walk.csv", "json", ".json"),
        ("walk", "arduino", ".ino"),
        ("walk.H", "arduino", ".h"),
    ):
        assert Asked(filepath, format).filename_ext == extension


def test_without_keys_of_its_base_a_robot_still_exports_its_motors(baked: Object, tmp_path: Path) -> None:
    for body in scenes.body_objects(baked):
        body.animation_data_clear()
    assert load_motion(export(tmp_path / "walk.csv")).base is None


def test_a_grounded_robot_has_no_base(tmp_path: Path) -> None:
    scenes.punches()
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert load_motion(export(tmp_path / "punch.csv")).base is None


def test_the_command_line_writes_the_base_as_the_operator_does(tmp_path: Path) -> None:
    """The one from the solver, the other from the keys, which are in single precision."""
    scenes.squats()
    assert installed.module("operators.command_line").run(["bake", "--csv", str(tmp_path / "solved.txt")]) == 0
    solved, keyed = load_motion(tmp_path / "solved.txt"), load_motion(export(tmp_path / "keyed.csv"))
    assert solved.base is not None and keyed.base is not None
    assert solved.base.body == keyed.base.body
    np.testing.assert_allclose(solved.base.position, keyed.base.position, rtol=0, atol=1e-6)
    assert np.abs((solved.base.quaternion * keyed.base.quaternion).sum(axis=1)) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(solved.values, keyed.values, rtol=0, atol=1e-6)


LABS = {"lafan1-csv": "w.csv", "gmr-pkl": "w.pkl", "mjlab-npz": "w.npz", "holosoma-npz": "w.npz", "isaac-npz": "w.npz"}
LABS |= {"qpos-npz": "w.npz", "mujoco-keys": "w.xml"}


@pytest.mark.one_blender
@pytest.mark.parametrize("name", LABS)
def test_formats_of_labs_are_written_and_come_back_as_keys(baked: Object, tmp_path: Path, name: str) -> None:
    plain = load_motion(export(tmp_path / "plain.npz"))
    file = export(tmp_path / LABS[name], format=name, rate=60.0)
    number = len(baked.robik.robot.bakes)
    assert bpy.ops.robik.import_motion(filepath=str(file), format=name, fps=60.0, angle=0.0) == {"FINISHED"}
    assert [bake.name for bake in baked.robik.robot.bakes][number:] == ["w, original", "w"], "actions of their own"
    back = load_motion(export(tmp_path / "back.npz"))
    np.testing.assert_allclose(back.values, plain.values, rtol=0, atol=1e-6)
    np.testing.assert_allclose(back.base.position, plain.base.position, rtol=0, atol=1e-6)
    np.testing.assert_allclose(back.times, plain.times, rtol=0, atol=1e-6)


@pytest.mark.one_blender
def test_a_boards_counts_come_back_as_keys(baked: Object, tmp_path: Path) -> None:
    """In whole counts at whole milliseconds, which lie between the frames."""
    plain = load_motion(export(tmp_path / "plain.csv", rate=60.0))
    count = 0.5 * 2 * np.pi / 4096
    late = 0.5e-3 * np.abs(np.diff(plain.values, axis=0)).max() * 60.0
    for name in ("w.ino", "w.h"):
        file = export(tmp_path / name, format="arduino")
        assert bpy.ops.robik.import_motion(filepath=str(file), angle=0.0) == {"FINISHED"}
        back = load_motion(export(tmp_path / "back.csv", rate=60.0)).values
        off = np.abs(back[:-1] - plain.values[: len(back) - 1]).max()
        assert len(back) >= len(plain.values) - 1
        assert 1e-5 < off < 1.5 * (count + late)
        assert bpy.ops.robik.import_motion(filepath=str(tmp_path / "plain.csv"), angle=0.0) == {"FINISHED"}


def test_bodies_and_joints_come_in_the_order_that_is_asked_for(baked: Object, tmp_path: Path) -> None:
    deep, wide = (export(tmp_path / f"{o}.npz", format="mjlab-npz", order=o) for o in ("depth", "breadth"))
    with np.load(deep) as one, np.load(wide) as other:
        assert not np.allclose(one["joint_pos"], other["joint_pos"])
        np.testing.assert_array_equal(np.sort(one["joint_pos"], axis=1), np.sort(other["joint_pos"], axis=1))
    back = {"fps": 60.0, "angle": 0.0, "format": "mjlab-npz", "order": "breadth"}
    plain = load_motion(export(tmp_path / "plain.csv"))
    assert bpy.ops.robik.import_motion(filepath=str(wide), **back) == {"FINISHED"}
    np.testing.assert_allclose(load_motion(export(tmp_path / "back.csv")).values, plain.values, rtol=0, atol=1e-6)
    lines = export(tmp_path / "l.csv", format="lafan1-csv", header=True).read_text().splitlines()
    assert lines[0].startswith("x,y,z,qx,qy,qz,qw,")
    assert export(tmp_path / "l.csv", format="lafan1-csv").read_text().splitlines() == lines[1:]


def test_a_file_that_is_no_motion_changes_nothing(baked: Object, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("1,2\n")
    number = len(baked.robik.robot.bakes)
    with pytest.raises(RuntimeError, match=r"m\.csv: .*the first line must name the columns"):
        bpy.ops.robik.import_motion(filepath=str(tmp_path / "m.csv"))
    assert len(baked.robik.robot.bakes) == number


def test_a_rate_reads_the_curves_at_equal_distances_and_sonic_gets_its_folder(baked: Object, tmp_path: Path) -> None:
    motion = load_motion(export(tmp_path / "walk.csv", rate=50.0))
    fps = bpy.context.scene.render.fps
    assert np.diff(motion.times) == pytest.approx(1 / 50)
    curve = scenes.channel(baked, f'["{motion.actuators[0]}"]', 0, 1.0 + fps * motion.times)
    assert motion.values[:, 0] == pytest.approx(curve, abs=1e-6)
    with pytest.raises(RuntimeError, match=r"SONIC plays 50 samples a second, and the motion has 60; give a rate"):
        bpy.ops.robik.export_motion(filepath=str(tmp_path / "walk"), format="sonic-csv", rate=60.0)
    folder = export(tmp_path / "walk", format="sonic-csv")
    count = len(baked.robik.robot.bakes)
    assert bpy.ops.robik.import_motion(filepath=str(folder / "joint_pos.csv"), angle=0.0) == {"FINISHED"}
    assert len(baked.robik.robot.bakes) == count + 2
    back = load_motion(export(tmp_path / "back.csv", rate=50.0))
    assert back.values == pytest.approx(motion.values, abs=1e-5)
    assert back.base is not None and back.base.position == pytest.approx(motion.base.position, abs=1e-5)


def test_an_import_has_reduced_keys_within_the_tolerance_and_its_original_as_a_ghost(
    baked: Object, tmp_path: Path
) -> None:
    plain = load_motion(export(tmp_path / "walk.csv"))
    assert bpy.ops.robik.import_motion(filepath=str(tmp_path / "walk.csv"), angle=0.01, length=1e-3) == {"FINISHED"}
    back = load_motion(export(tmp_path / "back.csv"))
    off = np.abs(back.values - plain.values).max()
    assert 1e-4 < off < 0.01 + 1e-6
    assert np.abs(back.base.position - plain.base.position).max() < 1e-3 + 1e-6
    keys = [len(curve.keyframe_points) for curve in actions_of(baked)]
    assert max(keys) < 24 and min(keys) >= 2
    base = next(body for body in scenes.body_objects(baked) if body.robik.label == plain.base.body)
    assert max(len(curve.keyframe_points) for curve in actions_of(base)) < 24
    shapes = bpy.data.collections[f"{baked.name} original ghost"].objects
    bpy.context.scene.frame_set(13)
    there = shapes[f"{plain.base.body} original ghost"].matrix_world.translation
    np.testing.assert_allclose(there, plain.base.position[12], atol=1e-4)
    assert bpy.ops.robik.remove_ghost() == {"FINISHED"}
    assert f"{baked.name} original ghost" not in bpy.data.collections
    assert bpy.ops.robik.import_motion(filepath=str(tmp_path / "walk.csv"), ghost=False) == {"FINISHED"}
    assert f"{baked.name} original ghost" not in bpy.data.collections


def actions_of(target: Object) -> list:
    return list(installed.module("scene.animation.actions").curves_of(target).values())


@pytest.mark.one_blender
def test_corrections_are_a_layer_that_the_next_version_of_a_motion_keeps(baked: Object, tmp_path: Path) -> None:
    plain = load_motion(export(tmp_path / "first.npz"))
    steps, name = np.linspace(0.0, 0.02, len(plain.times)), plain.actuators[3]
    second = replace(plain, values=plain.values + steps[:, None])
    save_motion(second, tmp_path / "second.npz")
    settings = {"angle": 1e-4, "length": 1e-5}
    assert bpy.ops.robik.import_motion(filepath=str(tmp_path / "first.npz"), **settings) == {"FINISHED"}
    for curve in actions_of(baked):
        if curve.data_path == f'["{name}"]':
            for point in curve.keyframe_points:
                point.co.y, point.handle_left.y, point.handle_right.y = (
                    y + 0.05 for y in (point.co.y, point.handle_left.y, point.handle_right.y)
                )
            curve.update()
    assert bpy.ops.robik.rebuild_bodies() == {"FINISHED"}
    assert bpy.ops.robik.import_motion(filepath=str(tmp_path / "second.npz"), **settings) == {"FINISHED"}
    back = load_motion(export(tmp_path / "back.npz"))
    wanted = second.values + 0.05 * (np.arange(len(plain.actuators)) == 3)
    assert np.abs(back.values - wanted).max() < 3e-4, "the new motion, and what was changed by hand"
    assert np.abs(back.base.position - plain.base.position).max() < 5e-5
    names = [bake.name for bake in baked.robik.robot.bakes]
    assert names[-4:] == ["first, original", "first", "second, original", "second"]
    assert bpy.ops.robik.use_bake(index=len(names) - 2) == {"FINISHED"}
    assert np.abs(load_motion(export(tmp_path / "original.npz")).values - second.values).max() < 2e-4
    assert bpy.ops.robik.import_motion(filepath=str(tmp_path / "second.npz"), **settings) == {"FINISHED"}
    assert np.abs(load_motion(export(tmp_path / "again.npz")).values - second.values).max() < 2e-4, (
        "an original has none"
    )
