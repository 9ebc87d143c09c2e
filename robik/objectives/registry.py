"""All objectives of a frame in one group, and the sum of their values, forces and second derivatives.

Those that a clip asks for by a key of their own are listed in `asked`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..jit import by_reference, inlined, kernel
from ..kinematics.kernels import Placement, carved
from ..mechanism.topology import Topology
from . import calm, centre_of_mass, change_of_state, frame_pose, posture, velocity
from .asked import ASKED, Asked, SomeAsked, add_asked_answer, add_asked_rows, add_asked_terms, asked_value
from .calm import Calm
from .centre_of_mass import CentreOfMass
from .change_of_state import ChangeOfState
from .frame_pose import FramePoses
from .hold import Holds, add_hold_rows, add_hold_terms, hold_value, new_holds
from .objective import Objective
from .rows import RowKind
from .settings import Settings
from .terms import collect, stiffen_bodies
from .velocity import Velocity


class ObjectiveTables(NamedTuple):
    """Objectives of a frame of the clip, with their targets."""

    frame_pose: FramePoses  # poses of frames
    centre_of_mass: CentreOfMass  # of the robot
    asked: Any  # objectives over frames, an `Asked`
    change_of_state: ChangeOfState  # pull to the frame before
    calm: Calm  # posture and stillness
    velocity: Velocity  # limit of the bodies' velocities
    targets: np.ndarray  # (m,) memory of all numbers that change from frame to frame, which the tables share
    tied: np.ndarray  # (k, 2) bodies a and b of each objective over two bodies
    hold: Holds  # walls in front of poses in which motors lose hold
    reach: np.ndarray  # (d,) how far each coordinate may be from where it was


# Kinds of rows in an editor's list, the usual one first.
ROWS: tuple[RowKind, ...] = (frame_pose.ROW, *(kind.ROW for kind in ASKED if kind.ROW))


def new_tables(
    topology: Topology,
    names: Sequence[str],
    previous: Placement,
    objectives: Sequence[Objective] = (),
    hold: Holds | None = None,
) -> ObjectiveTables:
    """Return the tables of a robot's objectives, with weights of zero and no bounds.

    `names` are the followed frames, `hold` the walls of what motors keep, None for none. The arrays of `previous`,
    the frame before, are read when a frame is solved.
    """
    t, n = len(names), len(topology.flat.parent)
    of_kind = [[item for item in objectives if isinstance(item, kind)] for kind in ASKED]
    sizes = [
        [(len(items), *field.width) for field in kind.columns().values()]
        for kind, items in zip(ASKED, of_kind, strict=True)
    ]
    targets, (position, rotation, com, threshold, tension, *rest) = carved(
        (t, 3), (t, 3, 3), (3,), (2,), (t, 4), *(size for kind in sizes for size in kind)
    )
    threshold[:] = np.inf
    tied: list[tuple[int, int]] = []
    asked = {}
    for kind, items, size in zip(ASKED, of_kind, sizes, strict=True):
        slots = [_slot(topology, item, tied) for item in items]
        views, rest = rest[: len(size)], rest[len(size) :]
        asked[kind.NAME] = kind.table(topology, items, slots, views)
    return by_reference(
        ObjectiveTables(
            frame_pose=frame_pose.table(topology, names, position, rotation, tension),
            centre_of_mass=by_reference(CentreOfMass(com, np.zeros(3), np.zeros(n), np.zeros((n, 3)))),
            asked=by_reference(SomeAsked(**asked) if objectives else Asked(**asked)),
            change_of_state=by_reference(ChangeOfState(previous.R, previous.c, np.zeros((n, 2)))),
            calm=calm.table(topology),
            velocity=by_reference(Velocity(previous.R, previous.c, np.zeros(1), threshold)),
            targets=targets,
            tied=np.array(tied, dtype=np.int64).reshape(-1, 2),
            hold=new_holds(topology) if hold is None else hold,
            reach=np.full(len(topology.flat.before), np.inf),
        )
    )


def _slot(topology: Topology, item: Objective, tied: list[tuple[int, int]]) -> int:
    """Return the slot of an objective's forces.

    Its body or, if it is over two, which are appended to `tied`, a slot beyond them.
    """
    bodies = [topology.body_at[topology.mechanism.frame(name).body] for name in item.bodies]
    if len(bodies) < 2 or not item.TIES:
        return bodies[0] if bodies else 0
    tied.append((bodies[1], bodies[0]))
    return len(topology.flat.parent) + len(tied) - 1


def fill(
    tables: ObjectiveTables,
    targets: np.ndarray,
    objectives: Sequence[Objective],
    weights: Sequence[Any],
    per_square_metre: float,
) -> None:
    """Write the weights of a clip's objectives into the tables, and their targets into `targets` (T, m)."""
    count = dict.fromkeys(ASKED, 0)
    for item, weight in zip(objectives, weights, strict=True):
        item.fill(
            getattr(tables.asked, item.NAME),
            count[type(item)],
            partial(over_time, tables, targets),
            weight,
            per_square_metre,
        )
        count[type(item)] += 1


