"""The demo from the empty scene to the last servo."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np
from bl_ext.user_default.robik.robik import robots
from bl_ext.user_default.robik.robik.feet.support import standing_points, support_polygons
from bl_ext.user_default.robik.robik.mechanism import Mechanism
from bl_ext.user_default.robik.robik.motions import Motion, save_motion
from bl_ext.user_default.robik.robik.servo.chain.chain import ServoChain
from bl_ext.user_default.robik.robik.servo.chain.file import load_chain
from bpy.types import Object
from mathutils import Vector

from demo import performance, picture
from demo.falling import NEEDS, in_physics, made_to_stand, own_pace
from demo.playing import play
from demo.stage import empty_scene

BEGAN = time.perf_counter()


@dataclass(frozen=True)
class Shown:
    """Two bakes of the same walk, as the robot has shown them.

    Attributes:
        root: the robot in the scene.
        mechanism, chain: the robot, and its servos.
        balanced, naive: the bakes.
        report: of what came out, to be written.
    """

    root: Object
    mechanism: Mechanism
    chain: ServoChain
    balanced: Motion
    naive: Motion
    report: dict


def show(recording: Path | None, out: Path, moments: int) -> Shown:
    """Follow our own character, or a recording, and play that; leave the files but the report in `out`.

    The picture shows so many moments.
    """
    said("the scene")
    empty_scene()
    root, rig = performance.prepare(recording)
    physics = root.robik.robot.physics  # which goes out with the motion
    physics.carry_weight, physics.p_gain = NEEDS.carry_weight, int(NEEDS.p_gain or 0)
    mechanism = performance.add_on("scene.robot.reading").read_robot(root)
    picture.set_up_camera()
    said("baking with balance")
    balanced = performance.bake(root, balanced=True)
    contacts = performance.contacts_of(balanced.clip)
    samples = picture.moments(contacts, moments)
    lower = robot_row(root, rig, mechanism, balanced.motion, contacts, samples, "balanced")
    bpy.ops.robik.export_motion(filepath=str(out / "walker.csv"))
    bpy.ops.wm.save_as_mainfile(filepath=str(out / "walker.blend"), compress=True)
    said("baking without")
    naive = performance.bake(root, balanced=False)
    middle = robot_row(root, rig, mechanism, naive.motion, contacts, samples, "naive")
    upper = character_row(root, rig, samples)
    picture.save(np.concatenate([upper, middle, lower]), out / "walker.png")
    report = performance.summary(mechanism, balanced.motion, contacts)
    report["naive"] = performance.summary(mechanism, naive.motion, contacts)
    said("playing on simulated servos")
    chain = load_chain(robots.servos_path("walker"))
    report["velocity_limit"] = {joint.name: joint.velocity_limit for joint in mechanism.actuated}
    report["servos"] = play(balanced.motion, chain)
    return Shown(root, mechanism, chain, balanced.motion, naive.motion, report)


def fall(shown: Shown, trials: int) -> None:
    """Try both bakes in physics, the balanced one in so many disturbed trials, too; the report has what came of it."""
    both = ((shown.report["naive"], shown.naive, "naive", 0), (shown.report, shown.balanced, "balanced", trials))
    for report, motion, name, disturbed in both:
        said(f"the {name} bake in physics" + (f", and in {disturbed} disturbed trials" if disturbed else ""))
        report["physics"] = in_physics(shown.mechanism, motion, shown.chain, disturbed)


def stand(shown: Shown, out: Path, trials: int) -> None:
    """Search for the least change with which the balanced bake stands; leave what stood in `out`."""
    said("making it stand in physics")
    performance.set_balance(shown.root, balanced=True)
    stood = made_to_stand(shown.root, shown.balanced, shown.chain, trials, said)
    chosen, motion = stood.best.verdict, stood.best.motion
    assert chosen is not None
    assert motion is not None
    shown.report["stood"] = {"physics": chosen.as_data(), "own_pace": own_pace(stood)} | stood.as_data()
    save_motion(replace(motion, needs=stood.best.remedy.needs), out / "walker_stood.csv")


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
