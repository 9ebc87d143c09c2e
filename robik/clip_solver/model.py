"""The local model of all frames: exact reduced Hessians and gradients, and steps that are projected onto the loops.

    F(y) = Σₖ f(yₖ) + Rₖ(yₖ, yₖ₋₁)

f is what a frame asks for by itself: targets and posture. R ties it to the frame before: the change of state and the
velocity regularizer, as in the solver of one frame, but both frames move. The model of f has the exact Hessian over
the independent coordinates, made convex; that of the change of state is Gauss-Newton's, with the blocks between the two
frames.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ik.hessian import matrix
from ..jit import by_reference, kernel
from ..kinematics.assembly import project
from ..kinematics.curvature import closure_curvature
from ..kinematics.dense import cholesky
from ..kinematics.elimination import eliminate
from ..kinematics.kernels import Placement, integrate, new_placement, read_state, stand_at
from ..kinematics.null_space import extend, multipliers, reduce_gradient, reduce_matrix
from ..mechanism.topology import Flat
from ..objectives import calm, change_of_state, velocity
from ..objectives.change_of_state import ChangeOfState
from ..objectives.hold import look_for_walls
from ..objectives.registry import gather, missed_by_cluster, objective, stiffen
from ..objectives.terms import collect, gradient, stiffen_bodies
from ..objectives.velocity import Velocity


class Tie(NamedTuple):
    """Tie of a frame to a neighbour, in compiled form."""

    state: ChangeOfState  # change of state between the two frames
    velocity: Velocity  # velocities between them
    dt: np.ndarray  # (1,) time step between the two [s], as `Calm.dt` counts it


class Neighbours(NamedTuple):
    """A frame and the frames beside it."""

    now: Placement  # placement of the frame
    before: Placement  # placement of the frame before
    after: Placement  # placement of the frame after
    back: Tie  # to the frame before
    ahead: Tie  # to the frame after


class Frames(NamedTuple):
    """T frames of a clip."""

    q: np.ndarray  # (T, nq) coordinates
    begun: np.ndarray  # (T, nq) the same where the model was made
    previous: np.ndarray  # (T,) index of the frame before; -1 for none
    following: np.ndarray  # (T,) index of the frame after; -1 for none
    targets: np.ndarray  # (T, targets) `ObjectiveTables.targets` of each frame
    dt: np.ndarray  # (T,) time step into each frame, as `Calm.dt` counts it [s]
    missed: np.ndarray  # (T, clusters) what each frame missed, by which it is held
    rest: np.ndarray  # (nq,) reference of a frame without one before
    rows: np.ndarray  # (R,) degrees of freedom that have bounds


class Model(NamedTuple):
    """The model of T frames over at most m independent coordinates each."""

    independent: np.ndarray  # (T, m) degrees of freedom
    number: np.ndarray  # (T,) how many of them there are
    gradient: np.ndarray  # (T, m)
    hessian: np.ndarray  # (T, m, m) of what a frame asks for by itself
    definite: np.ndarray  # (T,) whether it is positive definite
    tie: np.ndarray  # (T, m, m) of the change of state since the frame before
    motion: np.ndarray  # (T, R, m) derivative of the bounded coordinates
    value: np.ndarray  # (T,) objective


def new_neighbours(flat: Flat, rest: np.ndarray) -> Neighbours:
    """Return room for a frame and its neighbours, with coordinates `rest` (nq,) in it."""
    now, before, after = (new_placement(flat, rest) for _ in range(3))

    def tie(other: Placement) -> Tie:
        state = by_reference(ChangeOfState(other.R, other.c, np.zeros((len(flat.parent), 2))))
        return by_reference(Tie(state, by_reference(Velocity(other.R, other.c, np.zeros(1), np.zeros(2))), np.ones(1)))

    return by_reference(Neighbours(now, before, after, tie(before), tie(after)))


def new_model(frames: int, independent: int, rows: int) -> Model:
    """Return room for the model of frames, with at most `independent` coordinates each and `rows` bounded ones."""
    T, m = frames, independent
    return by_reference(
        Model(
            independent=np.zeros((T, m), np.int64),
            number=np.zeros(T, np.int64),
            gradient=np.zeros((T, m)),
            hessian=np.zeros((T, m, m)),
            definite=np.zeros(T, np.bool_),
            tie=np.zeros((T, m, m)),
            motion=np.zeros((T, rows, m)),
            value=np.zeros(T),
        )
    )


@kernel
def _ask(tables, frames, k):
    """Set the tables to the targets of frame k."""
    for i in range(tables.targets.shape[0]):
        tables.targets[i] = frames.targets[k, i]


@kernel
def _weigh(air, tables, frames, k, tie):
    """Set the weights of a tie into frame k, and those of the frame's posture."""
    tables.calm.dt[0] = frames.dt[k]
    calm.begin(air, tables.calm, tie.state, frames.missed[k])
    for i in range(2):
        tie.velocity.threshold[i] = tables.velocity.threshold[i]


