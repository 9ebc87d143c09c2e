"""Second derivatives of the closure rows, weighed by their multipliers, in compiled form."""

from __future__ import annotations

from ..jit import inlined, kernel
from ..mechanism.constraints import OFFSET
from .kernels import rotate
from .rotations import cross


@kernel
def closure_curvature(flat, now, multiplier, A):
    """Fill A.bend (clusters, most, most) = -Σ λ ∂²c/∂y² for multipliers λ (rows,).

    The rows are functions of the motion of b against a: a serial chain along the loop.
    """
    D, f, U, bend = A.D, A.f, A.U, A.bend
    _clear(flat, bend)
    for cut in range(flat.cut_a.shape[0]):
        if _load(flat, now, cut, multiplier, D, f):
            _bend_loop(flat, now, cut, D, f, U, bend)
    m = flat.row_kind.shape[0]
    for g in range(flat.coupling_leader.shape[0]):
        leader = flat.coupling_leader[g]
        place = flat.place_in[leader]
        bend[flat.cluster_of_dof[leader], place, place] += multiplier[m + g] * flat.size * _second(flat, now, g)


@kernel
def curvature_along(flat, now, multiplier, step, A, out):
    """Fill out (d,) = -Σ λ ∂²c/∂y² · step for multipliers λ (rows,) and a step (d,)."""
    D, f, U = A.D, A.f, A.U
    out[:] = 0.0
    for cut in range(flat.cut_a.shape[0]):
        if _load(flat, now, cut, multiplier, D, f):
            _bend_along(flat, now, cut, D, f, U, step, out)
    m = flat.row_kind.shape[0]
    for g in range(flat.coupling_leader.shape[0]):
        leader = flat.coupling_leader[g]
        out[leader] += multiplier[m + g] * flat.size * _second(flat, now, g) * step[leader]


@inlined
def _second(flat, now, g):
    """Return the second derivative of a coupling's polynomial."""
    second, value = 0.0, now.q[flat.dof_q[flat.coupling_leader[g]]]
    for k in range(flat.coupling_coefficients.shape[1] - 1, 1, -1):
        second = second * value + k * (k - 1) * flat.coupling_coefficients[g, k]
    return second


@kernel
def _load(flat, now, cut, multiplier, D, f):
    """Fill the force f (3,) of a cut's rows on its b side, and its moments D (3, 3); return whether there is any."""
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
    return any_force


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
    _respond(flat, now, cut, D, f, U)
    for q in range(start, stop):
        j = flat.loop[q]
        for p in range(start, q + 1):
            i, value = flat.loop[p], _between(flat, now, U, p, q)
            i, to = flat.place_in[i], flat.place_in[j]
            K[i, to] += value
            if i != to:
                K[to, i] += value


@kernel
def _bend_along(flat, now, cut, D, f, U, step, out):
    """Add the second derivatives of a cut's rows times a step (d,) to `out` (d,)."""
    _respond(flat, now, cut, D, f, U)
    for q in range(flat.loop_at[cut], flat.loop_at[cut + 1]):
        j = flat.loop[q]
        for p in range(flat.loop_at[cut], q + 1):
            i, value = flat.loop[p], _between(flat, now, U, p, q)
            out[i] += value * step[j]
            if p != q:
                out[j] += value * step[i]


@inlined
def _respond(flat, now, cut, D, f, U):
    """Fill the wrench U (d, 6) of a cut's load against each screw of its loop."""
    for q in range(flat.loop_at[cut], flat.loop_at[cut + 1]):
        j = flat.loop[q]
        u = U[j]
        u[:] = 0.0
        screw_response(D, f, now.omega[j], now.v[j], u)


@inlined
def _between(flat, now, U, p, q):
    """Return the second derivative over entries p and q of `flat.loop`, p not beyond q."""
    i, j = flat.loop[p], flat.loop[q]
    w, u = now.omega[i], U[j]
    value = w[0] * u[0] + w[1] * u[1] + w[2] * u[2]
    if i != j and flat.ball[i] >= 0 and flat.ball[i] == flat.ball[j]:
        w, u = now.omega[j], U[i]
        value = 0.5 * (value + w[0] * u[0] + w[1] * u[1] + w[2] * u[2])
    return value * flat.loop_sign[p] * flat.loop_sign[q]


@inlined
def screw_response(D, f, w, v, u):
    """Add to u (6,) the wrench of D (3, 3) and f (3,) against the screw (w, v): D ω - tr(D) ω + v × f."""
    trace = D[0, 0] + D[1, 1] + D[2, 2]
    x, y, z = cross(v[0], v[1], v[2], f[0], f[1], f[2])
    u[0] += D[0, 0] * w[0] + D[0, 1] * w[1] + D[0, 2] * w[2] - trace * w[0] + x
    u[1] += D[1, 0] * w[0] + D[1, 1] * w[1] + D[1, 2] * w[2] - trace * w[1] + y
    u[2] += D[2, 0] * w[0] + D[2, 1] * w[1] + D[2, 2] * w[2] - trace * w[2] + z
