"""Hold: a wall in front of poses in which the motors no longer determine the robot.

    f = w Σ g(x),   g(x) = x³ / (1 − x),   x = (1.2 σ° − σ) / (1.2 σ° − σ₀)   where σ < 1.2 σ°

σ is the hold of a group of loops (`kinematics/hold.py`), σ° its bound. The wall has no end: f is infinite from
σ₀ on. That is the bound itself, or, for a robot that starts below, hardly less than it had in the frame before, so that
it can only leave. First derivatives are exact, second ones their differences along the independent coordinates. A frame
is solved without the wall first, and that is its solution where the wall would not act in it. So the wall costs a look
at the hold once a frame, and a robot that stays away from it moves as if there were none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference, compiled_for_record, inlined, kernel
from ..kinematics.dense import diagonalise
from ..kinematics.elimination import eliminate
from ..kinematics.hold import (
    Watch,
    fill_motion,
    gradient,
    is_far,
    measure,
    new_watch,
    refer,
    share,
    signed,
)
from ..kinematics.kernels import (
    Placement,
    close,
    copy_placement,
    difference,
    forward_kinematics,
    integrate,
    new_placement,
    stand_at,
)
from ..kinematics.singularity import meter_of
from ..mechanism.topology import Flat, Topology

USUAL = 0.5  # of the hold near the rest pose: the bound of a robot whose gears never leave it more
AHEAD = 1.2  # times the bound: the wall acts below this
STEEP = 1e-3  # w: far above posture, so that redundant motors give way first, and below what targets weigh
LEAVES = 0.999  # of the hold in the frame before, which a robot that starts below the bound keeps
END = 0.99  # of the way into the wall: derivatives beyond are those there
FAST = 0.1  # rad, and of the robot's size: between poses with hold that are further apart, its sign may change
BEYOND = 1e9  # of the objective, which keeps every step out of there
STEP = 1e-6  # rad, and of the robot's size: of differences


class Holds(NamedTuple):
    """The wall of each of k watched groups, in compiled form."""

    flat: Flat  # the robot in the air: contacts close loops of their own, which are not its
    here: Placement  # scratch: where the robot stands, in the air
    watch: Watch  # the groups
    bound: np.ndarray  # (k,) σ°, of gears that have left no more so far half of what they did
    first: np.ndarray  # (k,) the same at rest
    asked: np.ndarray  # (1,) the bound of gears that leave more
    floor: np.ndarray  # (k,) σ₀ of the frame
    ahead: np.ndarray  # (k,) below what the wall acts in the frame
    is_up: np.ndarray  # (1,) whether there is a wall in this frame
    depth: np.ndarray  # (k,) x where terms were gathered
    sign: np.ndarray  # (k,) of σ there
    slope: np.ndarray  # (k, d) ∂σ there
    force: np.ndarray  # (1,) share of the forces that second derivatives take
    moved: np.ndarray  # (d,) scratch: ∂σ beside there
    steps: np.ndarray  # (n, d) scratch: the motions of a group
    columns: np.ndarray  # (n,) scratch: the independent coordinate of each
    H: np.ndarray  # (n, n) scratch: second derivatives over these
    vectors: np.ndarray  # (n + 1, n) scratch: eigenvectors


class KeptHolds(Holds):
    """Walls of a robot whose motors hold loops; a kind of its own, so that no other waits for them to be compiled."""


def new_holds(topology: Topology, bound: float = 0.0) -> Holds:
    """Return the walls of a robot that keeps a hold of `bound`; none where that is zero, or it has no loops.

    `topology` may be any whose tree is that of the solver, but has no cuts for contacts.
    """
    meter = meter_of(topology) if bound > 0.0 and topology.cuts and not topology.steps else None
    flat = by_reference(topology.flat)
    loops, idle = (meter.loops, meter.idle) if meter else ([], np.zeros(topology.flat.bodies, bool))
    watch = new_watch(loops, idle, topology.flat, topology.rest)
    k, n, d = len(watch.groups), len(watch.chosen), len(watch.driven)
    usual = np.array([each.usual for each in loops])
    kind = KeptHolds if k else Holds
    first = np.minimum(bound, USUAL * usual)
    return by_reference(kind(
        flat=flat, here=new_placement(flat, topology.rest), watch=watch, bound=first.copy(), first=first,
        asked=np.full(1, bound), floor=np.zeros(k), ahead=np.zeros(k),
        is_up=np.zeros(1, bool), depth=np.zeros(k), sign=np.ones(k), slope=np.zeros((k, d)), force=np.ones(1),
        moved=np.zeros(d), steps=np.zeros((n, d)), columns=np.zeros(n, np.int64), H=np.zeros((n, n)),
        vectors=np.zeros((n + 1, n)),
    ))  # fmt: skip


def rows_of(holds: Holds) -> int:
    """Return the number of low-rank rows that the walls may need, whole threes."""
    return 3 * sum(-(-int(n) // 3) for n in holds.watch.free)


@inlined
def _value(x):
    """Return g(x), or as good as infinity from 1 on."""
    return 0.0 if x <= 0.0 else (x * x * x / (1.0 - x) if x < 1.0 else BEYOND)


@inlined
def _slope_of_value(x):
    """Return g′(x)."""
    return 1.0 / ((1.0 - x) * (1.0 - x)) - 2.0 * x - 1.0


@inlined
def _depth(holds, k, hold):
    """Return x."""
    return (holds.ahead[k] - hold) / (holds.ahead[k] - holds.floor[k])


@kernel
def _stand(now, holds):
    """Place the robot in the air by the coordinates of `now`, and eliminate its dependent coordinates."""
    flat, here = holds.flat, holds.here
    if here.everything.shape[0] == now.everything.shape[0]:  # it stands on no contact, or on one that holds the tree
        copy_placement(now, here)
    else:
        stand_at(flat, here, now.q)
    eliminate(flat, here, holds.watch.e)


@compiled_for_record(KeptHolds, otherwise=0.0)
def hold_value(now, holds):
    """Return the objective; 0 where there is no wall."""
    total, watch = 0.0, holds.watch
    if holds.is_up[0]:
        _stand(now, holds)
        for k in range(holds.bound.shape[0]):
            hold, _ = measure(holds.flat, watch, k)
            total += STEEP * _value(_depth(holds, k, signed(holds.flat, watch, k) * hold))
    return total


@compiled_for_record(KeptHolds)
def add_hold_terms(now, terms, share_of_forces, holds):
    """Add the forces of walls; signs of hold are carried along from here on."""
    flat, watch = holds.flat, holds.watch
    if holds.is_up[0]:
        holds.force[0] = share_of_forces
        _stand(now, holds)
        for k in range(holds.bound.shape[0]):
            hold, is_usual = measure(flat, watch, k)
            sign = signed(flat, watch, k)
            refer(flat, watch, k, sign)
            holds.sign[k], holds.depth[k] = sign, min(_depth(holds, k, sign * hold), END) if is_usual else 0.0
            if holds.depth[k] > 0.0:
                _slope(holds, k, holds.here, hold, holds.slope[k])
                force = -STEEP * _slope_of_value(holds.depth[k]) / (holds.ahead[k] - holds.floor[k])
                for i in range(terms.pull.shape[0]):
                    terms.pull[i] += share_of_forces * force * holds.slope[k, i]


@inlined
def _slope(holds, k, now, hold, out):
    """Fill out (d,) with ∂σ of a group that was measured at `now`, its sign and all."""
    gradient(holds.flat, now, holds.watch, k, hold, out)
    for i in range(out.shape[0]):
        out[i] *= holds.sign[k]


@compiled_for_record(KeptHolds)
def add_hold_rows(now, terms, holds):
    """Append the walls' second derivatives to the low-rank rows, over the independent coordinates."""
    if holds.is_up[0]:
        for k in range(holds.bound.shape[0]):
            if holds.depth[k] > 0.0:
                n = holds.watch.free[k]
                _bend(now, holds, k, n)
                diagonalise(holds.H, holds.vectors, n)
                _append(terms, holds, n)


