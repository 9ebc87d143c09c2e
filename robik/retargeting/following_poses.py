"""Motions from poses that frames should have and coordinates that are given, as files hold them that name no motors."""

from __future__ import annotations

import numpy as np

from ..clips.clip import TargetClip, Track
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..motions.format import FramePoses
from ..objectives.posture import Posture
from ..objectives.settings import Settings
from ..report.shortfall import ORIENTATION_MET, position_met
from .retarget import retarget

GIVEN = 100.0  # weight of a coordinate that is given, beside frames that weigh 1: what is out of reach leaves it alone


def follow_poses(mechanism: Mechanism, poses: FramePoses) -> Motion:
    """Return the motion in which frames have these poses, as far as they can be reached.

    Args:
        mechanism: The robot.
        poses: Poses of frames, and coordinates.

    Returns:
        The motion; its report says what is missed.

    Raises:
        ClipError: The robot has no such frame or coordinate, or numbers that are wrong; says which.
    """
    tracks = {name: Track(position, poses.quaternion.get(name)) for name, position in poses.position.items()}
    given = [Posture(name, np.asarray(values)) for name, values in poses.coordinates.items()]
    clip = TargetClip(poses.times, tracks, objectives=tuple(given))
    weights = {item.key: GIVEN for item in given}
    return retarget(mechanism, clip, Settings(state_weight=None, objectives=weights))


def out_of_reach(mechanism: Mechanism, motion: Motion) -> str:
    """Return in how many samples frames do not have their poses, and how far they are off, in words.

    Args:
        mechanism: The robot.
        motion: What `follow_poses` returned.

    Returns:
        A sentence; empty if all have, or if nothing was followed.
    """
    report = motion.report
    if report is None:
        return ""
    off, turned = report.position_error.max(axis=1), np.nan_to_num(report.orientation_error).max(axis=1)
    missed = (off > position_met(mechanism)) | (turned > ORIENTATION_MET)
    if not missed.any():
        return ""
    time = motion.times[int(np.argmax(off / position_met(mechanism) + turned / ORIENTATION_MET))] - motion.times[0]
    return (
        f"{missed.sum()} of {len(missed)} samples are out of the robot's reach, by up to {1e3 * off.max():.3g} mm and"
        f" {np.degrees(turned.max()):.3g}°, most at {time:.4g} s; the nearest poses were taken"
    )
