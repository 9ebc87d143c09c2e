"""The bake's own solver, one frame at a time (paper, eq. 3): each step ends in the optimum, however far that is.

Where targets leave a choice, a pose prior can make it: poses like those of an example (`objectives/pose_prior.py`).
Against jitter, and where targets leave the robot's reach, the paper's velocity regularizer bends the motion smoothly
below a speed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import ClipError
from ..ik.memory import new_memory
from ..ik.sequence import solve_frame
from ..ik.work import new_work
from ..mechanism.model import Mechanism
from ..objectives.pose_prior import WEIGHT, Attraction, PosePrior
from ..objectives.registry import ObjectiveTables, fill, hold
from ..objectives.settings import Settings
from .targets import Target, Targets
from .tracker import Tracker

MOST_ITERATIONS = 60  # of one step: a frame that needs more goes on in the next


class StateBasedTracker(Tracker):
    """Follows targets by the bake's solver.

    Args:
        mechanism: the robot.
        settings: regularizers and limits; weights come with the targets, and speeds are not held: behind `Live` they
            are.
        prior: what poses are likely, over the actuators; none if left out.
        prior_weight: of the pull towards them, per body, beside targets that weigh 1.

    Raises:
        ClipError: a prior over another number of actuators, or settings with `enforce_velocity`.
    """

    TAKES_OBJECTIVES = True

    def __init__(
        self,
        mechanism: Mechanism,
        settings: Settings = Settings(),  # noqa: B008 - immutable
        prior: PosePrior | None = None,
        prior_weight: float = WEIGHT,
    ):
        if settings.enforce_velocity:
            raise ClipError(
                "the state-based tracker goes to its optimum at once and holds no speeds: leave out enforce_velocity,"
                " or use Live"
            )
        self.settings = settings
        self._prior, self._prior_weight = prior, prior_weight
        self._followed: tuple[str, ...] = ()
        self._attraction = None if prior is None else Attraction(mechanism, prior, (), prior_weight)
        super().__init__(mechanism)

    def _aim(self, targets: Targets) -> ObjectiveTables:
        """Return the targets, with their objectives written into the tables."""
        asked = tuple(item.checked(1) for item in targets.objectives)
        for item in asked:
            item.check(self.mechanism)
        if asked:
            targets = replace(targets, objectives=asked)
        tables = super()._aim(targets if self._prior is None else self._with_likely_pose(targets))
        if asked:
            weights = [self.settings.weight_of(item) for item in asked]
            fill(tables, tables.targets[None], asked, weights, self.settings.per_square_metre(self.mechanism))
        return tables

    def _with_likely_pose(self, targets: Targets) -> Targets:
        """Return the targets, and a target for every other body where it is in the likeliest pose."""
        assert self._prior is not None
        if self._attraction is None or tuple(targets.frames) != self._followed:
            self._followed = tuple(targets.frames)
            self._attraction = Attraction(self.mechanism, self._prior, self._followed, self._prior_weight)
        places, turns = self._attraction.poses(self.values, *self.bodies())
        drawn = {
            body.name: Target(place, turn, self._attraction.pull)
            for body, place, turn in zip(self.mechanism.bodies, places, turns, strict=True)
        }
        return replace(targets, frames={**drawn, **targets.frames})

    def _forget(self) -> None:
        """Start a new memory, in which the robot stands where it is."""
        self._memory = new_memory(self.flat, self.now.q)
        self.now = self._memory.last
        self._work, self._asked = new_work(self.flat, self.now.q), False
        self._layout = ()  # the tables refer to the robot's placement

    def _lay_out(self, targets: Targets) -> ObjectiveTables:
        tables = super()._lay_out(targets)
        if targets.objectives or self._asked:  # they need room of their own
            self._asked = bool(targets.objectives)
            self._work = new_work(self.flat, self.now.q, tables.tied if self._asked else None)
        return tables

    def _weigh(self, tables: ObjectiveTables, targets: Targets) -> None:
        super()._weigh(tables, targets)
        square = self.settings.per_square_metre(self.mechanism)
        tables.frame_pose.position_weight[:] *= square
        tables.centre_of_mass.weight[:] *= square

    def _advance(self, tables: ObjectiveTables, dt: float) -> float:
        settings = self.settings
        hold(tables, settings, settings.per_square_metre(self.mechanism))
        tables.calm.dt[0] = dt
        tables.velocity.weight[0] = settings.velocity_weight
        tables.velocity.threshold[:] = settings.thresholds(np.array([dt]))[0]
        _, _, _, residual = solve_frame(
            self.flat, tables, self._work, self._memory, settings.joint_limits, MOST_ITERATIONS, False
        )
        return residual