@kernel
def _bend(now, holds, k, n):
    """Fill H (n, n), a wall's second derivatives over the motions of its group."""
    watch, H = holds.watch, holds.H
    x, slope, room = holds.depth[k], holds.slope[k], holds.ahead[k] - holds.floor[k]
    force = -holds.force[0] * STEEP * _slope_of_value(x) / room
    stiffness = STEEP * (2.0 / ((1.0 - x) * (1.0 - x) * (1.0 - x)) - 2.0) / (room * room)
    _stand(now, holds)
    measure(holds.flat, watch, k)
    for a in range(n):
        holds.columns[a] = watch.chosen[a]
        for i in range(slope.shape[0]):
            holds.steps[a, i] = watch.ways[a, i]
    for a in range(n):
        if force != 0.0:
            _slope_beside(now, holds, k, holds.steps[a])
        for b in range(n):
            own, other, bend = 0.0, 0.0, 0.0
            for i in range(slope.shape[0]):
                own += slope[i] * holds.steps[a, i]
                other += slope[i] * holds.steps[b, i]
                bend += (holds.moved[i] - slope[i]) * holds.steps[b, i]
            H[a, b] = stiffness * own * other + (force * bend / STEP if force != 0.0 else 0.0)
    for a in range(n):
        for b in range(a):
            H[a, b] = 0.5 * (H[a, b] + H[b, a])
            H[b, a] = H[a, b]


