"""Retargeting of a character in Blender, by the library and by the shell: the same numbers, to the last bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender import installed

CHECKOUT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.usefixtures("empty_scene")


def character(root: bpy.types.Object) -> object:
    """Return all of the motion of a robot's character, as Blender evaluates it."""
    rig = root.robik.robot.character.rig
    read = installed.module("scene.character.skeleton").read_character
    return read(bpy.context, root, rig, looks=10**6).motion


def baked(root: bpy.types.Object) -> object:
    """Return the motion that a bake writes."""
    steps = installed.module("scene.bake.baking").bake_steps(bpy.context, root)
    return installed.module("robik.steps").finish(steps)


@pytest.mark.one_blender
@pytest.mark.parametrize(("balance", "pinned"), [("off", False), ("still", False), ("moving", True)])
def test_the_dance_on_g1_is_the_same_in_blender_and_by_the_library(
    shared_data: Path, balance: str, pinned: bool
) -> None:
    """Feet found on meshes, Auto-Map, Fit, balance, speeds, calm, walls by the file's shapes: the same to the bit."""
    from bl_ext.user_default.robik.robik.bake.settings import balance_by_name
    from bl_ext.user_default.robik.robik.collision.apart import walls_of
    from bl_ext.user_default.robik.robik.formats import import_robot
    from bl_ext.user_default.robik.robik.recordings.retargeting import follow
    from bl_ext.user_default.robik.robik.skeleton.shapes import shapes_of

    file = shared_data / "unitree_g1/g1_29dof.xml"
    assert bpy.ops.robik.import_robot(filepath=str(file)) == {"FINISHED"}
    root = bpy.context.scene.robik.robot
    installed.module("scene.character.recording").bring_recording(shared_data / "bvh/05_20-mb.bvh")
    bpy.context.scene.frame_end = 60
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    root.robik.robot.balance.mode = balance.upper()
    root.robik.robot.balance.pin_feet = pinned
    motion = character(root)
    own = baked(root)
    mechanism = import_robot(file).mechanism
    shapes = shapes_of(mechanism, file)

    def walls(robot: object) -> object:
        return walls_of(robot, file)

    found = follow(mechanism, motion, shapes, None, balance_by_name(balance, pinned), walls=walls)
    in_scene = installed.module("scene.robot.reading").read_robot(root)
    assert found.mechanism.frames == in_scene.frames, "the soles are the same"
    assert found.following.left_out == root.robik.robot.character.left_out == 1
    assert np.array_equal(found.motion.times, own.times)
    assert np.array_equal(found.motion.values, own.values)
    assert np.array_equal(found.motion.base.position, own.base.position)
    assert np.array_equal(found.motion.base.quaternion, own.base.quaternion)


CHARACTERS = {  # those of this project as others write them
    "dance": None,
    "xsens": ("xsens mvn", {"order": "ZXY", "unit": 39.37}),
    "rokoko": ("rokoko", {"order": "ZXY", "unit": 100.0, "positions": True}),
    "glb": ("mixamo", {"order": "XYZ", "unit": 1.0}),
}


@pytest.mark.one_blender
@pytest.mark.parametrize("kind", CHARACTERS)
def test_shell_and_blender_bake_a_character_to_the_same_bits(shared_data: Path, tmp_path: Path, kind: str) -> None:
    """At defaults, through the file that *Export Character* writes; a GLB comes by Blender's importer."""
    from bl_ext.user_default.robik.robik.motions import load_motion

    robot, recording = shared_data / "unitree_g1/g1_29dof.xml", shared_data / "bvh/05_20-mb.bvh"
    if (written := CHARACTERS[kind]) is not None:
        recording = tmp_path / "walk.bvh"
        write_bvh(recording, *written)
    root = mapped(robot, recording)
    if kind == "glb":
        bring_as_glb(root, tmp_path / "walk.glb")
        assert bpy.ops.robik.auto_map() == {"FINISHED"}
    assert bpy.ops.robik.export_character(filepath=str(tmp_path / "character.npz")) == {"FINISHED"}
    own = baked(root)
    shell(tmp_path, "retarget", str(robot), "character.npz", "-o", "shell.csv")
    found = load_motion(tmp_path / "shell.csv")
    assert len(found.times) > 30
    same(found, own)


