"""Meshes inside USD files. A visual names one as `FILE#/path/of/the/prim`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import FormatError
from ..surface import Surface
from .paints import painting
from .stage import open_stage, pxr_errors

if TYPE_CHECKING:
    from pxr import Usd


class MeshReader:
    """Reader of meshes out of USD files, which keeps the last file open, since many are in one.

    `packages` are further folders that its references may lead to.
    """

    def __init__(self, packages: Iterable[Path] = ()) -> None:
        self._packages = list(packages)
        self._open: tuple[Path, Usd.Stage] | None = None

    def read(self, path: Path, prim: str) -> Surface:
        """Return the mesh at a prim's path, in its own coordinates and units, with its pictures and paints."""
        try:
            with pxr_errors():
                if self._open is None or self._open[0] != path:
                    self._open = (path, open_stage(path, self._packages))
                found = self._open[1].GetPrimAtPath(prim)
                if not found or found.GetTypeName() != "Mesh":
                    raise FormatError(f"there is no mesh {prim} in it")
                points, faces = polygons(found)
                return Surface(points, faces, *painting(found))
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None


def polygons(prim: Usd.Prim) -> tuple[np.ndarray, list[list[int]]]:
    """Return a mesh's points (n, 3), in its own coordinates, and its faces, counter-clockwise seen from outside.

    Raise FormatError if it has none, or they do not fit together.
    """
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh(prim)
    points = np.array(mesh.GetPointsAttr().Get() or [], dtype=float).reshape(-1, 3)
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], dtype=int)
    indices = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], dtype=int)
    if not len(points) or not len(counts) or not np.isfinite(points).all():
        raise FormatError(f"mesh {prim.GetPath()} has no faces, or points that are no numbers")
    if counts.min() < 1 or counts.sum() != len(indices) or indices.min() < 0 or indices.max() >= len(points):
        raise FormatError(f"mesh {prim.GetPath()}: its faces do not fit its points")
    faces = [face.tolist() for face in np.split(indices, np.cumsum(counts)[:-1]) if len(face) > 2]
    if mesh.GetOrientationAttr().Get() == "leftHanded":
        faces = [face[::-1] for face in faces]
    return points, faces


def triangles(prim: Usd.Prim) -> tuple[np.ndarray, np.ndarray]:
    """Return a mesh's points (n, 3), in its own coordinates, and its faces cut into triangles (m, 3)."""
    points, faces = polygons(prim)
    cut = [[face[0], face[k], face[k + 1]] for face in faces for k in range(1, len(face) - 1)]
    if not cut:
        raise FormatError(f"mesh {prim.GetPath()} has no faces")
    return points, np.array(cut)
