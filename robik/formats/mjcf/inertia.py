"""Masses and inertias as MuJoCo's compiler settles them."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from ...mechanism import Body
from ..solids import MassProperties, turned
from ..xml_file import number, numbers
from .file import MjcfFile, Placed, vector
from .geoms import Geom, Geoms


def mass_of(
    file: MjcfFile,
    inertial: Placed | None,
    geoms: list[Geom],
    shapes: Geoms,
    compiler: Element,
    where: str,
) -> MassProperties:
    """Return a body's mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m²], as the compiler does.

    `inertial` is the body's own statement, None where it has none.
    """
    source = compiler.get("inertiafromgeom", "auto")
    if source == "true" or (source == "auto" and inertial is None):
        mass, com, inertia = shapes.mass(geoms, where)
    elif inertial is None:
        mass, com, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
    else:
        mass, com, inertia = _stated(file, inertial, where)
    least_mass, least = (number(compiler, key, "its compiler", 0.0) for key in ("boundmass", "boundinertia"))
    if least > 0 or file.is_true("balanceinertia", "false"):
        moments, axes = np.linalg.eigh(inertia) if np.isfinite(inertia).all() else (np.zeros(3), np.eye(3))
        moments = np.maximum(moments, least)
        if file.is_true("balanceinertia", "false") and 2 * moments.max() > moments.sum():
            moments = np.full(3, moments.mean())
        inertia = axes * moments @ axes.T
    return MassProperties(max(mass, least_mass), com, inertia)


def _stated(file: MjcfFile, inertial: Placed, where: str) -> MassProperties:
    """Return what an <inertial> states: mass, centre of mass (3,), inertia about it (3, 3)."""
    where, element = f"{where}: its inertial", inertial.element
    pose = file.pose(element.attrib, where)
    mass = number(element, "mass", where)
    if "fullinertia" in element.attrib:
        xx, yy, zz, xy, xz, yz = numbers(element.get("fullinertia"), 6, f"{where}'s fullinertia")
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        inertia = np.diag(vector(element.attrib, "diaginertia", "0 0 0", where))
    return MassProperties(
        mass, np.array(inertial.pose.point(pose.position)), turned(turned(inertia, pose), inertial.pose)
    )


def scaled(bodies: list[Body], compiler: Element) -> list[Body]:
    """Return the bodies, scaled to the total mass that the compiler's settings ask for."""
    total = number(compiler, "settotalmass", "its compiler", -1.0)
    mass = sum(body.mass for body in bodies)
    if total <= 0 or mass <= 0:
        return bodies
    factor = total / mass
    return [Body.of(body.name, factor * body.mass, body.com, factor * body.inertia_matrix) for body in bodies]
