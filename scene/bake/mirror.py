"""Mirror images in Blender: of the pose that the sliders have, and of the whole motion."""

from __future__ import annotations

import numpy as np
from bpy.types import Object, Scene

from ...robik.retarget.mirroring import mirrored
from ...robik.retarget.posing import posed
from ...robik.skeleton.symmetry import symmetry_of
from ..robot.reading import read_moving_parts
from ..robot.sliders import set_sliders, slider_values
from .curves import baked_frames, read_motion, write_own_bake


def flip_pose(root: Object) -> list[str]:
    """Let left and right change places in the pose of the sliders.

    Returns:
        Motors without a counterpart, which stay as they are.

    Raises:
        RobikError: the robot is not symmetric.
    """
    mechanism = read_moving_parts(root)
    symmetry = symmetry_of(mechanism)
    low, high = mechanism.actuator_limits.T
    flipped = np.clip(symmetry.mirrored(slider_values(root, mechanism.actuators)), low, high)
    set_sliders(root, mechanism.actuators, flipped)
    return [mechanism.actuators[k] for k in np.flatnonzero(symmetry.partner < 0)]


def mirror_motion(root: Object, scene: Scene) -> int:
    """Key the mirror image of a robot's motion as a bake of its own, beside the others.

    Returns:
        How many frames it has.

    Raises:
        RobikError: the robot has no motion, or is not symmetric; nothing was changed.
    """
    mechanism = read_moving_parts(root)
    frames = baked_frames(root, mechanism)
    image, _ = posed(mechanism, mirrored(mechanism, read_motion(root, mechanism, frames, scene)))
    write_own_bake(root, scene, image, frames)
    return len(frames)
