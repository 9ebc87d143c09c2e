"""The quadratic model of all frames, and the elimination of what no bound is on.

    gᵀz + ½ zᵀHz,   H block-tridiagonal over the frames

Coordinates without bounds, such as a floating base, are eliminated frame by frame (Schur complement). So that they tie
no frame to another, their part of the change of state is replaced by one above it, |a − b|² ≤ 2 |a|² + 2 |b|². So is
all of it between frames of other independent coordinates, where contacts come or go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .model import Model

DAMPING = 1e-6  # added to the Hessian


@dataclass(frozen=True)
class Quadratic:
    """The model.

    Attributes:
        gradient: (T, m).
        own: (T, m, m) blocks of the frames.
        cross: (K, m, m) blocks between frames `last` and `tied`.
        last, tied: (K,) indices of frames, one the frame before the other.
        local: (T, m) coordinates that are eliminated.
    """

    gradient: np.ndarray
    own: np.ndarray
    cross: np.ndarray
    last: np.ndarray
    tied: np.ndarray
    local: np.ndarray

    @classmethod
    def of(cls, model: Model, previous: np.ndarray, local: np.ndarray, concave: float = 1.0) -> Quadratic:
        """Return the convex model of frames, positive definite frame by frame.

        `previous` (T,) has the frame before each, -1 for none; `local` (T, m) flags coordinates that are to be
        eliminated. `concave` is the share by which curvature downwards counts as curvature upwards.
        """
        tie = np.asarray(model.tie)
        if local.any():
            tie = tie.copy()
            for mask, frames in _alike(local):
                tie[frames] *= 2.0 * (~mask[:, None] & ~mask) + 4.0 * (mask[:, None] & mask)
        own = _positive(model, concave) + tie
        tied = np.flatnonzero(previous >= 0)
        last = previous[tied]
        alike = (model.independent[tied] == model.independent[last]).all(axis=1)
        alike &= (model.number[tied] == model.number[last]) & (local[tied] == local[last]).all(axis=1)
        np.add.at(own, last[alike], tie[tied[alike]])
        own[tied[~alike]] += tie[tied[~alike]]
        np.add.at(own, last[~alike], 2.0 * tie[last[~alike]])
        tied, last = tied[alike], last[alike]
        cross = -tie[tied]
        cross[local[tied]] = 0.0
        np.swapaxes(cross, 1, 2)[local[tied]] = 0.0
        return cls(np.asarray(model.gradient), own, cross, last, tied, local)

    def decrease(self, dz: np.ndarray) -> np.ndarray:
        """Return the decreases (T,) of the model by a step (T, m), frame by frame; negative where it rises."""
        curved = np.einsum("ka,kab,kb->k", dz, self.own, dz)
        curved[self.tied] += 2.0 * np.einsum("ka,kab,kb->k", dz[self.last], self.cross, dz[self.tied])
        return -(self.gradient * dz).sum(axis=1) - 0.5 * curved

    def reduced(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the blocks (T, m, m) and the gradient (T, m) after the elimination.

        Rows of what is eliminated are of no use.
        """
        if not self.local.any():
            return self.own, self.gradient
        own, gradient = self.own.copy(), self.gradient.copy()
        for mask, frames in _alike(self.local):
            outer = self.own[frames][:, mask]
            solved = np.linalg.solve(outer[:, :, mask], np.dstack([outer, self.gradient[frames][:, mask]]))
            across = np.swapaxes(outer, 1, 2)
            own[frames] -= across @ solved[:, :, :-1]
            gradient[frames] -= (across @ solved[:, :, -1:])[:, :, 0]
        return own, gradient

    def complete(self, dz: np.ndarray, frames: np.ndarray) -> None:
        """Fill the steps of eliminated coordinates into `dz` (T, m), zeros before, for the frames that move."""
        for mask, alike in _alike(self.local):
            moved = np.intersect1d(alike, frames)
            outer = self.own[moved][:, mask]
            right = self.gradient[moved][:, mask] + np.einsum("kla,ka->kl", outer, dz[moved])
            dz[np.ix_(moved, np.flatnonzero(mask))] = -np.linalg.solve(outer[:, :, mask], right[:, :, None])[:, :, 0]


def unbounded(model: Model) -> np.ndarray:
    """Return flags (T, m) of coordinates that no bound is on; none in a frame without any bound."""
    there = np.arange(model.independent.shape[1]) < model.number[:, None]
    local = there & ~np.asarray(model.motion).any(axis=1)
    found: np.ndarray = local & (local != there).any(axis=1, keepdims=True)
    return found


def _alike(local: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return each set of coordinates (m,) that are eliminated somewhere, with the frames where it is so."""
    masks, which = np.unique(local, axis=0, return_inverse=True)
    return [(mask, np.flatnonzero(which.ravel() == k)) for k, mask in enumerate(masks) if mask.any()]


def _positive(model: Model, concave: float) -> np.ndarray:
    """Return the frames' Hessians (T, m, m), made positive definite and damped.

    A negative eigenvalue counts as a positive one of a share of its size.
    """
    found = model.hessian.copy()
    doubtful = ~np.asarray(model.definite)
    if doubtful.any():
        eigenvalues, vectors = np.linalg.eigh(found[doubtful])
        eigenvalues = np.where(eigenvalues < 0.0, -concave * eigenvalues, eigenvalues)
        found[doubtful] = (vectors * eigenvalues[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    found += DAMPING * np.eye(found.shape[1])
    return found
