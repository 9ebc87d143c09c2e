"""Animated rig → numbers: what the targets follow, evaluated over the frame range."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import floor

import numpy as np
from bpy.types import Context, Object, PropertyGroup, Scene

from ...robik.errors import RobikError
from ..animation.evaluation import alone
from .mapping import AnyTarget, check_object, check_source, source_matrix


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

    Args:
        scene: with the range.
        bake: settings of a robot's bake.
        whole: whether a pose to align by at the start is among them.

    Raises:
        RobikError: the range is empty.
    """
    start, end = ends(scene, bake)
    if whole and not bake.use_range:
        start = scene.frame_start
    if end < start:
        raise RobikError(f"the frames to bake run from {start} to {end}; the end must not lie before the start")
    return np.arange(start * bake.samples, end * bake.samples + 1) / bake.samples


def planned_range(scene: Scene, bake: PropertyGroup) -> np.ndarray:
    """The frames (T,) that balance looks at: an own range of the bake is balanced as a part of the whole."""
    start, end = scene.frame_start + _left_out(scene, bake), scene.frame_end
    if bake.use_range:
        start, end = min(start, bake.start), max(end, bake.end)
    return np.arange(start * bake.samples, end * bake.samples + 1) / bake.samples


def times_of(scene: Scene, frames: np.ndarray) -> np.ndarray:
    """Seconds since the first of the frames (T,)."""
    return (frames - frames[0]) * (scene.render.fps_base / scene.render.fps)


def set_frame(scene: Scene, frame: float) -> None:
    """Goes to a frame, which may lie between two."""
    whole = floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


def sample_sources(
    context: Context, targets: Sequence[AnyTarget], points: Sequence[Object], frames: np.ndarray
) -> Generator[int, None, tuple[np.ndarray, np.ndarray]]:
    """Samples what targets follow and where objects are, in the world, frame by frame; the scene's frame stays.

    Yields:
        How many frames are done.

    Returns:
        Positions (T, targets + points, 3) [m] and unit quaternions (T, targets + points, 4).

    Raises:
        RobikError: a bone or an object is missing; says which.
    """
    scene = context.scene
    for target in targets:
        check_source(target, scene)
    positions = np.empty((len(frames), len(targets) + len(points), 3))
    turns = np.empty((len(frames), len(targets) + len(points), 4))
    with alone(scene, [*(t.source for t in targets), *points]) as stage:
        if stage == scene:
            _check_moving(context, targets, points)
        for k, frame in enumerate(frames.tolist()):
            set_frame(stage, frame)
            depsgraph = context.evaluated_depsgraph_get() if stage == scene else stage.view_layers[0].depsgraph
            matrices = [source_matrix(t, depsgraph) for t in targets] + [
                p.evaluated_get(depsgraph).matrix_world for p in points
            ]
            for i, matrix in enumerate(matrices):
                location, rotation, _ = matrix.decompose()
                positions[k, i], turns[k, i] = location, rotation
            yield k + 1
    return positions, turns / np.linalg.norm(turns, axis=2, keepdims=True)


def _check_moving(context: Context, targets: Sequence[AnyTarget], points: Sequence[Object]) -> None:
    """Whether all that is followed moves in the whole scene, where collections may be switched off.

    Raises:
        RobikError: names what stands still.
    """
    depsgraph = context.evaluated_depsgraph_get()
    for target in targets:
        check_source(target, context.scene, depsgraph)
    for point in points:
        check_object(point, "the centre of mass", context.scene, depsgraph)
