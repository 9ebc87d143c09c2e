"""Poses like an example's: a mixture of Gaussians over actuator values as an objective of the state-based solver (Lee, data-driven).

Where targets leave a robot free, some poses are likelier than others. Each component k holds a mean μₖ, the main directions of the
example's poses about it (PCA, variances Λₖ), and the spread σ² that is left around them:

    p(v) = Σ πₖ N(v; μₖ, Wₖ Wₖᵀ + σₖ² 1)

- log p is lowered as expectation-maximisation does it: at v, each component's likeliest pose is μₖ + Wₖ E[z | v] with E[z | v] the
latent mean, and their mean by responsibility m(v) is what the next step is drawn to, as ½ w |s - s(m)|² over the bodies' states.
Loops hold: s(m) is assembled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robik.errors import ClipError
from robik.ik.objectives import Settings, Weights
from robik.ik.terms import Goals
from robik.kinematics.forward import ForwardKinematics
from robik.mechanism.model import Mechanism
from robik.mechanism.pose import Pose
from robik.tracking.state_based import StateBasedTracker
from robik.tracking.targets import Target, Targets

FLOOR = 1e-4  # rad or m: the least spread, so that an example that stands still is no cage
ROUNDS = 100  # of expectation and maximisation, at most


@dataclass(frozen=True)
class Component:
    """A cloud of poses: its `share` of all, `mean` (A,), `directions` (A, k), `variances` (k,) along them, `rest` σ² across."""

    share: float
    mean: np.ndarray
    directions: np.ndarray
    variances: np.ndarray
    rest: float

    def log_likelihood(self, v: np.ndarray) -> np.ndarray:
        """Of poses (..., A), but for what all components have in common."""
        away = v - self.mean
        along = away @ self.directions
        across = np.sum(away**2, axis=-1) - np.sum(along**2, axis=-1)
        spread = np.log(self.variances).sum() + (len(self.mean) - len(self.variances)) * np.log(self.rest)
        return np.log(self.share) - 0.5 * (np.sum(along**2 / self.variances, axis=-1) + across / self.rest + spread)

    def likeliest(self, v: np.ndarray) -> np.ndarray:
        """The pose (A,) in the cloud that one at v (A,) most probably stands for."""
        kept = (self.variances - self.rest) / self.variances
        return self.mean + self.directions @ (kept * ((v - self.mean) @ self.directions))


@dataclass(frozen=True)
class PosePrior:
    """What poses are likely, learned from examples.

    Attributes:
        components: the mixture.
    """

    components: tuple[Component, ...]

    @classmethod
    def fit(cls, values: np.ndarray, components: int = 1, directions: int = 2, seed: int = 0) -> PosePrior:
        """Learns from poses (T, A), actuator values of an example [rad or m].

        Args:
            components: clouds; 1 is a PCA.
            directions: main directions of each, fewer than actuators.

        Raises:
            ClipError: too few poses, or values that are not finite.
        """
        values = np.asarray(values, dtype=float)
        if values.ndim != 2 or not np.isfinite(values).all():
            raise ClipError(f"a pose prior learns from a table of finite actuator values, a row per pose, not of shape {values.shape}")
        if components < 1 or len(values) < 2 * components:
            raise ClipError(f"{components} components need at least {2 * max(components, 1)} poses, and there are {len(values)}")
        if not 0 <= directions < values.shape[1]:
            raise ClipError(f"directions must be fewer than the {values.shape[1]} actuators, not {directions}")
        belongs = _nearest(values, components, np.random.default_rng(seed))
        for _ in range(ROUNDS):
            found = cls(tuple(_component(values, weight, directions) for weight in belongs.T))
            before, belongs = belongs, found.responsibilities(values)
            if np.abs(belongs - before).max() < 1e-6:
                break
        return found

    def responsibilities(self, v: np.ndarray) -> np.ndarray:
        """How probably poses (..., A) come from each component (..., K)."""
        logs = np.stack([c.log_likelihood(v) for c in self.components], axis=-1)
        shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return shares / shares.sum(axis=-1, keepdims=True)

    def log_likelihood(self, v: np.ndarray) -> np.ndarray:
        """Of poses (..., A), but for a constant: log Σ πₖ N(v; …)."""
        return np.logaddexp.reduce([c.log_likelihood(v) for c in self.components], axis=0)

    def likeliest(self, v: np.ndarray) -> np.ndarray:
        """m(v): the pose (A,) among the example's that one at v (A,) is drawn to."""
        return self.responsibilities(v) @ np.array([c.likeliest(v) for c in self.components])


def _nearest(values: np.ndarray, components: int, rng: np.random.Generator) -> np.ndarray:
    """Memberships (T, K) to begin with: each pose to the nearest of some that lie far apart."""
    centres = [values[rng.integers(len(values))]]
    while len(centres) < components:
        centres.append(values[int(np.argmax(np.min([np.sum((values - c) ** 2, axis=1) for c in centres], axis=0)))])
    return np.eye(components)[np.argmin([np.sum((values - c) ** 2, axis=1) for c in centres], axis=0)]


def _component(values: np.ndarray, weight: np.ndarray, directions: int) -> Component:
    """The cloud of poses (T, A) that count by `weight` (T,): the main directions of their covariance, the mean of its rest."""
    total = max(float(weight.sum()), 1e-12)
    mean = weight @ values / total
    away = values - mean
    spread, axes = np.linalg.eigh((weight[:, None] * away).T @ away / total)
    rest = max(float(spread[: len(spread) - directions].mean()), FLOOR**2)
    main = slice(len(spread) - directions, None)
    return Component(max(total / len(values), 1e-12), mean, axes[:, main], np.maximum(spread[main], rest), rest)


class PriorTracker(StateBasedTracker):
    """Follows targets by the bake's solver, in poses like an example's where the targets leave a choice.

    Args:
        mechanism: the robot.
        prior: what poses are likely, over its actuators.
        weight: of the pull towards them, per body, beside targets that weigh 1.
        settings: regularizers and limits.

    Raises:
        ClipError: a prior over another number of actuators.
    """

    def __init__(self, mechanism: Mechanism, prior: PosePrior, weight: float = 1e-3, settings: Settings = Settings()):  # noqa: B008 - immutable
        actuators, learned = len(mechanism.actuators), len(prior.components[0].mean)
        if actuators != learned:
            raise ClipError(f"the prior was learned from poses of {learned} actuators, and robot {mechanism.name!r} has {actuators}")
        if not weight > 0:
            raise ClipError(f"a prior's weight must be positive, for example 1e-3, not {weight}")
        self.prior, self.pull = prior, Weights((weight,) * 3, (weight,) * 3)
        self._fk = ForwardKinematics(mechanism)
        super().__init__(mechanism, settings)

    def _aim(self, targets: Targets) -> Goals:
        """The targets, and for every other body where it is in the likeliest pose; a floating base stays where it is there."""
        position, quaternion = self.bodies()
        root = self._fk.root
        i = self.mechanism.body_index[root] if root else 0
        base = Pose(tuple(position[i]), tuple(quaternion[i])) if root else None
        likely = self._fk.solve(self.prior.likeliest(self.values), base)
        drawn = {
            body.name: Target(likely.position[k], likely.quaternion[k], self.pull)
            for k, body in enumerate(self.mechanism.bodies)
            if body.name not in targets.frames and body.name != root
        }
        return super()._aim(Targets({**targets.frames, **drawn}, targets.com, targets.com_weight))
