"""Arrays in files: NumPy archives (`.npz`), read by their headers first, and the one check of numbers.

Compression makes a megabyte of a gigabyte of zeros. What headers say is therefore checked before an array is unpacked:
an archive may unpack to `SPARE` bytes and `RATIO` times its own size, numbers counted as floats. `pack` writes none
that unpacks to more.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Container, Iterable, Mapping
from math import prod
from typing import Any

import numpy as np

from .errors import ClipError

SPARE, RATIO = 64_000_000, 3  # bytes, and times its own size, that an archive may unpack to
ENTRIES = 10_000  # arrays in an archive: a list of millions would take more than they do
ENTRY = b"PK\x01\x02"  # begins each entry of an archive's list
SUFFIX = ".npy"
WIDTH = 8  # bytes of a float
LISTED = 20  # names in an error
SAID = 200  # characters of what a library says
NUMBERS = "iuf"  # kinds of NumPy types that are real numbers

Shape = tuple[int | None, ...]


def names_in(content: bytes) -> set[str]:
    """Return the names of the arrays in an archive; none where it is not one."""
    try:
        with _opened(content) as archive:
            return set(_names(archive))
    except ClipError:
        return set()


def read_npz(content: bytes, needed: Iterable[str], more: Container[str] | None = ()) -> dict[str, np.ndarray]:
    """Return arrays of an archive; others are not unpacked."""
    needed = tuple(needed)
    with _opened(content) as archive:
        names = _names(archive)
        if missing := [name for name in needed if name not in names]:
            raise ClipError(f"no array {', '.join(missing)}; there are {listed(names)}")
        wanted = [name for name in names if more is None or name in needed or name in more]
        _check_size([_unpacked(archive, name) for name in wanted], len(content))
        return {name: _array(archive, name) for name in wanted}


def numbers(arrays: Mapping[str, np.ndarray], name: str, shape: Shape | None = None) -> np.ndarray:
    """Return an array of an archive as floats."""
    return finite(arrays[name], name, shape)


def finite(values: Any, where: str, shape: Shape | None = None) -> np.ndarray:
    """Return an array, or lists of numbers as JSON has them, as floats."""
    array = _floats(values, where)
    if shape is not None and not _fits(array, shape):
        raise ClipError(f"{where} must have the shape {_shape_text(shape)}, not {array.shape}")
    if not (is_finite := np.isfinite(array)).all():
        at = f"; entry {np.argwhere(~is_finite)[0].tolist()} is not" if array.ndim else ""
        raise ClipError(f"{where} must be finite{at}")
    return array


def texts(arrays: Mapping[str, np.ndarray], name: str) -> tuple[str, ...]:
    """Return an array of an archive as texts."""
    array = arrays[name]
    if array.ndim > 1 or (array.size and array.dtype.kind not in "US"):
        raise ClipError(f"{name} must be a row of texts, not {array.dtype} of the shape {array.shape}")
    try:
        found = array.ravel().tolist()
    except (SystemError, ValueError):  # what is not the number of a character
        raise ClipError(f"{name} holds something else than characters") from None
    return tuple(one.decode(errors="replace") if isinstance(one, bytes) else str(one) for one in found)


def pack(arrays: Mapping[str, Any]) -> bytes:
    """Return an archive that `read_npz` reads: compressed, unless that makes it suspiciously small."""
    made = {name: np.asarray(array) for name, array in arrays.items()}
    file = io.BytesIO()
    np.savez_compressed(file, **made)
    size = len(file.getbuffer())
    if sum(_weight(array.shape, array.dtype) for array in made.values()) > SPARE + RATIO * size:
        file = io.BytesIO()
        np.savez(file, **made)
    return file.getvalue()


def _floats(values: Any, where: str) -> np.ndarray:
    """Return values as floats, be they finite or not. Raises ClipError."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in NUMBERS:
            raise ClipError(f"{where} must hold numbers, not {values.dtype}")
        with np.errstate(over="ignore"):  # a number beyond all floats is infinite
            return values.astype(float, copy=False)
    try:
        if not isinstance(values, list):
            raise TypeError
        return np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ClipError(f"{where}: it must be a list of numbers") from None


def _fits(array: np.ndarray, shape: Shape) -> bool:
    return array.ndim == len(shape) and all(n in (None, own) for n, own in zip(shape, array.shape, strict=True))


def _shape_text(shape: Shape) -> str:
    """Return a shape in words, with N for a length of any size."""
    return f"({', '.join('N' if n is None else str(n) for n in shape)}{',' if len(shape) == 1 else ''})"


def listed(names: Iterable[str]) -> str:
    """Return names from a file as a part of a sentence."""
    found = sorted(names)
    rest = ["…"] if len(found) > LISTED else []
    return ", ".join([_in_line(name) for name in found[:LISTED]] + rest) or "none"


def _in_line(name: str) -> str:
    return name if name.isprintable() else repr(name)


def _opened(content: bytes) -> zipfile.ZipFile:
    """Return an archive, to be closed. Raises ClipError."""
    if content.count(ENTRY) > ENTRIES:
        raise ClipError(f"not an archive of arrays (.npz): it has more than {ENTRIES} entries")
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except Exception as error:  # a broken archive can fail in any way
        raise _broken(error) from None


def _names(archive: zipfile.ZipFile) -> list[str]:
    return [name.removesuffix(SUFFIX) for name in dict.fromkeys(archive.namelist()) if name.endswith(SUFFIX)]


def _unpacked(archive: zipfile.ZipFile, name: str) -> int:
    """Return the bytes that an array takes as floats, by its header. Raises ClipError."""
    entry = archive.getinfo(name + SUFFIX)
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ClipError(f"{_in_line(name)} is compressed in another way than NumPy does; save it by numpy.savez")
    try:
        with archive.open(entry) as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
            head = file.tell()
    except Exception as error:  # a broken archive can fail in any way
        raise _broken(error, name) from None
    if dtype.hasobject or dtype.names:
        raise ClipError(f"{_in_line(name)} holds Python objects, which are not opened; save it as numbers or texts")
    if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize > entry.file_size - head:
        raise ClipError(
            f"{_in_line(name)} is cut off: its header says {shape} of {dtype}, and it has {entry.file_size} bytes"
        )
    return _weight(shape, dtype)


def _weight(shape: tuple[int, ...], dtype: np.dtype) -> int:
    """Return the bytes of an array as floats; an axis without length counts as one, since others go along it."""
    return prod(max(n, 1) for n in shape) * max(dtype.itemsize, WIDTH if dtype.kind in NUMBERS else 1)


def _check_size(sizes: list[int], packed: int) -> None:
    """Check that arrays of these sizes may come of a file of this one. Raises ClipError."""
    if sum(sizes) > SPARE + RATIO * packed:
        raise ClipError(
            f"its arrays would take {sum(sizes) / 1e6:,.0f} MB, which is too much for a file of {packed / 1e6:.3g} MB;"
            " if that is meant, save it without compression (numpy.savez)"
        )


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Return an array whose header has been checked. Raises ClipError."""
    try:
        with archive.open(name + SUFFIX) as file:
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
    except Exception as error:  # a broken archive can fail in any way
        raise _broken(error, name) from None


def _broken(error: Exception, name: str = "") -> ClipError:
    said = " ".join(str(error).split())[:SAID] or type(error).__name__
    return ClipError(
        f"{_in_line(name)} cannot be unpacked: {said}" if name else f"not an archive of arrays (.npz): {said}"
    )