@kernel
def _meet(flat, air, tables, frames, k, beside, after):
    """Place frame k with its neighbours, the one after it if asked for, and set tables and ties."""
    stand_at(flat, beside.now, frames.q[k])
    stand_at(flat, beside.before, frames.q[frames.previous[k]] if frames.previous[k] >= 0 else frames.rest)
    if after and frames.following[k] >= 0:
        stand_at(flat, beside.after, frames.q[frames.following[k]])
        _ask(tables, frames, frames.following[k])
        _weigh(air, tables, frames, frames.following[k], beside.ahead)
    _ask(tables, frames, k)
    _weigh(air, tables, frames, k, beside.back)


@kernel
def _value(flat, tables, beside):
    """Return the objective of a frame, with its tie to the frame before."""
    total = objective(flat, beside.now, tables)
    total = change_of_state.add_value(flat, beside.now, beside.back.state, total)
    return velocity.add_value(flat, beside.now, beside.back.velocity, total)


@kernel
def _bend(flat, tables, work, beside, tied):
    """Fill `work.slope` with the gradient and `work.K` with the Hessian of a frame.

    Without those of the change of state. `tied`: whether there is a frame after it.
    """
    now, terms = beside.now, work.terms
    gather(flat, now, tables, terms, 1.0)
    velocity.add_terms(flat, now, beside.back.velocity, terms)
    if tied:
        velocity.add_terms(flat, now, beside.ahead.velocity, terms)
    stiffen(flat, now, tables, terms)
    change_of_state.add_terms(flat, now, beside.back.state, terms, 1.0)
    if tied:
        change_of_state.add_terms(flat, now, beside.ahead.state, terms, 1.0)
    terms.wrench[:] = 0.0
    collect(flat, terms)
    gradient(flat, now, terms, work.slope)
    multipliers(flat, work.e, work.slope, work.multiplier)
    closure_curvature(flat, now, work.multiplier, work.system)
    matrix(flat, now, terms, work.system, work.K)


@kernel
def _bend_tie(flat, work, beside):
    """Fill `work.K` with Gauss-Newton's Hessian of the change of state since the frame before."""
    work.terms.sums[:] = 0.0
    change_of_state.add_terms(flat, beside.now, beside.back.state, work.terms, 0.0)
    stiffen_bodies(flat, work.terms)
    work.terms.row_count[:] = 0
    work.system.bend[:] = 0.0
    matrix(flat, beside.now, work.terms, work.system, work.K)


@kernel
def _take(work, chosen, n, out):
    """Copy the rows and columns of `work.K` of n chosen degrees of freedom into `out` (m, m)."""
    for a in range(n):
        for b in range(n):
            out[a, b] = work.K[chosen[a], chosen[b]]


@kernel
def _list_independent(work, chosen):
    """List the independent coordinates in `chosen` (m,); returns how many there are, also where there is no room."""
    n = 0
    for i in range(work.e.dependent.shape[0]):
        if not work.e.dependent[i]:
            if n < chosen.shape[0]:
                chosen[n] = i
            n += 1
    return n


