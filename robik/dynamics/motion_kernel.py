"""Compiled inverse dynamics of a whole motion: frame by frame the forces of ground and motors."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, kernel
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import stand_at
from ..kinematics.null_space import reduce_gradient
from ..kinematics.rotations import cross
from .contact_forces import smallest_forces
from .kernels import body_motions, body_wrenches, generalised_forces, point_of, unit_wrench

NOTHING = 1e-9  # of the longest: a row of contact forces this short counts as zero


class Drive(NamedTuple):
    """Sources of force on a robot of d degrees of freedom with A motors and K contact points, and room for them."""

    motor: np.ndarray  # (A,) degree of freedom of each motor
    sign: np.ndarray  # (A,) direction of the motor along it
    driven: np.ndarray  # (d,) whether a motor drives it
    surplus: np.ndarray  # (s,) motors that must agree with the others
    follow: np.ndarray  # (s, A) how they agree
    S: np.ndarray  # (s, s) scratch of their equations
    extra: np.ndarray  # (s,) scratch
    body: np.ndarray  # (K,) body of each contact point
    local: np.ndarray  # (K, 3) the points in the state frames [m]
    foot: np.ndarray  # (F,) bodies that carry points
    foot_of: np.ndarray  # (K,) index of each point's foot
    unit: np.ndarray  # (F, 6, d) forces of unit wrenches on the feet
    at: np.ndarray  # (K, 3) the points in the world [m]
    Q: np.ndarray  # (d,) forces along the degrees of freedom
    weight: np.ndarray  # (1,) of the robot [N]


class Forces(NamedTuple):
    """Results over T samples."""

    torque: np.ndarray  # (T, A) of the motors [N m or N]
    force: np.ndarray  # (T, K, 3) of the ground on each point [N]
    point: np.ndarray  # (T, K, 3) the points in the world [m]
    wrench: np.ndarray  # (T, 6) of the whole robot about the origin
    momentum: np.ndarray  # (T, 9) as in `Bodies`
    missing: np.ndarray  # (T,) largest generalised force that nothing gives, in weights


def new_forces(samples: int, motors: int, points: int) -> Forces:
    """Return room for the results of T samples, A motors and K contact points."""
    return by_reference(
        Forces(
            torque=np.zeros((samples, motors)),
            force=np.zeros((samples, points, 3)),
            point=np.zeros((samples, points, 3)),
            wrench=np.zeros((samples, 6)),
            momentum=np.zeros((samples, 9)),
            missing=np.zeros(samples),
        )
    )


@kernel(entry=False)
def _contact_rows(flat, now, e, drive, contact, touches):
    """Write the rows that no motor drives and a touching point reaches: G and the right side, scaled."""
    for f in range(drive.foot.shape[0]):
        for k in range(6):
            unit_wrench(flat, now, e, drive.foot[f], k, drive.unit[f, k])
    rows = 0
    for i in range(e.dependent.shape[0]):
        if e.dependent[i] or drive.driven[i]:
            continue
        length, longest = 0.0, 0.0
        for k in range(drive.body.shape[0]):
            u, x = drive.unit[drive.foot_of[k]], drive.at[k]
            # a force along axis j at x is the wrench (x × e_j, e_j)
            gx = u[3, i] + x[2] * u[1, i] - x[1] * u[2, i]
            gy = u[4, i] + x[0] * u[2, i] - x[2] * u[0, i]
            gz = u[5, i] + x[1] * u[0, i] - x[0] * u[1, i]
            longest = max(longest, max(abs(u[3, i]), max(abs(u[4, i]), abs(u[5, i]))))
            longest = max(longest, flat.size * max(abs(u[0, i]), max(abs(u[1, i]), abs(u[2, i]))))
            if not touches[k]:
                gx, gy, gz = 0.0, 0.0, 0.0
            contact.G[rows, 3 * k], contact.G[rows, 3 * k + 1], contact.G[rows, 3 * k + 2] = gx, gy, gz
            length += gx * gx + gy * gy + gz * gz
        length = sqrt(length)
        if length <= NOTHING * longest or length == 0.0:
            continue
        for j in range(contact.force.shape[0]):
            contact.G[rows, j] /= length
        contact.right[rows] = drive.Q[i] / (length * drive.weight[0])
        contact.row[rows] = i
        rows += 1
    contact.rows[0] = rows


@kernel(entry=False)
def _push(bodies, drive, contact, force, touches):
    """Take the contact forces off the wrenches that the bodies still need."""
    for k in range(drive.body.shape[0]):
        for j in range(3):
            force[k, j] = drive.weight[0] * contact.force[3 * k + j] if touches[k] else 0.0
        w, x, f = bodies.wrench[drive.body[k]], drive.at[k], force[k]
        mx, my, mz = cross(x[0], x[1], x[2], f[0], f[1], f[2])
        w[0] -= mx
        w[1] -= my
        w[2] -= mz
        for j in range(3):
            w[3 + j] -= f[j]


@kernel(entry=False)
def _torques(flat, e, drive, torque):
    """Write the motors' torques from Zᵀ Q: the smallest where some motors must agree with others."""
    Q, s = drive.Q, drive.surplus.shape[0]
    for a in range(drive.motor.shape[0]):
        torque[a] = drive.sign[a] * Q[drive.motor[a]]
    if s == 0:
        return
    step = drive.unit[drive.unit.shape[0] - 1, 0]
    for k in range(s):
        step[:] = 0.0
        step[drive.motor[drive.surplus[k]]] = 1.0
        reduce_gradient(flat, e, step)
        for a in range(drive.motor.shape[0]):
            drive.follow[k, a] = drive.sign[a] * step[drive.motor[a]]
        drive.follow[k, drive.surplus[k]] = 0.0
    for k in range(s):  # (1 + F Fᵀ) x = F τ with F the motors' shares of what follows
        b = drive.sign[drive.surplus[k]]
        drive.extra[k] = 0.0
        for a in range(drive.motor.shape[0]):
            drive.extra[k] += b * drive.follow[k, a] * torque[a]
        for j in range(s):
            total = 1.0 if j == k else 0.0
            for a in range(drive.motor.shape[0]):
                total += b * drive.sign[drive.surplus[j]] * drive.follow[k, a] * drive.follow[j, a]
            drive.S[k, j] = total
    _gauss(drive.S, drive.extra)
    for k in range(s):
        b = drive.sign[drive.surplus[k]]
        for a in range(drive.motor.shape[0]):
            torque[a] -= b * drive.follow[k, a] * drive.extra[k]
    for k in range(s):
        torque[drive.surplus[k]] = drive.extra[k]


