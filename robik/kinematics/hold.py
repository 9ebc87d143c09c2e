"""Hold of groups of loops at one placement, with its exact derivative, in compiled form.

In coordinates x [rad, and slides in lengths of the robot] hold σ is the least |P v| over motions C v = 0 of length one
(`singularity.py`). With the multipliers μ of Cᵀ μ = Pᵀ P v − σ² v at the motion v that actuators see least,

    ∂σ = −μᵀ (∂C) v / σ

so it costs one product of the loops' second derivatives with v. Where as many actuators as freedoms move a group, σ has
a sign: that of det(P N), N carried along from a reference. So signed, it is smooth where it goes through 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..mechanism.topology import Flat
from .curvature import curvature_along
from .dense import diagonalise, negative_pivots
from .elimination import Elimination, eliminate, new_elimination
from .kernels import Placement, new_placement, stand_at
from .null_space import extend_group, multipliers

ALIKE = 0.1  # of 1: the least determinant by which two bases of motions still are the same one, carried along
MOVES = 0.1  # of what moves most in a motion: a body or an actuator with less has little part in it


class Loops(NamedTuple):
    """A group of equations that share joints, its closed form near the rest pose."""

    number: int  # of the group
    columns: np.ndarray  # (w,) its degrees of freedom
    driven: np.ndarray  # (motors,) places of those among them that actuators move
    unit: np.ndarray  # (w,) what one of each is [rad or m]
    free: int  # motions that keep the loops closed
    seen: int  # of these, those that actuators see
    usual: float  # the largest hold


class Watch(NamedTuple):
    """The k groups whose hold is measured, and scratch; n motions and w columns of the largest."""

    groups: np.ndarray  # (k,) their numbers
    free: np.ndarray  # (k,) motions of each
    seen: np.ndarray  # (k,) motions that its actuators see
    is_signed: np.ndarray  # (k,) whether it has no actuators beyond these
    driven: np.ndarray  # (d,) whether an actuator moves it
    unit: np.ndarray  # (d,) what one of each is [rad or m]
    idle: np.ndarray  # (n + 1,) whether no actuator determines a body; the last of all says whether there are any
    e: Elimination  # factors at the placement
    probe: Placement  # scratch
    ways: np.ndarray  # (n, d) a step along each motion
    chosen: np.ndarray  # (n,) independent coordinate of each
    basis: np.ndarray  # (n, w) the same, orthonormal
    gram: np.ndarray  # (n, n) what actuators see of them; then its eigenvalues on the diagonal
    vectors: np.ndarray  # (n + 1, n) its eigenvectors, row by row
    order: np.ndarray  # (n,) its eigenvalues' places, the least first
    sight: np.ndarray  # (n, w) orthonormal motions that actuators see
    reference: np.ndarray  # (k, n, w) the same where signs are carried along from
    side: np.ndarray  # (k,) sign of det(P N) there
    square: np.ndarray  # (n, n) scratch
    motion: np.ndarray  # (d,) the motion that actuators see least [rad or m]
    force: np.ndarray  # (d,) scratch
    multiplier: np.ndarray  # (rows,) μ
    xi: np.ndarray  # (n + 1, 6) scratch: screws of the bodies
    D: np.ndarray  # (3, 3) scratch
    f: np.ndarray  # (3,) scratch
    U: np.ndarray  # (d, 6) scratch


def new_watch(loops: Sequence[Loops], idle: np.ndarray, flat: Flat, rest: np.ndarray) -> Watch:
    """Return what is watched of a robot at rest (nq,): the hold of loops, beside which bodies (n,) may be idle."""
    d, k = len(flat.before) if loops else 0, len(loops)
    n, w = max((each.free for each in loops), default=0), max((len(each.columns) for each in loops), default=0)
    driven, unit = np.zeros(d, bool), np.ones(d)
    for each in loops:
        driven[each.columns[each.driven]], unit[each.columns] = True, each.unit
    return by_reference(Watch(
        groups=np.array([each.number for each in loops], np.int64),
        free=np.array([each.free for each in loops], np.int64),
        seen=np.array([each.seen for each in loops], np.int64),
        is_signed=np.array([len(each.driven) == each.seen for each in loops], bool),
        driven=driven, unit=unit, idle=np.concatenate([[False], idle, [idle.any()]]),
        e=new_elimination(flat), probe=new_placement(flat, rest),
        ways=np.zeros((n, d)), chosen=np.zeros(n, np.int64), basis=np.zeros((n, w)), gram=np.zeros((n, n)),
        vectors=np.zeros((n + 1, n)), order=np.zeros(n, np.int64), sight=np.zeros((n, w)),
        reference=np.zeros((k, n, w)), side=np.zeros(k), square=np.zeros((n, n)), motion=np.zeros(d),
        force=np.zeros(d), multiplier=np.zeros(len(flat.row_kind) + len(flat.coupling_leader)),
        xi=np.zeros((len(flat.parent), 6)), D=np.zeros((3, 3)), f=np.zeros(3), U=np.zeros((d, 6)),
    ))  # fmt: skip


@kernel
def holds_along(flat, now, w, q, hold, is_usual, is_crossed):
    """Fill the hold (T, k) of each group, whether its loops do not fold flat, and whether it went through 0 since."""
    w.side[:] = 0.0
    for t in range(q.shape[0]):
        stand_at(flat, now, q[t])
        eliminate(flat, now, w.e)
        for k in range(w.groups.shape[0]):
            hold[t, k], is_usual[t, k] = measure(flat, w, k)
            is_crossed[t, k] = is_usual[t, k] and signed(flat, w, k) < 0.0
            if is_usual[t, k]:
                refer(flat, w, k, 1.0)
            else:
                w.side[k] = 0.0


@kernel
def _fill_ways(flat, w, k):
    """Fill a step along each motion of a group from the factors at hand; return False where loops fold flat."""
    g = w.groups[k]
    c0, n = flat.group_column_at[g], w.free[k]
    first = c0 + w.e.rank[g]
    if flat.group_column_at[g + 1] - first != n:
        return False
    for a in range(n):
        way = w.ways[a]
        way[:] = 0.0
        w.chosen[a] = w.e.column[first + a]
        way[w.chosen[a]] = 1.0
        extend_group(flat, w.e, g, way)
    return True


@kernel
def is_far(flat, w, k, least):
    """Return whether a group's hold is at least so much, by the factors at hand: the cheap test.

    Of PᵀP − least² over the motions, only idle ones may have negative eigenvalues.
    """
    if not _fill_ways(flat, w, k):
        return False
    g, n, A = w.groups[k], w.free[k], w.gram
    for a in range(n):
        for b in range(a + 1):
            A[a, b] = 0.0
    for at in range(flat.group_column_at[g], flat.group_column_at[g + 1]):
        i = flat.group_columns[at]
        weight = ((1.0 if w.driven[i] else 0.0) - least * least) / (w.unit[i] * w.unit[i])
        for a in range(n):
            x = weight * w.ways[a, i]
            if x != 0.0:
                for b in range(a + 1):
                    A[a, b] += x * w.ways[b, i]
    for a in range(n):
        for b in range(a):
            A[b, a] = A[a, b]
    return negative_pivots(A, n) == n - w.seen[k]


@kernel
def measure(flat, w, k):
    """Return a group's hold by the factors at hand, and whether loops do not fold flat; fill the motions."""
    if not _fill_ways(flat, w, k):
        return 0.0, False
    g, n = w.groups[k], w.free[k]
    c0, width = flat.group_column_at[g], flat.group_column_at[g + 1] - flat.group_column_at[g]
    for a in range(n):
        for i in range(width):
            dof = flat.group_columns[c0 + i]
            w.basis[a, i] = w.ways[a, dof] / w.unit[dof]
    _orthonormalise(w.basis, n, width)
    for a in range(n):
        for b in range(a + 1):
            total = 0.0
            for i in range(width):
                if w.driven[flat.group_columns[c0 + i]]:
                    total += w.basis[a, i] * w.basis[b, i]
            w.gram[a, b] = total
            w.gram[b, a] = total
    diagonalise(w.gram, w.vectors, n)
    _put_in_order(w.gram, w.order, n)
    least = w.order[n - w.seen[k]]
    _fill_sight(w, k, width)
    return sqrt(max(w.gram[least, least], 0.0)), True


