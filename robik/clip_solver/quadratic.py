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
        local: (m,) coordinates that are eliminated.
    """

    gradient: np.ndarray
    own: np.ndarray
    cross: np.ndarray
    last: np.ndarray
    tied: np.ndarray
    local: np.ndarray

    @classmethod
    def of(cls, model: Model, previous: np.ndarray, local: np.ndarray) -> Quadratic:
        """Return the convex model of frames.

        Args:
            model: Of the frames.
            previous: (T,) the frame before each; -1 for none.
            local: (m,) coordinates that are to be eliminated.

        Returns:
            The model, positive definite frame by frame.
        """
        tie = np.asarray(model.tie)
        if local.any():
            tie = tie * (2.0 * (~local[:, None] & ~local) + 4.0 * (local[:, None] & local))
        own = _positive(model) + tie
        tied = np.flatnonzero(previous >= 0)
        last = previous[tied]
        alike = (model.independent[tied] == model.independent[last]).all(axis=1)
        alike &= model.number[tied] == model.number[last]
        np.add.at(own, last[alike], tie[tied[alike]])
        own[tied[~alike]] += tie[tied[~alike]]
        np.add.at(own, last[~alike], 2.0 * tie[last[~alike]])
        tied, last = tied[alike], last[alike]
        cross = -tie[tied]
        cross[:, local] = 0.0
        cross[:, :, local] = 0.0
        return cls(np.asarray(model.gradient), own, cross, last, tied, local)

    def decrease(self, dz: np.ndarray) -> float:
        """Return by how much a step (T, m) lowers the model.

        Args:
            dz: Step (T, m) of the independent coordinates.

        Returns:
            The decrease; negative where the model rises.
        """
        curved = np.einsum("ka,kab,kb", dz, self.own, dz)
        curved += 2.0 * np.einsum("ka,kab,kb", dz[self.last], self.cross, dz[self.tied])
        return float(-(self.gradient * dz).sum() - 0.5 * curved)

    def reduced(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the blocks (T, m, m) and the gradient (T, m) after the elimination.

        Rows of what is eliminated are of no use.
        """
        if not self.local.any():
            return self.own, self.gradient
        outer = self.own[:, self.local]
        solved = np.linalg.solve(outer[:, :, self.local], np.dstack([outer, self.gradient[:, self.local]]))
        across = np.swapaxes(outer, 1, 2)
        return self.own - across @ solved[:, :, :-1], self.gradient - (across @ solved[:, :, -1:])[:, :, 0]

    def complete(self, dz: np.ndarray, frames: np.ndarray) -> None:
        """Fill in the steps of what was eliminated.

        Args:
            dz: (T, m) with zeros there.
            frames: that move.
        """
        if self.local.any():
            outer = self.own[frames][:, self.local]
            right = self.gradient[frames][:, self.local] + np.einsum("kla,ka->kl", outer, dz[frames])
            moved = -np.linalg.solve(outer[:, :, self.local], right[:, :, None])[:, :, 0]
            dz[np.ix_(frames, np.flatnonzero(self.local))] = moved


def unbounded(model: Model) -> np.ndarray:
    """Return the coordinates (m,) that no bound is on; none where the frames have different ones.

    Args:
        model: The quadratic model of the clip.

    Returns:
        Whether no bound is on it (m,).
    """
    alike = (model.independent == model.independent[0]).all() and (model.number == model.independent.shape[1]).all()
    local = ~np.asarray(model.motion).any(axis=(0, 1))
    return local & bool(alike and not local.all())


def _positive(model: Model) -> np.ndarray:
    """Return the frames' Hessians (T, m, m), made positive definite and damped.

    Those that are not definite get the absolute values of their eigenvalues.
    """
    found = model.hessian.copy()
    doubtful = ~np.asarray(model.definite)
    if doubtful.any():
        eigenvalues, vectors = np.linalg.eigh(found[doubtful])
        found[doubtful] = (vectors * np.abs(eigenvalues)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    found += DAMPING * np.eye(found.shape[1])
    return found
