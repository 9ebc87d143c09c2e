"""Characters as NumPy archives: a skeleton and its motion with all digits, in metres, Z up.

    bones (N,), parents (N,), rest_positions (N, 3), rest_quaternions (N, 4) wxyz, tips (N, 3)
    times (T,), positions (T, N, 3), quaternions (T, N, 4) wxyz

Blender writes what it has read (FBX, GLB, a rig of one's own), and the library follows it without Blender: what a
skeleton is comes from the file, so nothing is turned upright, scaled or guessed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..arrays import numbers, pack, texts
from ..errors import ClipError
from ..files import write_whole
from ..skeleton.skeleton import Skeleton, SkeletonMotion

SKELETON = ("parents", "rest_positions", "rest_quaternions", "tips")
MOTION = ("times", "positions", "quaternions")
ARRAYS = ("bones", *SKELETON, *MOTION)
UNIT = 1e-3  # by which the length of a quaternion may be off


def save_recording(motion: SkeletonMotion, path: str | Path) -> None:
    """Write a character's motion as an archive that `load_recording` reads, to the last bit.

    Args:
        motion: The character's motion.
        path: Of the file, an `.npz`.

    Raises:
        FormatError: The file cannot be written.
    """
    bones = motion.skeleton
    arrays = {
        "bones": np.array(bones.names, dtype=str),
        "parents": bones.parents,
        "rest_positions": bones.positions,
        "rest_quaternions": bones.quaternions,
        "tips": bones.tips,
        "times": motion.times,
        "positions": motion.positions,
        "quaternions": motion.quaternions,
    }
    content = pack(arrays)
    write_whole(path, lambda file: file.write(content))


def matches(arrays: dict[str, np.ndarray]) -> bool:
    """Return whether an archive is a character.

    Args:
        arrays: Arrays of an archive by name.

    Returns:
        True where it has a rest pose and names of bones.
    """
    return {"bones", "rest_positions", "rest_quaternions"} <= arrays.keys()


def read(arrays: dict[str, np.ndarray]) -> SkeletonMotion:
    """Return the motion of a character.

    Args:
        arrays: Arrays of an archive by name.

    Returns:
        The motion, in metres, Z up.

    Raises:
        ClipError: Names the array that is missing or wrong.
    """
    if missing := [name for name in ARRAYS if name not in arrays]:
        raise ClipError(f"a character without the array {missing[0]}; it has {', '.join(ARRAYS)}")
    names = texts(arrays, "bones")
    times = numbers(arrays, "times", (None,))
    if not len(times) or (np.diff(times) <= 0).any():
        raise ClipError("times must be increasing numbers, one per frame")
    bones, frames = len(names), len(times)
    shapes: dict[str, tuple[int, ...]] = {
        "parents": (bones,), "rest_positions": (bones, 3), "rest_quaternions": (bones, 4), "tips": (bones, 3),
        "positions": (frames, bones, 3), "quaternions": (frames, bones, 4),
    }  # fmt: skip
    found = {name: numbers(arrays, name, shape) for name, shape in shapes.items()}
    for name in ("rest_quaternions", "quaternions"):
        if (np.abs(np.linalg.norm(found[name], axis=-1) - 1.0) > UNIT).any():
            raise ClipError(f"{name} must be unit quaternions, wxyz")
    skeleton = Skeleton(names, *(found[name] for name in SKELETON))
    return SkeletonMotion(skeleton, times, found["positions"], found["quaternions"])
