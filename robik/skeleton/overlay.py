"""Character laid over a robot in corresponding poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..feet.legs import pelvis
from ..feet.support import sole_axes
from ..mechanism import Frame, Mechanism, Pose
from ..mechanism.orientations import quaternions, rotation
from .anatomy import ARM, LEG, Anatomy
from .correspondence import (
    FLAT,
    Joints,
    Poses,
    likest_pose,
    likest_stance,
    scale_by_bones,
    shared_joints,
    standing_orientation,
    usual_orientation,
)
from .names import ARMS, part_of, robot_name
from .placement import Placement
from .robot import robot_anatomy
from .robot_parts import RobotAnatomy, RobotLimb
from .skeleton import Skeleton, SkeletonMotion

NEVER_STRETCHED = (
    0.01  # of a leg's length, by which it is shorter: near its full length a knee moves fast, and may flip
)
LEVEL = 1e-3  # a foot that is turned by less stands level [rad]


@dataclass(frozen=True, kw_only=True)
class FitTarget:
    """Target of a fit: a frame of the robot and its bone.

    Attributes:
        frame: of the robot.
        bone: of the skeleton.
        by_direction: whether only the direction of a limb is followed.
    """

    frame: str
    bone: str
    by_direction: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Overlay:
    """A character in the pose that corresponds to the robot's rest pose, laid over it.

    Attributes:
        mechanism, robot: the robot and its parts.
        root: where it stands.
        skeleton, anatomy: the character and its parts.
        placement: by which it is laid over the robot, in the world.
        positions: (B, 3) of all bones, as placed [m].
        orientations: B of all bones, as placed.
        frames: N poses of the targets' frames in the world, feet level.
        levelled: N rotations that made feet level.
        feet, arms: (N,) which targets are feet, and which are arms.
    """

    mechanism: Mechanism
    robot: RobotAnatomy
    root: Pose
    skeleton: Skeleton
    anatomy: Anatomy
    placement: Placement
    positions: np.ndarray
    orientations: Rotation
    frames: tuple[Pose, ...]
    levelled: tuple[Rotation, ...]
    feet: np.ndarray
    arms: np.ndarray

    def joints_of(self, limb: RobotLimb) -> np.ndarray:
        """Return the joints (3, 3) of a limb of the robot in the world [m]."""
        return np.array([self.root.point(point) for point in limb.points])

    def direction(self, one: str, other: str) -> np.ndarray | None:
        """Return the unit vector (3,) from one bone to another, as placed; None if they coincide or one is missing."""
        if one not in self.skeleton.index or other not in self.skeleton.index:
            return None
        way = self.positions[self.skeleton.index[other]] - self.positions[self.skeleton.index[one]]
        length = float(np.linalg.norm(way))
        return way / length if length > FLAT else None

    def limb_with(self, frame: str) -> tuple[RobotLimb, int] | None:
        """Return the limb that a frame is on, and 0, 1 or 2 for its upper part, lower part or end; else None."""
        part = self.robot.rigid.get(self.mechanism.frame(frame).body)
        for limb in self.robot.limbs:
            for k, body in reversed(list(enumerate((limb.upper, limb.lower, limb.end)))):
                if body and self.robot.rigid[body] == part:
                    return limb, k
        return None


def laid_over(
    mechanism: Mechanism, root: Pose, skeleton: Skeleton, motion: SkeletonMotion | None, anatomy: Anatomy,
    targets: Sequence[FitTarget], present: Placement, scale: float | None,
) -> Overlay:  # fmt: skip
    """Return a character laid over a robot.

    `root` is the robot's pose in the world, `present` the character's placement as it is. `scale` is the robot's size
    against the character's; None to take it from their limbs.
    """
    robot, poses, frames = (
        robot_anatomy(mechanism),
        Poses.of(skeleton, motion),
        [mechanism.frame(t.frame) for t in targets],
    )
    levelled = [_levelled(frame, root @ mechanism.rest_pose(frame.name)) for frame in frames]
    feet = _feet(frames, robot)
    arms = _arms(frames, robot) & (feet.any() or robot.is_upper_body) & ~feet
    followed = _followed(skeleton, targets, [pose for pose, _ in levelled], feet, arms)
    known = scale if scale is not None else scale_by_bones(skeleton, anatomy, robot)
    hips, followed = _hips(mechanism, frames, feet, arms)[~followed.is_arm], followed.only(~followed.is_arm)
    scales = np.array([known or _scale_by_height(p, followed, hips) or present.scale for p in poses.positions])
    joints = shared_joints(skeleton, anatomy, robot, _matrix(root))
    has_legs = joints.is_top.sum() > 1
    shared = joints if has_legs or (robot.is_upper_body and len(joints.bones) > 1) else followed
    pose = likest_stance(poses, joints) if has_legs else likest_pose(poses, followed, scales, mechanism.extent)
    yaw = shared.yaw(poses.positions[pose])
    placement = replace(present, scale=float(scales[pose]), yaw=yaw, location=np.zeros(3), root=Pose())
    where, oriented = placement.apply(*_corrected(skeleton, anatomy, poses, pose))
    location = _anchored(shared, where) + np.array([0.0, 0.0, _bent(robot) if has_legs else 0.0])
    return Overlay(
        mechanism=mechanism,
        robot=robot,
        root=root,
        skeleton=skeleton,
        anatomy=anatomy,
        placement=replace(placement, location=location),
        positions=where + location,
        orientations=oriented,
        frames=tuple(pose for pose, _ in levelled),
        levelled=tuple(turn for _, turn in levelled),
        feet=feet,
        arms=arms,
    )


def _followed(
    skeleton: Skeleton, targets: Sequence[FitTarget], poses: Sequence[Pose], feet: np.ndarray, arms: np.ndarray
) -> Joints:
    """Return targets as corresponding joints, the feet at the top; those that only point count as arms."""
    return Joints(
        bones=np.array([skeleton.index[target.bone] for target in targets]),
        robot=np.array([pose.position for pose in poses]),
        is_arm=arms | np.array([target.by_direction for target in targets]),
        is_top=feet,
        limb=np.full(len(targets), -1),
    )


def _anchored(shared: Joints, where: np.ndarray) -> np.ndarray:
    """Return the shift (3,) [m] that brings placed bones (B, 3) over the robot.

    Hips on hips, or feet on feet, else all.
    """
    chosen = shared.only(shared.is_top) if shared.is_top.any() else shared
    return (chosen.robot - where[chosen.bones]).mean(axis=0) if len(chosen.bones) else np.zeros(3)


def _corrected(skeleton: Skeleton, anatomy: Anatomy, poses: Poses, pose: int) -> tuple[np.ndarray, Rotation]:
    """Return positions (B, 3) and orientations of a pose's bones, trunk and feet tilted as the motion has them."""
    where, oriented = poses.positions[pose].copy(), poses.quaternions[pose].copy()
    hips, shoulders = (
        np.array(
            [skeleton.index[limb.upper] for side in ("l", "r") if (limb := anatomy.limb(kind, side)) is not None],
            dtype=int,
        )
        for kind in (LEG, ARM)
    )
    if len(hips) == len(shoulders) == 2:
        for part in ("hips", "chest"):
            if (bone := skeleton.index.get(anatomy.parts.get((part, ""), ""))) is None:
                continue
            usual = usual_orientation(poses, pose, bone, hips, shoulders)
            if part == "hips":
                middle, tilt = where[hips].mean(axis=0), rotation(usual) * rotation(oriented[bone]).inv()
                where[bone] = middle + tilt.apply(where[bone] - middle)
            oriented[bone] = usual
    if len(hips) == 2:
        for side in ("l", "r"):
            leg = anatomy.limb(LEG, side)
            if leg is not None and leg.end in skeleton.index:
                foot = skeleton.index[leg.end]
                toes = skeleton.tips[foot] - skeleton.positions[foot]
                ahead = rotation(skeleton.quaternions[foot]).inv().apply(toes / max(np.linalg.norm(toes), FLAT))
                oriented[foot] = standing_orientation(poses, pose, foot, ahead)
    return where, rotation(oriented)


