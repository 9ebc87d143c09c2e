"""Fit: one scale from the lengths of bones, offsets that align corresponding poses, the ground under the feet.

The robot is in its rest pose. The scale is the length of its legs against the character's, so that a leg which is
stretched stays so; arms of other proportions keep their own (`reach.py`). Hips lie on hips and ankles under the
hips' own width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..mechanism import Mechanism, Pose
from ..mechanism.orientations import quaternions, rotation
from .anatomy import ARM, FRONT_LEG, Anatomy
from .correspondence import FLAT, begins_with_pose
from .mapping import nearest_axis
from .overlay import FitTarget, Overlay, laid_over, rotation_between
from .placement import Placement
from .reach import Reach, trunk_between
from .robot_parts import RobotLimb
from .skeleton import Skeleton, SkeletonMotion

OUTLIERS = 90  # percentile of the feet's depth that is the ground
ALIKE_DIRECTION = 0.8  # cosine: limbs that point farther apart stand otherwise too
ALIKE = 0.1  # of the robot's size: an arm whose end is farther from the character's stands otherwise


@dataclass(frozen=True, kw_only=True)
class FittedTarget:
    """Result of the fit for a frame of the robot and its bone.

    Attributes:
        offset: of the frame from the bone, as placed, along the bone's axes [m].
        axis: of the frame, along the limb; None where it is not known where that points.
        is_alike: whether all axes may count; where the poses differ, only the one along the limb can.
        reach: of a limb with proportions of its own; None where the bone itself is followed.
    """

    offset: Pose
    axis: int | None = None
    is_alike: bool = True
    reach: Reach | None = None


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A character fitted to a robot.

    Attributes:
        placement: of the character.
        targets: in the order of what was asked.
        left_out: number of samples at the start that are a pose to align by.
    """

    placement: Placement
    targets: tuple[FittedTarget, ...]
    left_out: int


def fit(
    mechanism: Mechanism,
    root: Pose,
    skeleton: Skeleton,
    motion: SkeletonMotion | None,
    anatomy: Anatomy,
    targets: Sequence[FitTarget],
    present: Placement,
    scale: float | None = None,
) -> Fitted:
    """Fit a character's motion to a robot: return its placement, and how each frame follows its bone.

    A character that walks keeps its heading, but for the yaw that is set, and stands on the robot's ground, starting
    where the robot stands; for a robot that is bolted down the poses are laid over each other.

    The motion is some of its frames, the first three following each other; None for a character that does not move. Yaw
    and stride of the `present` placement are kept. `scale` is the robot's size against the character's; None to take it
    from their bones.
    """
    left_out = int(motion is not None and begins_with_pose(motion, anatomy))
    overlay = laid_over(mechanism, root, skeleton, motion, anatomy, targets, present, scale)
    fitted = tuple(_fitted(overlay, k, targets) for k in range(len(targets)))
    placement = replace(overlay.placement, root=present.root)
    if not mechanism.is_grounded:
        moving = motion.positions[left_out:] if motion is not None else skeleton.positions[None]
        placement = replace(placement, yaw=present.yaw)
        placement = replace(placement, location=_standing(overlay, targets, fitted, moving, placement))
    return Fitted(placement=placement, targets=fitted, left_out=left_out)


