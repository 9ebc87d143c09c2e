"""The picture: a row for the character, one for the naive robot, one for the balanced one; a column per moment.

Beside the robot are its feet from above, dark, its support polygon, blue, and the place of its centre of mass: green
inside, red outside.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from bl_ext.user_default.robik.robik.feet.support import signed_distance
from bpy.types import Object
from mathutils import Vector

CELL = (270, 380)  # pixels
SAMPLES = 8
VIEW = Vector((0.75, -1.45, 0.42))  # from what is looked at to the camera, at the robot's scale [m]
LOOK = 0.23  # height of what is looked at, likewise
LENS = 74.0  # [mm]
MAP_SHARE, MAP_WIDE = 0.36, 0.30  # of the feet: share of the picture's width, and what that is on the ground [m]
GREEN, RED, BLUE = (0.02, 0.75, 0.15, 1.0), (0.9, 0.02, 0.02, 1.0), (0.25, 0.5, 0.95, 1.0)
FOOT, INK = (0.22, 0.24, 0.28, 1.0), (0.02, 0.02, 0.025, 1.0)

Colour = tuple[float, float, float, float]


def set_up_camera() -> None:
    """Set up a camera and quick settings for many small pictures."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens, camera.data.clip_start, camera.data.clip_end = LENS, 0.01, 200.0
    scene.collection.objects.link(camera)
    scene.camera = camera
    render = scene.render
    render.engine, render.resolution_x, render.resolution_y, render.resolution_percentage = "CYCLES", *CELL, 100
    render.use_persistent_data = True
    render.image_settings.file_format = "PNG"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", SAMPLES, True
    scene.cycles.max_bounces = 3
    scene.view_settings.view_transform = "Standard"


def moments(contacts: Mapping[str, np.ndarray], count: int) -> list[int]:
    """Return the samples for the columns, spread over the motion.

    Each is moved to where it tells most, on one foot, if that is near.
    """
    stands = np.stack(list(contacts.values()))
    frames = stands.shape[1]
    evenly = np.linspace(0.05 * frames, 0.92 * frames, count).astype(int)
    reach = frames // (2 * count)
    chosen = []
    for k in evenly.tolist():
        near = np.arange(max(k - reach, 0), min(k + reach, frames))
        on_one = near[stands[:, near].sum(axis=0) == 1]
        chosen.append(int(on_one[np.argmin(np.abs(on_one - np.median(on_one)))]) if len(on_one) else k)
    return chosen


def shoot(hidden: Sequence[Object], centre: Vector, scale: float, label: str) -> np.ndarray:
    """Return one cell at the present frame."""
    scene = bpy.context.scene
    camera = scene.camera
    target = centre + Vector((0, 0, LOOK * scale))
    camera.location = target + scale * VIEW
    camera.rotation_euler = (target - camera.location).to_track_quat("-Z", "Y").to_euler()
    with tempfile.TemporaryDirectory() as folder, _unseen(hidden), _written(label):
        scene.render.filepath = f"{folder}/cell.png"
        bpy.ops.render.render(write_still=True)
        return load(Path(scene.render.filepath))


def load(file: Path) -> np.ndarray:
    """Return a picture's pixels (height, width, 4), the top row first."""
    image = bpy.data.images.load(str(file))
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    width, height = image.size
    bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)[::-1]


def save(pixels: np.ndarray, file: Path) -> None:
    """Write pixels (height, width, 4), the top row first, as PNG."""
    height, width, _ = pixels.shape
    image = bpy.data.images.new("Picture", width, height)
    image.pixels.foreach_set(np.ascontiguousarray(pixels[::-1], dtype=np.float32).ravel())
    image.filepath_raw, image.file_format = str(file), "PNG"
    image.save()
    bpy.data.images.remove(image)


@contextmanager
def _unseen(objects: Sequence[Object]) -> Iterator[None]:
    before = [o.hide_render for o in objects]
    for each in objects:
        each.hide_render = True
    yield
    for each, was in zip(objects, before, strict=True):
        each.hide_render = was


@contextmanager
def _written(text: str) -> Iterator[None]:
    """Text in the lower left corner of the picture, while it is taken."""
    curve = bpy.data.curves.new("Label", "FONT")
    curve.body, curve.size = text, 0.026
    curve.materials.append(glowing(INK))
    label = bpy.data.objects.new("Label", curve)
    label.parent = bpy.context.scene.camera
    left, bottom = _corner(2)
    label.location = (left + 0.02, bottom + 0.02, -1.0)
    label.visible_shadow = label.visible_diffuse = False
    bpy.context.scene.collection.objects.link(label)
    yield
    bpy.data.objects.remove(label)
    bpy.data.curves.remove(curve)


@contextmanager
def footing(soles: Mapping[str, np.ndarray], polygon: np.ndarray | None, com: np.ndarray) -> Iterator[None]:
    """Show the feet from above, the support polygon and the CoM, in the upper left corner of the picture."""
    outlines = [(np.asarray(sole), 0.0, FOOT) for sole in soles.values()]
    if polygon is not None and len(polygon) > 2:
        outlines.append((polygon, 0.001, BLUE))
    inside = polygon is not None and signed_distance(com[None, :2], polygon)[0] >= 0
    turns = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    outlines.append(
        (com[:2] + 0.013 * np.column_stack([np.cos(turns), np.sin(turns)]), 0.002, GREEN if inside else RED)
    )
    middle = np.concatenate([np.asarray(sole) for sole in soles.values()]).mean(axis=0)
    made = [_on_map(outline - middle, height, colour) for outline, height, colour in outlines]
    yield
    for each in made:
        mesh = each.data
        bpy.data.objects.remove(each)
        bpy.data.meshes.remove(mesh)


def _on_map(outline: np.ndarray, height: float, colour: Colour) -> Object:
    """Return a flat shape before the camera; what is forward for the robot is to the right."""
    left, top = _corner(3)
    size = MAP_SHARE * 2 * abs(left) / MAP_WIDE
    mesh = bpy.data.meshes.new("Map")
    mesh.from_pydata([(float(x) * size, float(y) * size, height) for x, y in outline], [], [tuple(range(len(outline)))])
    mesh.materials.append(glowing(colour))
    made = bpy.data.objects.new("Map", mesh)
    made.parent = bpy.context.scene.camera
    made.location = (left * (1 - MAP_SHARE), top - abs(left) * MAP_SHARE * 0.75, -1.0)
    made.visible_shadow = made.visible_diffuse = False
    bpy.context.scene.collection.objects.link(made)
    return made


def _corner(which: int) -> tuple[float, float]:
    """Of the picture, one unit before the camera: 2 the lower left, 3 the upper left one."""
    corner = bpy.context.scene.camera.data.view_frame(scene=bpy.context.scene)[which]
    return corner.x / abs(corner.z), corner.y / abs(corner.z)


def glowing(colour: Colour) -> bpy.types.Material:
    """Return a material of that colour whatever the light."""
    made = bpy.data.materials.new("Mark")
    made.diffuse_color = colour
    made.use_nodes = True
    nodes = made.node_tree.nodes
    glow = nodes.new("ShaderNodeEmission")
    glow.inputs["Color"].default_value = colour
    made.node_tree.links.new(glow.outputs[0], nodes["Material Output"].inputs["Surface"])
    return made
