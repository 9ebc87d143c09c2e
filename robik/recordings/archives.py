"""Recordings as NumPy archives: positions of joints, or poses of a body model of the SMPL family."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

from ..errors import ClipError
from ..skeleton.skeleton import SkeletonMotion
from . import body_model as smpl
from . import joint_positions

POSITIONS = ("positions", "joint_positions", "global_joint_positions", "joints")
NAMES = ("names", "joint_names", "joints_names", "bones")
RATES = ("fps", "mocap_framerate", "mocap_frame_rate", "frame_rate", "rate")


def read(content: bytes, body_model: str | Path | None) -> SkeletonMotion:
    """Return the motion in an archive.

    Args:
        content: of the file.
        body_model: of the SMPL family, for poses.

    Raises:
        ClipError: names the array that is missing or wrong.
    """
    arrays = load_arrays(content)
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


def load_arrays(content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of an archive; without those that hold Python objects, which are never run.

    Raises:
        ClipError: it is no archive of arrays.
    """
    arrays: dict[str, np.ndarray] = {}
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            for name in file.files:
                try:
                    array = file[name]
                except ValueError:  # of objects
                    continue
                if isinstance(array, np.ndarray):
                    arrays[name] = array
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ClipError(f"not an archive of arrays (.npz): {error}") from None
    return arrays


def rate(arrays: dict[str, np.ndarray]) -> float:
    """Return the frames per second that an archive says.

    Raises:
        ClipError: it says none, or one that cannot be.
    """
    name = next((name for name in RATES if name in arrays and arrays[name].size == 1), None)
    if name is None:
        raise ClipError(f"no array {' or '.join(RATES)} with the frames per second")
    found = float(numbers(arrays, name).ravel()[0])
    if not 0 < found < np.inf:
        raise ClipError(f"{name} must be a positive number of frames per second, not {found:g}")
    return found


def numbers(arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return an array as numbers.

    Raises:
        ClipError: it holds something else, or numbers that are not finite.
    """
    if arrays[name].dtype.kind not in "iuf":
        raise ClipError(f"{name} must hold numbers, not {arrays[name].dtype}")
    array = arrays[name].astype(float)
    if not np.isfinite(array).all():
        raise ClipError(f"{name} must be finite; entry {np.argwhere(~np.isfinite(array))[0].tolist()} is not")
    return array


def _text(name: str | bytes) -> str:
    return name.decode("utf-8", errors="replace") if isinstance(name, bytes) else name
