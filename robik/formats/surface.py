"""Surfaces in mesh files: faces, texture coordinates and paints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

Color = tuple[float, float, float, float]  # red, green, blue, alpha, 0 to 1; linear
GREY: Color = (0.8, 0.8, 0.8, 1.0)  # of what has no colour of its own


@dataclass(frozen=True)
class Picture:
    """A picture on a surface.

    Attributes:
        file: where it is.
        inner: its name inside that file, where that is a package (`.usdz`).
    """

    file: Path
    inner: str = ""


@dataclass(frozen=True)
class Paint:
    """Appearance of faces.

    Attributes:
        name: as the file has it.
        picture: what replaces the colour.
        roughness, metallic: 0 to 1.
    """

    name: str
    color: Color = GREY
    picture: Picture | None = None
    roughness: float = 0.5
    metallic: float = 0.0


@dataclass(frozen=True)
class Surface:
    """A mesh.

    Attributes:
        points: (n, 3).
        faces: each a list of indices, counter-clockwise seen from outside.
        uv: (corners, 2) where each corner of each face is in its picture, faces one after the other; None without.
        paints: what the faces are painted with.
        paint_of: (faces,) index in `paints`; empty where there are none.
    """

    points: np.ndarray
    faces: list[list[int]]
    uv: np.ndarray | None = None
    paints: tuple[Paint, ...] = ()
    paint_of: tuple[int, ...] = ()
