"""Compiled kernels over a mechanism's flat arrays: poses, screws, closure values and their Jacobian.

A degree of freedom i moves a point x of every body beyond it by ∂x/∂yᵢ = ωᵢ × x + vᵢ and a direction d by ωᵢ × d, in
world coordinates: (ωᵢ, vᵢ) is its screw.
"""

from __future__ import annotations

from math import cos, sin
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..mechanism.constraints import BALL, HINGE, OFFSET, SLIDE
from ..mechanism.topology import Flat
from .rotations import between, cross, matrix_to_quaternion, multiply, turned


class Placement(NamedTuple):
    """Poses, screws and closure for one set of coordinates.

    A loop's degree of freedom changes a row by ω · moment + v · force.
    """

    q: np.ndarray  # (nq,) coordinates
    R: np.ndarray  # (n + 1, 3, 3) orientations of the bodies' state frames
    c: np.ndarray  # (n + 1, 3) their positions [m]
    omega: np.ndarray  # (d, 3) ω of the screws
    v: np.ndarray  # (d, 3) v of the screws
    value: np.ndarray  # (rows,) closure [m]
    force: np.ndarray  # (m, 3) force of each row on its cut's b side
    moment: np.ndarray  # (m, 3) its moment
    everything: np.ndarray  # memory of all the above
    turn: np.ndarray  # (3, 3) scratch


def new_placement(flat: Flat, q: np.ndarray) -> Placement:
    """Return room for a placement, with coordinates (nq,) in it; `forward_kinematics` fills it."""
    n, d, m = len(flat.parent), len(flat.before), len(flat.row_kind)
    rows = m + len(flat.coupling_leader)
    everything, parts = carved((len(q),), (n, 3, 3), (n, 3), (d, 3), (d, 3), (rows,), (m, 3), (m, 3))
    parts[0][:] = q
    parts[1][0] = np.eye(3)
    return by_reference(Placement._make([*parts, everything, np.zeros((3, 3))]))


