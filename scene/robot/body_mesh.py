"""The meshes of a robot's bodies as numbers: what they weigh, and as files beside an exported robot."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
from bpy.types import Object

from ...robik.errors import FormatError, RobikError
from ...robik.formats import WRITERS, save_robot, solids
from ...robik.formats.mesh_data import write_stl
from ...robik.formats.names import free_name
from ...robik.mechanism import Body, Mechanism, Pose
from .parts import parts
from .reading import read_robot
from .writing import write_mass


def triangles(shown: Object) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (v, 3) in the object's own coordinates and triangles (f, 3) of a mesh object, its modifiers applied."""
    evaluated = shown.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        mesh.calc_loop_triangles()
        vertices, faces = np.empty(3 * len(mesh.vertices), np.float32), np.empty(3 * len(mesh.loop_triangles), np.int32)
        mesh.vertices.foreach_get("co", vertices)
        mesh.loop_triangles.foreach_get("vertices", faces)
    finally:
        evaluated.to_mesh_clear()
    return vertices.reshape(-1, 3).astype(float), faces.reshape(-1, 3)


def is_closed(faces: np.ndarray) -> bool:
    """Return whether every edge of triangles (f, 3) has two of them."""
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] == 2).all())


def weigh(body: Object, density: float) -> tuple[float, list[str]]:
    """Give a body the mass, centre of mass and inertia of its meshes, solid and of one density [kg/m³].

    Return the mass [kg], and the names of open meshes, whose volume is an estimate. Raise RobikError, with nothing
    changed, if it has no mesh with a volume.
    """
    solid, is_open = [], []
    for shown in (child for child in body.children if child.robik.kind == "VISUAL" and child.type == "MESH"):
        vertices, faces = triangles(shown)
        matrix = np.array(shown.matrix_parent_inverse @ shown.matrix_basis, dtype=float)
        closed = is_closed(faces)
        if not closed:
            is_open.append(shown.name)
        try:
            part = solids.mesh(vertices @ matrix[:3, :3].T + matrix[:3, 3], faces, "exact" if closed else "legacy")
        except FormatError as error:
            raise RobikError(f"mesh {shown.name!r}: {error}") from None
        solid.append((part, density, Pose()))
    mass, com, inertia = solids.together(solid)
    if mass <= 0.0:
        raise RobikError(f"body {body.robik.label!r} has no mesh to weigh")
    write_mass(body, Body.of(body.robik.label, mass, com, inertia))
    return mass, is_open


def export_robot(root: Object, path: Path) -> tuple[str, ...]:
    """Write the robot as it is in the scene, and return one sentence each on what the format cannot say.

    Meshes that were made in Blender go beside the file, into a folder of its name in `meshes/`.
    """
    mechanism, source = with_mesh_files(root, path)
    return save_robot(mechanism, path, source)


def with_mesh_files(root: Object, path: Path) -> tuple[Mechanism, Path | None]:
    """Return a robot that names its meshes' files, and the file that it came from, if any.

    Meshes' names are relative to that file. Meshes that were made in Blender are written beside `path`, as
    `export_robot` says.
    """
    mechanism = read_robot(root)
    source = Path(bpy.path.abspath(root.robik.robot.source)) if root.robik.robot.source else None
    base = (path if source is None else source).resolve().parent
    by_hand = {p.parent.robik.label: p for p in parts(root)["VISUAL"] if p.robik.by_hand}
    others = {base / v.file for b in mechanism.bodies if b.name not in by_hand for v in b.visuals if v.shape == "mesh"}
    places = _places(by_hand, path, others)
    for body, place in places.items():
        write_stl(place, *triangles(by_hand[body]))
    files = {body: Path(os.path.relpath(place, base)).as_posix() for body, place in places.items()}
    bodies = tuple(_showing(body, files[body.name]) if body.name in files else body for body in mechanism.bodies)
    return mechanism.with_changes(bodies=bodies), source


def _places(bodies: Iterable[str], path: Path, others: Iterable[Path]) -> dict[str, Path]:
    """Return where the meshes of bodies go: a folder of the robot's file alone, and there none in another's way."""
    stem = next((path.name[: -len(e)] for e in WRITERS if path.name.lower().endswith(e)), path.stem)
    folder, places = path.resolve().parent / "meshes" / stem, {}
    taken = {place.stem.casefold() for other in others if (place := other.resolve()).parent == folder}
    for body in bodies:
        name = free_name(re.sub(r"[^\w.-]", "_", body).casefold(), taken)  # lower case, as some disks know no other
        taken.add(name)
        places[body] = folder / f"{name}.stl"
    return places


def _showing(body: Body, file: str) -> Body:
    return replace(body, visuals=tuple(replace(visual, file=file) for visual in body.visuals))
