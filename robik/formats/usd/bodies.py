"""Rigid bodies of UsdPhysics: mass, what is seen of them, and named frames on them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from ...errors import FormatError
from ...mechanism import WORLD, Body, Frame, Pose, Visual
from .. import solids
from ..imported import Notes
from ..solids import Solid
from ..surface import GREY, Color
from .mesh import triangles
from .paints import mesh_color, paint
from .scene import AXES_OF_Z, Scene, number, rotation, split, vector

if TYPE_CHECKING:
    from pxr import Usd

DENSITY = 1000.0  # of what says none [kg/m³]
SHAPES = ("Cube", "Sphere", "Cylinder", "Capsule", "Cone", "Mesh")


@dataclass(frozen=True)
class Shape:
    """A geometric prim in its body.

    Attributes:
        kind: one of `SHAPES`.
        size: as `Visual` counts, before it is stretched.
        pose: in the body's frame.
        stretch: (3, 3) of the shape's own coordinates; holds the units.
    """

    prim: Usd.Prim
    kind: str
    size: tuple[float, ...]
    pose: Pose
    stretch: np.ndarray


class Bodies:
    """Reads the bodies of a scene that are the robot: a file may hold hundreds of others."""

    def __init__(self, scene: Scene, kept: set[str], file: str, notes: Notes) -> None:
        from pxr import UsdPhysics

        self.scene, self.kept, self.file, self.notes = scene, kept, file, notes
        self.shapes: dict[str, list[Shape]] = {}
        for prim in scene.prims:
            kind = prim.GetTypeName()
            if kind in SHAPES and (body := scene.body_of(prim)) in kept:
                self.shapes.setdefault(body, []).append(self._shape(prim, kind, body))
        self.solid = {
            s.prim.GetPath()
            for shapes in self.shapes.values()
            for s in shapes
            if s.prim.HasAPI(UsdPhysics.CollisionAPI)
        }

    def read(self, prim: Usd.Prim, name: str) -> Body:
        """Return a body with its mass and its visuals."""
        mass, com, inertia = self._mass(prim, name)
        visuals = tuple(v for shape in self.shapes.get(name, []) if (v := self._visual(shape, name)) is not None)
        return Body.of(name, mass, com, inertia, visuals)

    def frames(self) -> list[Frame]:
        """Return the empty coordinate systems below the bodies, where their name is still free."""
        taken = {WORLD, *self.scene.bodies.values(), *self.kept}
        found = []
        for prim in self.scene.prims:
            if prim.GetTypeName() != "Xform" or prim.GetAppliedSchemas() or prim.GetFilteredChildren(_all_children()):
                continue
            body, name = self.scene.body_of(prim), prim.GetName()
            if body in self.kept and name not in taken:
                taken.add(name)
                found.append(Frame(name, body, split(self.scene.in_body(prim), str(prim.GetPath()))[0]))
        return found

    def _shape(self, prim: Usd.Prim, kind: str, body: str) -> Shape:
        pose, stretch = split(self.scene.in_body(prim), str(prim.GetPath()))
        if kind in ("Cylinder", "Capsule", "Cone"):
            axis = prim.GetAttribute("axis").Get()
            turn = Pose.of(AXES_OF_Z.get(str(axis), AXES_OF_Z["Z"]), (0, 0, 0))
            pose, stretch = pose @ turn, turn.matrix.T @ stretch @ turn.matrix
            size: tuple[float, ...] = (number(prim, "radius", 1.0), number(prim, "height", 2.0))
        elif kind == "Cube":
            size = (number(prim, "size", 2.0),) * 3
        else:
            size = (number(prim, "radius", 1.0),) if kind == "Sphere" else (1.0, 1.0, 1.0)
        if not all(isfinite(v) and v > 0 for v in size):
            raise FormatError(f"body {body!r}: {prim.GetPath()} must have a positive size, not {size}")
        return Shape(prim, kind, size, pose, stretch)

    # Mass

    def _mass(self, prim: Usd.Prim, name: str) -> tuple[float, np.ndarray, np.ndarray]:
        """Return mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m²] in the body's frame.

        As the file says; what it does not say is taken from the shapes that collide.
        """
        scene, where = self.scene, f"body {name!r}"
        mass = number(prim, "physics:mass", 0.0) * scene.kilograms
        com = vector(prim, "physics:centerOfMass")
        diagonal = vector(prim, "physics:diagonalInertia")
        if not (isfinite(mass) and mass >= 0):
            raise FormatError(f"{where}: its mass must be zero or more, not {mass:g}")
        if com is not None:
            com = scene.in_body(prim)[:3, :3] @ com if np.isfinite(com).all() else None
        inertia = None
        if diagonal is not None and diagonal.any():
            if not (np.isfinite(diagonal).all() and diagonal.min() >= 0):
                raise FormatError(f"{where}: its inertia must be zero or more, not {tuple(diagonal.tolist())}")
            R = rotation(prim, "physics:principalAxes", zero=True).matrix
            inertia = R @ np.diag(diagonal) @ R.T * scene.kilograms * scene.meters**2
        if mass > 0 and com is not None and inertia is not None:
            return mass, com, inertia
        own, center, spread = self._mass_of_shapes(prim, name)
        if own == 0.0:
            missing = [what for what, value in (("mass", mass or None), ("inertia", inertia)) if value is None]
            if missing:
                self.notes.add(f"it has no {' and no '.join(missing)}, and no shape that collides to tell", name)
            return mass, np.zeros(3) if com is None else com, np.zeros((3, 3)) if inertia is None else inertia
        mass = mass or own
        if com is None:
            com = center
        if inertia is None:  # of the shapes, but about the centre of mass that the file says, as pxr has it
            d = com - center
            inertia = spread * (mass / own) + mass * (d @ d * np.eye(3) - np.outer(d, d))
        return mass, com, inertia

    def _mass_of_shapes(self, prim: Usd.Prim, name: str) -> tuple[float, np.ndarray, np.ndarray]:
        """Of the shapes that collide, by their masses or densities."""
        parts = []
        for shape in self.shapes.get(name, []):
            if shape.prim.GetPath() not in self.solid:
                continue
            try:
                solid = self._solid(shape)
            except FormatError as error:
                self.notes.add(f"the mass of a shape was left out: {shape.prim.GetName()}: {error}", name)
                continue
            mass = number(shape.prim, "physics:mass", 0.0) * self.scene.kilograms
            density = mass / solid.volume if mass > 0 else self._density(shape.prim, prim)
            parts.append((solid, density, shape.pose))
        return solids.together(parts)

    def _density(self, shape: Usd.Prim, body: Usd.Prim) -> float:
        """[kg/m³] as the shape says it, else its body, else its material."""
        from pxr import UsdShade

        material = UsdShade.MaterialBindingAPI(shape).ComputeBoundMaterial("physics")[0]
        for prim in (shape, body, *([material.GetPrim()] if material else [])):
            density = number(prim, "physics:density", 0.0)
            if density > 0:
                return density * self.scene.kilograms / self.scene.meters**3
        return DENSITY

    def _solid(self, shape: Shape) -> Solid:
        scale = np.abs(np.diag(shape.stretch))
        size = shape.size
        if shape.kind == "Mesh":
            points, faces = triangles(shape.prim)
            approximation = shape.prim.GetAttribute("physics:approximation").Get()
            return solids.mesh(points @ shape.stretch.T, faces, "convex" if approximation == "convexHull" else "exact")
        if shape.kind == "Cube":
            return solids.box(*(size[0] * scale))
        if shape.kind == "Sphere":
            return solids.ellipsoid(*(size[0] * scale))
        radius, length = size[0] * float(np.sqrt(scale[0] * scale[1])), size[1] * float(scale[2])
        if shape.kind == "Cone":
            return solids.cone(radius, length)
        return solids.cylinder(radius, length) if shape.kind == "Cylinder" else solids.capsule(radius, length)

    # Looks

    def _visual(self, shape: Shape, name: str) -> Visual | None:
        from pxr import UsdGeom

        seen = UsdGeom.Imageable(shape.prim)
        if seen.ComputeVisibility() == "invisible" or seen.ComputePurpose() not in ("default", "render"):
            return None
        color, scale = _color(shape.prim), np.diag(shape.stretch)
        if np.count_nonzero(shape.stretch - np.diag(scale)):
            self.notes.add("a shape is sheared, which is not shown", name)
        if shape.kind == "Mesh":
            return Visual(
                "mesh", tuple(scale.tolist()), pose=shape.pose, color=color, file=f"{self.file}#{shape.prim.GetPath()}"
            )
        scale = np.abs(scale)
        if shape.kind == "Cube":
            return Visual("box", tuple((shape.size[0] * scale).tolist()), pose=shape.pose, color=color)
        if shape.kind == "Sphere":
            return Visual("sphere", (shape.size[0] * float(scale.mean()),), pose=shape.pose, color=color)
        if shape.kind == "Cone":
            self.notes.add("a cone is not shown", name)
            return None
        radius, length = shape.size[0] * float(scale[:2].mean()), shape.size[1] * float(scale[2])
        return Visual(shape.kind.lower(), (radius, length), pose=shape.pose, color=color)


def _color(prim: Usd.Prim) -> Color:
    """Grey for a mesh of several colours, or with pictures: these come with it."""
    color = mesh_color(prim) if prim.GetTypeName() == "Mesh" else paint(prim).color
    return GREY if color is None else (*color[:3], 1.0)


def _all_children() -> object:
    from pxr import Usd

    return Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
