"""A joint as files store it: by its frames on its two bodies, with its coordinates' values in the stored pose."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from math import atan2
from typing import NamedTuple

import numpy as np

from ...errors import MechanismError
from ...mechanism import JOINT_TYPES, Pose, Resistance
from ...mechanism.constraints import rotation_vector_matrix
from ...mechanism.joints import SLIDES, TURNS
from ...mechanism.pose import IDENTITY, matrix_quaternion
from ...mechanism.resistance import FREE


@dataclass(frozen=True)
class OpenJoint:
    """A joint by its two frames; the other fields are those of `Joint`.

    Attributes:
        near: the joint frame in the parent's own frame, at zero; the parent may be `WORLD`.
        far: the joint frame in the child's own frame.
        stored: the coordinates' values in the stored pose [rad or m]; empty for zeros.
        limits: bounds per motion [rad or m]; empty for none.
        free: the motions of a joint of type "general", in the order of `MOTIONS`; empty for the other types, which have
            their own.
        is_passive: it gets no motor where the file names none at all; None where its type decides that.
        cone, turn_limit: of a ball [rad].
        lever: distance of the points that its axis was read off [m]; its turns are as rounded as these points over it.
    """

    name: str
    type: str
    parent: str
    child: str
    _: KW_ONLY
    near: Pose = IDENTITY
    far: Pose = IDENTITY
    actuated: bool = False
    limits: tuple[tuple[float, float], ...] = ()
    velocity_limit: float = np.inf
    effort_limit: float = np.inf
    gain: float = np.inf
    stored: tuple[float, ...] = ()
    free: tuple[str, ...] = ()
    is_passive: bool | None = None
    lever: float = np.inf
    cone: float = np.inf
    turn_limit: float = np.inf
    resistance: Resistance = FREE

    @property
    def motions(self) -> tuple[str, ...]:
        """The free motions."""
        row = JOINT_TYPES[self.type].motions
        return self.free if row is None else row

    @property
    def turns(self) -> list[int]:
        """Axes (0 to 2) that it turns about."""
        return [k for k, name in enumerate(TURNS) if name in self.motions]

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """As `Joint.coordinate_names`."""
        return (self.name,) if len(self.motions) == 1 else tuple(f"{self.name}.{m}" for m in self.motions)


def joint_values(joint: OpenJoint, R: np.ndarray, p: np.ndarray) -> tuple[float, ...]:
    """Return a joint's coordinates [rad or m] for a pose R (3, 3), p (3,) [m] of its child's frame in its parent's."""
    turns = joint.turns
    angles: dict[str, float] = {}
    if len(turns) == 3:
        w, *xyz = matrix_quaternion(R)
        length = float(np.linalg.norm(xyz))
        scale = 2.0 if length < 1e-12 else 2.0 * atan2(length, w) / length
        angles = {name: scale * float(v) for name, v in zip(TURNS, xyz, strict=True)}
    elif turns:
        # R = R_i(a) R_j(b): column j shows a alone, row i shows b alone; of a single turn, any other column does.
        i, j = turns[0], turns[-1] if len(turns) == 2 else (turns[0] + 1) % 3
        k, sign = 3 - i - j, 1.0 if j == (i + 1) % 3 else -1.0
        angles[TURNS[i]] = atan2(sign * R[k, j], R[j, j])
        if len(turns) == 2:
            angles[TURNS[j]] = atan2(sign * R[i, k], R[i, i])
    slides = dict(zip(SLIDES, p.tolist(), strict=True))
    return tuple({**slides, **angles}[name] for name in joint.motions)


def turned_round(joint: OpenJoint) -> OpenJoint:
    """Return the joint with parent and child exchanged; equal poses keep equal coordinates where possible.

    Raise MechanismError for a type that depends on which body is the parent.
    """
    kind, near, far, limits = joint.type, joint.far, joint.near, joint.limits
    if kind in ("revolute", "prismatic", "cylindrical"):  # axes the other way, so that the coordinates stay
        turn = np.diag([-1.0, 1.0, -1.0])
    elif kind == "universal":
        turn, limits = np.array([[0.0, -1, 0], [-1, 0, 0], [0, 0, -1]]), limits[::-1]
    elif kind in ("fixed", "spherical", "free", "cartesian"):
        turn, limits = np.eye(3), tuple((-high, -low) for low, high in limits)
    else:
        raise MechanismError(
            f"joint {joint.name!r} has the world as its child; exchange its parent and child in the file"
        )
    return replace(
        with_frame(replace(joint, near=near, far=far), turn), parent=joint.child, child=joint.parent, limits=limits
    )


def with_frame(joint: OpenJoint, R: np.ndarray) -> OpenJoint:
    """Return the joint with other axes: the columns of R (3, 3), given in its old ones."""
    if np.array_equal(R, np.eye(3)):
        return joint
    turn = Pose.of(R, (0, 0, 0))
    return replace(joint, near=joint.near @ turn, far=joint.far @ turn)


class JointMotion(NamedTuple):
    """A joint's child frame in its parent frame, and its derivatives by the joint's coordinates."""

    rotation: np.ndarray  # (3, 3)
    position: np.ndarray  # (3,) [m]
    turning: np.ndarray  # (m, 3) axis that each coordinate turns about
    sliding: np.ndarray  # (m, 3) direction that it slides along


def joint_motion(joint: OpenJoint, q: np.ndarray) -> JointMotion:
    """Return a joint's child frame in its parent frame at coordinates q (m,) [rad or m], with its motions.

    A motion is the axis that its coordinate turns about and the direction that it slides along, (m, 3) each.
    """
    R, p = np.eye(3), np.zeros(3)
    turning, sliding = np.zeros((2, len(q), 3))
    turns = []
    for k, motion in enumerate(joint.motions):
        if motion in SLIDES:  # along axes of the parent's side, before any turn
            sliding[k, SLIDES.index(motion)] = 1.0
            p[SLIDES.index(motion)] = q[k]
        else:
            turns.append(k)
    if len(turns) == 3:
        R, turning[turns] = rotation_vector_matrix(q[turns]), _left_jacobian(q[turns]).T
    else:
        for k, axis in zip(turns, joint.turns, strict=True):
            turning[k] = R[:, axis]
            R = R @ _turn(axis, float(q[k]))
    return JointMotion(R, p, turning, sliding)


def _turn(axis: int, angle: float) -> np.ndarray:
    """Rotation (3, 3) about a coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def _left_jacobian(v: np.ndarray) -> np.ndarray:
    """Angular velocity (3, 3) per rate of a rotation vector v (3,)."""
    angle = float(np.linalg.norm(v))
    x, y, z = v
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-4:
        return np.eye(3) + K / 2 + K @ K / 6
    return np.eye(3) + (1 - np.cos(angle)) / angle**2 * K + (angle - np.sin(angle)) / angle**3 * K @ K
