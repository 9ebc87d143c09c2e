"""Fits a character to a robot: one scale from corresponding poses, offsets that align them, the ground under the feet.

The robot is in its rest pose. The character's corresponding pose is its own rest pose, or the one it has at the present frame
(recordings often begin with a pose to align by, while their rest pose is arbitrary): whichever looks more like the robot's.

The character is left as it is; only the way from its world to the robot's is set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from bpy.types import Context, Object, PropertyGroup
from mathutils import Matrix
from scipy.spatial.transform import Rotation

from robik.mechanism import Mechanism, Pose

from .mapping import Placement, active_targets, check_source, match, rest_matrix, source_matrix
from .sample import frame_range, sample_sources
from .steps import finish

GLANCES = 60  # frames at which the ground under the character is looked for
OUTLIERS = 90  # percentile of the feet's depth that is the ground: a pose to align by may stand elsewhere
FLAT = 1e-6  # points nearer than this have no size or direction to fit [m]


@dataclass(frozen=True)
class _Pair:
    """Corresponding poses: per target the source (in the character's world) and the frame (in the robot's coordinates).

    Attributes:
        sources: the character's.
        frames: the robot's.
        feet: (N,) which of them the robot stands on.
        scale, yaw: that lay the character over the robot.
    """

    sources: list[Matrix]
    frames: list[Pose]
    feet: np.ndarray
    scale: float = 1.0
    yaw: float = 0.0

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

    @property
    def laid(self) -> np.ndarray:
        """(N, 3) of the sources, scaled and turned, with their anchors over the robot's [m]."""
        turned = self.scale * Rotation.from_euler("z", self.yaw).apply(self.here)
        return turned + (self.there - turned)[self.anchors].mean(axis=0)

    @property
    def placement(self) -> Placement:
        """The character laid over the robot."""
        turned = self.scale * Rotation.from_euler("z", self.yaw).apply(self.here)
        return Placement(self.scale, self.yaw, (self.laid - turned)[0], Pose())

    @property
    def difference(self) -> float:
        """How unlike the poses are: distance of the targets after laying over [m]."""
        return float(np.linalg.norm(self.laid - self.there))


def fit(context: Context, root: Object, mechanism: Mechanism) -> None:
    """Sets scale, place and the targets' offsets of a robot's character.

    A character that walks keeps its heading and stands on the robot's ground, starting where the robot stands; for a robot that
    is bolted down the poses are laid over each other.

    Raises:
        RobikError: a target is wrong or its source is missing.
    """
    targets = active_targets(root, mechanism)
    for target in targets:
        check_source(target, context.scene)
    depsgraph = context.evaluated_depsgraph_get()
    character = root.robik.robot.character
    frames = [mechanism.frame(t.frame) for t in targets]
    poses = [mechanism.bodies[mechanism.body_index[f.body]].pose @ f.pose for f in frames]
    feet = np.array([f.is_foot for f in frames])
    pairs = [_Pair([matrix(t, depsgraph) for t in targets], poses, feet) for matrix in (rest_matrix, source_matrix)]
    pair = min((_laid_over(p, float(character.scale)) for p in pairs), key=lambda p: p.difference)
    placed = pair.placement
    for target, source, frame in zip(targets, pair.sources, pair.frames, strict=True):
        match(target, source, frame, placed)
    if mechanism.is_grounded:
        character.scale, character.yaw, character.location = placed.scale, placed.yaw, placed.location
    else:
        character.scale, character.yaw, character.location = placed.scale, 0.0, _standing(context, root, targets, pair)


def _laid_over(pair: _Pair, present: float) -> _Pair:
    """With the scale and turn that suit it; the present scale where the targets do not tell."""
    return replace(pair, scale=_scale(pair, present), yaw=_yaw(pair))


def _scale(pair: _Pair, present: float) -> float:
    """From the heights above the feet, which are leg lengths; without feet from how far the targets lie apart."""
    if pair.feet.any() and not pair.feet.all():
        here = (pair.here[:, 2] - pair.here[pair.feet, 2].mean())[~pair.feet]
        there = (pair.there[:, 2] - pair.there[pair.feet, 2].mean())[~pair.feet]
    else:
        here = np.linalg.norm(pair.here - pair.here.mean(axis=0), axis=1)
        there = np.linalg.norm(pair.there - pair.there.mean(axis=0), axis=1)
    size, ratio = float(here @ here), float(here @ there)
    return ratio / size if size > FLAT**2 and ratio > 0 else present


def _yaw(pair: _Pair) -> float:
    """The turn about the vertical that lays the poses best over each other [rad]."""
    here = (pair.here - pair.here.mean(axis=0))[:, :2]
    there = (pair.there - pair.there.mean(axis=0))[:, :2]
    along = float((here * there).sum())
    across = float((here[:, 0] * there[:, 1] - here[:, 1] * there[:, 0]).sum())
    return float(np.arctan2(across, along)) if np.hypot(along, across) > FLAT**2 else 0.0


def _standing(context: Context, root: Object, targets: list[PropertyGroup], pair: _Pair) -> np.ndarray:
    """Where the character's origin has to lie so that it starts where the robot stands, its lowest foot on the robot's ground (3,)."""
    frames = frame_range(context.scene, root.robik.robot.bake)
    glances = frames[np.unique(np.linspace(0, len(frames) - 1, min(GLANCES, len(frames))).astype(int))]
    positions, _ = finish(sample_sources(context, targets, [], glances))
    below = (pair.laid[:, 2] - pair.scale * positions[:, :, 2])[:, pair.anchors].max(axis=1)
    down = float(np.percentile(below, OUTLIERS))
    start = pair.there.mean(axis=0) - pair.scale * positions[0].mean(axis=0)
    return np.array([start[0], start[1], down])
