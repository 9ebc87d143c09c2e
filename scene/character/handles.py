"""Handles: empties at the frames that an animator takes hold of, which the robot follows."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.types import Context, Object
from mathutils import Matrix, Quaternion, Vector

from ...robik.errors import RobikError
from ...robik.gallery import known_at
from ...robik.mechanism import Mechanism, Pose
from ...robik.mechanism.joints import SLIDES
from ...robik.skeleton.handles import Handle, robot_handles
from ..robot.library import add_row
from ..robot.parts import bodies, local_pose
from .fit import match_now
from .settings import AXES, LOOK_AT, RELATIVE_TO

SIZE = 0.06  # of the robot's extent
RING, BASE_RING = 0.7, 4.0  # sizes of rings against that of other handles; what carries others is wide
TURNED = 0.1  # weight of handles of single motors, which turn alone what they turn
STIFF = 1e-3  # weight of what comes second where motors cannot do both: a head turns first, all else is placed first
AHEAD = 2.0  # of the robot's extent: so far before the head is what it looks at


def add_handles(context: Context, root: Object, mechanism: Mechanism, looks: bool = False) -> list[Object]:
    """Add a handle where each of the robot's handle frames is now, let the frames follow them, and return them.

    With `looks` its head looks at a handle before it, in place of turning with its own. Raise RobikError, with
    nothing changed, if the robot follows something already, or has no handle frames.
    """
    character = root.robik.robot.character
    if followed := next((target.frame for target in character.targets if target.enabled), ""):
        raise RobikError(
            f"robot {root.name!r} follows a character already, with its frame {followed!r}: remove its targets, or"
            " switch them off, to move it by handles"
        )
    known = known_at(Path(bpy.path.abspath(root.robik.robot.source)))
    wanted = robot_handles(mechanism, known[0].turned if known else ())
    if not wanted:
        raise RobikError(f"robot {root.name!r} has nothing to take hold of: no motor moves any of its bodies")
    character.rig, character.scale, character.stride = None, 1.0, 1.0
    character.yaw, character.left_out, character.location = 0.0, 0, (0.0, 0.0, 0.0)
    folder = bpy.data.collections.new(f"{root.name} handles")
    context.scene.collection.children.link(folder)
    first = next((one for one in wanted if one.joint is None), None)
    made: dict[str, Object] = {}
    leads: dict[str, str] = {}  # of each handle the frame on the way to its root whose pose is asked for
    for one in wanted:
        made[one.frame] = handle = _handle(root, mechanism, one, is_first=one is first)
        folder.objects.link(handle)
        if one.carrier:
            _carry(handle, made[one.carrier], one.joint is not None)
        leads[one.frame] = leads[one.carrier] if one.carrier and one.joint else one.frame
        _follow(root, handle, one, leads[one.frame], looks)
    handles = list(made.values())
    for head in (one.frame for one in wanted if one.is_head and looks):
        handles.append(_look_at(root, mechanism, head))
        folder.objects.link(handles[-1])
    context.view_layer.update()
    match_now(context, root, mechanism)
    character.active = 0
    return handles


def _follow(root: Object, handle: Object, wanted: Handle, lead: str, looks: bool) -> None:
    """Add the row by which a frame follows its handle, seen from another frame where that leads it."""
    row = add_row(root.robik.robot.character.targets)
    row.source, row.frame = handle, wanted.frame
    none, turned = (0.0,) * 3, (TURNED,) * 3
    if wanted.joint is not None:
        if lead != wanted.frame:  # wherever that one is, also where it cannot follow
            row.follows, row.other, turned = RELATIVE_TO, lead, (1.0,) * 3
        slides = wanted.joint.motions[0] in SLIDES
        row.position_weight, row.orientation_weight = (turned, none) if slides else (none, turned)
    if not wanted.turns and wanted.is_head:
        row.position_weight = (STIFF,) * 3
    elif not wanted.turns:
        row.orientation_weight = (STIFF,) * 3
    if looks and wanted.is_head:
        row.orientation_weight = none


def _handle(root: Object, mechanism: Mechanism, wanted: Handle, is_first: bool) -> Object:
    """Return a handle where its frame is now; one of a single motor on the joint's axis, its Y along it."""
    frame = mechanism.frame(wanted.frame)
    now = local_pose(bodies(root)[mechanism.body_index[frame.body]])
    pose, size = now @ frame.pose, SIZE * mechanism.extent
    called = wanted.joint.name if wanted.joint else wanted.frame  # first, as narrow lists show the begin of a name
    handle = bpy.data.objects.new(f"{called} of {root.name}", None)
    handle.empty_display_type = "CUBE" if is_first else "SPHERE"
    handle.rotation_mode = "QUATERNION"
    if wanted.joint is not None:
        at_rest = mechanism.bodies[mechanism.body_index[frame.body]].pose.inverse()
        axis = Vector(tuple(at_rest.matrix @ wanted.joint.axis))
        pose = now @ Pose(tuple(at_rest.point(wanted.joint.position)), tuple(axis.to_track_quat("Y", "Z")))
        handle.empty_display_type, size = "CIRCLE", size * (RING if wanted.carrier else BASE_RING)
        handle.rotation_mode = "YXZ"  # Y first: about its own axis, however it lies
        slides = wanted.joint.motions[0] in SLIDES
        handle.lock_location, handle.lock_rotation = (True, not slides, True), (True, slides, True)
    handle.empty_display_size = size
    handle.show_in_front, handle.show_name = True, False
    handle.matrix_world = root.matrix_world @ Matrix.LocRotScale(
        Vector(pose.position), Quaternion(pose.quaternion), None
    )
    return handle


def _look_at(root: Object, mechanism: Mechanism, head: str) -> Object:
    """Return a handle before the head, at which its axis points that points forward at rest; adds the row."""
    frame = mechanism.frame(head)
    body = mechanism.body_index[frame.body]
    at_rest = (mechanism.bodies[body].pose @ frame.pose).matrix
    here = local_pose(bodies(root)[body]) @ frame.pose
    row = add_row(root.robik.robot.character.targets)
    row.follows, row.frame = LOOK_AT, head
    row.axis = max(AXES, key=lambda name: float((at_rest @ AXES[name])[0]))
    ahead = here.point(AHEAD * mechanism.extent * x for x in AXES[row.axis])
    row.source = handle = bpy.data.objects.new(f"look of {root.name}", None)
    handle.empty_display_type, handle.empty_display_size = "PLAIN_AXES", SIZE * mechanism.extent
    handle.show_in_front = True
    handle.location = root.matrix_world @ Vector(tuple(ahead))
    return handle


def _carry(handle: Object, carrier: Object, turns: bool) -> None:
    """Let a handle go along with another one; one that only turns is at zero where it is now."""
    handle.parent, handle.matrix_parent_inverse = carrier, _world(carrier).inverted()
    if turns:
        handle.matrix_parent_inverse @= handle.matrix_basis
        handle.matrix_basis = Matrix()


def _world(handle: Object) -> Matrix:
    """Return where a handle is, from its own settings, so never out of date."""
    here = handle.matrix_parent_inverse @ handle.matrix_basis
    return here if handle.parent is None else _world(handle.parent) @ here
