"""The picture: a row for the character, one for the naive robot, one for the balanced one; a column per moment.

Below the robot lie its support polygon and the place of its centre of mass on the ground: green inside, red outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from bpy.types import Object
from mathutils import Vector

from robik.retarget.support import signed_distance

CELL = (300, 380)  # pixels
SAMPLES = 12
VIEW = Vector((0.75, -1.45, 0.42))  # from what is looked at to the camera, at the robot's scale [m]
LOOK = 0.215  # height of what is looked at, likewise
LENS = 62.0  # [mm]
GREEN, RED, BLUE, INK = (0.02, 0.55, 0.12, 1.0), (0.85, 0.03, 0.02, 1.0), (0.05, 0.25, 0.85, 1.0), (0.02, 0.02, 0.025, 1.0)


def set_up_camera() -> None:
    """A camera and quick settings for many small pictures."""
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


def moments(frames: int, start: int, count: int) -> list[int]:
    """Scene frames for the columns, from where the motion has begun to where it ends."""
    return [start + round(k) for k in np.linspace(0.07 * frames, 0.93 * frames, count)]


def shoot(subject: Object, hidden: Sequence[Object], centre: Vector, scale: float, label: str, folder: Path) -> np.ndarray:
    """One cell at the present frame.

    Args:
        subject: for its name.
        hidden: what else there is, not to be seen.
        centre: on the ground, what is looked at.
        scale: size of the subject against the robot.
        label: written below.
        folder: for the file in between.

    Returns:
        Pixels (height, width, 4), the top row first.
    """
    scene = bpy.context.scene
    camera = scene.camera
    target = centre + Vector((0, 0, LOOK * scale))
    camera.location = target + scale * VIEW
    camera.rotation_euler = (target - camera.location).to_track_quat("-Z", "Y").to_euler()
    file = folder / f"{subject.name}.png"
    scene.render.filepath = str(file)
    with _unseen(hidden), _written(label):
        bpy.ops.render.render(write_still=True)
    return load(file)


def load(file: Path) -> np.ndarray:
    """A picture's pixels (height, width, 4), the top row first."""
    image = bpy.data.images.load(str(file))
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    width, height = image.size
    bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)[::-1]


def save(pixels: np.ndarray, file: Path) -> None:
    """Writes pixels (height, width, 4), the top row first, as PNG."""
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
    corner = bpy.context.scene.camera.data.view_frame(scene=bpy.context.scene)[2]  # lower left, one unit away or so
    label.location = Vector((corner.x + 0.02 * abs(corner.z), corner.y + 0.02 * abs(corner.z), corner.z)) / abs(corner.z)
    label.visible_shadow = label.visible_diffuse = False
    bpy.context.scene.collection.objects.link(label)
    yield
    bpy.data.objects.remove(label)
    bpy.data.curves.remove(curve)


@contextmanager
def footing(polygon: np.ndarray | None, com: np.ndarray) -> Iterator[None]:
    """The support polygon (K, 2), and the place of the CoM (3,) on the ground, while the picture is taken."""
    made = []
    if polygon is not None and len(polygon) > 2:
        inside = signed_distance(com[None, :2], polygon)[0] >= 0
        made.append(_flat("Support", polygon, 0.0008, BLUE, 0.45))
    else:
        inside = False
    turns = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    disc = com[:2] + 0.011 * np.column_stack([np.cos(turns), np.sin(turns)])
    colour = GREEN if inside else RED
    made.append(_flat("CoM", disc, 0.0016, colour))
    yield
    for each in made:
        mesh = each.data
        bpy.data.objects.remove(each)
        bpy.data.meshes.remove(mesh)


def _flat(name: str, outline: np.ndarray, height: float, colour: tuple[float, float, float, float], strength: float = 1.0) -> Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(float(x), float(y), height) for x, y in outline], [], [tuple(range(len(outline)))])
    mesh.materials.append(glowing(colour, strength))
    made = bpy.data.objects.new(name, mesh)
    made.visible_shadow = False
    bpy.context.scene.collection.objects.link(made)
    return made


def glowing(colour: tuple[float, float, float, float], strength: float = 1.0) -> bpy.types.Material:
    """A material of that colour whatever the light."""
    made = bpy.data.materials.new("Mark")
    made.diffuse_color = colour
    made.use_nodes = True
    nodes = made.node_tree.nodes
    glow = nodes.new("ShaderNodeEmission")
    glow.inputs["Color"].default_value, glow.inputs["Strength"].default_value = colour, strength
    made.node_tree.links.new(glow.outputs[0], nodes["Material Output"].inputs["Surface"])
    return made
