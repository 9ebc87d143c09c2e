"""Pose prior: a mixture of Gaussians over actuator values as an objective (Lee, data-driven).

Where targets leave a robot free, some poses are likelier than others. Each component k holds a mean μₖ, the main
directions of the example's poses about it (PCA, variances Λₖ), and the spread σ² that is left around them:

    p(v) = Σ πₖ N(v; μₖ, Wₖ Wₖᵀ + σₖ² 1)

- log p is lowered as expectation-maximisation does it: at v, each component's likeliest pose is μₖ + Wₖ E[z | v] with
  E[z | v] the
latent mean, and their mean by responsibility m(v) is what the next step is drawn to, as ½ w |s - s(m)|² over the
bodies' states. Loops hold: s(m) is assembled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..errors import ClipError
from ..kinematics.forward import ForwardKinematics
from ..mechanism.model import Mechanism
from ..mechanism.pose import matrix_quaternion, quaternion_matrix
from .weights import Weights

FLOOR = 1e-4  # rad or m: the least spread, so that an example that stands still is no cage
ROUNDS = 100  # of expectation and maximisation, at most
WEIGHT = 1e-4  # of the pull per body, beside targets that weigh 1: enough to decide what they leave open
# standard deviations: as far from its mean as a cloud reaches; along its main directions, log p alone would pull too
# little
SPREAD = 2.0
BESIDE = 1e-3  # what bodies without targets say of where a floating robot is
POSES_EACH = 20  # that an example should have for each cloud it is taken for


@dataclass(frozen=True, kw_only=True)
class Component:
    """A Gaussian of the mixture.

    Its `share` of all poses, `mean` (A,), `directions` (A, k), `variances` (k,) along them, `rest` σ² across.
    """

    share: float
    mean: np.ndarray
    directions: np.ndarray
    variances: np.ndarray
    rest: float

    def log_likelihood(self, v: np.ndarray) -> np.ndarray:
        """Return the log-likelihood (...) of poses (..., A), but for a constant that all components share."""
        away = v - self.mean
        along = away @ self.directions
        across = np.sum(away**2, axis=-1) - np.sum(along**2, axis=-1)
        spread = np.log(self.variances).sum() + (len(self.mean) - len(self.variances)) * np.log(self.rest)
        return np.log(self.share) - 0.5 * (np.sum(along**2 / self.variances, axis=-1) + across / self.rest + spread)

    def likeliest(self, v: np.ndarray) -> np.ndarray:
        """Return the pose (A,) of the Gaussian that pose v (A,) most probably stands for.

        It is no further out than the example's own poses.
        """
        kept, most = (self.variances - self.rest) / self.variances, SPREAD * np.sqrt(self.variances)
        return self.mean + self.directions @ (kept * np.clip((v - self.mean) @ self.directions, -most, most))


@dataclass(frozen=True)
class PosePrior:
    """Likelihood of poses, learned from examples.

    Attributes:
        components: the mixture.
    """

    components: tuple[Component, ...]

    @classmethod
    def fit(cls, values: np.ndarray, components: int = 1, directions: int = 2, seed: int = 0) -> PosePrior:
        """Return the prior learned from an example's poses (T, A) [rad or m].

        `components` is the number of Gaussians; 1 is a PCA. `directions` is the number of main directions of each,
        fewer than actuators. Raise ClipError where poses are too few or not finite.
        """
        values = np.asarray(values, dtype=float)
        if values.ndim != 2 or not np.isfinite(values).all():
            raise ClipError(
                "a pose prior learns from a table of finite actuator values, a row per pose, not of shape"
                f" {values.shape}"
            )
        if components < 1 or len(values) < 2 * components:
            raise ClipError(
                f"{components} components need at least {2 * max(components, 1)} poses, and there are {len(values)}"
            )
        if not 0 <= directions < values.shape[1]:
            raise ClipError(f"directions must be fewer than the {values.shape[1]} actuators, not {directions}")
        belongs = _nearest(values, components, np.random.default_rng(seed))
        for _ in range(ROUNDS):
            found = cls(tuple(_component(values, weight, directions) for weight in belongs.T))
            before, belongs = belongs, found.responsibilities(values)
            if np.abs(belongs - before).max() < 1e-6:
                break
        return found

    @classmethod
    def of(cls, example: np.ndarray) -> PosePrior:
        """Return the prior learned from the poses (T, A) of a motion.

        It has up to three Gaussians with up to three main directions, as far as there are poses. Raise ClipError
        where poses are too few or not finite.
        """
        count, actuators = np.shape(example)
        return cls.fit(example, min(3, max(1, count // POSES_EACH)), min(3, actuators - 1))

    def responsibilities(self, v: np.ndarray) -> np.ndarray:
        """Return the probability (..., K) that a pose (..., A) comes from each component; their sum is 1."""
        logs = np.stack([c.log_likelihood(v) for c in self.components], axis=-1)
        shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return shares / shares.sum(axis=-1, keepdims=True)

    def log_likelihood(self, v: np.ndarray) -> np.ndarray:
        """Return the log-likelihood (...) of poses (..., A) but for a constant: log Σ πₖ N(v; …)."""
        return np.logaddexp.reduce([c.log_likelihood(v) for c in self.components], axis=0)

    def likeliest(self, v: np.ndarray) -> np.ndarray:
        """Return m(v) (A,): the pose among the example's to which pose v (A,) is drawn."""
        return self.responsibilities(v) @ np.array([c.likeliest(v) for c in self.components])


