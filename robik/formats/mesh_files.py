"""Where the meshes are that a robot file names, and that they are where a robot file may send a reader."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from robik.errors import FormatError

PACKAGE_FILE = "package.xml"
FORMAT_FOLDERS = ("urdf", "xacro", "mjcf", "mujoco", "xml", "sdf", "usd")  # beside them, mostly, are the meshes


class MeshFiles:
    """Finds files for the URIs of one robot file.

    Nothing is looked for outside the file's folder (its parent, where the folder is called `urdf`, `mjcf` and so on), the ROS package
    around it (the nearest folder above that holds a `package.xml`), and the packages that the user names.
    """

    def __init__(self, robot_file: Path, packages: Iterable[Path]) -> None:
        self.folder = robot_file.resolve().parent
        self.packages = [Path(p).resolve() for p in packages]
        around = next((f for f in (self.folder, *self.folder.parents) if (f / PACKAGE_FILE).is_file()), None)
        home = self.folder.parent if self.folder.name.lower() in FORMAT_FOLDERS else self.folder
        self.allowed = [home, *([around] if around else []), *self.packages]

    def find(self, uri: str) -> tuple[str, bool]:
        """The file's path relative to the robot file's folder, and whether it is there.

        Raises:
            FormatError: the URI leads out of the robot's folders, or to the network.
        """
        text = (unquote(uri) if "://" in uri else uri).replace("\\", "/")
        scheme, found, rest = text.partition("://")
        if not text.strip():
            raise FormatError("it names no file")
        if text.startswith("//") or (scheme == "file" and rest.startswith("//")):  # to resolve it would ask the network
            raise FormatError(f"{uri!r} is on another computer; copy the mesh beside the robot's file and name it there")
        if not found:
            candidates = [self.folder / scheme]
        elif scheme in ("package", "model"):
            candidates = self._in_packages(*rest.split("/", 1))
        elif scheme == "file":
            candidates = [self.folder / re.sub("^/(?=[A-Za-z]:)", "", rest)]
        else:
            raise FormatError(f"{uri!r} is not a file; copy the mesh beside the robot's file and name it there")
        inside = [path for path in map(_resolved, candidates) if path and any(path.is_relative_to(root) for root in self.allowed)]
        if not inside:
            raise FormatError(f"{uri!r} leads out of the robot's folder; copy the mesh there, or name its package's folder at import")
        there = next((path for path in inside if _is_file(path)), None)
        try:
            return Path(os.path.relpath(there or inside[0], self.folder)).as_posix(), there is not None
        except ValueError:  # another drive
            return (there or inside[0]).as_posix(), there is not None

    def _in_packages(self, name: str, rest: str = "") -> list[Path]:
        rest = rest.lstrip("/")
        paths = [root / rest for root in self.packages if name in _names(root)]
        paths += [root / name / rest for root in self.packages]
        paths += [root / rest for root in self.allowed if name in _names(root)]
        return [*paths, *(root / rest for root in self.allowed), self.folder / rest, self.folder / name / rest]


def _names(package: Path) -> set[str]:
    """What a package's folder may be called in a URI: its own name, and that in its `package.xml`."""
    try:
        with open(package / PACKAGE_FILE, encoding="utf-8", errors="replace") as file:
            named = re.search(r"<name>\s*([^<]*?)\s*</name>", file.read(100_000))
    except OSError:
        named = None
    return {package.name, *([named[1]] if named else [])}


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # no name that this system can have, links in a ring
        return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
