"""Robot files: one module per format, chosen by the file's extension."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from robik.errors import FormatError
from robik.formats import native
from robik.formats.imported import Imported, Notes, described
from robik.formats.mesh_files import carried, contained
from robik.formats.xml_file import read_xml
from robik.mechanism import Mechanism

__all__ = ["READERS", "WRITERS", "Imported", "import_robot", "load_robot", "save_robot"]

Reader = Callable[[Path, Iterable[Path]], Imported]
Writer = Callable[[Mechanism, Path], tuple[str, ...]]


def _native(path: Path, packages: Iterable[Path]) -> Imported:
    notes = Notes()
    mechanism = contained(native.load(path), path, packages, notes)
    return Imported(mechanism, notes.sentences)


def _urdf(path: Path, packages: Iterable[Path]) -> Imported:
    from robik.formats import urdf  # with what closes loops, so that what reads no URDF starts without it

    return urdf.load(path, packages)


def _mjcf(path: Path, packages: Iterable[Path]) -> Imported:
    from robik.formats import mjcf

    return mjcf.load(path, packages)


def _usd(path: Path, packages: Iterable[Path]) -> Imported:
    from robik.formats import usd

    return usd.load(path, packages)


def _sdf(path: Path, packages: Iterable[Path]) -> Imported:
    from robik.formats import sdf

    return sdf.load(path, packages)


def _xacro(path: Path, packages: Iterable[Path]) -> Imported:
    from robik.formats import xacro

    return xacro.load(path, packages)


def _xml(path: Path, packages: Iterable[Path]) -> Imported:
    """What its root element says that it is."""
    roots = {"mujoco": _mjcf, "robot": _urdf, "sdf": _sdf}
    try:
        root = read_xml(path).tag
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    if root not in roots:
        raise FormatError(f"{path}: its root element must be one of {', '.join(f'<{name}>' for name in roots)}, not <{root[:40]}>")
    return roots[root](path, packages)


READERS: dict[str, Reader] = {
    native.EXTENSION: _native, ".urdf": _urdf, ".xml": _xml, ".mjcf": _mjcf,
    ".usd": _usd, ".usda": _usd, ".usdc": _usd, ".usdz": _usd, ".sdf": _sdf, ".xacro": _xacro,
}  # fmt: skip


def _save_native(mechanism: Mechanism, path: Path) -> tuple[str, ...]:
    native.save(mechanism, path)
    return ()


def _save_urdf(mechanism: Mechanism, path: Path) -> tuple[str, ...]:
    from robik.formats import urdf_writer

    return urdf_writer.save(mechanism, path)


def _save_mjcf(mechanism: Mechanism, path: Path) -> tuple[str, ...]:
    from robik.formats import mjcf_writer

    return mjcf_writer.save(mechanism, path)


WRITERS: dict[str, Writer] = {native.EXTENSION: _save_native, ".urdf": _save_urdf, ".xml": _save_mjcf, ".mjcf": _save_mjcf}


def import_robot(path: str | Path, packages: Iterable[str | Path] = ()) -> Imported:
    """The robot in a file, and what its user should know about how the file was read.

    Args:
        packages: folders of ROS packages, or folders that hold such, where `package://` URIs may lead.

    Raises:
        FormatError: names the file, the element and the remedy; for an unknown extension, those that can be read.
        AssemblyError: a loop that cannot be closed; names it and its gap.
    """
    return described(_by_extension(READERS, path, "read")(Path(path), [Path(p) for p in packages]))


def load_robot(path: str | Path) -> Mechanism:
    """The robot in a file. Warnings of the import are logged; `import_robot` gives them.

    A native file's meshes are named as the file names them, wherever that leads, since no mesh is read here.

    Raises:
        FormatError, AssemblyError: as `import_robot`.
    """
    if Path(path).name.lower().endswith(native.EXTENSION):
        return native.load(Path(path))
    imported = _by_extension(READERS, path, "read")(Path(path), [])
    for warning in imported.warnings:
        logging.getLogger(__name__).warning("%s: %s", path, warning)
    return imported.mechanism


def save_robot(mechanism: Mechanism, path: str | Path, read_from: str | Path | None = None) -> tuple[str, ...]:
    """Writes a robot: `.robik.json` without loss, so that loading it gives an equal `Mechanism`; URDF and MJCF with the same motions.

    Args:
        read_from: the file that the robot came from. Its meshes are then named as seen from the new file, and copied beside it where they
            would lie outside its folder. Without, they are named as they are.

    Returns:
        One sentence each on what the format cannot say.

    Raises:
        FormatError: the extension is unknown, the format cannot hold the robot, or the file cannot be written (what was there stays).
    """
    write = _by_extension(WRITERS, path, "written")
    return write(mechanism if read_from is None else carried(mechanism, Path(read_from), Path(path)), Path(path))


def _by_extension(table: dict[str, Callable], path: str | Path, done: str) -> Callable:
    name = Path(path).name.lower()
    for extension, function in table.items():
        if name.endswith(extension):
            return function
    raise FormatError(f"{path}: not a kind of robot file that can be {done}; these can: {', '.join('*' + e for e in table)}")
