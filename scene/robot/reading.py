"""Blender → Mechanism: what the objects below a robot's root say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object, PropertyGroup

from ...robik.errors import RobikError
from ...robik.mechanism import JOINT_TYPES, WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose, Resistance, Visual
from ...robik.mechanism.visual import SHAPES
from . import exact
from .parts import local_pose, motions_of, parts, unit


def read_robot(root: Object) -> Mechanism:
    """Return the robot below a root, as exact as it was built wherever nobody edited it."""
    found = parts(root)
    return _read(root, found, found["VISUAL"])


_moving: dict[
    int, tuple[list[object], Mechanism]
] = {}  # by the root's session_uid: what its parts said, and how that was read


class Moving(NamedTuple):
    """A robot without what is to be seen of it, and the objects of its bodies, in the same order."""

    mechanism: Mechanism
    bodies: list[Object]


def read_moving(root: Object) -> Moving:
    """Return all that a robot's motion needs. As long as its parts say the same, it is the same mechanism."""
    found = parts(root, ("BODY", "JOINT", "FRAME"))
    said, known = _said(root, found), _moving.get(root.session_uid)
    if known is None or known[0] != said:
        known = _moving[root.session_uid] = (said, _read(root, found, []))
    return Moving(known[1], found["BODY"])


def read_moving_parts(root: Object) -> Mechanism:
    """Return the mechanism that `read_moving` finds."""
    return read_moving(root).mechanism


def forget() -> None:
    """Of another file nothing is known."""
    _moving.clear()


def _said(root: Object, found: dict[str, list[Object]]) -> list[object]:
    """Return all that can be edited of a robot's moving parts, in a tenth of the time that making sense of it takes."""
    robot = root.robik.robot
    said: list[object] = [root.robik.label, robot.tolerance, robot.rounding, *map(_values, robot.couplings)]
    said += [(o.session_uid, o.robik.label, *_values(o.robik.body)) for o in found["BODY"]]
    for part in (*found["JOINT"], *found["FRAME"]):
        above = part.parent.session_uid if part.parent else 0
        placed = part.matrix_parent_inverse @ part.matrix_basis
        sole = exact.kept(part, "sole") if part.robik.is_foot else None
        said.append((part.session_uid, part.robik.label, above, placed, sole, *_values(part.robik.joint)))
    return said


def _values(group: PropertyGroup) -> tuple[object, ...]:
    """Return all properties of a group, objects by what they are called in this session."""
    kind: Any = type(group)  # which the stubs take for unhashable
    plain, rows, pointers = _fields(kind)
    told: list[object] = [*plain(group)]
    told += [getattr(group, name)[:] for name in rows]
    told += [None if (to := getattr(group, name)) is None else to.session_uid for name in pointers]
    return tuple(told)


@cache
def _fields(kind: type[PropertyGroup]) -> tuple[Callable, list[str], list[str]]:
    """Return a getter of a group's name, numbers, switches and texts; the names of its rows of numbers.

    Those of its pointers to objects.
    """
    stored = {name: declared for name, declared in kind.__annotations__.items() if "get" not in declared.keywords}
    kinds = {name: declared.function.__name__ for name, declared in stored.items()}
    rows = [name for name, made in kinds.items() if "Vector" in made]
    pointers = [name for name, made in kinds.items() if made == "PointerProperty"]
    return attrgetter("name", *(kinds.keys() - {*rows, *pointers})), rows, pointers


def _read(root: Object, found: dict[str, list[Object]], visuals: list[Object]) -> Mechanism:
    if not found["BODY"]:
        raise RobikError(
            f"robot {root.name!r} has no bodies here; append the robot's collection instead of its root, or import it"
            " again"
        )
    if len(found["BODY"]) > 1 and not found["JOINT"] and root.robik.robot.source:
        raise RobikError(
            f"robot {root.name!r} has no joints left; Blender's Duplicate leaves hidden ones behind: delete it and use"
            " Duplicate Robot"
        )
    by_body: dict[Object, list[Object]] = {body: [] for body in found["BODY"]}
    for visual in visuals:
        if visual.parent in by_body:
            by_body[visual.parent].append(visual)
    rest = {body: rest_pose(body) for body in by_body}
    return Mechanism(
        root.robik.label,
        tuple(_body(body, rest[body], shown) for body, shown in by_body.items()),
        tuple(_joint(joint, rest) for joint in found["JOINT"]),
        frames=tuple(_frame(frame, rest) for frame in found["FRAME"]),
        couplings=tuple(_coupling(coupling) for coupling in root.robik.robot.couplings),
        tolerance=exact.number(root, "tolerance", root.robik.robot.tolerance),
        rounding=exact.number(root, "rounding", root.robik.robot.rounding),
    )


