"""Meshes that stand in an MJCF file itself, by their vertices. A visual names one as `FILE#NAME`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np

from ...errors import FormatError
from .. import solids
from ..mesh_files import MeshFiles
from ..xml_file import numbers
from .file import Attributes, MjcfFile


def mesh_assets(file: MjcfFile) -> dict[str, Attributes]:
    """Return the attributes of a file's meshes, by mesh name."""
    elements = [element for section in file.root.findall("asset") for element in section.findall("mesh")]
    every = [file.attributes(element) for element in elements]
    return {each.get("name") or PurePosixPath(each.get("file", "").replace("\\", "/")).stem: each for each in every}


def triangles(attributes: Attributes) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices (v, 3), in its own unit, and triangles (f, 3) of a mesh that stands in an MJCF file.

    They are those of its hull where it has no faces.
    """
    words, indices = attributes.get("vertex", "").split(), attributes.get("face", "").split()
    vertices = (
        np.array(numbers(" ".join(words), len(words), "its vertices")).reshape(-1, 3)
        if len(words) % 3 == 0
        else np.zeros((0, 3))
    )
    if not len(vertices):
        raise FormatError("it has neither a file that may be read nor vertices")
    if not indices:
        return solids.hull(vertices)
    faces = np.array(numbers(" ".join(indices), len(indices) // 3 * 3, "its faces"), dtype=int).reshape(-1, 3)
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise FormatError("its faces name vertices that it has not")
    return vertices, faces


class InlineMeshes:
    """Reader of meshes out of MJCF files, which keeps the last file open, since many are in one.

    `packages` are further folders that its includes may lead to.
    """

    def __init__(self, packages: Iterable[Path] = ()) -> None:
        self._packages = list(packages)
        self._open: tuple[Path, dict[str, Attributes]] | None = None

    def read(self, path: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices (v, 3) and triangles (f, 3) of a mesh by name, as `triangles` does."""
        try:
            if self._open is None or self._open[0] != path:
                self._open = (path, mesh_assets(MjcfFile(path, MeshFiles(path, self._packages))))
            if name not in self._open[1]:
                raise FormatError(f"there is no mesh {name!r} in it")
            return triangles(self._open[1][name])
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None
