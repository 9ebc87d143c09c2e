"""Placement of the character: the way from its world to the robot's coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from ..mechanism import Pose
from ..mechanism.orientations import rotation


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Way from the character's world to the robot's coordinates.

    Scale, turn about the vertical, move, see from the root.

    Attributes:
        scale: size of the robot against the character.
        stride: by which the way over the ground is scaled beside.
        yaw: about the vertical [rad].
        location: (3,) where the character's origin comes to lie [m].
        root: the robot's root in the world.
    """

    scale: float
    stride: float
    yaw: float
    location: np.ndarray
    root: Pose

    @property
    def scales(self) -> np.ndarray:
        """(3,) along X, Y and Z."""
        return self.scale * np.array([self.stride, self.stride, 1.0])

    def apply(self, positions: np.ndarray, orientations: Rotation) -> tuple[np.ndarray, Rotation]:
        """Return poses of the character's world, T positions and orientations, in the robot's coordinates [m]."""
        yaw, back, turn = self._turns
        world = yaw.apply(self.scales * positions) + self.location
        return back.apply(world - np.asarray(self.root.position)), turn * orientations

    @cached_property
    def _turns(self) -> tuple[Rotation, Rotation, Rotation]:
        """By the yaw, from the world to the robot, and both."""
        yaw, back = Rotation.from_euler("z", self.yaw), rotation(self.root.quaternion).inv()
        return yaw, back, back * yaw
