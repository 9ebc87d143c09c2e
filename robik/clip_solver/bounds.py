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
STILL = 2  # frames at rest that a jerk sees beyond an end
FITS = 1.0005  # of a limit: more is beyond it


@dataclass(frozen=True)
class Bounds:
    """Bounds of R coordinates of the tree.

    Attributes:
        dof: (R,) degrees of freedom.
        at: (R,) their places among the coordinates.
        lower, upper: (R,) [rad or m].
        limits: (3, R) of speed, acceleration and jerk [rad or m, per s, s² and s³]; infinite where there is none.
        winding: (R,) by how much a coordinate is ahead when a cyclic clip begins again [rad]; else 0.
    """

    dof: np.ndarray
    at: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    limits: np.ndarray
    winding: np.ndarray

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
        laps: (W,) weights of the frames that lie in the next lap of a cyclic clip, summed.
    """

    frames: np.ndarray
    weights: np.ndarray
    laps: np.ndarray

    def of(self, values: np.ndarray, winding: np.ndarray | float = 0.0) -> np.ndarray:
        """Return the differences (W, R) of values (T, R) with a winding (R,).

        Args:
            values: Values (T, R) of the bounded coordinates [rad or m].
            winding: What each coordinate gains in a lap (R,) [rad or m].

        Returns:
            Differences of each window (W, R).
        """
        found = np.zeros((len(self.frames), values.shape[1]))
        for rows in blocks(len(found)):
            found[rows] = np.einsum("wj,wjr->wr", self.weights[rows], values[self.frames[rows]])
            found[rows] += self.laps[rows, None] * winding
        return found


def differences(times: np.ndarray, period: float | None = None, rests: bool = False) -> tuple[Differences, ...]:
    """Return the differences of order 1 to 3.

    Args:
        times: (T,) of the frames [s].
        period: After which the first frame comes again [s]; None for a clip that ends.
        rests: Whether the clip begins and ends at rest: its first and last frame were there before, and stay.

    Returns:
        Differences of speed, acceleration and jerk.
    """
    count, still = len(times), STILL if rests and period is None and len(times) > 1 else 0
    index = np.arange(-still, count + (still if period is None else 3))
    middles = times[index % count] + (index // count) * (period or 0.0)
    if still:
        inside = np.clip(index, 0, count - 1)
        middles = times[inside] + (index - inside) * np.where(index < 0, times[1] - times[0], times[-1] - times[-2])
        index = inside
    weights, windows, found = np.ones((len(index), 1)), index[:, None], []
    for _ in ORDERS:
        near, far = np.pad(weights[:-1], ((0, 0), (0, 1))), np.pad(weights[1:], ((0, 0), (1, 0)))
        weights = (far - near) / np.diff(middles)[:, None]
        windows = np.column_stack([windows[:-1], windows[1:, -1]])
        middles = 0.5 * (middles[1:] + middles[:-1])
        kept = slice(count if period is not None else None)
        found.append(
            Differences(windows[kept] % count, weights[kept], (weights * (windows // count))[kept].sum(axis=1))
        )
    return tuple(found)


def bounds_of(solver: Solver, q: np.ndarray, cyclic: bool) -> Bounds:
    """Return the bounds that a solver's settings ask for.

    Args:
        solver: Of one frame.
        q: (T, nq) coordinates of a clip, whose whole turns a cyclic clip keeps.
        cyclic: Whether its last frame is its first.

    Returns:
        Bounds of the coordinates that have any.
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
    return Bounds(dof, at, lower[dof], upper[dof], limits[:, dof], np.where(endless & cyclic, whole, 0.0))


def beyond(bounds: Bounds, orders: tuple[Differences, ...], values: np.ndarray) -> list[np.ndarray]:
    """Return what is beyond bounds, row by row.

    Args:
        bounds: Bounds of the coordinates.
        orders: Differences of each order: speed, acceleration, jerk.
        values: Values (T, R) [rad or m].

    Returns:
        Of positions (T, R) [rad or m], then of the windows (W, R) of each order by shares of their limits; zeros where
        bounds are kept.
    """
    found = [np.maximum(np.maximum(bounds.lower - values, values - bounds.upper), 0.0)]
    for order, limit in zip(orders, bounds.limits, strict=True):
        found.append(np.maximum(np.abs(order.of(values, bounds.winding)) / limit - 1.0, 0.0))
    return found


def excess(bounds: Bounds, orders: tuple[Differences, ...], values: np.ndarray) -> float:
    """Return the sum of what is `beyond` bounds.

    Args:
        bounds: Bounds of the coordinates.
        orders: Differences of each order: speed, acceleration, jerk.
        values: Values (T, R) [rad or m].

    Returns:
        The sum; 0.0 where all bounds are kept.
    """
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
    """Return the largest share of the limits of speed, acceleration and jerk that values (T, R) use.

    Args:
        bounds: Bounds of the coordinates.
        orders: Differences of each order: speed, acceleration, jerk.
        values: Values (T, R) [rad or m].

    Returns:
        A peak per order: share of the limit, coordinate and frame.
    """
    found = []
    for order, limit in zip(orders, bounds.limits, strict=True):
        shares = np.abs(order.of(values, bounds.winding)) / limit
        if not shares.size:
            found.append(Peak(0.0, 0, 0))
            continue
        window, row = np.unravel_index(np.argmax(shares), shares.shape)
        found.append(Peak(float(shares[window, row]), int(row), int(order.frames[window, 0])))
    return tuple(found)
