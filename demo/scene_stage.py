"""A scene of contacts on a robot: what stands beside it, the bake, its figures and its pictures."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from bpy.types import Object
from mathutils import Vector

from demo import picture
from demo.film import meshes
from demo.scene_keys import RATE, RISE, SCENES, SEAT, STEPS, TABLE, TREAD
from demo.stage import empty_scene
from tools.installed import add_on

MOMENTS = 6
WOOD = (0.42, 0.25, 0.12, 1.0)


def show(name: str, file: Path, out: Path) -> None:
    """Bake a scene, print its figures and write its pictures."""
    scene = empty_scene()
    scene.render.fps = RATE
    bpy.ops.robik.import_robot(filepath=str(file))
    rig = add_on("scene.character.walking.figure").make_character(scene)
    rig.rotation_euler.z = np.pi / 2  # it looks along X, as robots do
    scene.frame_end = SCENES[name](rig)
    root = scene.robik.robot
    root.robik.robot.character.rig = rig
    bpy.ops.robik.auto_map()
    things = SETTINGS[name](root, rig)
    print(name, root.robik.label, bpy.ops.robik.bake(), flush=True)
    bpy.ops.robik.judge_penetration()
    _tell(root)
    _pictures(name, root, rig, things, out)


def _tell(root: Object) -> None:
    """Print what the bake is worth."""
    result = root.robik.robot.result
    print(
        f"  {result.frames} frames, contacts {1e3 * result.contact_off:.4f} mm off, soles {1e3 * result.sunk:.2f} mm in"
        f" the ground, slide {result.slide:.4f} mm/s;"
        f" {add_on('scene.bake.result').status(result)}"
    )
    for row in result.penetration:
        print(f"  {row.name}: {1e3 * row.depth:.2f} mm, frame {row.frame}")
    mechanism = add_on("scene.robot.reading").read_robot(root)
    frames = np.arange(1.0, bpy.context.scene.frame_end + 1)
    values = add_on("scene.motion").read_values(root, mechanism, frames, bpy.context.scene)
    step = np.abs(np.diff(values, axis=0)).max(axis=0) * RATE / 120
    worst = int(np.argmax(step))
    print(f"  largest step of a motor in 1/120 s {step[worst]:.3f} rad ({mechanism.actuators[worst]})", flush=True)


def _beside(root: Object, place: tuple[float, float, float]) -> Vector:
    """Return a place of the character's, forward, left and up, where it is for the robot."""
    placement = add_on("scene.character.placement").read_placement(root)
    rotation = add_on("robik.mechanism.orientations").rotation
    x, y, z = place
    found = placement.apply(np.array([[x, y, z]]), rotation(np.array([[1.0, 0.0, 0.0, 0.0]])))[0][0]
    return root.matrix_world @ Vector(found)


def _box(root: Object, name: str, low: tuple[float, float, float], high: tuple[float, float, float]) -> Object:
    """Return a box between two places of the character's, beside the robot."""
    a, b = _beside(root, low), _beside(root, high)
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(a + b) / 2)
    made = bpy.context.object
    made.name = name
    made.scale = [abs(v) for v in b - a]
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    paint = bpy.data.materials.new("Wood")
    paint.use_nodes = True
    paint.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = WOOD
    made.data.materials.append(paint)
    return made


def _obstacles(root: Object, *things: Object) -> None:
    """Keep the robot out of some objects."""
    collection = bpy.data.collections.new("Things")
    bpy.context.scene.collection.children.link(collection)
    for thing in things:
        collection.objects.link(thing)
    root.robik.robot.bake.obstacles = collection


def _hold(root: Object, of: str, thing: Object, first: float, last: float) -> None:
    """Let what follows a bone hold on to an object from one time to another [s]."""
    for target in root.robik.robot.character.targets:
        if target.bone.startswith(of) and target.follows == "POSE" and sum(target.position_weight) > 0:
            bpy.ops.robik.add_phase(foot=target.frame, start=round(first * RATE) + 1, end=round(last * RATE) + 1)
            target.holds_on = thing


