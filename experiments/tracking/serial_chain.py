"""Serial chains as in textbooks.

A row of hinges and slides from the ground to one frame, with a Jacobian and joint limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, sqrt

import numpy as np

from robik.errors import MechanismError
from robik.jit import kernel
from robik.kinematics.assembly import prepared
from robik.kinematics.frames import anchor
from robik.kinematics.kernels import forward_kinematics, new_placement, rotate
from robik.kinematics.rotations import cross, multiply
from robik.mechanism.constraints import HINGE
from robik.mechanism.model import Mechanism
from robik.mechanism.topology import Topology, build_topology


@dataclass(frozen=True)
class ChainTarget:
    """Target of the frame.

    `position` (3,) in the world [m], and `rotation` (3, 3), None where it does not matter.
    """

    position: np.ndarray
    rotation: np.ndarray | None = None


class SerialChain:
    """Robot without loops, from the ground to a frame or body.

    Limits `lower` and `upper` (d,) [rad or m] and coordinates q (d,) are those of the tree; `hinge` (d,) flags
    joints that turn, the others slide. `position` (3,) [m] and `rotation` (3, 3) of the frame are where the chain
    was placed last. Raise MechanismError for a robot that is no serial chain.
    """

    def __init__(self, mechanism: Mechanism, frame: str):
        topology = build_topology(mechanism)
        _check_serial(topology, frame)
        self.mechanism, self.topology, self.frame = mechanism, topology, frame
        self.flat = prepared(topology)
        self.body, self.point, self.axes = anchor(topology, frame)
        self.rest = topology.rest.copy()
        self.lower, self.upper = self.flat.lower.copy(), self.flat.upper.copy()
        self.hinge = self.flat.kind == HINGE
        self._now = new_placement(self.flat, self.rest)
        self._J = np.zeros((6, len(self.rest)))
        self.place(self.rest)

    def place(self, q: np.ndarray) -> None:
        """Set the joints to coordinates q (d,) [rad or m]."""
        self.position, self.rotation = np.empty(3), np.empty((3, 3))
        place_frame(self.flat, self._now, q, self.body, self.point, self.axes, self.position, self.rotation)

    def joint(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the direction (3,) of joint i in the world, and for a hinge a point (3,) of its axis [m].

        The point is the one nearest to the world's origin, zero for a slide.
        """
        w, v = self._now.omega[i], self._now.v[i]
        return (w, crossed(w, v)) if self.hinge[i] else (v, np.zeros(3))

    def jacobian(self, rotation: bool = True) -> np.ndarray:
        """Return the frame's Jacobian: (6, d), or (3, d) without `rotation`.

        Column i is (ωᵢ × pᵢ, ωᵢ) for a hinge, with pᵢ from its axis to the frame, and (vᵢ, 0) for a slide (Lee,
        Jacobian in 3D).
        """
        fill_jacobian(self._now, self.position, self._J)
        return self._J.copy() if rotation else self._J[:3].copy()

    def error(self, target: ChainTarget) -> np.ndarray:
        """Return the position's error (3,) [m] in the world.

        If the target has an orientation, the rotation vector (3,) [rad] of its error follows.
        """
        away = target.position - self.position
        return (
            away
            if target.rotation is None
            else np.concatenate([away, rotation_vector(target.rotation @ self.rotation.T)])
        )

    def clamped(self, q: np.ndarray) -> np.ndarray:
        """Return coordinates (d,) within the limits."""
        return np.minimum(np.maximum(q, self.lower), self.upper)


@kernel
def place_frame(flat, now, q, body, point, axes, position, rotation):
    """Fill `position` (3,) [m] and `rotation` (3, 3) of the frame at coordinates q (d,).

    `point` (3,) and `axes` (3, 3) are those of the frame in its body's state frame.
    """
    for i in range(q.shape[0]):
        now.q[i] = q[i]
    forward_kinematics(flat, now)
    multiply(now.R[body], axes, rotation)
    x, y, z = rotate(now.R[body], point)
    position[0], position[1], position[2] = now.c[body, 0] + x, now.c[body, 1] + y, now.c[body, 2] + z


@kernel
def fill_jacobian(now, p, J):
    """Fill J (6, d), the derivative of a point p (3,) [m] in the world and of the orientation."""
    for i in range(J.shape[1]):
        w, v = now.omega[i], now.v[i]
        x, y, z = cross(w[0], w[1], w[2], p[0], p[1], p[2])
        J[0, i], J[1, i], J[2, i] = x + v[0], y + v[1], z + v[2]
        J[3, i], J[4, i], J[5, i] = w[0], w[1], w[2]


@kernel(allocates=True)
def rotation_vector(R):
    """Return the rotation vector (3,) [rad] of a rotation matrix (3, 3), the shorter way round."""
    x, y, z = 0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])
    sine, cosine = sqrt(x * x + y * y + z * z), 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    v = np.array([x, y, z])
    if sine > 1e-9 or cosine > 0.0:
        return v * (atan2(sine, cosine) / sine if sine > 1e-12 else 1.0)
    k = 0  # half a turn: R = 2 a aᵀ - 1, so every column of R + 1 lies along the axis
    for i in range(3):
        if R[i, i] > R[k, k]:
            k = i
    for i in range(3):
        v[i] = R[i, k] + (1.0 if i == k else 0.0)
    return np.pi * v / sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def crossed(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return u × v of two vectors (3,).

    NumPy's own is made for many.
    """
    return np.array((u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]))


def _check_serial(topology: Topology, frame: str) -> None:
    mechanism, flat = topology.mechanism, topology.flat
    where = f"robot {mechanism.name!r} is not a serial chain"
    remedy = (
        "the classic solvers take only chains of hinges and slides; choose forward dynamics or the state-based solver"
    )
    if topology.cuts or mechanism.couplings:
        raise MechanismError(f"{where}: it has loops or coupled joints; {remedy}")
    if topology.root is not None or (flat.ball >= 0).any():
        raise MechanismError(f"{where}: it floats or has a ball joint; {remedy}")
    if passive := [j.name for j in mechanism.joints if j.motions and not j.actuated]:
        raise MechanismError(f"{where}: joint {passive[0]!r} has no motor; {remedy}")
    body = anchor(topology, frame)[0]
    on_path, at = 0, int(flat.tip[body])
    while at >= 0:
        on_path, at = on_path + 1, int(flat.before[at])
    if on_path < len(flat.before):
        raise MechanismError(
            f"{where} up to {frame!r}: {len(flat.before) - on_path} of its joints do not move that frame; {remedy}"
        )
