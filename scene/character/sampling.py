"""Animated rig → numbers: what the targets follow, evaluated over the frame range."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

import numpy as np
from bpy.types import Context, Object, PropertyGroup, Scene
from mathutils import Matrix

from ...robik.errors import RobikError
from ...robik.skeleton.reach import Reach
from ..animation.evaluation import alone, set_frame
from .mapping import AnyTarget, check_object, check_source, node_matrix, target_reach


def ends(scene: Scene, bake: PropertyGroup) -> tuple[int, int]:
    """Return the first and the last frame to bake: an own range, else the scene's without a pose to align by."""
    if bake.use_range:
        return bake.start, bake.end
    return scene.frame_start + _left_out(scene, bake), scene.frame_end


def _left_out(scene: Scene, bake: PropertyGroup) -> int:
    """Return how many frames at the start are a pose to align by; none where nothing else would be left."""
    left_out = bake.id_data.robik.robot.character.left_out
    return left_out if scene.frame_start + left_out < scene.frame_end else 0


def frame_range(scene: Scene, bake: PropertyGroup, whole: bool = False) -> np.ndarray:
    """Return the frames to bake (T,), with fractions where each is sampled more than once.

    With `whole`, a pose to align by at the start is among them. Raise RobikError if the range is empty.
    """
    start, end = ends(scene, bake)
    if whole and not bake.use_range:
        start = scene.frame_start
    if end < start:
        raise RobikError(f"the frames to bake run from {start} to {end}; the end must not lie before the start")
    return np.arange(start * bake.samples, end * bake.samples + 1) / bake.samples


def planned_range(scene: Scene, bake: PropertyGroup, solved: np.ndarray) -> np.ndarray:
    """Return the frames (T,) that balance looks at, given those that a bake solves.

    An own range of the bake is balanced as a part of the whole.
    """
    start, end = scene.frame_start + _left_out(scene, bake), scene.frame_end
    first, last = min(start * bake.samples, round(solved[0] * bake.samples)), round(solved[-1] * bake.samples)
    return np.arange(first, max(end * bake.samples, last) + 1) / bake.samples


def sample_sources(
    context: Context, targets: Sequence[AnyTarget], points: Sequence[Object], frames: np.ndarray
) -> Generator[int, None, tuple[np.ndarray, np.ndarray]]:
    """Sample targets' sources and objects in the world, frame by frame, and yield the number of frames done.

    Return positions (T, targets + points, 3) [m] and unit quaternions (T, targets + points, 4). The scene's frame
    stays. A RobikError names a bone or an object that is missing.
    """
    scene = context.scene
    for target in targets:
        check_source(target, scene)
    reaches = [target_reach(target) for target in targets]
    nodes = _nodes(targets, reaches, points)
    positions, turns = np.empty((len(frames), len(nodes), 3)), np.empty((len(frames), len(nodes), 4))
    with alone(scene, [*(t.source for t in targets), *points]) as stage:
        if stage == scene:
            _check_moving(context, targets, points)
        for k, frame in enumerate(frames.tolist()):
            set_frame(stage, frame)
            depsgraph = context.evaluated_depsgraph_get() if stage == scene else stage.view_layers[0].depsgraph
            positions[k], turns[k] = poses_of(node_matrix(source, bone, depsgraph) for source, bone in nodes)
            yield k + 1
    at = {node: i for i, node in enumerate(nodes)}
    own = [at[target.source, target.bone] for target in targets] + [at[point, ""] for point in points]
    found = positions[:, own]
    for i, (target, reach) in enumerate(zip(targets, reaches, strict=True)):
        if reach is not None:
            hips, chest, *joints = (at[target.source, bone] for bone in (reach.hips, reach.chest, *reach.joints))
            limb = np.stack([*(positions[:, joint] for joint in joints), positions[:, own[i]]])
            found[:, i] = reach.apply((positions[:, hips], turns[:, hips]), turns[:, chest], limb)
    return found, turns[:, own]


def poses_of(matrices: Iterable[Matrix]) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (N, 3) [m] and unit quaternions (N, 4) wxyz of transforms, without their scales."""
    parts = [matrix.decompose()[:2] for matrix in matrices]
    turns = np.array([rotation for _, rotation in parts], dtype=float).reshape(-1, 4)
    return np.array([location for location, _ in parts], dtype=float).reshape(-1, 3), turns / np.linalg.norm(
        turns, axis=1, keepdims=True
    )


def _nodes(
    targets: Sequence[AnyTarget], reaches: Sequence[Reach | None], points: Sequence[Object]
) -> list[tuple[Object, str]]:
    """Return objects and bones that are sampled: what targets follow, what their limbs reach from, and points."""
    nodes = {(target.source, target.bone): None for target in targets}
    for target, reach in zip(targets, reaches, strict=True):
        if reach is not None:
            nodes |= {(target.source, bone): None for bone in (reach.hips, reach.chest, *reach.joints)}
    return list(nodes | {(point, ""): None for point in points})


def _check_moving(context: Context, targets: Sequence[AnyTarget], points: Sequence[Object]) -> None:
    """Check that all that is followed moves in the whole scene, where collections may be switched off."""
    depsgraph = context.evaluated_depsgraph_get()
    for target in targets:
        check_source(target, context.scene, depsgraph)
    for point in points:
        check_object(point, "the robot", context.scene, depsgraph)
