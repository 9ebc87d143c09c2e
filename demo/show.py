"""The demo from the empty scene to the last servo."""

from __future__ import annotations

import tempfile
from pathlib import Path

import bpy
import numpy as np
from bpy.types import Object
from mathutils import Vector

from demo import performance, picture
from demo.playing import play
from demo.stage import empty_scene
from demo.table import table
from robik import robots
from robik.mechanism import Mechanism
from robik.retarget.motion import Motion
from robik.retarget.support import support_polygons
from robik.servo.chain import load_chain

COLUMNS = 7


def show(recording: Path | None, out: Path) -> tuple[dict, str]:
    """Follows our own character, or a recording, and leaves the files but the report in `out`; the report, and it as a table."""
    said("the scene")
    empty_scene()
    root, rig = performance.prepare(recording)
    mechanism = performance.add_on("scene.read_robot").read_robot(root)
    picture.set_up_camera()
    said("baking with balance")
    balanced = performance.bake(root, balanced=True)
    contacts = performance.contacts_of(balanced.clip)
    with tempfile.TemporaryDirectory() as folder:
        lower = robot_row(root, rig, mechanism, balanced.motion, contacts, "balanced", Path(folder))
        bpy.ops.robik.export_motion(filepath=str(out / "walker.csv"))
        bpy.ops.wm.save_as_mainfile(filepath=str(out / "walker.blend"), compress=True)
        said("baking without")
        naive = performance.bake(root, balanced=False)
        middle = robot_row(root, rig, mechanism, naive.motion, contacts, "naive", Path(folder))
        upper = character_row(root, rig, Path(folder))
    picture.save(np.concatenate([upper, middle, lower]), out / "walker.png")
    said("playing on simulated servos")
    report = performance.summary(mechanism, balanced.motion, contacts)
    report["naive"] = performance.summary(mechanism, naive.motion, contacts)
    report["velocity_limit"] = {joint.name: joint.velocity_limit for joint in mechanism.actuated}
    report["servos"] = play(balanced.motion, load_chain(robots.servos_path("walker")))
    return report, table(report)


def said(what: str) -> None:
    """On the way to a table at the end, what is being done."""
    print(f"... {what}", flush=True)


def columns() -> list[int]:
    """The frames of the picture's columns."""
    scene = bpy.context.scene
    return picture.moments(scene.frame_end - scene.frame_start, scene.frame_start, COLUMNS)


def robot_row(
    root: Object, rig: Object, mechanism: Mechanism, motion: Motion, contacts: dict[str, np.ndarray], name: str, folder: Path
) -> np.ndarray:
    """Pictures of the robot side by side, on its support."""
    scene, polygons = bpy.context.scene, support_polygons(mechanism, motion, contacts)
    cells = []
    for frame in columns():
        scene.frame_set(frame)
        sample = frame - scene.frame_start
        torso = motion.position[sample, 0]
        label = f"robot, {name}  {motion.times[sample]:.1f} s" if not cells else f"{motion.times[sample]:.1f} s"
        with picture.footing(polygons[sample], motion.com[sample]):
            cells.append(picture.shoot(root, [rig, *rig.children], Vector((torso[0], torso[1], 0.0)), 1.0, label, folder))
    return np.concatenate(cells, axis=1)


def character_row(root: Object, rig: Object, folder: Path) -> np.ndarray:
    """Pictures of the character side by side, as large as the robot."""
    scene, cells = bpy.context.scene, []
    scale = 1.0 / root.robik.robot.character.scale
    hips = root.robik.robot.character.targets[0].bone
    for frame in columns():
        scene.frame_set(frame)
        place = rig.matrix_world @ rig.pose.bones[hips].head
        seconds = (frame - scene.frame_start) * scene.render.fps_base / scene.render.fps
        label = f"character, frame {frame}" if not cells else f"{seconds:.1f} s"
        cells.append(picture.shoot(rig, root.children_recursive, Vector((place.x, place.y, 0.0)), scale, label, folder))
    return np.concatenate(cells, axis=1)
