"""The walker follows a character: import, map, fit, bake, by the operators that a user's clicks call."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bl_ext.user_default.robik.robik import robots
from bl_ext.user_default.robik.robik.bake.bake import bake as library_bake
from bl_ext.user_default.robik.robik.bake.request import BakeRequest
from bl_ext.user_default.robik.robik.clips.clip import TargetClip
from bl_ext.user_default.robik.robik.errors import RobikError
from bl_ext.user_default.robik.robik.feet.support import margins, zero_moment_margins
from bl_ext.user_default.robik.robik.mechanism import Mechanism
from bl_ext.user_default.robik.robik.motions import Motion, report_summary
from bl_ext.user_default.robik.robik.steps import finish
from bpy.types import Object
from mathutils import Quaternion, Vector

from demo.stage import bring_character, bring_recording
from tools.installed import add_on

SOFT_FROM, SOFTNESS = 90.0, 0.003  # percentage of the motors' speed from which bodies are held back, and how strongly
SAME = 1e-6  # what the curves and the library may differ by [rad]

# Robot frame → the bones that it may follow, in rigs and recordings; the first that exists is taken.
BONES = {
    "pelvis": ("hips", "Hips", "pelvis", "hip"),
    "foot_l": ("foot.L", "LeftFoot", "lFoot", "foot_l"),
    "foot_r": ("foot.R", "RightFoot", "rFoot", "foot_r"),
}


@dataclass(frozen=True)
class Weights:
    """Weights of positions along the world's axes and of the directions of the frame's axes."""

    feet: tuple[float, float]  # position, orientation
    pelvis: tuple[tuple[float, float, float], float]
    com: float


# The paper's for a walk that the robot can follow; a dancer goes where its legs cannot, and then places matter more
# than directions.
WALKING = Weights((10.0, 100.0), ((0.0, 0.0, 1.0), 1.0), 10.0)
DANCING = Weights((100.0, 1.0), ((0.0, 0.0, 1.0), 0.1), 30.0)
NAIVE_PELVIS = (1.0, 1.0, 1.0)
MARGIN = 0.028  # [m]: what the servos give way by takes some of it


@dataclass(frozen=True)
class Bake:
    """Result of a bake.

    Attributes:
        clip: what the robot was to follow, with contact phases if it was balanced.
        motion: what it does, with its report.
    """

    clip: TargetClip
    motion: Motion


def import_walker() -> Object:
    """Return the walker, at the scene's origin."""
    bpy.ops.robik.import_robot(filepath=str(robots.path("walker")))
    return bpy.context.scene.robik.robot


def follow(root: Object, rig: Object, weights: Weights) -> None:
    """Map the character's hips and feet to the robot and fits its size and place."""
    for frame, names in BONES.items():
        bone = next((n for n in names if n in rig.pose.bones), None)
        if bone is None:
            raise RobikError(f"{rig.name} has no bone for the robot's {frame!r}; one of {', '.join(names)} would do")
        bpy.ops.robik.add_target(frame=frame, source=rig.name, bone=bone)
        target = root.robik.robot.character.targets[-1]
        if frame == "pelvis":
            target.position_weight, target.orientation_weight = weights.pelvis[0], (weights.pelvis[1],) * 3
        else:
            target.position_weight, target.orientation_weight = (weights.feet[0],) * 3, (weights.feet[1],) * 3
    root.robik.robot.balance.weight = (weights.com,) * 3
    bpy.ops.robik.fit_character()


def bake(root: Object, balanced: bool) -> Bake:
    """Bake through the operator; what the library says of the same clip must be what the curves hold."""
    scene = bpy.context.scene
    set_balance(root, balanced)
    pelvis = next(t for t in root.robik.robot.character.targets if t.frame == "pelvis")
    weight = tuple(pelvis.position_weight)
    if not balanced:
        pelvis.position_weight = NAIVE_PELVIS
    bpy.ops.robik.bake()
    mechanism = add_on("scene.robot.reading").read_robot(root)
    request, asked = sampled(root)
    made = library_bake(asked)
    pelvis.position_weight = weight
    keyed = add_on("scene.motion").read_motion(root, mechanism, request.frames, scene)
    if (off := np.abs(keyed.values - made.motion.values).max()) > SAME:
        raise RobikError(f"the baked curves differ by {off:g} rad from what the solver says; bake again")
    return Bake(made.clip, made.motion)


