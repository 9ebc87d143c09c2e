"""Tracks of a robot's frames from the motion of a skeleton, by what a fit has found."""

from __future__ import annotations

import numpy as np

from ..clips.clip import Track
from ..mechanism import Pose
from ..mechanism.orientations import quaternions, rotation
from .placement import Placement
from .reach import Reach
from .skeleton import SkeletonMotion


def followed(motion: SkeletonMotion, bone: str, reach: Reach | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return positions (T, 3) [m] and unit quaternions (T, 4) wxyz that a target follows, in the character's world.

    `reach` is of a limb with proportions of its own; None to follow the bone wherever it is.
    """
    index = motion.skeleton.index
    end, orientation = motion.positions[:, index[bone]], motion.quaternions[:, index[bone]]
    if reach is None:
        return end, orientation
    hips, chest = index[reach.hips], index[reach.chest]
    joints = np.stack([*(motion.positions[:, index[name]] for name in reach.joints), end])
    trunk = motion.positions[:, hips], motion.quaternions[:, hips]
    return reach.apply(trunk, motion.quaternions[:, chest], joints), orientation


def track(positions: np.ndarray, orientations: np.ndarray, offset: Pose, placement: Placement) -> Track:
    """Return followed poses as the track of a robot's frame.

    Positions (T, 3) [m] and orientations (T, 4) wxyz are in the character's world; `offset` is the frame's from them,
    as placed, along their axes [m].
    """
    where, oriented = placement.apply(positions, rotation(orientations))
    return Track(where + oriented.apply(np.array(offset.position)), quaternions(oriented * rotation(offset.quaternion)))
