"""The meshes that a robot file names, and checks that they are where a robot file may send a reader."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from ..errors import FormatError
from ..files import check_file
from ..mechanism import Mechanism, Pose, Visual
from .imported import Notes

PLACEHOLDER = 0.02  # edge of the cube for a mesh that may not be read [m]
PACKAGE_FILE = "package.xml"
MODEL_FILE = "model.config"  # of Gazebo's models, which lie side by side
TOPS = (".git", PACKAGE_FILE, "manifest.xml", "stack.xml")  # where what belongs together ends
NEAR = 3  # folders above a robot's file in which its top is looked for
MJCF = (".xml", ".mjcf")
FORMAT_FOLDERS = ("urdf", "xacro", "mjcf", "mujoco", "xml", "sdf", "usd")  # beside them, mostly, are the meshes


class MeshFiles:
    """Finds files for the URIs of one robot file.

    Nothing is looked for outside the file's folder (its parent, where the folder is called `urdf`, `mjcf` and so on),
    the ROS package around it (the nearest folder above that holds a `package.xml`), the checkout around it where that
    is no more than three folders up, those of Gazebo's models beside it that it names, and the packages that the user
    names.
    """

    def __init__(self, robot_file: Path, packages: Iterable[Path]) -> None:
        self.folder = robot_file.resolve().parent
        self.packages = [Path(p).resolve() for p in packages]
        around = next((f for f in (self.folder, *self.folder.parents) if (f / PACKAGE_FILE).is_file()), None)
        home = self.folder.parent if self.folder.name.lower() in FORMAT_FOLDERS else self.folder
        top = next((f for f in self.folder.parents[:NEAR] if any((f / name).exists() for name in TOPS)), None)
        self.allowed = [home, *dict.fromkeys(filter(None, (around, top))), *self.packages]

    def find(self, uri: str) -> tuple[str, bool]:
        """Return the path of a URI's file, relative to the robot file's folder, and whether it exists.

        A name is used as it stands where there is such a file, else its %20 are read as spaces. Raise FormatError
        where it leads out of the robot's folders, or to the network.
        """
        decoded = unquote(uri)
        meant: (
            list[Path] | FormatError
        ) = []  # where the file should be that is not there: %20 is a space in a URI, but not in a path
        for text in dict.fromkeys((uri, decoded)):
            is_meant = text == (decoded if "://" in uri else uri)
            try:
                inside = self._inside(text.replace("\\", "/"), uri)
            except FormatError as error:
                meant = error if is_meant else meant
                continue
            there = next((path for path in inside if is_file(path)), None) or next(
                filter(None, map(self._in_other_case, inside)), None
            )
            if there is not None:
                return self._relative(there), True
            meant = inside if is_meant else meant
        if isinstance(meant, FormatError):
            raise meant
        return self._relative(meant[0]), False

    def _relative(self, path: Path) -> str:
        try:
            return Path(os.path.relpath(path, self.folder)).as_posix()
        except ValueError:  # another drive
            return path.as_posix()

    def _inside(self, text: str, uri: str) -> list[Path]:
        """Return where a URI, maybe decoded, may lead, the likeliest first."""
        scheme, found, rest = text.partition("://")
        if not text.strip():
            raise FormatError("it names no file")
        if text.startswith("//") or (scheme == "file" and rest.startswith("//")):  # to resolve it would ask the network
            raise FormatError(
                f"{uri!r} is on another computer; copy the file beside the robot's file and name it there"
            )
        if not found:
            candidates = [self.folder / scheme]
        elif scheme in ("package", "model"):
            self._allow_model(rest.split("/", 1)[0])
            candidates = self._in_packages(*rest.split("/", 1))
        elif scheme == "file":
            candidates = [self.folder / re.sub("^/(?=[A-Za-z]:)", "", rest)]
        else:
            raise FormatError(f"{uri!r} is not a file; copy the file beside the robot's file and name it there")
        inside = [
            path
            for path in map(resolved, candidates)
            if path and any(path.is_relative_to(root) for root in self.allowed)
        ]
        if not inside:
            raise FormatError(
                f"{uri!r} leads out of the robot's folder; copy the file there, or name its package's folder at import"
            )
        return inside

    def _allow_model(self, name: str) -> None:
        """Let a file that is one of Gazebo's models reach another one beside it."""
        beside = self.folder.parent / name
        is_named = name not in ("", ".", "..") and is_file(self.folder / MODEL_FILE) and is_file(beside / MODEL_FILE)
        if is_named and beside not in self.allowed:
            self.allowed.append(beside)

    def _in_other_case(self, path: Path) -> Path | None:
        """Return a file whose name differs in capitals only, as where it was written that made no difference."""
        try:
            alike = (
                resolved(other) for other in path.parent.iterdir() if other.name.casefold() == path.name.casefold()
            )
            return next(
                (p for p in alike if p and is_file(p) and any(p.is_relative_to(root) for root in self.allowed)), None
            )
        except OSError:
            return None

    def mesh(self, uri: str, notes: Notes, element: str) -> str:
        """Return a mesh's path relative to the robot file's folder; empty where it may not be read.

        Note that, and a file that is missing.
        """
        try:
            file, is_there = self.find(uri)
        except FormatError as error:
            notes.add(f"a mesh was not read, and a small cube stands for it: {error}", element)
            return ""
        if not is_there:
            notes.add("there is no such mesh", uri)
        return file

    def holds(self, name: str) -> bool:
        """Return whether a ROS package is one of those that may be read."""
        return self._package(name) is not None

    def package(self, name: str) -> Path:
        """Return the folder of a ROS package; raise FormatError where it is none of those that may be read."""
        found = self._package(name)
        if found is None:
            raise FormatError(f"package {name!r} is not here; name its folder at import")
        return found.resolve()

    def _package(self, name: str) -> Path | None:
        roots = [*self.packages, *(root / name for root in self.packages), *self.allowed]
        return next((root for root in roots if root.is_dir() and name in _names(root)), None)

    def _in_packages(self, name: str, rest: str = "") -> list[Path]:
        rest = rest.lstrip("/")
        paths = [root / rest for root in self.packages if name in _names(root)]
        paths += [root / name / rest for root in self.packages]
        paths += [root / rest for root in self.allowed if name in _names(root)]
        paths += [up / name / rest for up in self.folder.parents[:NEAR]]
        return [*paths, *(root / rest for root in self.allowed), self.folder / rest, self.folder / name / rest]


