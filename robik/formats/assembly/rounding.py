"""Loops that the rounded numbers of a file keep from closing, or from moving: what is nearly so becomes exactly so.

Numbers of seven digits leave the hinges of a planar linkage out of parallel by some 1e-8 rad. By the letter it is open,
and locked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...mechanism import Pose
from ...mechanism.model import TOLERANCE
from ...mechanism.pose import frame_matrix
from .open_joint import OpenJoint, joint_motion, joint_values
from .open_robot import OpenRobot, Placed

PARALLEL = TOLERANCE  # rad: axes that differ by less are meant to be parallel
ONE_AXIS = ("revolute", "prismatic", "cylindrical", "planar")


def looped_axes(robot: OpenRobot, q: np.ndarray) -> tuple[dict[str, np.ndarray], float]:
    """Return the world axes (3,) by joint that joints in loops are meant to have, nearly parallel ones made equal.

    The second value is the largest correction of an axis [rad]. q (d,) is a closed pose.
    """
    if not robot.closers:
        return {}, 0.0
    now, closers = robot.placed(q), {joint.name for joint in robot.closers}
    looped = np.any(
        [robot.moves[robot.order[j.parent]] != robot.moves[robot.order[j.child]] for j in robot.closers], axis=0
    )
    known: np.ndarray = np.zeros((0, 3))
    axes: dict[str, np.ndarray] = {}
    most = 0.0
    for joint in robot.joints:
        if joint.type in ONE_AXIS and (joint.name in closers or looped[robot.at[joint.name]]):
            x = robot.joint_frames(joint, now)[0][:, 0]
            along = known @ x
            off = np.linalg.norm(x - along[:, None] * known, axis=1)
            alike = np.flatnonzero(off < PARALLEL * max(1.0, robot.size / joint.lever))
            if len(alike):
                axes[joint.name] = np.sign(along[alike[0]]) * known[alike[0]]
                most = max(most, float(off[alike[0]]))
            else:
                axes[joint.name], known = x, np.vstack([known, x])
    return axes, most


def straightened(robot: OpenRobot, q: np.ndarray, axes: dict[str, np.ndarray]) -> OpenRobot:
    """Return the robot with these world axes by joint and its loops closed exactly at q (d,); no body moves."""
    now, closers = robot.placed(q), {joint.name for joint in robot.closers}
    return replace(robot, joints=tuple(
        _fitted(robot, joint, now, axes.get(joint.name), None if joint.name in closers else q[robot.at[joint.name] :])
        if joint.name in axes or joint.name in closers else joint
        for joint in robot.joints
    ))  # fmt: skip


def _fitted(
    robot: OpenRobot, joint: OpenJoint, now: Placed, axis: np.ndarray | None, values: np.ndarray | None
) -> OpenJoint:
    """Return a joint with its halves on each other; values begin with those of a tree joint's coordinates."""
    a, b = robot.order[joint.parent], robot.order[joint.child]
    Ra, pa, Rb, pb = robot.joint_frames(joint, now)
    if values is None:
        values = np.array(joint_values(joint, Ra.T @ Rb, Ra.T @ (pb - pa)))
    if axis is not None:
        Ra = frame_matrix(axis, Ra[:, 1], f"joint {joint.name!r}")
    R, p, _, _ = joint_motion(joint, values[: len(joint.motions)])
    near = Pose.of(now.R[a].T @ Ra, now.R[a].T @ (pa - now.p[a]))
    far = Pose.of(now.R[b].T @ Ra @ R, now.R[b].T @ (pa + Ra @ p - now.p[b]))
    return replace(joint, near=near, far=far)