def _bent(robot: RobotAnatomy) -> float:
    """Return how much lower than on stretched legs the robot's hips stand for a character.

    As in its rest pose, and never quite stretched [m].
    """
    legs = [limb for limb in robot.limbs if limb.kind != ARM]
    bent = [limb.reach - float(np.linalg.norm(limb.points[2] - limb.points[0])) for limb in legs]
    return float(max(np.mean(bent), NEVER_STRETCHED * np.mean([limb.reach for limb in legs])))


def _matrix(pose: Pose) -> np.ndarray:
    """Return a pose as a matrix (4, 4)."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.matrix, pose.position
    return matrix


def _feet(frames: Sequence[Frame], robot: RobotAnatomy) -> np.ndarray:
    """Return which frames the robot stands on (N,): those with a sole.

    Where none has one, the ends of its legs and what is called a foot.
    """
    soles = np.array([frame.is_foot for frame in frames])
    ends = {robot.rigid[limb.end] for limb in robot.limbs if limb.kind != ARM and limb.end}
    called = np.array(
        [part_of(robot_name(frame.name))[0] == "foot" or robot.rigid.get(frame.body) in ends for frame in frames]
    )
    return soles if soles.any() else called


def _arms(frames: Sequence[Frame], robot: RobotAnatomy) -> np.ndarray:
    """Return which frames are on arms (N,)."""
    bodies = {
        robot.rigid[body]
        for limb in robot.limbs
        if limb.kind == ARM
        for body in (limb.upper, limb.lower, limb.end)
        if body
    }
    return np.array(
        [robot.rigid.get(frame.body) in bodies or part_of(robot_name(frame.name))[0] in ARMS for frame in frames]
    )


def _hips(mechanism: Mechanism, frames: Sequence[Frame], feet: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Return which targets tell how long the legs are (N,) where their bones do not.

    The pelvis, what is called hips, all but the limbs.
    """
    on_it = np.array([frame.body == pelvis(mechanism) for frame in frames]) & ~feet
    called = np.array([part_of(frame.name)[0] == "hips" for frame in frames]) & ~feet
    rest = ~feet & ~arms
    return next((chosen for chosen in (on_it, called, rest) if chosen.any()), ~feet)