def _fitted(overlay: Overlay, k: int, targets: Sequence[FitTarget]) -> FittedTarget:
    """Return how one target follows."""
    target, frame = targets[k], overlay.frames[k]
    bone = overlay.skeleton.index[target.bone]
    where, oriented = overlay.positions[bone], overlay.orientations[bone]
    found = overlay.limb_with(target.frame)
    position, orientation = np.array(frame.position), rotation(frame.quaternion)
    axis, is_alike, reach = None, True, None
    if target.by_direction or overlay.arms[k]:
        along, ahead = _limb_direction(overlay, target.frame, found), _bone_direction(overlay, target.bone)
        away = float(np.linalg.norm(where - position)) > ALIKE * overlay.mechanism.extent or _differ(along, ahead)
        if target.by_direction or away:
            axis = (
                None if along is None else nearest_axis(overlay.mechanism, target.frame, overlay.root.matrix.T @ along)
            )
            orientation = (
                orientation if along is None or ahead is None else rotation_between(along, ahead) * orientation
            )
            is_alike = target.by_direction
            position = where
    if not target.by_direction:
        reach = _reach(overlay, found, targets)
        if reach is not None and found is not None:
            where = _reached(overlay, reach, bone)
            turn = orientation * rotation(frame.quaternion).inv()
            turn = overlay.levelled[k] if overlay.feet[k] else turn
            joint = overlay.joints_of(found[0])[found[1]]
            position = where + turn.apply(np.array(frame.position) - joint)
        elif overlay.feet[k]:
            position = _under_the_hip(overlay, k, target, found)
    offset = oriented.inv().apply(position - where)
    return FittedTarget(
        offset=Pose(tuple(offset.tolist()), tuple(quaternions(oriented.inv() * orientation).tolist())),
        axis=axis,
        is_alike=is_alike,
        reach=reach,
    )


