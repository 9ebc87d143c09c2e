"""Meshes around a robot: boxes, stairs, hills."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]  # vertices (N, 3) [m], triangles (M, 3)
FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def box(centre: tuple[float, float, float], half: tuple[float, float, float]) -> Mesh:
    """A box, its faces counter-clockwise from outside."""
    corners = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij")).reshape(3, -1).T
    return corners * half + np.array(centre), FACES


def joined(*meshes: Mesh) -> Mesh:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    triangles = [faces + start for (_, faces), start in zip(meshes, starts, strict=False)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(triangles)


def table() -> Mesh:
    """A top on four legs."""
    legs = [box((x, y, 0.34), (0.03, 0.03, 0.34)) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    return joined(box((0.0, 0.0, 0.7), (0.6, 0.4, 0.02)), *legs)


def hills(height: Callable[[np.ndarray, np.ndarray], np.ndarray], size: float, count: int = 60) -> Mesh:
    """A grid of heights over a square about the origin."""
    x, y = np.meshgrid(*2 * [np.linspace(-size, size, count)], indexing="ij")
    at = np.arange(count * count).reshape(count, count)
    a, b, c, d = at[:-1, :-1].ravel(), at[1:, :-1].ravel(), at[1:, 1:].ravel(), at[:-1, 1:].ravel()
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return np.column_stack([x.ravel(), y.ravel(), height(x, y).ravel()]), triangles
