"""Nearest shapes of pairs of bodies along a motion: only shapes that can be the nearest are measured, by MuJoCo.

How far two shapes are from each other changes from pose to pose by no more than they move against each other. So what
was measured before, less that, is a bound from below, and so are their bounding spheres.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..mechanism.orientations import quaternion_matrices


class Nearest:
    """Search for the nearest shapes of p pairs of bodies, pose after pose, up to the distance `most` [m].

    `data` of MuJoCo's model is set to each pose in turn; `shapes` numbers each body's geoms.
    """

    def __init__(
        self,
        mujoco: Any,
        model: Any,
        data: Any,
        shapes: dict[int, list[int]],
        pairs: Sequence[tuple[int, int]],
        most: float,
    ) -> None:
        self._measure = mujoco.mj_geomDistance
        self._model, self._data, self._most, self._pairs = model, data, most, len(pairs)
        between = [(p, i, j) for p, (a, b) in enumerate(pairs) for i, j in product(shapes[a], shapes[b])]
        self._pair, self._first, self._second = np.array(between, dtype=int).reshape(-1, 3).T
        self._sizes = model.geom_rbound[self._first] + model.geom_rbound[self._second]
        # from the origin of its body [m]
        self._reach = (np.linalg.norm(model.geom_pos, axis=1) + model.geom_rbound)[self._second]
        self._low = np.full(len(between), -np.inf)  # bounds from below [m]

    def look(self, moved: np.ndarray, swung: np.ndarray) -> Iterator[tuple[int, float, np.ndarray]]:
        """Measure a pose; yield number, distance [m] and ends (6,) [m] of each pair nearer than `most`.

        Since the pose before, the origin of each pair's second body moved by `moved` (p,) [m], seen from the first,
        and a point at a distance of 1 m by its turning by `swung` (p,) [m].
        """
        low, best, places = self._low, np.full(self._pairs, self._most), self._data.geom_xpos
        low -= moved[self._pair] + swung[self._pair] * self._reach
        near = np.flatnonzero(low < self._most)
        apart = np.linalg.norm(places[self._first[near]] - places[self._second[near]], axis=1) - self._sizes[near]
        low[near] = np.maximum(low[near], apart)
        near = near[low[near] < self._most]
        near = near[np.argsort(low[near])]
        ends, of = np.zeros((self._pairs, 6)), np.zeros(6)
        shapes = zip(*(row[near].tolist() for row in (self._pair, self._first, self._second, low)), strict=True)
        bound = best.tolist()
        for g, (p, first, second, least) in zip(near.tolist(), shapes, strict=True):
            if least < bound[p]:
                low[g] = found = self._measure(self._model, self._data, first, second, max(bound[p], 0.0), of)
                if found < bound[p]:
                    bound[p], ends[p] = found, of
        for p, found in enumerate(bound):
            if found < self._most:
                yield p, found, ends[p]


def motions_between(
    position: np.ndarray, quaternion: np.ndarray, pairs: Sequence[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return movements `moved` and `swung` (T, p) [m] of p pairs of bodies from pose to pose, for `Nearest.look`.

    They are zero in the first pose. Bodies are at (T, n, 3) [m] and (T, n, 4) wxyz.
    """
    moved, swung = np.zeros((len(position), len(pairs))), np.zeros((len(position), len(pairs)))
    for p, (first, second) in enumerate(pairs):
        back = np.swapaxes(quaternion_matrices(quaternion[:, first]), 1, 2)
        offset = np.einsum("tij,tj->ti", back, position[:, second] - position[:, first])
        turn = back @ quaternion_matrices(quaternion[:, second])
        moved[1:, p] = np.linalg.norm(np.diff(offset, axis=0), axis=1)
        # turned by an angle, a matrix changes by √8 sin(angle / 2), and a point at 1 m moves by 2 sin(angle / 2)
        swung[1:, p] = np.sqrt(0.5 * np.square(np.diff(turn, axis=0)).sum(axis=(1, 2)))
    return moved, swung
