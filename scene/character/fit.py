"""Fits a character to a robot: one scale from corresponding poses, offsets that align them, the ground under the feet.

The robot is in its rest pose. The character's corresponding pose is its own rest pose, or the one it has at the present frame
(recordings often begin with a pose to align by, while their rest pose is arbitrary): whichever looks more like the robot's.

The character is left as it is; only the way from its world to the robot's is set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from bpy.types import Context, Object, PropertyGroup
from mathutils import Matrix, Quaternion, Vector
from scipy.spatial.transform import Rotation

from ...robik.mechanism import Frame, Mechanism, Pose
from ...robik.retarget.hips import pelvis
from ...robik.retarget.names import ARMS, part_of
from ...robik.retarget.support import sole_axes
from ..long_work.steps import finish
from ..robot.parts import bodies, local_pose, parts, pose_of
from .limbs import hold_direction, limb_of, pointing
from .mapping import active_targets, check_source, match, rest_matrix, source_matrix
from .placement import Placement, quaternions, read_placement, rotation
from .sampling import frame_range, sample_sources

GLANCES = 60  # frames at which the ground under the character is looked for
OUTLIERS = 90  # percentile of the feet's depth that is the ground: a pose to align by may stand elsewhere
ALIKE = 0.1  # of the robot's size: an arm whose end is farther from the character's stands otherwise in the corresponding poses
LEVEL = 1e-3  # a foot that is turned by less stands level [rad]
FLAT = 1e-6  # points nearer than this have no size or direction to fit [m]


@dataclass(frozen=True)
class _Pair:
    """Corresponding poses in the world: per target the source and the frame.

    Attributes:
        sources: the character's.
        root: where the robot's root is.
        frames: the robot's, in its rest pose.
        feet: (N,) which of them the robot stands on.
        hips: (N,) which of them tell how long the legs are.
        arms: (N,) which of them, beside feet, do not tell how the poses lie over each other: arms hang in one and stretch out in another.
        stride: of the way over the ground, beside the scale.
        scale, yaw: that lay the character over the robot.
    """

    sources: list[Matrix]
    root: Pose
    frames: list[Pose]
    feet: np.ndarray
    hips: np.ndarray
    arms: np.ndarray
    stride: float = 1.0
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
    def placement(self) -> Placement:
        """The character scaled, turned and moved so that its anchors lie over the robot's."""
        there = Placement(scale=self.scale, stride=self.stride, yaw=self.yaw, location=np.zeros(3), root=Pose())
        turned, _ = there.apply(self.here, Rotation.identity())
        return replace(there, location=(self.there - turned)[self.anchors].mean(axis=0))

    @property
    def laid(self) -> np.ndarray:
        """(N, 3) of the sources so placed [m]."""
        return self.placement.apply(self.here, Rotation.identity())[0]

    @property
    def difference(self) -> float:
        """How unlike the poses are: distance of the targets after laying over [m]."""
        return float(np.linalg.norm((self.laid - self.there)[~self.arms]))


def fit(context: Context, root: Object, mechanism: Mechanism) -> None:
    """Sets scale, place and the targets' offsets of a robot's character, as its `fit_by` says.

    A character that walks keeps its heading, but for the turn that is set, and stands on the robot's ground, starting where the
    robot stands; for a robot that is bolted down the poses are laid over each other.

    Raises:
        RobikError: a target is wrong or its source is missing.
    """
    targets = active_targets(root, mechanism)
    depsgraph = context.evaluated_depsgraph_get()
    for target in targets:
        check_source(target, context.scene, depsgraph)
    character = root.robik.robot.character
    if character.fit_by == "EXACT":
        _as_it_is(character, targets)
        return
    poses = (rest_matrix, source_matrix)
    pairs = [_pair(root, mechanism, targets, [matrix(t, depsgraph) for t in targets]) for matrix in poses]
    scale = _by_height(root, mechanism, targets[0].source) if character.fit_by == "HEIGHT" else None
    pair = min((_laid_over(p, float(character.scale), scale) for p in pairs), key=lambda p: p.difference)
    pair = replace(pair, frames=[_level(mechanism.frame(t.frame), pose) for t, pose in zip(targets, pair.frames, strict=True)])
    placed = pair.placement
    _match(mechanism, targets, pair)
    if mechanism.is_grounded:
        character.scale, character.yaw, character.location = placed.scale, placed.yaw, placed.location
    else:
        character.scale, character.location = placed.scale, _standing(context, root, targets, pair)


