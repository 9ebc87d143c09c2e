"""Objectives that a clip asks for one by one, in maximal coordinates: independent of the compiled ones.

Each is a smooth function g of a few rows r(s), whose derivatives follow by the chain rule:

    ∇f = Jᵀ g′,   ∇²f = Jᵀ g″ J + Σ g′ₖ ∇²rₖ
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.oracle.maximal import AXES, Robot, Rows
from robik.errors import ClipError
from robik.mechanism.joints import SLIDES, TURNS
from robik.mechanism.pose import quaternion_matrix
from robik.objectives.distance import Distance
from robik.objectives.look_at import LookAt
from robik.objectives.objective import Objective
from robik.objectives.posture import Posture
from robik.objectives.relative_frame import RelativeFrame

Outer = Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]  # from rows (m,): g, g′ (m,), g″ (m, m)
NOWHERE = np.zeros(3)


@dataclass(frozen=True)
class Term:
    """One objective: `outer` of `rows`."""

    rows: Rows
    outer: Outer

    def value(self, state: np.ndarray) -> float:
        """At a state (n, 7)."""
        return self.outer(self.rows.value(state))[0]

    def gradient(self, state: np.ndarray) -> np.ndarray:
        """(7 n,)."""
        return self.rows.jacobian(state).T @ self.outer(self.rows.value(state))[1]

    def hessian(self, state: np.ndarray) -> np.ndarray:
        """(7 n, 7 n)."""
        _, first, second = self.outer(self.rows.value(state))
        jacobian = self.rows.jacobian(state)
        return jacobian.T @ second @ jacobian + self.rows.curvature(state, first)


def terms(robot: Robot, asked: tuple[Objective, ...], sample: int) -> list[Term]:
    """Return the terms of one sample of objectives."""
    made: dict[type, Callable[..., Term]] = {
        RelativeFrame: _relative,
        LookAt: _look,
        Distance: _distance,
        Posture: _posture,
    }
    return [
        made[type(item)](robot, item.part(slice(sample, sample + 1)), robot.settings.weight_of(item)) for item in asked
    ]


def _place(robot: Robot, name: str) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the body, the origin (3,) and the axes (3, 3) of a frame, seen from the body's state."""
    mechanism = robot.mechanism
    frame = mechanism.frame(name)
    body = mechanism.body_index[frame.body]
    rest = mechanism.bodies[body].pose @ frame.pose
    return body, np.array(rest.position) - robot.origins[body], rest.matrix


def _relative(robot: Robot, item: RelativeFrame, weight: Any) -> Term:
    n, square = len(robot.mechanism.bodies), robot.settings.per_square_metre(robot.mechanism)
    (b, x, axes), (o, p, seen) = _place(robot, item.frame), _place(robot, item.other)
    rows: list[tuple] = []
    pulls, leans = [], []
    if item.position is not None:
        rows += [(o, seen[:, k], b, x, o, p + seen @ item.position[0], 1, 1) for k in range(3)]
        pulls = [square * w for w in weight.position]
    if item.quaternion is not None:
        wanted = seen @ quaternion_matrix(item.quaternion[0])
        rows += [(o, wanted[:, a], b, axes[:, a], n, NOWHERE, 0, 1) for a in range(3)]
        leans = list(weight.orientation)
    square_weights = np.array(pulls + [0.0] * len(leans))
    linear_weights = np.array([0.0] * len(pulls) + leans)

    def outer(r: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value = 0.5 * square_weights @ r**2 + linear_weights @ (1 - r)
        return float(value), square_weights * r - linear_weights, np.diag(square_weights)

    return Term(Rows(rows, n), outer)


def _look(robot: Robot, item: LookAt, weight: float) -> Term:
    n = len(robot.mechanism.bodies)
    b, x, axes = _place(robot, item.frame)
    o, p, seen = (n, NOWHERE, AXES) if item.other is None else _place(robot, item.other)
    point = p + seen @ item.point[0]
    rows = [(n, AXES[k], b, axes @ np.array(item.axis), n, NOWHERE, 0, 1) for k in range(3)]
    rows += [(n, AXES[k], o, point, b, x, 1, 1) for k in range(3)]

    def outer(r: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        d, way = r[:3], r[3:]
        far = np.sqrt(way @ way)
        dot = d @ way
        first = np.concatenate([way / far, d / far - dot * way / far**3])
        corner = AXES / far - np.outer(way, way) / far**3
        bend = -(np.outer(d, way) + np.outer(way, d) + dot * AXES) / far**3 + 3 * dot * np.outer(way, way) / far**5
        second = np.block([[np.zeros((3, 3)), corner], [corner, bend]])
        return float(weight * (1 - dot / far)), -weight * first, -weight * second

    return Term(Rows(rows, n), outer)


def _distance(robot: Robot, item: Distance, weight: float) -> Term:
    n, scale = len(robot.mechanism.bodies), weight * robot.settings.per_square_metre(robot.mechanism)
    b, x, _ = _place(robot, item.frame)
    o, p = (n, item.point[0]) if item.point is not None else _place(robot, str(item.other))[:2]
    wanted = item.distance[0]

    def outer(r: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        far = np.sqrt(r @ r)
        second = AXES * (1 - wanted / far) + wanted * np.outer(r, r) / far**3
        return float(0.5 * scale * (far - wanted) ** 2), scale * (1 - wanted / far) * r, scale * second

    return Term(Rows([(n, AXES[k], b, x, o, p, 1, 1) for k in range(3)], n), outer)


def _posture(robot: Robot, item: Posture, weight: float) -> Term:
    frames = next((f for f in robot.joints if f.joint.coordinate_names == (item.joint,)), None)
    if frames is None:
        raise ClipError(f"the reference draws joints with one motion, and {item.joint!r} is none")
    n, (motion,), i, j = len(robot.mechanism.bodies), frames.joint.motions, frames.parent, frames.child
    target = item.value[0]
    if motion in SLIDES:
        scale = weight * robot.settings.per_square_metre(robot.mechanism)
        axis = frames.parent_axes[:, SLIDES.index(motion)]
        row = (i, axis, j, frames.child_origin - robot.origins[j], i, frames.parent_origin - robot.origins[i], 1, 1)
        return Term(
            Rows([row], n),
            lambda r: (float(0.5 * scale * (r[0] - target) ** 2), scale * (r - target), scale * np.ones((1, 1))),
        )
    k = TURNS.index(motion)
    a, b = (k + 1) % 3, (k + 2) % 3
    child = frames.child_axes[:, a]
    rows = [(i, frames.parent_axes[:, m], j, child, n, NOWHERE, 0, 1) for m in (a, b)]  # cosine and sine of the angle

    def outer(r: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        c, s = r
        square = c * c + s * s
        off = (np.arctan2(s, c) - target + np.pi) % (2 * np.pi) - np.pi
        first = np.array([-s, c]) / square
        second = np.array([[2 * s * c, s * s - c * c], [s * s - c * c, -2 * s * c]]) / square**2
        return float(0.5 * weight * off**2), weight * off * first, weight * (np.outer(first, first) + off * second)

    return Term(Rows(rows, n), outer)