def _nearest(values: np.ndarray, components: int, rng: np.random.Generator) -> np.ndarray:
    """Memberships (T, K) to begin with: each pose to the nearest of some that lie far apart."""
    centres = [values[rng.integers(len(values))]]
    while len(centres) < components:
        centres.append(values[int(np.argmax(np.min([np.sum((values - c) ** 2, axis=1) for c in centres], axis=0)))])
    return np.eye(components)[np.argmin([np.sum((values - c) ** 2, axis=1) for c in centres], axis=0)]


def _component(values: np.ndarray, weight: np.ndarray, directions: int) -> Component:
    """Return the Gaussian of poses (T, A) that count by `weight` (T,).

    The main directions of their covariance, the mean of its rest.
    """
    total = max(float(weight.sum()), 1e-12)
    mean = weight @ values / total
    away = values - mean
    spread, axes = np.linalg.eigh((weight[:, None] * away).T @ away / total)
    rest = max(float(spread[: len(spread) - directions].mean()), FLOOR**2)
    main = slice(len(spread) - directions, None)
    return Component(
        share=max(total / len(values), 1e-12),
        mean=mean,
        directions=axes[:, main],
        variances=np.maximum(spread[main], rest),
        rest=rest,
    )


class Attraction:
    """Attraction of a robot's bodies to the pose that a prior prefers.

    A floating robot takes the likely pose so that the `followed` frames stay where they are. `weight` is that of
    the pull, per body. Raise ClipError for a prior over another number of actuators, or a weight that is not
    positive.
    """

    def __init__(self, mechanism: Mechanism, prior: PosePrior, followed: Iterable[str], weight: float = WEIGHT):
        actuators, learned = len(mechanism.actuators), len(prior.components[0].mean)
        if actuators != learned:
            raise ClipError(
                f"the prior was learned from poses of {learned} actuators, and robot {mechanism.name!r} has {actuators}"
            )
        if not 0 < weight < np.inf:
            raise ClipError(f"a prior's weight must be positive, for example {WEIGHT:g}, not {weight}")
        self.prior, self._fk = prior, ForwardKinematics(mechanism)
        self.pull = Weights((weight,) * 3, (weight,) * 3)
        self._held = np.full(len(mechanism.bodies), BESIDE)
        self._held[[mechanism.body_index[mechanism.frame(name).body] for name in followed]] = 1.0

    def poses(self, values: np.ndarray, position: np.ndarray, quaternion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the bodies' own frames in the assembled likeliest pose: (n, 3) [m] and (n, 4) wxyz.

        `values` (A,), `position` (n, 3) and `quaternion` (n, 4) are those of the robot now.
        """
        likely = self._fk.solve(self.prior.likeliest(values))
        if self._fk.root is None:
            return likely.position, likely.quaternion
        source, aim = (self._corners(p, q) for p, q in ((likely.position, likely.quaternion), (position, quaternion)))
        turn, shift = _rigid(source, aim, np.repeat(self._held, 4))
        turned = [matrix_quaternion(turn @ quaternion_matrix(q)) for q in likely.quaternion]
        return likely.position @ turn.T + shift, np.array(turned)

    def _corners(self, position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
        """Return four points of each body (4 n, 3).

        Its origin, and points on its axes as far away as the robot's links are long.
        """
        axes = np.array([quaternion_matrix(q).T for q in quaternion]) * self._fk.flat.size
        return np.concatenate([position[:, None], position[:, None] + axes], axis=1).reshape(-1, 3)


def _rigid(source: np.ndarray, aim: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation (3, 3) and shift (3,) that bring points (k, 3) nearest to others.

    In weighted least squares (Kabsch).
    """
    share = weight / weight.sum()
    a, b = share @ source, share @ aim
    U, _, Vt = np.linalg.svd((aim - b).T @ (share[:, None] * (source - a)))
    turn = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt
    return turn, b - turn @ a