def match_now(context: Context, root: Object, mechanism: Mechanism) -> None:
    """Sets the targets' offsets so that the robot as it stands fits the character as it stands; scale and place stay.

    Raises:
        RobikError: a target is wrong or its source is missing.
    """
    targets, placed, objects = active_targets(root, mechanism), read_placement(root), bodies(root)
    depsgraph = context.evaluated_depsgraph_get()
    for target in targets:
        check_source(target, context.scene, depsgraph)
    for target in targets:
        frame = mechanism.frame(target.frame)
        here = local_pose(objects[mechanism.body_index[frame.body]]) @ frame.pose
        match(target, source_matrix(target, depsgraph), here, placed)


def align_rest_poses(context: Context, root: Object, mechanism: Mechanism) -> None:
    """Sets the targets' offsets so that the robot in its rest pose fits the character in its rest pose; scale and place stay.

    Raises:
        RobikError: a target is wrong or its source is missing.
    """
    targets = active_targets(root, mechanism)
    for target in targets:
        check_source(target, context.scene)
    depsgraph, character = context.evaluated_depsgraph_get(), root.robik.robot.character
    pair = _pair(root, mechanism, targets, [rest_matrix(t, depsgraph) for t in targets])
    pair = replace(pair, scale=float(character.scale), yaw=float(character.yaw) if mechanism.is_grounded else _yaw(pair))
    _match(mechanism, targets, pair)


def _match(mechanism: Mechanism, targets: list[PropertyGroup], pair: _Pair) -> None:
    """Sets the targets' offsets by corresponding poses; those of arms that stand otherwise by where the limbs point."""
    placed, away = pair.placement, np.linalg.norm(pair.laid - pair.there, axis=1)
    for k, (target, source, frame) in enumerate(zip(targets, pair.sources, pair.frames, strict=True)):
        if pair.arms[k] and away[k] > ALIKE * mechanism.extent:
            limb = limb_of(mechanism, target.frame)
            limb = None if limb is None else pair.root.matrix @ limb
            hold_direction(target, frame, limb)
            frame = pointing(target, source, frame, limb, placed)
        match(target, source, frame, placed)


def _as_it_is(character: PropertyGroup, targets: list[PropertyGroup]) -> None:
    """For a rig made for the robot: its bones are where the robot's frames shall be."""
    character.scale, character.stride, character.yaw, character.location = 1.0, 1.0, 0.0, (0.0, 0.0, 0.0)
    for target in targets:
        target.offset_location, target.offset_rotation = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


def _pair(root: Object, mechanism: Mechanism, targets: list[PropertyGroup], sources: list[Matrix]) -> _Pair:
    """A pose of the character beside the robot's rest pose."""
    frames, stands = [mechanism.frame(t.frame) for t in targets], pose_of(root.matrix_world)
    poses = [stands @ mechanism.rest_pose(f.name) for f in frames]
    feet = _feet(frames)
    arms = np.logical_or.reduce([_named(frames, part) for part in ARMS]) & feet.any() & ~feet
    stride = float(root.robik.robot.character.stride)
    hips = np.array([f.body == pelvis(mechanism) for f in frames]) & ~feet
    return _Pair(
        sources,
        root=stands,
        frames=poses,
        feet=feet,
        hips=hips if hips.any() else _hips(frames, sources, feet, arms),
        arms=arms,
        stride=stride,
    )


