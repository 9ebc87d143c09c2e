"""Fit in Blender: the character and its targets read from the scene, and what the library makes of them set."""

from __future__ import annotations

import numpy as np
from bpy.types import Context, Object, PropertyGroup
from mathutils import Matrix, Quaternion, Vector

from ...robik.mechanism import Mechanism, Pose
from ...robik.recordings.recording import upward
from ...robik.skeleton.fit import Fitted, FittedTarget
from ...robik.skeleton.fit import fit as fitted_to
from ...robik.skeleton.following import FLAT, fit_target, fitted_offset, fitted_weights
from ...robik.skeleton.overlay import FitTarget
from ...robik.skeleton.skeleton import SkeletonMotion
from ..robot.parts import bodies, local_pose, parts, pose_of
from .mapping import active_targets, asked_targets, check_source, match, placed_pose, source_matrix
from .placement import read_placement
from .settings import RELATIVE_TO
from .skeleton import Character, read_character

UPRIGHT = 0.5  # of the way from a character's feet to its head: one whose head is less above them lies


def fit(context: Context, root: Object, mechanism: Mechanism) -> str:
    """Set scale, place and the targets' offsets of a robot's character, as its `fit_by` says.

    Return what the user should know; empty if nothing.
    """
    targets, character = active_targets(root, mechanism), root.robik.robot.character
    _check(context, targets, with_reach=False)
    if character.fit_by == "EXACT":
        _as_it_is(character, targets)
        return ""
    scale = _by_height(root, mechanism, targets[0].source) if character.fit_by == "HEIGHT" else None
    rig = _rig(context, root, targets)
    read = read_character(context, root, rig, targets)
    found = _fitted(read, root, mechanism, targets, scale)
    for target, fitted in zip(targets, found.targets, strict=True):
        _set(target, fitted)
    placed, before = found.placement, int(character.left_out)
    character.scale, character.location, character.left_out = placed.scale, placed.location, found.left_out
    if mechanism.is_grounded:
        character.yaw = placed.yaw
    if _lies(read.motion):
        return f"{rig.name} lies in most frames: if it should stand, turn it upright, then Fit to Robot"
    if found.left_out and not before:
        first = context.scene.frame_start
        return f"Frame {first} is a T-pose to align by: it is left out, the bake begins with the next (Left Out)"
    return ""


def match_now(context: Context, root: Object, mechanism: Mechanism) -> None:
    """Set the targets' offsets so that the robot as it stands fits the character as it stands.

    Scale and place stay.
    """
    targets, placed, objects = active_targets(root, mechanism), read_placement(root), bodies(root)
    relative = [
        target
        for target in asked_targets(root, mechanism)
        if target.follows == RELATIVE_TO and target.source is not None and target.other
    ]
    depsgraph = context.evaluated_depsgraph_get()
    _check(context, [*targets, *relative], with_reach=True)

    def here(name: str) -> Pose:
        frame = mechanism.frame(name)
        return local_pose(objects[mechanism.body_index[frame.body]]) @ frame.pose

    leads: dict[str, Matrix] = {}
    for target in targets:
        leads[target.frame] = source_matrix(target, depsgraph)
        match(target, leads[target.frame], here(target.frame), placed)
    for target in (target for target in relative if target.other in leads):
        apart = here(target.other).inverse() @ here(target.frame)
        match(target, source_matrix(target, depsgraph), placed_pose(leads[target.other], placed) @ apart, placed)


def align_rest_poses(context: Context, root: Object, mechanism: Mechanism) -> None:
    """Set the targets' offsets so that the robot's rest pose fits the character's pose that looks like it.

    The scale stays.
    """
    targets = active_targets(root, mechanism)
    _check(context, targets, with_reach=False)
    read = read_character(context, root, _rig(context, root, targets), targets)
    found = _fitted(read, root, mechanism, targets, float(root.robik.robot.character.scale))
    for target, fitted in zip(targets, found.targets, strict=True):
        _set(target, fitted)


def _check(context: Context, targets: list[PropertyGroup], *, with_reach: bool) -> None:
    """Check that what targets follow is there and moves. Raises RobikError."""
    depsgraph = context.evaluated_depsgraph_get()
    for target in targets:
        check_source(target, context.scene, depsgraph, with_reach=with_reach)


def _rig(context: Context, root: Object, targets: list[PropertyGroup]) -> Object:
    """Return the character; what the first target follows where that is not in the scene."""
    rig: Object | None = root.robik.robot.character.rig
    return rig if rig is not None and context.scene.objects.get(rig.name) == rig else targets[0].source


def _lies(motion: SkeletonMotion) -> bool:
    """Return whether a character's head is rather beside its feet than above them."""
    way = upward(motion)
    return way is not None and way[2] < UPRIGHT * np.linalg.norm(way)


def _fitted(
    character: Character, root: Object, mechanism: Mechanism, targets: list[PropertyGroup], scale: float | None
) -> Fitted:
    """Return what the library makes of the scene."""
    asked = [_asked(character, target) for target in targets]
    return fitted_to(
        mechanism,
        pose_of(root.matrix_world),
        character.skeleton,
        character.motion,
        character.anatomy,
        asked,
        read_placement(root),
        scale,
    )


def _asked(character: Character, target: PropertyGroup) -> FitTarget:
    """Return a target as plain data."""
    bone = character.name_of(target.source, target.bone)
    return fit_target(character.anatomy, target.frame, bone, target.position_weight)


def _set(target: PropertyGroup, fitted: FittedTarget) -> None:
    """Set offset, weights of the direction and reach of a target."""
    target.offset_location, target.offset_rotation = fitted_offset(fitted), fitted.offset.quaternion
    target.orientation_weight = fitted_weights(target.orientation_weight, fitted)
    reach = fitted.reach
    target.reach_root, target.reach_middle = (*reach.joints, "")[:2] if reach else ("", "")
    if reach is not None:
        target.reach_hips, target.reach_chest, target.reach = reach.hips, reach.chest, (*reach.shares, 1.0)[:2]
        target.reach_from_hips, target.reach_from_chest = reach.from_hips, reach.from_chest


def _as_it_is(character: PropertyGroup, targets: list[PropertyGroup]) -> None:
    """Set what a rig needs that was made for the robot: its bones are where the robot's frames shall be."""
    character.scale, character.stride, character.yaw, character.location, character.left_out = (
        1.0,
        1.0,
        0.0,
        (0.0, 0.0, 0.0),
        0,
    )
    for target in targets:
        target.offset_location, target.offset_rotation, target.reach_root = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), ""


def _by_height(root: Object, mechanism: Mechanism, source: Object) -> float | None:
    """Return a scale from the height of all of the robot in its rest pose and of all of the character in its own.

    None for what is flat.
    """
    rest = {body: _matrix(b.pose) for body, b in zip(bodies(root), mechanism.bodies, strict=True)}
    shown = [v for v in parts(root)["VISUAL"] if v.parent in rest]
    robot = [
        (rest[v.parent] @ v.matrix_parent_inverse @ v.matrix_basis @ Vector(c)).z for v in shown for c in v.bound_box
    ]
    if source.type == "ARMATURE":
        character = [(source.matrix_world @ end).z for b in source.data.bones for end in (b.head_local, b.tail_local)]
    else:
        character = [(o.matrix_world @ Vector(c)).z for o in (source, *source.children_recursive) for c in o.bound_box]
    tall = float(np.ptp(character))
    return float(np.ptp(robot)) / tall if robot and tall > FLAT else None


def _matrix(pose: Pose) -> Matrix:
    return Matrix.LocRotScale(Vector(pose.position), Quaternion(pose.quaternion), None)
