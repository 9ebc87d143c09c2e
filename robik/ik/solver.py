"""State-based inverse kinematics of one robot, frame by frame (paper, eq. 3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robik.errors import ClipError
from robik.ik.objectives import Settings
from robik.ik.sequence import Output, forget, new_memory, new_output, solve_frames
from robik.ik.sqp import new_work
from robik.ik.terms import Goals
from robik.kinematics.actuation import actuator_values
from robik.kinematics.assembly import prepared
from robik.kinematics.rotations import quaternion_matrices
from robik.mechanism.model import Mechanism
from robik.mechanism.topology import Topology, build_topology
from robik.structs import by_reference

MOST_ITERATIONS = 400  # a weakly held robot far from its targets walks down a narrow valley
Targets = Mapping[str, tuple[np.ndarray | None, np.ndarray | None]]  # positions (T, 3) and quaternions (T, 4) by frame


def anchor(topology: Topology, name: str) -> tuple[int, np.ndarray, np.ndarray]:
    """Body, point (3,) and axes (3, 3) of a frame in the body's state frame, which has the world's orientation in the rest pose."""
    mechanism = topology.mechanism
    frame = mechanism.frame(name)
    body = mechanism.bodies[mechanism.body_index[frame.body]]
    rest = body.pose @ frame.pose
    return topology.body_at[frame.body], np.array(rest.position) - body.rest_com, rest.matrix


class Solver:
    """Follows targets with a robot, each frame from the one before.

    Args:
        mechanism: the robot.
        names: the frames (or bodies) to be followed, in the order of the targets given to `solve`.
        settings: weights, regularizers, limits.
        has_com: whether there is a target for the centre of mass.

    Raises:
        MechanismError: a name is unknown; lists those that exist.
        ClipError: a CoM target for a robot without mass, or no target at all.
    """

    def __init__(self, mechanism: Mechanism, names: tuple[str, ...], settings: Settings, has_com: bool = False):
        self.mechanism, self.names, self.settings = mechanism, tuple(names), settings
        self.topology = build_topology(mechanism)
        self.flat = prepared(self.topology)
        if has_com and mechanism.mass <= 0:
            raise ClipError(f"robot {mechanism.name!r} has no mass, so its centre of mass cannot follow a target")
        self._anchors = [anchor(self.topology, name) for name in self.names]
        t = len(self.names)
        self._memory = new_memory(self.flat, self.topology.rest)
        self.has_com = has_com
        self._goals = by_reference(
            Goals(
                body=np.array([a[0] for a in self._anchors], dtype=np.int64),
                point=np.array([a[1] for a in self._anchors]).reshape(t, 3),
                axes=np.array([a[2] for a in self._anchors]).reshape(t, 3, 3),
                position_weight=np.zeros((t, 3)),
                orientation_weight=np.zeros((t, 3)),
                position=np.zeros((t, 3)),
                rotation=np.zeros((t, 3, 3)),
                com=np.zeros(3),
                com_weight=np.array(settings.com_weight if has_com else (0.0,) * 3),
                previous_R=self._memory.last.R,
                previous_c=self._memory.last.c,
                state_weight=np.array([settings.state_weight]),
                velocity_weight=np.array([settings.velocity_weight]),
                threshold=np.full(2, np.inf),
                reach=np.full(len(self.flat.before), np.inf),
            )
        )
        self._work = new_work(self.flat, self.topology.rest)
        self._speed = self._speeds()

    def reset(self) -> None:
        """Puts the robot back into its rest pose."""
        forget(self.flat, self._memory, self.topology.rest)
        self._work.e.free[:] = True

    def arrays(self, targets: Targets, frames: int) -> tuple[np.ndarray, np.ndarray]:
        """Targets as (T, t, 3) positions and (T, t, 3, 3) rotations; sets the weights, zero for what a target leaves open."""
        position, rotation = np.zeros((frames, len(self.names), 3)), np.zeros((frames, len(self.names), 3, 3))
        for i, name in enumerate(self.names):
            (places, turns), weights = targets[name], self.settings.weights(name)
            self._goals.position_weight[i] = weights.position if places is not None else 0.0
            self._goals.orientation_weight[i] = weights.orientation if turns is not None else 0.0
            if places is not None:
                position[:, i] = places
            if turns is not None:
                rotation[:, i] = quaternion_matrices(turns)
        return position, rotation

    def thresholds(self, times: np.ndarray) -> np.ndarray:
        """t of the velocity regularizer per frame (T, 2); infinite in the first, which may be anywhere (paper, eq. 5)."""
        return self.settings.thresholds(self.frame_times(times))

    def _speeds(self) -> np.ndarray:
        """What the actuators' coordinates may move by in a second (d,); infinite where they are not to be held to it."""
        speed = np.full(len(self.flat.before), np.inf)
        for joint in self.mechanism.actuated if self.settings.enforce_velocity else ():
            for name in joint.coordinate_names:
                if name in self.topology.dofs:
                    speed[self.topology.dofs[name][0]] = self.settings.velocity_share * joint.velocity_limit
        return speed

    def frame_times(self, times: np.ndarray) -> np.ndarray:
        """Δt into each frame (T,) [s]; infinite for the first, which may be anywhere."""
        return np.concatenate([[np.inf], np.diff(times)])

    def solve(
        self,
        output: Output,
        start: int,
        stop: int,
        position: np.ndarray,
        rotation: np.ndarray,
        com: np.ndarray,
        threshold: np.ndarray,
        dt: np.ndarray,
    ) -> None:
        """Solves frames `start` to `stop` of the arrays into `output`."""
        solve_frames(
            self.flat,
            self._goals,
            self._work,
            self._memory,
            output,
            start,
            stop,
            position,
            rotation,
            com,
            threshold,
            dt,
            self._speed,
            self.settings.joint_limits,
            MOST_ITERATIONS,
        )

    def actuator_values(self, output: Output) -> np.ndarray:
        """Values (T, actuators) [rad or m], read off the states (paper, IV-C)."""
        return actuator_values(self.topology, output.q, output.position, output.quaternion)

    def room(self, frames: int) -> Output:
        """An empty output for so many frames."""
        return new_output(self.flat, frames)
