"""Shapes of a robot's bodies as points: meshes read from its files, and primitives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ..errors import FormatError
from ..formats.dae import read_dae
from ..formats.mesh_data import read_mesh, welded
from ..formats.mesh_files import is_placeholder, split_inner
from ..mechanism import Mechanism, Visual
from .feet import Shape, Shapes

AROUND = 32  # points around what is round


def shapes_of(mechanism: Mechanism, robot_file: str | Path | None) -> Shapes:
    """Return a function from a body's name to its shapes.

    `robot_file` is the file that meshes are named from; None for a robot from no file. Meshes that cannot be read as
    triangles are left out, and so are the cubes that stand for meshes.
    """
    visuals = {body.name: body.visuals for body in mechanism.bodies}

    @cache
    def read(body: str) -> tuple[Shape, ...]:
        return tuple(_shapes(visuals[body], robot_file))

    return read


def _shapes(visuals: Iterable[Visual], robot_file: str | Path | None) -> Iterable[Shape]:
    for visual in visuals:
        if is_placeholder(visual.shape, visual.size):
            continue  # it says nothing of the body's shape
        points = (
            mesh_points(visual, robot_file) if visual.shape == "mesh" else primitive_points(visual.shape, visual.size)
        )
        if points is not None and len(points):
            size = visual.size if visual.shape == "mesh" else (1.0, 1.0, 1.0)
            yield Shape(points=points, size=size, pose=visual.pose)  # type: ignore[arg-type]


def mesh_points(visual: Visual, robot_file: str | Path | None) -> np.ndarray | None:
    """Return a mesh's vertices (N, 3) in single precision, before it is scaled; None if it cannot be read.

    `robot_file` is the file that it is named from; None for a robot from no file.
    """
    file, inner = split_inner(visual.file)
    path = Path(file) if robot_file is None else Path(robot_file).parent / file
    if inner or not path.is_file():
        return None
    try:
        if path.suffix.lower() == ".dae":
            return np.asarray(read_dae(path).points, dtype=np.float32).astype(float)
        vertices, faces = read_mesh(path)
    except FormatError:  # of a kind that only Blender reads; the foot is then made there
        return None
    return welded(vertices[faces.ravel()])[0].astype(float)


def primitive_points(shape: str, size: Sequence[float]) -> np.ndarray:
    """Return points (N, 3) on a box, cylinder, capsule or sphere in its own coordinates [m].

    They are as fine as Blender shows them. Shape and size [m] are those of a `Visual`.
    """
    if shape == "box":
        signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
        return signs * np.array(size)
    turn = 2 * np.pi * np.arange(AROUND) / AROUND
    rim = np.column_stack([np.cos(turn), np.sin(turn)])
    if shape == "cylinder":
        heights = np.repeat([-size[1] / 2, size[1] / 2], AROUND)
        return np.column_stack([np.tile(size[0] * rim, (2, 1)), heights])
    length = size[1] if shape == "capsule" else 0.0
    angles = np.pi * np.arange(AROUND) / (AROUND - 1)  # an even number: none on the equator
    rings = np.empty((AROUND, AROUND, 3))
    rings[..., :2] = (size[0] * np.sin(angles))[:, None, None] * rim
    rings[..., 2] = (size[0] * np.cos(angles) + np.copysign(length / 2, np.cos(angles)))[:, None]
    return rings.reshape(-1, 3)
