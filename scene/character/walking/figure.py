"""A character to follow: an armature of human proportions, 1.7 m tall, its legs steered by the feet, and a body to see.

As is Blender's custom it faces −Y in its rest pose, its left along +X.
"""

from __future__ import annotations

import bpy
from bpy.types import Object, Scene
from mathutils import Vector

from .flesh import Flesh, dress

ANKLE, BALL = (0.095, 0.0, 0.085), (0.095, -0.13, 0.03)
TOE, HEEL = Vector((0.095, -0.2, 0.0)), Vector((0.095, 0.07, 0.0))  # where the sole ends

# Bone: parent, head, tail; those of the left side are mirrored to the right.
BONES = {
    "hips": (None, (0, 0.0, 0.91), (0, 0.0, 1.03)),
    "spine": ("hips", (0, 0.0, 1.03), (0, 0.005, 1.20)),
    "chest": ("spine", (0, 0.005, 1.20), (0, 0.01, 1.44)),
    "neck": ("chest", (0, 0.01, 1.44), (0, -0.005, 1.52)),
    "head": ("neck", (0, -0.005, 1.52), (0, -0.01, 1.72)),
    "upper_arm.L": ("chest", (0.185, 0.01, 1.395), (0.225, 0.015, 1.12)),
    "forearm.L": ("upper_arm.L", (0.225, 0.015, 1.12), (0.24, -0.02, 0.88)),
    "hand.L": ("forearm.L", (0.24, -0.02, 0.88), (0.24, -0.035, 0.75)),
    "thigh.L": ("hips", (0.095, 0.0, 0.90), (0.095, -0.025, 0.495)),
    "shin.L": ("thigh.L", (0.095, -0.025, 0.495), ANKLE),
    "foot.L": ("shin.L", ANKLE, BALL),
    "foot_control.L": (None, ANKLE, BALL),
}

SKIN, SHIRT, TROUSERS, SHOE = (
    (0.62, 0.33, 0.20, 1.0),
    (0.05, 0.20, 0.42, 1.0),
    (0.035, 0.05, 0.10, 1.0),
    (0.03, 0.03, 0.035, 1.0),
)
FLESH = {
    "hips": (Flesh((0, 0.005, 0.90), (0, 0.005, 1.0), radii=(0.10, 0.105), stretch=(1.45, 1.0), colour=TROUSERS),),
    "spine": (Flesh((0, 0.0, 1.03), (0, 0.005, 1.20), radii=(0.10, 0.112), stretch=(1.35, 0.9), colour=SHIRT),),
    "chest": (Flesh((0, 0.005, 1.20), (0, 0.012, 1.36), radii=(0.112, 0.105), stretch=(1.5, 0.95), colour=SHIRT),),
    "neck": (Flesh((0, 0.012, 1.42), (0, -0.005, 1.54), radii=(0.052, 0.048), stretch=(1.0, 1.0), colour=SKIN),),
    "head": (Flesh((0, -0.015, 1.585), (0, -0.005, 1.635), radii=(0.078, 0.086), stretch=(0.92, 1.12), colour=SKIN),),
    "upper_arm.L": (
        Flesh((0.188, 0.01, 1.385), (0.225, 0.015, 1.12), radii=(0.056, 0.043), stretch=(1.0, 1.0), colour=SHIRT),
    ),
    "forearm.L": (
        Flesh((0.225, 0.015, 1.12), (0.24, -0.02, 0.88), radii=(0.043, 0.030), stretch=(1.0, 1.0), colour=SKIN),
    ),
    "hand.L": (
        Flesh((0.24, -0.024, 0.86), (0.24, -0.035, 0.77), radii=(0.03, 0.032), stretch=(0.7, 1.2), colour=SKIN),
    ),
    "thigh.L": (
        Flesh((0.095, 0.0, 0.88), (0.095, -0.025, 0.495), radii=(0.086, 0.058), stretch=(1.0, 1.0), colour=TROUSERS),
    ),
    "shin.L": (
        Flesh((0.095, -0.02, 0.495), (0.095, 0.0, 0.10), radii=(0.058, 0.040), stretch=(1.0, 1.0), colour=TROUSERS),
    ),
    "foot.L": (
        Flesh((0.095, 0.025, 0.045), (0.095, -0.155, 0.033), radii=(0.045, 0.033), stretch=(1.0, 1.0), colour=SHOE),
        Flesh((0.095, 0.0, 0.10), (0.095, 0.0, 0.06), radii=(0.043, 0.045), stretch=(1.0, 1.0), colour=SHOE),
    ),
}


def make_character(scene: Scene) -> Object:
    """Return the armature, at the origin, its body parented to it."""
    data = bpy.data.armatures.new("Character")
    rig = bpy.data.objects.new("Character", data)
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (parent, head, tail) in both_sides().items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = data.edit_bones[parent] if parent else None
        bone.use_deform = "control" not in name
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in "LR":
        _steer_leg(rig, side)
    for posed in rig.pose.bones:
        posed.rotation_mode = "QUATERNION"
    flesh = {name: tuple(f.mirrored() for f in parts) for name, parts in FLESH.items() if name.endswith(".L")}
    dress(rig, FLESH | {other_side(name): parts for name, parts in flesh.items()})
    return rig


def both_sides() -> dict[str, tuple]:
    """`BONES` with the right side."""
    bones: dict[str, tuple] = {}
    for name, (parent, head, tail) in BONES.items():
        bones[name] = (parent, head, tail)
        if name.endswith(".L"):
            flipped = [(-x, y, z) for x, y, z in (head, tail)]
            bones[other_side(name)] = (other_side(parent) if parent else None, *flipped)
    return bones


def other_side(name: str) -> str:
    """Return the right side's name of a left one's; the middle's as it is."""
    return f"{name[:-2]}.R" if name.endswith(".L") else name


def _steer_leg(rig: Object, side: str) -> None:
    """Make the leg reach for the foot's control, its knee a hinge; the foot turns with the control."""
    shin, foot = rig.pose.bones[f"shin.{side}"], rig.pose.bones[f"foot.{side}"]
    reach = shin.constraints.new("IK")
    reach.target, reach.subtarget, reach.chain_count, reach.iterations = rig, f"foot_control.{side}", 2, 200
    shin.lock_ik_y = shin.lock_ik_z = True
    turn = foot.constraints.new("COPY_ROTATION")
    turn.target, turn.subtarget = rig, f"foot_control.{side}"
