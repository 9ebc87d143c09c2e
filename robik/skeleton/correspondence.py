"""Corresponding poses: the character's pose that looks most like the robot's rest pose, and how it lies over it.

The joints of both correspond: hips, knees and ankles, shoulders, elbows and wrists. Which pose is taken does not
depend on the frame that
happens to be shown: it is the rest pose, or, where that looks otherwise, the best of some frames of the motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ..feet.sole_turns import UP, laid_on
from ..mechanism.orientations import quaternions, rotation
from .anatomy import ARM, FRONT_LEG, LEG, Anatomy
from .robot_parts import RobotAnatomy
from .skeleton import Skeleton, SkeletonMotion

REST_IS_FINE = 1.2  # times the best frame's difference: so unlike may the rest pose be and still be taken
SAME_STANCE = 0.1  # rad: stances that differ by less are equally good
SAME = 0.02  # of the robot's size: poses that differ by less are equally good
FLAT = 1e-6  # points nearer than this have no size or direction to fit [m]
STRAIGHT_OUT = 0.35  # sine: so far may an arm of a T-pose slope
STRAIGHT_DOWN = 0.12  # 1 − cosine: so far may a leg of a T-pose lean
STRAIGHT = 0.9  # cosine between the parts of a straight limb
FEWEST = 4  # poses of a motion that tell how its feet stand
STANDING = 25  # percentile of a foot's heights up to which it stands
ALIKE = 0.1  # [rad]: poses of a foot that are no further apart are the same stand
OFTEN = 0.5  # of the poses that the commonest stand has: others that have more may be the flat one
LEVEL = 0.01  # of the character's size: stands that are lower by less are no flatter
SWINGS = 0.02  # of the character's size: a foot whose height changes by more swings
CLEAR = 0.3  # of the poses of a low foot: a stand that more of them share is how it stands
LEANING = 0.03  # [rad]: a foot that is tilted by more against how it stands does not stand
TILTED = 0.2  # rad: a bone that is tilted less against the pose to align by just moves
JUMP, MUCH = 0.2, 3.0  # a limb that turns by more in one sample [rad], and so much faster than in the next, has jumped


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of a character of N bones, the rest pose first.

    Attributes:
        positions: (P, N, 3) [m].
        quaternions: (P, N, 4) wxyz.
    """

    positions: np.ndarray
    quaternions: np.ndarray

    @classmethod
    def of(cls, skeleton: Skeleton, motion: SkeletonMotion | None) -> Poses:
        """Return the rest pose, and after it those of a motion."""
        if motion is None:
            return cls(skeleton.positions[None], skeleton.quaternions[None])
        return cls(
            np.concatenate([skeleton.positions[None], motion.positions]),
            np.concatenate([skeleton.quaternions[None], motion.quaternions]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Joints:
    """Joints that character and robot share.

    Attributes:
        bones: (J,) index of the bone that begins at each joint.
        robot: (J, 3) the robot's, in the world, in its rest pose [m].
        is_arm: (J,) whether a joint belongs to an arm, which may hang in one pose and stretch out in the other.
        is_top: (J,) whether it is a hip, of a quadruped's hind legs.
        limb: (J,) which limb it belongs to; −1 for none.
    """

    bones: np.ndarray
    robot: np.ndarray
    is_arm: np.ndarray
    is_top: np.ndarray
    limb: np.ndarray

    @property
    def roots(self) -> np.ndarray:
        """Indices of hips and shoulders, which say where a body looks, however its limbs are bent; all if too few."""
        first = np.flatnonzero(np.diff(self.limb, prepend=-1) != 0)
        return first if len(first) > 1 else np.arange(len(self.bones))

    def yaw(self, positions: np.ndarray) -> float:
        """Return the rotation about the vertical that turns a character the way the robot looks [rad].

        Positions (N, 3) are of all the character's bones; it is 0 where the joints do not say.
        """
        return yaw_between(positions[self.bones[self.roots]], self.robot[self.roots])

    def only(self, chosen: np.ndarray) -> Joints:
        """Return some of the joints, by indices or a flag per joint."""
        return Joints(
            bones=self.bones[chosen],
            robot=self.robot[chosen],
            is_arm=self.is_arm[chosen],
            is_top=self.is_top[chosen],
            limb=self.limb[chosen],
        )


def shared_joints(skeleton: Skeleton, character: Anatomy, robot: RobotAnatomy, root: np.ndarray) -> Joints:
    """Return the joints that character and robot share, of arms only the shoulders.

    `root` (4, 4) is the robot's root in the world.
    """
    bones, points, tops, limbs = [], [], [], []
    for number, limb in enumerate(robot.limbs):
        own = character.limb(limb.kind, limb.side)
        if own is None or not (own.end or own.kind == ARM):
            continue
        for k, name in enumerate((own.upper, own.lower, own.end)):
            if name in skeleton.index and (limb.kind != ARM or k == 0):
                bones.append(skeleton.index[name])
                points.append(root[:3, :3] @ limb.points[k] + root[:3, 3])
                tops.append(limb.kind == LEG and k == 0)
                limbs.append(number)
    return Joints(
        bones=np.array(bones, dtype=int),
        robot=np.array(points).reshape(-1, 3),
        is_arm=np.zeros(len(bones), dtype=bool),
        is_top=np.array(tops, dtype=bool),
        limb=np.array(limbs, dtype=int),
    )


def length_ratio(skeleton: Skeleton, character: Anatomy, robot: RobotAnatomy, *kinds: str) -> float | None:
    """Return the robot's length of limbs of some kinds over the character's; None where they share none."""
    own = their = 0.0
    for limb in robot.limbs:
        other = character.limb(limb.kind, limb.side)
        if limb.kind in kinds and other is not None and other.end in skeleton.index:
            points = skeleton.positions[[skeleton.index[name] for name in (other.upper, other.lower, other.end)]]
            their += float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
            own += limb.reach
    return own / their if their > FLAT and own > FLAT else None


def scale_by_bones(skeleton: Skeleton, character: Anatomy, robot: RobotAnatomy) -> float | None:
    """Return the size of the robot against the character by the lengths of legs, else of arms; None without either."""
    by_legs = length_ratio(skeleton, character, robot, LEG, FRONT_LEG)
    return length_ratio(skeleton, character, robot, ARM) if by_legs is None and robot.is_upper_body else by_legs


def yaw_between(here: np.ndarray, there: np.ndarray) -> float:
    """Return the rotation about the vertical that lays points (J, 3) best over others [rad]; 0 if they do not say."""
    a, b = ((points - points.mean(axis=0))[:, :2] for points in (here, there))
    along, across = float((a * b).sum()), float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
    return float(np.arctan2(across, along)) if np.hypot(along, across) > FLAT**2 else 0.0


def difference(here: np.ndarray, there: np.ndarray, scale: float) -> float:
    """Return the root mean square distance of points (J, 3), scaled and laid over others, from these [m]."""
    laid = Rotation.from_euler("z", yaw_between(here, there)).apply(scale * (here - here.mean(axis=0)))
    return float(np.sqrt(((laid - there + there.mean(axis=0)) ** 2).sum(axis=1).mean()))


def likest_pose(poses: Poses, joints: Joints, scales: np.ndarray, size: float) -> int:
    """Return the index of the character's pose that lies best over the robot's points.

    The rest pose, 0, is taken if it is about as good. `scales` (P,) are sizes of the robot against the character,
    `size` is the robot's [m].
    """
    if not len(joints.bones):
        return 0
    pairs = zip(poses.positions, scales, strict=True)
    unlike = np.array([difference(positions[joints.bones], joints.robot, scale) for positions, scale in pairs])
    best = int(np.argmin(unlike))
    return 0 if unlike[0] <= REST_IS_FINE * unlike[best] + SAME * size else best


def likest_stance(poses: Poses, joints: Joints) -> int:
    """Return the index of the character's pose in which legs and trunk point most as the robot's.

    Directions count, not places: they do not depend on proportions. The rest pose is taken if it is about as good.
    """
    own = _directions(joints, joints.robot)
    unlike = []
    for positions in poses.positions:
        here = positions[joints.bones]
        turned = Rotation.from_euler("z", joints.yaw(positions)).apply(_directions(joints, here))
        unlike.append(float(np.sqrt(((turned - own) ** 2).sum(axis=1).mean())))
    best = int(np.argmin(unlike))
    return 0 if unlike[0] <= REST_IS_FINE * unlike[best] + SAME_STANCE else best


def _directions(joints: Joints, points: np.ndarray) -> np.ndarray:
    """Return unit vectors of the legs' parts, of the trunk and across the hips (K, 3), by the joints' points (J, 3)."""
    ways = np.diff(points, axis=0)[np.diff(joints.limb) == 0]
    hips, shoulders = (
        points[joints.is_top],
        points[[k for k in range(len(points)) if (joints.limb == joints.limb[k]).sum() == 1]],
    )
    across = [hips[0] - hips[-1]] if len(hips) > 1 else []
    up = [shoulders.mean(axis=0) - hips.mean(axis=0)] if len(hips) and len(shoulders) else []
    ways = np.concatenate([ways, np.array([*across, *up]).reshape(-1, 3)])
    return ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), FLAT)


