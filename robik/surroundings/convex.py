"""Convex parts of a triangle mesh: a table as its top and its legs, stairs as wedges, a floor as a slab.

Faces are gathered as long as their convex hull holds nothing else: each face lies on the hull, looks out of it and
covers its side, and no other face is inside. Faces in a plane become a slab behind it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError

MOST = 1500  # faces of a piece that is taken apart; a piece with more of them is its hull
SLAB = 0.02  # m: thickness of what is behind faces in a plane
NEAR = 2e-3  # of a mesh's size: faces this near to a hull's side lie on it
COVERED = 0.8  # of a side, by the faces that lie on it
ALIKE = 1e-3  # of normals and of the mesh's size: faces that differ by less lie in one plane


def convex_parts(vertices: np.ndarray, triangles: np.ndarray) -> list[np.ndarray]:
    """Return the convex parts of a mesh, as points (K, 3) of each part's convex hull [m].

    Triangles (M, 3) index vertices (N, 3), counter-clockwise from outside.
    """
    corners = np.asarray(vertices, dtype=float)[np.asarray(triangles)]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    corners = corners[area > 1e-12 * max(float(area.max(initial=0.0)), 1e-30)]
    if not len(corners):
        return []
    size = float(np.linalg.norm(np.ptp(corners.reshape(-1, 3), axis=0)))
    _, number = np.unique(np.round(corners.reshape(-1, 3) / (1e-6 * size)), axis=0, return_inverse=True)
    faces = number.reshape(-1, 3)
    return [part for piece in _loose(faces) for part in _Piece(corners[piece], faces[piece]).parts()]


def is_too_fine(triangles: np.ndarray) -> bool:
    """Return True if a mesh has too many faces to be taken apart, so that pieces may be taken as their hulls."""
    return len(triangles) > MOST


def _loose(faces: np.ndarray) -> list[np.ndarray]:
    """Return the numbers of the faces of each piece that hangs together."""
    rows = np.repeat(np.arange(len(faces)), 3)
    graph = coo_matrix((np.ones(len(rows)), (rows, faces.ravel())), shape=(len(faces), faces.max() + 1))
    _, label = connected_components(graph @ graph.T, directed=False)
    return [np.flatnonzero(label == k) for k in range(label.max() + 1)]


class _Piece:
    """A connected piece of a mesh, by corners (M, 3, 3) of its faces [m] and their indices (M, 3)."""

    def __init__(self, corners: np.ndarray, faces: np.ndarray) -> None:
        self._corners = corners
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        twice = np.linalg.norm(normal, axis=1)
        self._area, self._normal, self._middle = 0.5 * twice, normal / twice[:, None], corners.mean(axis=1)
        self._size = float(np.linalg.norm(np.ptp(corners.reshape(-1, 3), axis=0)))
        self._beside = _neighbours(faces)

    def parts(self) -> list[np.ndarray]:
        """Return the points of its convex parts."""
        everything = np.arange(len(self._corners))
        if len(everything) > MOST or self._is_convex(everything, either=True):
            return [self._points(everything)]
        units = [u for plane in self._planes() for u in ([plane] if self._is_convex(plane) else [[f] for f in plane])]
        unit_of = np.empty(len(everything), dtype=int)
        for k, unit in enumerate(units):
            unit_of[unit] = k
        left, found = set(range(len(units))), []
        for first in sorted(left, key=lambda k: -self._area[units[k]].sum()):
            if first in left:
                found.append(self._points(np.array(sorted(self._grown(first, units, unit_of, left)))))
        return found

    def _grown(self, first: int, units: list[list[int]], unit_of: np.ndarray, left: set[int]) -> list[int]:
        """Return the faces gathered from a first unit on; what is gathered is left no longer."""
        left.discard(first)
        gathered, refused = list(units[first]), set[int]()
        waiting = self._around(units[first], unit_of)
        while waiting:
            unit = waiting.pop(0)
            if unit not in left or unit in refused:
                continue
            if self._is_convex(np.array([*gathered, *units[unit]])):
                gathered += units[unit]
                left.discard(unit)
                refused.clear()
                waiting = self._around(gathered, unit_of)
            else:
                refused.add(unit)
        return gathered

    def _around(self, faces: Iterable[int], unit_of: np.ndarray) -> list[int]:
        return list(dict.fromkeys(int(unit_of[other]) for face in faces for other in self._beside[face]))

    def _planes(self) -> list[list[int]]:
        """Return the faces that lie in one plane beside each other."""
        height = (self._normal * self._middle).sum(axis=1)
        left, found = set(range(len(self._corners))), []
        while left:
            first = left.pop()
            plane, waiting = [first], [first]
            while waiting:
                for other in self._beside[waiting.pop()]:
                    alike = np.abs(self._normal[other] - self._normal[first]).max() < ALIKE
                    if other in left and alike and abs(height[other] - height[first]) < ALIKE * self._size:
                        left.discard(other)
                        plane.append(other)
                        waiting.append(other)
            found.append(plane)
        return found

    def _points(self, faces: np.ndarray, behind: float = SLAB) -> np.ndarray:
        """Return the corners of faces; where they are in a plane, with those behind it."""
        points = self._corners[faces].reshape(-1, 3)
        normal = self._normal[faces[0]]
        if np.ptp(points @ normal) > max(1e-3, ALIKE * self._size):
            return points
        return np.concatenate([points, points - behind * normal])

    def _is_convex(self, faces: Iterable[int], either: bool = False) -> bool:
        """Return whether the hull of faces holds nothing else; `either` side of a face may look out of it."""
        faces, near = np.asarray(list(faces)), NEAR * self._size
        try:
            hull = ConvexHull(self._points(faces, max(near, 1e-6)))
        except QhullError:
            return True  # what has no volume is a slab of its own
        sides = hull.equations
        off = self._middle @ sides[:, :3].T + sides[:, 3]
        on = np.abs(off) < near
        along = self._normal @ sides[:, :3].T
        looks = (np.abs(along) if either else along) > 0.7
        mine = np.zeros(len(self._corners), dtype=bool)
        mine[faces] = True
        if not (on & looks)[mine].any(axis=1).all():
            return False
        if (off[~mine].max(axis=1) < -near).any():
            return False
        return self._covers(hull, faces, either)

    def _covers(self, hull: ConvexHull, faces: np.ndarray, either: bool) -> bool:
        """Return whether faces cover the sides of their hull on which they lie."""
        corners = hull.points[hull.simplices]
        area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        for face in {tuple(np.round(self._normal[f], 2)): f for f in faces}.values():
            normal = self._normal[face]
            both = [side @ normal for side in (self._normal[faces], hull.equations[:, :3])]
            mine, there = (np.abs(along) if either else along for along in both)
            mine, side = faces[mine > 1 - 1e-4], area[there > 1 - 1e-4].sum()
            if self._area[mine].sum() < COVERED * side:
                return False
        return True


def _neighbours(faces: np.ndarray) -> list[list[int]]:
    """Return the faces that share an edge with each."""
    at: dict[tuple[int, int], list[int]] = {}
    for k, face in enumerate(faces.tolist()):
        for a, b in ((0, 1), (1, 2), (2, 0)):
            at.setdefault((min(face[a], face[b]), max(face[a], face[b])), []).append(k)
    beside: list[list[int]] = [[] for _ in faces]
    for sharing in at.values():
        for k in sharing:
            beside[k] += [other for other in sharing if other != k]
    return beside