def carved(*shapes: tuple[int, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return a row of zeros, and arrays of these shapes that share its memory.

    All of them can then be copied or cleared at once.
    """
    sizes = [int(np.prod(shape)) for shape in shapes]
    everything = np.zeros(sum(sizes))
    ends = np.cumsum(sizes)
    return everything, [
        everything[end - size : end].reshape(shape) for size, end, shape in zip(sizes, ends, shapes, strict=True)
    ]


@kernel(entry=False)
def copy_placement(source, target):
    """Copy a placement's arrays to another placement of the same robot."""
    a, b = source.everything, target.everything
    for i in range(a.shape[0]):
        b[i] = a[i]


@inlined
def _turn_about(R, k, angle):
    """R ← R · rotation about its own axis k."""
    i, j = (k + 1) % 3, (k + 2) % 3
    s, co = sin(angle), cos(angle)
    for row in range(3):
        a, b = R[row, i], R[row, j]
        R[row, i] = co * a + s * b
        R[row, j] = co * b - s * a


@inlined
def _turn_by_quaternion(R, q, at):
    """R ← R · matrix of the quaternion q[at:at + 4]."""
    w, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
    m00, m01, m02 = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    m10, m11, m12 = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    m20, m21, m22 = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    for row in range(3):
        a, b, c = R[row, 0], R[row, 1], R[row, 2]
        R[row, 0] = a * m00 + b * m10 + c * m20
        R[row, 1] = a * m01 + b * m11 + c * m21
        R[row, 2] = a * m02 + b * m12 + c * m22


@kernel
def forward_kinematics(flat, now):
    """Fill poses and screws from the coordinates, body by body from the world outwards."""
    q, M = now.q, now.turn
    for b in range(1, flat.parent.shape[0]):
        parent = flat.parent[b]
        P, t = now.R[parent], flat.from_parent_p[b]
        multiply(P, flat.from_parent_R[b], M)
        px = now.c[parent, 0] + P[0, 0] * t[0] + P[0, 1] * t[1] + P[0, 2] * t[2]
        py = now.c[parent, 1] + P[1, 0] * t[0] + P[1, 1] * t[1] + P[1, 2] * t[2]
        pz = now.c[parent, 2] + P[2, 0] * t[0] + P[2, 1] * t[1] + P[2, 2] * t[2]
        for m in range(flat.first[b], flat.last[b]):
            kind, k, i, at = flat.kind[m], flat.axis[m], flat.at_v[m], flat.at_q[m]
            if kind == HINGE:
                ax, ay, az = M[0, k], M[1, k], M[2, k]
                now.omega[i, 0], now.omega[i, 1], now.omega[i, 2] = ax, ay, az
                now.v[i, 0], now.v[i, 1], now.v[i, 2] = cross(px, py, pz, ax, ay, az)
                _turn_about(M, k, q[at])
            elif kind == SLIDE:
                ax, ay, az = M[0, k], M[1, k], M[2, k]
                now.omega[i, 0], now.omega[i, 1], now.omega[i, 2] = 0.0, 0.0, 0.0
                now.v[i, 0], now.v[i, 1], now.v[i, 2] = ax, ay, az
                px, py, pz = px + ax * q[at], py + ay * q[at], pz + az * q[at]
            else:
                for axis in range(3):
                    ax, ay, az = M[0, axis], M[1, axis], M[2, axis]
                    now.omega[i + axis, 0], now.omega[i + axis, 1], now.omega[i + axis, 2] = ax, ay, az
                    now.v[i + axis, 0], now.v[i + axis, 1], now.v[i + axis, 2] = cross(px, py, pz, ax, ay, az)
                _turn_by_quaternion(M, q, at)
        multiply(M, flat.to_child_R[b], now.R[b])
        u = flat.to_child_p[b]
        now.c[b, 0] = px + M[0, 0] * u[0] + M[0, 1] * u[1] + M[0, 2] * u[2]
        now.c[b, 1] = py + M[1, 0] * u[0] + M[1, 1] * u[1] + M[1, 2] * u[2]
        now.c[b, 2] = pz + M[2, 0] * u[0] + M[2, 1] * u[1] + M[2, 2] * u[2]


@kernel
def read_state(flat, now, position, quaternion):
    """Fill state frames (n, 3) [m] and (n, 4) wxyz from a placement.

    Of both signs, a quaternion gets the one nearer to what it held.
    """
    for b in range(flat.bodies):
        for i in range(3):
            position[b, i] = now.c[b + 1, i]
        matrix_to_quaternion(now.R[b + 1], quaternion[b])


@inlined
def rotate(R, u):
    """Return R u by components, for R (3, 3) and u (3,)."""
    return (
        R[0, 0] * u[0] + R[0, 1] * u[1] + R[0, 2] * u[2],
        R[1, 0] * u[0] + R[1, 1] * u[1] + R[1, 2] * u[2],
        R[2, 0] * u[0] + R[2, 1] * u[1] + R[2, 2] * u[2],
    )


@inlined
def along(now, i, wrench):
    """Return ωᵢ · τ + vᵢ · f, the force [N m or N] of a wrench (τ, f) along degree of freedom i."""
    w, v = now.omega[i], now.v[i]
    return (
        w[0] * wrench[0] + w[1] * wrench[1] + w[2] * wrench[2] + v[0] * wrench[3] + v[1] * wrench[4] + v[2] * wrench[5]
    )


@kernel
def close(flat, now):
    """Fill closure values and wrenches from the poses; return the largest value, the closure residual [m]."""
    worst = 0.0
    for cut in range(flat.cut_a.shape[0]):
        a, b = flat.cut_a[cut], flat.cut_b[cut]
        ax, ay, az = rotate(now.R[a], flat.cut_pa[cut])
        bx, by, bz = rotate(now.R[b], flat.cut_pb[cut])
        bx, by, bz = bx + now.c[b, 0], by + now.c[b, 1], bz + now.c[b, 2]
        rx, ry, rz = bx - ax - now.c[a, 0], by - ay - now.c[a, 1], bz - az - now.c[a, 2]
        for row in range(flat.cut_row[cut], flat.cut_row[cut + 1]):
            dx, dy, dz = rotate(now.R[a], flat.row_u[row])
            if flat.row_kind[row] == OFFSET:
                value = dx * rx + dy * ry + dz * rz
                now.force[row, 0], now.force[row, 1], now.force[row, 2] = dx, dy, dz
                now.moment[row, 0], now.moment[row, 1], now.moment[row, 2] = cross(bx, by, bz, dx, dy, dz)
            else:
                wx, wy, wz = rotate(now.R[b], flat.row_w[row])
                value = flat.size * (dx * wx + dy * wy + dz * wz)
                mx, my, mz = cross(wx, wy, wz, dx, dy, dz)
                now.force[row, 0], now.force[row, 1], now.force[row, 2] = 0.0, 0.0, 0.0
                now.moment[row, 0], now.moment[row, 1], now.moment[row, 2] = (
                    flat.size * mx,
                    flat.size * my,
                    flat.size * mz,
                )
            now.value[row] = value
            worst = max(worst, abs(value))
    m = flat.row_kind.shape[0]
    for g in range(flat.coupling_leader.shape[0]):
        leader = now.q[flat.dof_q[flat.coupling_leader[g]]]
        polynomial = 0.0
        for k in range(flat.coupling_coefficients.shape[1] - 1, -1, -1):
            polynomial = polynomial * leader + flat.coupling_coefficients[g, k]
        for k in range(flat.coupling_other_at[g], flat.coupling_other_at[g + 1]):
            polynomial += flat.coupling_slope[k] * now.q[flat.dof_q[flat.coupling_other[k]]]
        now.value[m + g] = flat.size * (now.q[flat.dof_q[flat.coupling_follower[g]]] - polynomial)
        worst = max(worst, abs(now.value[m + g]))
    return worst


@kernel
def stand_at(flat, now, q):
    """Place a robot at coordinates (nq,); return its closure residual [m]."""
    for i in range(q.shape[0]):
        now.q[i] = q[i]
    forward_kinematics(flat, now)
    return close(flat, now)


@kernel
def group_jacobian(flat, now, g, A):
    """Write the closure's derivatives of group g into A."""
    width = flat.group_column_at[g + 1] - flat.group_column_at[g]
    for i in range(flat.group_row_at[g + 1] - flat.group_row_at[g]):
        A[i, :width] = 0.0
    group_entries(flat, now, g, A)


@kernel
def group_entries(flat, now, g, A):
    """Write the entries of the closure's derivatives of group g into A, which is zero."""
    m, start = flat.row_kind.shape[0], flat.group_row_at[g]
    for at_row in range(start, flat.group_row_at[g + 1]):
        row, out = flat.group_rows[at_row], A[at_row - start]
        if row >= m:
            leader, slope = now.q[flat.dof_q[flat.coupling_leader[row - m]]], 0.0
            for k in range(flat.coupling_coefficients.shape[1] - 1, 0, -1):
                slope = slope * leader + k * flat.coupling_coefficients[row - m, k]
            out[flat.coupling_column[row - m, 0]] += flat.size
            out[flat.coupling_column[row - m, 1]] -= flat.size * slope
            for k in range(flat.coupling_other_at[row - m], flat.coupling_other_at[row - m + 1]):
                out[flat.coupling_other_column[k]] -= flat.size * flat.coupling_slope[k]
            continue
        cut = flat.row_cut[row]
        fx, fy, fz = now.force[row, 0], now.force[row, 1], now.force[row, 2]
        mx, my, mz = now.moment[row, 0], now.moment[row, 1], now.moment[row, 2]
        for at in range(flat.loop_at[cut], flat.loop_at[cut + 1]):
            i = flat.loop[at]
            value = now.omega[i, 0] * mx + now.omega[i, 1] * my + now.omega[i, 2] * mz
            value += now.v[i, 0] * fx + now.v[i, 1] * fy + now.v[i, 2] * fz
            out[flat.loop_column[at]] = flat.loop_sign[at] * value


@kernel
def integrate(flat, q, step, scale, out):
    """Fill `out` (nq,), which may be q itself, with q (nq,) stepped by scale · step (d,).

    Scalar motions add, balls turn by the exponential.
    """
    for m in range(flat.kind.shape[0]):
        at, i = flat.at_q[m], flat.at_v[m]
        if flat.kind[m] == BALL:
            for k in range(4):
                out[at + k] = q[at + k]
            turned(out, at, scale * step[i], scale * step[i + 1], scale * step[i + 2])
        else:
            out[at] = q[at] + scale * step[i]


@kernel
def difference(flat, q, p, out):
    """Fill `out` (d,) with the step that `integrate` needs from p (nq,) to q (nq,)."""
    for m in range(flat.kind.shape[0]):
        at, i = flat.at_q[m], flat.at_v[m]
        if flat.kind[m] == BALL:
            out[i], out[i + 1], out[i + 2] = between(q, p, at)
        else:
            out[i] = q[at] - p[at]


@kernel(entry=False)
def largest_motion(flat, step):
    """Return the largest rotation [rad] of a step (d,), and its largest motion with slides in the robot's size."""
    turn, slide = 0.0, 0.0
    for m in range(flat.kind.shape[0]):
        i = flat.at_v[m]
        if flat.kind[m] == HINGE:
            turn = max(turn, abs(step[i]))
        elif flat.kind[m] == SLIDE:
            slide = max(slide, abs(step[i]) / flat.size)
        else:
            turn = max(turn, max(abs(step[i]), max(abs(step[i + 1]), abs(step[i + 2]))))
    return turn, max(turn, slide)


def state_of(flat: Flat, now: Placement) -> tuple[np.ndarray, np.ndarray]:
    """Return the state frames (1, n, 3) [m] and (1, n, 4) wxyz at a placement, as a motion of one sample."""
    position, quaternion = np.zeros((1, flat.bodies, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (1, flat.bodies, 1))
    read_state(flat, now, position[0], quaternion[0])
    return position, quaternion


def closure_jacobian(flat: Flat, now: Placement) -> np.ndarray:
    """Return the closure's derivatives (rows, d) at a placement after `forward_kinematics` and `close`."""
    J = np.zeros((len(now.value), len(flat.before)))
    for g in range(len(flat.group_row_at) - 1):
        columns = flat.group_columns[flat.group_column_at[g] : flat.group_column_at[g + 1]]
        rows = flat.group_rows[flat.group_row_at[g] : flat.group_row_at[g + 1]]
        A = np.zeros((len(rows), len(columns)))
        group_jacobian(flat, now, g, A)
        J[np.ix_(rows, columns)] = A
    return J
