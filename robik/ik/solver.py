"""State-based inverse kinematics of one robot, frame by frame (paper, eq. 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from ..errors import ClipError
from ..feet.contact import Hold
from ..jit import by_reference
from ..kinematics.actuation import actuator_values
from ..kinematics.frames import anchor
from ..kinematics.kernels import difference
from ..kinematics.passive import passive_values
from ..kinematics.straightening import straightened
from ..mechanism.model import Mechanism
from ..mechanism.motor_limits import speed_limit
from ..mechanism.orientations import quaternion_matrices
from ..objectives.hold import take_down_walls
from ..objectives.objective import Objective
from ..objectives.registry import ObjectiveTables, fill, hold, missed_by_cluster, over_time
from ..objectives.settings import Settings
from .ball_steps import held_balls, new_ball_steps
from .memory import Output, States, forget, new_output
from .room import Layout, lend
from .sequence import solve_frames

MOST_ITERATIONS = 400  # a weakly held robot far from its targets walks down a narrow valley
WEIGHED = (  # arrays of followed frames that are the same on every tree
    "axes", "position_weight", "orientation_weight", "held_point", "held_axes", "own_point", "own_axes",
)  # fmt: skip
Targets = Mapping[str, tuple[np.ndarray | None, np.ndarray | None]]  # positions (T, 3) and quaternions (T, 4) by frame


class ClipTargets(NamedTuple):
    """Compiled targets of T frames.

    The first frame may be anywhere: its thresholds and its time step are infinite.
    """

    targets: np.ndarray  # (T, m) `ObjectiveTables.targets` of each frame; `over_time` finds an objective's own
    dt: np.ndarray  # (T,) time step into each frame [s]


class Solver:
    """Solver that follows targets with a robot, each frame from the one before.

    `names` are the followed frames or bodies, in the order of the targets; `has_com` adds one for the centre of mass.
    The robot stands on contacts that hold what `holds` say; in the air without any. `BY_COORDINATES` says that an
    output's coordinates alone give its bodies' poses. Raise MechanismError for an unknown name; ClipError for a target
    of the centre of mass of a robot without mass.
    """

    BY_COORDINATES: ClassVar[bool] = True

    def __init__(
        self,
        mechanism: Mechanism,
        names: tuple[str, ...],
        settings: Settings,
        has_com: bool = False,
        objectives: tuple[Objective, ...] = (),
        holds: tuple[Hold, ...] = (),
    ):
        self.mechanism, self.names, self.settings = mechanism, tuple(names), settings
        self.objectives, self.has_com = tuple(objectives), has_com
        known = straightened(mechanism)
        layout = Layout(self.names, held_balls(known, settings), holds, settings.hold)
        room = lend(self, known, layout, self.objectives)
        self.footing, self.topology, self.flat = room.footing, room.footing.topology, room.flat
        self._memory, self._tables, self._work = room.memory, room.tables, room.work
        self._narrow()
        if has_com and mechanism.mass <= 0:
            raise ClipError(f"robot {mechanism.name!r} has no mass, so its centre of mass cannot follow a target")
        self._square, self._extent = settings.per_square_metre(mechanism), mechanism.extent
        if has_com:
            self._tables.centre_of_mass.weight[:] = self._square * np.array(settings.com_weight)
        hold(self._tables, settings, self._square)
        self._tables.velocity.weight[:] = settings.velocity_weight
        self.speed = self._speeds()
        self._ball_steps = new_ball_steps(self.topology, settings, self._extent)

    def _narrow(self) -> None:
        """Narrow limits of coordinates to the ranges that are asked for."""
        flat, dofs = self.topology.flat, self.topology.dofs
        for name, bounds in self.settings.ranges.items():
            if name in dofs:
                dof, sign = dofs[name]
                low, high = sorted(sign * bound for bound in bounds)
                flat.lower[dof], flat.upper[dof] = max(flat.lower[dof], low), min(flat.upper[dof], high)

    @property
    def tables(self) -> ObjectiveTables:
        """Return what a frame asks for, with its weights."""
        return self._tables

    def reset(self) -> None:
        """Put the robot back into its rest pose."""
        forget(self.flat, self._memory, self.topology.rest)
        self._work.e.free[:] = True
        take_down_walls(self._tables.hold)

    def go_on_from(self, q: np.ndarray, targets: np.ndarray, before: np.ndarray | None = None) -> None:
        """Set the robot to a motion's last frame (nq,), with closed loops, so that the next frame goes on there.

        `targets` is that frame's row of `ClipTargets.targets`: their errors decide the weights of posture and
        stillness. `before` is the frame before it; None for a robot that has not moved.
        """
        self.reset()
        forget(self.flat, self._memory, q)
        self._memory.recent[:] = self._memory.earlier[:] = 0.0
        self._memory.frames[0] = 1
        self._tables.targets[:] = targets
        missed_by_cluster(self.flat, self._memory.last, self._tables, self._memory.missed)
        if before is not None:
            difference(self.flat, q, before, self._memory.recent)

    def start_at(self, q: np.ndarray) -> None:
        """Start the next frame, as a clip's first one, from coordinates (nq,) whose loops may be open."""
        self.reset()
        self._memory.guess.q[:], self._memory.given[0] = q, True

    def compile_targets(self, targets: Targets, com: np.ndarray | None, times: np.ndarray) -> ClipTargets:
        """Return the compiled targets of frames at times (T,) [s], and set the weights.

        Targets are positions (T, 3) [m] and quaternions (T, 4) by name, None where left open; its weight is then
        zero. `com` is (T, 3) [m].
        """
        tables, rows = self._tables, np.zeros((len(times), len(self._tables.targets)))
        frames = tables.frame_pose
        position, rotation = over_time(tables, rows, frames.position), over_time(tables, rows, frames.rotation)
        for i, name in enumerate(self.names):
            (places, turns), weights = targets[name], self.settings.weights(name)
            frames.position_weight[i] = self._square * np.array(weights.position) if places is not None else 0.0
            frames.orientation_weight[i] = weights.directions if turns is not None else 0.0
            frames.axes[i] = anchor(self.topology, name)[2] @ weights.axes
            if places is not None:
                position[:, i] = places
            if turns is not None:
                rotation[:, i] = quaternion_matrices(turns) @ weights.axes
        dt = np.concatenate([[np.inf], np.diff(times)])
        if com is not None:
            over_time(tables, rows, tables.centre_of_mass.target)[:] = com
        fill(tables, rows, self.objectives, [self.settings.weight_of(item) for item in self.objectives], self._square)
        over_time(tables, rows, tables.velocity.threshold)[:] = self.settings.thresholds(dt)
        return by_reference(ClipTargets(rows, dt))

    def weigh_as(self, other: Solver) -> None:
        """Set the weights that `compile_targets` of a solver of the same clip, on another tree, has set."""
        own, known = self._tables.frame_pose, other._tables.frame_pose
        for name in WEIGHED:
            getattr(own, name)[:] = getattr(known, name)
        weights = [self.settings.weight_of(item) for item in self.objectives]
        fill(self._tables, self._tables.targets[None], self.objectives, weights, self._square)

    def _speeds(self) -> np.ndarray:
        """Return what the actuators' coordinates may move by in a second (d,).

        Infinite where they are not to be held to it.
        """
        speed = np.full(len(self.flat.before), np.inf)
        for joint in self.mechanism.actuated if self.settings.enforce_velocity else ():
            for name in joint.coordinate_names:
                if name in self.topology.dofs:
                    speed[self.topology.dofs[name][0]] = self.settings.velocity_share * speed_limit(
                        joint, name, self._extent
                    )
        return speed

    def balls_at_full_speed(self, q: np.ndarray, dt: float) -> list[str]:
        """Return the balls that reach their enforced speed limit on the way into frame q (nq,), within dt [s]."""
        steps, flat = self._ball_steps, self.flat
        turned = 3.0 * steps.tip - q[flat.dof_q[steps.dof[:, 3]]]  # 4 L sin²(θ/2)
        fast = turned > 4.0 * steps.tip * np.sin(0.5 * np.minimum(steps.speed * dt, np.pi)) ** 2 * (1.0 - 1e-5)
        return [name for name, is_fast in zip(self.topology.steps, fast, strict=True) if is_fast]

    def end_of_run(self, start: int, stop: int) -> int:
        """Return the frame after those of `start` to `stop` that are solved without a stop."""
        return stop

    def solve(self, output: Output, start: int, stop: int, clip_targets: ClipTargets) -> None:
        """Solve frames `start` to `stop` into `output`."""
        self.solve_stretch(output, 0, start, stop, clip_targets)

    def solve_stretch(self, output: Output, first: int, start: int, stop: int, clip_targets: ClipTargets) -> None:
        """Solve frames `start` to `stop` into `output`, whose first row is frame `first`."""
        solve_frames(
            self.flat, self._tables, self._work, self._memory, output, first, start, stop, clip_targets, self.speed,
            self._ball_steps, self.settings.joint_limits,
            MOST_ITERATIONS,
        )  # fmt: skip

    def actuator_values(self, states: Output | States, last: np.ndarray | None = None) -> np.ndarray:
        """Return actuator values (T, A) [rad or m], read off the states (paper, IV-C).

        `last` (A,) are those of the frame before; those of the rest pose if left out.
        """
        return actuator_values(self.topology, states.q, states.position, states.quaternion, last)

    def passive_values(
        self, states: Output | States, last: Mapping[str, float] | None = None
    ) -> dict[str, np.ndarray] | None:
        """Return the coordinates (T,) [rad or m] of the joints without a motor by name.

        `last` has those of the frame before; those of the rest pose if left out. Return None where the output does
        not hold them.
        """
        return passive_values(self.topology, states.q, states.position, states.quaternion, last)

    def room(self, frames: int) -> Output:
        """Return an empty output for T frames."""
        return new_output(self.flat, frames)
