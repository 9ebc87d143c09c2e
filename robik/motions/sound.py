"""Sound of a motion: a file beside the motion's own, under the same name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ..errors import FormatError
from ..files import check_writable, write_whole


def beside(path: Path, extensions: Iterable[str]) -> Path | None:
    """Return the sound file beside a motion's file, with the first extension that exists; None without one."""
    found = (path.with_suffix(extension) for extension in extensions)
    return next((file.absolute() for file in found if file.is_file()), None)


def kept(sound: Path | None, path: Path) -> Callable[[], None] | None:
    """Return a function that puts a sound beside a motion's file; None where there is nothing to do.

    Raise FormatError, before anything is written, where the sound cannot be read or its copy not written.
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