def rest_pose(body: Object) -> Pose:
    """Return a body's rest pose in the robot's coordinates; raise RobikError if its rotation is invalid."""
    group = body.robik.body
    rotation = exact.row(body, "rest_rotation", group.rest_rotation)
    if not np.linalg.norm(rotation) > 0.5:
        raise RobikError(f"body {body.name!r}: its rest rotation must be a unit quaternion, not {rotation}")
    exactly = abs(np.linalg.norm(rotation) - 1.0) <= 4e-16
    return Pose(exact.row(body, "rest_location", group.rest_location), rotation if exactly else unit(rotation))  # type: ignore[arg-type]


def _body(body: Object, rest: Pose, visuals: list[Object]) -> Body:
    group = body.robik.body
    return Body(
        body.robik.label,
        exact.number(body, "mass", group.mass),
        com=exact.row(body, "com", group.com),  # type: ignore[arg-type]
        inertia=exact.row(body, "inertia", group.inertia),  # type: ignore[arg-type]
        pose=rest,
        visuals=tuple(_visual(visual) for visual in visuals),
    )


def _visual(visual: Object) -> Visual:
    group = visual.robik.visual
    return Visual(
        group.shape,
        exact.row(visual, "size", visual.scale[:] if group.shape == "mesh" else group.size[: SHAPES[group.shape]]),
        pose=exact.pose(visual, local_pose(visual)),
        color=exact.row(visual, "color", group.color),  # type: ignore[arg-type]
        file=group.file,
    )


def _joint(joint: Object, rest: dict[Object, Pose]) -> Joint:
    group = joint.robik.joint
    motions = motions_of(joint)
    n = len(motions)
    position, axis, axis2 = _anchor(joint, rest)
    lower, upper = exact.row(joint, "lower", group.lower[:n]), exact.row(joint, "upper", group.upper[:n])
    return Joint(
        joint.robik.label,
        group.type,
        WORLD if group.parent is None else _end(joint, group.parent, rest),
        _end(joint, group.child, rest),
        position=position,
        axis=axis,
        axis2=axis2,
        actuated=group.actuated,
        limits=tuple(zip(lower, upper, strict=True)),
        velocity_limit=exact.number(joint, "velocity_limit", group.velocity_limit),
        effort_limit=exact.number(joint, "effort_limit", group.effort_limit),
        gain=exact.number(joint, "gain", group.gain),
        rest=exact.row(joint, "rest", group.rest[:n]),
        cone=exact.number(joint, "cone", group.cone),
        turn_limit=exact.number(joint, "turn_limit", group.turn_limit),
        resistance=Resistance(
            **{f.name: exact.number(joint, f.name, getattr(group, f.name)) for f in fields(Resistance)}
        ),
        motions=motions if JOINT_TYPES[group.type].motions is None else (),
    )


def _anchor(joint: Object, rest: dict[Object, Pose]) -> tuple:
    """Position, axis and second axis in the world, in the rest pose."""
    pose = rest.get(joint.parent, Pose()) @ local_pose(joint)
    axes = pose.matrix
    position = exact.placement(joint, "position", pose.position)
    axis = exact.placement(joint, "axis", axes[:, 0])
    axis2 = exact.placement(joint, "axis2", axes[:, 1]) if joint.robik.joint.has_axis2 else None
    return position, axis, axis2


def _end(joint: Object, body: Object | None, rest: dict[Object, Pose]) -> str:
    if body is None:
        raise RobikError(f"joint {joint.name!r} moves no body; choose its child")
    if body not in rest:
        raise RobikError(
            f"joint {joint.name!r} ties {body.name!r}, no body of this robot any more; choose another or delete the"
            " joint"
        )
    return body.robik.label


def _frame(frame: Object, rest: dict[Object, Pose]) -> Frame:
    if frame.parent not in rest:
        raise RobikError(f"frame {frame.name!r} lies on no body of this robot; parent it to one or delete it")
    outline = exact.kept(frame, "sole") if frame.robik.is_foot else None
    sole = np.array(outline or (), dtype=float).reshape(-1, 3)
    return Frame(
        frame.robik.label,
        frame.parent.robik.label,
        exact.pose(frame, local_pose(frame)),
        tuple(map(tuple, sole.tolist())),
    )


def leading(coupling: PropertyGroup) -> dict[str, float]:
    """Return the slopes of a coupling's further leaders by name; raise RobikError for invalid pairs."""
    try:
        return {str(name): float(slope) for name, slope in json.loads(coupling.others or "[]")}
    except (TypeError, ValueError):
        raise RobikError(
            f'coupling {coupling.name!r}: its further leaders must be pairs, as [["name", 0.5]], not {coupling.others}'
        ) from None


def _coupling(coupling: PropertyGroup) -> Coupling:
    try:
        coefficients = tuple(float(c) for c in coupling.coefficients.replace(",", " ").split())
    except ValueError:
        raise RobikError(f"coupling {coupling.name!r}: its coefficients must be numbers with spaces between") from None
    return Coupling(coupling.name, coupling.follower, coupling.leader, coefficients, tuple(leading(coupling).items()))
