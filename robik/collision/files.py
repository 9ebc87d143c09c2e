"""Collision shapes as a robot's file tells them: geoms of MJCF, `<collision>` of URDF; else what is seen."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from .. import program
from ..extras import missing
from ..formats.imported import Notes
from ..formats.urdf.loops import read_beside
from ..formats.urdf.reader import from_xml
from ..formats.xml_file import read_xml
from ..mechanism import Mechanism, Pose
from .shapes import CollisionShape, hull_or_capsule, seen_shapes

LONGEST = 60.0  # s that reading a file may take


@dataclass(frozen=True, kw_only=True, eq=False)
class ToldCollisions:
    """Words of a robot's file on what collides.

    Attributes:
        shapes: of its bodies.
        apart: names of two bodies that may go into each other.
    """

    shapes: tuple[CollisionShape, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()


def told_collisions(mechanism: Mechanism, robot_file: str | Path | None = None) -> ToldCollisions:
    """Return what a robot's file tells of collisions; where it tells no shape, the shapes of what is seen.

    The file also names the meshes; it is None for a robot that comes from no file. There are no shapes for a robot
    of which nothing is seen either. Raise MissingExtraError without MuJoCo, which reads MJCF.
    """
    told = ToldCollisions() if robot_file is None else of_file(mechanism, robot_file)
    return told if told.shapes else ToldCollisions(shapes=seen_shapes(mechanism, robot_file))


def of_file(mechanism: Mechanism, robot_file: str | Path) -> ToldCollisions:
    """Return what a robot's file itself tells of collisions; nothing for a format that tells none.

    Raise FormatError where the file cannot be read, MissingExtraError without MuJoCo, which reads MJCF.
    """
    file = Path(robot_file)
    root = read_xml(file) if file.suffix.lower() in (".xml", ".mjcf", ".urdf") else None
    if root is not None and root.tag == "mujoco":
        return _of_mjcf(mechanism, file)
    if root is not None and root.tag == "robot":
        return ToldCollisions(shapes=_of_urdf(mechanism, root, file))
    return ToldCollisions()


def _of_urdf(mechanism: Mechanism, root: Element, file: Path) -> tuple[CollisionShape, ...]:
    """Return the shapes of a robot of which only what collides is seen."""
    for link in root.findall("link"):
        for element in link.findall("visual"):
            link.remove(element)
        for element in link.findall("collision"):
            element.tag = "visual"
    collides = from_xml(root, file, (), read_beside(file), Notes()).mechanism
    return tuple(shape for shape in seen_shapes(collides, file) if shape.body in mechanism.body_index)


def _of_mjcf(mechanism: Mechanism, file: Path) -> ToldCollisions:
    """Return the geoms that can touch others, as MuJoCo reads them; none where it cannot read the file."""
    if find_spec("mujoco") is None:
        raise missing("physics")
    try:
        read = subprocess.run(
            program.command("collision", str(file)), env=program.environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=LONGEST,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return ToldCollisions()
    if read.returncode != 0:  # RobIK reads more than MuJoCo does, such as files whose meshes are not there
        return ToldCollisions()
    told, known = json.loads(read.stdout), mechanism.body_index
    shapes = (_shape(geom) for geom in told["geoms"] if geom["body"] in known)
    return ToldCollisions(
        shapes=tuple(shape for shape in shapes if shape is not None),
        apart=tuple((a, b) for a, b in told["apart"] if a in known and b in known),
    )


def _shape(geom: Mapping[str, Any]) -> CollisionShape | None:
    """Return the shape of a geom; None for a mesh without extent."""
    place = Pose(tuple(geom["position"]), tuple(geom["quaternion"]))
    if geom["kind"] == "mesh":
        return hull_or_capsule(geom["body"], np.array(geom["points"]), place)
    return CollisionShape(body=geom["body"], kind=geom["kind"], size=tuple(geom["size"]), pose=place)
