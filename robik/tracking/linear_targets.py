"""Tasks of the differential tracker: what a step should bring, as rows that are linear in it.

A task has an error e, a Jacobian J of what it measures, weights w and a gain K in (0, 1]: a step dy of the robot's
degrees of freedom should bring J dy = K e, so it minimises ½ Σ w (J dy - K e)². K = 0.5 asks to halve the error in each
step. To this each task adds Levenberg-Marquardt damping by its error, ½ μ w (e² + ℓ |e′|) |dy|². The square is
Sugihara's (2011): far from its target the robot takes small steps. The other part stands in for the curvature that J
leaves out, a force w e′ on a lever ℓ: e′ is what was left of the error by the last step, so a target that is met costs
nothing, and one out of reach is held without chatter.

    place   e = R_oᵀ (p̂ - p)            where frame p should be, seen from frame o (or the world); weights along o's
    axes turn    e = axes · log(R̂ Rᵀ)        the turn that is missing, about the frame's own axes
    com     e = ĉ - c
    posture e = q̂ - q                   per coordinate

Where motors accelerate only so fast, a robot that goes for the whole error at once arrives too fast and swings about
its target. So what the targets themselves moved since the last step is asked for apart from what else is missing
(`quadratic`), and of the latter only as much as the motors can brake for (`velocity_step.py`).
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import NamedTuple

import numpy as np

from ..jit import inlined, kernel
from ..kinematics.kernels import rotate
from ..kinematics.null_space import reduce_gradient
from ..kinematics.rotations import cross, multiply
from .limits import BRAKES, approach


class LinearTargets(NamedTuple):
    """Linearised targets of t frames and the centre of mass: six rows a frame and three for the centre of mass."""

    body: np.ndarray  # (t,) body of a frame
    other: np.ndarray  # (t,) body that it is seen from, 0 for the world
    point: np.ndarray  # (t, 3) the frame on its body [m]
    axes: np.ndarray  # (t, 3, 3) likewise
    other_point: np.ndarray  # (t, 3) the frame that it is seen from, on its body [m]
    other_axes: np.ndarray  # (t, 3, 3) likewise
    position: np.ndarray  # (t, 3) target, seen from the other frame [m]
    rotation: np.ndarray  # (t, 3, 3) likewise
    place_weight: np.ndarray  # (t, 3) weights of the position
    turn_weight: np.ndarray  # (t, 3) weights of the orientation
    gain: np.ndarray  # (t + 1,) the centre of mass's last
    damping: np.ndarray  # (t + 1,) likewise
    com: np.ndarray  # (3,) target of the centre of mass [m]
    com_weight: np.ndarray  # (3,)
    posture: np.ndarray  # (d,) preferred coordinates [rad or m]
    posture_pull: np.ndarray  # (d,) their weights
    posture_gain: np.ndarray  # (1,)
    last_position: np.ndarray  # (t, 3) target of the step before
    last_rotation: np.ndarray  # (t, 3, 3) likewise
    last_com: np.ndarray  # (3,) likewise
    last_posture: np.ndarray  # (d,) likewise
    rows: np.ndarray  # (6 t + 3, d) J
    error: np.ndarray  # (6 t + 3,) K e
    moved: np.ndarray  # (6 t + 3,) share of e by which the target moved since the last step
    weight: np.ndarray  # (6 t + 3,) w
    pulls: np.ndarray  # (3, d) scratch
    turns: np.ndarray  # (5, 3, 3) scratch


@inlined
def _add(flat, now, b, sign, mx, my, mz, fx, fy, fz, row):
    """Add to a row what the wrench (moment, force) reads off the screws that move body b."""
    i = flat.tip[b]
    while i >= 0:
        w, v = now.omega[i], now.v[i]
        row[i] += sign * (w[0] * mx + w[1] * my + w[2] * mz + v[0] * fx + v[1] * fy + v[2] * fz)
        i = flat.before[i]


@kernel
def turn_between(A, B, t):
    """Fill t (3,) with the rotation vector [rad] that takes the orientation A (3, 3) to B (3, 3)."""
    trace = 0.0
    for i in range(3):
        for k in range(3):
            trace += A[i, k] * B[i, k]
    x = y = z = 0.0
    for k in range(3):
        x += A[1, k] * B[2, k] - A[2, k] * B[1, k]
        y += A[2, k] * B[0, k] - A[0, k] * B[2, k]
        z += A[0, k] * B[1, k] - A[1, k] * B[0, k]
    s = sqrt(x * x + y * y + z * z)  # 2 sin of the angle; the trace is 1 + 2 cos
    if s > 1e-6 or trace > 0.0:
        f = 0.5 if s < 1e-9 else atan2(s, trace - 1.0) / s
        t[0], t[1], t[2] = f * x, f * y, f * z
        return
    best, widest = 0, -2.0  # half a turn: its axis is the column of B Aᵀ + 1 that is longest
    for j in range(3):
        diagonal = 0.0
        for k in range(3):
            diagonal += B[j, k] * A[j, k]
        if diagonal > widest:
            best, widest = j, diagonal
    length = 0.0
    for i in range(3):
        t[i] = 1.0 if i == best else 0.0
        for k in range(3):
            t[i] += B[i, k] * A[best, k]
        length += t[i] * t[i]
    for i in range(3):
        t[i] *= np.pi / sqrt(length)


@kernel
def _missing_turn(weights, now_axes, wanted, t):
    """Into t (3,): the turn from the axes to those wanted.

    Where one axis alone counts, the shortest that brings that one home.
    """
    counted, only = 0, 0
    for a in range(3):
        if weights[a] > 0.0:
            counted, only = counted + 1, a
    if counted != 1:
        turn_between(now_axes, wanted, t)
        return
    x, y, z = cross(
        now_axes[0, only], now_axes[1, only], now_axes[2, only], wanted[0, only], wanted[1, only], wanted[2, only]
    )
    s, c = sqrt(x * x + y * y + z * z), 0.0
    for k in range(3):
        c += now_axes[k, only] * wanted[k, only]
    if s < 1e-9 and c < 0.0:  # turned right over: about any other axis
        x, y, z, s = now_axes[0, (only + 1) % 3], now_axes[1, (only + 1) % 3], now_axes[2, (only + 1) % 3], 1.0
        t[0], t[1], t[2] = np.pi * x, np.pi * y, np.pi * z
        return
    f = 1.0 if s < 1e-9 else atan2(s, c) / s
    t[0], t[1], t[2] = f * x, f * y, f * z


@kernel
def _frame_rows(flat, now, linear, k):
    """Fill the six rows of frame task k."""
    b, o = linear.body[k], linear.other[k]
    own, seen, wanted, turn, turned = (
        linear.turns[0],
        linear.turns[1],
        linear.turns[2],
        linear.turns[3, 0],
        linear.turns[3, 1],
    )
    multiply(now.R[b], linear.axes[k], own)
    multiply(now.R[o], linear.other_axes[k], seen)
    multiply(seen, linear.rotation[k], wanted)
    _missing_turn(linear.turn_weight[k], own, wanted, turn)
    multiply(seen, linear.last_rotation[k], linear.turns[4])
    _missing_turn(linear.turn_weight[k], linear.turns[4], wanted, turned)
    px, py, pz = rotate(now.R[b], linear.point[k])
    px, py, pz = px + now.c[b, 0], py + now.c[b, 1], pz + now.c[b, 2]
    gx, gy, gz = rotate(seen, linear.position[k])
    ox, oy, oz = rotate(now.R[o], linear.other_point[k])
    ex, ey, ez = gx + ox + now.c[o, 0] - px, gy + oy + now.c[o, 1] - py, gz + oz + now.c[o, 2] - pz
    sway = linear.turn_weight[k]
    for a in range(3):
        i, weight = 6 * k + a, linear.place_weight[k, a]
        linear.weight[i] = weight
        if weight > 0.0:
            x, y, z = seen[0, a], seen[1, a], seen[2, a]
            linear.error[i] = linear.gain[k] * (x * ex + y * ey + z * ez)
            linear.moved[i] = linear.position[k, a] - linear.last_position[k, a]
            mx, my, mz = cross(px, py, pz, x, y, z)
            _add(flat, now, b, 1.0, mx, my, mz, x, y, z, linear.rows[i])
            _add(flat, now, o, -1.0, mx, my, mz, x, y, z, linear.rows[i])
        i, weight = i + 3, sway[(a + 1) % 3] + sway[(a + 2) % 3]  # a turn about one axis moves the other two
        linear.weight[i] = weight
        if weight > 0.0:
            x, y, z = own[0, a], own[1, a], own[2, a]
            linear.error[i] = linear.gain[k] * (x * turn[0] + y * turn[1] + z * turn[2])
            linear.moved[i] = x * turned[0] + y * turned[1] + z * turned[2]
            _add(flat, now, b, 1.0, x, y, z, 0.0, 0.0, 0.0, linear.rows[i])
            _add(flat, now, o, -1.0, x, y, z, 0.0, 0.0, 0.0, linear.rows[i])


@kernel
def _com_rows(flat, now, linear, first):
    """Fill the three rows of the centre of mass."""
    mx = my = mz = 0.0
    for b in range(1, flat.parent.shape[0]):
        m, c = flat.mass[b], now.c[b]
        mx, my, mz = mx + m * c[0], my + m * c[1], mz + m * c[2]
        if m > 0.0:
            i = flat.tip[b]
            while i >= 0:
                w, v = now.omega[i], now.v[i]
                x, y, z = cross(w[0], w[1], w[2], c[0], c[1], c[2])
                linear.rows[first, i] += m * (x + v[0])
                linear.rows[first + 1, i] += m * (y + v[1])
                linear.rows[first + 2, i] += m * (z + v[2])
                i = flat.before[i]
    gain = linear.gain[linear.body.shape[0]]
    linear.error[first] = gain * (linear.com[0] - mx)
    linear.error[first + 1] = gain * (linear.com[1] - my)
    linear.error[first + 2] = gain * (linear.com[2] - mz)
    for a in range(3):
        linear.moved[first + a] = linear.com[a] - linear.last_com[a]


@kernel
def take_targets(tables, linear):
    """Copy the objectives' targets to the tasks."""
    frames = tables.frame_pose
    for i in range(3):
        linear.com[i] = tables.centre_of_mass.target[i]
        for k in range(frames.body.shape[0]):
            linear.position[k, i] = frames.position[k, i]
            for j in range(3):
                linear.rotation[k, i, j] = frames.rotation[k, i, j]


