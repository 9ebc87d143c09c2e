"""A robot's meshes, taken along where it is written to."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import FormatError
from ..mechanism import Mechanism, Visual
from .mesh_data import write_stl
from .mesh_files import MeshFiles, is_file, is_inline, resolved, split_inner, with_visuals
from .mjcf.inline import InlineMeshes


def carried(mechanism: Mechanism, robot_file: Path, target: Path) -> Mechanism:
    """Return the robot with its meshes named relative to the folder of `target`.

    Those that would lie outside it are copied into its `meshes`, and those inside an MJCF file are written there as
    STL. Raise FormatError where a mesh cannot be copied.
    """
    with TemporaryDirectory() as unpacked:
        return with_visuals(mechanism, _Carrier(robot_file, target, Path(unpacked)).moved)


class _Carrier:
    def __init__(self, robot_file: Path, target: Path, unpacked: Path) -> None:
        self.source, self.folder, self.unpacked = robot_file.resolve().parent, target.resolve().parent, unpacked
        self.home = MeshFiles(target, ()).allowed
        self.copies: dict[Path, str] = {}
        self.inline = InlineMeshes()
        self.stls: dict[str, Path] = {}  # of the meshes that stood in an MJCF file

    def moved(self, visual: Visual, _body: str) -> Visual:
        if visual.shape != "mesh":
            return visual
        if is_inline(visual.file):
            stl = self._stl(visual.file)
            return replace(visual, file=self._copied(stl)) if stl else visual
        file, inner = split_inner(visual.file)
        path = resolved(self.source / file)
        if path is None or self.source == self.folder:
            return visual
        stays = any(path.is_relative_to(root) for root in self.home)
        place = Path(os.path.relpath(path, self.folder)).as_posix() if stays else self._copied(path)
        return replace(visual, file=f"{place}#{inner}" if inner else place)

    def _copied(self, path: Path) -> str:
        """Return where a file's copy is, as seen from the folder."""
        if path not in self.copies:
            name = next(
                n for n in _alternatives(path) if n not in self.copies.values() and _is_free(self.folder / n, path)
            )
            self.copies[path] = name
            if is_file(path):
                try:
                    (self.folder / name).parent.mkdir(exist_ok=True)
                    shutil.copyfile(path, self.folder / name)
                except OSError as error:
                    raise FormatError(
                        f"mesh {path} cannot be copied to {self.folder / name}: {error.strerror or error}"
                    ) from None
        return self.copies[path]

    def _stl(self, file: str) -> Path | None:
        """Return a mesh out of an MJCF file as one of its own; None where it cannot be read any more."""
        if file not in self.stls:
            path, name = split_inner(file)
            stl = self.unpacked / str(len(self.stls)) / (re.sub(r"[^\w.-]", "_", name) + ".stl")
            try:
                write_stl(stl, *self.inline.read(self.source / path, name))
            except FormatError:
                return None
            self.stls[file] = stl
        return self.stls[file]


def _alternatives(path: Path) -> Iterator[str]:
    yield f"meshes/{path.name}"
    for number in count(2):
        yield f"meshes/{path.stem}_{number}{path.suffix}"


def _is_free(place: Path, path: Path) -> bool:
    """Return whether a copy may lie in a place: nothing is there, or the same."""
    return not place.exists() or (is_file(path) and filecmp.cmp(place, path, shallow=False))
