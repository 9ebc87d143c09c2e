"""Spans: runs of frames that still move, between frames that stay.

What ties frames together reaches over at most four of them. So spans that are further apart are problems of their own:
each gets a step as long as its own merit allows. Which frames still move is read off the conditions of an optimum,

    rₖ = gₖ + Jₖᵀ Σ Dᵀλ / l,   gain ≈ ½ rₖᵀ Hₖ⁻¹ rₖ

g is the gradient where the frame is now, H its Hessian, λ the multipliers of the last program that it was in. A frame
without residual stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .bounds import Bounds, Differences
from .constraints import Constraints
from .model import Model
from .quadratic import Quadratic
from .torques import TorqueRows, Torques

AROUND = 0.2  # [s] on both sides of a frame that moves, in which frames move too
REACH = 4  # frames that one row ties together at most
ON = 1e-9  # [rad or m] from a bound: a coordinate that is on it


class Spans:
    """Runs of frames that move.

    `moves` (T,) flags such frames, `previous` (T,) has the frame before each, -1 for none. Each of `windows` has
    bounds over several frames. Without `apart` all frames are one span, as in a cyclic clip. `labels` (T,) numbers
    each frame's span, -1 for none; `count` is the number of spans S.
    """

    def __init__(self, moves: np.ndarray, previous: np.ndarray, windows: Sequence[Differences | Torques], apart: bool):
        begins = moves & ~np.concatenate([[False], moves[:-1]])
        self.labels = np.where(moves, np.cumsum(begins) - 1 if apart else 0, -1)
        self.count = int(self.labels.max(initial=-1)) + 1
        before = np.where(previous >= 0, self.labels[previous], -1)
        self._tied = np.where(moves, self.labels, before)  # a frame's value has its tie to the frame before
        self._windows = [self.labels[window.frames].max(axis=1, initial=-1) for window in windows]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sums (S,) of values (T,) over each span."""
        return self._summed(self.labels, values)

    def tied_sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sums (S,) over each span of values (T,) that frames share with the frame before each."""
        return self._summed(self._tied, values)

    def excess(self, beyond: Sequence[np.ndarray]) -> np.ndarray:
        """Return the sums (S,) over each span of what is beyond bounds, as `bounds.beyond` returns it."""
        parts = zip((self.labels, *self._windows), beyond, strict=True)
        return sum((self._summed(labels, part.sum(axis=1)) for labels, part in parts), np.zeros(self.count))

    def _summed(self, labels: np.ndarray, values: np.ndarray) -> np.ndarray:
        inside = labels >= 0
        return np.bincount(labels[inside], values[inside], minlength=self.count)


class Multipliers:
    """Multipliers of all rows of a clip, as the last program that had the rows left them."""

    def __init__(self, frames: int, constraints: Constraints):
        counts = frames, *(len(order.frames) for order in constraints.orders)
        self._parts = [np.zeros((n, len(constraints.bounds.dof))) for n in counts]
        if constraints.torques is not None:
            self._parts.append(np.zeros(constraints.torques.near.shape))

    def take(
        self,
        rows: Sequence[np.ndarray],
        values: np.ndarray,
        moves: np.ndarray,
        windows: Sequence[Differences | Torques],
    ) -> float:
        """Store the multipliers of a program's rows; return the largest of them.

        `rows` are indices of positions and of each of `windows`; `values` are their multipliers, one after another.
        Rows that frames have a part in that stay keep theirs: where such frames leave no room, new ones can be
        anything.
        """
        start, largest = 0, 0.0
        inside = [moves, *(moves[window.frames].all(axis=1) for window in windows)]
        for part, own, kept in zip(self._parts, rows, inside, strict=True):
            mine = kept[own // part.shape[1]]
            taken = values[start : start + len(own)][mine]
            part.ravel()[own[mine]] = taken
            largest = max(largest, float(np.abs(taken).max(initial=0.0)))
            start += len(own)
        return largest

    def pull(self, model: Model, constraints: Constraints, torques: TorqueRows | None) -> np.ndarray:
        """Return what rows times their multipliers add to the gradient (T, m) of the independent coordinates."""
        bounds, orders = constraints.bounds, constraints.orders
        found = self._parts[0].copy()
        for order, limit, part in zip(orders, bounds.limits, self._parts[1:4], strict=True):
            share = part / limit
            for j in range(order.frames.shape[1]):
                np.add.at(found, order.frames[:, j], order.weights[:, j, None] * share)
        pulled: np.ndarray = np.einsum("kra,kr->ka", model.motion, found)
        return pulled if torques is None else pulled + torques.pull(self._parts[-1], pulled.shape)


def gains(model: Model, quadratic: Quadratic, bounds: Bounds, values: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """Return about how much the objective can still fall by moving each frame (T,).

    `values` (T, R) are those of the bounded coordinates, `pull` (T, m) is that of the rows, from
    `Multipliers.pull`.
    """
    residual = np.asarray(model.gradient) + pull
    sides = np.full((2, len(values), 1 + int(max(model.independent.max(), bounds.dof.max(initial=0)))), np.inf)
    sides[0][:, bounds.dof], sides[1][:, bounds.dof] = values - bounds.lower, bounds.upper - values
    below, above = (np.take_along_axis(side, model.independent, axis=1) for side in sides)
    residual[((below <= ON) & (residual > 0)) | ((above <= ON) & (residual < 0))] = 0.0
    residual[np.arange(residual.shape[1]) >= model.number[:, None]] = 0.0
    return 0.5 * np.einsum("ka,ka->k", residual, np.linalg.solve(quadratic.own, residual[:, :, None])[:, :, 0])


def promising(gains: np.ndarray, least: float) -> np.ndarray:
    """Return flags (T,) of the fewest frames without which less than `least` is to be gained, of `gains` (T,)."""
    order, found = np.argsort(gains), np.zeros(len(gains), bool)
    found[order[np.cumsum(gains[order]) > least]] = True
    return found


def widened(frames: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return flags (T,) of frames with those around them, and without gaps that a row could bridge."""
    index = np.flatnonzero(frames)
    change = np.zeros(len(frames) + 1, np.int64)
    first = np.searchsorted(times, times[index] - AROUND)
    last = np.searchsorted(times, times[index] + AROUND, "right")
    np.add.at(change, np.maximum(np.minimum(first, index - REACH), 0), 1)
    np.add.at(change, np.minimum(np.maximum(last, index + REACH), len(frames)), -1)
    found = np.cumsum(change[:-1]) > 0
    stays = np.flatnonzero(~found)
    for run in np.split(stays, np.flatnonzero(np.diff(stays) > 1) + 1):
        if 0 < len(run) < 2 * REACH and run[0] > 0 and run[-1] < len(found) - 1:
            found[run] = True
    return found
