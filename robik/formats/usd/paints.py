"""Paints of prims of USD files: UsdPreviewSurface materials, their pictures and texture coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import FormatError
from ..surface import GREY, Color, Paint, Picture

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom, UsdShade

UV_NAMES = ("st", "st0", "UVMap")  # where a material does not say in which primvar a picture's coordinates are
NUMBERS = (("opacity", 1.0), ("roughness", 0.5), ("metallic", 0.0))  # inputs of UsdPreviewSurface, with their defaults


class Painting(NamedTuple):
    """Paints of a mesh; empty where one colour says all."""

    uv: np.ndarray | None  # texture coordinates, as `Surface` has them
    paints: tuple[Paint, ...]  # of its faces
    paint_of: tuple[int, ...]  # index of each face's paint


def painting(prim: Usd.Prim) -> Painting:
    """Return a mesh's texture coordinates, its paints, and each face's index of paint, as `Surface` has them.

    All are empty where one colour says all. The faces must fit the points.
    """
    from pxr import UsdGeom

    if mesh_color(prim) is not None:
        return Painting(None, (), ())
    found, paint_of = _paints(prim)
    counts = np.array(UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get())
    return Painting(_uv(UsdGeom.Mesh(prim), counts), found, tuple(paint_of[counts > 2].tolist()))


def mesh_color(prim: Usd.Prim) -> Color | None:
    """Return the colour (4,) of a whole mesh; None where it has several paints, or pictures."""
    found, _ = _paints(prim)
    return found[0].color if len(found) == 1 and found[0].picture is None else None


def paint(prim: Usd.Prim) -> Paint:
    """Return the paint of a prim, or of some faces of a mesh; without a material, the colour for display."""
    from pxr import UsdGeom

    name, surface = _surface(prim)
    if surface is None:
        gprim = UsdGeom.Gprim(prim if prim.IsA(UsdGeom.Gprim) else prim.GetParent())
        shown = gprim.GetDisplayColorAttr().Get() if gprim else None
        return Paint("grey", color=_first_color(shown))
    picture = _picture(surface)
    color = _color(None if picture else _value(surface, "diffuseColor"))
    alpha, roughness, metallic = (_share(_value(surface, key), default) for key, default in NUMBERS)
    return Paint(name, color=(*color[:3], alpha), picture=picture, roughness=roughness, metallic=metallic)


def picture_content(picture: Picture) -> bytes:
    """Return the bytes of a picture that lies inside a `.usdz`."""
    from pxr import Ar

    asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(f"{picture.file}[{picture.inner}]"))
    if asset is None:
        raise FormatError(f"{picture.file}: there is no picture {picture.inner} in it")
    return bytes(asset.GetBuffer())


def _paints(prim: Usd.Prim) -> tuple[tuple[Paint, ...], np.ndarray]:
    """Return a mesh's paints, at least one, and which face has which (faces,)."""
    from pxr import UsdGeom

    faces = len(UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get() or [])
    found: dict[str, Paint] = {}
    paint_of = np.full(faces, -1)
    for subset in _painted_prims(prim)[1:]:
        indices = np.array(UsdGeom.Subset(subset).GetIndicesAttr().Get() or [], dtype=int)
        if len(indices) and indices.min() >= 0 and indices.max() < faces:
            paint_of[indices] = _added(found, paint(subset))
    if (paint_of < 0).any() or not found:
        paint_of[paint_of < 0] = _added(found, paint(prim))
    return tuple(found.values()), paint_of


def _painted_prims(mesh: Usd.Prim) -> list[Usd.Prim]:
    """Return the mesh and its subsets of faces that have materials of their own."""
    from pxr import UsdShade

    return [mesh, *(subset.GetPrim() for subset in UsdShade.MaterialBindingAPI(mesh).GetMaterialBindSubsets())]


def _surface(prim: Usd.Prim) -> tuple[str, UsdShade.Shader | None]:
    from pxr import UsdShade

    material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
    surface = material.ComputeSurfaceSource()[0] if material else None
    return (str(material.GetPath()), surface) if surface else ("", None)