@kernel
def _orthonormalise(basis, n, width):
    """Make the first n rows orthogonal to each other, twice for what rounding leaves, and of length one."""
    for a in range(n):
        row = basis[a]
        for _ in range(2):
            for b in range(a):
                share = 0.0
                for i in range(width):
                    share += basis[b, i] * row[i]
                for i in range(width):
                    row[i] -= share * basis[b, i]
            length = 0.0
            for i in range(width):
                length += row[i] * row[i]
            length = sqrt(length)
            for i in range(width):
                row[i] /= length


@inlined
def _put_in_order(gram, order, n):
    """Fill the places of the diagonal's n entries, the least first."""
    for a in range(n):
        at = a
        while at > 0 and gram[order[at - 1], order[at - 1]] > gram[a, a]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = a


@kernel
def _fill_sight(w, k, width):
    """Fill the orthonormal motions that actuators see, the one that they see least first."""
    n, seen = w.free[k], w.seen[k]
    for s in range(seen):
        vector = w.vectors[w.order[n - seen + s]]
        for i in range(width):
            total = 0.0
            for a in range(n):
                total += vector[a] * w.basis[a, i]
            w.sight[s, i] = total


@kernel
def _side(flat, w, k):
    """Return the sign of det(P N) over the motions that actuators see."""
    g, seen, column = w.groups[k], w.seen[k], 0
    for at in range(flat.group_column_at[g], flat.group_column_at[g + 1]):
        if w.driven[flat.group_columns[at]]:
            for s in range(seen):
                w.square[s, column] = w.sight[s, at - flat.group_column_at[g]]
            column += 1
    return 1.0 if _determinant(w.square, seen) >= 0.0 else -1.0