def hold(tables: ObjectiveTables, settings: Settings, per_square_metre: float) -> None:
    """Set the weights that decide the freedom that targets leave.

    They are posture and stillness, or the paper's pull to the previous state alone. `per_square_metre` is 1/ℓ²
    [1/m²].
    """
    if settings.state_weight is None:
        calm.set_weights(tables.calm, settings.posture, settings.stillness, per_square_metre)
    else:
        tables.change_of_state.weight[:] = settings.state_weight, settings.state_weight * per_square_metre


def over_time(tables: ObjectiveTables, targets: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the view (T, *own.shape) of `targets` (T, m) for `own`, an array in `ObjectiveTables.targets`."""
    start = (own.ctypes.data - tables.targets.ctypes.data) // own.itemsize
    return targets[:, start : start + own.size].reshape(len(targets), *own.shape)


def row_kind(key: str) -> RowKind:
    """Return the kind of rows with a key such as `look_at`."""
    return next(kind for kind in ROWS if kind.key == key)


def objective_of(key: str) -> type[Objective] | None:
    """Return the objective's class for a kind of rows; None for a frame's pose, which a clip keeps as a track."""
    return next((kind for kind in ASKED if kind.ROW and kind.ROW.key == key), None)


@inlined
def _missed(flat, now, tables):
    """Return the sum of what the clip asks for."""
    total = frame_pose.add_value(now, tables.frame_pose, 0.0)
    total = centre_of_mass.add_value(flat, now, tables.centre_of_mass, total)
    return total + asked_value(flat, now, tables.asked)


@kernel
def missed(flat, now, tables):
    """Return the sum of the objectives that a clip's targets give rise to."""
    return _missed(flat, now, tables)


@kernel
def missed_by_cluster(flat, now, tables, out):
    """Fill `out` (clusters,) with the sum of the clip's objectives on which a cluster has influence.

    They are those of the frames that it moves, of the centre of mass, and of each objective over frames.
    """
    common = centre_of_mass.add_value(flat, now, tables.centre_of_mass, 0.0) + asked_value(flat, now, tables.asked)
    out[:] = 0.0
    for t in range(tables.frame_pose.body.shape[0]):
        c = flat.cluster_of[tables.frame_pose.body[t]]
        if c >= 0:
            out[c] = frame_pose.add_frame_value(now, tables.frame_pose, t, out[c])
    for c in range(out.shape[0] - 1, -1, -1):
        on = flat.cluster_of[flat.cluster_on[c]]
        if on >= 0:
            out[on] += out[c]
        out[c] += common


@kernel
def objective_of_pose(flat, now, tables):
    """Return the sum of the objectives that do not depend on the frame before: f(s), if `now` is its state."""
    total = _missed(flat, now, tables) + hold_value(now, tables.hold)
    return posture.add_value(flat, now, tables.calm.posture, total) if tables.calm.weight[3] != 0.0 else total


@kernel
def objective(flat, now, tables):
    """Return f(s), the sum of all objectives."""
    total = objective_of_pose(flat, now, tables)
    total = change_of_state.add_value(flat, now, tables.change_of_state, total)
    return velocity.add_value(flat, now, tables.velocity, total)


@kernel
def gather(flat, now, tables, terms, share):
    """Fill the terms at `now`, and sum wrenches from the tips to the root.

    With a `share` of 1 of the forces, second derivatives are exact, with 0 Gauss-Newton's. Those of the velocity
    objective, which is no square, are exact in both.
    """
    terms.sums[:] = 0.0
    frame_pose.add_terms(now, tables.frame_pose, terms, share)
    change_of_state.add_terms(flat, now, tables.change_of_state, terms, share)
    if tables.calm.weight[3] != 0.0:
        posture.add_terms(flat, now, tables.calm.posture, terms, share)
    velocity.add_terms(flat, now, tables.velocity, terms)
    centre_of_mass.add_terms(flat, now, tables.centre_of_mass, terms, share)
    add_asked_terms(flat, now, terms, share, tables.asked)
    add_hold_terms(now, terms, share, tables.hold)
    collect(flat, terms)


@kernel
def stiffen(flat, now, tables, terms):
    """Fill the second derivatives from gathered terms: the bodies' own, and low-rank rows of ties between them."""
    stiffen_bodies(flat, terms)
    terms.row_count[0] = 0
    centre_of_mass.add_rows(flat, now, tables.centre_of_mass, terms)
    add_asked_rows(flat, now, terms, tables.asked)
    add_hold_rows(now, terms, tables.hold)
    terms.row_count[1] = terms.row_count[0]


@kernel
def answer(flat, now, tables, xi, out):
    """Add to `out` (n + 1, 6) the change of wrenches from ties between bodies that move by `xi` (n + 1, 6)."""
    centre_of_mass.add_answer(flat, now, tables.centre_of_mass, xi, out)
    add_asked_answer(xi, out, tables.asked)
