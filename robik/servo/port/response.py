"""Response of a servo: how far, and how much later, it follows its goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .trace import Sample

MOVING = 0.02  # [rad/s or m/s] of a goal, from which a lag can be told


@dataclass(frozen=True)
class Response:
    """Response of a servo over a stretch of time.

    Attributes:
        error: root mean square of goal less position [rad or m].
        worst: the largest [rad or m].
        lag: by how much it follows later than told [s]; None where its goal hardly moved.
    """

    error: float
    worst: float
    lag: float | None


def response(samples: Sequence[Sample]) -> Response | None:
    """Return the response of a servo to its goals; None where it had none."""
    table = np.array([(one.time, one.goal, one.position) for one in samples], dtype=float).reshape(-1, 3)
    times, goal, position = table[np.isfinite(table).all(axis=1)].T
    if len(times) < 2:
        return None
    error = goal - position
    is_moving = np.abs(np.gradient(goal, times)).max() > MOVING
    return Response(
        error=float(np.sqrt((error**2).mean())),
        worst=float(np.abs(error).max()),
        lag=lag_of(times, goal, position) if is_moving else None,
    )


def lag_of(times: np.ndarray, goal: np.ndarray, position: np.ndarray) -> float:
    """Return the lag of a position behind its goal [s]: error against speed, least squares; 0 for a goal at rest.

        lag = Σ e v / Σ v²,  e = goal − position,  v = d goal / d t

    Times, goals and positions are (K,) [s, rad or m]; times increase.
    """
    speed = np.gradient(goal, times) if len(times) > 1 else np.zeros_like(goal)
    power = float((speed**2).sum())
    return float(((goal - position) * speed).sum() / power) if power > 0 else 0.0
