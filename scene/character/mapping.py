"""Mapping of the character to the robot: what each frame of the robot follows."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from bpy.types import Depsgraph, LayerCollection, Object, PropertyGroup, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...robik.clips.clip import Track
from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism, Pose
from ...robik.mechanism.orientations import quaternions, rotation
from ...robik.objectives.registry import row_kind
from ...robik.objectives.weights import Weights
from ...robik.skeleton.placement import Placement
from ...robik.skeleton.reach import Reach
from ...robik.skeleton.tracks import track as tracked
from ..robot.parts import pose_of, unit
from .placement import read_placement
from .settings import AXES, POSE

NOISE = 1e-6  # of the places between which an offset lies: what Blender's single precision may leave of nothing


@dataclass(frozen=True, kw_only=True)
class MappedTarget:
    """A target as the animator has set it.

    Attributes:
        frame: of the robot, which follows.
        source: the object that is followed, or the armature whose bone is; None where none is chosen.
        bone: that is followed; empty for the object itself.
        offset_location: (3,) of the robot's frame along the axes of its source [m].
        offset_rotation: (4,) unit quaternion wxyz of the robot's frame against its source.
        reach: of a limb with proportions of its own; None where the bone itself is followed.
        weights: of the frame's position and orientation.
        phases: first and last frame of each phase in which a foot stands, set by hand; None where they are detected.
        holds_on: the object that its contact holds on to; None for the ground.
        follows: key of the kind of objective (`robik.objectives.registry.ROWS`).
        other: another frame of the robot, for kinds that have one.
        axis: of the frame, likewise.
        distance: likewise [m].
        weight: of the whole target.
    """

    frame: str
    source: Object | None
    bone: str
    offset_location: tuple[float, float, float]
    offset_rotation: tuple[float, float, float, float]
    reach: Reach | None
    weights: Weights
    phases: tuple[tuple[int, int], ...] | None
    holds_on: Object | None = None
    follows: str = POSE
    other: str = ""
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    distance: float = 0.0
    weight: float = 1.0


AnyTarget = MappedTarget | PropertyGroup  # as it was read, or as the scene has it


@dataclass(frozen=True, kw_only=True)
class CharacterMapping:
    """Mapping of a character to a robot.

    Attributes:
        targets: that are switched on and ask for a frame's pose; no two have the same frame.
        asked: the other ones that are switched on.
        placement: of the character.
    """

    targets: tuple[MappedTarget, ...]
    placement: Placement
    asked: tuple[MappedTarget, ...] = ()


def read_mapping(root: Object, mechanism: Mechanism) -> CharacterMapping:
    """Read a robot's mapping to its character.

    Raise RobikError if it is empty, a target follows no frame of the robot, or two follow the same.
    """
    targets = tuple(read_target(target) for target in active_targets(root, mechanism))
    asked = tuple(read_target(target) for target in asked_targets(root, mechanism))
    if not targets and not asked:
        raise RobikError(f"robot {root.name!r} follows nothing yet; add a target under Character")
    return CharacterMapping(targets=targets, placement=read_placement(root), asked=asked)


def read_target(target: PropertyGroup) -> MappedTarget:
    """Read one target of the scene."""
    return MappedTarget(
        frame=target.frame,
        source=target.source,
        bone=target.bone,
        offset_location=tuple(target.offset_location),
        offset_rotation=unit(target.offset_rotation),
        reach=read_reach(target),
        weights=_weights(target),
        phases=tuple((phase.start, phase.end) for phase in target.stands) if target.contact == "HAND" else None,
        holds_on=target.holds_on,
        follows=target.follows,
        other=target.other,
        axis=AXES[target.axis],
        distance=float(target.distance),
        weight=float(target.weight),
    )


def read_reach(target: PropertyGroup) -> Reach | None:
    """Return the reach of a target; None where its bone itself is followed."""
    if not target.reach_root:
        return None
    return Reach(
        hips=target.reach_hips,
        chest=target.reach_chest,
        joints=tuple(filter(None, (target.reach_root, target.reach_middle))),
        shares=tuple(target.reach)[: 2 if target.reach_middle else 1],
        from_hips=tuple(target.reach_from_hips),
        from_chest=tuple(target.reach_from_chest),
    )


def _weights(target: PropertyGroup) -> Weights:
    """Return how much a target counts, axis by axis."""
    by_axis = target.position_weight, target.orientation_weight
    position, orientation = (np.array(weights, dtype=float) * target.weight for weights in by_axis)
    return Weights(position=tuple(position.tolist()), orientation=tuple(orientation.tolist()))


def active_targets(root: Object, mechanism: Mechanism) -> list[PropertyGroup]:
    """Return the targets that are switched on and ask for a frame's pose."""
    targets = [t for t in root.robik.robot.character.targets if t.enabled and t.leads]
    seen: set[str] = set()
    for target in targets:
        if target.frame not in mechanism.frame_names:
            raise RobikError(
                f"a target follows {describe(target)} with the frame {target.frame!r}, which robot {mechanism.name!r}"
                f" does not have; it has {', '.join(mechanism.frame_names)}"
            )
        if target.frame in seen:
            raise RobikError(f"two targets move the frame {target.frame!r}; switch one of them off")
        seen.add(target.frame)
    return targets