@kernel
def _slope_beside(now, holds, k, step):
    """Fill `moved` with ∂σ at a small step from `now`."""
    flat, watch = holds.flat, holds.watch
    probe = watch.probe
    integrate(flat, now.q, step, STEP, probe.q)
    forward_kinematics(flat, probe)
    close(flat, probe)
    eliminate(flat, probe, watch.e)
    hold, _ = measure(flat, watch, k)
    _slope(holds, k, probe, hold, holds.moved)


@kernel
def _append(terms, holds, n):
    """Append the eigenvectors of H (n, n) to the low-rank rows, by the eigenvalues on its diagonal."""
    for a in range(-(-n // 3) * 3):
        row, at = terms.rows[terms.row_count[0]], terms.row_count[0]
        row[:] = 0.0
        terms.row_weight[at] = 0.0
        if a < n:
            terms.row_weight[at] = holds.H[a, a]
            for b in range(n):
                row[holds.columns[b]] = holds.vectors[a, b]
        terms.row_count[0] += 1


@compiled_for_record(KeptHolds)
def add_hold_answer(terms, x, out, holds):
    """Add the second derivatives times x (d,) to `out` (d,)."""
    if holds.is_up[0]:
        count = 0
        for k in range(holds.bound.shape[0]):
            count += -(-holds.watch.free[k] // 3) * 3 if holds.depth[k] > 0.0 else 0
        for r in range(terms.row_count[0] - count, terms.row_count[0]):
            along = 0.0
            for i in range(x.shape[0]):
                along += terms.rows[r, i] * x[i]
            for i in range(x.shape[0]):
                out[i] += terms.row_weight[r] * along * terms.rows[r, i]


def take_down_walls(holds: Holds) -> None:
    """Forget the frames before."""
    holds.is_up[0] = False
    holds.bound[:] = holds.first


@compiled_for_record(KeptHolds)
def put_up_walls(last, holds):
    """Put up the walls of a frame that goes on from `last`."""
    flat, watch = holds.flat, holds.watch
    holds.is_up[0] = True
    _stand(last, holds)
    for k in range(holds.bound.shape[0]):
        hold, _ = measure(flat, watch, k)
        refer(flat, watch, k, 1.0)
        fill_motion(flat, watch, k)
        bound = holds.bound[k] * share(flat, holds.here, watch)
        holds.ahead[k], holds.floor[k] = AHEAD * bound, min(bound, LEAVES * hold)


@compiled_for_record(KeptHolds)
def go_on_with_walls(last, holds):
    """Begin a frame: where the last one ended in a wall, the next one starts with walls."""
    if holds.is_up[0]:
        put_up_walls(last, holds)


@compiled_for_record(KeptHolds, otherwise=True)
def is_held(last, now, holds):
    """Return whether a frame that goes from `last` to `now` was solved with walls, or keeps hold without.

    Walls that have not acted are taken down.
    """
    was_up, near = holds.is_up[0], _is_near(now, holds)
    holds.is_up[0] = was_up and near
    return was_up or not (near or _changes_side(last, now, holds))


@compiled_for_record(KeptHolds)
def look_for_walls(before, now, holds):
    """Put up walls where a frame that stood at `before` comes near to losing hold at `now`."""
    holds.is_up[0] = False
    if _is_near(now, holds) or _changes_side(before, now, holds):
        put_up_walls(before, holds)


@kernel
def _is_near(now, holds):
    """Return whether a wall acts at `now`."""
    flat, watch, near = holds.flat, holds.watch, False
    _stand(now, holds)
    for k in range(holds.bound.shape[0]):
        if is_far(flat, watch, k, max(AHEAD, 1.0 / USUAL) * holds.asked[0]):
            holds.bound[k] = holds.asked[0]
        else:
            hold, _ = measure(flat, watch, k)
            fill_motion(flat, watch, k)
            own = share(flat, holds.here, watch)
            holds.bound[k] = max(holds.bound[k], min(holds.asked[0], USUAL * hold / own))
            near = near or hold < AHEAD * holds.bound[k] * own
    return near


@kernel
def _changes_side(last, now, holds):
    """Return whether hold has gone through 0 between two poses."""
    flat, watch = holds.flat, holds.watch
    difference(flat, now.q, last.q, watch.force)
    is_fast = False
    for k in range(holds.bound.shape[0]):
        square = 0.0
        for at in range(flat.group_column_at[watch.groups[k]], flat.group_column_at[watch.groups[k] + 1]):
            i = flat.group_columns[at]
            square += (watch.force[i] / watch.unit[i]) ** 2
        is_fast = is_fast or square > FAST * FAST
    if not is_fast:
        return False
    _stand(last, holds)
    for k in range(holds.bound.shape[0]):
        measure(flat, watch, k)
        refer(flat, watch, k, 1.0)
    _stand(now, holds)
    for k in range(holds.bound.shape[0]):
        _, is_usual = measure(flat, watch, k)
        if is_usual and signed(flat, watch, k) < 0.0:
            return True
    return False