@kernel
def model_frames(flat, air, tables, work, beside, frames, first, last, chosen, out):
    """Fill the model `out` of the chosen frames of `first` to `last`; return the most independent coordinates of one.

    If a frame has more of them than there is room for, nothing else is of use. `flat` is the robot on its contacts,
    `air` the one in the air, for which the tables were made.
    """
    most = 0
    for k in range(first, last):
        if not chosen[k]:
            continue
        _meet(flat, air, tables, frames, k, beside, True)
        for i in range(frames.q.shape[1]):
            frames.begun[k, i] = frames.q[k, i]
        look_for_walls(beside.now, beside.now, tables.hold)
        eliminate(flat, beside.now, work.e)
        listed = out.independent[k]
        n = _list_independent(work, listed)
        most = max(most, n)
        if n > listed.shape[0]:
            continue
        out.number[k] = n
        out.value[k] = _value(flat, tables, beside)
        _bend(flat, tables, work, beside, frames.following[k] >= 0)
        reduce_gradient(flat, work.e, work.slope)
        reduce_matrix(flat, work.e, work.K)
        _take(work, listed, n, out.hessian[k])
        out.definite[k] = _is_definite(work, out.hessian[k], n)
        for a in range(n):
            out.gradient[k, a] = work.slope[listed[a]]
        _bend_tie(flat, work, beside)
        reduce_matrix(flat, work.e, work.K)
        _take(work, listed, n, out.tie[k])
        for a in range(n):
            work.step[:] = 0.0
            work.step[listed[a]] = 1.0
            extend(flat, work.e, work.step)
            for r in range(frames.rows.shape[0]):
                out.motion[k, r, a] = work.step[frames.rows[r]]
    return most


@kernel
def _is_definite(work, H, n):
    """Return whether H[:n, :n] is positive definite."""
    for a in range(n):
        for b in range(n):
            work.H[a, b] = H[a, b]
    return cholesky(work.H, n)


@kernel
def step_frames(flat, work, beside, frames, first, last, chosen, model, step, q, residual):
    """Fill coordinates q (T, nq) with the chosen frames of `first` to `last` moved by their step (T, m).

    `residual` (T,) [m] is infinite where the loops, or contacts, do not close.
    """
    for k in range(first, last):
        if not chosen[k]:
            continue
        now = beside.now
        stand_at(flat, now, frames.q[k])
        eliminate(flat, now, work.e)
        work.step[:] = 0.0
        for a in range(model.number[k]):
            work.step[model.independent[k, a]] = step[k, a]
        extend(flat, work.e, work.step)
        integrate(flat, frames.q[k], work.step, 1.0, now.q)
        residual[k] = project(flat, now, work.e, work.correction, work.right)
        for i in range(q.shape[1]):
            q[k, i] = now.q[i]


@kernel
def value_frames(flat, tables, beside, frames, chosen, value):
    """Fill `value` (T,) with the objective of each chosen frame."""
    for k in range(frames.q.shape[0]):
        if not chosen[k]:
            continue
        _meet(flat, flat, tables, frames, k, beside, False)
        stand_at(flat, beside.after, frames.begun[k])
        look_for_walls(beside.after, beside.now, tables.hold)
        value[k] = _value(flat, tables, beside)


@kernel
def miss_frames(flat, tables, beside, frames):
    """Fill `frames.missed` with the clip's objectives by cluster in each frame where it is."""
    for k in range(frames.q.shape[0]):
        _ask(tables, frames, k)
        stand_at(flat, beside.now, frames.q[k])
        missed_by_cluster(flat, beside.now, tables, frames.missed[k])


@kernel
def state_frames(flat, beside, q, position, quaternion, residual):
    """Fill state frames (T, n, 3) [m], (T, n, 4) wxyz and closure residuals (T,) [m] at coordinates q (T, nq)."""
    for k in range(q.shape[0]):
        residual[k] = stand_at(flat, beside.now, q[k])
        for b in range(flat.bodies):
            for i in range(4):
                quaternion[k, b, i] = quaternion[k - 1, b, i] if k > 0 else 1.0 - min(i, 1)
        read_state(flat, beside.now, position[k], quaternion[k])