def set_balance(root: Object, balanced: bool) -> None:
    """Let the robot balance in its next bake, or not."""
    balance = root.robik.robot.balance
    balance.mode = "AUTO" if balanced else "OFF"
    balance.pin_feet, balance.margin, balance.add_give = balanced, MARGIN, False


def sampled(root: Object) -> tuple[Any, BakeRequest]:
    """Return what a bake of the robot is asked for, in the scene's terms and in the library's."""
    request = add_on("scene.bake.request").read_request(root, bpy.context.scene)
    sample_clip = add_on("scene.bake.target_clip").sample_clip
    return request, request.of(finish(sample_clip(bpy.context, request)))


def contacts_of(clip: TargetClip) -> dict[str, np.ndarray]:
    """Return the feet's contacts, (T,) each."""
    return {name: track.contact for name, track in clip.tracks.items() if track.contact is not None}


def summary(mechanism: Mechanism, motion: Motion, contacts: dict[str, np.ndarray]) -> dict:
    """Return the report of a bake, and how well it is balanced."""
    inside = margins(mechanism, motion, contacts)
    standing, pressed = np.isfinite(inside), zero_moment_margins(mechanism, motion, contacts)
    return report_summary(motion) | {
        "com_margin_min_m": float(np.nanmin(inside)),
        "zero_moment_margin_min_m": float(np.nanmin(pressed)),
        "frames_tipping": int((pressed[standing] < 0).sum()),
        "frames_standing": int(standing.sum()),
        "frames_outside_support": int((inside[standing] < 0).sum()),
    }


def prepare(recording: Path | None) -> tuple[Object, Object]:
    """Return the scene in which the robot follows the character.

    Returns the robot's root and the character's armature.
    """
    if recording is None:
        root, rig = import_walker(), bring_character()
        follow(root, rig, WALKING)
    else:
        root, rig = import_walker(), bring_recording(recording)
        follow(root, rig, DANCING)
        bpy.context.scene.frame_set(bpy.context.scene.frame_start - 1)
        lay_over(root, rig)
        bpy.ops.robik.match_now()
        level(root)
        soften(root)
    return root, rig


def lay_over(root: Object, rig: Object) -> None:
    """Scale and place the character by its present pose.

    Recordings begin standing, while their rest pose may straddle.
    """
    mechanism, character = add_on("scene.robot.reading").read_robot(root), root.robik.robot.character
    frames = [mechanism.frame(target.frame) for target in character.targets]
    there = np.array([mechanism.rest_pose(f.name).position for f in frames])
    here = np.array([rig.matrix_world @ rig.pose.bones[target.bone].head for target in character.targets])
    feet = np.array([f.is_foot for f in frames])
    tall = [points[~feet, 2].mean() - points[feet, 2].mean() for points in (there, here)]
    scale = tall[0] / tall[1]
    middle = (there - scale * here).mean(axis=0)
    character.scale, character.location = scale, (*middle[:2], (there - scale * here)[feet, 2].mean())


def level(root: Object) -> None:
    """Turn the pelvis's offset so that over the whole recording the robot's torso stands upright on average.

    Recorded hips are tilted by as much as their markers were; a robot with one torso for hips and chest would stoop all
    the time.
    """
    _, asked = sampled(root)
    turns = asked.clip.tracks["pelvis"].quaternion
    ups = [(Quaternion(q).inverted() @ Vector((0, 0, 1))) for q in turns.tolist()]
    lean = Vector((0, 0, 1)).rotation_difference(sum(ups, Vector()).normalized())
    target = next(t for t in root.robik.robot.character.targets if t.frame == "pelvis")
    target.offset_rotation = Quaternion(target.offset_rotation) @ lean


def soften(root: Object) -> None:
    """Hold the robot back where a recorded performer moves faster than its motors can turn."""
    settings = root.robik.robot.bake
    settings.soften, settings.velocity_share, settings.velocity_weight = True, SOFT_FROM, SOFTNESS
