"""Visuals of bodies: primitives as Blender meshes, with a material per colour."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import bmesh
import bpy
import numpy as np
from bpy.types import Material, Mesh
from mathutils import Matrix

from ...robik.mechanism import Visual

SEGMENTS = 32
PLACEHOLDER = 0.02  # edge of the cube that stands for a missing mesh [m]


def primitive(visual: Visual) -> Mesh:
    """Return a box, cylinder, capsule or sphere in its true size."""
    if visual.shape in ("sphere", "capsule"):
        points, corners, begins = _ball()
        apart = visual.size[1] if visual.shape == "capsule" else 0.0
        halves = np.outer(np.where(points[:, 2] > 0, 0.5, -0.5), (0.0, 0.0, apart))
        mesh = mesh_of(visual.shape, visual.size[0] * points + halves, corners, begins)
        mesh.polygons.foreach_set("use_smooth", np.ones(len(begins), dtype=bool))
        return mesh
    with _shape() as shape:
        if visual.shape == "box":
            bmesh.ops.create_cube(shape, size=1.0, matrix=Matrix.Diagonal((*visual.size, 1.0)))
        else:
            radius, length = visual.size
            bmesh.ops.create_cone(
                shape, cap_ends=True, cap_tris=False, segments=SEGMENTS, radius1=radius, radius2=radius, depth=length
            )
        for face in shape.faces:
            face.smooth = len(face.verts) == 4 and visual.shape == "cylinder"
        mesh = bpy.data.meshes.new(visual.shape)
        shape.to_mesh(mesh)
    return mesh


def mesh_of(name: str, points: np.ndarray, corners: np.ndarray, begins: np.ndarray) -> Mesh:
    """Return a mesh made in bulk from points (v, 3) [m], faces' corners (c,), and each face's begin among them (f,)."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", np.asarray(points, dtype=np.float32).ravel())
    mesh.loops.add(len(corners))
    mesh.loops.foreach_set("vertex_index", np.asarray(corners, dtype=np.int32))
    mesh.polygons.add(len(begins))
    mesh.polygons.foreach_set("loop_start", np.asarray(begins, dtype=np.int32))
    mesh.update(calc_edges=True)
    return mesh


@cache
def _ball() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a ball of radius 1, for `mesh_of`; Blender takes long to make one.

    An odd number of rings leaves a band across the equator: pulled apart, it is the capsule's cylinder.
    """
    with _shape() as shape:
        bmesh.ops.create_uvsphere(shape, u_segments=SEGMENTS, v_segments=SEGMENTS - 1, radius=1.0)
        shape.verts.index_update()
        faces = [[vertex.index for vertex in face.verts] for face in shape.faces]
        points = np.array([vertex.co for vertex in shape.verts])
    begins = np.cumsum([0, *map(len, faces[:-1])])
    return points, np.concatenate(faces), begins


@contextmanager
def _shape() -> Iterator[bmesh.types.BMesh]:
    shape = bmesh.new()
    try:
        yield shape
    finally:
        shape.free()


def placeholder(name: str) -> Mesh:
    """Return a small cube where a mesh is missing."""
    edge = (PLACEHOLDER,) * 3
    mesh = primitive(Visual("box", edge))
    mesh.name = name
    return mesh


def material(color: tuple[float, float, float, float]) -> Material:
    """Return the material of a colour, shared by everything that has it."""
    name = "RobIK #" + "".join(f"{round(c * 255):02x}" for c in color)
    found: Material | None = bpy.data.materials.get(name)
    if found is not None:
        return found
    return painted_material(name, color)[0]


def painted_material(name: str, color: tuple[float, float, float, float]) -> tuple[Material, bpy.types.Node]:
    """Return a new material of a colour, and its shader."""
    made = bpy.data.materials.new(name)
    made.diffuse_color = color
    if made.node_tree is None:  # from 5.0 on a new material has its nodes
        made.use_nodes = True
    shader = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = color
    shader.inputs["Alpha"].default_value = color[3]
    shader.inputs["Roughness"].default_value = 0.5
    return made, shader
