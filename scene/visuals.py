"""What to see of a body: primitives and meshes as Blender meshes, with a material per colour."""

from __future__ import annotations

from pathlib import Path

import bmesh
import bpy
from bpy.types import Material, Mesh
from mathutils import Matrix

from robik.errors import RobikError
from robik.formats.usd_mesh import MeshReader
from robik.mechanism import Visual

SEGMENTS = 32
PLACEHOLDER = 0.02  # edge of the cube that stands for a missing mesh [m]

IMPORTERS = {
    ".stl": lambda path: bpy.ops.wm.stl_import(filepath=path, forward_axis="Y", up_axis="Z"),
    ".obj": lambda path: bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z"),
    ".ply": lambda path: bpy.ops.wm.ply_import(filepath=path, forward_axis="Y", up_axis="Z"),
    ".glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".gltf": lambda path: bpy.ops.import_scene.gltf(filepath=path),
}


def primitive(visual: Visual) -> Mesh:
    """A box, cylinder, capsule or sphere in its true size."""
    mesh = bpy.data.meshes.new(visual.shape)
    shape = bmesh.new()
    try:
        if visual.shape == "box":
            bmesh.ops.create_cube(shape, size=1.0, matrix=Matrix.Diagonal((*visual.size, 1.0)))
        elif visual.shape == "cylinder":
            radius, length = visual.size
            bmesh.ops.create_cone(shape, cap_ends=True, cap_tris=False, segments=SEGMENTS, radius1=radius, radius2=radius, depth=length)
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


def load_mesh(path: Path) -> Mesh:
    """A mesh file as one mesh, by Blender's own importers.

    Raises:
        RobikError: the file is missing, of a kind that Blender does not read, or broken.
    """
    importer = IMPORTERS.get(path.suffix.lower())
    if importer is None:
        raise RobikError(f"mesh {path}: Blender reads {', '.join(IMPORTERS)}, not {path.suffix!r}; convert it")
    if not path.is_file():
        raise RobikError(f"mesh {path}: there is no such file")
    before = set(bpy.data.objects)
    try:
        importer(str(path))
    except RuntimeError as error:
        raise RobikError(f"mesh {path} cannot be read: {str(error).strip()}") from None
    added = [o for o in bpy.data.objects if o not in before]
    try:
        pieces = [o for o in added if o.type == "MESH"]
        if not pieces:
            raise RobikError(f"mesh {path}: there is no mesh in it")
        return _joined(path.stem, pieces)
    finally:
        bpy.data.batch_remove({o.data for o in added if o.data is not None} | set(added))


def load_usd_mesh(reader: MeshReader, path: Path, prim: str) -> Mesh:
    """A mesh inside a USD file.

    Raises:
        RobikError: it cannot be read; names the file.
    """
    points, faces = reader.read(path, prim)
    mesh = bpy.data.meshes.new(prim.rpartition("/")[2])
    mesh.from_pydata(points.tolist(), [], faces)
    mesh.validate()
    return mesh


def _joined(name: str, pieces: list) -> Mesh:
    bpy.context.view_layer.update()
    whole = bmesh.new()
    try:
        for piece in pieces:
            copy = piece.data.copy()
            copy.transform(piece.matrix_world)
            whole.from_mesh(copy)
            bpy.data.meshes.remove(copy)
        mesh = bpy.data.meshes.new(name)
        whole.to_mesh(mesh)
    finally:
        whole.free()
    return mesh


def placeholder(name: str) -> Mesh:
    """A small cube where a mesh is missing."""
    edge = (PLACEHOLDER,) * 3
    mesh = primitive(Visual("box", edge))
    mesh.name = name
    return mesh


def material(color: tuple[float, float, float, float]) -> Material:
    """The material of a colour, shared by everything that has it."""
    name = "RobIK #" + "".join(f"{round(c * 255):02x}" for c in color)
    found: Material | None = bpy.data.materials.get(name)
    if found is not None:
        return found
    made = bpy.data.materials.new(name)
    made.diffuse_color = color
    if made.node_tree is None:  # from 5.0 on a new material has its nodes
        made.use_nodes = True
    shader = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = color
    shader.inputs["Alpha"].default_value = color[3]
    shader.inputs["Roughness"].default_value = 0.5
    return made
