"""Bounds on coordinates over time: positions, and the differences of order 1 to 3 that motors are held to.

    v = Δq / Δt,   a = Δv / Δt̄,   j = Δa / Δt̄

Δt̄ is the distance between the middles of what is subtracted. A difference of order n is over a window of n + 1 frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ik.solver import Solver
from ..kinematics.blocks import blocks
from ..mechanism.constraints import HINGE
from ..mechanism.motor_limits import motor_limits

ORDERS = ("speed", "acceleration", "jerk")
SOON = 5e-3  # [s] from a stand: what is as slow as then is taken to stand
STILL = 2  # frames that a jerk sees beyond an end
FITS = 1.0005  # of a limit: more is beyond it


@dataclass(frozen=True)
class Bounds:
    """Bounds of R coordinates of the tree.

    Attributes:
        dof: (R,) degrees of freedom.
        at: (R,) their places among the coordinates.
        lower, upper: (R,) [rad or m].
        limits: (3, R) of speed, acceleration and jerk [rad or m, per s, s² and s³]; infinite where there is none.
        outside: (3, R) how coordinates go on outside the clip: by how much they are ahead when a cyclic one begins
            again [rad], and the speeds at which others begin and end [rad/s or m/s]; zeros for what rests.
    """

    dof: np.ndarray
    at: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    limits: np.ndarray
    outside: np.ndarray

    @property
    def winding(self) -> np.ndarray:
        """By how much each coordinate (R,) is ahead when a cyclic clip begins again [rad]."""
        return self.outside[0]

    @property
    def motors(self) -> np.ndarray:
        """Degrees of freedom with a limit over time."""
        return self.dof[np.isfinite(self.limits).any(axis=0)]


@dataclass(frozen=True)
class Differences:
    """Differences of one order along a clip.

    Attributes:
        frames: (W, order + 1) frames of each window.
        weights: (W, order + 1) of their values [1/s per order].
        outside: (W, 3) weights of how values go on outside the clip: in the next lap of a cyclic one, at their speeds
            before the first frame, and after the last.
    """

    frames: np.ndarray
    weights: np.ndarray
    outside: np.ndarray

    def of_moving(self, moves: np.ndarray) -> Differences:
        """Return the differences in which frames move, by flags (T,)."""
        some = moves[self.frames].any(axis=1)
        return Differences(self.frames[some], self.weights[some], self.outside[some])

    def of(self, values: np.ndarray, outside: np.ndarray | None = None) -> np.ndarray:
        """Return the differences (W, R) of values (T, R) of the bounded coordinates [rad or m].

        `outside` (3, R) says how they go on outside the clip, as in `Bounds`; at rest if left out.
        """
        found = np.zeros((len(self.frames), values.shape[1]))
        for rows in blocks(len(found)):
            found[rows] = np.einsum("wj,wjr->wr", self.weights[rows], values[self.frames[rows]])
            if outside is not None:
                found[rows] += self.outside[rows] @ outside
        return found


def differences(
    times: np.ndarray, period: float | None = None, rests: tuple[bool, bool] = (False, False)
) -> tuple[Differences, ...]:
    """Return the differences of order 1 to 3 (speed, acceleration, jerk) of frames at times (T,) [s].

    After `period` [s] the first frame comes again; None for a clip that ends. `rests` says if there are frames
    before the first, and after the last: at rest, or at a speed that is given.
    """
    count = len(times)
    before, after = (STILL * (there and period is None and count > 1) for there in rests)
    index = np.arange(-before, count + (after if period is None else 3))
    inside = index % count if period is not None else np.clip(index, 0, count - 1)
    outside = np.zeros((len(index), 3))  # laps, time before the first frame, and after the last
    if period is not None:
        outside[:, 0] = index // count
        middles = times[inside] + outside[:, 0] * period
    else:
        step = np.diff(times)[[0, -1]] if count > 1 else np.zeros(2)
        outside[:, 1], outside[:, 2] = np.minimum(index, 0) * step[0], np.maximum(index - count + 1, 0) * step[1]
        middles = times[inside] + outside.sum(axis=1)
    weights, windows, found = np.ones((len(index), 1)), np.arange(len(index))[:, None], []
    for _ in ORDERS:
        near, far = np.pad(weights[:-1], ((0, 0), (0, 1))), np.pad(weights[1:], ((0, 0), (1, 0)))
        weights = (far - near) / np.diff(middles)[:, None]
        windows = np.column_stack([windows[:-1], windows[1:, -1]])
        middles = 0.5 * (middles[1:] + middles[:-1])
        kept = slice(count if period is not None else None)
        beyond = np.einsum("wj,wjk->wk", weights[kept], outside[windows[kept]])
        found.append(Differences(inside[windows[kept]], weights[kept], beyond))
    return tuple(found)


def bounds_of(solver: Solver, times: np.ndarray, q: np.ndarray, cyclic: bool) -> Bounds:
    """Return the bounds of a solver's settings on the coordinates that have any.

    A cyclic clip, whose last frame is its first, keeps the whole turns of its coordinates q (T, nq); others keep
    the speeds at their ends.
    """
    flat, settings, mechanism = solver.flat, solver.settings, solver.mechanism
    limits = np.full((3, len(flat.before)), np.inf)
    limits[0] = solver.speed
    for order, wanted in ((1, settings.acceleration_limit), (2, settings.jerk_limit)):
        for name, limit in motor_limits(mechanism, wanted).items():
            if name in solver.topology.dofs:
                limits[order, solver.topology.dofs[name][0]] = limit
    scalar, held = np.asarray(flat.dof_q) >= 0, settings.joint_limits
    lower = np.where(scalar & held, flat.lower, -np.inf)
    upper = np.where(scalar & held, flat.upper, np.inf)
    bounded = np.isfinite(limits).any(axis=0) | np.isfinite(lower) | np.isfinite(upper)
    dof = np.flatnonzero(scalar & bounded)
    at = np.asarray(flat.dof_q)[dof]
    hinges = np.isin(at, np.asarray(flat.at_q)[np.asarray(flat.kind) == HINGE])
    whole = 2 * np.pi * np.round((q[-1, at] - q[0, at]) / (2 * np.pi))
    endless = hinges & ~np.isfinite(lower[dof]) & ~np.isfinite(upper[dof])
    outside = np.zeros((3, len(dof)))
    if cyclic:
        outside[0] = np.where(endless, whole, 0.0)
    elif len(times) > 1:
        outside[1:] = end_speeds(times, q[:, at], limits[:, dof])
    return Bounds(dof, at, lower[dof], upper[dof], limits[:, dof], outside)


def end_speeds(times: np.ndarray, values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return the speeds (2, R) [rad/s or m/s] at which values (T, R) begin and end.

    A coordinate that is as slow as it can be soon after a stand, or one frame after it, begins or ends in a stand.
    `limits` (3, R) are of speed, acceleration and jerk.
    """
    steps = np.diff(times)[[0, -1], None]
    speeds = np.diff(values, axis=0)[[0, -1]] / steps
    soon = np.maximum(steps, SOON)
    slow = np.minimum(limits[1] * soon, limits[2] * np.where(steps < SOON, 0.5, 1.0) * soon**2)
    return np.where(np.abs(speeds) <= slow, 0.0, np.clip(speeds, -limits[0], limits[0]))