def placeholder(pose: Pose, color: tuple[float, float, float, float]) -> Visual:
    """Return a small cube for a mesh that may not be read, at the mesh's pose in the body's frame."""
    return Visual("box", (PLACEHOLDER,) * 3, pose=pose, color=color)


def is_placeholder(shape: str, size: Sequence[float]) -> bool:
    """Return whether a visual's shape and size [m] are those of the cube for a mesh that may not be read."""
    return shape == "box" and all(abs(edge - PLACEHOLDER) < 1e-6 for edge in size)


def split_inner(file: str) -> tuple[str, str]:
    """Return the file that a visual names, and the mesh inside it; empty where the file is a mesh.

    The mesh stands behind `#`: a prim, or the name of one in an MJCF file.
    """
    found = re.fullmatch(r"(.*\.usd[acz]?)#(/.+)|(.*\.(?:xml|mjcf))#(.+)", file, re.IGNORECASE)
    return (found[1] or found[3], found[2] or found[4]) if found else (file, "")


def is_inline(file: str) -> bool:
    """Return whether a visual's file names a mesh that stands in an MJCF file itself."""
    path, inner = split_inner(file)
    return bool(inner) and Path(path).suffix.lower() in MJCF


def contained(mechanism: Mechanism, robot_file: Path, packages: Iterable[Path], notes: Notes) -> Mechanism:
    """Return the robot with small cubes for the meshes that its file may not send a reader to, and note them."""
    files = MeshFiles(robot_file, packages)

    def checked(visual: Visual, body: str) -> Visual:
        if visual.shape != "mesh":
            return visual
        allowed = files.mesh(split_inner(visual.file)[0], notes, f"body {body!r}")
        return visual if allowed else placeholder(visual.pose, visual.color)

    return with_visuals(mechanism, checked)


def with_visuals(mechanism: Mechanism, change: Callable[[Visual, str], Visual]) -> Mechanism:
    """Return the robot with each visual replaced by `change` of it and its body's name; itself if nothing changes."""
    bodies = tuple(replace(b, visuals=tuple(change(v, b.name) for v in b.visuals)) for b in mechanism.bodies)
    return mechanism if bodies == mechanism.bodies else mechanism.with_changes(bodies=bodies)


def _names(package: Path) -> set[str]:
    """Return what a package's folder may be called in a URI: its own name, and that in its `package.xml`."""
    try:
        check_file(package / PACKAGE_FILE)
        with open(package / PACKAGE_FILE, encoding="utf-8", errors="replace") as file:
            named = re.search(r"<name>\s*([^<]*?)\s*</name>", file.read(100_000))
    except (FormatError, OSError):
        named = None
    return {package.name, *([named[1]] if named else [])}


def resolved(path: Path) -> Path | None:
    """Return an absolute path with links followed; None where this system cannot have such a name."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # no name that this system can have, links in a ring
        return None


def is_file(path: Path) -> bool:
    """Return whether there is such a file; False also for names that this system cannot have."""
    try:
        return path.is_file()
    except OSError:
        return False
