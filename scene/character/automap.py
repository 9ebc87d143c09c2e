"""Proposes what the robot's frames follow, by the names of the character's bones."""

from __future__ import annotations

from bpy.types import Context, Object, PropertyGroup

from ...robik.errors import RobikError
from ...robik.mechanism import WORLD, Mechanism
from ...robik.retarget import names
from ...robik.retarget.hips import pelvis, turns_freely

UPPER = {"spine": 0.3, "chest": 0.3, "neck": 0.1, "head": 0.1} | dict.fromkeys(names.ARMS, 0.1)  # weights
STIFF = 0.02  # weight of a foot's direction where its leg cannot turn it every way: else all of the robot leans to hold it


def the_rig(context: Context, root: Object) -> Object:
    """The character: the one chosen, else the active armature, else the only one in the scene, or the only one there that is animated.

    Raises:
        RobikError: says which there are, if it is not clear which is meant.
    """
    scene, rig = context.scene, root.robik.robot.character.rig
    if rig is not None and scene.objects.get(rig.name) == rig:
        return rig
    armatures = [o for o in scene.objects if o.type == "ARMATURE"]
    if context.active_object in armatures:
        return context.active_object
    likely = [o for o in armatures if _is_animated(o)] or armatures  # Rigify, for one, leaves a meta-rig beside the rig
    if len(likely) != 1:
        there = f"there are {', '.join(o.name for o in armatures)}" if armatures else "there is no armature in this scene"
        raise RobikError(f"it is not clear which character the robot shall follow: choose its rig under Character; {there}")
    return likely[0]


def _is_animated(rig: Object) -> bool:
    return rig.animation_data is not None and (rig.animation_data.action is not None or len(rig.animation_data.nla_tracks) > 0)


def followable(rig: Object) -> list[str]:
    """What of a character can be followed: an armature's bones, else the object and what is parented to it."""
    return [bone.name for bone in rig.pose.bones] if rig.type == "ARMATURE" else [o.name for o in (rig, *rig.children_recursive)]


def proposed(mechanism: Mechanism, rig: Object) -> dict[str, str]:
    """What each frame of the robot should follow, the body where the legs meet, and each body where no frame but feet says what it is;
    empty where names do not tell.
    """
    frames, soles = [frame.name for frame in mechanism.frames], {frame.name for frame in mechanism.frames if frame.is_foot}
    said = any(names.part_of(frame.name)[0] for frame in mechanism.frames if not frame.is_foot)
    if not said:  # as where a file names sensors alone, or feet were made by hand
        feet = {names.part_of(frame) for frame in frames}
        frames += [body for body in names.ends(body.name for body in mechanism.bodies) if names.part_of(body) not in feet]
    hips = pelvis(mechanism) or ""
    if any(names.part_of(frame)[0] == "hips" for frame in frames if mechanism.frame(frame).body == hips):
        hips = ""  # it has a name
    elif hips and hips not in frames:
        frames.append(hips)
    first = sorted(frames, key=lambda frame: frame not in soles)  # of two that are called a foot, the one that it stands on
    found = names.auto_map(first, followable(rig), hips)
    return {frame: found.get(frame, "") for frame in frames}


def hung_by(mechanism: Mechanism, pairs: dict[str, str]) -> str:
    """The body by which a robot hangs in the world whose hips and feet follow a character; empty where it stands on a foot, or floats."""
    held = [joint.child for joint in mechanism.joints if joint.parent == WORLD and joint.type == "fixed"]
    soles = {frame.body for frame in mechanism.frames if frame.is_foot}
    walks = {"hips", "foot"} <= {names.part_of(bone)[0] for bone in pairs.values()}
    return held[0] if held and walks and not any(body in soles or names.part_of(body)[0] == "foot" for body in held) else ""


def apply(root: Object, mechanism: Mechanism, rig: Object, pairs: dict[str, str], scene_objects: dict[str, Object]) -> None:
    """Lets frames follow; what already follows keeps its weights."""
    character = root.robik.robot.character
    character.rig = rig
    known = {target.frame: target for target in character.targets}
    stands = any(names.part_of(frame)[0] == "foot" for frame in pairs)
    parts = names.parts_of(pairs.values())
    for frame, followed in pairs.items():
        target = known.get(frame) or _added(character, parts[followed], stands)
        if frame not in known and mechanism.frame(frame).is_foot and not turns_freely(mechanism, frame):
            target.orientation_weight = (STIFF,) * 3
        target.frame, target.enabled = frame, True
        target.source, target.bone = (rig, followed) if rig.type == "ARMATURE" else (scene_objects[followed], "")


def _added(character: PropertyGroup, part: str, stands: bool) -> PropertyGroup:
    """A target. What is above the hips counts less for a robot that stands, chest and head only by their direction."""
    target = character.targets.add()
    if stands and part in UPPER:
        target.weight = UPPER[part]
        if part not in names.ARMS:
            target.position_weight = (0.0, 0.0, 0.0)
    return target