def asked_targets(root: Object, mechanism: Mechanism) -> list[PropertyGroup]:
    """Return the targets that are switched on and ask for something else than a frame's pose."""
    found = [t for t in root.robik.robot.character.targets if t.enabled and not t.leads]
    for target in found:
        if problem := lacking(target, mechanism.frame_names):
            raise RobikError(problem)
    return found


def lacking(target: PropertyGroup, frames: Container[str]) -> str:
    """Return in words what a target lacks that its kind needs; empty if nothing. `frames` are the robot's."""
    kind = row_kind(target.follows)
    labels = dict(kind.fields)
    given = {"source": target.source is not None, "frame": bool(target.frame), "other": bool(target.other)}
    for need in kind.needs:
        one_of, any_of = need.split("|"), need.split("+")
        names = one_of if len(one_of) > 1 else any_of
        filled = sum(given[name] for name in names)
        words = [f"{labels[name]!r}" for name in names]
        if not filled:
            return (
                f"a target that follows by {kind.label} lacks {' or '.join(words)}: choose it, or switch the target off"
            )
        if len(one_of) > 1 and filled > 1:
            return f"a target that follows by {kind.label} has {' and '.join(words)}: clear one of them"
    for name in filter(None, (target.frame, target.other if kind.shows("other") else "")):
        if name not in frames:
            return (
                f"a target that follows by {kind.label} names the frame {name!r}, which the robot does not have: choose"
                " another"
            )
    if kind.shows("other") and target.frame == target.other:
        return f"a target that follows by {kind.label} has the frame {target.frame!r} twice: choose another frame"
    return ""


def describe(target: AnyTarget) -> str:
    """Return what a target follows, for people."""
    if target.source is None:
        return "nothing"
    return f"{target.source.name} › {target.bone}" if target.bone else target.source.name


def check_object(followed: Object | None, where: str, scene: Scene, depsgraph: Depsgraph | None = None) -> Object:
    """Return an object that is followed; raise RobikError unless it is in the scene and moves there.

    `where` names its follower for people. Without a depsgraph it is evaluated alone, whatever its collections are.
    """
    if followed is None:
        raise RobikError(f"{where} follows nothing: choose what it shall follow, or switch it off")
    if scene.objects.get(followed.name) != followed:
        raise RobikError(
            f"{where} follows {followed.name!r}, which is not in this scene any more: choose another or switch it off"
        )
    if followed.hide_viewport or (depsgraph is not None and not _is_evaluated(followed, depsgraph.view_layer)):
        raise RobikError(
            f"{where} follows {followed.name!r}, which stands still while it, or its collection, is disabled in"
            " viewports or excluded: enable it in the Outliner; to hide it, close its eye"
        )
    return followed


def _is_evaluated(followed: Object, layer: ViewLayer) -> bool:
    """Return whether an object moves in a view layer, hidden by its eye or not."""
    return followed.visible_get(view_layer=layer) or _holds(layer.layer_collection, followed)


