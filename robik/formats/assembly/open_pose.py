"""Drawing of a robot whose loops could not be closed: where its bodies came, and which loops stay open."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2

import numpy as np

from ...mechanism import WORLD
from ...mechanism.joints import SLIDES
from ...mechanism.pose import matrix_quaternion
from .open_joint import OpenJoint
from .open_robot import OpenRobot, Placed

CLOSED = 1e-5  # of the robot's size, or rad: a gap that nobody sees


@dataclass(frozen=True)
class Gap:
    """A loop that stays open.

    Attributes:
        name: of the joint that would close it.
        here, there: (3,) where the joint is on its parent and on its child [m].
        length, angle: how far it is open [m, rad], the motions that the joint leaves free aside.
    """

    name: str
    here: np.ndarray
    there: np.ndarray
    length: float
    angle: float


@dataclass(frozen=True)
class OpenPose:
    """The best pose that was found.

    Attributes:
        bodies: (N, 2, 3) lines between the joints of each body [m].
        gaps: the loops that are open.
    """

    bodies: np.ndarray
    gaps: tuple[Gap, ...]


def open_pose(robot: OpenRobot, q: np.ndarray) -> OpenPose:
    """Return a robot at its tree's coordinates q (d,) as lines between each body's joints, with its loops' gaps."""
    now = robot.placed(q)
    ends: dict[str, list[np.ndarray]] = {}
    gaps = []
    closers = set(map(id, robot.closers))
    for joint in robot.joints:
        _, here, _, there = robot.joint_frames(joint, now)
        ends.setdefault(joint.parent, []).append(here)
        ends.setdefault(joint.child, []).append(there)
        if id(joint) in closers:
            gap = Gap(joint.name, here, there, *gap_of(robot, joint, now))
            if gap.length > CLOSED * robot.size or gap.angle > CLOSED:
                gaps.append(gap)
    lines = [(points[0], other) for body, points in ends.items() if body != WORLD for other in points[1:]]
    return OpenPose(np.array(lines).reshape(-1, 2, 3), tuple(gaps))


def gap_of(robot: OpenRobot, joint: OpenJoint, now: Placed) -> tuple[float, float]:
    """Return the gap of a closer as distance [m] and angle [rad], without the motions that it leaves free."""
    Ra, pa, Rb, pb = robot.joint_frames(joint, now)
    offset = [(Ra.T @ (pb - pa))[k] for k, name in enumerate(SLIDES) if name not in joint.motions]
    turns = joint.turns
    if len(turns) == 3:
        angle = 0.0
    elif len(turns) == 2:
        angle = abs(np.pi / 2 - np.arccos(np.clip(Ra[:, turns[0]] @ Rb[:, turns[1]], -1.0, 1.0)))
    elif len(turns) == 1:
        a, b = Ra[:, turns[0]], Rb[:, turns[0]]
        angle = atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))
    else:
        w, *xyz = matrix_quaternion(Ra.T @ Rb)
        angle = 2 * atan2(float(np.linalg.norm(xyz)), w)
    return float(np.linalg.norm(offset)), float(angle)
