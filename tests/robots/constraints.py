"""Hinged bodies in maximal coordinates, plain NumPy: written apart from the library, to judge its robots by.

Unknowns are six per body: a small translation of its frame's origin and a small turn, both along world axes. A hinge
gives five rows (its two anchors meet, its two axes are parallel), a driven hinge a sixth (its angle).
"""

from __future__ import annotations

import numpy as np

from robik.mechanism import WORLD, Joint, Mechanism


def skew(v: np.ndarray) -> np.ndarray:
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def turned(v: np.ndarray) -> np.ndarray:
    """Rotation matrix of a rotation vector, by Rodrigues' formula."""
    angle = np.linalg.norm(v)
    if angle < 1e-12:
        return np.eye(3) + skew(v)
    k = skew(v / angle)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


class Hinged:
    """A mechanism of hinges only; rotations are relative to the rest pose, so all are the identity there."""

    def __init__(self, mechanism: Mechanism, held: tuple[str, ...] = ()) -> None:
        assert all(j.type == "revolute" for j in mechanism.joints)
        self.mechanism, self.held = mechanism, held
        self.rest = np.array([b.pose.position for b in mechanism.bodies])
        self.reset()

    def reset(self) -> None:
        self.origin = self.rest.copy()
        self.turn = np.repeat(np.eye(3)[None], len(self.rest), axis=0)

    def anchor(self, body: str, joint: Joint) -> tuple[np.ndarray, np.ndarray]:
        """The joint's anchor as the body carries it, and the arm from the body's origin to it."""
        i = self.mechanism.body_index[body]
        arm = self.turn[i] @ (np.array(joint.position) - self.rest[i])
        return self.origin[i] + arm, arm

    def rows(self, joint: Joint) -> tuple[np.ndarray, np.ndarray]:
        """Residual (5,) and Jacobian (5, 6 n) of a hinge."""
        index, n = self.mechanism.body_index, len(self.rest)
        assert joint.parent != WORLD
        p, c = index[joint.parent], index[joint.child]
        (at_p, arm_p), (at_c, arm_c) = self.anchor(joint.parent, joint), self.anchor(joint.child, joint)
        side, up = np.linalg.svd(np.array([joint.axis]))[2][1:]
        axis = self.turn[p] @ joint.axis
        residual, jacobian = np.zeros(5), np.zeros((5, 6 * n))
        residual[:3] = at_c - at_p
        jacobian[:3, 6 * c : 6 * c + 3], jacobian[:3, 6 * c + 3 : 6 * c + 6] = np.eye(3), -skew(arm_c)
        jacobian[:3, 6 * p : 6 * p + 3], jacobian[:3, 6 * p + 3 : 6 * p + 6] = -np.eye(3), skew(arm_p)
        for row, local in ((3, side), (4, up)):
            square = self.turn[c] @ local
            residual[row] = axis @ square
            jacobian[row, 6 * c + 3 : 6 * c + 6] = np.cross(square, axis)
            jacobian[row, 6 * p + 3 : 6 * p + 6] = np.cross(axis, square)
        return residual, jacobian

    def angle(self, joint: Joint) -> float:
        """From the rest pose, positive about the axis."""
        p, c = (self.mechanism.body_index[name] for name in (joint.parent, joint.child))
        relative = self.turn[p].T @ self.turn[c]
        side = np.linalg.svd(np.array([joint.axis]))[2][1]
        moved = relative @ side
        return float(np.arctan2(np.cross(side, moved) @ joint.axis, side @ moved))

    def closure(self) -> tuple[np.ndarray, np.ndarray]:
        """All hinges' rows: residual (5 j,), Jacobian (5 j, 6 n)."""
        blocks = [self.rows(j) for j in self.mechanism.joints]
        return np.concatenate([r for r, _ in blocks]), np.vstack([j for _, j in blocks])

    def driven(self, values: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """The rows that hold hinges at angles and the held bodies in place."""
        index, n = self.mechanism.body_index, len(self.rest)
        residual, jacobian = [], []
        for joint in self.mechanism.joints:
            if joint.name in values:
                p, c = index[joint.parent], index[joint.child]
                row = np.zeros(6 * n)
                axis = self.turn[p] @ joint.axis
                row[6 * c + 3 : 6 * c + 6], row[6 * p + 3 : 6 * p + 6] = axis, -axis
                gap = self.angle(joint) - values[joint.name]
                residual.append(np.arctan2(np.sin(gap), np.cos(gap)))
                jacobian.append(row)
        for name in self.held:
            i = index[name]
            block = np.zeros((6, 6 * n))
            block[:, 6 * i : 6 * i + 6] = np.eye(6)
            jacobian.extend(block)
            residual.extend(np.zeros(6))
        return np.array(residual), np.array(jacobian)

    def pose(self, values: dict[str, float], steps: int = 12) -> float:
        """Newton to a closed state with hinges at the values; returns the greatest residual left [m or rad]."""
        for _ in range(steps):
            (r0, j0), (r1, j1) = self.closure(), self.driven(values)
            residual = np.concatenate([r0, r1])
            if abs(residual).max() < 1e-12:
                break
            step = np.linalg.lstsq(np.vstack([j0, j1]), -residual, rcond=1e-9)[0].reshape(-1, 6)
            self.origin += step[:, :3]
            self.turn = np.array([turned(s[3:]) @ r for s, r in zip(step, self.turn, strict=True)])
        return float(abs(np.concatenate([self.closure()[0], self.driven(values)[0]])).max())