def _holds(layer: LayerCollection, followed: Object) -> bool:
    """Return whether an object is in this collection, or one in it, and that is enabled."""
    if layer.exclude or layer.collection.hide_viewport:
        return False
    return layer.collection.objects.get(followed.name) == followed or any(
        _holds(child, followed) for child in layer.children
    )


def check_source(
    target: AnyTarget, scene: Scene, depsgraph: Depsgraph | None = None, *, with_reach: bool = True
) -> None:
    """Raise RobikError unless the source of a target is there and moves; `depsgraph` is as of `check_object`.

    With `with_reach` the bones from which its limb reaches must be there, too; Fit chooses them again.
    """
    where = f"the target of {target.frame!r}"
    if target.source is None and target.follows != POSE:
        return  # what it lacks, `lacking` tells
    check_object(target.source, where, scene, depsgraph)
    if not target.bone:
        return
    if target.source.type != "ARMATURE":
        raise RobikError(
            f"{where} follows a bone of {target.source.name!r}, which is no armature: choose an armature or clear the"
            " bone"
        )
    reach = target_reach(target) if with_reach else None
    for bone in (target.bone, *((reach.hips, reach.chest, *reach.joints) if reach else ())):
        if bone not in target.source.pose.bones:
            raise RobikError(
                f"{where} follows the bone {bone!r}, which {target.source.name!r} does not have: "
                "it was renamed or deleted, choose again, or Fit to Robot"
            )


def source_matrix(target: AnyTarget, depsgraph: Depsgraph) -> Matrix:
    """Return what a target follows, as evaluated now, in the world.

    A bone or an object, a limb's end where its reach brings it.
    """
    found, reach = node_matrix(target.source, target.bone, depsgraph), target_reach(target)
    if reach is not None:
        found = found.copy()
        found.translation = _reached(target.source.evaluated_get(depsgraph), reach, found.translation)
    return found


def node_matrix(source: Object, bone: str, depsgraph: Depsgraph) -> Matrix:
    """Return a bone, or an object where the bone is empty, as evaluated now, in the world."""
    posed = source.evaluated_get(depsgraph)
    return posed.matrix_world @ posed.pose.bones[bone].matrix if bone else posed.matrix_world


def target_reach(target: AnyTarget) -> Reach | None:
    """Return the reach of a target; None where its bone itself is followed."""
    if not target.bone:
        return None
    return target.reach if isinstance(target, MappedTarget) else read_reach(target)


def _reached(source: Object, reach: Reach, end: Vector) -> Vector:
    """Return where a limb's end is followed, in the world."""
    bones = (reach.hips, reach.chest, *reach.joints)
    hips, chest, *joints = (pose_of(source.matrix_world @ source.pose.bones[name].matrix) for name in bones)
    trunk = np.array([hips.position]), np.array([hips.quaternion])
    ways = np.array([[joint.position] for joint in joints] + [[(end.x, end.y, end.z)]])
    reached = reach.apply(trunk, np.array([chest.quaternion]), ways)
    return Vector(reached[0].tolist())


def track(target: MappedTarget, positions: np.ndarray, orientations: np.ndarray, placed: Placement) -> Track:
    """Return a target's source, positions (T, 3) [m] and orientations (T, 4) wxyz in the world, as the frame's track.

    The target has its offset, and `placed` brings it to the robot.
    """
    return tracked(positions, orientations, Pose(target.offset_location, target.offset_rotation), placed)


def match(target: PropertyGroup, source: Matrix, frame: Pose, placed: Placement) -> None:
    """Set a target's offset so that the robot's frame fits its source.

    The frame may be given in the robot's coordinates.
    """
    seen = placed_pose(source, placed)
    offset = seen.inverse() @ frame
    noise = NOISE * np.abs([frame.position, seen.position]).max()  # would show as -0 m
    target.offset_location = np.where(np.abs(offset.position) > noise, offset.position, 0.0)
    target.offset_rotation = offset.quaternion


def placed_pose(source: Matrix, placed: Placement) -> Pose:
    """Return the pose, in the robot's coordinates, of the transform of something that is followed."""
    seen = pose_of(source)
    where, oriented = placed.apply(np.array([seen.position]), rotation(np.array([seen.quaternion])))
    return Pose(tuple(where[0]), tuple(quaternions(oriented)[0]))