def _scale_by_height(positions: np.ndarray, followed: Joints, hips: np.ndarray) -> float | None:
    """Return a scale by the hips' height above the feet, without feet by how far targets lie apart.

    None where they do not tell.
    """
    here, there, feet = positions[followed.bones], followed.robot, followed.is_top
    if feet.any() and not feet.all() and hips.any():
        here, there = ((points[:, 2] - points[feet, 2].mean())[hips] for points in (here, there))
    else:
        here, there = (np.linalg.norm(points - points.mean(axis=0), axis=1) for points in (here, there))
    size, ratio = float(here @ here), float(here @ there)
    return ratio / size if size > FLAT**2 and ratio > 0 else None


def _levelled(frame: Frame, pose: Pose) -> tuple[Pose, Rotation]:
    """Return a foot's pose, turned by no more than lets it stand level, and that rotation; another frame's as it is."""
    if not frame.is_foot:
        return pose, Rotation.identity()
    normal = pose.matrix @ sole_axes(frame)[2]
    turn = rotation_between(normal if normal[2] > 0 else -normal, np.array([0.0, 0.0, 1.0]))
    if turn.magnitude() < LEVEL:
        return pose, Rotation.identity()
    return replace(pose, quaternion=tuple(quaternions(turn * rotation(pose.quaternion)).tolist())), turn


def rotation_between(one: np.ndarray, other: np.ndarray) -> Rotation:
    """Return the smallest rotation that takes one unit vector (3,) to another."""
    axis, cosine = np.cross(one, other), float(one @ other)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        if cosine > 0:
            return Rotation.identity()
        axis = np.cross(one, np.eye(3)[int(np.argmin(np.abs(one)))])
        return Rotation.from_rotvec(np.pi * axis / np.linalg.norm(axis))
    return Rotation.from_rotvec(np.arctan2(sine, cosine) * axis / sine)
