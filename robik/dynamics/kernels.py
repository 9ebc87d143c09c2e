"""Compiled kernels of inverse dynamics: wrenches that move the bodies, and what motors and ground must give of them.

Twists and wrenches are about the world's origin: a twist is (ω, v) with v the velocity of the body's point that
passes the origin, a wrench is (moment, force). With the screws S of the degrees of freedom, from body to body
outwards

    V = V_parent + Σ Sᵢ ẏᵢ        A = A_parent + Σ (Sᵢ ÿᵢ + V × Sᵢ ẏᵢ)

and each body needs the force m (a − g) at its centre of mass and the moment I α + ω × I ω. What the wrenches of all
bodies beyond a degree of freedom do along its screw is its generalised force Qᵢ. Constraint forces do no work along
motions that keep the loops closed, dy = Z dz, so that Zᵀ Q is what motors and contacts have to give.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..kinematics.kernels import along, rotate
from ..kinematics.null_space import reduce_gradient
from ..kinematics.rotations import cross
from ..mechanism.constraints import BALL
from ..mechanism.topology import Flat


class Bodies(NamedTuple):
    """Masses, and room for the motion of the bodies (n + 1, the world first)."""

    mass: np.ndarray  # (n + 1,) [kg]
    inertia: np.ndarray  # (n + 1, 3, 3) about the centre of mass in the state frame [kg m²]
    gravity: np.ndarray  # (3,) [m/s²]
    twist: np.ndarray  # (n + 1, 6) as the module says
    acceleration: np.ndarray  # (n + 1, 6) likewise
    wrench: np.ndarray  # (n + 1, 6) likewise
    beyond: np.ndarray  # (n + 1, 6) sum of the wrenches of a body and all that hang on it
    momentum: np.ndarray  # (9,) linear momentum, angular momentum about the robot's centre of mass, and that centre
    before: np.ndarray  # (6,) scratch


def new_bodies(flat: Flat, mass: np.ndarray, inertia: np.ndarray, gravity: np.ndarray) -> Bodies:
    """Return room for the bodies of a mechanism, at rest; arguments as the attributes of `Bodies`."""
    n = len(flat.parent)
    twist, acceleration, wrench, beyond = np.zeros((4, n, 6))
    return by_reference(Bodies(mass, inertia, gravity, twist, acceleration, wrench, beyond, np.zeros(9), np.zeros(6)))


@kernel(entry=False)
def body_motions(flat, now, bodies, velocity, acceleration):
    """Fill the bodies' twists and accelerations from those of the degrees of freedom (d,)."""
    v0 = bodies.before
    for b in range(1, flat.parent.shape[0]):
        V, A = bodies.twist[b], bodies.acceleration[b]
        for k in range(6):
            V[k] = bodies.twist[flat.parent[b], k]
            A[k] = bodies.acceleration[flat.parent[b], k]
        for m in range(flat.first[b], flat.last[b]):
            for k in range(6):
                v0[k] = V[k]
            for i in range(flat.at_v[m], flat.at_v[m] + (3 if flat.kind[m] == BALL else 1)):
                s, r = now.omega[i], now.v[i]
                rate, change = velocity[i], acceleration[i]
                ax, ay, az = cross(v0[0], v0[1], v0[2], s[0], s[1], s[2])
                bx, by, bz = cross(v0[0], v0[1], v0[2], r[0], r[1], r[2])
                cx, cy, cz = cross(v0[3], v0[4], v0[5], s[0], s[1], s[2])
                A[0] += s[0] * change + ax * rate
                A[1] += s[1] * change + ay * rate
                A[2] += s[2] * change + az * rate
                A[3] += r[0] * change + (bx + cx) * rate
                A[4] += r[1] * change + (by + cy) * rate
                A[5] += r[2] * change + (bz + cz) * rate
                for k in range(3):
                    V[k] += s[k] * rate
                    V[3 + k] += r[k] * rate


@inlined
def _turned_inertia(R, inertia, x, y, z):
    """R I Rᵀ (x, y, z): an inertia of the state frame times a vector of the world."""
    u = R[0, 0] * x + R[1, 0] * y + R[2, 0] * z
    v = R[0, 1] * x + R[1, 1] * y + R[2, 1] * z
    w = R[0, 2] * x + R[1, 2] * y + R[2, 2] * z
    p = inertia[0, 0] * u + inertia[0, 1] * v + inertia[0, 2] * w
    q = inertia[1, 0] * u + inertia[1, 1] * v + inertia[1, 2] * w
    r = inertia[2, 0] * u + inertia[2, 1] * v + inertia[2, 2] * w
    return (
        R[0, 0] * p + R[0, 1] * q + R[0, 2] * r,
        R[1, 0] * p + R[1, 1] * q + R[1, 2] * r,
        R[2, 0] * p + R[2, 1] * q + R[2, 2] * r,
    )


