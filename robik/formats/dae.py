"""Collada meshes (`.dae`), which Blender reads no more since 5.0: by the package pycollada, in metres.

Coordinates stay as the file has them, whatever its `up_axis` says: so do RViz and Gazebo, for which robot files are
made.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import numpy as np

from ..errors import FormatError
from ..extras import extra
from .surface import GREY, Paint, Picture, Surface
from .xml_file import check_xml


def read_dae(path: Path) -> Surface:
    """Return all meshes of a file's scene as one surface [m], where the scene has them.

    A FormatError leaves the file's name to the caller.
    """
    with extra("formats"):
        import collada

    check_xml(path)  # refuses what could be harmful in XML
    try:
        document = collada.Collada(
            str(path), ignore=[collada.common.DaeUnsupportedError, collada.common.DaeBrokenRefError]
        )
        found = [] if document.scene is None else list(document.scene.objects("geometry"))
        painted = _Painted(path)
        for geometry in found:
            for primitive in geometry.primitives():
                painted.add(primitive)
    except (collada.common.DaeError, ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"not Collada that can be read: {error}") from None
    if not painted.faces:
        raise FormatError("there is no mesh in it")
    return painted.surface(float(document.assetInfo.unitmeter or 1.0))


class _Painted:
    """Collects primitives, their pictures' coordinates and their paints."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.points: list[np.ndarray] = []
        self.faces: list[list[int]] = []
        self.uv: list[np.ndarray] = []
        self.paints: dict[str, Paint] = {}
        self.paint_of: list[int] = []
        self._count = 0

    def add(self, primitive) -> None:  # type: ignore[no-untyped-def]
        """Add the faces of a bound primitive; lines are none."""
        if primitive.vertex is None or type(primitive).__name__ not in (
            "BoundTriangleSet",
            "BoundPolylist",
            "BoundPolygons",
        ):
            return
        if type(primitive).__name__ == "BoundTriangleSet":
            corners = np.asarray(primitive.vertex_index).reshape(-1, 3)
            faces = corners.tolist()
        else:
            index = np.asarray(primitive.vertex_index)
            faces = [index[a:b].tolist() for a, b in primitive.polyindex]
        flat = [i for face in faces for i in face]
        self.points.append(np.asarray(primitive.vertex, dtype=float))
        self.faces += [[i + self._count for i in face] for face in faces]
        self._count += len(primitive.vertex)
        self.uv.append(_uv(primitive, len(flat)))
        self.paint_of += [self._paint(primitive.material)] * len(faces)

    def surface(self, unit: float) -> Surface:
        """Return all of it, lengths times the file's unit [m]."""
        uv = np.vstack(self.uv)
        return Surface(
            unit * np.vstack(self.points),
            self.faces,
            uv=uv if uv.any() else None,
            paints=tuple(self.paints.values()),
            paint_of=tuple(self.paint_of),
        )

    def _paint(self, material) -> int:  # type: ignore[no-untyped-def]
        name = getattr(material, "name", None) or getattr(material, "id", None) or "grey"
        if name not in self.paints:
            self.paints[name] = Paint(name, *_look(self.path, getattr(material, "effect", None)))
        return list(self.paints).index(name)


def _uv(primitive, corners: int) -> np.ndarray:  # type: ignore[no-untyped-def]
    """(corners, 2) of the first set; zeros without."""
    if not primitive.texcoordset or not primitive.texcoord_indexset:
        return np.zeros((corners, 2))
    return np.asarray(primitive.texcoordset[0], dtype=float)[np.ravel(primitive.texcoord_indexset[0])][:, :2]


def _look(path: Path, effect) -> tuple[tuple[float, float, float, float], Picture | None]:  # type: ignore[no-untyped-def]
    """Colour and picture of an effect."""
    diffuse = getattr(effect, "diffuse", None)
    image = getattr(getattr(getattr(diffuse, "sampler", None), "surface", None), "image", None)
    if image is not None and image.path:
        return GREY, Picture(path.parent / unquote(image.path.removeprefix("file://").removeprefix("./")))
    if isinstance(diffuse, tuple) and len(diffuse) >= 3:
        r, g, b = (min(max(float(c), 0.0), 1.0) for c in diffuse[:3])
        return (r, g, b, 1.0), None
    return GREY, None
