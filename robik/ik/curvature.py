"""Second derivatives of the closure rows, weighed by their multipliers, in compiled form."""

from __future__ import annotations

from ..jit import inlined, kernel
from ..kinematics.kernels import rotate
from ..kinematics.rotations import cross
from ..mechanism.constraints import OFFSET


@kernel
def closure_curvature(flat, now, multiplier, A):
    """Fill A.bend (clusters, most, most) = -Σ λ ∂²c/∂y² for multipliers λ (rows,).

    The rows are functions of the motion of b against a: a serial chain along the loop.
    """
    D, f, U, bend = A.D, A.f, A.U, A.bend
    _clear(flat, bend)
    for cut in range(flat.cut_a.shape[0]):
        a, b = flat.cut_a[cut], flat.cut_b[cut]
        D[:] = 0.0
        f[:] = 0.0
        any_force = False
        px, py, pz = rotate(now.R[b], flat.cut_pb[cut])
        px, py, pz = px + now.c[b, 0], py + now.c[b, 1], pz + now.c[b, 2]
        for row in range(flat.cut_row[cut], flat.cut_row[cut + 1]):
            force = -multiplier[row]
            if force == 0.0:
                continue
            any_force = True
            gx, gy, gz = rotate(now.R[a], flat.row_u[row])
            x, y, z = px, py, pz
            if flat.row_kind[row] == OFFSET:
                gx, gy, gz = force * gx, force * gy, force * gz
                f[0], f[1], f[2] = f[0] + gx, f[1] + gy, f[2] + gz
            else:
                force *= flat.size
                gx, gy, gz = force * gx, force * gy, force * gz
                x, y, z = rotate(now.R[b], flat.row_w[row])
            D[0, 0], D[0, 1], D[0, 2] = D[0, 0] + x * gx, D[0, 1] + x * gy, D[0, 2] + x * gz
            D[1, 0], D[1, 1], D[1, 2] = D[1, 0] + y * gx, D[1, 1] + y * gy, D[1, 2] + y * gz
            D[2, 0], D[2, 1], D[2, 2] = D[2, 0] + z * gx, D[2, 1] + z * gy, D[2, 2] + z * gz
        if any_force:
            _bend_loop(flat, now, cut, D, f, U, bend)
    m = flat.row_kind.shape[0]
    for g in range(flat.coupling_leader.shape[0]):
        leader, second = flat.coupling_leader[g], 0.0
        value = now.q[flat.dof_q[leader]]
        for k in range(flat.coupling_coefficients.shape[1] - 1, 1, -1):
            second = second * value + k * (k - 1) * flat.coupling_coefficients[g, k]
        place = flat.place_in[leader]
        bend[flat.cluster_of_dof[leader], place, place] += multiplier[m + g] * flat.size * second


@inlined
def _clear(flat, bend):
    """Set to zero what may have been filled."""
    for c in range(flat.cluster_on.shape[0]):
        if flat.cluster_group_at[c] < flat.cluster_group_at[c + 1]:
            start = flat.cluster_dof_at[c]
            for at in range(start, flat.cluster_dof_at[c + 1]):
                bend[c, at - start, flat.span_first[at] : flat.span_beyond[at]] = 0.0


@kernel
def _bend_loop(flat, now, cut, D, f, U, bend):
    start, stop = flat.loop_at[cut], flat.loop_at[cut + 1]
    if start == stop:
        return
    K = bend[flat.cluster_of_dof[flat.loop[start]]]
    for q in range(start, stop):
        j = flat.loop[q]
        u = U[j]
        u[:] = 0.0
        screw_response(D, f, now.omega[j], now.v[j], u)
    for q in range(start, stop):
        j = flat.loop[q]
        for p in range(start, q + 1):
            i = flat.loop[p]
            w, u = now.omega[i], U[j]
            value = w[0] * u[0] + w[1] * u[1] + w[2] * u[2]
            if i != j and flat.ball[i] >= 0 and flat.ball[i] == flat.ball[j]:
                w, u = now.omega[j], U[i]
                value = 0.5 * (value + w[0] * u[0] + w[1] * u[1] + w[2] * u[2])
            value *= flat.loop_sign[p] * flat.loop_sign[q]
            i, to = flat.place_in[i], flat.place_in[j]
            K[i, to] += value
            if i != to:
                K[to, i] += value


@inlined
def screw_response(D, f, w, v, u):
    """Add to u (6,) the wrench of D (3, 3) and f (3,) against the screw (w, v): D ω - tr(D) ω + v × f."""
    trace = D[0, 0] + D[1, 1] + D[2, 2]
    x, y, z = cross(v[0], v[1], v[2], f[0], f[1], f[2])
    u[0] += D[0, 0] * w[0] + D[0, 1] * w[1] + D[0, 2] * w[2] - trace * w[0] + x
    u[1] += D[1, 0] * w[0] + D[1, 1] * w[1] + D[1, 2] * w[2] - trace * w[1] + y
    u[2] += D[2, 0] * w[0] + D[2, 1] * w[1] + D[2, 2] * w[2] - trace * w[2] + z
