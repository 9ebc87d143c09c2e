"""Feet of a robot whose file tells of none: soles on the shapes of the bodies that follow a character's feet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..feet.sole_turns import ground_height
from ..mechanism import WORLD, Frame, Mechanism, Pose
from ..mechanism.base import raised
from ..mechanism.kept import kept_with_robot
from .anatomy import FRONT_LEG, LEG
from .mapping import Row, standing_row
from .names import part_of
from .robot import robot_anatomy
from .soles import find_sole

FEET = ("foot", "front foot")
ROUNDED = 1e-6  # of the robot's size: ground that is nearer to height 0 is there


@dataclass(frozen=True, kw_only=True, eq=False)
class Shape:
    """A part of a body's surface.

    Attributes:
        points: (N, 3) in the shape's own coordinates, before it is scaled.
        size: (3,) by which it is scaled.
        pose: in the body's frame.
    """

    points: np.ndarray
    size: tuple[float, float, float]
    pose: Pose


Shapes = Callable[[str], Sequence[Shape]]  # of a body, by its name; none where it has no mesh


def sole_of(shapes: Iterable[tuple[Pose, Shape]], body: Pose) -> np.ndarray | None:
    """Return the outline (K, 3) on which a foot stands, in its body's coordinates [m]; None where nothing is flat.

    `shapes` are of the body and of all that is fixed to it, each with the pose of its body; all poses are level. What
    is fixed to the body counts only where it reaches further down, as cleats and pads do.
    """
    own: list[np.ndarray] = [np.zeros((0, 3))]
    fixed: list[np.ndarray] = []
    for placed, shape in shapes:
        points = (shape.points * np.array(shape.size)) @ shape.pose.matrix.T + np.array(shape.pose.position)
        points = points @ placed.matrix.T + (np.array(placed.position) - np.array(body.position))
        (own if placed == body else fixed).append(points)
    alone, together = np.concatenate(own), np.concatenate([*own, *fixed])
    is_lower = together[:, 2].min(initial=np.inf) < alone[:, 2].min(initial=np.inf)
    sole = find_sole(together if is_lower else alone)
    return None if sole is None else sole @ body.matrix


def shown_by(mechanism: Mechanism, foot: str, is_shown: Callable[[str], bool]) -> list[str]:
    """Return the bodies with a mesh that show a foot's shape: its own body, and those that are fixed to it."""
    rigid = robot_anatomy(mechanism).rigid
    return [b.name for b in mechanism.bodies if rigid.get(b.name) == rigid.get(foot) and is_shown(b.name)]


def sides_of(soles: Mapping[str, np.ndarray], bodies: Mapping[str, Pose]) -> dict[str, str]:
    """Return the side of each foot, "l" or "r": as names say, else of two feet by where their soles lead.

    Outlines (K, 3) are by body, in its coordinates [m]; the bodies' poses are level.
    """
    said = {body: part_of(body)[1] for body in soles}
    if len(soles) != 2 or any(said.values()):
        return said
    origins = np.array([bodies[body].position for body in soles])
    forward = sum(bodies[body].matrix @ sole.mean(axis=0) for body, sole in soles.items())
    across = np.cross([0.0, 0.0, 1.0], forward)
    right, left = np.argsort(origins @ across)
    return {body: {left: "l", right: "r"}[k] for k, body in enumerate(soles)}


def foot_name(body: str, side: str, taken: set[str]) -> str:
    """Return a foot's name that is not taken: foot_l or foot_r, which Auto-Map knows, where the side is known."""
    name = f"foot_{side}" if side else f"{body}_foot"
    return next(n for k in range(1, len(taken) + 2) if (n := name if k == 1 else f"{name}_{k}") not in taken)


def on_feet(mechanism: Mechanism, rows: Sequence[Row], shapes: Shapes) -> tuple[Mechanism, list[Row]]:
    """Return robot and rows with feet for all that follows a foot, if the robot's file names none.

    A robot of which nothing shows a sole gets no feet, but is let go, too, if its hips follow as well. Robot and rows
    come back as they are where nothing is to be done.
    """
    feet = [row for row in rows if row.part in FEET and row.bone]
    stands = with_soles(mechanism, dict.fromkeys(mechanism.frame(row.frame).body for row in feet), shapes)
    if stands is mechanism:
        walks = feet and any(row.part == "hips" and row.bone for row in rows)
        known = any(frame.is_foot for frame in mechanism.frames)
        ends = tuple(mechanism.frame(row.frame).body for row in feet)
        return let_go(mechanism, ends) if walks and not known else mechanism, list(rows)
    named = {frame.body: frame.name for frame in stands.frames if frame.is_foot}
    labels = {row.frame: named[mechanism.frame(row.frame).body] for row in feet}
    return stands, [standing_row(stands, replace(row, frame=labels.get(row.frame, row.frame))) for row in rows]


