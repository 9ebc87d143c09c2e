"""Trust in the local model: how far each frame may go in a step, and how curvature downwards counts.

A sole that meets the ground, which no model sees coming, shortens no step of other frames.
"""

from __future__ import annotations

import numpy as np

from ..mechanism.constraints import SLIDE
from ..mechanism.topology import Flat
from .model import Model
from .program import Step

RADIUS = 0.5  # rad, or of the robot's size: trust region of a step
FAIR, AMPLE = 0.5, 1.5  # of what was promised: with less a model was poor, with more a step was too short
SHRINKS, GROWS = 0.25, 2.0  # times the trust region of frames with a poor model, and of the others
NARROWEST = 1e-2  # share of the trust region that every frame keeps
BESIDE = 2  # frames on both sides that are held back with a frame whose model was poor
SLIGHTLY = 0.1  # of what is nothing: no frame's model is poor for less
FLATTEST = 0.1  # share by which curvature downwards counts at the least


class Trust:
    """Trust region of the model, for each of T frames.

    `nothing` is the change of a frame's objective that counts as nothing. `concave` is the share by which curvature
    downwards counts as curvature upwards. With all of it steps are safe, and half as long as they could be where
    much curves downwards.
    """

    def __init__(self, flat: Flat, frames: int, nothing: float):
        self._widest = np.full(len(flat.before), RADIUS)
        self._widest[np.asarray(flat.at_v)[np.asarray(flat.kind) == SLIDE]] *= flat.size
        self._reach, self._slight = np.ones(frames), SLIGHTLY * nothing
        self.concave = 1.0

    @property
    def is_whole(self) -> np.ndarray:
        """Return whether each frame has its whole trust region (T,)."""
        return self._reach >= 1.0

    @property
    def is_narrow(self) -> bool:
        """Return whether any frame has less than its whole trust region."""
        return not self.is_whole.all()

    def radius(self, share: float = 1.0) -> np.ndarray:
        """Return `share` times the trust region's radii (T, d) [rad or m]; above 1 it is wider."""
        return share * self._reach[:, None] * self._widest

    def within(self, model: Model, dz: np.ndarray) -> np.ndarray:
        """Return a step (T, m) of the independent coordinates, shortened frame by frame to its trust region."""
        share = np.abs(dz) / np.take_along_axis(self.radius(), np.asarray(model.independent), axis=1)
        return dz / np.maximum(share.max(axis=1), 1.0)[:, None]

    def widen(self) -> None:
        """Give all frames their whole trust region."""
        self._reach[:] = 1.0

    def learn(self, step: Step, rise: np.ndarray, poor: np.ndarray, fulfilled: float) -> None:
        """Adapt the region to what a whole step has brought.

        `rise` (T,) is that of each frame's objective. `poor` (T,) flags frames in a span that brought less than a
        fair share of what was promised, and `fulfilled` is the share of the whole promise.
        """
        doubted = poor & (rise + step.decreases > np.maximum(np.abs(step.decreases), self._slight))
        around = np.zeros(len(rise), bool)
        near = np.flatnonzero(doubted)[:, None] + np.arange(-BESIDE, BESIDE + 1)
        around[np.clip(near, 0, len(rise) - 1)] = True
        self._reach = np.clip(self._reach * np.where(around, SHRINKS, GROWS), NARROWEST, 1.0)
        if fulfilled > AMPLE:
            self.concave = max(0.5 * self.concave, FLATTEST)
        elif fulfilled < FAIR:
            self.concave = 1.0
