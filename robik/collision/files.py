"""Collision shapes as a robot's file tells them: geoms of MJCF, `<collision>` of URDF; else what is seen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from ..extras import extra
from ..formats.imported import Notes
from ..formats.urdf.loops import read_beside
from ..formats.urdf.reader import from_xml
from ..formats.xml_file import read_xml
from ..mechanism import Mechanism, Pose
from .shapes import CollisionShape, hull_or_capsule, seen_shapes

WIDTHS = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3}  # numbers of a size


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

    Args:
        mechanism: The robot.
        robot_file: That it was read from, and that its meshes are named from; None for one that comes from no file.

    Returns:
        Shapes, body by body, and pairs; no shapes for a robot of which nothing is seen either.

    Raises:
        MissingExtraError: MuJoCo is not installed, which reads MJCF.
    """
    told = ToldCollisions()
    if robot_file is not None:
        file = Path(robot_file)
        root = read_xml(file) if file.suffix.lower() in (".xml", ".mjcf", ".urdf") else None
        if root is not None and root.tag == "mujoco":
            told = _of_mjcf(mechanism, file)
        elif root is not None and root.tag == "robot":
            told = ToldCollisions(shapes=_of_urdf(mechanism, root, file))
    return told if told.shapes else ToldCollisions(shapes=seen_shapes(mechanism, robot_file))


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
    with extra("physics"):
        import mujoco
    try:
        model = mujoco.MjModel.from_xml_path(str(file))
    except ValueError:  # RobIK reads more than MuJoCo does: meshes that are not there, for one
        return ToldCollisions()
    kinds = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}")): kind for kind in (*WIDTHS, "mesh")}
    names = [model.body(k).name for k in range(model.nbody)]
    found = []
    for geom in range(model.ngeom):
        body, kind = names[model.geom_bodyid[geom]], kinds.get(int(model.geom_type[geom]))
        touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
        if kind is None or not touches or body not in mechanism.body_index:
            continue
        place = Pose(tuple(model.geom_pos[geom].tolist()), tuple(model.geom_quat[geom].tolist()))
        if kind == "mesh":
            mesh = model.geom_dataid[geom]
            first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            shape = hull_or_capsule(body, model.mesh_vert[first : first + count], place)
        else:
            size = model.geom_size[geom, : WIDTHS[kind]].tolist()
            shape = CollisionShape(body=body, kind=kind, size=tuple(size), pose=place)
        if shape is not None:
            found.append(shape)
    signatures = [divmod(int(signature), 1 << 16) for signature in model.exclude_signature]
    apart = [(names[a], names[b]) for a, b in signatures]
    known = mechanism.body_index
    return ToldCollisions(shapes=tuple(found), apart=tuple((a, b) for a, b in apart if a in known and b in known))
