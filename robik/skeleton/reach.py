"""Reach of limbs whose proportions differ: a hand is followed as the robot's own arm would carry it.

    p = h + H u + C v + k (e − s)

h and H are position and orientation of the hips' bone, C is the orientation of the chest's, s and e are the positions of shoulder and hand;
u leads from the hips' bone to the robot's waist, v from there to its shoulder, and k is the length of the robot's arm against the character's.
All are in the character's own size: the placement scales them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from .placement import rotation


@dataclass(frozen=True, kw_only=True)
class Reach:
    """A limb's reach.

    Attributes:
        hips, chest, root: bones; the root is that of the upper arm, which begins at the shoulder.
        share: length of the robot's limb against the character's, beside the scale of all.
        from_hips, from_chest: (3,) along the axes of hips and chest [m of the character].
    """

    hips: str
    chest: str
    root: str
    share: float
    from_hips: tuple[float, float, float]
    from_chest: tuple[float, float, float]

    def apply(self, hips: tuple[np.ndarray, np.ndarray], chest: np.ndarray, root: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return where the limb's end is followed.

        Args:
            hips: positions (T, 3) [m] and unit quaternions (T, 4) wxyz.
            chest: unit quaternions (T, 4) wxyz.
            root, end: positions (T, 3) [m].

        Returns:
            (T, 3) [m].
        """
        position, orientation = hips
        trunk = position + rotation(orientation).apply(self.from_hips) + rotation(chest).apply(self.from_chest)
        return trunk + self.share * (end - root)


def reach_between(
    bones: tuple[str, str, str],
    share: float,
    hips: tuple[np.ndarray, Rotation],
    chest: Rotation,
    waist: np.ndarray,
    shoulder: np.ndarray,
    scale: float,
) -> Reach:
    """Return the reach by which a robot in its rest pose corresponds to a pose of the character.

    Args:
        bones: of hips, chest and root.
        share: length of the robot's limb against the character's.
        hips: position (3,) and orientation of the hips' bone as placed over the robot [m].
        chest: orientation of the chest's bone there.
        waist, shoulder: (3,) of the robot [m].
        scale: size of the robot against the character.
    """
    position, orientation = hips
    u, v = orientation.inv().apply(waist - position) / scale, chest.inv().apply(shoulder - waist) / scale
    return Reach(hips=bones[0], chest=bones[1], root=bones[2], share=share, from_hips=tuple(u.tolist()), from_chest=tuple(v.tolist()))
