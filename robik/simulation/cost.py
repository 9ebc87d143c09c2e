"""Cost of what a robot does: how far it is from its motion, and whether it falls."""

from __future__ import annotations

import numpy as np

from .simulation import Simulation

BASE = 40.0  # [1/m²] of the base's place
TURN = 10.0  # [1/rad²] of its orientation
RATE = 0.02  # [s²/rad²] of its turning
JOINTS = 0.5  # [1/rad²] of each motor's place
ENDS = 40.0  # [1/m²] of the ends of the limbs, on average
FALLEN = 200.0  # of a base below LOW of its height
LOW = 0.75
END = 3.0  # how much the end of what is looked at counts, beside all of it
LAST = 3  # looks that are its end
BROKEN = 1e4  # of a simulation that left the numbers


class Cost:
    """Cost against a job's motion, in which the ends of the limbs are at (N, E, 3)."""

    def __init__(self, simulation: Simulation, ends: np.ndarray) -> None:
        job, model = simulation.job, simulation.model
        self._base, self._values, self._ends = job.base, job.values, ends.reshape(len(ends), -1)
        self._joints, self._nq = simulation.at, model.nq
        free = int(model.body_jntadr[simulation.base])
        self._place, self._speed = int(model.jnt_qposadr[free]), model.nq + int(model.jnt_dofadr[free])
        self._floor = simulation.floor_height()

    def of(self, states: np.ndarray, ends: np.ndarray, meant: np.ndarray) -> np.ndarray:
        """Return costs (n,) of positions and speeds (n, m, nq + nv), and of the limbs' ends (n, m, 3 E).

        `meant` (m,) are the motion's rows.
        """
        base, at = self._base[meant], self._place
        place, turn = states[..., at : at + 3], states[..., at + 3 : at + 7]
        rate = states[..., self._speed + 3 : self._speed + 6]
        cost = BASE * ((place - base[:, :3]) ** 2).sum(axis=-1)
        cost += TURN * _angle(turn, base[:, 3:]) ** 2 + RATE * (rate**2).sum(axis=-1)
        cost += JOINTS * ((states[..., self._joints] - self._values[meant]) ** 2).sum(axis=-1)
        cost += ENDS * 3.0 * ((ends - self._ends[meant]) ** 2).mean(axis=-1)
        cost += FALLEN * (place[..., 2] - self._floor < LOW * (base[:, 2] - self._floor))
        cost = np.where(np.isfinite(cost), np.minimum(cost, BROKEN), BROKEN)
        return np.asarray(cost.mean(axis=1) + END * cost[:, -LAST:].mean(axis=1))


def _angle(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the angle between unit quaternions [rad]."""
    return 2.0 * np.arccos(np.clip(np.abs((one * other).sum(axis=-1)), 0.0, 1.0))
