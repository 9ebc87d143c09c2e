"""Fits a character to a robot: one scale from the rest poses, offsets that align them, the ground under the feet.

The character is left as it is; only the way from its world to the robot's is set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bpy.types import Context, Object, PropertyGroup
from mathutils import Matrix
from scipy.spatial.transform import Rotation

from robik.mechanism import Mechanism, Pose

from .mapping import Placement, active_targets, check_source, match, rest_matrix
from .sample import frame_range, sample_sources
from .steps import finish

GLANCES = 60  # frames at which the ground under the character is looked for
FLAT = 1e-6  # points nearer than this have no size or direction to fit [m]


@dataclass(frozen=True)
class _Rest:
    """Both rest poses: per target the source (in the character's world) and the frame (in the robot's coordinates)."""

    sources: list[Matrix]
    frames: list[Pose]
    feet: np.ndarray

    @property
    def anchors(self) -> np.ndarray:
        """Which targets stand for the ground: the feet where there are any, else all."""
        return self.feet if self.feet.any() else np.ones(len(self.feet), dtype=bool)

    @property
    def here(self) -> np.ndarray:
        """(N, 3) of the sources."""
        return np.array([m.translation for m in self.sources], dtype=float)

    @property
    def there(self) -> np.ndarray:
        """(N, 3) of the frames [m]."""
        return np.array([f.position for f in self.frames])


def fit(context: Context, root: Object, mechanism: Mechanism) -> None:
    """Sets scale, place and the targets' offsets of a robot's character.

    A character that walks keeps its heading and stands on the robot's ground, starting where the robot stands; for a robot that
    is bolted down the rest poses are laid over each other.

    Raises:
        RobikError: a target is wrong or its source is missing.
    """
    targets = active_targets(root, mechanism)
    for target in targets:
        check_source(target, context.scene)
    rest = _rest(context, targets, mechanism)
    character = root.robik.robot.character
    scale, yaw = _scale(rest, float(character.scale)), _yaw(rest)
    laid = Placement(scale, yaw, _laid_over(rest, scale, yaw), Pose())
    for target, source, frame in zip(targets, rest.sources, rest.frames, strict=True):
        match(target, source, frame, laid)
    if mechanism.is_grounded:
        character.scale, character.yaw, character.location = scale, yaw, laid.location
    else:
        character.scale, character.yaw, character.location = scale, 0.0, _standing(context, root, targets, rest, laid)


def _rest(context: Context, targets: list[PropertyGroup], mechanism: Mechanism) -> _Rest:
    depsgraph = context.evaluated_depsgraph_get()
    frames = [mechanism.frame(t.frame) for t in targets]
    poses = [mechanism.bodies[mechanism.body_index[f.body]].pose @ f.pose for f in frames]
    return _Rest([rest_matrix(t, depsgraph) for t in targets], poses, np.array([f.is_foot for f in frames]))


def _scale(rest: _Rest, present: float) -> float:
    """From the heights above the feet, which are leg lengths; without feet from how far the targets lie apart."""
    if rest.feet.any() and not rest.feet.all():
        here = (rest.here[:, 2] - rest.here[rest.feet, 2].mean())[~rest.feet]
        there = (rest.there[:, 2] - rest.there[rest.feet, 2].mean())[~rest.feet]
    else:
        here = np.linalg.norm(rest.here - rest.here.mean(axis=0), axis=1)
        there = np.linalg.norm(rest.there - rest.there.mean(axis=0), axis=1)
    size, ratio = float(here @ here), float(here @ there)
    return ratio / size if size > FLAT**2 and ratio > 0 else present


def _yaw(rest: _Rest) -> float:
    """The turn about the vertical that lays the rest poses best over each other [rad]."""
    here = (rest.here - rest.here.mean(axis=0))[:, :2]
    there = (rest.there - rest.there.mean(axis=0))[:, :2]
    along = float((here * there).sum())
    across = float((here[:, 0] * there[:, 1] - here[:, 1] * there[:, 0]).sum())
    return float(np.arctan2(across, along)) if np.hypot(along, across) > FLAT**2 else 0.0


def _laid_over(rest: _Rest, scale: float, yaw: float) -> np.ndarray:
    """Where the character's origin has to lie so that the rest poses' feet (or middles) coincide (3,)."""
    turned = scale * Rotation.from_euler("z", yaw).apply(rest.here)
    return (rest.there - turned)[rest.anchors].mean(axis=0)


def _standing(context: Context, root: Object, targets: list[PropertyGroup], rest: _Rest, laid: Placement) -> np.ndarray:
    """Where the character's origin has to lie so that it starts where the robot stands, its lowest foot on the robot's ground (3,)."""
    frames = frame_range(context.scene, root.robik.robot.bake)
    glances = frames[np.unique(np.linspace(0, len(frames) - 1, min(GLANCES, len(frames))).astype(int))]
    positions, _ = finish(sample_sources(context, targets, [], glances))
    lowest = positions[:, :, 2].min(axis=0)
    heights = laid.scale * rest.here[:, 2] + laid.location[2]  # of the sources, laid over the robot
    down = float((heights - laid.scale * lowest)[rest.anchors].max())
    start = rest.there.mean(axis=0) - laid.scale * positions[0].mean(axis=0)
    return np.array([start[0], start[1], down])