def _hips(frames: list[Frame], sources: list[Matrix], feet: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Which targets tell how long the legs are (N,), where none moves the body that they meet in: the lowest of those called hips, as a
    torso can be; without one all but the limbs.
    """
    hips = _named(frames, "hips") & ~feet
    if hips.any():
        height = np.array([m.translation.z for m in sources])
        return hips & (height <= height[hips].min())
    return ~feet & ~arms if (~feet & ~arms).any() else ~feet


def _feet(frames: list[Frame]) -> np.ndarray:
    """Which frames the robot stands on (N,): those with a sole; where none has one, those whose names say that they are feet."""
    soles = np.array([frame.is_foot for frame in frames])
    return soles if soles.any() else _named(frames, "foot")


def _level(frame: Frame, pose: Pose) -> Pose:
    """A foot's pose, turned by no more than lets it stand level, which in a rest pose not every robot does; another frame's as it is."""
    if not frame.is_foot:
        return pose
    normal = pose.matrix @ sole_axes(frame)[2]
    turn = Vector((normal if normal[2] > 0 else -normal).tolist()).rotation_difference(Vector((0.0, 0.0, 1.0)))
    if turn.angle < LEVEL:
        return pose
    return replace(pose, quaternion=tuple(quaternions(rotation((turn.w, turn.x, turn.y, turn.z)) * rotation(pose.quaternion))))


def _named(frames: list[Frame], part: str) -> np.ndarray:
    """Which frames are that part of a body by their names (N,)."""
    return np.array([part_of(frame.name)[0] == part for frame in frames])


def _by_height(root: Object, mechanism: Mechanism, source: Object) -> float | None:
    """Scale from the height of all of the robot in its rest pose and of all of the character in its own; None for what is flat."""
    rest = {body: _matrix(b.pose) for body, b in zip(bodies(root), mechanism.bodies, strict=True)}
    shown = [v for v in parts(root)["VISUAL"] if v.parent in rest]
    robot = [(rest[v.parent] @ v.matrix_parent_inverse @ v.matrix_basis @ Vector(c)).z for v in shown for c in v.bound_box]
    if source.type == "ARMATURE":
        character = [(source.matrix_world @ end).z for b in source.data.bones for end in (b.head_local, b.tail_local)]
    else:
        character = [(o.matrix_world @ Vector(c)).z for o in (source, *source.children_recursive) for c in o.bound_box]
    tall = float(np.ptp(character))
    return float(np.ptp(robot)) / tall if robot and tall > FLAT else None


def _matrix(pose: Pose) -> Matrix:
    return Matrix.LocRotScale(Vector(pose.position), Quaternion(pose.quaternion), None)


def _laid_over(pair: _Pair, present: float, scale: float | None) -> _Pair:
    """With the turn that suits it, and this scale; without one the scale that suits it, the present one where the targets do not tell."""
    return replace(pair, scale=_scale(pair, present) if scale is None else scale, yaw=_yaw(pair))


def _scale(pair: _Pair, present: float) -> float:
    """From the hips' height above the feet, which is leg length; without feet from how far the targets lie apart."""
    if pair.feet.any() and not pair.feet.all():
        here = (pair.here[:, 2] - pair.here[pair.feet, 2].mean())[pair.hips]
        there = (pair.there[:, 2] - pair.there[pair.feet, 2].mean())[pair.hips]
    else:
        here, there = (np.linalg.norm(points - points.mean(axis=0), axis=1) for points in (pair.here, pair.there))
    size, ratio = float(here @ here), float(here @ there)
    return ratio / size if size > FLAT**2 and ratio > 0 else present


def _yaw(pair: _Pair) -> float:
    """The turn about the vertical that lays the poses best over each other [rad]."""
    here, there = ((points - points.mean(axis=0))[:, :2] for points in (pair.here[~pair.arms], pair.there[~pair.arms]))
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
    turned = replace(pair.placement, yaw=float(root.robik.robot.character.yaw), location=np.zeros(3))
    first, _ = turned.apply(positions[0][~pair.arms], Rotation.identity())
    start = (pair.there[~pair.arms] - first).mean(axis=0)
    return np.array([start[0], start[1], down])
