"""Something to see of an armature: tapered capsules, each moving with its bone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import cos, pi, sin

import bmesh
import bpy
from bpy.types import Object
from mathutils import Vector

ROUND, CAP = 20, 6  # faces around, and from the rim of a cap to its pole

Point = tuple[float, float, float]
Colour = tuple[float, float, float, float]


@dataclass(frozen=True)
class Flesh:
    """A tapered capsule.

    Attributes:
        start, end: centres of its caps, in the armature's rest pose [m].
        radii: of its caps [m].
        stretch: how much wider (sideways) and deeper (front to back) than round it is.
        colour: red, green, blue, alpha.
    """

    start: Point
    end: Point
    radii: tuple[float, float]
    stretch: tuple[float, float]
    colour: Colour

    def mirrored(self) -> Flesh:
        """On the other side of the body."""
        (x, y, z), (u, v, w) = self.start, self.end
        return replace(self, start=(-x, y, z), end=(-u, v, w))


def dress(rig: Object, flesh: Mapping[str, tuple[Flesh, ...]]) -> Object:
    """Return a mesh of capsules below an armature, in its rest pose, that moves with its bones.

    The flesh is by bone, in the armature's coordinates.
    """
    shape = bmesh.new()
    groups = shape.verts.layers.deform.verify()
    colours = list(dict.fromkeys(part.colour for parts in flesh.values() for part in parts))
    for index, parts in enumerate(flesh.values()):
        for part in parts:
            _add_capsule(shape, part, colours.index(part.colour), groups, index)
    mesh = bpy.data.meshes.new(f"{rig.name} Body")
    shape.to_mesh(mesh)
    shape.free()
    for colour in colours:
        mesh.materials.append(material(colour))
    body = bpy.data.objects.new(mesh.name, mesh)
    for collection in rig.users_collection:
        collection.objects.link(body)
    for bone in flesh:
        body.vertex_groups.new(name=bone)
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    return body


def _add_capsule(
    shape: bmesh.types.BMesh, part: Flesh, material_index: int, groups: bmesh.types.BMLayerItem, group: int
) -> None:
    start, end = Vector(part.start), Vector(part.end)
    along = (end - start).normalized()
    # Sideways is the armature's x as far as the capsule's own direction lets it be.
    side = Vector((1, 0, 0)) if abs(along.x) < 0.9 else Vector((0, 0, 1))
    side = (side - side.dot(along) * along).normalized()
    deep = Vector(along.cross(side))  # type: ignore[arg-type]  # of two vectors in space, a vector
    rings = []
    for centre, radius, angles in (
        (start, part.radii[0], [-pi / 2 + pi / 2 * k / CAP for k in range(CAP + 1)]),
        (end, part.radii[1], [pi / 2 * k / CAP for k in range(CAP + 1)]),
    ):
        for angle in angles:
            middle, size = centre + radius * sin(angle) * along, max(radius * cos(angle), 1e-5)
            turns = [2 * pi * k / ROUND for k in range(ROUND)]
            rings.append(
                [middle + size * (part.stretch[0] * cos(t) * side + part.stretch[1] * sin(t) * deep) for t in turns]
            )
    verts = [[shape.verts.new(point) for point in ring] for ring in rings]
    for ring in verts:
        for vert in ring:
            vert[groups][group] = 1.0
    for low, high in itertools.pairwise(verts):
        for k in range(ROUND):
            face = shape.faces.new((low[k], low[(k + 1) % ROUND], high[(k + 1) % ROUND], high[k]))
            face.smooth, face.material_index = True, material_index


def material(colour: Colour, roughness: float = 0.55) -> bpy.types.Material:
    """Return a plain one of that colour, for every renderer."""
    made = bpy.data.materials.new("Flesh")
    made.diffuse_color = colour
    made.use_nodes = True
    surface = next(one for one in made.node_tree.nodes if one.type == "BSDF_PRINCIPLED")  # its name is translated
    surface.inputs["Base Color"].default_value = colour
    surface.inputs["Roughness"].default_value = roughness
    return made
