"""Sound of a motion: a file beside the motion's own, under the same name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ..errors import FormatError
from ..files import check_writable, write_whole


def beside(path: Path, extensions: Iterable[str]) -> Path | None:
    """Return the sound file of a motion's file.

    Args:
        path: The motion's file.
        extensions: Those of sound files, the best first.

    Returns:
        The file; None where there is none.
    """
    found = (path.with_suffix(extension) for extension in extensions)
    return next((file.absolute() for file in found if file.is_file()), None)


def kept(sound: Path | None, path: Path) -> Callable[[], None] | None:
    """Return what puts a sound beside a motion's file, after checking that it can.

    Args:
        sound: The sound file, or None.
        path: The motion's file.

    Returns:
        A function without arguments; None where nothing is to be done.

    Raises:
        FormatError: The sound cannot be read, or its copy not written; nothing was written.
    """
    if sound is None:
        return None
    target = path.with_suffix(sound.suffix)
    try:
        content = sound.read_bytes()
    except OSError as error:
        raise FormatError(f"the sound {sound} cannot be read: {error.strerror or error}") from None
    if target.absolute() == sound.absolute():
        return None
    check_writable(target)
    return lambda: write_whole(target, lambda file: file.write(content))
