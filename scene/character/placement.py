"""Placement of the character as the scene has it."""

from __future__ import annotations

import numpy as np
from bpy.types import Object

from ...robik.skeleton.placement import Placement
from ..robot.parts import pose_of


def read_placement(root: Object) -> Placement:
    """Return the placement that a robot's character settings and its root object say."""
    character = root.robik.robot.character
    return Placement(
        scale=float(character.scale),
        stride=float(character.stride),
        yaw=float(character.yaw),
        location=np.array(character.location, dtype=float),
        root=pose_of(root.matrix_world),
    )
