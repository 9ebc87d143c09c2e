"""Penetration of the present curves: how deep the robot goes into itself and into the ground, kept in the result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

import numpy as np
from bpy.types import Context, Object, PropertyGroup

from ...robik.collision.files import ToldCollisions
from ...robik.collision.measure import measure_penetration
from ...robik.feet.finding import ground_of
from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.motions.penetration import Penetration
from ...robik.surroundings.ground import Ground
from ...robik.surroundings.obstacle import Obstacle
from ..long_work.steps import Progress, in_thread
from ..motion import motion_frames, motion_steps, with_poses
from ..robot.reading import read_robot
from .apart import read_collisions
from .kept_clip import kept_clip


def penetration_steps(context: Context, root: Object) -> Generator[Progress, None, Penetration]:
    """Judge the robot's curves by its collision shapes, and keep the depths with its result.

    Stopped early, nothing has been changed. Raise RobikError if there are no curves, or MuJoCo is missing.
    """
    scene, mechanism, kept = context.scene, read_robot(root), kept_clip(root)
    frames = kept.frames if kept is not None else motion_frames(root, mechanism, scene)
    motion = yield from motion_steps(root, mechanism, frames, scene)
    motion = with_poses(root, mechanism, motion, frames, scene)
    ground = None if kept is None else ground_of(mechanism, kept.clip)
    collisions, around = read_collisions(root, mechanism), () if kept is None else kept.clip.obstacles
    found: list[Penetration] = []
    for share in in_thread(_judged(mechanism, collisions, motion, ground, around, found)):
        yield Progress(share, "Judging penetration", counts=share is not None, is_apart=True)
    keep_penetration(root.robik.robot.result, found[0], frames)
    return found[0]


def keep_penetration(result: PropertyGroup, found: Penetration, frames: np.ndarray) -> None:
    """Store the deepest places in a robot's result; `frames` (T,) are those that were judged."""
    result.penetration.clear()
    for what, names, depths, share in (
        ("in itself", [f"{a} in {b}" for a, b in found.pairs], found.depths, found.self_share),
        (
            "in the ground",
            [f"{body} in the ground" for body in found.ground_bodies],
            found.ground_depths,
            found.ground_share,
        ),
        (
            "in obstacles",
            [f"{body} in {obstacle}" for body, obstacle in found.obstacle_pairs],
            found.obstacle_depths,
            found.obstacle_share,
        ),
    ):
        if what == "in obstacles" and not len(depths):  # there are none
            continue
        row = result.penetration.add()
        row.name, row.share = what, share
        if names:
            row.where, row.depth = names[0], float(depths[:, 0].max())
            row.frame = round(float(frames[int(depths[:, 0].argmax())]))


def _judged(
    mechanism: Mechanism,
    collisions: Callable[[], ToldCollisions],
    motion: Motion,
    ground: Ground | None,
    obstacles: Sequence[Obstacle],
    found: list[Penetration],
) -> Iterator[float]:
    """Yield the share that is done; the depths end up in `found`. Nothing here touches Blender."""
    yield 0.0
    told = collisions()
    yield 0.3
    found.append(measure_penetration(mechanism, told.shapes, motion, ground, told.apart, obstacles))
    yield 1.0
