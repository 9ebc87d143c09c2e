"""Skeleton of the character: bones and objects of the scene → plain data."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from bpy.types import Context, Object, PropertyGroup, Scene
from mathutils import Matrix

from ...robik.errors import RobikError
from ...robik.skeleton.anatomy import Anatomy, read_anatomy
from ...robik.skeleton.following import GLANCES, glances
from ...robik.skeleton.skeleton import Skeleton, SkeletonMotion
from ..animation.evaluation import alone, set_frame, times_of
from .sampling import frame_range, poses_of

Node = tuple[Object, str]  # an object, or an armature and its bone


@dataclass(frozen=True, eq=False)
class Character:
    """Character as plain data.

    Attributes:
        skeleton: its bones in the rest pose; objects where they are at the first frame.
        motion: some frames of it, the first of them following each other.
        anatomy: parts of its body.
        nodes: what each bone of the skeleton is in the scene.
    """

    skeleton: Skeleton
    motion: SkeletonMotion
    anatomy: Anatomy
    nodes: tuple[Node, ...]

    def name_of(self, source: Object, bone: str) -> str:
        """Return the skeleton's name of a source."""
        return self.skeleton.names[self.nodes.index((source, bone))]


def read_character(
    context: Context, root: Object, rig: Object | None, targets: Iterable[PropertyGroup] = (), looks: int = GLANCES
) -> Character:
    """Return a rig, and what targets follow beside it, in some of the frames that its robot will follow."""
    nodes = list(dict.fromkeys([*_nodes_of(rig), *((target.source, target.bone) for target in targets)]))
    frames = frame_range(context.scene, root.robik.robot.bake, whole=True)
    frames = frames[glances(len(frames), looks)]
    positions, quaternions, worlds = _sampled(context, nodes, frames)
    rest = [worlds[source] @ source.data.bones[bone].matrix_local if bone else worlds[source] for source, bone in nodes]
    index = {node: k for k, node in enumerate(nodes)}
    skeleton = Skeleton(
        tuple(_name(node, rig) for node in nodes),
        np.array([_parent(node, index) for node in nodes], dtype=int),
        *poses_of(rest),
        np.array([worlds[s] @ s.data.bones[b].tail_local if b else worlds[s].translation for s, b in nodes]).reshape(
            -1, 3
        ),
    )
    motion = SkeletonMotion(skeleton, times_of(context.scene, frames), positions, quaternions)
    return Character(skeleton, motion, read_anatomy(skeleton, positions), tuple(nodes))


def whole_character(context: Context, root: Object) -> SkeletonMotion:
    """Return all of the motion of a robot's character, in the frames of its bake."""
    rig = root.robik.robot.character.rig
    if rig is None:
        raise RobikError(f"{root.name} has no character: choose its Rig in the panel Character")
    return read_character(context, root, rig, looks=sys.maxsize).motion


def _nodes_of(rig: Object | None) -> list[Node]:
    """Return the bones of an armature, or an object and what is parented to it."""
    if rig is None:
        return []
    if rig.type == "ARMATURE":
        return [(rig, bone.name) for bone in rig.pose.bones]
    return [(o, "") for o in (rig, *rig.children_recursive)]


def _name(node: Node, rig: Object | None) -> str:
    """Return a name that no other node has: of the rig's bones their own."""
    source, bone = node
    if source == rig:
        return bone or source.name
    return f"{source.name} › {bone}" if bone else source.name


def _sampled(
    context: Context, nodes: Sequence[Node], frames: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[Object, Matrix]]:
    """Return positions (T, N, 3) [m] and unit quaternions (T, N, 4) of bones and objects in the world at frames (T,).

    The third value is the objects' matrices at the first frame. The scene's frame stays.
    """
    scene: Scene = context.scene
    positions, quaternions = np.empty((len(frames), len(nodes), 3)), np.empty((len(frames), len(nodes), 4))
    worlds: dict[Object, Matrix] = {}
    with alone(scene, {source for source, _ in nodes}) as stage:
        for k, frame in enumerate(frames.tolist()):
            set_frame(stage, frame)
            depsgraph = context.evaluated_depsgraph_get() if stage == scene else stage.view_layers[0].depsgraph
            posed = {source: source.evaluated_get(depsgraph) for source, _ in nodes}
            worlds = worlds or {source: evaluated.matrix_world.copy() for source, evaluated in posed.items()}
            placed = [
                posed[s].matrix_world @ posed[s].pose.bones[bone].matrix if bone else posed[s].matrix_world
                for s, bone in nodes
            ]
            positions[k], quaternions[k] = poses_of(placed)
    return positions, quaternions, worlds


def _parent(node: Node, index: Mapping[Node, int]) -> int:
    """Return the index of what a node hangs on, −1 for none."""
    above: Node | None = node
    while above is not None and (above := _above(*above)) is not None:
        if above in index:
            return index[above]
    return -1


def _above(source: Object, bone: str) -> Node | None:
    """Return what a bone or an object hangs on; None for nothing."""
    if bone:
        parent = source.data.bones[bone].parent
        return None if parent is None else (source, parent.name)
    return None if source.parent is None else (source.parent, "")
