"""Directions of a robot's limbs against those of the character that they follow."""

from __future__ import annotations

import numpy as np

from ..clips.clip import TargetClip
from ..kinematics.frames import frame_poses
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..skeleton.anatomy import PARTS_OF
from ..skeleton.robot import robot_anatomy


class LimbDirections:
    """Angles between a robot's thighs, shins, upper arms and forearms and those they follow, block by block.

    Only parts of limbs whose orientation has a target count.
    """

    def __init__(self, mechanism: Mechanism, clip: TargetClip):
        self._mechanism = mechanism
        self._followed: list[tuple[str, str, np.ndarray, np.ndarray]] = []  # part, frame, direction in it, targets
        self._angles: dict[str, list[np.ndarray]] = {}
        if not any(track.quaternion is not None for track in clip.tracks.values()):
            return
        for limb in robot_anatomy(mechanism).limbs:
            ways = zip(PARTS_OF[limb.kind], (limb.upper, limb.lower), limb.ways, strict=False)
            for part, body, way in ways:
                track = clip.tracks.get(body)
                if track is not None and track.quaternion is not None and way.any():
                    local = mechanism.rest_pose(body).matrix.T @ (way / np.linalg.norm(way))
                    self._followed.append((part, body, local, track.quaternion))

    def add(self, frames: slice, position: np.ndarray, quaternion: np.ndarray) -> None:
        """Add the next frames, by positions (B, n, 3) [m] and quaternions (B, n, 4) wxyz of the bodies' own frames."""
        for part, body, local, wanted in self._followed:
            way = frame_poses(self._mechanism, body, position, quaternion)[1] @ local
            theirs = quaternion_matrices(wanted[frames]) @ local
            apart = np.linalg.norm(np.cross(way, theirs), axis=1)
            self._angles.setdefault(part, []).append(np.arctan2(apart, np.sum(way * theirs, axis=1)))

    def means(self) -> dict[str, float]:
        """Return the mean angle of each part, both sides together [deg]; NaN targets are left out."""
        return {part: float(np.degrees(np.nanmean(np.concatenate(found)))) for part, found in self._angles.items()}
