"""Maximal coordinates: the bodies' centres of mass and quaternions.

Every joint is rows over them.

State s (n, 7): per body its centre of mass c [m] and a quaternion q (wxyz) that is the identity in the rest pose.
Rotations are R(q) v = (w² − u·u) v + 2 (u·v) u + 2 w u×v, quadratic in q = (w, u), so that with

    B(v, d) = [[v·d, (v×d)ᵀ], [v×d, v dᵀ + d vᵀ − (v·d) I]]     d · R(q) v = qᵀ B q

has the gradient 2 B q and the Hessian 2 B.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from robik.mechanism.joints import SLIDES, TURNS
from robik.mechanism.model import Mechanism
from robik.mechanism.parts import Joint
from robik.mechanism.pose import quaternion_matrix
from robik.objectives.settings import Settings

AXES = np.eye(3)


class Rows:
    """Scalar rows, of which all constraints and objectives are made.

    scale · (R(q_d) a) · (t (c_j − c_i) + R(q_j) x_j − R(q_i) x_i)

    With d the world and t = 1 a row is a coordinate of the difference of two points; with t = 0, x_i = 0 the dot
    product of two directions. Each entry of the table is (d, a, j, x_j, i, x_i, t, scale); bodies by index, the world
    being the last.
    """

    def __init__(self, table: Iterable[tuple], bodies: int) -> None:
        table = list(table)
        self.bodies = bodies
        self.d, self.j, self.i = (np.array([row[k] for row in table], dtype=int) for k in (0, 2, 4))
        self.a, self.xj, self.xi = (np.array([row[k] for row in table], dtype=float).reshape(-1, 3) for k in (1, 3, 5))
        self.t, self.scale = (np.array([row[k] for row in table], dtype=float) for k in (6, 7))

    def __len__(self) -> int:
        return len(self.d)

    def value(self, state: np.ndarray) -> np.ndarray:
        """(rows,) at a state (n, 7)."""
        u, w = self._factors(with_world(state))
        return self.scale * (u * w).sum(1)

    def jacobian(self, state: np.ndarray) -> np.ndarray:
        """(rows, 7 n)."""
        s = with_world(state)
        u, w = self._factors(s)
        du, dj, di = self._derivatives(s)
        jacobian, rows = np.zeros((len(self), self.bodies + 1, 7)), np.arange(len(self))
        np.add.at(jacobian, (rows, self.d), np.einsum("m,mk,mks->ms", self.scale, w, du))
        np.add.at(jacobian, (rows, self.j), np.einsum("m,mk,mks->ms", self.scale, u, dj))
        np.add.at(jacobian, (rows, self.i), -np.einsum("m,mk,mks->ms", self.scale, u, di))
        return jacobian[:, :-1].reshape(len(self), 7 * self.bodies)

    def curvature(self, state: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Σ multiplier · Hessian, (7 n, 7 n)."""
        s, m = with_world(state), multipliers * self.scale
        u, w = self._factors(s)
        du, dj, di = self._derivatives(s)
        blocks = np.zeros((self.bodies + 1, self.bodies + 1, 7, 7))
        for body, x, y, sign in ((self.d, self.a, w, 1), (self.j, self.xj, u, 1), (self.i, self.xi, u, -1)):
            block = np.zeros((len(self), 7, 7))
            block[:, 3:, 3:] = 2 * sign * m[:, None, None] * bilinear(x, y)
            np.add.at(blocks, (body, body), block)
        for body, derivative, sign in ((self.j, dj, 1), (self.i, di, -1)):
            block = sign * np.einsum("m,mks,mkr->msr", m, du, derivative)
            np.add.at(blocks, (self.d, body), block)
            np.add.at(blocks, (body, self.d), block.transpose(0, 2, 1))
        return blocks[:-1, :-1].transpose(0, 2, 1, 3).reshape(7 * self.bodies, 7 * self.bodies)

    def _factors(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        span = self.t[:, None] * (s[self.j, :3] - s[self.i, :3])
        return turned(s[self.d, 3:], self.a), span + turned(s[self.j, 3:], self.xj) - turned(s[self.i, 3:], self.xi)

    def _derivatives(self, s: np.ndarray) -> list[np.ndarray]:
        derivatives = []
        for body, x, t in ((self.d, self.a, 0 * self.t), (self.j, self.xj, self.t), (self.i, self.xi, self.t)):
            derivatives.append(np.concatenate([t[:, None, None] * AXES, turned_derivative(s[body, 3:], x)], axis=2))
        return derivatives


def with_world(state: np.ndarray) -> np.ndarray:
    """Return the state (n, 7) and the world's below it."""
    return np.vstack([state, [0, 0, 0, 1, 0, 0, 0]])


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """R(q) v (m, 3) of quaternions (m, 4), not necessarily unit, and vectors (m, 3)."""
    w, u = q[:, :1], q[:, 1:]
    return (w**2 - (u * u).sum(1)[:, None]) * v + 2 * (u * v).sum(1)[:, None] * u + 2 * w * crossed(u, v)


def turned_derivative(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """∂ R(q) v / ∂q (m, 3, 4)."""
    w, u = q[:, :1], q[:, 1:]
    derivative = np.empty((len(v), 3, 4), dtype=np.result_type(q, v))
    derivative[:, :, 0] = w * v + crossed(u, v)
    derivative[:, :, 1:] = (
        u[:, :, None] * v[:, None, :] - v[:, :, None] * u[:, None, :] + (u * v).sum(1)[:, None, None] * AXES
    )
    (x, y, z), (i, j, k) = (w * v).T, range(1, 4)
    for row, column, part in ((0, j, z), (0, k, -y), (1, i, -z), (1, k, x), (2, i, y), (2, j, -x)):  # − w v×
        derivative[:, row, column] += part
    return 2 * derivative


def bilinear(v: np.ndarray, d: np.ndarray) -> np.ndarray:
    """B(v, d) (m, 4, 4)."""
    dot, outer = (v * d).sum(1), v[:, :, None] * d[:, None, :]
    b = np.empty((len(v), 4, 4), dtype=np.result_type(v, d))
    b[:, 0, 0] = dot
    b[:, 0, 1:] = b[:, 1:, 0] = crossed(v, d)
    b[:, 1:, 1:] = outer + outer.transpose(0, 2, 1) - dot[:, None, None] * AXES
    return b


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a × b (m, 3).

    NumPy's own spends its time on finding out which axis is meant.
    """
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


class JointFrames:
    """A joint's two frames in the rest pose, in world coordinates.

    One is fixed in its parent, the other in its child.
    """

    def __init__(self, joint: Joint, ends: tuple[int, int], origins: np.ndarray) -> None:
        self.joint, (self.parent, self.child) = joint, ends
        turn, slide = motion(joint, joint.rest)
        self.child_axes, self.child_origin = joint.matrix, np.array(joint.position)
        self.parent_axes = self.child_axes @ turn.T
        self.parent_origin = self.child_origin - self.parent_axes @ slide
        self.origins = origins

    def rows(self, scale: float, values: np.ndarray | None = None) -> list[tuple]:
        """Of the constraint: what the joint locks, or everything where the values of its coordinates are given."""
        axes, origin, free = self.parent_axes, self.parent_origin, self.joint.motions
        if values is not None:
            turn, slide = motion(self.joint, values)
            axes, origin, free = axes @ turn, origin + axes @ slide, ()
        i, j, world = self.parent, self.child, len(self.origins) - 1
        xi, xj = origin - self.origins[i], self.child_origin - self.origins[j]
        locked = [k for k in range(3) if SLIDES[k] not in free]
        if len(locked) == 3:
            rows: list[tuple] = [(world, AXES[k], j, xj, i, xi, 1, 1) for k in range(3)]
        else:
            rows = [(i, axes[:, k], j, xj, i, xi, 1, 1) for k in locked]
        turns = [k for k in range(3) if TURNS[k] in free]
        pairs = [
            ((0, 1), (0, 2), (1, 2)),
            tuple((a, k) for a in turns for k in range(3) if k != a),
            (tuple(turns),),
            (),
        ][len(turns)]
        return rows + [(i, axes[:, a], j, self.child_axes[:, b], i, np.zeros(3), 0, scale) for a, b in pairs]

    def slopes(self, scale: float, turn: np.ndarray, slide: np.ndarray) -> list[tuple]:
        """Return the derivatives of `rows` by one of the given values.

        From the derivatives of `motion`: six rows, in the same order.
        """
        axes, i, j, world = self.parent_axes @ turn, self.parent, self.child, len(self.origins) - 1
        rows: list[tuple] = [(world, AXES[k], world, np.zeros(3), i, self.parent_axes @ slide, 0, 1) for k in range(3)]
        return rows + [
            (i, axes[:, a], j, self.child_axes[:, b], i, np.zeros(3), 0, scale) for a, b in ((0, 1), (0, 2), (1, 2))
        ]

    def facing(self) -> list[tuple]:
        """Dot products that are positive unless an axis points backwards, which the constraint alone would allow."""
        turns = [k for k in range(3) if TURNS[k] in self.joint.motions]
        kept = [0, 1, 2] if not turns else turns if len(turns) == 1 else []
        return [
            (self.parent, self.parent_axes[:, k], self.child, self.child_axes[:, k], self.parent, np.zeros(3), 0, 1)
            for k in kept
        ]

    def coordinates(self, state: np.ndarray, previous: np.ndarray) -> np.ndarray:
        """Return the values of its motions, angles within half a turn of the previous ones."""
        s = with_world(state)
        (ci, qi), (cj, qj) = ((s[k, :3], quaternion_matrix(s[k, 3:])) for k in (self.parent, self.child))
        axes, child = qi @ self.parent_axes, qj @ self.child_axes
        span = (
            cj
            + qj @ (self.child_origin - self.origins[self.child])
            - ci
            - qi @ (self.parent_origin - self.origins[self.parent])
        )
        slides = [axes[:, k] @ span for k in range(3) if SLIDES[k] in self.joint.motions]
        return np.array(
            slides
            + angles(axes.T @ child, [k for k in range(3) if TURNS[k] in self.joint.motions], previous[len(slides) :])
        )


class Robot(Protocol):
    """A mechanism in maximal coordinates.

    `origins` (n + 1, 3) [m]: the bodies' centres of mass in the rest pose, then the world's origin.
    """

    mechanism: Mechanism
    settings: Settings
    joints: list[JointFrames]
    origins: np.ndarray


def motion(joint: Joint, values: Iterable[float]) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and translation (3,) of the child's frame in the parent's."""
    at = dict(zip(joint.motions, values, strict=True))
    slide = np.array([at.get(m, 0.0) for m in SLIDES])
    if joint.is_ball:
        return Rotation.from_rotvec([at[m] for m in TURNS]).as_matrix(), slide
    turn = AXES
    for k in range(3):
        if TURNS[k] in at:
            turn = turn @ Rotation.from_rotvec(at[TURNS[k]] * AXES[k]).as_matrix()
    return turn, slide


def motion_derivatives(joint: Joint, values: Iterable[float]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return derivatives of `motion` by each value: rotations' (3, 3) and translations' (3,)."""
    at = dict(zip(joint.motions, values, strict=True))
    derivatives = []
    for name in joint.motions:
        if name in SLIDES:
            derivatives.append((np.zeros((3, 3)), AXES[SLIDES.index(name)]))
        elif joint.is_ball:
            vector = np.array([at[m] for m in TURNS])
            spin = _left_jacobian(vector) @ AXES[TURNS.index(name)]
            derivatives.append((_cross(spin) @ Rotation.from_rotvec(vector).as_matrix(), np.zeros(3)))
        else:
            turn = AXES
            for k, other in enumerate(TURNS):
                if other in at:
                    turn = turn @ Rotation.from_rotvec(at[other] * AXES[k]).as_matrix()
                    turn = turn @ _cross(AXES[k]) if other == name else turn
            derivatives.append((turn, np.zeros(3)))
    return derivatives


def _left_jacobian(v: np.ndarray) -> np.ndarray:
    """(3, 3): the rotation about which a rotation vector's matrix turns when the vector changes."""
    angle, across = float(np.linalg.norm(v)), _cross(v)
    if angle < 1e-4:
        return AXES + across / 2 + across @ across / 6
    return AXES + (1 - np.cos(angle)) / angle**2 * across + (angle - np.sin(angle)) / angle**3 * across @ across


def _cross(v: np.ndarray) -> np.ndarray:
    """(3, 3): v × as a matrix."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def angles(turn: np.ndarray, axes: list[int], previous: np.ndarray) -> list[float]:
    """Return the angles about one, two or three axes that make up a rotation (3, 3).

    As near as 2π allows to the previous ones.
    """
    if len(axes) == 3:
        vector = Rotation.from_matrix(turn).as_rotvec()
        angle = np.linalg.norm(vector)
        if angle < 1e-12:
            return list(vector)
        axis = vector / angle
        return list(vector + 2 * np.pi * np.round((previous @ axis - angle) / (2 * np.pi)) * axis)
    if not axes:
        return []
    a, b = axes[0], axes[-1] if len(axes) == 2 else (axes[0] + 1) % 3
    across = np.cross(AXES[a], AXES[b])
    found = [np.arctan2(across @ turn[:, b], turn[b, b])]
    if len(axes) == 2:
        found.append(np.arctan2(turn[a] @ across, turn[a, a]))
    return [p + (f - p + np.pi) % (2 * np.pi) - np.pi for f, p in zip(found, previous, strict=True)]