def _differ(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Return whether two limbs point in different directions."""
    return one is not None and other is not None and float(one @ other) < ALIKE_DIRECTION


def _under_the_hip(overlay: Overlay, k: int, target: FitTarget, found: tuple[RobotLimb, int] | None) -> np.ndarray:
    """Return where a foot's frame (3,) is when its ankle is as far from under its hip as the character's [m].

    Where a thigh hangs beside the hinges of its hip it is the thigh that counts: such a leg stands upright apart.
    """
    frame = np.array(overlay.frames[k].position)
    own = None if found is None else overlay.anatomy.limb(found[0].kind, found[0].side)
    if found is None or own is None or own.end != target.bone:
        return frame
    hip, _, ankle = overlay.joints_of(found[0])
    across, start = overlay.root.matrix @ found[0].axis, overlay.root.point(found[0].start)
    hip = hip + across * (across @ (start - hip))
    theirs = overlay.positions[overlay.skeleton.index[own.upper]]
    beside = (hip - theirs) * [1.0, 1.0, 0.0]
    return overlay.positions[overlay.skeleton.index[own.end]] + beside + overlay.levelled[k].apply(frame - ankle)


def _reach(overlay: Overlay, found: tuple[RobotLimb, int] | None, targets: Sequence[FitTarget]) -> Reach | None:
    """Return the reach of an arm's target, or of a front leg's, which steps from the robot's shoulder.

    None where its trunk is not known.
    """
    limb, part = found if found is not None else (None, 0)
    own = overlay.anatomy.limb(limb.kind, limb.side) if limb is not None and limb.kind in (ARM, FRONT_LEG) else None
    hips = next((t.bone for t in targets if _is_on(overlay, t.frame, overlay.robot.hips) and not t.by_direction), "")
    if limb is None or own is None or not hips or not part:
        return None
    bones, index, scale = [own.upper, own.lower, own.end][: part + 1], overlay.skeleton.index, overlay.placement.scale
    if not all(bones):
        return None
    if limb.kind == ARM:
        points = overlay.skeleton.positions[[index[name] for name in bones]]
        theirs = scale * np.linalg.norm(np.diff(points, axis=0), axis=1)
        shares = limb.lengths[:part] / np.maximum(theirs, FLAT)
    else:
        bones, shares = [own.upper, own.end], np.ones(1)
    chest = next(
        (t.bone for t in targets if overlay.robot.chest and _is_on(overlay, t.frame, overlay.robot.chest)), hips
    )
    shoulder = overlay.joints_of(limb)[0]
    waist = overlay.root.point(overlay.robot.waist) if overlay.robot.waist is not None and chest != hips else shoulder
    on_hips = overlay.positions[index[hips]], overlay.orientations[index[hips]]
    from_hips, from_chest = trunk_between(on_hips, overlay.orientations[index[chest]], waist, shoulder, scale)
    return Reach(
        hips=hips,
        chest=chest,
        joints=tuple(bones[:-1]),
        shares=tuple(shares.tolist()),
        from_hips=tuple(from_hips.tolist()),
        from_chest=tuple(from_chest.tolist()),
    )


def _is_on(overlay: Overlay, frame: str, body: str) -> bool:
    """Return whether a frame is on a body or on what is fixed to it."""
    return bool(body) and overlay.robot.rigid.get(overlay.mechanism.frame(frame).body) == overlay.robot.rigid.get(body)


def _reached(overlay: Overlay, reach: Reach, bone: int) -> np.ndarray:
    """Return where a reach follows a bone in the overlay (3,) [m]."""
    index, scale = overlay.skeleton.index, overlay.placement.scale
    hips, chest = index[reach.hips], index[reach.chest]
    trunk = overlay.orientations[hips].apply(reach.from_hips) + overlay.orientations[chest].apply(reach.from_chest)
    ways = np.diff(overlay.positions[[*(index[name] for name in reach.joints), bone]], axis=0)
    return overlay.positions[hips] + scale * trunk + np.array(reach.shares) @ ways


def _limb_direction(overlay: Overlay, frame: str, found: tuple[RobotLimb, int] | None) -> np.ndarray | None:
    """Return where a limb of the robot points (3,) in its rest pose, in the world.

    Along its part, a hand as its forearm.

    A part of no known limb points from its joint to its centre of mass.
    """
    if found is not None:
        way = overlay.root.matrix @ found[0].ways[min(found[1], 1)]
    else:
        mechanism = overlay.mechanism
        body = mechanism.bodies[mechanism.body_index[mechanism.frame(frame).body]]
        joint = next((joint for joint in mechanism.joints if joint.child == body.name), None)
        if joint is None or body.mass <= 0:
            return None
        way = overlay.root.matrix @ (body.rest_com - np.array(joint.position))
    length = float(np.linalg.norm(way))
    return way / length if length > FLAT else None


def _bone_direction(overlay: Overlay, bone: str) -> np.ndarray | None:
    """Return where a bone points (3,), as placed.

    To the next part of its limb, a hand as its forearm, another to its tip.
    """
    for limb in overlay.anatomy.limbs:
        names = (limb.upper, limb.lower, limb.end)
        if bone in names[:2] and (ahead := overlay.direction(bone, names[names.index(bone) + 1])) is not None:
            return ahead
        if bone == limb.end and (ahead := overlay.direction(limb.lower, bone)) is not None:
            return ahead
    k = overlay.skeleton.index[bone]
    way = (
        rotation(overlay.skeleton.quaternions[k]).inv().apply(overlay.skeleton.tips[k] - overlay.skeleton.positions[k])
    )
    length = float(np.linalg.norm(way))
    return overlay.orientations[k].apply(way / length) if length > FLAT else None


def _standing(
    overlay: Overlay,
    targets: Sequence[FitTarget],
    fitted: Sequence[FittedTarget],
    moving: np.ndarray,
    placement: Placement,
) -> np.ndarray:
    """Return where the character's origin lies (3,) when it starts where the robot stands, a foot on its ground [m]."""
    bones = np.array([overlay.skeleton.index[target.bone] for target in targets])
    on_ground = overlay.feet & np.array([target.reach is None for target in fitted])
    anchors = on_ground if on_ground.any() else np.ones(len(targets), dtype=bool)
    there = np.array([frame.position for frame in overlay.frames])
    offsets = np.array([overlay.orientations[b].apply(t.offset.position) for b, t in zip(bones, fitted, strict=True)])
    low = (there - offsets)[:, 2]  # of the bones when the robot's feet stand on its ground
    depth = (low - placement.scale * moving[:, bones, 2])[:, anchors].max(axis=1)
    chosen = ~overlay.arms & np.array([not target.by_direction for target in targets])
    chosen = chosen if chosen.any() else np.ones(len(targets), dtype=bool)
    turned, _ = replace(placement, location=np.zeros(3), root=Pose()).apply(
        moving[0][bones[chosen]], rotation(np.array([1.0, 0.0, 0.0, 0.0]))
    )
    start = (there[chosen] - turned).mean(axis=0)
    return np.array([start[0], start[1], float(np.percentile(depth, OUTLIERS))])
