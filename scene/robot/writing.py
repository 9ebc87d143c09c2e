"""Bodies, joints and frames → the objects that stand for them, each number also as an exact double."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from bpy.types import Object
from mathutils import Vector

from ...robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from ...robik.mechanism.joints import MOTIONS
from . import exact
from .parts import parts, place


def write_body(made: Object, body: Body, size: float) -> None:
    """Write a body, in its rest pose; `size` of its axes [m]."""
    made.empty_display_type, made.empty_display_size = "PLAIN_AXES", size
    write_mass(made, body)
    _write_rest_pose(made, body.pose)
    place(made, body.pose)


def _write_rest_pose(made: Object, pose: Pose) -> None:
    group = made.robik.body
    group.rest_location, group.rest_rotation = pose.position, pose.quaternion
    exact.keep(made, rest_location=pose.position, rest_rotation=pose.quaternion)


def write_rest(root: Object, mechanism: Mechanism) -> None:
    """Write where a robot's bodies and joints rest, after all of it was moved; its pose moves along."""
    known = parts(root, ("BODY", "JOINT"))
    joints = {joint.name: joint for joint in mechanism.joints}
    for made in known["JOINT"]:
        joint = joints[made.robik.label]
        exact.keep(made, position=joint.position)
        if joint.parent == WORLD:
            made.location = joint.position
    poses = {body.name: body.pose for body in mechanism.bodies}
    for made in known["BODY"]:
        old, pose = Vector(made.robik.body.rest_location), poses[made.robik.label]
        _write_rest_pose(made, pose)
        made.location += Vector(pose.position) - old


def write_mass(made: Object, body: Body) -> None:
    """Write the mass of a body."""
    group = made.robik.body
    group.mass, group.com, group.inertia = body.mass, body.com, body.inertia
    exact.keep(made, mass=body.mass, com=body.com, inertia=body.inertia)


def write_joint(made: Object, joint: Joint, parent: Object | None, child: Object, parent_rest: Pose) -> None:
    """Write a joint below its parent's object, or below the root where the parent is the world.

    `parent_rest` is the parent's rest pose.
    """
    made.empty_display_type = "ARROWS"
    place(made, parent_rest.inverse() @ Pose.of(joint.matrix, joint.position))
    group = made.robik.joint
    group.type, group.actuated, group.has_axis2 = joint.type, joint.actuated, joint.axis2 is not None
    group.parent, group.child = (None if joint.parent == WORLD else parent), child
    group.motions = [m in joint.motions for m in MOTIONS]
    exact.keep(made, position=joint.position, axis=joint.axis, axis2=joint.axis2 or ())
    write_limits(made, joint)


def write_limits(made: Object, joint: Joint) -> None:
    """Write the limits of a joint's position and speed, and what it resists by."""
    group = made.robik.joint
    lower, upper = [lo for lo, _ in joint.limits], [hi for _, hi in joint.limits]
    for name, values in (("lower", lower), ("upper", upper), ("rest", joint.rest)):
        getattr(group, name)[: len(values)] = values
    single = {name: getattr(joint, name) for name in ("velocity_limit", "effort_limit", "gain", "cone", "turn_limit")}
    single |= asdict(joint.resistance)
    for name, value in single.items():
        setattr(group, name, value)
    exact.keep(made, lower=lower, upper=upper, rest=joint.rest, **single)


def write_frame(made: Object, frame: Frame) -> None:
    """Write a frame on its body."""
    made.empty_display_type, made.robik.is_foot = "ARROWS", frame.is_foot
    place(made, frame.pose)
    exact.keep(made, position=frame.pose.position, quaternion=frame.pose.quaternion, sole=np.ravel(frame.sole))
