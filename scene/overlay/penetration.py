"""Marks where a robot is in itself and in obstacles now, each with how deep, by its collision shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bpy.types import Object, Scene

from ...robik.collision.apart import Walls
from ...robik.collision.barriers import Barriers
from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.motions.penetration import DEEP
from ...robik.report.shortfall import millimetres
from ..bake.apart import read_walls
from ..bake.kept_clip import KeptClip, kept_clip
from .shapes import BAD, TIGHT, TOLD, Shapes, circle

RING = 0.015  # radius of a mark, of the robot's size
MOST = 12  # words at once
_known: dict[int, _Known] = {}  # by the root's session_uid


@dataclass(frozen=True)
class _Known:
    """A robot with what judges it.

    Attributes:
        mechanism: the robot.
        mark: of the result that its obstacles are of.
        walls: of its own bodies; None where nothing is known of its shape.
        barriers: of the obstacles of its bake; None where there are none.
        kept: that bake.
    """

    mechanism: Mechanism
    mark: str
    walls: Walls | None
    barriers: Barriers | None
    kept: KeptClip | None


def forget() -> None:
    """Read robots' shapes again when they are shown next."""
    _known.clear()


def mark_penetration(shapes: Shapes, root: Object, scene: Scene, mechanism: Mechanism, motion: Motion) -> None:
    """Add marks to `shapes` where a robot is in itself and in its surroundings; its pose is a motion of one sample."""
    known = _read(root, mechanism)
    if known.walls is None:
        return
    found = known.walls.between.touching(motion)
    sample = None if known.kept is None else known.kept.sample(scene.frame_current_final)
    if known.barriers is not None and sample is not None:
        found += known.barriers.touching(motion, sample)
    x, y, z = np.eye(3)
    for k, ((a, b), depth, where) in enumerate(sorted(found, key=lambda place: -place[1])):
        if depth > 0.0:
            color = BAD if depth > DEEP else TIGHT
            for u, v in ((x, y), (y, z), (z, x)):
                shapes.path(circle(where, u, v, RING * mechanism.extent), color, closed=True)
        if depth > DEEP and k < MOST:
            shapes.labels.append((where, f"{a} in {b}: {millimetres(depth)}", TOLD))


def _read(root: Object, mechanism: Mechanism) -> _Known:
    """Return a robot with what judges it, made again where the robot or its bake is another one."""
    mark, known = root.robik.robot.result.mark, _known.get(root.session_uid)
    if known is not None and known.mechanism == mechanism and known.mark == mark:
        return known
    walls, kept = read_walls(root, mechanism)(), kept_clip(root)
    is_around = walls is not None and kept is not None and kept.clip.obstacles
    barriers = walls.barriers(kept.clip.obstacles) if is_around else None
    _known[root.session_uid] = _Known(mechanism, mark, walls, barriers, kept)
    return _known[root.session_uid]
