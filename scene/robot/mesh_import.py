"""Mesh files as Blender meshes with their materials: by Blender's own importers.

Collada, USD and MuJoCo's by the library's.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import bpy
import numpy as np
from bpy.types import ID, Image, Material, Mesh, Object, ShaderNodeTexImage

from ...robik.errors import FormatError, RobikError
from ...robik.formats.dae import read_dae
from ...robik.formats.mesh_data import read_mesh, welded
from ...robik.formats.mesh_files import MJCF, MeshFiles
from ...robik.formats.mesh_references import check_references, is_inside
from ...robik.formats.mjcf.inline import InlineMeshes
from ...robik.formats.surface import Paint, Picture, Surface
from ...robik.formats.usd.mesh import MeshReader
from ...robik.formats.usd.paints import picture_content
from ..long_work.steps import in_thread
from .visuals import mesh_of, painted_material

IMPORTERS = {
    ".stl": lambda path: bpy.ops.wm.stl_import(filepath=path, forward_axis="Y", up_axis="Z"),
    ".obj": lambda path: bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z"),
    ".ply": lambda path: bpy.ops.wm.ply_import(filepath=path, forward_axis="Y", up_axis="Z"),
    ".glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".gltf": lambda path: bpy.ops.import_scene.gltf(filepath=path),
}
DAE, MSH = ".dae", ".msh"
LARGE = 5_000_000  # bytes of a file from which reading it takes a while
# What an importer may bring along; users before what they use.
SCENE = ("objects", "collections", "meshes")
KINDS = (*SCENE, "armatures", "cameras", "lights", "curves", "actions", "materials", "node_groups", "images", "texts")


class MeshImport:
    """Reads the mesh files of one robot, from its folders alone; `warnings` tells which pictures are missing."""

    def __init__(self, robot_file: str, packages: tuple[Path, ...] = ()) -> None:
        self._allowed = MeshFiles(Path(robot_file), packages).allowed if robot_file else []
        self.warnings: list[str] = []
        self._materials: dict[tuple[Path, Paint], Material] = {}
        self._usd, self._mjcf = MeshReader(packages), InlineMeshes(packages)

    def load(self, path: Path, inner: str = "") -> Mesh:
        """Return a file's meshes as one, in its own unit.

        Of a USD file `inner` is the prim of a mesh, of an MJCF file the mesh's name. Raise RobikError, with nothing
        left of it, if the file is missing, broken, or of a kind that cannot be read.
        """
        kind = path.suffix.lower()
        if not inner and kind not in (*IMPORTERS, DAE, MSH):
            raise RobikError(
                f"mesh {path}: {', '.join((*IMPORTERS, DAE, MSH))} can be read, not {path.suffix!r}; convert it"
            )
        if not path.is_file():
            raise RobikError(f"mesh {path}: there is no such file")
        if inner and kind in MJCF:
            return _of_triangles(inner, *self._mjcf.read(path, inner))
        if inner:
            return self._painted(inner.rpartition("/")[2], self._usd.read(path, inner), path)
        try:
            if kind == DAE:
                return self._painted(path.stem, read_dae(path), path)
            if kind == MSH:
                return _of_triangles(path.stem, *read_mesh(path))
            check_references(path, self._allowed)
        except FormatError as error:
            raise RobikError(f"mesh {path}: {error}") from None
        return _by_blender(path)

    def load_steps(self, path: Path, inner: str = "") -> Generator[None, None, Mesh]:
        """As `load`.

        A large STL, the usual format of large meshes, is read on a thread of its own; the others in one step.
        """
        if path.suffix.lower() != ".stl" or not path.is_file() or path.stat().st_size < LARGE:
            return self.load(path, inner)

        def reading() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            vertices, faces = read_mesh(path)
            yield welded(vertices[faces.ravel()])

        found: list[tuple[np.ndarray, np.ndarray] | None] = [None]
        try:
            for found[0] in in_thread(reading()):
                yield
        except FormatError as error:
            raise RobikError(f"mesh {path}: {error}") from None
        assert found[0] is not None
        return _of_triangles(path.stem, *found[0])

    def _painted(self, name: str, surface: Surface, path: Path) -> Mesh:
        """Return a Blender mesh of a surface."""
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(surface.points.tolist(), [], surface.faces)
        if surface.uv is not None:
            mesh.uv_layers.new().data.foreach_set("uv", np.ascontiguousarray(surface.uv, dtype=np.float32).ravel())
        for paint in surface.paints:
            mesh.materials.append(self._material(paint, path))
        if surface.paint_of:
            mesh.polygons.foreach_set("material_index", np.array(surface.paint_of, dtype=np.int32))
        mesh.validate()
        return mesh

    def _material(self, paint: Paint, path: Path) -> Material:
        """Return one for each paint of a file, whichever of its meshes has it."""
        if (path, paint) not in self._materials:
            material, shader = painted_material(paint.name, paint.color)
            shader.inputs["Roughness"].default_value, shader.inputs["Metallic"].default_value = (
                paint.roughness,
                paint.metallic,
            )
            if paint.picture is not None and (picture := self._picture(paint.picture, path)) is not None:
                shown: Any = material.node_tree.nodes.new("ShaderNodeTexImage")
                shown.image = picture
                material.node_tree.links.new(shown.outputs["Color"], shader.inputs["Base Color"])
            self._materials[path, paint] = material
        return self._materials[path, paint]

    def _picture(self, picture: Picture, mesh_file: Path) -> Image | None:
        """Return a picture of a mesh file; none, with a warning, where it is missing or may not be read.

        One inside a package is packed.
        """
        file = mesh_file.parent / picture.file
        try:
            if not is_inside(file, [mesh_file.resolve().parent, *self._allowed]):
                raise FormatError(f"picture {file} leads out of the robot's folder; copy it beside the mesh")
            if not file.is_file():
                raise FormatError(f"there is no picture {file}")
            content = picture_content(picture) if picture.inner else b""
        except FormatError as error:
            self.warnings.append(f"mesh {mesh_file}: {error}")
            return None
        if not content:
            return bpy.data.images.load(str(file), check_existing=True)
        made = bpy.data.images.new(PurePosixPath(picture.inner).name, 1, 1)
        made.pack(data=content, data_len=len(content))
        made.source = "FILE"
        return made


def discard(meshes: list[Mesh]) -> None:
    """Remove meshes, and those of their materials and pictures that nothing else uses."""
    meshes = list(dict.fromkeys(meshes))
    materials = list(dict.fromkeys(material for mesh in meshes for material in mesh.materials if material))
    nodes = [node for material in materials if material.node_tree for node in material.node_tree.nodes]
    pictures = list(dict.fromkeys(node.image for node in nodes if isinstance(node, ShaderNodeTexImage) and node.image))
    for blocks in (meshes, materials, pictures):
        bpy.data.batch_remove([block for block in blocks if block.users <= block.use_fake_user])


def _of_triangles(name: str, vertices: np.ndarray, faces: np.ndarray) -> Mesh:
    """Return a mesh of vertices (v, 3) and triangles (f, 3)."""
    return mesh_of(name, vertices, faces.ravel(), np.arange(0, faces.size, 3))


def _by_blender(path: Path) -> Mesh:
    """Load a mesh by Blender's importer, and remove all that it brings but the mesh and its materials."""
    with _nothing_else() as made:
        try:
            IMPORTERS[path.suffix.lower()](str(path))
        except RuntimeError as error:
            raise RobikError(f"mesh {path} cannot be read: {str(error).strip()}") from None
        pieces = [o for o in bpy.data.objects if o not in made and isinstance(o.data, Mesh) and len(o.data.polygons)]
        if not pieces:
            raise RobikError(f"mesh {path}: there is no mesh in it")
        mesh = _joined(pieces)
        mesh.name = path.stem
        made.add(mesh)
    return mesh


