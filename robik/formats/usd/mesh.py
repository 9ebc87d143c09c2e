"""Meshes inside USD files. A visual names one as `FILE#/path/of/the/prim`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robik.errors import FormatError
from robik.formats.surface import Paint, Surface
from robik.formats.usd.stage import open_stage, pxr_errors

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom, UsdShade


class MeshReader:
    """Reads meshes of USD files; keeps the last file open, since many are in one."""

    def __init__(self) -> None:
        self._open: tuple[Path, Usd.Stage] | None = None

    def read(self, path: Path, prim: str) -> Surface:
        """A mesh in its own coordinates and units, with its pictures and paints.

        Raises:
            FormatError: names the file and what is wrong.
        """
        try:
            with pxr_errors():
                if self._open is None or self._open[0] != path:
                    self._open = (path, open_stage(path))
                found = self._open[1].GetPrimAtPath(prim)
                if not found or found.GetTypeName() != "Mesh":
                    raise FormatError(f"there is no mesh {prim} in it")
                points, faces = polygons(found)
                return Surface(points, faces, *painting(found))
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from None


def polygons(prim: Usd.Prim) -> tuple[np.ndarray, list[list[int]]]:
    """A mesh's points (n, 3), in its own coordinates, and its faces, counter-clockwise seen from outside.

    Raises:
        FormatError: it has none, or they do not fit together.
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


def painting(prim: Usd.Prim) -> tuple[np.ndarray | None, tuple[Paint, ...], tuple[int, ...]]:
    """Where a mesh's pictures lie, its paints, and which face has which, as `Surface` has them; without a picture or several paints, none:
    the colour of the robot's visual says it all."""
    from pxr import UsdGeom, UsdShade

    mesh = UsdGeom.Mesh(prim)
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get())
    paints: dict[str, Paint] = {}
    paint_of = np.full(len(counts), -1)
    for subset in UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets():
        indices = np.array(subset.GetIndicesAttr().Get() or [], dtype=int)
        if len(indices) and indices.min() >= 0 and indices.max() < len(counts):
            paint_of[indices] = _added(paints, _bound(subset.GetPrim()))
    if (paint_of < 0).any():
        paint_of[paint_of < 0] = _added(paints, _bound(prim))
    if len(paints) < 2 and all(paint.texture is None for paint in paints.values()):
        return None, (), ()
    return _uv(mesh, counts), tuple(paints.values()), tuple(paint_of[counts > 2].tolist())


def _added(paints: dict[str, Paint], paint: Paint) -> int:
    paints.setdefault(paint.name, paint)
    return list(paints).index(paint.name)


def _bound(prim: Usd.Prim) -> Paint:
    """What the material of a mesh, or of some of its faces, looks like."""
    from pxr import UsdShade

    material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
    surface = material.ComputeSurfaceSource()[0] if material else None
    if not surface:
        return Paint("grey")

    def value(name: str, default: Any) -> Any:
        wanted = surface.GetInput(name)
        found = wanted.Get() if wanted else None
        return default if found is None else found

    r, g, b = map(float, value("diffuseColor", (0.8, 0.8, 0.8)))
    alpha, rough, metal = (float(value(*pair)) for pair in (("opacity", 1.0), ("roughness", 0.5), ("metallic", 0.0)))
    return Paint(str(material.GetPath()), (r, g, b, alpha), _picture(surface), rough, metal)


def _picture(surface: UsdShade.Shader) -> Path | None:
    """The file of the picture that gives the colour."""
    from pxr import UsdShade

    wanted = surface.GetInput("diffuseColor")
    source = wanted.GetConnectedSource() if wanted else None
    file = UsdShade.Shader(source[0].GetPrim()).GetInput("file") if source else None
    asset = file.Get() if file else None
    found = (asset.resolvedPath or asset.path) if asset else ""
    return Path(found) if found else None


def _uv(mesh: UsdGeom.Mesh, counts: np.ndarray) -> np.ndarray | None:
    """(corners, 2) of the faces that are kept."""
    from pxr import UsdGeom

    primvar = next((p for n in ("st", "st0", "UVMap") if (p := UsdGeom.PrimvarsAPI(mesh).GetPrimvar(n)) and p.HasValue()), None)
    if primvar is None:
        return None
    values = np.array(primvar.ComputeFlattened(), dtype=float).reshape(-1, 2)
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get())
    if primvar.GetInterpolation() == "vertex" and len(values) > corners.max():
        values = values[corners]
    if len(values) != len(corners):
        return None
    starts = np.cumsum(counts) - counts
    turned = mesh.GetOrientationAttr().Get() == "leftHanded"
    kept = [values[a : a + n][:: -1 if turned else 1] for a, n in zip(starts, counts, strict=True) if n > 2]
    return np.vstack(kept)


def triangles(prim: Usd.Prim) -> tuple[np.ndarray, np.ndarray]:
    """A mesh's points (n, 3), in its own coordinates, and its faces cut into triangles (m, 3).

    Raises:
        FormatError: as `polygons`.
    """
    points, faces = polygons(prim)
    cut = [[face[0], face[k], face[k + 1]] for face in faces for k in range(1, len(face) - 1)]
    if not cut:
        raise FormatError(f"mesh {prim.GetPath()} has no faces")
    return points, np.array(cut)
