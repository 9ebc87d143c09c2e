"""The bake's own solver, one frame at a time (paper, eq. 3): each step ends in the optimum, however far that is.

Against jitter, and where targets leave the robot's reach, the paper's velocity regularizer bends the motion smoothly below a speed.
"""

from __future__ import annotations

import numpy as np

from robik.ik.objectives import Settings
from robik.ik.sequence import new_memory, solve_frame
from robik.ik.sqp import new_work
from robik.ik.terms import Goals
from robik.mechanism.model import Mechanism
from robik.tracking.tracker import Tracker

MOST_ITERATIONS = 60  # of one step: a frame that needs more goes on in the next


class StateBasedTracker(Tracker):
    """Follows targets by the bake's solver.

    Args:
        mechanism: the robot.
        settings: regularizers and limits; weights come with the targets.
    """

    def __init__(self, mechanism: Mechanism, settings: Settings = Settings()):  # noqa: B008 - immutable
        self.settings = settings
        super().__init__(mechanism)

    def _forget(self) -> None:
        """Starts a memory anew, in which the robot stands where it is."""
        self._memory = new_memory(self.flat, self.now.q)
        self.now = self._memory.last
        self._work = new_work(self.flat, self.now.q)
        self._layout = ()  # the goals refer to the robot's placement

    def _advance(self, goals: Goals, dt: float) -> float:
        settings = self.settings
        goals.state_weight[0] = settings.state_weight
        goals.velocity_weight[0] = settings.velocity_weight
        goals.threshold[:] = settings.thresholds(np.array([dt]))[0]
        _, _, _, residual = solve_frame(self.flat, goals, self._work, self._memory, settings.joint_limits, MOST_ITERATIONS)
        return residual
