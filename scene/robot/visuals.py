"""Visuals of bodies: primitives as Blender meshes, with a material per colour."""

from __future__ import annotations

import bmesh
import bpy
from bpy.types import Material, Mesh
from mathutils import Matrix

from ...robik.mechanism import Visual

SEGMENTS = 32
PLACEHOLDER = 0.02  # edge of the cube that stands for a missing mesh [m]


def primitive(visual: Visual) -> Mesh:
    """Return a box, cylinder, capsule or sphere in its true size."""
    mesh = bpy.data.meshes.new(visual.shape)
    shape = bmesh.new()
    try:
        if visual.shape == "box":
            bmesh.ops.create_cube(shape, size=1.0, matrix=Matrix.Diagonal((*visual.size, 1.0)))
        elif visual.shape == "cylinder":
            radius, length = visual.size
            bmesh.ops.create_cone(
                shape, cap_ends=True, cap_tris=False, segments=SEGMENTS, radius1=radius, radius2=radius, depth=length
            )
        else:
            # An odd number of rings leaves a band across the equator: pulled apart, it is the capsule's cylinder.
            bmesh.ops.create_uvsphere(shape, u_segments=SEGMENTS, v_segments=SEGMENTS - 1, radius=visual.size[0])
            if visual.shape == "capsule":
                for vertex in shape.verts:
                    vertex.co.z += visual.size[1] / 2 if vertex.co.z > 0 else -visual.size[1] / 2
        for face in shape.faces:
            face.smooth = visual.shape in ("sphere", "capsule") or (len(face.verts) == 4 and visual.shape == "cylinder")
        shape.to_mesh(mesh)
    finally:
        shape.free()
    return mesh


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
