"""Recordings as NumPy archives: positions of joints, or poses of a body model of the SMPL family."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..errors import ClipError
from ..skeleton.skeleton import SkeletonMotion
from . import body_model as smpl
from . import joint_positions
from .arrays import numbers, rate

POSITIONS = ("positions", "joint_positions", "global_joint_positions", "joints")
NAMES = ("names", "joint_names", "joints_names", "bones")


def read(arrays: dict[str, np.ndarray], body_model: str | Path | None) -> SkeletonMotion:
    """Return the motion in an archive.

    Args:
        arrays: Of the archive, by name.
        body_model: Of the SMPL family, for poses.

    Returns:
        The motion, Z up, in metres.

    Raises:
        ClipError: Names the array that is missing or wrong.
    """
    if "poses" in arrays or "pose_body" in arrays:
        if body_model is None:
            raise ClipError(
                "it holds poses of a body model of the SMPL family; give that model as an npz (--body-model MODEL.npz)"
            )
        return smpl.read(arrays, rate(arrays), body_model)
    where = next((name for name in POSITIONS if name in arrays and arrays[name].ndim == 3), None)
    if where is None:
        raise ClipError(
            f"no array {' or '.join(POSITIONS)} (T, J, 3), and no poses; "
            f"there are {', '.join(sorted(arrays)) or 'none'}"
        )
    names = next((arrays[name] for name in NAMES if name in arrays and arrays[name].dtype.kind in "US"), None)
    if names is None:
        raise ClipError(f"no array {' or '.join(NAMES)} with the joints' names")
    positions = numbers(arrays, where)
    times = numbers(arrays, "times") if "times" in arrays else np.arange(len(positions)) / rate(arrays)
    parents = numbers(arrays, "parents").astype(int) if "parents" in arrays else None
    return joint_positions.skeleton_motion(tuple(_text(name) for name in names.tolist()), positions, times, parents)


def _text(name: str | bytes) -> str:
    return name.decode("utf-8", errors="replace") if isinstance(name, bytes) else name
