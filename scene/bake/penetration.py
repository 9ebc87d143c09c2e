"""Penetration of the present curves: how deep the robot goes into itself and into the ground, kept in the result."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence

import numpy as np
from bpy.types import Context, Object, PropertyGroup

from ...robik.collision.measure import measure_penetration
from ...robik.collision.shapes import hulls
from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.motions.penetration import Penetration
from ...robik.retarget.contacts import ground_of
from ...robik.skeleton.feet import Shape
from ..long_work.steps import Progress, in_thread
from ..robot.feet import body_shapes
from ..robot.reading import read_robot
from .curves import baked_frames, read_motion, with_poses
from .kept_clip import kept_clip


def penetration_steps(context: Context, root: Object) -> Generator[Progress, None, Penetration]:
    """Judge the robot's curves by the convex hulls of its meshes, and keep what is found with its result.

    Stopped early, nothing has been changed.

    Args:
        context: Blender's.
        root: of the robot.

    Raises:
        RobikError: there are no curves, or MuJoCo is missing.
    """
    mechanism, kept = read_robot(root), kept_clip(root)
    frames = kept.frames if kept is not None else baked_frames(root, mechanism)
    motion = with_poses(root, mechanism, read_motion(root, mechanism, frames, context.scene), frames)
    ground = None if kept is None else ground_of(mechanism, kept.clip)
    shapes = body_shapes(root)
    found: list[Penetration] = []
    for share in in_thread(_judged(mechanism, shapes, motion, ground, found)):
        yield Progress(share, "Judging penetration", counts=share is not None)
    keep_penetration(root.robik.robot.result, found[0], frames)
    return found[0]


def keep_penetration(result: PropertyGroup, found: Penetration, frames: np.ndarray) -> None:
    """Keep the deepest places with a robot's result.

    Args:
        result: of the robot.
        found: depths of its curves.
        frames: (T,) of the samples that were judged.
    """
    result.penetration.clear()
    for what, names, depths, share in (
        ("in itself", [f"{a} in {b}" for a, b in found.pairs], found.depths, found.self_share),
        (
            "in the ground",
            [f"{body} in the ground" for body in found.ground_bodies],
            found.ground_depths,
            found.ground_share,
        ),
    ):
        row = result.penetration.add()
        row.name, row.share = what, share
        if names:
            row.where, row.depth = names[0], float(depths[:, 0].max())
            row.frame = round(float(frames[int(depths[:, 0].argmax())]))


def _judged(
    mechanism: Mechanism,
    shapes: Mapping[str, Sequence[Shape]],
    motion: Motion,
    ground: Ground | None,
    found: list[Penetration],
) -> Iterator[float]:
    """Yield the share that is done; the depths end up in `found`. Nothing here touches Blender."""
    yield 0.0
    convex = hulls(mechanism, lambda body: shapes.get(body, ()))
    yield 0.3
    found.append(measure_penetration(mechanism, convex, motion, ground))
    yield 1.0
