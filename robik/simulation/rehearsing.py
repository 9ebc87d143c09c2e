"""Rehearsal of a motion: from knot to knot the planner looks ahead, and what it chose is played on the plant.

The plant is the one that verdicts are about. Where the robot falls, the rehearsal goes back by some knots and looks
again with more samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from .planner import KNOT, SAMPLES, Planner, Task
from .simulation import Job, Recorder, Simulation
from .trials import NOMINAL, SETTLE

BACK = 10  # knots by which it goes back from a fall, 0.8 s
ATTEMPTS = 2  # at what made the robot fall, each with twice the samples of the one before
KIND = mujoco.mjtState.mjSTATE_INTEGRATION


@dataclass(frozen=True)
class Knot:
    """Moment in which the planner looked ahead.

    Attributes:
        state: of the plant.
        changes: of the goals that were planned before.
        steps: that were simulated until then.
    """

    state: np.ndarray
    changes: np.ndarray
    steps: int


class Rehearsing:
    """A rehearsal, knot by knot; `simulation` is the plant, and `goals` are those that were sent so far."""

    def __init__(self, job: Job, task: Task) -> None:
        self.simulation = Simulation(job)
        self.simulation.begin(NOMINAL)
        self.goals = job.goals
        self._planner = Planner(self.simulation, task)
        self._changes = self._planner.start()
        self._per_goal = round(1.0 / job.rate / self.simulation.step)
        self._length = len(job.goals) * self._per_goal
        self._steps, self._samples, self._hard = 0, SAMPLES, 0
        self._knots: list[Knot] = []
        self._record, self._speeds = Recorder(), Recorder()

    def run(self, progress: Callable[[float], None], is_stopped: Callable[[], bool]) -> dict[str, Any]:
        """Rehearse to the end, to a fall that cannot be avoided, or until it is stopped after the motion's first pose.

        Return what came out. `progress` is called with the time in the motion up to which the robot stands [s].
        """
        fell = None
        while self._steps < self._length and not (self._time > 0.0 and is_stopped()):
            fell = self._next()
            if fell is not None and not self._go_back():
                break
            fell = None
            progress(max(self._time, 0.0))
        return {"falls_at": fell, "broken": False, "until": self._time}

    def arrays(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the record of the robot, and goals (R, A), the base's pose and all speeds of what was rehearsed."""
        rows = -(-self._steps // self._per_goal)
        return self.simulation.recorded(self._record), {"goals": self.goals[:rows], **self._speeds.arrays()}

    @property
    def _time(self) -> float:
        """The time in the motion [s]."""
        return self._steps * self.simulation.step - SETTLE

    def _next(self) -> float | None:
        """Look ahead and play until the next knot; return when the robot fell [s], None if it stands."""
        plant, row = self.simulation, self._steps // self._per_goal
        state = np.zeros(mujoco.mj_stateSize(plant.model, KIND))
        mujoco.mj_getState(plant.model, plant.data, state, KIND)
        self._knots.append(Knot(state, self._changes, self._steps))
        planned = self._planner.plan(row, self._changes, self._samples)
        rows = slice(row, min(row + KNOT, len(self.goals)))
        self.goals[rows] = self._planner.goals(row, planned[:2])[: rows.stop - row]
        self._changes = np.concatenate([planned[1:], planned[-1:]])
        for _ in range((rows.stop - row) * self._per_goal):
            time = self._time
            if not plant.advance(plant.goals_at(time - plant.job.delay)):
                return time
            self._steps += 1
            self._note()
            if plant.fallen(plant.index(self._time)):
                return self._time
        if self._steps >= self._hard:
            self._samples = SAMPLES
        return None

    def _note(self) -> None:
        """Add what the robot does now to the record."""
        plant, data = self.simulation, self.simulation.data
        plant.note(self._record, self._time)
        free = plant.model.joint(int(plant.model.body_jntadr[plant.base]))
        place, twist, turning = data.qpos[free.qposadr[0] :][:7], data.qvel[free.dofadr[0] :][:6], np.zeros(3)
        mujoco.mju_rotVecQuat(turning, twist[3:], place[3:])
        self._speeds.add(base=place, values=data.qvel[plant.rate_at], linear=twist[:3], angular=turning)

    def _go_back(self) -> bool:
        """Go back from a fall, to look again with more samples; return False where that was tried often enough."""
        if self._samples >= SAMPLES << ATTEMPTS:
            return False
        self._samples *= 2
        self._hard = max(self._hard, self._steps)
        del self._knots[max(len(self._knots) - BACK, 0) + 1 :]
        knot = self._knots.pop()
        plant = self.simulation
        mujoco.mj_setState(plant.model, plant.data, knot.state, KIND)
        plant.data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number = 0
        self._steps, self._changes = knot.steps, knot.changes
        self._record.cut(self._steps)
        self._speeds.cut(self._steps)
        return True
