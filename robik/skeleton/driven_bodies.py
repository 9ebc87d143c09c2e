"""Bodies of a looped robot that its motors move in the most ways: where loops meet, and an animator takes hold.

A platform on six legs moves in six directions and by six motors, each leg's cylinder in two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics.calls import frame_columns, motor_steps
from ..kinematics.forward import ForwardKinematics
from ..kinematics.singularity import meter_of
from ..mechanism.model import Mechanism

POSES, NEAR = 4, 0.05  # at rest, which may be singular, and within so much of it [rad, m]
MOVES = 1e-3  # of the robot's size and rad, per rad or size of a motor: a direction in which a body moves
FELT = 1e-6  # likewise: a motor that moves it at all


class Driven(NamedTuple):
    """Ways in which motors move a body; of two, the greater is the better to hold."""

    places: int  # directions in which its origin moves
    directions: int  # in which it moves and turns
    mass: float  # [kg]: halves of joints that an exporter adds weigh next to nothing
    body: str  # its name
    motors: frozenset[int]  # that move it


def driven_bodies(mechanism: Mechanism) -> list[Driven]:
    """Return how each body is moved that motors determine, in the robot's order."""
    fk, rng = ForwardKinematics(mechanism), np.random.default_rng(0)
    idle = meter_of(fk.topology).idle_bodies
    bodies = [body.name for body in mechanism.bodies if body.name not in idle]
    size = np.repeat((mechanism.extent, 1.0), 3)[:, None]
    unit = np.array([mechanism.extent if unit == "m" else 1.0 for unit in mechanism.actuator_units])
    found = np.zeros((POSES, len(bodies), 6, len(unit)))
    for k in range(POSES):
        fk.reset()
        fk.move(mechanism.actuator_rest + (rng.uniform(-NEAR, NEAR, len(unit)) * unit if k else 0.0))
        steps = motor_steps(fk)
        for b, name in enumerate(bodies):
            found[k, b] = frame_columns(fk, name, steps) * unit / size
    return [_driven(mechanism, name, found[:, b]) for b, name in enumerate(bodies)]


def _driven(mechanism: Mechanism, name: str, columns: np.ndarray) -> Driven:
    """Return how a body is moved by its Jacobians (POSES, 6, A)."""
    by = np.flatnonzero((np.abs(columns) > FELT).any(axis=(0, 1))).tolist()
    mass = mechanism.bodies[mechanism.body_index[name]].mass
    return Driven(_rank(columns[:, :3]), _rank(columns), mass, name, frozenset(by))


def _rank(columns: np.ndarray) -> int:
    return int((np.linalg.svd(columns, compute_uv=False) > MOVES).sum(axis=1).max(initial=0))


def most_driven(found: list[Driven]) -> list[str]:
    """Return the bodies that are moved in the most ways, each by motors that move none before it.

    What a single motor more moves is not among them.
    """
    chosen: list[str] = []
    covered: frozenset[int] = frozenset()
    for one in sorted(found, key=lambda one: one[:3], reverse=True):
        if len(one.motors - covered) > bool(chosen):
            chosen.append(one.body)
            covered |= one.motors
    return chosen
