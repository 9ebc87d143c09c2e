"""Equations of joints.

Their frames, the elementary motions they are made of, and the rows that hold what a joint does not leave free.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from .joints import MOTIONS, SLIDES, TURNS
from .parts import Joint
from .pose import matrix_quaternion

SLIDE, HINGE, BALL = 0, 1, 2  # kinds of elementary motion
OFFSET, DOT = 0, 1  # kinds of closure row


class JointMatrices(NamedTuple):
    """A joint's frames in the rest pose, as if all coordinates were zero; world coordinates."""

    parent: np.ndarray  # (3, 3) axes of the parent side
    origin: np.ndarray  # (3,) of the parent side [m]
    child: np.ndarray  # (3, 3) axes of the child side


class ClosureRow(NamedTuple):
    """An equation of a joint."""

    kind: int  # OFFSET along u, or DOT of u and w
    u: np.ndarray  # (3,) on the parent side
    w: np.ndarray  # (3,) on the child side


def joint_matrices(joint: Joint) -> JointMatrices:
    """Return a joint's frames in the world in the rest pose, both as if all coordinates were zero.

    They are the parent side's axes (3, 3) and origin (3,) [m], and the child side's axes (3, 3).
    """
    child = joint.matrix
    parent = child @ turn_matrix(joint, joint.rest).T
    values = dict(zip(joint.motions, joint.rest, strict=True))
    origin = np.array(joint.position) - parent @ [values.get(name, 0.0) for name in SLIDES]
    return JointMatrices(parent, origin, child)


def turn_matrix(joint: Joint, values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) of a joint's child side against its parent side at a value per motion."""
    turns = dict(zip(joint.motions, values, strict=True))
    if joint.is_ball:
        return rotation_vector_matrix(np.array([turns["rx"], turns["ry"], turns["rz"]]))
    matrix = np.eye(3)
    for k, name in enumerate(TURNS):
        if name in turns:
            matrix = matrix @ rotation_vector_matrix(turns[name] * np.eye(3)[k])
    return matrix


def rotation_vector_matrix(v: np.ndarray) -> np.ndarray:
    """Return the rotation matrix (3, 3) of a rotation vector (3,) [rad]."""
    angle = float(np.linalg.norm(v))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = v / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


class ElementaryMotion(NamedTuple):
    """An elementary motion of a tree joint, as the tree runs through it."""

    name: str  # of the coordinate
    kind: int  # HINGE, SLIDE or BALL
    axis: int  # 0, 1 or 2 of the joint frame
    sign: int  # -1 where the tree runs against the joint
    rest: list[float]  # value in the rest pose [rad or m]; three of a ball
    lower: float  # limit [rad or m]
    upper: float  # limit [rad or m]


def chain(joint: Joint, flipped: bool) -> list[ElementaryMotion]:
    """Return the joint's elementary motions, a ball as one, from the tree's parent to the tree's child.

    They are backwards and negated where the tree runs from the joint's child to its parent (`flipped`).
    """
    sign = -1 if flipped else 1
    motions, turns = [], []
    for motion, name, value, (lower, upper) in zip(
        joint.motions, joint.coordinate_names, joint.rest, joint.limits, strict=True
    ):
        if joint.is_ball and motion not in SLIDES:
            turns.append(sign * value)
            continue
        kind = SLIDE if motion in SLIDES else HINGE
        bounds = (lower, upper) if sign > 0 else (-upper, -lower)
        motions.append(ElementaryMotion(name, kind, MOTIONS.index(motion) % 3, sign, [sign * value], *bounds))
    if joint.is_ball:
        rest = matrix_quaternion(rotation_vector_matrix(np.array(turns))).tolist()
        motions.append(ElementaryMotion(joint.name, BALL, 0, sign, rest, -inf, inf))
    return motions[::-1] if flipped else motions


def closure_rows(joint: Joint, parent_R: np.ndarray, child_R: np.ndarray) -> list[ClosureRow]:
    """Return the minimal number of rows that hold what the joint does not leave free (paper, III-B).

    A row is an OFFSET along u (3,), or a DOT of u and w (3,), from the axes (3, 3) of both sides.
    """
    rows = [
        ClosureRow(OFFSET, parent_R[:, k], np.zeros(3)) for k, name in enumerate(SLIDES) if name not in joint.motions
    ]
    turns = [k for k, name in enumerate(TURNS) if name in joint.motions]
    if len(turns) == 0:
        pairs = [(0, 1), (1, 2), (2, 0)]
    elif len(turns) == 1:
        pairs = [(turns[0], k) for k in range(3) if k != turns[0]]
    elif len(turns) == 2:
        pairs = [(turns[0], turns[1])]
    else:
        pairs = []
    return rows + [ClosureRow(DOT, parent_R[:, i], child_R[:, j]) for i, j in pairs]


def faced_axes(joint: Joint, parent_R: np.ndarray, child_R: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the axes u (3,), w (3,) of a joint's two sides whose dot products are 1 where it is assembled.

    The closure rows alone do not say so: those of a hinge are zero, too, where its axis points backwards, and those
    of a joint without rotations also after half a turn about an axis or a third of a turn about the diagonal.
    """
    turns = [k for k, name in enumerate(TURNS) if name in joint.motions]
    kept = range(3) if not turns else turns if len(turns) == 1 else ()
    return [(parent_R[:, k], child_R[:, k]) for k in kept]