def beyond(bounds: Bounds, orders: tuple[Differences, ...], values: np.ndarray) -> list[np.ndarray]:
    """Return the excess of values (T, R) beyond bounds, row by row; zeros where bounds are kept.

    The first array (T, R) is of positions [rad or m], those of each order's windows (W, R) are shares of their
    limits.
    """
    found = [np.maximum(np.maximum(bounds.lower - values, values - bounds.upper), 0.0)]
    for order, limit in zip(orders, bounds.limits, strict=True):
        found.append(np.maximum(np.abs(order.of(values, bounds.outside)) / limit - 1.0, 0.0))
    return found


def excess(bounds: Bounds, orders: tuple[Differences, ...], values: np.ndarray) -> float:
    """Return the sum of what is `beyond` bounds in values (T, R); 0.0 where all are kept."""
    return float(sum(part.sum() for part in beyond(bounds, orders, values)))


@dataclass(frozen=True)
class Peak:
    """The largest share of a limit.

    Attributes:
        share: of the limit that is used; more than 1 is beyond it.
        row: among the bounded coordinates.
        frame: first of the window.
    """

    share: float
    row: int
    frame: int


def peaks(bounds: Bounds, orders: tuple[Differences, ...], values: np.ndarray) -> tuple[Peak, ...]:
    """Return the largest used share of the limits of speed, acceleration and jerk, each with its place."""
    found = []
    for order, limit in zip(orders, bounds.limits, strict=True):
        shares = np.abs(order.of(values, bounds.outside)) / limit
        if not shares.size:
            found.append(Peak(0.0, 0, 0))
            continue
        window, row = np.unravel_index(np.argmax(shares), shares.shape)
        found.append(Peak(float(shares[window, row]), int(row), int(order.frames[window, 0])))
    return tuple(found)
