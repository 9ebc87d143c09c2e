"""Anchors of joints, as a user shows them: by the 3D cursor, the rim of a hole, or faces."""

from __future__ import annotations

from dataclasses import dataclass

import bmesh
import numpy as np
from bmesh.types import BMEdge, BMesh, BMVert
from bpy.types import Context, Mesh, Object

from ...robik.errors import RobikError
from ...robik.mechanism.circle import common_axis, fit_circle

SOURCES = (
    ("CURSOR", "3D Cursor", "At the 3D cursor, about its Z axis"),
    (
        "CIRCLE",
        "Edge Loop",
        "In Edit Mode: in the middle of the circle that the selected edges make, as the rim of a hole, about its axis",
    ),
    ("FACE", "Face", "In Edit Mode: in the middle of the selected faces, about their normal"),
)


@dataclass(frozen=True)
class Anchor:
    """A point (3,) and an axis (3,) in world coordinates [m]."""

    position: np.ndarray
    axis: np.ndarray


def anchor_of(context: Context, source: str) -> Anchor:
    """Return the anchor of what the user shows: the active selection, as `source` asks for it.

    Raise RobikError if nothing is shown, or not what the source asks for.
    """
    if source == "CURSOR":
        cursor = context.scene.cursor
        return Anchor(np.array(cursor.location, dtype=float), np.array(cursor.matrix, dtype=float)[:3, 2])
    edited = [o for o in context.objects_in_mode if isinstance(o.data, Mesh)] if context.mode == "EDIT_MESH" else []
    if not edited:
        raise RobikError("in Edit Mode, select the rim of a hole or a face; or take the anchor from the 3D cursor")
    return _from_rims(edited) if source == "CIRCLE" else _from_faces(edited)


def _from_rims(edited: list[Object]) -> Anchor:
    rims = [rim for shown in edited for rim in _rims(_edited(shown), np.array(shown.matrix_world, dtype=float))]
    if not rims:
        raise RobikError("no edges are selected; select the rim of a hole (Alt and a click on one of its edges)")
    return Anchor(*common_axis(fit_circle(rim) for rim in rims))


def _rims(mesh: BMesh, matrix: np.ndarray) -> list[np.ndarray]:
    """Return the selected vertices (n, 3) in the world, those that selected edges tie together in one group."""
    left = {v for v in mesh.verts if v.select}
    rims = []
    while left:
        group, open_ends = [], [left.pop()]
        while open_ends:
            vertex: BMVert = open_ends.pop()
            group.append(vertex)
            tied = {_other(edge, vertex) for edge in vertex.link_edges if edge.select} & left
            left -= tied
            open_ends.extend(tied)
        rims.append(_placed([v.co for v in group], matrix))
    loose = [rim for rim in rims if len(rim) < 3]
    return [np.vstack(rims)] if rims and len(loose) == len(rims) else rims  # vertices alone: one circle through all


def _other(edge: BMEdge, vertex: BMVert) -> BMVert:
    return edge.verts[1] if edge.verts[0] == vertex else edge.verts[0]


def _placed(points: list, matrix: np.ndarray) -> np.ndarray:
    return np.array([tuple(p) for p in points], dtype=float) @ matrix[:3, :3].T + matrix[:3, 3]


def _from_faces(edited: list[Object]) -> Anchor:
    middle, normal, area = np.zeros(3), np.zeros(3), 0.0
    for shown in edited:
        matrix = np.array(shown.matrix_world, dtype=float)
        for face in (f for f in _edited(shown).faces if f.select):
            corners = _placed([v.co for v in face.verts], matrix)
            for k in range(1, len(corners) - 1):
                a, b, c = corners[0], corners[k], corners[k + 1]
                doubled = np.cross(b - a, c - a)
                share = float(np.linalg.norm(doubled)) / 2.0
                middle, normal, area = middle + share * (a + b + c) / 3.0, normal + doubled / 2.0, area + share
    if not area:
        raise RobikError("no faces are selected; select the face that the joint belongs on")
    if np.linalg.norm(normal) < 0.5 * area:
        raise RobikError("the selected faces look in different directions; select one, or the rim of a hole")
    return Anchor(middle / area, normal / np.linalg.norm(normal))


def _edited(shown: Object) -> BMesh:
    assert isinstance(shown.data, Mesh)
    return bmesh.from_edit_mesh(shown.data)
