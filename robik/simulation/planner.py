"""Planner of a rehearsal: changes of the legs' goals that keep a robot up and near its motion, by sampling ahead.

Changes u of the goals are linear between knots. From a state of the robot, samples uᵢ = u + σ εᵢ are rolled out in
MuJoCo, and

    u ← Σ wᵢ uᵢ        wᵢ ∝ exp(−(cᵢ − min c) / λ)        λ = 0.1 (median c − min c)

with costs cᵢ, in rounds of falling σ: model predictive path integral control (MPPI, Williams et al., arXiv 1707.02342)
with annealed noise (SPIDER, arXiv 2511.09484). The next plan begins from this one.
"""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from math import ceil

import mujoco
import numpy as np
from mujoco.rollout import Rollout

from .cost import Cost
from .simulation import BRAKED, Simulation

KNOT = 8  # goals from knot to knot: 0.08 s at 100 goals a second
KNOTS = 8  # that are looked ahead: 0.64 s. A step takes about as long
SAMPLES = 22  # of each round
NOISE = (2.0, 1.0, 0.5)  # spreads of each round
SHARED = 0.5  # share of its variance that a knot's noise has in common with its neighbour's
GREEDY = 0.1  # λ, of the spread of costs
CHANGED = 2.5e-4  # cost of changes [1/spread²]
LOOK = 2  # goals between two looks at the cost
STEP, LOOPED_STEP = 4e-3, 2e-3  # [s] of rollouts; loops are soft in steps longer than half their time constant
ITERATIONS, SEARCHES = 20, 10  # of MuJoCo's solver in rollouts
MOST_THREADS = 8


@dataclass(frozen=True)
class Task:
    """Input of a rehearsal beside its job.

    Attributes:
        motors: names (L,) of the actuators whose goals may change.
        spread: (L,) changes of goals that make a difference: the error at which a motor gives all it has [rad or m].
        limits: (A, 2) of all goals.
        ends: names (E,) of the bodies at the ends of the limbs.
        at: (N, E, 3) where these are in the motion [m].
        seed: of the noise.
    """

    motors: tuple[str, ...]
    spread: np.ndarray
    limits: np.ndarray
    ends: tuple[str, ...]
    at: np.ndarray
    seed: int


