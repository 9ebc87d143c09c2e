"""The paper's objective of one frame in maximal coordinates: value, gradient, Hessian.

Independent of the compiled terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.oracle.maximal import AXES, Robot, Rows
from experiments.oracle.reference_asked import Term
from robik.mechanism.pose import quaternion_matrix
from robik.objectives.settings import Settings

Targets = Mapping[str, tuple[np.ndarray | None, np.ndarray | None]]


class Objective:
    """f_IK + w_state R_state + w_vel R_vel of one frame; `value`, `gradient` and `hessian` at a state (n, 7)."""

    def __init__(
        self, robot: Robot, targets: Targets, com: np.ndarray | None, previous: np.ndarray, dt: float | None,
        settings: Settings, asked: Sequence[Term] = (),
    ) -> None:  # fmt: skip
        self.asked = tuple(asked)
        mechanism, origins, n = robot.mechanism, robot.origins, len(robot.origins) - 1
        square = settings.per_square_metre(mechanism)
        rows: list[tuple] = []
        row_weights: list[float] = []
        for name, (position, quaternion) in targets.items():
            frame, weights = mechanism.frame(name), settings.weights(name)
            body = mechanism.body_index[frame.body]
            rest = mechanism.bodies[body].pose @ frame.pose
            if position is not None:
                rows += [
                    (n, AXES[k], body, np.array(rest.position) - origins[body], n, position, 1, 1) for k in range(3)
                ]
                row_weights += [square * weight for weight in weights.position]
            if quaternion is not None:  # 1 − R a · â = ½ |R a − â|², which does not lose its digits near the target
                own, aims = (matrix @ weights.axes for matrix in (rest.matrix, quaternion_matrix(quaternion)))
                pairs = [*zip(own.T, aims.T, weights.directions, strict=True)]
                rows += [(n, AXES[k], body, axis, n, wanted, 0, 1) for axis, wanted, _ in pairs for k in range(3)]
                row_weights += [weight for *_, weight in pairs for _ in range(3)]
        self.rows, self.weights = Rows(rows, n), np.array(row_weights)
        masses = np.array([body.mass for body in mechanism.bodies])
        self.com = None if com is None else np.asarray(com, dtype=float)
        self.com_weight = square * np.array(settings.com_weight)
        self.shares = masses / masses.sum() if com is not None else masses
        self.previous, self.state_weight = previous, settings.state_weight * np.tile([square] * 3 + [1.0] * 4, n)
        turn = np.inf if dt is None else settings.velocity_limit * dt
        self.velocity_weight = settings.velocity_weight
        self.threshold = 2 * (1 - np.cos(turn)) if turn < np.pi else np.inf  # half a turn is the most that can be told
        self.linear_threshold = np.inf if dt is None else (settings.linear_velocity_limit * dt) ** 2
        turns = [(k, quaternion_matrix(q)) for k, q in enumerate(previous[:, 3:])]
        self.overlaps = Rows(
            [(n, turn[:, a], k, AXES[a], n, np.zeros(3), 0, 1) for k, turn in turns for a in range(3)], n
        )

    def value(self, state: np.ndarray) -> float:
        """[weights' units]."""
        x = self._turned(state)
        value = 0.5 * self.weights @ self.rows.value(state) ** 2
        if self.com is not None:
            value += 0.5 * self.com_weight @ (self.shares @ state[:, :3] - self.com) ** 2
        value += 0.5 * self.state_weight @ (state - self.previous).ravel() ** 2 + sum(
            term.value(state) for term in self.asked
        )
        fast = np.concatenate([x / self.threshold, self._gone(state) / self.linear_threshold])
        return float(value + self.velocity_weight * np.sum(np.log(np.maximum(fast, 1.0)) ** 3))

    def gradient(self, state: np.ndarray) -> np.ndarray:
        """(7 n,)."""
        gradient = self.state_weight * (state - self.previous).ravel()
        gradient += self.rows.jacobian(state).T @ (self.weights * self.rows.value(state))
        for term in self.asked:
            gradient += term.gradient(state)
        if self.com is not None:
            pull = self.com_weight * (self.shares @ state[:, :3] - self.com)
            gradient.reshape(-1, 7)[:, :3] += self.shares[:, None] * pull
        if self.velocity_weight:
            first, _ = self._velocity_slopes(self._turned(state), self.threshold)
            gradient -= self.overlaps.jacobian(state).T @ np.repeat(first, 3)
            first, _ = self._velocity_slopes(self._gone(state), self.linear_threshold)
            gradient.reshape(-1, 7)[:, :3] += 2 * first[:, None] * (state - self.previous)[:, :3]
        return gradient

    def hessian(self, state: np.ndarray) -> np.ndarray:
        """(7 n, 7 n)."""
        jacobian = self.rows.jacobian(state)
        hessian = np.diag(self.state_weight) + jacobian.T @ (self.weights[:, None] * jacobian)
        hessian += self.rows.curvature(state, self.weights * self.rows.value(state))
        for term in self.asked:
            hessian += term.hessian(state)
        if self.com is not None:
            weighted = np.zeros((3, *state.shape))
            weighted[range(3), :, range(3)] = self.shares
            hessian += weighted.reshape(3, -1).T @ (self.com_weight[:, None] * weighted.reshape(3, -1))
        if self.velocity_weight:
            first, second = self._velocity_slopes(self._turned(state), self.threshold)
            slope = self.overlaps.jacobian(state).reshape(-1, 3, state.size).sum(1)
            hessian += slope.T @ (second[:, None] * slope) - self.overlaps.curvature(state, np.repeat(first, 3))
            first, second = self._velocity_slopes(self._gone(state), self.linear_threshold)
            away = (state - self.previous)[:, :3]
            for k in range(len(state)):
                own = slice(7 * k, 7 * k + 3)
                hessian[own, own] += 2 * first[k] * np.eye(3) + 4 * second[k] * np.outer(away[k], away[k])
        return hessian

    def _turned(self, state: np.ndarray) -> np.ndarray:
        """3 − tr R̄ᵀR of each body."""
        return 3 - self.overlaps.value(state).reshape(-1, 3).sum(1)

    def _gone(self, state: np.ndarray) -> np.ndarray:
        """|c − c̄|² of each body."""
        return ((state - self.previous)[:, :3] ** 2).sum(1)

    def _velocity_slopes(self, x: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return w g′ and w g″ of each body, zero below the threshold."""
        if not np.isfinite(threshold):
            return np.zeros(len(x)), np.zeros(len(x))
        x = np.maximum(x, threshold)
        log = np.log(x / threshold)
        return self.velocity_weight * 3 * log**2 / x, self.velocity_weight * (6 * log - 3 * log**2) / x**2
