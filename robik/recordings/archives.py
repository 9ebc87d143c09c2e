"""Recordings as NumPy archives: positions of joints, or poses of a body model of the SMPL family."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..arrays import listed, numbers, texts
from ..errors import ClipError
from ..skeleton.skeleton import SkeletonMotion
from . import body_model as smpl
from . import joint_positions

POSITIONS = ("positions", "joint_positions", "global_joint_positions", "joints")
NAMES = ("names", "joint_names", "joints_names", "bones")
RATES = ("fps", "mocap_framerate", "mocap_frame_rate", "frame_rate", "rate")
ARRAYS = (*POSITIONS, *NAMES, *RATES, "times", "parents", *smpl.RECORDING)


def read(arrays: dict[str, np.ndarray], body_model: str | Path | None) -> SkeletonMotion:
    """Return the motion in an archive, Z up, in metres; poses need a body model of the SMPL family.

    A ClipError names the array that is missing or wrong.
    """
    if "poses" in arrays or "pose_body" in arrays:
        if body_model is None:
            raise ClipError(
                "it holds poses of a body model of the SMPL family; give that model as an npz (--body-model MODEL.npz)"
            )
        return smpl.read(arrays, _rate(arrays), body_model)
    where = next((name for name in POSITIONS if name in arrays and arrays[name].ndim == 3), None)
    if where is None:
        raise ClipError(f"no array {' or '.join(POSITIONS)} (T, J, 3), and no poses; there are {listed(arrays)}")
    if (named := next((name for name in NAMES if name in arrays and arrays[name].dtype.kind in "US"), None)) is None:
        raise ClipError(f"no array {' or '.join(NAMES)} with the joints' names")
    names, positions = texts(arrays, named), numbers(arrays, where)
    times = numbers(arrays, "times") if "times" in arrays else np.arange(len(positions)) / _rate(arrays)
    parents = numbers(arrays, "parents") if "parents" in arrays else None
    return joint_positions.skeleton_motion(names, positions, times, parents)


def _rate(arrays: dict[str, np.ndarray]) -> float:
    """Return the frames per second that an archive says [Hz]. Raises ClipError."""
    name = next((name for name in RATES if name in arrays and arrays[name].size == 1), None)
    if name is None:
        raise ClipError(f"no array {' or '.join(RATES)} with the frames per second")
    found = float(numbers(arrays, name).ravel()[0])
    if not found > 0:
        raise ClipError(f"{name} must be a positive number of frames per second, not {found:g}")
    return found
