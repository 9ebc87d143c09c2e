"""The bake's own solver, one frame at a time (paper, eq. 3): each step ends in the optimum, however far that is.

Where targets leave a choice, a pose prior can make it: poses like those of an example (`objectives/pose_prior.py`).
Against jitter, and where targets leave the robot's reach, the paper's velocity regularizer bends the motion smoothly
below a speed.

Walls keep bodies apart (`collision/live_walls.py`). They are measured where the last step ended. Where a step brings
bodies too near to each other, it is taken back, and taken again with walls measured where it led.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..collision.apart import Walls
from ..collision.live_walls import LiveWalls
from ..errors import ClipError
from ..ik.memory import copied, new_memory, restore
from ..ik.sequence import solve_frame
from ..ik.work import new_work
from ..mechanism.model import Mechanism
from ..objectives.clearance import Clearance
from ..objectives.hold import new_holds, rows_of
from ..objectives.pose_prior import WEIGHT, Attraction, PosePrior
from ..objectives.registry import ObjectiveTables, fill, hold
from ..objectives.settings import Settings
from .targets import Target, Targets
from .tracker import Tracker

MOST_ITERATIONS = 60  # of one step: a frame that needs more goes on in the next
AGAIN = 2  # times that a step is solved again with walls moved, at most
RESTING = Settings(state_weight=1e-7)  # a target that stops brings all motors to rest; posture would draw for seconds
FASTEST = 12.0  # rad/s or m/s of motors while walls push: a leap would end on the other side of a body


class StateBasedTracker(Tracker):
    """Tracker that follows targets by the bake's solver; weights come with the targets.

    A `prior` says what poses are likely, over the actuators; `prior_weight` is that of its pull, per body, beside
    targets that weigh 1. `walls` keep the robot's bodies out of each other. Speeds are not held here, but behind
    `Live`: raise ClipError for settings with `enforce_velocity`, or a prior over another number of actuators.
    """

    TAKES_OBJECTIVES = True
    _rows = 0

    def __init__(
        self,
        mechanism: Mechanism,
        settings: Settings = RESTING,
        prior: PosePrior | None = None,
        prior_weight: float = WEIGHT,
        walls: Walls | None = None,
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
        self._walls: LiveWalls | None = None
        super().__init__(mechanism)
        self._holds = new_holds(self.topology, settings.hold)
        self._rows = rows_of(self._holds)
        self._forget()
        self._walls = walls.live(self.topology) if walls is not None else None
        dofs = (self.topology.dofs.get(name) for name in mechanism.actuators)
        self._motors = np.array([found[0] for found in dofs if found is not None], dtype=np.int64)

    def _aim(self, targets: Targets) -> ObjectiveTables:
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
        self._memory = new_memory(self.flat, self.now.q)
        self.now = self._memory.last
        self._work, self._asked = new_work(self.flat, self.now.q, None, self._rows), False
        self._layout = ()  # the tables refer to the robot's placement
        if self._walls is not None:
            self._walls.forget()

    def _lay_out(self, targets: Targets) -> ObjectiveTables:
        if self._walls is not None:
            targets = replace(targets, objectives=(*targets.objectives, *self._walls.slots))
        tables = super()._lay_out(targets)
        if targets.objectives or self._asked:  # they need room of their own
            self._asked = bool(targets.objectives)
            self._work = new_work(self.flat, self.now.q, tables.tied if self._asked else None, self._rows)
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
        return self._solved(tables) if self._walls is None else self._solved_apart(tables, self._walls, dt)

    def _solved(self, tables: ObjectiveTables) -> float:
        """Go to the optimum; return the closure residual [m]."""
        _, _, _, residual = solve_frame(
            self.flat, tables, self._work, self._memory, self.settings.joint_limits, MOST_ITERATIONS, False
        )
        return residual

    def _solved_apart(self, tables: ObjectiveTables, walls: LiveWalls, dt: float) -> float:
        """Go to the optimum with walls between bodies, and again with walls moved where bodies come too near."""
        weight = Clearance.WEIGHT * self.settings.per_square_metre(self.mechanism)
        memory, before, reach = self._memory, copied(self._memory), FASTEST * dt
        if walls.are_new:  # the first step comes from anywhere, and walls count if it leads into them
            walls.look(*self.bodies(), self.now)
            walls.settle()
            reach = np.inf
        else:
            walls.write(tables.asked.clearance, weight)
        tables.reach[self._motors] = reach if walls.push else np.inf
        residual = self._solved(tables)
        for _ in range(AGAIN):
            if not walls.look(*self.bodies(), self.now):
                break
            restore(memory, before)
            memory.stuck[:] = 0.0  # what is led out of its limits leaps, and would again
            walls.move()
            walls.write(tables.asked.clearance, weight)
            tables.reach[self._motors] = reach
            residual = self._solved(tables)
        else:
            walls.look(*self.bodies(), self.now)
        walls.settle()
        return residual
