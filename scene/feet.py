"""Feet by hand: most files of robots do not say what a robot stands on."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np
from bpy.types import Object

from robik.errors import RobikError
from robik.mechanism import Frame
from robik.retarget.names import part_of
from robik.retarget.soles import find_sole

from .body_mesh import triangles
from .parts import bodies, local_pose, parts
from .write_parts import write_frame


def make_feet(root: Object, found: Iterable[Object]) -> list[Object]:
    """The frames of bodies that the robot stands on, at the bodies' origins; a sole is what touches the ground as its body stands
    now, or its flat side below where that does not stand level.

    Targets that follow the body follow the foot from now on.

    Raises:
        RobikError: a body has nothing flat below; nothing is changed.
    """
    soles = {body: _sole(body) for body in found}
    return [_make_foot(root, body, sole) for body, sole in soles.items()]


def _make_foot(root: Object, body: Object, sole: np.ndarray) -> Object:
    known = parts(root)["FRAME"]
    made = next((frame for frame in known if frame.parent == body and frame.robik.is_foot), None)
    if made is None:
        label = _name(body.robik.label, {p.robik.label for p in (*bodies(root), *known)})
        made = bpy.data.objects.new(label, None)
        root.users_collection[0].objects.link(made)
        made.parent, made.empty_display_size = body, root.empty_display_size / 2
        own = made.robik
        own.kind, own.label, own.by_hand = "FRAME", label, True
        own.order = 1 + max((frame.robik.order for frame in known), default=-1)
    pose = local_pose(made)
    outline = tuple((x, y, z) for x, y, z in map(pose.inverse().point, sole.tolist()))
    write_frame(made, Frame(made.robik.label, body.robik.label, pose, outline))
    for target in root.robik.robot.character.targets:
        if target.frame == body.robik.label:
            target.frame = made.robik.label
    return made


def _sole(body: Object) -> np.ndarray:
    """The outline (K, 3) of what a body's meshes stand on, in the body's coordinates."""
    points = [np.zeros((0, 3))]
    for shown in (child for child in body.children if child.robik.kind == "VISUAL" and child.type == "MESH"):
        matrix = np.array(shown.matrix_world, dtype=float)
        points.append(triangles(shown)[0] @ matrix[:3, :3].T + matrix[:3, 3])
    sole = find_sole(np.concatenate(points))
    if sole is None:
        raise RobikError(
            f"body {body.robik.label!r} has nothing flat below that it could stand on; pose the robot as it stands, or choose its foot"
        )
    back = np.array(body.matrix_world.inverted_safe(), dtype=float)
    return sole @ back[:3, :3].T + back[:3, 3]


def _name(body: str, taken: set[str]) -> str:
    """A foot's name: foot_l and foot_r, which Auto-Map knows, where the body's name says the side."""
    said = part_of(body)
    name = f"foot_{said[1]}" if said is not None and said[1] else f"{body}_foot"
    return next(n for k in range(1, len(taken) + 2) if (n := name if k == 1 else f"{name}_{k}") not in taken)
