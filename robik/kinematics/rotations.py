"""Compiled kernels for quaternions (wxyz, unit) and rotation vectors [rad]."""

from __future__ import annotations

from math import atan2, cos, sin, sqrt

from ..jit import inlined, kernel


@inlined
def cross(ax, ay, az, bx, by, bz):
    """Return a × b of two vectors given by their components."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def product(a, b, c, d, w, i, j, k):
    """Return (a, b, c, d) ⊗ (w, i, j, k) of two quaternions by components, numbers or arrays, real part first."""
    return (
        a * w - b * i - c * j - d * k,
        a * i + b * w + c * k - d * j,
        a * j - b * k + c * w + d * i,
        a * k + b * j - c * i + d * w,
    )


multiplied = inlined(product)


@inlined
def turned(q, at, x, y, z):
    """Replace the quaternion wxyz q[at:at + 4] by exp(x, y, z) ⊗ q for the rotation vector (x, y, z) [rad]."""
    angle = sqrt(x * x + y * y + z * z)
    s = 0.5 - angle * angle / 48.0 if angle < 1e-4 else sin(0.5 * angle) / angle
    a, b, c, d = cos(0.5 * angle), s * x, s * y, s * z
    w, i, j, k = q[at], q[at + 1], q[at + 2], q[at + 3]
    p0, p1, p2, p3 = multiplied(a, b, c, d, w, i, j, k)
    r = 1.0 / sqrt(p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
    q[at], q[at + 1], q[at + 2], q[at + 3] = p0 * r, p1 * r, p2 * r, p3 * r


@kernel
def between(q, p, at):
    """Return the rotation vector [rad] of q ⊗ p⁻¹ for quaternions wxyz at [at:at + 4], the shorter way round."""
    r0, r1, r2, r3 = multiplied(q[at], q[at + 1], q[at + 2], q[at + 3], p[at], -p[at + 1], -p[at + 2], -p[at + 3])
    if r0 < 0.0:
        r0, r1, r2, r3 = -r0, -r1, -r2, -r3
    s = sqrt(r1 * r1 + r2 * r2 + r3 * r3)
    f = 2.0 if s < 1e-12 else 2.0 * atan2(s, r0) / s
    return f * r1, f * r2, f * r3


@kernel
def matrix_to_quaternion(R, q):
    """Write the unit quaternion wxyz of the matrix R (3, 3) into q (4,).

    Of q and -q it is the one nearer to what q held.
    """
    t = R[0, 0] + R[1, 1] + R[2, 2]
    if t > 0.0:
        w, x, y, z = 1.0 + t, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:
        w, x, y, z = R[2, 1] - R[1, 2], 1.0 + R[0, 0] - R[1, 1] - R[2, 2], R[1, 0] + R[0, 1], R[2, 0] + R[0, 2]
    elif R[1, 1] >= R[2, 2]:
        w, x, y, z = R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], 1.0 + R[1, 1] - R[0, 0] - R[2, 2], R[2, 1] + R[1, 2]
    else:
        w, x, y, z = R[1, 0] - R[0, 1], R[2, 0] + R[0, 2], R[2, 1] + R[1, 2], 1.0 + R[2, 2] - R[0, 0] - R[1, 1]
    r = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    if w * q[0] + x * q[1] + y * q[2] + z * q[3] < 0.0:
        r = -r
    q[0], q[1], q[2], q[3] = w * r, x * r, y * r, z * r


@kernel
def matrices_to_quaternions(R, q):
    """Write the unit quaternions wxyz of matrices R (T, 3, 3) into q (T, 4), by their numerically largest component.

    Sign and rounding are those of SciPy's `Rotation`.
    """
    for k in range(R.shape[0]):
        M, to = R[k], q[k]
        trace, i = M[0, 0] + M[1, 1] + M[2, 2], 0
        for axis in range(1, 3):
            if M[axis, axis] > M[i, i]:
                i = axis
        if trace > M[i, i]:
            to[0], to[1] = 1.0 + trace, M[2, 1] - M[1, 2]
            to[2], to[3] = M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]
        else:
            j, m = (i + 1) % 3, (i + 2) % 3
            to[0], to[1 + i] = M[m, j] - M[j, m], 1.0 - trace + 2.0 * M[i, i]
            to[1 + j], to[1 + m] = M[j, i] + M[i, j], M[m, i] + M[i, m]
        length = sqrt(to[1] * to[1] + to[2] * to[2] + to[3] * to[3] + to[0] * to[0])
        for a in range(4):
            to[a] /= length


@inlined
def half_turn(R, P):
    """Return cosine and vector (sine × axis) of half the angle between the orientations R and P.

    They are the quaternion of R Pᵀ. Within 1e-6 rad of half a turn, where the vector is undetermined, the cosine is
    smoothed, and the vector stays minus twice its derivative.
    """
    a = R[0, 0] * P[0, 0] + R[0, 1] * P[0, 1] + R[0, 2] * P[0, 2]  # sums that do not wait for each other
    b = R[1, 0] * P[1, 0] + R[1, 1] * P[1, 1] + R[1, 2] * P[1, 2]
    c = R[2, 0] * P[2, 0] + R[2, 1] * P[2, 1] + R[2, 2] * P[2, 2]
    w = 0.5 * sqrt(max(1.0 + (a + b + c), 0.0) + 1e-12)
    x = y = z = 0.0
    for k in range(3):
        x += R[2, k] * P[1, k] - R[1, k] * P[2, k]
        y += R[0, k] * P[2, k] - R[2, k] * P[0, k]
        z += R[1, k] * P[0, k] - R[0, k] * P[1, k]
    s = 0.25 / w
    return w, s * x, s * y, s * z


@inlined
def multiply(A, B, C):
    """Fill C with A B for 3 × 3 matrices; C is another array than the factors."""
    for i in range(3):
        a, b, c = A[i, 0], A[i, 1], A[i, 2]
        for j in range(3):
            C[i, j] = a * B[0, j] + b * B[1, j] + c * B[2, j]