@contextmanager
def _nothing_else() -> Iterator[set[ID]]:
    """Take away what came in within, except what is added to the set, and what that uses.

    Selection and active object come back.
    """
    layer = bpy.context.view_layer
    active, selected = layer.objects.active, [o for o in layer.objects if o.select_get()]
    before: set[ID] = {each for kind in KINDS for each in _all(kind)}
    try:
        yield before
    finally:
        for kind in KINDS:
            new = [each for each in _all(kind) if each not in before]
            gone = new if kind in SCENE else [each for each in new if each.users <= each.use_fake_user]
            bpy.data.batch_remove(gone)
        for each in selected:
            each.select_set(True)
        layer.objects.active = active


def _all(kind: str) -> list[ID]:
    return list(getattr(bpy.data, kind))


def _joined(pieces: list[Object]) -> Any:
    """Return one mesh of several objects, where these stand, with all their materials."""
    bpy.context.view_layer.update()
    first, *others = pieces
    mesh: Any = first.data.copy() if first.data.users > 1 else first.data
    matrix = first.matrix_world.copy()
    mesh.transform(matrix)
    if matrix.determinant() < 0:
        mesh.flip_normals()
    if others:
        first.data, first.parent = mesh, None
        first.modifiers.clear()
        first.matrix_basis.identity()
        bpy.context.view_layer.update()
        with bpy.context.temp_override(
            active_object=first, object=first, selected_editable_objects=pieces, selected_objects=pieces
        ):
            bpy.ops.object.join()
        mesh = first.data
    return mesh
