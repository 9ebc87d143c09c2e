"""Directions over the sphere, and the largest box inside a surface about the origin that is known along directions."""

from __future__ import annotations

import numpy as np


def sphere(span: np.ndarray, fineness: int) -> tuple[np.ndarray, np.ndarray]:
    """Return directions (K, 3) in a span (3, r), its axes among them, and triangles (F, 3) over all of space.

    `fineness` is the number of directions per quarter of a turn.
    """
    if span.shape[1] == 1:
        return np.vstack([span.T, -span.T]), np.zeros((0, 3), int)
    if span.shape[1] == 2:
        angle = np.arange(4 * fineness) * np.pi / (2 * fineness)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1) @ span.T, np.zeros((0, 3), int)
    places: dict[tuple[int, int, int], int] = {}
    faces = []
    for signs in np.stack(np.meshgrid(*[[1, -1]] * 3), axis=-1).reshape(-1, 3).tolist():
        turn = 1 if np.prod(signs) > 0 else -1

        def corner(i: int, j: int, signs: list[int] = signs) -> int:
            i, j, k = (n * s for n, s in zip((i, j, fineness - i - j), signs, strict=True))
            return places.setdefault((i, j, k), len(places))

        for i in range(fineness):
            for j in range(fineness - i):
                faces.append([corner(i, j), corner(i + 1, j), corner(i, j + 1)][::turn])
                if i + j < fineness - 1:
                    faces.append([corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)][::turn])
    found = np.array(list(places), dtype=float)
    return found / np.linalg.norm(found, axis=1)[:, None], np.array(faces)


def largest_box(directions: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Return the bounds (3, 2) of a box about the origin that no ray (K, 3) of length `far` (K,) ends inside of.

    Of a cube and of a box as wide as the axes alone lead, as large as can be, each side then moved out by itself, the
    one with more volume. Axes along which no ray leads have no width.
    """
    along = np.stack([-directions, directions], axis=2).reshape(-1, 6)  # lower and upper of x, y, z
    is_ahead = along > 1e-9
    per_side = np.where(is_ahead, 1.0 / np.where(is_ahead, along, 1.0), 0.0)
    axes = np.where((along > 1.0 - 1e-9) & np.isfinite(far)[:, None], far[:, None], 0.0).max(axis=0, initial=0.0)

    def fits(sides: np.ndarray) -> bool:
        reach = np.where(is_ahead & (axes > 0.0), sides * per_side, np.inf).min(axis=1)
        return bool((reach <= far * (1.0 + 1e-9)).all())

    def grown(sides: np.ndarray, way: np.ndarray, most: float) -> np.ndarray:
        low, high = 0.0, most
        for _ in range(30):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if fits(sides + middle * way) else (low, middle)
        return sides + low * way

    found = []
    for shape in ((axes > 0.0) * axes.max(initial=0.0), axes):
        sides = grown(np.zeros(6), shape, 1.0)
        for side in np.argsort(sides - axes):
            sides = grown(sides, np.eye(6)[side], max(float(axes[side] - sides[side]), 0.0))
        found.append(np.stack([-sides[0::2], sides[1::2]], axis=1))
    return max(found, key=lambda box: float(np.prod((box[:, 1] - box[:, 0])[axes.reshape(3, 2).max(axis=1) > 0.0])))