def on_its_feet(mechanism: Mechanism, shapes: Shapes) -> Mechanism:
    """Return a robot, in its rest pose, with feet at the ends of its legs, if its file names none.

    Its legs are known by their names and their shape, so these are the feet that a recording's feet are mapped to.
    """
    return with_soles(mechanism, leg_ends(mechanism), shapes)


def leg_ends(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the bodies at the ends of a robot's legs; none where it lies in its rest pose."""
    legs = [limb for limb in robot_anatomy(mechanism).limbs if limb.kind in (LEG, FRONT_LEG)]
    ends = tuple(dict.fromkeys(mechanism.frame(limb.end).body for limb in legs if limb.end))
    return () if _lies(mechanism, ends) else ends


def with_soles(mechanism: Mechanism, feet: Iterable[str], shapes: Shapes) -> Mechanism:
    """Return a robot with a foot's frame on each of these bodies.

    A robot that a fixed joint held by another body is let go, and one that floats rests on the ground. The robot itself
    is returned where it has feet, a body has nothing flat below, or the rest pose lies.
    """
    feet = list(feet)
    if any(frame.is_foot for frame in mechanism.frames) or _lies(mechanism, feet):
        return mechanism
    bodies = {body.name: body.pose for body in mechanism.bodies}
    soles: dict[str, np.ndarray] = {}
    for foot in feet:
        parts = shown_by(mechanism, foot, lambda body: bool(shapes(body)))
        sole = sole_of([(bodies[part], shape) for part in parts for shape in shapes(part)], bodies[foot])
        if sole is None:
            return mechanism
        soles[foot] = sole
    if not soles:
        return mechanism
    sides, taken, made = sides_of(soles, bodies), {*bodies, *mechanism.frame_names}, []
    for body, sole in soles.items():
        name = foot_name(body, sides[body], taken)
        taken.add(name)
        made.append(Frame(name, body, Pose(), tuple(map(tuple, sole.tolist()))))
    return on_ground(let_go(_with_feet(mechanism, tuple(made)), tuple(soles)))


def _lies(mechanism: Mechanism, feet: Iterable[str]) -> bool:
    """Return whether a robot lies in its rest pose: its feet are beside its middle rather than below it."""
    poses = {body.name: body.pose.position for body in mechanism.bodies}
    masses = np.array([body.mass for body in mechanism.bodies])
    if not (stands_on := [poses[foot] for foot in feet]) or not masses.any():
        return False
    middle = masses @ np.array([body.rest_com for body in mechanism.bodies]) / masses.sum()
    away = np.mean(stands_on, axis=0) - middle
    return bool(-away[2] < np.hypot(*away[:2]))


@kept_with_robot
def _with_feet(mechanism: Mechanism, feet: tuple[Frame, ...]) -> Mechanism:
    """Return a robot with more frames: the same one for each clip that it follows."""
    return mechanism.with_changes(frames=(*mechanism.frames, *feet))


@kept_with_robot
def let_go(mechanism: Mechanism, feet: tuple[str, ...]) -> Mechanism:
    """Return a robot that stands on feet without the fixed joint that holds another body, as every URDF's root.

    Such a file does not say where the robot is: it stands on the ground at height 0 then, if it has soles. `feet` are
    bodies, which may stay held. The robot itself is returned where nothing is to be released.
    """
    held = [joint for joint in mechanism.joints if joint.parent == WORLD]
    if len(held) != 1 or held[0].type != "fixed" or held[0].child in feet:
        return mechanism
    freed = mechanism.with_changes(joints=tuple(joint for joint in mechanism.joints if joint is not held[0]))
    return raised(freed, -ground_height(freed))


@kept_with_robot
def on_ground(mechanism: Mechanism) -> Mechanism:
    """Return a robot that floats, resting on the ground at height 0, whatever its file has below its soles.

    So its motions stand on the floor of a physics engine's scene, too. The robot itself is returned where it rests
    there already, or is held.
    """
    ground = ground_height(mechanism)
    if mechanism.is_grounded or abs(ground) <= ROUNDED * mechanism.extent:
        return mechanism
    return raised(mechanism, -ground)


def missing_feet(mechanism: Mechanism, rows: Iterable[Row]) -> str:
    """Return a clause on why a robot has no feet that follow a character's; empty where it has."""
    rows = list(rows)
    if not any(row.part in FEET and row.bone for row in rows):
        return (
            f"no bone of the recording is mapped to a foot of robot {mechanism.name!r}, so it cannot be balanced and "
            "no foot pinned: map the feet (--mapping), or leave balance and pinned feet out"
        )
    if not any(frame.is_foot for frame in mechanism.frames):
        if _lies(mechanism, [mechanism.frame(row.frame).body for row in rows if row.part in FEET and row.bone]):
            return (
                f"robot {mechanism.name!r} lies in its rest pose, its feet beside its middle and not below it, so it"
                " was fitted lying: turn it upright in its file (z points up)"
            )
        return (
            f"neither the file of robot {mechanism.name!r} nor the meshes of its feet tell what it stands on: give the "
            "frames that it stands on a sole (in a .robik.json, or in Blender: Make Foot)"
        )
    return ""
