"""Reach of arms whose proportions differ: a hand is followed as the robot's own arm would carry it.

    p = h + H u + C v + k₁ (m − s) + k₂ (e − m)

h and H are position and orientation of the hips' bone, C is the orientation of the chest's; s, m and e are the
positions of shoulder, elbow and hand. u leads from the hips' bone to the robot's waist, v from there to its shoulder;
k₁ and k₂ are the lengths of the robot's upper arm and forearm against the character's. All are in the character's own
size: the placement scales them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ..mechanism.orientations import rotation


@dataclass(frozen=True, kw_only=True)
class Reach:
    """A limb's reach.

    Attributes:
        hips, chest: bones of the trunk.
        joints: bones of the limb before the one that is followed: of the upper arm, and of the forearm where a hand
            is followed.
        shares: length of each of the limb's parts against the character's, beside the scale of all.
        from_hips, from_chest: (3,) along the axes of hips and chest [m of the character].
    """

    hips: str
    chest: str
    joints: tuple[str, ...]
    shares: tuple[float, ...]
    from_hips: tuple[float, float, float]
    from_chest: tuple[float, float, float]

    def apply(self, hips: tuple[np.ndarray, np.ndarray], chest: np.ndarray, joints: np.ndarray) -> np.ndarray:
        """Return the positions (T, 3) at which the limb's end is followed [m].

        `hips` are positions (T, 3) [m] and unit quaternions (T, 4) wxyz, `chest` unit quaternions (T, 4), `joints` (J +
        1, T, 3) positions of the limb's joints and of its end [m].
        """
        position, orientation = hips
        trunk = position + rotation(orientation).apply(self.from_hips) + rotation(chest).apply(self.from_chest)
        return trunk + np.einsum("j,jtk->tk", np.array(self.shares), np.diff(joints, axis=0))


def trunk_between(
    hips: tuple[np.ndarray, Rotation], chest: Rotation, waist: np.ndarray, shoulder: np.ndarray, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ways (3,) to the robot's waist along the hips' axes, and on to its shoulder along the chest's [m].

    Hips (position (3,) and orientation) and chest are the character's bones as placed over the robot; waist (3,) and
    shoulder (3,) are the robot's in its rest pose [m]; `scale` is its size against the character.
    """
    position, orientation = hips
    return orientation.inv().apply(waist - position) / scale, chest.inv().apply(shoulder - waist) / scale
