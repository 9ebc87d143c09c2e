"""The scene: who is in it, the ground they stand on, and the light."""

from __future__ import annotations

import re
from math import radians
from pathlib import Path

import bpy
from bpy.types import Object, Scene

from tools.installed import add_on

FRAME_RATE = 24
TILE = 0.1  # of the ground, at the robot's scale [m]
BRONZE = (0.50, 0.22, 0.09, 1.0)


def empty_scene() -> Scene:
    """Nothing but ground, light and world."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = FRAME_RATE, 1.0
    scene.frame_start = 1
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    background = scene.world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value, background.inputs["Strength"].default_value = (
        (0.80, 0.86, 0.95, 1.0),
        0.55,
    )
    for name, energy, angles, size in (("Key", 3.2, (48, 6, 28), 6.0), ("Rim", 1.2, (60, 0, 205), 20.0)):
        light = bpy.data.lights.new(name, "SUN")
        light.energy, light.angle = energy, radians(size)
        made = bpy.data.objects.new(name, light)
        made.rotation_euler = [radians(a) for a in angles]
        scene.collection.objects.link(made)
    _add_ground(scene)
    return scene


def _add_ground(scene: Scene) -> None:
    mesh = bpy.data.meshes.new("Ground")
    corners = [(-200, -200, 0), (200, -200, 0), (200, 200, 0), (-200, 200, 0)]
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    ground = bpy.data.objects.new("Ground", mesh)
    scene.collection.objects.link(ground)
    made = bpy.data.materials.new("Ground")
    made.diffuse_color = (0.6, 0.62, 0.65, 1.0)
    made.use_nodes = True
    nodes, links = made.node_tree.nodes, made.node_tree.links
    checker, place = nodes.new("ShaderNodeTexChecker"), nodes.new("ShaderNodeTexCoord")
    checker.inputs["Color1"].default_value, checker.inputs["Color2"].default_value = (
        (0.58, 0.60, 0.63, 1),
        (0.46, 0.48, 0.52, 1),
    )
    checker.inputs["Scale"].default_value = 1.0 / TILE
    links.new(place.outputs["Object"], checker.inputs["Vector"])
    links.new(checker.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.8
    mesh.materials.append(made)


def bring_character() -> Object:
    """RobIK's own character, walking along X beside the robot; the scene lasts as long as its walk."""
    bpy.ops.robik.add_character()
    rig = bpy.context.object
    bpy.context.scene.frame_end = round(rig.animation_data.action.frame_range[1])
    return rig


def bring_recording(file: Path) -> Object:
    """Return a recorded performer from a BVH file, of human height, with a body to see.

    The scene takes its frame rate and length.

    The first frame of a recording is often a pose to align by, so the scene starts at the second.
    """
    scene = bpy.context.scene
    rate = re.search(r"Frame Time:\s*([\d.]+)", file.read_text(errors="replace") if file.is_file() else "")
    if rate and float(rate[1]) > 0:
        scene.render.fps, scene.render.fps_base = round(1 / float(rate[1])), 1.0
    scene.frame_end = 2
    rig = add_on("scene.character.recording").bring_recording(file)
    scene.frame_start = 2
    rig.rotation_euler.z += radians(90)
    heights = [end.z for bone in rig.data.bones for end in (bone.head_local, bone.tail_local)]
    height = max(heights) - min(heights)
    dress = add_on("scene.character.walking.flesh").dress
    dress(rig, {bone.name: (_limb(bone, height),) for bone in rig.data.bones if bone.length > 0.02 * height})
    return rig


def _limb(bone: bpy.types.Bone, height: float) -> object:
    """Return a capsule along a bone, slimmer where the bone is short; a head is round."""
    thick = 0.045 if bone.name.lower().endswith("head") else 0.035
    radius = min(max((0.5 if thick > 0.04 else 0.17) * bone.length, 0.012 * height), thick * height)
    flesh = add_on("scene.character.walking.flesh").Flesh
    return flesh(tuple(bone.head_local), tuple(bone.tail_local), (radius, 0.8 * radius), (1.0, 1.0), BRONZE)