@kernel
def remember_targets(linear):
    """Keep the tasks' targets as those of the step before."""
    for i in range(3):
        linear.last_com[i] = linear.com[i]
        for k in range(linear.body.shape[0]):
            linear.last_position[k, i] = linear.position[k, i]
            for j in range(3):
                linear.last_rotation[k, i, j] = linear.rotation[k, i, j]
    for i in range(linear.posture.shape[0]):
        linear.last_posture[i] = linear.posture[i]


@kernel
def linearise(flat, now, linear):
    """Fill rows, errors and weights at a placement; return the Levenberg-Marquardt damping Σ μ w (e² + ℓ |e′|)."""
    t = linear.body.shape[0]
    linear.rows[:] = 0.0
    linear.error[:] = 0.0
    for k in range(t):
        _frame_rows(flat, now, linear, k)
    has_com = False
    for a in range(3):
        linear.weight[6 * t + a] = linear.com_weight[a]
        has_com = has_com or linear.com_weight[a] > 0.0
    if has_com:
        _com_rows(flat, now, linear, 6 * t)
    damping = 0.0
    for i in range(6 * t + 3):
        if linear.weight[i] > 0.0:
            error = linear.error[i] / linear.gain[i // 6]
            lever = 0.5 if i % 6 > 2 else flat.size
            damping += (
                linear.damping[i // 6] * linear.weight[i] * (error * error + lever * abs(error - linear.moved[i]))
            )
    return damping


@kernel(entry=False)
def quadratic(flat, now, linear, e, independent, n, damping, acceleration, dt, P, g, rest):
    """Fill P (n, n), g (n,) and `rest` (n,) of ½ zᵀ P z + (g + share · rest)ᵀ z.

    It is the tasks' cost over a step z of n independent degrees of freedom. g is from the targets' own motion and
    the posture, `rest` from the remaining error; `damping` weighs the squares of all degrees of freedom's steps.
    """
    P[:n, :n] = 0.0
    g[:n] = 0.0
    rest[:n] = 0.0
    for i in range(linear.rows.shape[0]):
        if linear.weight[i] > 0.0:
            row, moved = linear.rows[i], linear.moved[i]
            reduce_gradient(flat, e, row)
            _accumulate(row, linear.weight[i], moved, independent, n, P, g)
            for a in range(n):
                rest[a] -= linear.weight[i] * row[independent[a]] * (linear.error[i] - moved)
    pull, wanted, row = linear.pulls[0], linear.pulls[1], linear.pulls[2]
    for m in range(pull.shape[0]):
        pull[m], wanted[m], at = damping + linear.posture_pull[m], 0.0, flat.dof_q[m]
        if linear.posture_pull[m] > 0.0:
            moved = linear.posture[m] - linear.last_posture[m]
            away = linear.last_posture[m] - now.q[at]
            least = min(linear.posture_gain[0] * abs(away), dt * approach(abs(away), dt, 1.0, BRAKES * acceleration[m]))
            wanted[m] = linear.posture_pull[m] / pull[m] * (moved + np.copysign(least, away))
        if e.dependent[m]:
            row[:] = 0.0
            row[m] = 1.0
            reduce_gradient(flat, e, row)
            _accumulate(row, pull[m], wanted[m], independent, n, P, g)
    for a in range(n):
        i = independent[a]
        P[a, a] += pull[i]
        g[a] -= pull[i] * wanted[i]
    for a in range(n):
        for b in range(a):
            P[b, a] = P[a, b]


@kernel
def _accumulate(row, weight, wanted, independent, n, P, g):
    """Add ½ weight (row · z - wanted)² to the lower half of P and to g."""
    for a in range(n):
        x = weight * row[independent[a]]
        if x != 0.0:
            g[a] -= x * wanted
            for b in range(a + 1):
                P[a, b] += x * row[independent[b]]
