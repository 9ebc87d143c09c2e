"""Arrays of NumPy archives, as numbers."""

from __future__ import annotations

import io
import zipfile

import numpy as np

from ..errors import ClipError

RATES = ("fps", "mocap_framerate", "mocap_frame_rate", "frame_rate", "rate")


def load_arrays(content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of an archive.

    Those that hold Python objects, which are never run, are left out.

    Args:
        content: The file's bytes.

    Returns:
        The arrays by name.

    Raises:
        ClipError: It is no archive of arrays.
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

    Args:
        arrays: Arrays of an archive by name.

    Returns:
        Frames per second [Hz].

    Raises:
        ClipError: It says none, or one that cannot be.
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

    Args:
        arrays: Arrays of an archive by name.
        name: Name of the array.

    Returns:
        The array as floats.

    Raises:
        ClipError: It holds something else, or numbers that are not finite.
    """
    if arrays[name].dtype.kind not in "iuf":
        raise ClipError(f"{name} must hold numbers, not {arrays[name].dtype}")
    array = arrays[name].astype(float)
    if not np.isfinite(array).all():
        raise ClipError(f"{name} must be finite; entry {np.argwhere(~np.isfinite(array))[0].tolist()} is not")
    return array
