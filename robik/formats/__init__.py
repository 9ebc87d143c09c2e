"""Robot files: one package per format, chosen by the file's extension."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from ..errors import FormatError
from ..files import read_whole
from ..mechanism import Mechanism
from ..mechanism.base import with_base
from . import native
from .imported import Imported, Notes, described, reading, warn
from .mesh_copies import carried
from .mesh_files import contained
from .plausibility import doubts
from .xml_file import MOST, read_xml

__all__ = ["READERS", "WRITERS", "Imported", "import_robot", "load_robot", "save_robot"]

Reader = Callable[
    ..., Imported
]  # of the file and the folders of ROS packages; of xacro files, also of their `arguments`
Writer = Callable[[Mechanism, Path], tuple[str, ...]]


def _reader(format_name: str) -> Reader:
    """Return a format's reader, imported when it is needed, so that what reads no USD starts without it."""
    return lambda *read, **options: import_module(f"{__name__}.{format_name}").load(*read, **options)


def _writer(format_name: str) -> Writer:
    return lambda mechanism, path: import_module(f"{__name__}.{format_name}").save(mechanism, path)


def _native(path: Path, packages: Iterable[Path]) -> Imported:
    notes = Notes()
    mechanism = contained(native.load(path), path, packages, notes)
    return Imported(mechanism, notes.sentences)


_MJCF, _SDF, _URDF, _USD, _XACRO = map(
    _reader, ("mjcf.reader", "sdf.reader", "urdf.reader", "usd.reader", "urdf.xacro")
)


def _urdf(path: Path, packages: Iterable[Path], **options: Mapping[str, str]) -> Imported:
    """Return a URDF's robot, expanded first where it is written in xacro under the name of what that becomes."""
    return (_XACRO if _is_xacro(path) else _URDF)(path, packages, **options)


def _is_xacro(path: Path) -> bool:
    try:
        content = read_whole(path, MOST)
    except FormatError:  # which its reader tells
        return False
    space = re.search(rb"xmlns:([\w.-]+)\s*=\s*[\"'][^\"'<>]*xacro", content)
    return space is not None and b"<" + space[1] + b":" in content


_ROOTS = {"mujoco": _MJCF, "robot": _urdf, "sdf": _SDF}


def _xml(path: Path, packages: Iterable[Path]) -> Imported:
    """Return what its root element says that it is."""
    with reading(path):
        root = read_xml(path).tag
        if root not in _ROOTS:
            raise FormatError(
                f"its root element must be one of {', '.join(f'<{name}>' for name in _ROOTS)}, not <{root[:40]}>"
            )
    return _ROOTS[root](path, packages)


READERS: dict[str, Reader] = {
    native.EXTENSION: _native, ".urdf": _urdf, ".xml": _xml, ".mjcf": _MJCF,
    ".usd": _USD, ".usda": _USD, ".usdc": _USD, ".usdz": _USD, ".sdf": _SDF, ".xacro": _XACRO,
}  # fmt: skip
WRITERS: dict[str, Writer] = {
    native.EXTENSION: _writer("native"), ".urdf": _writer("urdf.writer"), ".xml": _writer("mjcf.writer"),
    ".mjcf": _writer("mjcf.writer")
}  # fmt: skip


def import_robot(
    path: str | Path,
    packages: Iterable[str | Path] = (),
    base: str = "auto",
    arguments: Mapping[str, str] | None = None,
) -> Imported:
    """Return the robot in a file, and what its user should know about how the file was read.

    Args:
        path: The file.
        packages: Folders of ROS packages, or folders that hold such, where `package://` URIs may lead.
        base: Whether it stands fixed or floats (`with_base`).
        arguments: Values of a xacro file's arguments, by name; those not given have their defaults.

    Returns:
        The robot, with warnings and a report of the import.

    Raises:
        FormatError: Names the file, the element and the remedy; for an unknown extension, those that can be read.
        AssemblyError: A loop that cannot be closed; names it and its gap.
        MechanismError: It cannot have that base.
    """
    read = _read(path, packages, arguments)
    return described(replace(read, mechanism=with_base(read.mechanism, base)))


def load_robot(
    path: str | Path, packages: Iterable[str | Path] = (), arguments: Mapping[str, str] | None = None
) -> Mechanism:
    """Return the robot in a file, read as by `import_robot`.

    Warnings of the import are logged, and which motors its loops lock; `import_robot` gives them. Of a native file's
    motors, `retarget` tells.

    A native file's meshes are named as the file names them, wherever that leads, since no mesh is read here.

    Args:
        path: The file.
        packages: Folders of ROS packages.
        arguments: Values of xacro's arguments by name.

    Returns:
        The robot, assembled in its rest pose.

    Raises:
        FormatError: As `import_robot`.
        AssemblyError: As `import_robot`.
    """
    if Path(path).name.lower().endswith(native.EXTENSION) and not arguments:
        return native.load(Path(path))
    imported = _read(path, packages, arguments)
    warn(imported, Path(path))
    return imported.mechanism


def save_robot(mechanism: Mechanism, path: str | Path, read_from: str | Path | None = None) -> tuple[str, ...]:
    """Write a robot: `.robik.json` without loss, so that loading it gives an equal `Mechanism`.

    URDF and MJCF with the same motions.

    Args:
        mechanism: The robot.
        path: The file to write; its extension decides the format.
        read_from: The file that the robot came from. Its meshes are then named as seen from the new file, and copied
            beside it where they would lie outside its folder. Without, they are named as they are.

    Returns:
        One sentence each on what the format cannot say.

    Raises:
        FormatError: The extension is unknown, the format cannot hold the robot, or the file cannot be written (what was
            there stays).
    """
    write = _by_extension(WRITERS, path, "written")
    return write(mechanism if read_from is None else carried(mechanism, Path(read_from), Path(path)), Path(path))


def _read(path: str | Path, packages: Iterable[str | Path], arguments: Mapping[str, str] | None) -> Imported:
    reader = _by_extension(READERS, path, "read")
    if arguments and not (reader is _XACRO or (reader is _urdf and _is_xacro(Path(path)))):
        raise FormatError(f"{path}: it cannot be given arguments ({', '.join(arguments)}); only xacro files have some")
    read: Imported = reader(Path(path), [Path(p) for p in packages], **({"arguments": arguments} if arguments else {}))
    return replace(read, warnings=(*read.warnings, *doubts(read.mechanism)))


def _by_extension(table: dict[str, Callable], path: str | Path, done: str) -> Callable:
    name = Path(path).name.lower()
    for extension, function in table.items():
        if name.endswith(extension):
            return function
    kinds = ", ".join(f"*{extension}" for extension in table)
    if not name:
        raise FormatError(f"no robot file is named; these can be {done}: {kinds}")
    raise FormatError(f"{path}: not a kind of robot file that can be {done}; these can: {kinds}")
