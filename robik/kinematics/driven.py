"""Effect of a robot's actuators on it: freedoms that none of them moves, and those that must agree with each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..budget import current
from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.topology import Flat, Topology, build_topology, loop_groups
from .assembly import AWAY, SAMPLES, prepared
from .coordinates import Coordinates
from .forward import ForwardKinematics
from .kernels import group_jacobian, new_placement, stand_at
from .straightening import straightened

COUNTS = 1e-7  # of 1: a singular value above this is not zero
MOVES = 1e-6  # of the column that a motion is named by: another that goes less stands still


@dataclass(frozen=True)
class Actuation:
    """Effect of a robot's actuators on it, its base held.

    Attributes:
        freedoms: of the robot on its base.
        actuated: degrees that are driven.
        surplus: driven degrees beyond the freedoms that they move; they must agree with the others.
        idle: per freedom that no actuator moves, the joints that move in it.
        stuck: actuated joints that cannot move, since their loops lock them.
    """

    freedoms: int
    actuated: int
    surplus: int
    idle: tuple[tuple[str, ...], ...]
    stuck: tuple[str, ...] = ()


@kept_with_robot
def actuation(mechanism: Mechanism) -> Actuation:
    """Return the over- and underactuation in poses near the rest pose, by groups of loops that share joints."""
    topology = build_topology(straightened(mechanism))
    coordinates, flat = Coordinates(topology), prepared(topology)
    driven, freedoms, held = coordinates.driven, len(coordinates.kept), 0
    alone, idle, stuck = set(coordinates.kept.tolist()), [], []
    for columns, closures in _closures(flat, _near_rest(topology), coordinates):
        current().check()
        alone -= set(columns.tolist())
        rank, hold, loose, locked = _group(closures, driven[columns])
        stuck += [name for column in locked for name in coordinates.joints_of(columns[[column]])]
        freedoms, held = freedoms - rank, held + hold
        idle += [coordinates.joints_of(columns[moving]) for moving in loose]
    held += sum(bool(driven[i]) for i in alone)
    idle += [coordinates.joints_of([i]) for i in sorted(alone) if not driven[i]]
    count = int(driven.sum())
    return Actuation(freedoms, count, count - held, tuple(idle), tuple(dict.fromkeys(stuck)))


def _near_rest(topology: Topology) -> list[np.ndarray]:
    """Return coordinates (nq,) with the motors at rest and near it, where loops that lock them are open."""
    fk, found = ForwardKinematics(topology.mechanism, topology), []
    rest = topology.mechanism.actuator_rest
    away = np.random.default_rng(0).uniform(-AWAY, AWAY, (SAMPLES + 1, len(rest)))
    away[0] = 0.0
    for row in rest + away:
        fk.move(row)
        found.append(fk.coordinates)
    return found


def _closures(
    flat: Flat, places: list[np.ndarray], coordinates: Coordinates
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the columns (w,) and the closures C (poses, rows, w) of each group at places (nq,)."""
    now = new_placement(flat, places[0])
    for g, (rows, columns) in enumerate(loop_groups(flat)):
        C, kept = np.zeros((len(places), len(rows), len(columns))), np.isin(columns, coordinates.kept)
        for k, q in enumerate(places):
            stand_at(flat, now, q)
            group_jacobian(flat, now, g, C[k])
        yield columns[kept], C[:, :, kept] * (coordinates.unit[columns[kept]] / flat.size)


def _group(C: np.ndarray, is_driven: np.ndarray) -> tuple[int, int, list[np.ndarray], np.ndarray]:
    """Return ranks of loops that share joints, and what their motors do not see or cannot move.

    The rank of C (T, rows, d), that of what the driven ones among the columns see, for each motion that they do not see
    the columns that move in it, and the driven ones that cannot move.

    With the motions' orthonormal basis N and that of the rows, V, the sines and cosines of the driven columns P against
    the motions agree (CS decomposition): σ(P N) are the σ of the other columns of V, and ones. So nothing of the size
    of N, which is d × d where loops are long and few, is ever written down.
    """
    split = [np.linalg.svd(each, full_matrices=False)[1:] for each in C]
    rank = max(int((values > COUNTS).sum()) for values, _ in split)
    rows = [V[:rank] for _, V in split]
    sines = _values(np.stack([V[:, ~is_driven] for V in rows]))
    seen = int((sines > COUNTS).sum(axis=1).max(initial=0))
    clearest = int(np.argmax(sines[:, seen - 1])) if seen else 0
    locked = np.flatnonzero(is_driven)
    for V in rows:
        locked = locked[_off_rows(V, locked) < COUNTS]
    loose = [np.flatnonzero(~is_driven)[moving] for moving in _sparse_motions(rows[clearest][:, ~is_driven], seen)]
    return rank, int(is_driven.sum()) - rank + seen, loose, locked


def _off_rows(V: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return how far each of some columns moves (k,): its unit vector's distance from orthonormal rows V (r, d)."""
    off = np.ones(len(columns))
    near = np.flatnonzero(np.square(V[:, columns]).sum(axis=0) > 0.5)  # the others move, and need no rounding looked at
    rest = -V.T @ V[:, columns[near]]
    rest[columns[near], np.arange(len(near))] += 1.0
    off[near] = np.linalg.norm(rest, axis=0)
    return off


def _sparse_motions(V: np.ndarray, rank: int) -> list[np.ndarray]:
    """Return the columns that move in each motion of a basis of the null space of V (r, d).

    Each motion moves a column that the others leave alone, and beside it only those that pivoted QR makes dependent.
    """
    d = V.shape[1]
    if rank in (0, d):
        return [np.array([free]) for free in range(d - rank)]
    from scipy.linalg import qr, solve_triangular  # takes long to import, and few robots have such motions

    R, order = qr(V, mode="r", pivoting=True)
    T = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    return [
        np.sort(np.append(order[:rank][np.abs(T[:, k]) > MOVES], order[rank + k])) for k in np.argsort(order[rank:])
    ]


def _values(matrices: np.ndarray) -> np.ndarray:
    """Singular values (T, k), the largest first."""
    return np.linalg.svd(matrices, compute_uv=False) if min(matrices.shape[1:]) else np.zeros((len(matrices), 0))