@kernel
def signed(flat, w, k):
    """Return the sign of a group's hold against the reference; 1 where it has none or the reference is too far away."""
    if not w.is_signed[k]:
        return 1.0
    g, seen = w.groups[k], w.seen[k]
    width = flat.group_column_at[g + 1] - flat.group_column_at[g]
    for s in range(seen):
        for t in range(seen):
            total = 0.0
            for i in range(width):
                total += w.reference[k, s, i] * w.sight[t, i]
            w.square[s, t] = total
    turn = _determinant(w.square, seen)
    if abs(turn) < ALIKE:
        return 1.0
    return _side(flat, w, k) * w.side[k] * (1.0 if turn > 0.0 else -1.0)


@kernel
def refer(flat, w, k, sign):
    """Make the pose that was measured the reference, where hold has this sign."""
    if w.is_signed[k]:
        w.side[k] = sign * _side(flat, w, k)
        for s in range(w.seen[k]):
            for i in range(w.sight.shape[1]):
                w.reference[k, s, i] = w.sight[s, i]


@kernel
def _determinant(A, n):
    """Return the determinant of A[:n, :n], which is lost."""
    total = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if A[best, k] == 0.0:
            return 0.0
        if best != k:
            total = -total
            for j in range(k, n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        total *= A[k, k]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= f * A[k, j]
    return total


@kernel
def fill_motion(flat, w, k):
    """Fill the motion that the actuators of a measured group see least."""
    c0 = flat.group_column_at[w.groups[k]]
    w.motion[:] = 0.0
    for i in range(flat.group_column_at[w.groups[k] + 1] - c0):
        dof = flat.group_columns[c0 + i]
        w.motion[dof] = w.sight[0, i] * w.unit[dof]


@kernel
def gradient(flat, now, w, k, hold, out):
    """Fill out (d,) with the derivative of a group's hold where it was measured at `now`, its sign aside."""
    fill_motion(flat, w, k)
    w.force[:] = 0.0
    for at in range(flat.group_column_at[w.groups[k]], flat.group_column_at[w.groups[k] + 1]):
        i = flat.group_columns[at]
        w.force[i] = ((1.0 if w.driven[i] else 0.0) - hold * hold) * w.motion[i] / (w.unit[i] * w.unit[i])
    multipliers(flat, w.e, w.force, w.multiplier)
    curvature_along(flat, now, w.multiplier, w.motion, w, out)
    for i in range(out.shape[0]):
        out[i] /= max(hold, 1e-9)


@kernel
def share(flat, now, w):
    """Return how much of `motion` is one of bodies that actuators determine: 1 where these have a part in it."""
    if not w.idle[w.idle.shape[0] - 1]:
        return 1.0
    largest, own = 1e-300, 0.0
    fill_screws(flat, now, w.motion, w.xi)
    for b in range(1, flat.bodies + 1):
        size = _size(flat, now, w.xi[b], b)
        largest = max(largest, size)
        if not w.idle[b]:
            own = max(own, size)
    return min(1.0, max(own / (MOVES * largest), 1e-12))


@kernel
def sizes(flat, now, motion, xi, out):
    """Fill how far a motion (d,) turns [rad] and moves [sizes] each body (bodies,)."""
    fill_screws(flat, now, motion, xi)
    for b in range(1, flat.bodies + 1):
        out[b - 1] = _size(flat, now, xi[b], b)


@kernel
def fill_screws(flat, now, motion, xi):
    """Fill the screw of each body (bodies + 1, 6) in a motion (d,)."""
    for b in range(1, flat.parent.shape[0]):
        for i in range(6):
            xi[b, i] = xi[flat.parent[b], i]
        if flat.first[b] < flat.last[b]:
            for j in range(flat.at_v[flat.first[b]], flat.tip[b] + 1):
                for i in range(3):
                    xi[b, i] += now.omega[j, i] * motion[j]
                    xi[b, 3 + i] += now.v[j, i] * motion[j]


@inlined
def _size(flat, now, xi, b):
    """Return how far a screw turns [rad] and moves [sizes] a body."""
    c = now.c[b]
    x = xi[3] + xi[1] * c[2] - xi[2] * c[1]
    y = xi[4] + xi[2] * c[0] - xi[0] * c[2]
    z = xi[5] + xi[0] * c[1] - xi[1] * c[0]
    turn = xi[0] * xi[0] + xi[1] * xi[1] + xi[2] * xi[2]
    return sqrt(turn + (x * x + y * y + z * z) / (flat.size * flat.size))
