"""Measurement of penetration: of a motion by its robot's collision shapes, into itself, the ground and obstacles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..clips.clip import TargetClip
from ..errors import ClipError
from ..feet.finding import ground_of
from ..feet.support import standing_points
from ..mechanism import Mechanism
from ..mechanism.orientations import rotation
from ..motions import Motion
from ..motions.penetration import Penetration
from ..surroundings.ground import Ground
from ..surroundings.obstacle import GROUND, Obstacle
from .barriers import Barriers
from .files import told_collisions
from .judge import Judge, Pair
from .pairs import pairs_that_can_touch
from .shapes import CollisionShape

TOUCH = 1e-6  # m: bodies that are no deeper in each other touch


def with_penetration(
    mechanism: Mechanism, motion: Motion, clip: TargetClip, robot_file: str | Path | None = None
) -> Motion:
    """Return a solved motion whose report says how deep the robot goes into itself, the ground and obstacles.

    It is as before where nothing is known of the robot's shape, which `robot_file` tells. The clip that was
    followed has obstacles, and its standing feet tell the ground. Raise ClipError for a motion without report or
    body poses, MissingExtraError without MuJoCo.
    """
    if motion.report is None:
        raise ClipError("this motion has no report; only a solved one has")
    told = told_collisions(mechanism, robot_file)
    if not told.shapes:
        return motion
    ground = ground_of(mechanism, clip)
    found = measure_penetration(mechanism, told.shapes, motion, ground, told.apart, clip.obstacles)
    quality = replace(
        motion.report.quality,
        self_penetration_mm=1e3 * float(found.depths.max(initial=0.0)),
        self_penetration_frames=found.self_share,
    )
    return replace(motion, report=replace(motion.report, penetration=found, quality=quality))


def measure_penetration(
    mechanism: Mechanism,
    shapes: Sequence[CollisionShape],
    motion: Motion,
    ground: Ground | None = None,
    apart: Collection[tuple[str, str]] = (),
    obstacles: Sequence[Obstacle] = (),
) -> Penetration:
    """Return the depths to which a robot goes into itself, into the ground and into obstacles.

    `ground` is that on which it stands, None for none; obstacles are without it. `apart` are names of two bodies
    each that may go into each other. Raise ClipError for a motion without body poses, MissingExtraError without
    MuJoCo.
    """
    if motion.position is None or motion.quaternion is None:
        raise ClipError("this motion has no body poses; only a solved one, or one put through forward kinematics, has")
    judged = pairs_that_can_touch(mechanism, shapes, apart)
    depths: dict[Pair, np.ndarray] = {}
    if judged:
        depths = Judge(mechanism, shapes, judged).depths(motion.position, motion.quaternion)
    sunk = {} if ground is None else _sunk(mechanism, shapes, motion, ground)
    names = [body.name for body in mechanism.bodies]
    order = sorted((pair for pair in depths if depths[pair].max() > TOUCH), key=lambda pair: -depths[pair].max())
    low = sorted((name for name in sunk if sunk[name].max() > TOUCH), key=lambda name: -sunk[name].max())
    none = np.zeros((len(motion.times), 0))
    others = [item for item in obstacles if item.name != GROUND]
    into = _in_obstacles(mechanism, shapes, motion, others) if others else {}
    deep = sorted((pair for pair in into if into[pair].max() > TOUCH), key=lambda pair: -into[pair].max())
    return Penetration(
        pairs=tuple((names[a], names[b]) for a, b in order),
        depths=np.column_stack([none, *(depths[pair] for pair in order)]),
        ground_bodies=tuple(low),
        ground_depths=np.column_stack([none, *(sunk[name] for name in low)]),
        obstacle_pairs=tuple(deep),
        obstacle_depths=np.column_stack([none, *(into[pair] for pair in deep)]) if others else none[:0],
    )


def _in_obstacles(
    mechanism: Mechanism, shapes: Sequence[CollisionShape], motion: Motion, obstacles: Sequence[Obstacle]
) -> dict[tuple[str, str], np.ndarray]:
    """Return how deep bodies are in obstacles (T,) [m], by the names of both; the deepest of an obstacle's parts."""
    barriers = Barriers(mechanism, shapes, obstacles)
    found: dict[tuple[str, str], np.ndarray] = {}
    for pair, depth in barriers.depths(motion).items():
        names = barriers.names(pair)
        found[names] = np.maximum(found.get(names, 0.0), depth)
    return found


def _sunk(
    mechanism: Mechanism, shapes: Sequence[CollisionShape], motion: Motion, ground: Ground
) -> dict[str, np.ndarray]:
    """Return how deep bodies are in the ground (T,) [m], by name, of those that ever are.

    A foot is as deep as its sole: that is what stands, whatever is seen of the foot.
    """
    assert motion.position is not None and motion.quaternion is not None
    feet = [frame for frame in mechanism.frames if frame.is_foot]
    found: dict[str, np.ndarray] = {}

    def take(body: str, depth: np.ndarray) -> None:
        if depth.any():
            found[body] = np.maximum(found.get(body, 0.0), depth)

    for foot in feet:
        take(foot.body, ground.depths(standing_points(mechanism, motion, foot.name)).max(axis=1))
    soled = {foot.body for foot in feet}
    for shape in (shape for shape in shapes if shape.body not in soled):
        body = mechanism.body_index[shape.body]
        turn = rotation(motion.quaternion[:, body]).as_matrix()
        if ground.mesh is None:
            place = motion.position[:, body] + turn @ np.array(shape.pose.position)
            take(shape.body, np.maximum(ground.level - shape.lowest(place, turn @ shape.pose.matrix), 0.0))
        else:
            points = np.einsum("tij,kj->tki", turn, shape.corners()) + motion.position[:, body, None]
            take(shape.body, ground.depths(points).max(axis=1))
    return found
