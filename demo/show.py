"""The demo from the empty scene to the last servo."""

from __future__ import annotations

import time
from pathlib import Path

import bpy
import numpy as np
from bl_ext.user_default.robik.robik import robots
from bl_ext.user_default.robik.robik.feet.support import standing_points, support_polygons
from bl_ext.user_default.robik.robik.mechanism import Mechanism
from bl_ext.user_default.robik.robik.motions import Motion, save_motion
from bl_ext.user_default.robik.robik.servo.chain.file import load_chain
from bpy.types import Object
from mathutils import Vector

from demo import performance, picture
from demo.falling import in_physics, made_to_stand, own_pace
from demo.playing import play
from demo.stage import empty_scene
from demo.table import table

BEGAN = time.perf_counter()


def show(recording: Path | None, out: Path, moments: int, trials: int) -> tuple[dict, str]:
    """Follow our own character, or a recording, and leave the files but the report in `out`.

    The picture shows so many moments; a motion is tried in physics undisturbed and in so many disturbed trials. Returns
    the report, and it as a table.
    """
    said("the scene")
    empty_scene()
    root, rig = performance.prepare(recording)
    mechanism = performance.add_on("scene.robot.reading").read_robot(root)
    picture.set_up_camera()
    said("baking with balance")
    balanced = performance.bake(root, balanced=True)
    contacts = performance.contacts_of(balanced.clip)
    samples = picture.moments(contacts, moments)
    lower = robot_row(root, rig, mechanism, balanced.motion, contacts, samples, "balanced")
    bpy.ops.robik.export_motion(filepath=str(out / "walker.csv"))
    bpy.ops.wm.save_as_mainfile(filepath=str(out / "walker.blend"), compress=True)
    chain = load_chain(robots.servos_path("walker"))
    said("making it stand in physics")
    stood = made_to_stand(root, balanced.motion, chain, trials, said)
    said("baking without")
    naive = performance.bake(root, balanced=False)
    middle = robot_row(root, rig, mechanism, naive.motion, contacts, samples, "naive")
    upper = character_row(root, rig, samples)
    picture.save(np.concatenate([upper, middle, lower]), out / "walker.png")
    report = performance.summary(mechanism, balanced.motion, contacts)
    report["naive"] = performance.summary(mechanism, naive.motion, contacts)
    said("testing both in physics")
    for found, motion in ((report, balanced.motion), (report["naive"], naive.motion)):
        found["physics"] = in_physics(mechanism, motion, chain, trials)
    chosen, motion = stood.best.verdict, stood.best.motion
    assert chosen is not None
    assert motion is not None
    report["stood"] = {"physics": chosen.as_data(), "own_pace": own_pace(stood)} | stood.as_data()
    save_motion(motion, out / "walker_stood.csv")
    said("playing on simulated servos")
    report["velocity_limit"] = {joint.name: joint.velocity_limit for joint in mechanism.actuated}
    report["servos"] = play(motion, chain)
    return report, table(report)


def said(what: str) -> None:
    """On the way to a table at the end, what is being done."""
    print(f"{time.perf_counter() - BEGAN:5.1f} s  {what}", flush=True)


def robot_row(
    root: Object,
    rig: Object,
    mechanism: Mechanism,
    motion: Motion,
    contacts: dict[str, np.ndarray],
    samples: list[int],
    name: str,
) -> np.ndarray:
    """Pictures of the robot side by side, and of what it stands on."""
    scene, polygons = bpy.context.scene, support_polygons(mechanism, motion, contacts)
    soles = {foot: standing_points(mechanism, motion, foot) for foot in contacts}
    cells = []
    for k in samples:
        scene.frame_set(scene.frame_start + k)
        torso = motion.position[k, 0]
        label = f"{motion.times[k]:.1f} s" if cells else f"robot, {name}, {motion.times[k]:.1f} s"
        with picture.footing({foot: points[k, :, :2] for foot, points in soles.items()}, polygons[k], motion.com[k]):
            cells.append(picture.shoot([rig, *rig.children], Vector((torso[0], torso[1], 0.0)), 1.0, label))
    return np.concatenate(cells, axis=1)


def character_row(root: Object, rig: Object, samples: list[int]) -> np.ndarray:
    """Pictures of the character side by side, as large as the robot."""
    scene, cells = bpy.context.scene, []
    scale = 1.0 / root.robik.robot.character.scale
    hips = root.robik.robot.character.targets[0].bone
    for k in samples:
        scene.frame_set(scene.frame_start + k)
        place = rig.matrix_world @ rig.pose.bones[hips].head
        seconds = k * scene.render.fps_base / scene.render.fps
        label = f"{seconds:.1f} s" if cells else f"character, {seconds:.1f} s"
        cells.append(picture.shoot(root.children_recursive, Vector((place.x, place.y, 0.0)), scale, label))
    return np.concatenate(cells, axis=1)
