"""The classic iterative solvers for serial chains (Lee, Inverse Kinematics).

They are yardsticks, and short enough to learn from.

Each takes a chain, where its joints are, and a target, and improves the joints until the frame is there or it gives up.
Limits are kept as such solvers do: what goes beyond is cut off.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import atan2

import numpy as np
from scipy.optimize import minimize

from experiments.tracking.serial_chain import ChainTarget, SerialChain
from robik.errors import ClipError
from robik.kinematics.kernels import forward_kinematics
from robik.mechanism.model import Mechanism
from robik.objectives.registry import ObjectiveTables
from robik.tracking.targets import Targets
from robik.tracking.tracker import Tracker

REACHED = 1e-5  # m and rad
STALLED = 1e-12  # rad or m: a step that no longer moves anything
EULER = 0.5  # of the way in each step
DAMPING = 0.1  # λ
MOST = 200  # iterations


@dataclass(frozen=True)
class Solution:
    """Joints q (d,) [rad or m], how many iterations they took, and whether the frame is at its target."""

    q: np.ndarray
    iterations: int
    reached: bool


Method = Callable[[SerialChain, np.ndarray, ChainTarget, int], Solution]


def pseudo_inverse(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int = MOST) -> Solution:
    """Take up to `most` Euler steps of the pseudo-inverse, the least joint motion that does it, from q (d,).

    θ ← θ + Δt J⁺ e.
    """
    return _iterated(chain, q, target, most, lambda J, e: EULER * (np.linalg.pinv(J) @ e))


def damped_least_squares(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int = MOST) -> Solution:
    """Solve min |J δ - e|² + λ² |δ|² in up to `most` iterations from q (d,).

    θ ← θ + Jᵀ (J Jᵀ + λ² 1)⁻¹ e, calm where J loses rank, slow where λ outweighs it.
    """
    return _iterated(
        chain, q, target, most, lambda J, e: J.T @ np.linalg.solve(J @ J.T + DAMPING**2 * np.eye(len(J)), e)
    )


def jacobian_transpose(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int = MOST) -> Solution:
    """Take up to `most` steps down the gradient of ½ |e|², from q (d,).

    θ ← θ + α Jᵀ e, with the α that would be best if J stayed the same: e·w / w·w, w = J Jᵀ e.
    """

    def step(J: np.ndarray, e: np.ndarray) -> np.ndarray:
        down = J.T @ e
        w = J @ down
        return down * (e @ w) / max(w @ w, 1e-300)

    return _iterated(chain, q, target, most, step)


def _iterated(
    chain: SerialChain,
    q: np.ndarray,
    target: ChainTarget,
    most: int,
    step: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Solution:
    """Step δ(J, e) until the target is reached, or nothing moves any more."""
    for k in range(most + 1):
        chain.place(q)
        e = chain.error(target)
        if np.abs(e).max() <= REACHED:
            return Solution(q, k, True)
        after = chain.clamped(q + step(chain.jacobian(target.rotation is not None), e))
        if k == most or np.abs(after - q).max() <= STALLED:
            break
        q = after
    return Solution(q, k, False)


def cyclic_coordinate_descent(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int = MOST) -> Solution:
    """Turn one joint at a time, from the last to the first, each to where it alone brings the frame nearest.

    An iteration is a sweep. The frame counts as points: its origin, or with an orientation four points around it,
    as far away as the arm's mean link is long.
    """
    length = max(float(chain.flat.size), 1e-9)
    q = q.copy()
    for k in range(most + 1):
        chain.place(q)
        if np.abs(chain.error(target)).max() <= REACHED:
            return Solution(q, k, True)
        before = q.copy()
        for i in range(len(q) - 1, -1, -1) if k < most else ():
            points, aims = _markers(chain, target, length)
            q[i] = min(max(q[i] + _nearest(chain, i, points, aims), chain.lower[i]), chain.upper[i])
            chain.place(q)
        if np.abs(q - before).max() <= STALLED:
            break
    return Solution(q, k, False)


def _markers(chain: SerialChain, target: ChainTarget, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Points (k, 3) of the frame, and where they should be."""
    if target.rotation is None:
        return chain.position[None], target.position[None]
    corners = length * np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1]])
    return chain.position + corners @ chain.rotation.T, target.position + corners @ target.rotation.T


def _nearest(chain: SerialChain, i: int, points: np.ndarray, aims: np.ndarray) -> float:
    """Return how far joint i has to move for the least Σ |point - aim|², in closed form."""
    axis, origin = chain.joint(i)
    if not chain.hinge[i]:
        return float((aims - points).mean(axis=0) @ axis)
    M = (points - origin).T @ (aims - origin)
    turning = axis[0] * (M[1, 2] - M[2, 1]) + axis[1] * (M[2, 0] - M[0, 2]) + axis[2] * (M[0, 1] - M[1, 0])
    return atan2(turning, M[0, 0] + M[1, 1] + M[2, 2] - axis @ M @ axis)


def nonlinear_optimisation(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int = MOST) -> Solution:
    """Solve min ½ |p - p̂|² + ½ |log R̂ Rᵀ|² between the limits, by SciPy's sequential quadratic programming."""

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        chain.place(x)
        e = chain.error(target)
        return 0.5 * float(e @ e), -chain.jacobian(target.rotation is not None).T @ e

    bounds = list(zip(chain.lower, chain.upper, strict=True))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Values in x were outside bounds")  # by rounding; SciPy clips them
        found = minimize(value, q, jac=True, bounds=bounds, method="SLSQP", options={"maxiter": most, "ftol": 1e-14})
    after = chain.clamped(found.x)
    chain.place(after)
    return Solution(after, int(found.nit), bool(np.abs(chain.error(target)).max() <= REACHED))


class ClassicTracker(Tracker):
    """Tracker of one frame of a serial chain by a classic solver of this module or of `analytic`.

    A step takes at most `most` iterations.
    """

    def __init__(self, mechanism: Mechanism, method: Method = damped_least_squares, most: int = 20):
        self.method, self.most = method, most
        self._chain: SerialChain | None = None
        super().__init__(mechanism)

    def _lay_out(self, targets: Targets) -> ObjectiveTables:
        names = list(targets.frames)
        if len(names) != 1 or targets.com is not None or targets.frames[names[0]].position is None:
            raise ClipError(
                "a classic solver follows the position of one frame, with or without its orientation; give one target"
            )
        self._chain = SerialChain(self.mechanism, names[0])
        return super()._lay_out(targets)

    def _advance(self, tables: ObjectiveTables, dt: float) -> float:
        assert self._chain is not None
        turn = tables.frame_pose.rotation[0] if tables.frame_pose.orientation_weight[0].any() else None
        self.now.q[:] = self.method(
            self._chain, self.now.q.copy(), ChainTarget(tables.frame_pose.position[0], turn), self.most
        ).q
        forward_kinematics(self.flat, self.now)
        return 0.0
