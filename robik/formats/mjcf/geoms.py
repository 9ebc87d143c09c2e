"""Geoms of MJCF: the visuals of a body, and its mass where nothing else says it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from math import inf
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import Pose, Visual
from ...mechanism.pose import Vector
from .. import solids
from ..imported import Notes
from ..mesh_data import read_mesh
from ..mesh_files import PLACEHOLDER, MeshFiles, is_inline, placeholder
from ..solids import Solid
from ..xml_file import numbers
from .file import Attributes, MjcfFile, vector, z_to
from .inline import mesh_assets, triangles

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}  # how many numbers a shape's size has
ALONG = {"capsule": 1, "cylinder": 1, "box": 2, "ellipsoid": 2}  # which of them `fromto` gives
MASSLESS = ("plane", "hfield")
GREY = (0.5, 0.5, 0.5, 1.0)
DENSITY = 1000.0  # kg/m³
SEEN = 2  # MuJoCo's viewer shows the groups up to this one


@dataclass(frozen=True)
class Geom:
    """A geom in its body.

    Attributes:
        shape: of `SIZES`, or "mesh", or one of `MASSLESS` and others, which have neither mass nor looks here.
        size: half lengths, as MJCF counts.
        group: of the viewer.
        mass, density: the first counts if it is given.
        is_shell: whether the mass is on the surface, and the density per area; a mesh says so itself.
        fitted: the shape, of `SIZES`, that has a mesh's place for its mass; empty where there is none.
        fit: what that shape's size is multiplied by.
    """

    shape: str
    _: KW_ONLY
    size: tuple[float, ...]
    pose: Pose
    group: int
    color: tuple[float, float, float, float]
    mass: float | None
    density: float
    mesh: str
    is_shell: bool
    fitted: str = ""
    fit: float = 1.0


@dataclass(frozen=True)
class Mesh:
    """A mesh of the file's assets.

    Attributes:
        file: relative to the robot's folder, `FILE#NAME` where it stands in a file itself; empty where there is none
            that may be read.
        placed: refpos and refquat: what is taken off its vertices, before they are scaled.
    """

    file: str
    _: KW_ONLY
    scale: Vector
    placed: Pose
    kind: str
    attributes: Attributes


class Geoms:
    """The geoms of one file, with the meshes and materials that they name."""

    def __init__(self, file: MjcfFile, files: MeshFiles, path: Path, notes: Notes) -> None:
        self.file, self.files, self.path, self.notes = file, files, path, notes
        assets = [child for section in file.root.findall("asset") for child in section]
        self._materials = {e.get("name", ""): file.attributes(e) for e in assets if e.tag == "material"}
        self._meshes = mesh_assets(file)
        self._found: dict[str, Mesh] = {}
        self._solids: dict[str, Solid | None] = {}

    def _fit(self, shape: str, where: str) -> str:
        """Return the shape that is fitted to a mesh by its inertia; empty where it is fitted to the mesh's box."""
        body = where.partition(":")[0]
        if self.file.is_true("fitaabb", "false"):
            self.notes.add("a shape fitted to a mesh's box (fitaabb) was read as that mesh, in its mass as well", body)
            return ""
        self.notes.add("a shape fitted to a mesh is shown as that mesh", body)
        return shape

    def _size(self, shape: str, attributes: Attributes, where: str) -> tuple[tuple[float, ...], Pose]:
        """Return the size of a shape, and its pose in the frame around it; both may come from its two ends."""
        words = attributes.get("size", "").split()
        size = numbers(" ".join(words), len(words), f"{where}: its size")[: SIZES.get(shape, 0)]
        if "fromto" in attributes and shape in ALONG:
            ends = np.array(numbers(attributes["fromto"], 6, f"{where}: its fromto"))
            pose = Pose.of(z_to(ends[:3] - ends[3:], where), (ends[:3] + ends[3:]) / 2)
            across = [*size[:1], *size[:1]][: ALONG[shape]]
            size = (*across, float(np.linalg.norm(ends[3:] - ends[:3])) / 2)
        else:
            pose = self.file.pose(attributes, where)
        if len(size) < SIZES.get(shape, 0) or not all(0 < s < inf for s in size):
            raise FormatError(
                f"{where}: a {shape} needs {SIZES[shape]} positive sizes, not {attributes.get('size', '')[:40]!r}"
            )
        return size, pose

    def geom(self, element: Element, offset: Pose, inherited: str | None, where: str) -> Geom:
        """Return a geom of a body; `offset` is the pose of the frame around it in the body."""
        attributes = self.file.attributes(element, inherited)
        where = f"{where}: geom {attributes['name']!r}" if attributes.get("name") else f"{where}: a geom"
        shape, fitted = attributes.get("type", "sphere"), ""
        if shape in SIZES and "mesh" in attributes:
            shape, fitted = "mesh", self._fit(shape, where)
        size, pose = self._size(shape, attributes, where)
        mass = numbers(attributes["mass"], 1, f"{where}: its mass")[0] if "mass" in attributes else None
        density = numbers(attributes.get("density", str(DENSITY)), 1, f"{where}: its density")[0]
        if density < 0 or (mass is not None and mass < 0):
            raise FormatError(f"{where}: its mass and density must not be negative")
        is_shell = attributes.get("shellinertia") == "true"
        if is_shell and shape == "ellipsoid":
            self.notes.add(
                "an ellipsoid with shellinertia was taken for a solid one, in its mass as well", where.partition(":")[0]
            )
        group = numbers(attributes.get("group", "0"), 1, f"{where}: its group")[0]
        color, mesh = self._color(attributes, where), attributes.get("mesh", "")
        fit = numbers(attributes.get("fitscale", "1"), 1, f"{where}: its fitscale")[0]
        if not fit > 0:
            raise FormatError(f"{where}: its fitscale must be positive, not {fit:g}")
        return Geom(
            shape,
            size=size,
            pose=offset @ pose,
            group=int(group),
            color=color,
            mass=mass,
            density=density,
            mesh=mesh,
            is_shell=is_shell,
            fitted=fitted,
            fit=fit,
        )

    def _color(self, attributes: Attributes, where: str) -> tuple[float, float, float, float]:
        rgba = attributes.get("rgba") or self._materials.get(attributes.get("material", ""), {}).get("rgba")
        if rgba is None:
            return GREY
        r, g, b, a = (min(max(v, 0.0), 1.0) for v in numbers(rgba, 4, f"{where}: its rgba"))
        return r, g, b, a

    # Meshes

    def _mesh(self, name: str, where: str) -> Mesh:
        if name not in self._found:
            if name not in self._meshes:
                raise FormatError(
                    f"{where}: a geom names mesh {name[:60]!r}, but the file's assets have none of that name"
                )
            attributes = self._meshes[name]
            label = f"mesh {name!r}"
            scale = vector(attributes, "scale", "1 1 1", label)
            rotated = {"quat": attributes.get("refquat", "1 0 0 0")}
            placed = Pose.of(self.file.rotation(rotated, label), vector(attributes, "refpos", "0 0 0", label))
            kind = attributes.get("inertia", "exact" if self.file.is_true("exactmeshinertia", "false") else "legacy")
            self._found[name] = Mesh(
                self._path(name, attributes), scale=scale, placed=placed, kind=kind, attributes=attributes
            )
        return self._found[name]

    def _path(self, name: str, attributes: Attributes) -> str:
        """Return where a mesh is; empty where it may not be read."""
        given = attributes.get("file", "").replace("\\", "/")
        if not given:
            return self._inline(name, attributes)
        if self.file.is_true("strippath", "false"):
            given = PurePosixPath(given).name
        folder = (
            (self.file.compiler.get("meshdir") or self.file.compiler.get("assetdir") or "")
            .replace("\\", "/")
            .rstrip("/")
        )
        own_way = not folder or "://" in given or given.startswith("/") or given[1:2] == ":"
        uri = given if own_way else f"{folder}/{given}"
        return self.files.mesh(uri, self.notes, f"mesh {name!r}")

    def _inline(self, name: str, attributes: Attributes) -> str:
        """As `_path`, of a mesh that stands in the file itself."""
        try:
            triangles(attributes)
        except FormatError as error:
            self.notes.add(f"{error}, so a small cube stands for it", f"mesh {name!r}")
            return ""
        return f"{self.path.name}#{name}"

    def visual(self, geom: Geom, where: str) -> Visual | None:
        """Return the visual of a geom; None where it is not seen."""
        match geom.shape:
            case "sphere":
                return Visual("sphere", geom.size, pose=geom.pose, color=geom.color)
            case "capsule" | "cylinder":
                return Visual(geom.shape, (geom.size[0], 2 * geom.size[1]), pose=geom.pose, color=geom.color)
            case "box":
                return Visual("box", tuple(2 * s for s in geom.size), pose=geom.pose, color=geom.color)
            case "ellipsoid":
                self.notes.add("an ellipsoid is shown as a sphere of its volume", where)
                return Visual("sphere", (float(np.prod(geom.size)) ** (1 / 3),), pose=geom.pose, color=geom.color)
            case "mesh":
                mesh = self._mesh(geom.mesh, where)
                if not mesh.file:
                    return placeholder(geom.pose, geom.color)
                turned = mesh.placed.inverse()
                shifted = Pose((mesh.scale[0] * turned.position[0], mesh.scale[1] * turned.position[1],
                                mesh.scale[2] * turned.position[2]),
                               turned.quaternion)  # fmt: skip
                return Visual("mesh", mesh.scale, pose=geom.pose @ shifted, color=geom.color, file=mesh.file)
        self.notes.add(f"a {geom.shape[:20]} was left out", where)
        return None

    def mass(self, geoms: list[Geom], where: str) -> solids.MassProperties:
        """Return mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m²] of a body's geoms."""
        low, high = numbers(self.file.compiler.get("inertiagrouprange", "0 5"), 2, "its compiler's inertiagrouprange")
        parts = []
        for geom in geoms:
            if low <= geom.group <= high and geom.mass != 0 and (geom.mass or geom.density):
                solid = self._solid(geom, where)
                if solid is None and geom.shape == "mesh" and geom.mass:  # the cube that stands for it
                    solid = solids.box(PLACEHOLDER, PLACEHOLDER, PLACEHOLDER)
                if solid is not None:
                    density = geom.density if geom.mass is None else geom.mass / solid.volume
                    parts.append((solid, density, geom.pose))
        return solids.together(parts)

    def _solid(self, geom: Geom, where: str) -> Solid | None:
        a, b, c = (*geom.size, 0.0, 0.0, 0.0)[:3]
        match geom.shape:
            case "sphere":
                return solids.capsule_shell(a, 0.0) if geom.is_shell else solids.ellipsoid(a, a, a)
            case "ellipsoid":
                return solids.ellipsoid(a, b, c)
            case "box":
                return (solids.box_shell if geom.is_shell else solids.box)(2 * a, 2 * b, 2 * c)
            case "capsule":
                return (solids.capsule_shell if geom.is_shell else solids.capsule)(a, 2 * b)
            case "cylinder":
                return (solids.cylinder_shell if geom.is_shell else solids.cylinder)(a, 2 * b)
            case "mesh":
                if geom.mesh not in self._solids:
                    self._solids[geom.mesh] = self._enclosed(geom.mesh, where)
                enclosed = self._solids[geom.mesh]
                return self._fitted(geom, enclosed, where) if geom.fitted and enclosed is not None else enclosed
        return None

    def _fitted(self, geom: Geom, mesh: Solid, where: str) -> Solid:
        """Return the shape of the box with the mesh's inertia, whose longest edge is z."""
        moments, axes = np.linalg.eigh(mesh.inertia / mesh.volume)
        box = np.sqrt(np.maximum(1.5 * (moments.sum() - 2 * moments), 0.0))[::-1]
        axes = axes[:, ::-1]
        across = (box[0] + box[1]) / 2
        sizes = {
            "sphere": [box.mean()],
            "capsule": [across, max(box[2] - across / 2, 0.0)],
            "cylinder": [across, box[2]],
        }
        size = tuple(float(geom.fit * s) for s in sizes.get(geom.fitted, box))
        solid = self._solid(replace(geom, shape=geom.fitted, size=size, fitted=""), where)
        assert solid is not None
        return Solid(solid.volume, mesh.com, axes @ solid.inertia @ axes.T)

    def _enclosed(self, name: str, where: str) -> Solid | None:
        mesh = self._mesh(name, where)
        try:
            inside = not mesh.file or is_inline(mesh.file)
            vertices, faces = triangles(mesh.attributes) if inside else read_mesh(self.path.parent / mesh.file)
            vertices = (vertices - np.array(mesh.placed.position)) @ mesh.placed.matrix * np.array(mesh.scale)
            if np.prod(mesh.scale) < 0:
                faces = faces[:, ::-1]
            return solids.mesh(vertices, faces, mesh.kind)
        except FormatError as error:
            self.notes.add(
                f"bodies without <inertial> take no mass from it but what a geom of it says: {error}", f"mesh {name!r}"
            )
            return None