def usual_orientation(poses: Poses, pose: int, bone: int, hips: np.ndarray, shoulders: np.ndarray) -> np.ndarray:
    """Return the quaternion (4,) wxyz of a bone of the trunk that corresponds to the robot's.

    It is the pose's, unless the bone is tilted against that in all the motion while the trunk as a whole is not: then
    the pose to align by was made without regard to the bone, as the pelvis of CMU's recordings, and the motion's mean
    is taken. `hips` (2,) and `shoulders` (2,) are indices of the bones that begin at these joints, the left one first.
    """
    own = poses.quaternions[pose, bone]
    moving = np.arange(2, len(poses.positions))  # neither the rest pose nor what may be a pose to align by
    if len(moving) < 3:
        return own
    across = poses.positions[:, hips[0]] - poses.positions[:, hips[1]]
    headings = Rotation.from_euler("z", np.arctan2(across[:, 1], across[:, 0]))
    trunk = poses.positions[:, shoulders].mean(axis=1) - poses.positions[:, hips].mean(axis=1)
    trunk = headings.inv().apply(trunk / np.maximum(np.linalg.norm(trunk, axis=1, keepdims=True), FLAT))
    level = headings.inv() * rotation(poses.quaternions[:, bone])
    mean = level[moving].mean()
    tilt = float((mean * level[pose].inv()).magnitude())
    leaning = float(np.linalg.norm(trunk[moving].mean(axis=0) - trunk[pose]))
    spread = float(np.median((level[moving] * mean.inv()).magnitude()))
    if tilt < TILTED or leaning > 0.5 * tilt or spread > tilt:
        return own
    return quaternions(headings[pose] * mean)


