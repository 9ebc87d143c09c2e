"""Links of SDF: their mass, and what is seen of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import FormatError
from ...mechanism import Body, Pose, Visual
from .. import solids
from ..imported import Notes
from ..mesh_data import read_mesh
from ..mesh_files import MeshFiles, placeholder
from ..solids import Solid
from ..xml_file import number_within, numbers
from .elements import Node
from .frames import Frames, pose_of

GREY = (0.7, 0.7, 0.7, 1.0)
DENSITY = 1000.0  # [kg/m³]
SIZES = {"box": ("size", 3), "sphere": ("radius", 1), "cylinder": ("radius length", 2), "capsule": ("radius length", 2),
         "cone": ("radius length", 2), "ellipsoid": ("radii", 3)}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """A visual's or collision's shape in its link: a kind of `SIZES`, or a mesh with its scale and file."""

    kind: str
    size: tuple[float, ...]
    pose: Pose
    file: str = ""


class Links:
    """Reads links of a file."""

    def __init__(self, frames: Frames, files: MeshFiles, notes: Notes) -> None:
        self.frames, self.files, self.notes = frames, files, notes

    def read(self, name: str, node: Node) -> Body:
        """Return a link as a body."""
        mass, com, inertia = self._mass(name, node)
        visuals = [v for e in node.element.findall("visual") if (v := self._visual(e, name, node)) is not None]
        return Body.of(name, mass, com, inertia, visuals)

    def _pose(self, element: Element, name: str, node: Node, where: str) -> Pose:
        """Of a part of a link, in the link's frame."""
        pose, relative_to = pose_of(element, where)
        if not relative_to or self.frames.find(relative_to, node.scope, where) == name:
            return pose
        other = self.frames.placed(self.frames.find(relative_to, node.scope, where))
        return self.frames.placed(name).inverse() @ other @ pose

    def _mass(self, name: str, node: Node) -> tuple[float, Iterable[float], np.ndarray]:
        """Mass [kg], centre of mass [m] and inertia about it, along the link's axes (3, 3) [kg m²]."""
        where = f"link {name!r}"
        inertial = node.element.find("inertial")
        if inertial is not None and inertial.get("auto") in ("true", "1"):
            return self._mass_of_shapes(name, node, inertial)
        if inertial is None:
            self.notes.add("it says no mass, so it has that of the format's default, 1 kg", name)
            return 1.0, (0.0, 0.0, 0.0), np.eye(3)
        pose = self._pose(inertial, name, node, f"{where}: its inertial")
        mass = number_within(inertial, "mass", where, 1.0)
        given = inertial.find("inertia")
        xx, yy, zz = (number_within(given, key, where, 1.0) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (number_within(given, key, where, 0.0) for key in ("ixy", "ixz", "iyz"))
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return mass, pose.position, solids.turned(inertia, pose)

    def _mass_of_shapes(self, name: str, node: Node, inertial: Element) -> tuple[float, Iterable[float], np.ndarray]:
        """Of the shapes that collide, by their densities."""
        parts = []
        for element in node.element.findall("collision"):
            where = f"link {name!r}: its collision {element.get('name', '')!r}"
            density = number_within(element, "density", where, number_within(inertial, "density", where, DENSITY))
            shape = self._shape(element, name, node, where)
            if shape is None:
                continue
            try:
                parts.append((self._solid(shape), density, shape.pose))
            except FormatError as error:
                self.notes.add(f"the mass of a shape was left out: {error}", name)
        mass, com, inertia = solids.together(parts)
        if mass == 0.0:
            self.notes.add("its mass comes from shapes, of which it has none with a volume", name)
        return mass, com, inertia

    def _solid(self, shape: Shape) -> Solid:
        if shape.kind == "mesh":
            points, faces = read_mesh(self.files.folder / shape.file)
            return solids.mesh(points * shape.size, faces)
        if shape.kind == "sphere":
            return solids.ellipsoid(*shape.size * 3)
        solid: Solid = getattr(solids, shape.kind)(*shape.size)
        return solid

    def _shape(self, element: Element, name: str, node: Node, where: str) -> Shape | None:
        pose = self._pose(element, name, node, where)
        geometry = element.find("geometry")
        for shape in geometry if geometry is not None else ():
            if shape.tag in SIZES:
                keys, count = SIZES[shape.tag]
                text = " ".join((shape.findtext(key) or "") for key in keys.split()).replace(
                    '"', " "
                )  # a stray quote, as some have it
                size = numbers(text, count, f"{where}: its {shape.tag}'s {keys}")
                if min(size) <= 0:
                    raise FormatError(f"{where}: its {shape.tag}'s {keys} must be positive, not {text.strip()}")
                return Shape(shape.tag, size, pose)
            if shape.tag == "mesh":
                return self._mesh(shape, pose, name, node, where)
        return None

    def _mesh(self, shape: Element, pose: Pose, name: str, node: Node, where: str) -> Shape:
        uri = (shape.findtext("uri") or "").strip()
        scale = numbers(shape.findtext("scale") or "1 1 1", 3, f"{where}: its mesh's scale")
        if "://" not in uri and not Path(uri).is_absolute() and uri:
            uri = (node.file.parent / uri).as_posix()
        if shape.find("submesh") is not None:
            self.notes.add("it means a part of a mesh (<submesh>), but the whole mesh was read", name)
        file = self.files.mesh(uri, self.notes, name)
        return Shape("mesh", scale, pose, file) if file else Shape("box", placeholder(pose, GREY).size, pose)

    def _visual(self, element: Element, name: str, node: Node) -> Visual | None:
        where = f"its visual {element.get('name', '')!r}"
        try:
            shape = self._shape(element, name, node, where)
        except FormatError as error:  # what only looks costs no robot
            self.notes.add(f"{error}, so it is not shown", f"link {name!r}")
            return None
        if shape is None or shape.kind in ("cone", "ellipsoid"):
            self.notes.add("a visual without a box, cylinder, sphere, capsule or mesh was left out", name)
            return None
        return Visual(shape.kind, shape.size, pose=shape.pose, color=_color(element), file=shape.file)


def _color(visual: Element) -> tuple[float, float, float, float]:
    text = visual.findtext("material/diffuse")
    try:
        values = [min(max(float(v), 0.0), 1.0) for v in (text or "").split()]
    except ValueError:
        return GREY
    if len(values) == 3:
        values.append(1.0)
    if len(values) != 4 or any(v != v for v in values):
        return GREY
    r, g, b, a = values
    return (r, g, b, a)
