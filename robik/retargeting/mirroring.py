"""Mirror images of motions: left and right change places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices, quaternions
from ..mechanism.pose import Pose
from ..mechanism.topology import build_topology
from ..motions import BaseTrack, Motion, values_for
from ..skeleton.symmetry import Symmetry, symmetry_of


def mirrored(mechanism: Mechanism, motion: Motion, source: str = "the motion") -> Motion:
    """Return the mirror image of a motion: what the left side did, the right side does.

    Its values stay within each motor's own limits.

    Args:
        mechanism: The robot.
        motion: Has a column per actuator of the robot.
        source: The motion's file, for errors.

    Returns:
        Times, values and base of the image.

    Raises:
        ClipError: An actuator has no column.
        RobikError: The robot is not symmetric.
    """
    symmetry = symmetry_of(mechanism)
    low, high = mechanism.actuator_limits.T
    values = np.clip(symmetry.mirrored(values_for(mechanism, motion, source)), low, high)
    base = None if motion.base is None else _mirrored_base(mechanism, motion.base, symmetry)
    return Motion(times=motion.times, actuators=mechanism.actuators, values=values, base=base)


def _mirrored_base(mechanism: Mechanism, base: BaseTrack, symmetry: Symmetry) -> BaseTrack:
    """Return the base's image: T' = M T T₀⁻¹ M T₀, with the base's pose T₀ at rest."""
    name = base.body or build_topology(mechanism).root
    rest = next((body.pose for body in mechanism.bodies if body.name == name), Pose())
    mirror, home = symmetry.reflection, _matrices(np.array([rest.position]), np.array([rest.quaternion]))[0]
    image = mirror @ _matrices(base.position, base.quaternion) @ np.linalg.inv(home) @ mirror @ home
    return replace(base, position=image[:, :3, 3], quaternion=_unit_quaternions(image[:, :3, :3]))


def _matrices(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    poses = np.tile(np.eye(4), (len(position), 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = quaternion_matrices(quaternion), position
    return poses


def _unit_quaternions(turns: np.ndarray) -> np.ndarray:
    """Return unit quaternions (T, 4) wxyz of matrices, without jumps of sign."""
    found = quaternions(Rotation.from_matrix(turns)).reshape(-1, 4)
    flips = np.cumprod(np.where((found[1:] * found[:-1]).sum(axis=1) < 0, -1.0, 1.0))
    found[1:] *= flips[:, None]
    return found