def begins_with_pose(motion: SkeletonMotion, character: Anatomy) -> bool:
    """Return True if a motion begins with a T-pose to align by: arms out, legs down, and then another pose at once.

    Its first three samples follow each other in the recording.
    """
    if len(motion.times) < 3:
        return False
    limbs = [limb for limb in character.limbs if limb.end in motion.skeleton.index and limb.kind in (LEG, ARM)]
    if len(limbs) < 4:
        return False
    turned = []
    for limb in limbs:
        points = motion.positions[:3, [motion.skeleton.index[n] for n in (limb.upper, limb.lower, limb.end)]]
        parts = np.diff(points, axis=1)
        parts = parts / np.maximum(np.linalg.norm(parts, axis=2, keepdims=True), FLAT)
        level = np.abs(parts[0, :, 2]) if limb.kind == ARM else 1.0 + parts[0, :, 2]
        if (level > (STRAIGHT_OUT if limb.kind == ARM else STRAIGHT_DOWN)).any() or float(
            parts[0, 0] @ parts[0, 1]
        ) < STRAIGHT:
            return False
        turned.append(np.linalg.norm(np.diff(parts, axis=0), axis=2).max(axis=1))
    first, then = np.max(turned, axis=0)
    return bool(first > JUMP and first > MUCH * then)


def placed_orientations(quaternions: np.ndarray, yaw: float) -> Rotation:
    """Return N orientations after a rotation `yaw` [rad] about the vertical, from quaternions (N, 4) wxyz."""
    return Rotation.from_euler("z", yaw) * rotation(quaternions)


def standing_orientation(poses: Poses, pose: int, bone: int, ahead: np.ndarray) -> np.ndarray:
    """Return the quaternion (4,) wxyz of a foot's bone that corresponds to a robot's foot, which stands level.

    It is the pose's, unless the foot is tilted there against how it stands in the motion, as in a swing: then it is
    turned as it stands, with the pose's own heading. It stands in the way in which it is most often while it is low.
    Skeletons of recordings are often not drawn as one stands. So the rest pose is doubted where the motion is clear:
    the foot comes down so from swings, or its toes are higher than at rest, since nobody stands on the heels. `ahead`
    (3,) is the unit vector to its toes, in the bone's coordinates.
    """
    own, heights = poses.quaternions[pose, bone], poses.positions[1:, bone, 2]
    if len(heights) < FEWEST:
        return own
    low = heights <= np.percentile(heights, STANDING)
    ups = rotation(poses.quaternions[1:, bone][low]).inv().apply(UP)
    alike = np.arccos(np.clip(ups @ ups.T, -1.0, 1.0)) < ALIKE
    how_many, how_high = alike.sum(axis=1), np.array([np.median(heights[low][row]) for row in alike])
    known = how_many >= OFTEN * how_many.max()
    size = float(np.ptp(poses.positions[0], axis=0).max())
    flat = known & (how_high <= how_high[known].min() + LEVEL * size)
    stand = int(np.argmax(np.where(flat, how_many, 0)))
    up = ups[alike[stand]].mean(axis=0)
    higher = float((up - rotation(own).inv().apply(UP)) @ ahead) > 0.0
    is_clear = how_many[stand] >= CLEAR * len(ups) and (higher or np.ptp(heights) > SWINGS * size)
    if pose == 0 and not is_clear:
        return own
    stands = laid_on(rotation(own), up / np.linalg.norm(up))
    return own if (stands * rotation(own).inv()).magnitude() < LEANING else quaternions(stands)