class Planner:
    """Plans for a simulation, whose job's goals are those sent so far and, from there on, those to be changed."""

    def __init__(self, simulation: Simulation, task: Task) -> None:
        self._job, self._simulation, self._limits = simulation.job, simulation, task.limits.T
        self.nominal = simulation.job.goals.copy()
        self.motors = np.array([simulation.job.actuators.index(name) for name in task.motors], dtype=int)
        self._spread, self._rng = task.spread, np.random.default_rng(task.seed)
        self._model = _model_of_rollouts(simulation)
        threads = min(os.cpu_count() or 1, MOST_THREADS)
        self._rollout, self._data = Rollout(nthread=threads), [mujoco.MjData(self._model) for _ in range(threads)]
        self._cost = Cost(simulation, task.at)
        self._looks = round(LOOK / self._job.rate / self._model.opt.timestep)  # steps between two of them

    def start(self) -> np.ndarray:
        """Return no changes, at the knots (K + 1, L)."""
        return np.zeros((KNOTS + 1, len(self.motors)))

    def plan(self, row: int, changes: np.ndarray, samples: int = SAMPLES) -> np.ndarray:
        """Return better changes (K + 1, L) of the goals from a row on, for the robot as it is now.

        The first knot stays, so that goals do not jump.
        """
        data, kind = self._simulation.data, mujoco.mjtState.mjSTATE_FULLPHYSICS
        state = np.zeros(mujoco.mj_stateSize(self._model, kind))
        mujoco.mj_getState(self._simulation.model, data, state, kind)
        meant = row - (len(self.nominal) - len(self._job.values)) + np.arange(LOOK, KNOT * KNOTS + 1, LOOK)
        meant = np.clip(meant, 0, len(self._job.values) - 1)
        for noise in NOISE:
            tried = self._sampled(changes, noise, samples)
            states, sensed = self._rollout.rollout(
                self._model, self._data, state, self._controls(row, tried), initial_warmstart=data.qacc_warmstart
            )
            every = slice(self._looks - 1, None, self._looks)
            cost = self._cost.of(states[:, every, 1:], sensed[:, every], meant)
            cost += CHANGED * ((tried[:, 1:] / self._spread) ** 2).sum(axis=2).mean(axis=1)
            changes = np.tensordot(_weights(cost), tried, axes=1)
        return changes

    def goals(self, row: int, changes: np.ndarray) -> np.ndarray:
        """Return goals (…, R, A) from a row on with changes at the knots (…, K + 1, L)."""
        share = (np.arange(KNOT) / KNOT)[:, None]
        before, after = changes[..., :-1, None, :], changes[..., 1:, None, :]
        straight = before + share * (after - before)
        rows = np.minimum(row + np.arange(KNOT * (changes.shape[-2] - 1)), len(self.nominal) - 1)
        goals = np.empty((*changes.shape[:-2], len(rows), self.nominal.shape[1]))
        goals[...] = self.nominal[rows]
        goals[..., self.motors] += straight.reshape(*changes.shape[:-2], len(rows), len(self.motors))
        return np.clip(goals, *self._limits)

    def _sampled(self, changes: np.ndarray, noise: float, samples: int) -> np.ndarray:
        """Return samples (n, K + 1, L) around changes, which are the first one."""
        drawn = self._rng.standard_normal((samples, *changes.shape))
        mixed = np.sqrt(1.0 - SHARED) * drawn[:, 1:] + np.sqrt(SHARED) * drawn[:, :-1]
        mixed[0] = 0.0
        tried = np.repeat(changes[None], samples, axis=0)
        tried[:, 1:] += noise * self._spread * mixed
        return tried

    def _controls(self, row: int, tried: np.ndarray) -> np.ndarray:
        """Return MuJoCo's controls (n, steps, nu) of samples: goals are held from one to the next, and late."""
        job = self._job
        past = ceil(job.delay * job.rate) + 1
        sent = job.goals[np.maximum(row + np.arange(-past, 0), 0)]
        goals = np.concatenate([np.repeat(sent[None], len(tried), axis=0), self.goals(row, tried)], axis=1)
        steps = np.arange(round(KNOT * KNOTS / job.rate / self._model.opt.timestep)) * self._model.opt.timestep
        rows = past + np.floor((steps - job.delay) * job.rate + 1e-6).astype(int)
        controls = np.zeros((len(tried), len(steps), self._model.nu))
        controls[:, :, self._simulation.motor] = goals[:, rows]
        return controls


def _weights(cost: np.ndarray) -> np.ndarray:
    """Return the weights (n,) of samples by their costs."""
    least = cost.min()
    weights = np.exp(-(cost - least) / max(GREEDY * float(np.median(cost) - least), 1e-9))
    return np.asarray(weights / weights.sum())


def _model_of_rollouts(simulation: Simulation) -> mujoco.MjModel:
    """Return the simulation's model with longer steps.

    A motor that weakens with speed does so by the joint's own damping, since a rollout has constant limits of torque.
    """
    model, job = copy.copy(simulation.model), simulation.job
    model.opt.timestep = LOOPED_STEP if model.neq else STEP
    model.opt.iterations, model.opt.ls_iterations = ITERATIONS, SEARCHES
    if simulation.braking * model.opt.timestep > BRAKED:
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    known = np.isfinite(job.effort)
    effort = np.where(known, job.effort, 0.0)
    model.actuator_forcerange[simulation.motor] = np.stack([-effort, effort], axis=1)
    weaker = np.where(known & np.isfinite(job.speed), effort / job.speed, 0.0)
    weaker = np.minimum(weaker, -model.actuator_biasprm[simulation.motor, 2])
    model.actuator_biasprm[simulation.motor, 2] += weaker
    model.dof_damping[simulation.rate_at] += weaker
    return model
