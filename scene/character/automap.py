"""Auto-Map in Blender: which rig is meant, what is proposed for it, and the targets made of that."""

from __future__ import annotations

from collections.abc import Iterable

from bpy.types import Context, Object, PropertyGroup

from ...robik.errors import RobikError
from ...robik.mechanism import WORLD, Mechanism
from ...robik.skeleton import names
from ...robik.skeleton.following import FEW
from ...robik.skeleton.mapping import Row, auto_map
from ..robot.library import add_row
from .skeleton import read_character


def the_rig(context: Context, root: Object) -> Object:
    """Return the character: the one chosen, the active armature, the only one in the scene, or the only animated one.

    A RobikError lists the armatures if it is not clear which is meant.
    """
    scene, rig = context.scene, root.robik.robot.character.rig
    if rig is not None and scene.objects.get(rig.name) == rig:
        return rig
    armatures = [o for o in scene.objects if o.type == "ARMATURE"]
    if context.active_object in armatures:
        return context.active_object
    likely = [o for o in armatures if _is_animated(o)] or armatures  # Rigify, for one, leaves a meta-rig beside the rig
    if len(likely) != 1:
        there = (
            f"there are {', '.join(o.name for o in armatures)}" if armatures else "there is no armature in this scene"
        )
        raise RobikError(
            f"it is not clear which character the robot shall follow: choose its rig under Character; {there}"
        )
    return likely[0]


def _is_animated(rig: Object) -> bool:
    return rig.animation_data is not None and (
        rig.animation_data.action is not None or len(rig.animation_data.nla_tracks) > 0
    )


def followable(rig: Object) -> list[str]:
    """Return what of a character can be followed: an armature's bones, else the object and what is parented to it."""
    return (
        [bone.name for bone in rig.pose.bones]
        if rig.type == "ARMATURE"
        else [o.name for o in (rig, *rig.children_recursive)]
    )


def proposed(context: Context, root: Object, mechanism: Mechanism, rig: Object) -> list[Row]:
    """Return what each frame of the robot should follow, by the names and the shape of both."""
    return auto_map(mechanism, followable(rig), read_character(context, root, rig, looks=FEW).anatomy)


def proposed_for(
    context: Context, root: Object, mechanism: Mechanism, rig: Object, *, frame: str = "", bone: str = ""
) -> Row | None:
    """Return the row that Auto-Map would give a frame, or a bone; None where it gives none."""
    rows = (row for row in proposed(context, root, mechanism, rig) if row.bone)
    return next((row for row in rows if frame in ("", row.frame) and bone in ("", row.bone)), None)


def hung_by(mechanism: Mechanism, rows: Iterable[Row]) -> str:
    """Return the body by which a robot hangs in the world whose hips and feet follow a character.

    Empty where it stands or floats.
    """
    held = [joint.child for joint in mechanism.joints if joint.parent == WORLD and joint.type == "fixed"]
    soles = {frame.body for frame in mechanism.frames if frame.is_foot}
    walks = {"hips", "foot"} <= {row.part for row in rows}
    return (
        held[0]
        if held and walks and not any(body in soles or names.part_of(body)[0] == "foot" for body in held)
        else ""
    )


def apply(root: Object, rig: Object, rows: Iterable[Row], scene_objects: dict[str, Object]) -> list[str]:
    """Let frames follow, and return those whose targets are switched off; what already follows keeps its weights.

    Those follow an armature that the others have left for this one.
    """
    character = root.robik.robot.character
    character.rig = rig
    known = {target.frame: target for target in character.targets if target.leads}
    left: set[Object] = set()
    for row in rows:
        target = known.pop(row.frame, None) or add_target(character, row)
        if target.source not in (None, rig) and target.source.type == "ARMATURE":
            left.add(target.source)
        target.frame, target.enabled = row.frame, True
        target.source, target.bone = (rig, row.bone) if rig.type == "ARMATURE" else (scene_objects[row.bone], "")
    stayed = [target for target in known.values() if target.enabled and target.source in left]
    for target in stayed:
        target.enabled = False
    return [target.frame for target in stayed]


def add_target(character: PropertyGroup, row: Row) -> PropertyGroup:
    """Return a new target with the weights of its row."""
    target = add_row(character.targets)
    weigh(target, row)
    return target


def weigh(target: PropertyGroup, row: Row) -> None:
    """Give a target the weights of a row."""
    target.weight, target.position_weight, target.orientation_weight = (
        row.weight,
        row.position_weight,
        row.orientation_weight,
    )