@pytest.mark.parametrize("robot", ["walker", "unitree_g1/g1_29dof.xml"])
def test_one_bake_wherever_it_is_asked_for(shared_data: Path, tmp_path: Path, robot: str) -> None:
    """Blender, shell, batch and what Make It Stand bakes again: the same motion and the same figures."""
    from bl_ext.user_default.robik.robik.bake.bake import bake
    from bl_ext.user_default.robik.robik.motions import load_motion, report_summary
    from bl_ext.user_default.robik.robik.robots import path

    file = path(robot) if robot == "walker" else shared_data / robot
    recording = shared_data / "bvh/05_20-mb.bvh"
    if robot == "walker":
        recording = tmp_path / "walk.bvh"
        write_bvh(recording, "lafan1", {"order": "ZYX"})
    root = mapped(file, recording)
    (tmp_path / "takes").mkdir()
    assert bpy.ops.robik.export_character(filepath=str(tmp_path / "takes/walk.npz")) == {"FINISHED"}
    own = baked(root)
    shell(tmp_path, "retarget", str(file), "takes/walk.npz", "-o", "shell.csv", "--report", "report.json")
    shell(tmp_path, "batch", str(file), "takes", "-o", "out", "--workers", "1")
    assert (tmp_path / "out/walk.csv").read_bytes() == (tmp_path / "shell.csv").read_bytes()
    same(load_motion(tmp_path / "shell.csv"), own)
    figures = json.loads((tmp_path / "report.json").read_text())
    assert figures["speed_cost"] and figures["quality"]["zero_moment_inside"] is not None
    assert without_clocks(figures) == without_clocks(json.loads(json.dumps(report_summary(own))))
    stand = installed.module("scene.bake.stand")
    source = installed.module("robik.steps").finish(
        stand._source(bpy.context, root, installed.module("scene.robot.reading").read_robot(root), own, None)
    )
    again = bake(source.request).motion
    same(again, own)
    assert without_clocks(report_summary(again)) == without_clocks(report_summary(own))


def mapped(robot: Path, recording: Path) -> bpy.types.Object:
    """Return a robot in the scene that follows 40 frames of a recording, as Auto-Map has it."""
    assert bpy.ops.robik.import_robot(filepath=str(robot)) == {"FINISHED"}
    assert bpy.ops.robik.import_recording(filepath=str(recording)) == {"FINISHED"}
    bpy.context.scene.frame_end = 40
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    return bpy.context.scene.robik.robot


def shell(folder: Path, *words: str) -> None:
    """Run a command in a folder."""
    from bl_ext.user_default.robik.robik import program

    done = subprocess.run(
        program.command("cli", *words), cwd=folder, env=program.environment(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def same(found: object, own: object) -> None:
    """Check that two motions are the same to the last bit."""
    assert np.array_equal(found.times, own.times)
    assert np.array_equal(found.values, own.values)
    assert np.array_equal(found.base.position, own.base.position)
    assert np.array_equal(found.base.quaternion, own.base.quaternion)


def without_clocks(summary: dict) -> dict:
    """Return figures of a report without times, and without penetration, which the shell judges apart."""
    left_out = ("ms_", "seconds", "penetration")
    kept = {key: value for key, value in summary.items() if not key.startswith(left_out)}
    kept["adjustments"] = [{**row, "seconds": 0.0} for row in kept["adjustments"]]
    kept["quality"] = {key: value for key, value in kept["quality"].items() if "penetration" not in key}
    return kept


def write_bvh(file: Path, convention: str, how: dict) -> None:
    """Write a walk as another program does, in a process of its own: the tests' writers import the library by its own
    name, and in this one it is a part of the add-on."""
    from bl_ext.user_default.robik.robik import program

    script = (
        "from pathlib import Path; from tests.recordings.bvh_text import bvh_text;"
        " from tests.skeleton.conventions import skeleton; from tests.skeleton.test_fit import walking;"
        f" Path({str(file)!r}).write_text(bvh_text(walking(skeleton({convention!r})[0], 40), **{how!r}))"
    )
    searched = os.pathsep.join((str(CHECKOUT), program.environment()["PYTHONPATH"]))  # the zip's packages, too
    subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": searched}, check=True)


def bring_as_glb(root: bpy.types.Object, file: Path) -> None:
    """Write a robot's character as GLB, delete it, and bring it back by Blender's importer."""
    rig = root.robik.robot.character.rig
    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.export_scene.gltf(filepath=str(file), use_selection=True)
    bpy.data.objects.remove(rig)
    before = {*bpy.data.objects}
    bpy.ops.import_scene.gltf(filepath=str(file))
    root.robik.robot.character.rig = next(o for o in bpy.data.objects if o not in before and o.type == "ARMATURE")


def test_a_robot_without_a_character_has_none_to_export(shared_data: Path, tmp_path: Path) -> None:
    assert bpy.ops.robik.import_robot(filepath=str(shared_data / "unitree_g1/g1_29dof.xml")) == {"FINISHED"}
    with pytest.raises(RuntimeError, match="has no character: choose its Rig in the panel Character"):
        bpy.ops.robik.export_character(filepath=str(tmp_path / "character.npz"))
    assert not list(tmp_path.iterdir())
