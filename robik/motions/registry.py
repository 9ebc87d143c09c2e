"""Registry of motion formats, and reading and writing a motion in the one that is named or guessed."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from ..errors import ClipError, FormatError
from ..files import read_folder, read_whole, write_folder, write_whole
from . import (
    arduino,
    csv_file,
    gmr_pickle,
    json_file,
    lafan1_csv,
    mujoco_keys,
    npz_file,
    reachy_move,
    ros2,
    simulator_archive,
    sonic_csv,
)  # fmt: skip
from .format import NEEDS, Companions, MotionFormat
from .motion import Motion
from .resampling import at_rate
from .sound import beside, kept

LOG = logging.getLogger(__name__)
FORMATS: dict[str, MotionFormat] = {
    row.name: row
    for row in (
        csv_file.FORMAT, json_file.FORMAT, npz_file.FORMAT, lafan1_csv.FORMAT, gmr_pickle.FORMAT,
        simulator_archive.MJLAB_FORMAT, simulator_archive.HOLOSOMA_FORMAT, simulator_archive.ISAAC_FORMAT,
        simulator_archive.QPOS_FORMAT, sonic_csv.FORMAT, mujoco_keys.FORMAT, ros2.FORMAT, reachy_move.FORMAT,
        arduino.FORMAT,
    )
}  # fmt: skip
READABLE = tuple(row.name for row in FORMATS.values() if row.read)
WRITABLE = tuple(row.name for row in FORMATS.values() if row.write)
MOST = 1_000_000_000  # bytes of a motion file that is read
ALONE = Companions()


def load_motion(path: str | Path, format: str | None = None, companions: Companions = ALONE) -> Motion:
    """Read a motion.

    Args:
        path: Of the file; of the folder, or of a file in it, where a format is a folder.
        format: A name of `FORMATS`; by the content, then by the extension, if left out.
        companions: What some formats need beside the file, as the robot for columns without names.

    Returns:
        The motion.

    Raises:
        FormatError: An unknown format.
        ClipError: Names the file and what is wrong in it, or the formats that fit where there are several.
    """
    if format is not None:
        _named(format, READABLE, "read")
    try:
        row, content = _opened(Path(path), format)
        needed = [need for need in row.needs if need != "servos"] if row.needs_to_read is None else row.needs_to_read
        for need in needed:
            if getattr(companions, need) is None:
                raise FormatError(f"the format {row.name} needs {NEEDS[need]}")
        assert row.read is not None  # as READABLE says
        motion = row.read(content, companions)
        return motion.with_sound(beside(Path(path), row.sounds)) if row.sounds else motion
    except (ClipError, FormatError) as error:
        raise ClipError(f"{path}: {error}") from None


def save_motion(motion: Motion, path: str | Path, format: str | None = None, companions: Companions = ALONE) -> None:
    """Write a motion, whole or not at all.

    Args:
        motion: to be written.
        path: of the file or the folder. A sound of the motion goes beside it where the format has that.
        format: a name of `FORMATS`; by the path's extension if left out.
        companions: what some formats need beside the motion, and the rate: the motion's own if left out, but in a
            format that does not say it the one that its readers take.

    Raises:
        FormatError: an unknown format, several that fit, one that needs a companion, or a file that cannot be written.
        ClipError: a motion that the format cannot hold.
    """
    row = format_to_write(path, format)
    for need in row.needs:
        if getattr(companions, need) is None:
            raise FormatError(f"{path}: the format {row.name} needs {NEEDS[need]}")
    assert row.write is not None  # as WRITABLE says
    try:
        content = row.write(at_rate(motion, companions.fps or row.rate), Path(path), companions)
    except ClipError as error:
        raise ClipError(f"{path}: {error}") from None
    if row.rate and companions.fps and companions.fps != row.rate:
        LOG.warning("%s: others read %g samples per second unless they are told %g", path, row.rate, companions.fps)
    if isinstance(content, dict):
        return write_folder(path, content)

    sound = kept(motion.sound, Path(path)) if row.sounds else None
    write_whole(path, lambda file: file.write(content))
    if sound is not None:
        sound()
    return None


def format_to_write(path: str | Path, format: str | None = None) -> MotionFormat:
    """Return the format of a file to be written.

    Args:
        path: Of the file.
        format: Its name; by the path's extension if left out.

    Returns:
        The format.

    Raises:
        FormatError: An unknown format, or an extension that none or several have; lists what there is.
    """
    if format is not None:
        return _named(format, WRITABLE, "written")
    extension = Path(path).suffix.lower()
    found = [name for name in WRITABLE if extension in FORMATS[name].extensions and FORMATS[name].by_extension]
    if not found:
        known = ", ".join(dict.fromkeys(e for name in WRITABLE for e in FORMATS[name].extensions if e))
        given = extension or "a file without extension"
        raise FormatError(
            f"{path}: a motion is exported as {known}, not as {given}; or name its format: {', '.join(WRITABLE)}"
        )
    return _only(found, f"{path}: {extension} files are of several formats")


def _opened(path: Path, format: str | None) -> tuple[MotionFormat, bytes | dict[str, bytes]]:
    """Return the format that is named, or that the content tells, and the content of the file or the folder."""
    rows = [FORMATS[name] for name in READABLE if format in (None, name)]
    folders = [row for row in rows if row.files]
    for row in folders:
        assert row.matches is not None  # a folder has no extension to go by
        if path.is_dir():
            if inside := read_folder(path, row.files, MOST):
                return row, inside
        elif path.name in row.files and row.matches(inside := read_folder(path.parent, row.files, MOST)):
            return row, inside
    if folders and path.is_dir():
        raise FormatError(_no_motion(path, folders))
    if folders == rows:
        raise FormatError(f"there is no such folder; the format {format} is a folder with {', '.join(rows[0].files)}")
    content = read_whole(path, MOST)
    return rows[0] if format is not None else _format_of(content, path), content


def _no_motion(path: Path, rows: list[MotionFormat]) -> str:
    """Return what is wrong with a folder that holds no motion."""
    names = {file.parent.name for row in rows for name in row.files for file in path.glob(f"*/{name}")}
    if names:
        return f"it is a folder of motions; name one of them: {', '.join(sorted(names)[:5])}"
    return f"it is a folder without a motion: it has no {rows[0].files[0]}; name a file, or a folder with a motion"


def _format_of(content: bytes, path: Path) -> MotionFormat:
    """Return the format that a file's content, else its extension, tells."""
    single = [name for name in READABLE if not FORMATS[name].files]
    fitting = [name for name in single if (test := FORMATS[name].matches) and test(content)]
    usual = [name for name in single if FORMATS[name].by_extension]
    named = [name for name in fitting or usual if path.suffix.lower() in FORMATS[name].extensions]
    found = named or fitting
    if not found:
        raise FormatError(f"no motion that can be read here; the formats are {', '.join(READABLE)}")
    return _only(found, "its content fits several formats")


def _only(names: list[str], several: str) -> MotionFormat:
    if len(names) > 1:
        raise FormatError(f"{several}: {', '.join(names)}; name the one that is meant")
    return FORMATS[names[0]]


def _named(name: str, usable: Iterable[str], done: str) -> MotionFormat:
    if name not in usable:
        unknown = (
            f"motion files of the format {name!r} cannot be {done}"
            if name in FORMATS
            else f"unknown motion format {name!r}"
        )
        raise FormatError(f"{unknown}; there are {', '.join(usable)}")
    return FORMATS[name]