@kernel(entry=False)
def body_wrenches(now, bodies):
    """Fill the wrench that each body needs for its motion, and the robot's momentum."""
    g, total = bodies.gravity, bodies.momentum
    total[:] = 0.0
    mass = 0.0
    for b in range(1, bodies.mass.shape[0]):
        m, R, c, w, V, A = bodies.mass[b], now.R[b], now.c[b], bodies.wrench[b], bodies.twist[b], bodies.acceleration[b]
        wx, wy, wz = V[0], V[1], V[2]
        tx, ty, tz = cross(wx, wy, wz, c[0], c[1], c[2])
        vx, vy, vz = V[3] + tx, V[4] + ty, V[5] + tz
        ex, ey, ez = cross(A[0], A[1], A[2], c[0], c[1], c[2])
        hx, hy, hz = cross(wx, wy, wz, vx, vy, vz)
        fx, fy, fz = m * (A[3] + ex + hx - g[0]), m * (A[4] + ey + hy - g[1]), m * (A[5] + ez + hz - g[2])
        lx, ly, lz = _turned_inertia(R, bodies.inertia[b], wx, wy, wz)
        nx, ny, nz = _turned_inertia(R, bodies.inertia[b], A[0], A[1], A[2])
        gx, gy, gz = cross(wx, wy, wz, lx, ly, lz)
        mx, my, mz = cross(c[0], c[1], c[2], fx, fy, fz)
        w[0], w[1], w[2] = nx + gx + mx, ny + gy + my, nz + gz + mz
        w[3], w[4], w[5] = fx, fy, fz
        px, py, pz = cross(c[0], c[1], c[2], m * vx, m * vy, m * vz)
        total[0] += m * vx
        total[1] += m * vy
        total[2] += m * vz
        total[3] += lx + px
        total[4] += ly + py
        total[5] += lz + pz
        for k in range(3):
            total[6 + k] += m * c[k]
        mass += m
    if mass > 0.0:
        for k in range(3):
            total[6 + k] /= mass
        ox, oy, oz = cross(total[6], total[7], total[8], total[0], total[1], total[2])
        total[3] -= ox
        total[4] -= oy
        total[5] -= oz


@kernel(entry=False)
def generalised_forces(flat, now, e, bodies, own, out):
    """Fill `out` with Zᵀ Q (d,) [N m or N] of the bodies' wrenches and the joints' resistance `own` (d,).

    It acts along the independent coordinates. The wrenches' sum stays in `bodies.beyond[0]`.
    """
    for b in range(flat.parent.shape[0]):
        for k in range(6):
            bodies.beyond[b, k] = bodies.wrench[b, k]
    for b in range(flat.parent.shape[0] - 1, 0, -1):
        for m in range(flat.first[b], flat.last[b]):
            for i in range(flat.at_v[m], flat.at_v[m] + (3 if flat.kind[m] == BALL else 1)):
                out[i] = along(now, i, bodies.beyond[b]) + own[i]
        for k in range(6):
            bodies.beyond[flat.parent[b], k] += bodies.beyond[b, k]
    reduce_gradient(flat, e, out)


@kernel
def unit_wrench(flat, now, e, body, k, out):
    """Fill `out` with Zᵀ Q (d,) of a wrench on a body that is 1 in its entry k and 0 elsewhere.

    Entries 0 to 2 are the moment, 3 to 5 the force; body 0 is the world.
    """
    out[:] = 0.0
    i = flat.tip[body]
    while i >= 0:
        out[i] = now.omega[i, k] if k < 3 else now.v[i, k - 3]
        i = flat.before[i]
    reduce_gradient(flat, e, out)


@inlined
def point_of(now, body, local):
    """Return, by components [m], a point (3,) of a body's state frame in the world; body 0 is the world."""
    x, y, z = rotate(now.R[body], local)
    return x + now.c[body, 0], y + now.c[body, 1], z + now.c[body, 2]
