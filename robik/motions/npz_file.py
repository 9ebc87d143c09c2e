"""NumPy motion files: the fields of a `Motion` as arrays.

`times` (T,) [s], `actuators` (A,), `values` (T, A) [rad or m]. Where they are known: `base_body`, `base_position` (T,
3) [m] and `base_quaternion` (T, 4) wxyz; `passive` (P,) with `passive_values` (T, P) [rad or m].
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

from ..errors import ClipError
from .format import Companions, MotionFormat
from .motion import BaseTrack, Motion

ALWAYS = ("times", "actuators", "values")
BASE = ("base_body", "base_position", "base_quaternion")
PASSIVE = ("passive", "passive_values")


def matches(content: bytes) -> bool:
    """Return whether it is an archive of arrays that has those of a motion.

    Args:
        content: The file's bytes.

    Returns:
        True where the content is of this format.
    """
    if not content.startswith(b"PK"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {f"{name}.npy" for name in ALWAYS} <= set(archive.namelist())
    except zipfile.BadZipFile:
        return False


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as a compressed archive of arrays.

    Args:
        motion: The motion.
        path: The file to be written, for its name.
        companions: Robot, servos and choices that the format may need.

    Returns:
        The file's bytes.
    """
    arrays = {"times": motion.times, "actuators": np.array(motion.actuators, dtype=str), "values": motion.values}
    if (base := motion.base) is not None:
        arrays |= dict(zip(BASE, (np.array(base.body), base.position, base.quaternion), strict=True))
    if motion.passive is not None:
        columns = list(motion.passive.values())
        table = np.column_stack(columns) if columns else np.zeros((len(motion.times), 0))
        arrays |= dict(zip(PASSIVE, (np.array(list(motion.passive), dtype=str), table), strict=True))
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion in a NumPy archive.

    Args:
        content: The file's bytes.
        companions: Robot, servos and choices that the format may need.

    Returns:
        The motion.

    Raises:
        ClipError: Names the array that is missing or wrong.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: np.atleast_1d(file[name]) for name in file.files}  # bytes, too, where one is no array
    except (ValueError, OSError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise ClipError(f"not a motion (.npz): {error}") from None
    base = passive = None
    _check_names(arrays, ALWAYS)
    if BASE[1] in arrays:
        _check_names(arrays, BASE)
        base = BaseTrack(
            body=str(arrays[BASE[0]][0]), position=_numbers(arrays, BASE[1]), quaternion=_numbers(arrays, BASE[2])
        )
    if PASSIVE[0] in arrays:
        _check_names(arrays, PASSIVE)
        names, table = arrays[PASSIVE[0]].tolist(), _numbers(arrays, PASSIVE[1])
        if table.ndim != 2 or table.shape[1] != len(names):
            raise ClipError(
                f"{PASSIVE[1]} must have a column for each of the {len(names)} names, not the shape {table.shape}"
            )
        passive = dict(zip(map(str, names), table.T, strict=True))
    actuators = tuple(map(str, arrays["actuators"].tolist()))
    return Motion(
        times=_numbers(arrays, "times"),
        actuators=actuators,
        values=_numbers(arrays, "values"),
        base=base,
        passive=passive,
    )


def _check_names(arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> None:
    if missing := [name for name in names if name not in arrays]:
        raise ClipError(f"no array {', '.join(missing)}; there are {', '.join(sorted(arrays)) or 'none'}")


def _numbers(arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    try:
        return arrays[name].astype(float, casting="same_kind")
    except TypeError:
        raise ClipError(f"{name} must hold numbers, not {arrays[name].dtype}") from None


FORMAT = MotionFormat(name="npz", label="NumPy", extensions=(".npz",), matches=matches, read=read, write=write)
