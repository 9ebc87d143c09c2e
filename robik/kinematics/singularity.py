"""Distances of a robot's poses from singular ones.

A motion v of the robot, its base held: changes of the tree's coordinates [rad, and slides in lengths of the robot] that
keep the loops closed. With C the closure's Jacobian, N an orthonormal basis of such motions, P N what the actuators see
of them and J N what the frames do (rotations [rad], positions in lengths of the robot):

    loops    least singular value of C that counts: 0 where the loops fold flat and could go on either way
    hold     least singular value of P N that counts: 0 where the robot moves though its actuators stand still, so that
             they lose hold of it (`hold.py`)
    steer    min |J N v| / |P N v|: 0 where the actuators move and no frame does, so that following a frame takes any
             speed

All three are without unit and do not change when the robot is scaled. Singular values that are zero in every pose
(redundant rows, freedoms that no actuator moves, more actuators than a frame has freedoms) do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..budget import current
from ..mechanism.kept import kept_with_robot
from ..mechanism.model import Mechanism
from ..mechanism.topology import loop_groups
from .forward import ForwardKinematics
from .hold import COUNTS, Coordinates, HoldMeter
from .kernels import closure_jacobian, group_jacobian

MOVES = 1e-6  # of the column that a motion is named by: another that goes less stands still
SAMPLES, AWAY = 4, 0.05  # poses near the rest pose, by actuator values that far from it [rad or m]


@dataclass(frozen=True)
class Distances:
    """From singular poses, per frame (T,): 1 is far, 0 there.

    Infinite are `loops` without loops, `steer` without frames, `hold` without actuators that move anything. `residual`:
    how far the loops are open at the actuators' values [m]; these are no poses of the robot where it cannot be
    assembled.
    """

    loops: np.ndarray
    hold: np.ndarray
    steer: np.ndarray
    residual: np.ndarray

    @property
    def nearest(self) -> np.ndarray:
        """The least of the three."""
        return np.minimum(np.minimum(self.loops, self.hold), self.steer)


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
    poses = _Poses(mechanism, ())
    is_driven = np.isin(np.arange(poses.d), poses.driven)
    is_alone, freedoms, held = np.ones(poses.d, dtype=bool), poses.d, 0
    idle: list[tuple[str, ...]] = []
    stuck: list[str] = []
    for columns, closures in poses.grouped(poses.near_rest()):
        current().check()
        is_alone[columns] = False
        rank, hold, loose, locked = _group(closures, is_driven[columns])
        stuck += [name for column in locked for name in poses.joints_of(columns[[column]])]
        freedoms, held = freedoms - rank, held + hold
        idle += [poses.joints_of(columns[moving]) for moving in loose]
    held += int((is_alone & is_driven).sum())
    idle += [poses.joints_of(np.array([column])) for column in np.flatnonzero(is_alone & ~is_driven)]
    return Actuation(freedoms, len(poses.driven), len(poses.driven) - held, tuple(idle), tuple(dict.fromkeys(stuck)))


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


def distances(mechanism: Mechanism, values: np.ndarray, frames: tuple[str, ...] | None = None) -> Distances:
    """Return the distances (T,) from singular poses and residuals (T,) [m] along actuator values (T, A).

    `frames` are to be moved; the robot's own ones if left out.
    """
    poses = _Poses(mechanism, frames)
    ranks, meter = poses.ranks(), HoldMeter(poses.topology)
    found = []
    for start in range(0, len(values), 512):
        C, J, residual, q = poses.stacks(values[start : start + 512])
        N = _motions(C, ranks.loops)
        seen, moved = N[:, poses.driven], J @ N
        loops, hold = _at(_values(C), ranks.loops), meter.least(q)
        steer = (
            _at(_values(moved @ np.linalg.pinv(seen, COUNTS)), ranks.steer) if ranks.hold else np.full(len(C), np.inf)
        )
        found.append(np.stack([loops, hold, steer, residual]))
    return Distances(*np.concatenate(found, axis=1)) if found else Distances(*np.zeros((4, 0)))


@dataclass(frozen=True)
class _Ranks:
    loops: int
    hold: int
    steer: int


class _Poses:
    """The matrices C and J of a robot at actuator values; P N are the rows `driven` of N."""

    def __init__(self, mechanism: Mechanism, frames: tuple[str, ...] | None = None):
        self.fk = ForwardKinematics(mechanism)
        self.topology = self.fk.topology
        self.flat = self.fk.flat
        body, coordinates = self.topology.body_at, Coordinates(self.topology)
        self.kept = coordinates.kept
        self.d = len(self.kept)
        self.unit, self.names = coordinates.unit[self.kept], coordinates.names
        self.driven = np.flatnonzero(coordinates.driven[self.kept])
        chosen = [
            mechanism.frame(name) for name in (frames if frames is not None else [f.name for f in mechanism.frames])
        ]
        self.frames = []
        for frame in chosen:
            own = mechanism.bodies[mechanism.body_index[frame.body]]
            path, i = np.zeros(len(self.flat.before)), int(self.flat.tip[body[frame.body]])
            while i >= 0:
                path[i], i = 1.0, int(self.flat.before[i])
            self.frames.append(
                (body[frame.body], (own.pose @ frame.pose).point((0, 0, 0)) - own.rest_com, path[self.kept])
            )

    def joints_of(self, columns: np.ndarray) -> tuple[str, ...]:
        """Return the names of the joints of some columns, those of the tree."""
        names = (self.names.get(int(self.kept[i]), "") for i in columns)
        return tuple(dict.fromkeys(name for name in names if name))

    def grouped(self, values: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the columns and the closures C (T, rows, columns) of each group of loops at actuator values (T, A)."""
        groups = loop_groups(self.flat)
        found: list[list[np.ndarray]] = [[] for _ in groups]
        for _ in self.moved(values):
            current().check()
            for g, (rows, dofs) in enumerate(groups):
                C = np.zeros((len(rows), len(dofs)))
                group_jacobian(self.flat, self.fk.now, g, C)
                found[g].append(C[:, np.isin(dofs, self.kept)])
        for (_, dofs), closures in zip(groups, found, strict=True):
            columns = np.searchsorted(self.kept, np.intersect1d(dofs, self.kept))
            yield columns, np.stack(closures) * (self.unit[columns] / self.flat.size)

    def near_rest(self) -> np.ndarray:
        """Actuator values (SAMPLES + 1, A) at the rest pose and near it."""
        rest = self.topology.mechanism.actuator_rest
        away = np.random.default_rng(0).uniform(-AWAY, AWAY, (SAMPLES + 1, len(rest)))
        away[0] = 0.0
        return rest + away

    def moved(self, values: np.ndarray) -> Iterator[float]:
        """Go to actuator values (T, A) one after the other, each with its closure residual [m]."""
        for row in values:
            yield self.fk.move(row)

    @property
    def closure(self) -> np.ndarray:
        """C (rows, d) where it stands."""
        return closure_jacobian(self.flat, self.fk.now)[:, self.kept] * (self.unit / self.flat.size)

    def stacks(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """C (T, rows, d), J (T, 6 frames, d), closure residuals (T,) [m] and coordinates (T, nq) at values (T, A)."""
        C = np.zeros((len(values), len(self.fk.now.value), self.d))
        J = np.zeros((len(values), 6 * len(self.frames), self.d))
        residual, q = np.zeros(len(values)), np.zeros((len(values), len(self.topology.rest)))
        for k, residual[k] in enumerate(self.moved(values)):
            now = self.fk.now
            C[k], q[k] = self.closure, now.q
            omega, v = now.omega[self.kept], now.v[self.kept]
            for f, (b, offset, path) in enumerate(self.frames):
                x = now.R[b] @ offset + now.c[b]
                J[k, 6 * f : 6 * f + 3] = ((np.cross(omega, x) + v) * (path * self.unit / self.flat.size)[:, None]).T
                J[k, 6 * f + 3 : 6 * f + 6] = (omega * path[:, None]).T
        return C, J, residual, q

    def ranks(self) -> _Ranks:
        """Return the ranks that the matrices have but in singular poses."""
        C, J, _, _ = self.stacks(self.near_rest())
        loops = _rank(C)
        N = _motions(C, loops)
        seen = N[:, self.driven]
        hold = _rank(seen)
        return _Ranks(loops, hold, _rank(J @ N @ np.linalg.pinv(seen, COUNTS)) if hold else 0)


def _motions(C: np.ndarray, rank: int) -> np.ndarray:
    """N (T, d, d - rank) of closures C (T, rows, d)."""
    if C.size:
        return np.swapaxes(np.linalg.svd(C)[2][:, rank:], 1, 2)
    return np.broadcast_to(np.eye(C.shape[2]), (len(C), C.shape[2], C.shape[2]))


def _rank(matrices: np.ndarray) -> int:
    """Return the largest rank among matrices (T, m, n)."""
    return int((_values(matrices) > COUNTS).sum(axis=1).max(initial=0))


def _values(matrices: np.ndarray) -> np.ndarray:
    """Singular values (T, k), the largest first."""
    return np.linalg.svd(matrices, compute_uv=False) if min(matrices.shape[1:]) else np.zeros((len(matrices), 0))


def _at(values: np.ndarray, rank: int) -> np.ndarray:
    """Return the least singular value that counts (T,), infinite where none does."""
    return values[:, rank - 1] if rank else np.full(len(values), np.inf)
