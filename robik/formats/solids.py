"""Mass, centre of mass and inertia of shapes of even density, and of several of them together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import pi
from typing import NamedTuple

import numpy as np

from ..errors import FormatError
from ..mechanism import Pose
from ..mechanism.pose import IDENTITY

SMALLEST = 1e-30  # m³ or m²: what has less of it has none


@dataclass(frozen=True)
class Solid:
    """A shape's properties per unit of density; a shell's density is per area.

    Attributes:
        volume: [m³]; of a shell, its area [m²].
        com: (3,) centre of mass in the shape's coordinates [m].
        inertia: (3, 3) about the centre of mass, along the shape's axes, of density 1.
    """

    volume: float
    com: np.ndarray
    inertia: np.ndarray


def _centred(volume: float, xx: float, yy: float, zz: float) -> Solid:
    """From the moments of inertia per unit of mass."""
    return Solid(volume, np.zeros(3), volume * np.diag([xx, yy, zz]))


def box(x: float, y: float, z: float) -> Solid:
    """Return a box of density 1 with edges x, y, z [m]."""
    return _centred(x * y * z, (y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12)


def ellipsoid(a: float, b: float, c: float) -> Solid:
    """Return an ellipsoid of density 1 with half axes a, b, c [m]; a sphere has three alike."""
    return _centred(4 / 3 * pi * a * b * c, (b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5)


def cylinder(radius: float, length: float) -> Solid:
    """Return a cylinder of density 1 along z [m]."""
    square = radius * radius  # not **, which raises where numbers overflow
    across = (3 * square + length * length) / 12
    return _centred(pi * square * length, across, across, square / 2)


def capsule(radius: float, length: float) -> Solid:
    """Return a capsule of density 1 along z [m]; its caps come on top of its length."""
    square = radius * radius
    middle, caps = pi * square * length, 4 / 3 * pi * square * radius
    across = middle * (3 * square + length * length) / 12 + caps * (
        2 / 5 * square + length * length / 4 + 3 / 8 * length * radius
    )
    along = middle * square / 2 + caps * 2 / 5 * square
    return Solid(middle + caps, np.zeros(3), np.diag([across, across, along]))


def cone(radius: float, length: float) -> Solid:
    """Return a cone of density 1 along z [m], its tip upwards, the origin half way up."""
    across, along = 3 / 80 * (4 * radius**2 + length**2), 3 / 10 * radius**2
    volume = pi * radius**2 * length / 3
    return Solid(volume, np.array([0.0, 0.0, -length / 4]), volume * np.diag([across, across, along]))


def box_shell(x: float, y: float, z: float) -> Solid:
    """Return the faces of a box with edges x, y, z [m], as a surface of density 1."""

    def second_moment(a: float, b: float, c: float) -> float:
        """Of the area, along a: two faces across it, four along it."""
        return b * c * a * a / 2 + (b + c) * a * a * a / 6

    along = second_moment(x, y, z), second_moment(y, z, x), second_moment(z, x, y)
    return Solid(2 * (x * y + y * z + z * x), np.zeros(3), np.diag(sum(along) - np.array(along)))


def cylinder_shell(radius: float, length: float) -> Solid:
    """Return the side and both ends of a cylinder along z [m], as a surface of density 1."""
    square = radius * radius
    side, ends = 2 * pi * radius * length, 2 * pi * square
    across = side * (square / 2 + length * length / 12) + ends * (square + length * length) / 4
    return Solid(side + ends, np.zeros(3), np.diag([across, across, (side + ends / 2) * square]))


def capsule_shell(radius: float, length: float) -> Solid:
    """Return the surface of a capsule along z [m], of density 1; its caps come on top of its length.

    Without a length it is a sphere's.
    """
    square = radius * radius
    side, caps = 2 * pi * radius * length, 4 * pi * square
    across = side * (square / 2 + length * length / 12) + caps * (
        2 / 3 * square + length * length / 4 + length * radius / 2
    )
    return Solid(side + caps, np.zeros(3), np.diag([across, across, (side + 2 / 3 * caps) * square]))


def mesh(vertices: np.ndarray, faces: np.ndarray, kind: str = "exact") -> Solid:
    """Return the solid of density 1 that triangles (f, 3) of vertices (v, 3) [m] enclose.

    Kinds: "exact": by signed pyramids, so the surface must be closed and face outwards; "legacy": all pyramids
    count as positive, which forgives both; "convex": the convex hull; "shell": the surface alone. Raise FormatError
    if nothing is enclosed.
    """
    if kind == "convex":
        vertices, faces = hull(vertices)
    corners = vertices[faces]
    if not len(corners):
        raise FormatError("it has no faces")
    doubled = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(doubled, axis=1) / 2
    if not SMALLEST < area.sum() < np.inf:
        raise FormatError("its faces have no area")
    middle = corners.mean(axis=1)
    about = area @ middle / area.sum()

    def weights(origin: np.ndarray) -> np.ndarray:
        """Volume of the pyramid over each face, or its area."""
        if kind == "shell":
            return area
        signed = np.einsum("ij,ij->i", corners[:, 0] - origin, doubled) / 6
        return np.abs(signed) if kind == "legacy" else signed

    volume = weights(about)
    total = float(volume.sum())
    if not SMALLEST < abs(total) < np.inf:
        raise FormatError("it encloses no volume")
    com = about if kind == "shell" else volume @ (0.75 * middle + 0.25 * about) / total
    volume = weights(com)
    at = corners - com
    summed = at.sum(axis=1)
    products = np.einsum("i,ija,ijb->ab", volume, at, at) + np.einsum("i,ia,ib->ab", volume, summed, summed)
    products /= 12 if kind == "shell" else 20
    sign = 1.0 if volume.sum() > 0 else -1.0  # faces that all look inwards
    return Solid(abs(float(volume.sum())), com, sign * (np.trace(products) * np.eye(3) - products))


def hull(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices (k, 3) and triangles (f, 3) of points' convex hull; its faces look outwards.

    Raise FormatError if the points lie in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError):
        raise FormatError("it is flat, so it has no convex hull") from None
    faces = hull.simplices.copy()
    corners = vertices[faces]
    inwards = (
        np.einsum(
            "ij,ij->i", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), hull.equations[:, :3]
        )
        < 0
    )
    faces[inwards] = faces[inwards][:, ::-1]
    return vertices, faces


def turned(inertia: np.ndarray, pose: Pose) -> np.ndarray:
    """Return an inertia (3, 3) [kg m²], given along a pose's axes, along the outer axes.

    It stays the same to the last bit where the pose does not turn.
    """
    return inertia if pose.quaternion == IDENTITY.quaternion else pose.matrix @ inertia @ pose.matrix.T


class MassProperties(NamedTuple):
    """Mass of a body and its distribution."""

    mass: float  # [kg]
    com: np.ndarray  # (3,) centre of mass [m]
    inertia: np.ndarray  # (3, 3) about the centre of mass [kg m²]


def together(parts: Iterable[tuple[Solid, float, Pose]]) -> MassProperties:
    """Return mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m²] of several solids.

    `parts` are solid, density [kg/m³] and pose of each. All is zero where there is no mass.
    """
    placed = [(solid.volume * density, pose.point(solid.com), turned(density * solid.inertia, pose))
              for solid, density, pose in parts]  # fmt: skip
    mass = sum(m for m, _, _ in placed)
    if mass <= 0:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    com = sum((m * at for m, at, _ in placed), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for m, at, own in placed:
        d = at - com
        inertia += own + m * (d @ d * np.eye(3) - np.outer(d, d))
    return MassProperties(float(mass), com, inertia)
