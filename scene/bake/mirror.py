"""Mirror images in Blender: of the pose that the sliders have, and of the whole motion."""

from __future__ import annotations

import numpy as np
from bpy.types import Object, Scene

from ...robik.motions.posing import posed
from ...robik.retargeting.mirroring import mirrored
from ...robik.skeleton.symmetry import symmetry_of
from ..motion import motion_frames, read_motion
from ..robot.reading import read_moving_parts
from ..robot.sliders import set_sliders, slider_values
from .curves import write_own_bake


def flip_pose(root: Object) -> list[str]:
    """Exchange left and right in the pose of the sliders, and return the motors without a counterpart.

    Those stay as they are. Raise RobikError if the robot is not symmetric.
    """
    mechanism = read_moving_parts(root)
    symmetry = symmetry_of(mechanism)
    low, high = mechanism.actuator_limits.T
    flipped = np.clip(symmetry.mirrored(slider_values(root, mechanism.actuators)), low, high)
    set_sliders(root, mechanism.actuators, flipped)
    return [mechanism.actuators[k] for k in np.flatnonzero(symmetry.partner < 0)]


def mirror_motion(root: Object, scene: Scene) -> int:
    """Key the mirror image of a robot's motion as a bake of its own, and return the number of its frames.

    Raise RobikError, with nothing changed, if the robot has no motion or is not symmetric.
    """
    mechanism = read_moving_parts(root)
    frames = motion_frames(root, mechanism, scene)
    image, _ = posed(mechanism, mirrored(mechanism, read_motion(root, mechanism, frames, scene)))
    write_own_bake(root, scene, image, frames)
    return len(frames)