def _sit(root: Object, rig: Object) -> list[Object]:
    height, behind = SEAT
    stool = _box(root, "Stool", (-behind - 0.2, -0.2, 0.0), (-behind + 0.14, 0.2, height))
    _obstacles(root, stool)
    _hold(root, "hips", stool, 3.05, 4.95)
    return [stool]


def _lean(root: Object, rig: Object) -> list[Object]:
    height, before = TABLE
    top = _box(root, "Table", (before, -0.5, height - 0.04), (before + 0.5, 0.5, height))
    legs = [_box(root, f"Leg{k}", (x, y, 0.0), (x + 0.05, y + 0.05, height - 0.04)) for k, (x, y) in enumerate(
        [(before + 0.42, -0.45), (before + 0.42, 0.4)])]  # fmt: skip
    _obstacles(root, top)
    _hold(root, "hand", top, 2.05, 4.65)
    return [top, *legs]


def _steps(root: Object, rig: Object) -> list[Object]:
    ends = [0.16 + k * TREAD for k in range(STEPS)] + [0.76 + STEPS * TREAD]
    made = [_box(root, f"Step{k}", (ends[k], -0.5, 0.0), (ends[k + 1], 0.5, (k + 1) * RISE)) for k in range(STEPS)]
    bpy.context.view_layer.objects.active = made[0]
    for each in made:
        each.select_set(True)
    bpy.ops.object.join()
    root.robik.robot.balance.ground = made[0]
    return made[:1]


def _platform(root: Object, rig: Object) -> list[Object]:
    made = _box(root, "Platform", (-0.35, -0.4, -0.05), (0.35, 0.4, 0.0))
    scene, rest = bpy.context.scene, made.location.copy()
    bpy.data.objects["Ground"].location.z = -0.1  # it does not go into the floor that is seen
    for frame in range(scene.frame_start, scene.frame_end + 1):
        t = (frame - 1) / RATE
        made.location = rest + Vector((0.15 * np.sin(t), 0.1 * np.sin(0.7 * t), 0.06 * (1.0 - np.cos(1.3 * t))))
        made.rotation_euler.z = 0.5 * np.sin(0.8 * t)
        made.keyframe_insert("location", frame=frame)
        made.keyframe_insert("rotation_euler", frame=frame)
    root.robik.robot.balance.ground = made
    return [made]


SETTINGS = {"sit": _sit, "lean": _lean, "steps": _steps, "platform": _platform}


def _pictures(name: str, root: Object, rig: Object, things: list[Object], out: Path) -> None:
    """Write a row of moments of the robot below one of the character."""
    scene = bpy.context.scene
    picture.set_up_camera()
    frames = np.linspace(scene.frame_start + 5, scene.frame_end - 5, MOMENTS).astype(int).tolist()
    rows = []
    for seen, hidden, height in (
        (rig.children_recursive, [*meshes(root), *things], 1.75),
        (meshes(root), [rig, *rig.children_recursive], root.robik.robot.character.scale * 1.75),
    ):
        cells = []
        for frame in frames:
            scene.frame_set(frame)
            label = f"{(frame - 1) / RATE:.1f} s"
            cells.append(picture.shoot(hidden, _below(seen), height / 0.57, label))
        rows.append(np.concatenate(cells, axis=1))
    picture.save(np.concatenate(rows, axis=0), out / f"{name}-{root.robik.label}.png")


def _below(objects: list[Object]) -> Vector:
    """Return the lowest height of some objects, below the middle of them."""
    corners = np.array([o.matrix_world @ Vector(corner) for o in objects for corner in o.bound_box])
    low, high = corners.min(axis=0), corners.max(axis=0)
    return Vector((*(0.5 * (low + high))[:2], low[2]))
