"""Example scenes: a character and a robot that follows it, put together by the operators behind the buttons."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, radians, sin
from pathlib import Path

import bpy
from bl_ext.user_default.robik.robik import robots
from mathutils import Euler, Vector

from demo.stage import bring_character, empty_scene
from tools.installed import add_on

RATE = 24
REACH = 0.62  # of the boxer's arm against the character's
SHOULDER = Vector((0.0, 0.0, 0.26))  # of the boxer [m]
GUARD = (-0.14, -0.22, 1.36)
FISTS = {1: GUARD, 8: GUARD, 16: (-0.10, -0.45, 1.42), 26: (-0.15, -0.24, 1.34), 35: (-0.12, -0.42, 1.24), 48: GUARD}
BESIDE = 0.8  # how far from the robot the character stands [m]


def boxer() -> None:
    """Build an arm that punches after a character's right hand, which itself is steered by an empty."""
    scene = begin(frames=48)
    rig = add_on("scene.character.walking.figure").make_character(scene)
    rig.rotation_euler.z, rig.location.y = radians(90), BESIDE  # the character faces -Y, the boxer X
    fist = bpy.data.objects.new("Fist", None)
    scene.collection.objects.link(fist)
    fist.parent = rig
    for frame, place in FISTS.items():
        fist.location = place
        fist.keyframe_insert("location", frame=frame)
    reach = rig.pose.bones["forearm.R"].constraints.new("IK")
    reach.target, reach.chain_count = fist, 2
    bpy.ops.robik.import_robot(filepath=str(robots.path("boxer")))
    bpy.ops.robik.auto_map(fit=False)  # its one frame, hand, finds hand.R
    character = scene.robik.robot.robik.robot.character
    target = character.targets[0]
    target.orientation_weight = (0.0, 0.0, 0.0)  # four motors cannot also turn the fist
    shoulder = rig.matrix_world @ rig.data.bones["upper_arm.R"].head_local
    character.scale, character.location = REACH, SHOULDER - REACH * shoulder


def dancer() -> None:
    """Build a pelvis on two legs that stand: it sways, bobs and turns after a character's hips."""
    scene = begin(frames=96)
    rig = add_on("scene.character.walking.figure").make_character(scene)
    rig.rotation_euler.z, rig.location.y = radians(90), BESIDE
    walk = add_on("scene.character.walking.walk")
    for frame in range(scene.frame_start, scene.frame_end + 1):
        beat = 2 * pi * (frame - 1) / 48
        turn = Euler((0.06 * sin(2 * beat), 0.10 * sin(beat), 0.05 * sin(beat + 1))).to_quaternion()
        walk.key(
            rig.pose.bones["hips"],
            frame,
            turn,
            Vector((0.06 * sin(beat), 0.02 * sin(2 * beat), -0.03 - 0.02 * sin(2 * beat))),
        )
    bpy.ops.robik.import_robot(filepath=str(robots.path("dancer")))
    character = scene.robik.robot.robik.robot.character
    character.scale = 0.3 / rig.data.bones["hips"].head_local.z  # from leg length to leg length
    bpy.ops.robik.auto_map()
    character.targets[0].orientation_weight = (0.2, 0.2, 0.2)


def walker() -> None:
    """Build a biped that walks after a character, its centre of mass over its feet."""
    scene = begin(frames=1)
    bpy.ops.robik.import_robot(filepath=str(robots.path("walker")))
    bring_character()
    bpy.ops.robik.auto_map()
    robot = scene.robik.robot.robik.robot
    pelvis = next(t for t in robot.character.targets if t.frame == "pelvis")
    pelvis.position_weight = (0.0, 0.0, 1.0)  # where it is sideways is for balance to say


def begin(frames: int) -> bpy.types.Scene:
    """Return an empty scene with ground and light, of this length."""
    scene = empty_scene()
    scene.render.fps, scene.frame_end = RATE, frames
    return scene


EXAMPLES: dict[str, Callable[[], None]] = {"boxer": boxer, "dancer": dancer, "walker_steps": walker}


def make(name: str, folder: Path) -> str:
    """Build, bakes and saves one scene; what came of it, in a line."""
    EXAMPLES[name]()
    bpy.ops.robik.bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
    result = bpy.context.scene.robik.robot.robik.robot.result
    worst = max((row.position_error for row in result.targets), default=0.0)
    return f"{name}: {result.frames - result.missed} of {result.frames} samples met, worst {1e3 * worst:.1f} mm"