@kernel(entry=False)
def _gauss(S, x):
    """Solve S x = x in place for a symmetric positive definite S, which is used up."""
    n = x.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            f = S[i, k] / S[k, k]
            for j in range(k, n):
                S[i, j] -= f * S[k, j]
            x[i] -= f * x[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x[k] -= S[k, j] * x[j]
        x[k] /= S[k, k]


@kernel
def motion_forces(flat, now, e, bodies, drive, contact, q, velocity, acceleration, resistance, touches, out):
    """Fill the `Forces` of every sample of q (T, nq), with closed loops, and its derivatives (T, d).

    `resistance` (T, d) [N m or N] is that of the joints; `touches` (T, K) flags contact points that can take force.
    """
    for t in range(q.shape[0]):
        stand_at(flat, now, q[t])
        eliminate(flat, now, e)
        body_motions(flat, now, bodies, velocity[t], acceleration[t])
        body_wrenches(now, bodies)
        generalised_forces(flat, now, e, bodies, resistance[t], drive.Q)
        for k in range(6):
            out.wrench[t, k] = bodies.beyond[0, k]
        for k in range(9):
            out.momentum[t, k] = bodies.momentum[k]
        touching = False
        for k in range(drive.body.shape[0]):
            x, y, z = point_of(now, drive.body[k], drive.local[k])
            drive.at[k, 0], drive.at[k, 1], drive.at[k, 2] = x, y, z
            out.point[t, k, 0], out.point[t, k, 1], out.point[t, k, 2] = x, y, z
            touching = touching or touches[t, k]
        if touching:
            _contact_rows(flat, now, e, drive, contact, touches[t])
            smallest_forces(contact)
            _push(bodies, drive, contact, out.force[t], touches[t])
            generalised_forces(flat, now, e, bodies, resistance[t], drive.Q)
        worst = 0.0
        for i in range(e.dependent.shape[0]):
            if not e.dependent[i] and not drive.driven[i]:
                worst = max(worst, abs(drive.Q[i]))
        out.missing[t] = worst / drive.weight[0]
        _torques(flat, e, drive, out.torque[t])
