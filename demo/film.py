"""One stride of a character and of the robots that follow it, as pictures side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import bpy
import numpy as np
from bl_ext.user_default.robik.robik import robots
from bpy.types import Object
from mathutils import Vector

from demo import picture
from demo.stage import FRAME_RATE, TILE, bring_character, empty_scene

CELL = (260, 320)  # pixels
SAMPLES = 6
WALKER = 0.57  # height of what the camera of `picture` takes in [m]
LEGS = ("thigh.L", "thigh.R", "shin.L", "shin.R")
STEADY = 0.35  # share of the walk before the stride that is shown


def film(humanoid: Path | None, called: str, every: int) -> tuple[list[np.ndarray], float]:
    """Return the frames (height, width, 4), the top row first, and their rate [1/s]."""
    shown = {robots.path("walker"): "walker"} | ({humanoid: called} if humanoid else {})
    columns: list[list[np.ndarray]] = []
    for file, name in shown.items():
        root, rig = walk(file)
        frames = stride(rig, every)
        if not columns:
            height = rig.dimensions.z
            unseen = root.children_recursive
            columns.append(shot(rig.name, "a character", hips_of(rig), height, frames, unseen))
        height = max((o.matrix_world @ Vector(corner)).z for o in meshes(root) for corner in o.bound_box)
        label = f"{name}: {len(motors(root))} motors"
        columns.append(shot(root.name, label, base_of(root), height, frames, [rig, *rig.children]))
    return [np.concatenate(cells, axis=1) for cells in zip(*columns, strict=True)], FRAME_RATE / every


def walk(file: Path) -> tuple[Object, Object]:
    """Return a robot that walks after the character, balanced, and the character."""
    scene = empty_scene()
    bpy.ops.robik.import_robot(filepath=str(file))
    rig = bring_character()
    bpy.ops.robik.auto_map()
    root = scene.robik.robot
    robot = root.robik.robot
    for target in robot.character.targets:
        print(f"{root.robik.label}: {target.frame} follows {target.bone}")
    print(bpy.ops.robik.bake(), robot.result.frames, robot.result.missed, flush=True)
    picture.set_up_camera()
    scene.render.resolution_x, scene.render.resolution_y = CELL
    scene.cycles.samples = SAMPLES
    return root, rig


def stride(rig: Object, every: int) -> list[int]:
    """Return frames of one stride in the middle of the walk: after it, the legs are as they were."""
    scene = bpy.context.scene
    frames = np.arange(scene.frame_start, scene.frame_end + 1)
    poses = []
    for frame in frames:
        scene.frame_set(int(frame))
        hips = rig.pose.bones["hips"]
        poses.append([v for name in LEGS for v in rig.pose.bones[name].tail - hips.head])
    rows = np.array(poses)
    first = int(STEADY * len(frames))
    shortest = FRAME_RATE // 2
    apart = [float(np.abs(rows[first] - rows[k]).max()) for k in range(first + shortest, min(first + 72, len(frames)))]
    length = every * round((shortest + int(np.argmin(apart))) / every)
    print(f"the stride has {length} frames from {frames[first]} on; it closes to {min(apart):.4f} m", flush=True)
    return [int(f) for f in frames[first : first + length : every]]


def shot(
    name: str, label: str, place: Callable[[], Vector], height: float, frames: Sequence[int], hidden: Sequence[Object]
) -> list[np.ndarray]:
    """Return a picture of each frame; the camera goes along evenly."""
    scene = bpy.context.scene
    step = frames[1] - frames[0]
    ends = []
    for frame in (frames[0], frames[-1] + step):
        scene.frame_set(frame)
        ends.append(place())
    scale, way = height / WALKER, ends[1].x - ends[0].x
    tiles = max(1, round(way / (2 * TILE * scale)))  # a light and a dark one
    checker = bpy.data.materials["Ground"].node_tree.nodes["Checker Texture"]
    checker.inputs["Scale"].default_value = 2 * tiles / way
    cells = []
    for k, frame in enumerate(frames):
        scene.frame_set(frame)
        centre = Vector((ends[0].x + way * k / len(frames), 0.5 * (ends[0].y + ends[1].y), 0.0))
        cells.append(picture.shoot(hidden, centre, scale, label))
    print(f"{name}: {len(cells)} pictures, {way:.3f} m", flush=True)
    return cells


def hips_of(rig: Object) -> Callable[[], Vector]:
    """Return what gives the place of a character's hips at the present frame."""
    return lambda: rig.matrix_world @ rig.pose.bones["hips"].head


def base_of(root: Object) -> Callable[[], Vector]:
    """Return what gives the place of a robot's first body at the present frame."""
    body = next(o for o in root.children_recursive if o.robik.kind == "BODY")
    return lambda: body.matrix_world.translation.copy()


def meshes(root: Object) -> list[Object]:
    """Return what is to be seen of a robot."""
    return [o for o in root.children_recursive if o.type == "MESH" and not o.hide_render]


def motors(root: Object) -> list[str]:
    """Return the names of a robot's motors."""
    from tools.installed import add_on

    return list(add_on("scene.robot.reading").read_robot(root).actuators)
