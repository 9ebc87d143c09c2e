"""Balance of a robot in a simulation: the least margin, and the cause of a fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import degrees

import numpy as np

from ..feet.support import convex_hull, signed_distance
from ..motions import Motion

LOOK = 4  # chunks of the simulation between two looks at the balance


@dataclass(frozen=True, eq=False)
class Record:
    """Record of what a robot did in a simulation, at K times.

    Attributes:
        times: (K,) in the motion's time, below 0 before it begins [s].
        com: (K, 3) the centre of mass [m].
        values, forces: (K, A) of the actuators [rad or m], and what their motors gave [N m or N].
        soles, touching: (K, S, 2) of the soles' corners [m], and which of them touch the floor (K, S).
        forward: (K, 3) the base's x axis.
        position, quaternion: (K, n, 3) [m] and (K, n, 4) of the bodies.
        foot_of: (S,) indices of the corners' feet.
        floor: its height [m].
    """

    times: np.ndarray
    com: np.ndarray
    values: np.ndarray
    forces: np.ndarray
    soles: np.ndarray
    touching: np.ndarray
    forward: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    foot_of: np.ndarray
    floor: np.ndarray

    def torque_shares(self, efforts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each motor's largest torque as a share of its effort (A,), and the mean square of that share (A,).

        Efforts (A,) are torques at rest [N m or N], infinite where they are not known.
        """
        started = np.abs(self.forces[self.times >= 0.0]) / efforts
        heat = (started**2).mean(axis=0) if len(started) else np.zeros(len(efforts))
        return started.max(axis=0, initial=0.0), heat

    @cached_property
    def balance(self) -> tuple[np.ndarray, np.ndarray]:
        """The extrapolated centre of mass, in which the robot could still stop, and how far it is inside the support.

        Points (K, 2) [m] and distances (K,) [m], NaN where nobody looked or no foot stood.
        """
        height = np.maximum(self.com[:, 2] - self.floor, 1e-3)
        speed = np.gradient(self.com[:, :2], self.times, axis=0)
        point = self.com[:, :2] + speed * np.sqrt(height / 9.81)[:, None]
        margin = np.full(len(self.times), np.nan)
        for k in range(0, len(self.times), LOOK):
            if self.touching[k].any():
                margin[k] = signed_distance(point[k : k + 1], convex_hull(self.soles[k][self.touching[k]]))[0]
        return point, margin


def least_margin(record: Record) -> tuple[float, float] | None:
    """Return the smallest margin of balance in a simulation [m] and its time [s]; None where no foot stood."""
    if len(record.times) < 3 or not len(record.foot_of):
        return None
    margin = record.balance[1]
    started = np.flatnonzero((record.times >= 0.0) & np.isfinite(margin))
    if not len(started):
        return None
    worst = int(started[np.argmin(margin[started])])
    return float(margin[worst]), float(record.times[worst])


def cause(record: Record, reference: Motion, feet: Sequence[str], legs: Sequence[str]) -> str:
    """Return a fall's cause in words: foot and side over which weight left, and the motor that gave way most.

    The fall began when the point in which the robot could still stop left the support for good. Motors that bear
    nothing of the body are not looked at. `reference` is the intended motion from 0 s on; `legs` are actuators.
    """
    if len(record.times) < 3 or not len(record.foot_of):
        return "no foot touched the floor"
    point, margin = record.balance
    if not np.isfinite(margin).any():
        return "no foot touched the floor"
    inside = np.flatnonzero(margin >= 0.0)
    onset = int(min(inside[-1] + 1, len(margin) - 1)) if len(inside) else 0
    foot, way = _side(record, onset, point[onset])
    return f"weight left {feet[foot]} {way}{_gave(record, onset, reference, legs)}"


def _side(record: Record, onset: int, point: np.ndarray) -> tuple[int, str]:
    """Return the foot that the weight left, and its side."""
    soles, touching = record.soles[onset], record.touching[onset]
    near = np.flatnonzero(touching) if touching.any() else np.arange(len(soles))
    foot = int(record.foot_of[near[np.argmin(np.linalg.norm(soles[near] - point, axis=1))]])
    own = record.foot_of == foot
    centre = soles[own].mean(axis=0)
    forward = record.forward[onset][:2] / max(np.linalg.norm(record.forward[onset][:2]), 1e-9)
    side = np.array([-forward[1], forward[0]])
    others = soles[~own].mean(axis=0) if (~own).any() else centre - side
    outward = side if (centre - others) @ side >= 0 else -side
    hull = soles[own & touching] if (own & touching).any() else soles[own]
    away = point - hull.mean(axis=0)
    length, width = (max(float(np.ptp(hull @ axis)), 1e-3) for axis in (forward, outward))
    ahead, out = float(away @ forward) / length, float(away @ outward) / width
    if abs(ahead) > abs(out):
        return foot, "forwards" if ahead > 0 else "backwards"
    return foot, "outwards" if out > 0 else "inwards"


def _gave(record: Record, onset: int, reference: Motion, legs: Sequence[str]) -> str:
    """Return which motor of the legs is furthest from the motion then, in words; empty where they have none."""
    if not legs:
        return ""
    times = reference.times - reference.times[0]
    meant = reference.values[int(np.clip(np.searchsorted(times, record.times[onset] + 1e-6) - 1, 0, len(times) - 1))]
    bears = np.array([name in legs for name in reference.actuators])
    gave = np.where(bears, np.abs(record.values[onset] - meant), -1.0)
    motor = int(np.argmax(gave))
    return f", {reference.actuators[motor]} gave {degrees(gave[motor]):.1f}°"