def _added(found: dict[str, Paint], new: Paint) -> int:
    found.setdefault(new.name, new)
    return list(found).index(new.name)


def _producers(shader: UsdShade.Shader, name: str) -> list[Usd.Attribute]:
    """Return where an input's value comes from: its own attribute, a material's, or another shader's output."""
    wanted = shader.GetInput(name)
    return list(wanted.GetValueProducingAttributes()) if wanted else []


def _value(shader: UsdShade.Shader, name: str) -> Any:
    """Return an input's value, None where it has none of its own."""
    from pxr import UsdShade

    return next(
        (
            a.Get()
            for a in _producers(shader, name)
            if UsdShade.Utils.GetType(a.GetName()) == UsdShade.AttributeType.Input
        ),
        None,
    )


def _sources(shader: UsdShade.Shader, name: str) -> Iterator[UsdShade.Shader]:
    """Yield the shaders that compute an input."""
    from pxr import UsdShade

    for attribute in _producers(shader, name):
        if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Output:
            yield UsdShade.Shader(attribute.GetPrim())


def _picture(surface: UsdShade.Shader) -> Picture | None:
    """Return what gives the colour, where that is a picture."""
    from pxr import Ar

    for source in _sources(surface, "diffuseColor"):
        asset = _value(source, "file")
        found = str(getattr(asset, "resolvedPath", "") or getattr(asset, "path", ""))
        if found:
            return Picture(*_split(found)) if Ar.IsPackageRelativePath(found) else Picture(Path(found))
    return None


def _split(packaged: str) -> tuple[Path, str]:
    from pxr import Ar

    outer, inner = Ar.SplitPackageRelativePathOuter(packaged)
    return Path(outer), inner


def _uv(mesh: UsdGeom.Mesh, counts: np.ndarray) -> np.ndarray | None:
    """(corners, 2) of the faces that are kept."""
    found = _primvar(mesh)
    values = None if found is None else found.ComputeFlattened()
    if found is None or values is None:
        return None
    values = np.array(values, dtype=float)
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get())
    if values.ndim != 2 or values.shape[1] != 2:
        return None
    if found.GetInterpolation() in ("vertex", "varying") and len(values) > corners.max():
        values = values[corners]
    if len(values) != len(corners) or not np.isfinite(values).all():
        return None
    starts = np.cumsum(counts) - counts
    turned = mesh.GetOrientationAttr().Get() == "leftHanded"
    kept = [values[a : a + n][:: -1 if turned else 1] for a, n in zip(starts, counts, strict=True) if n > 2]
    return np.vstack(kept)


def _primvar(mesh: UsdGeom.Mesh) -> UsdGeom.Primvar | None:
    """Return where the coordinates in a picture are: as a material's reader names it, else as is usual."""
    from pxr import UsdGeom

    surfaces = [surface for prim in _painted_prims(mesh.GetPrim()) if (surface := _surface(prim)[1]) is not None]
    readers = [
        r for surface in surfaces for source in _sources(surface, "diffuseColor") for r in _sources(source, "st")
    ]
    names = [str(name) for name in (_value(reader, "varname") for reader in readers) if name]
    primvars = (UsdGeom.PrimvarsAPI(mesh).GetPrimvar(name) for name in (*names, *UV_NAMES))
    return next((primvar for primvar in primvars if primvar and primvar.HasValue()), None)


def _first_color(values: Any) -> Color:
    """Return the first of several colours; grey where they are something else."""
    try:
        return _color(next(iter(values), None) if values is not None else None)
    except TypeError:
        return GREY


def _color(value: Any) -> Color:
    try:
        r, g, b = (_share(float(v), 0.8) for v in value) if value is not None else GREY[:3]
    except (TypeError, ValueError):
        return GREY
    return (r, g, b, 1.0)


def _share(value: Any, default: float) -> float:
    """Return a number from 0 to 1."""
    return min(max(float(value), 0.0), 1.0) if isinstance(value, (int, float)) and isfinite(value) else default
