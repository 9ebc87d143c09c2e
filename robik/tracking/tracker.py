"""The interface of all trackers: targets that arrive one at a time go in, actuator values come out.

A tracker is a robot at a moment (`now`, always assembled) and a way to move it towards targets (`_advance`), which is
all that a new tracker has to define. Targets come to it in the arrays that the bake's solver uses as well
(`objectives.registry.ObjectiveTables`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import isfinite, sqrt
from typing import Any, ClassVar

import numpy as np

from ..errors import ClipError
from ..jit import inlined, kernel
from ..kinematics.actuation import joint_values
from ..kinematics.assembly import prepared
from ..kinematics.forward import ForwardKinematics
from ..kinematics.frames import anchor, own_frames
from ..kinematics.kernels import close, forward_kinematics, new_placement, rotate, state_of
from ..kinematics.rotations import product
from ..kinematics.straightening import straightened
from ..mechanism.model import Mechanism
from ..mechanism.pose import UNIT_TOLERANCE, Pose, matrix_quaternion
from ..mechanism.topology import limited_topology
from ..objectives.hold import Holds
from ..objectives.registry import ObjectiveTables, new_tables
from .targets import FARTHEST, Targets


class Tracker(ABC):
    """Follows targets with a robot, one step after another, from its rest pose on.

    Args:
        mechanism: the robot.

    Attributes:
        topology, flat: the robot as a tree and cuts, and its arrays.
        now: where it is (`kinematics.kernels.Placement`).
        values: (A,) what its actuators are at [rad or m], in the order of `Mechanism.actuators`.
    """

    TAKES_OBJECTIVES: ClassVar[bool] = False  # beside frames and the centre of mass
    _holds: Holds | None = None  # walls of what motors keep

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.topology = limited_topology(straightened(mechanism))
        self.flat: Any = prepared(self.topology)
        self.now: Any = new_placement(self.flat, self.topology.rest)
        self.residual = 0.0
        self._rest_values = mechanism.actuator_rest
        found = [self.topology.dofs.get(name) for name in mechanism.actuators]
        self._fk: ForwardKinematics | None = None  # made once it is needed
        self._scalar = all(f is not None for f in found)
        held = [f for f in found if f is not None]
        self._actuator_q = self.flat.dof_q[np.array([dof for dof, _ in held], dtype=np.int64)]
        self._actuator_sign = np.array([float(sign) for _, sign in held])
        self._layout: tuple = ()
        self._weights: tuple = ()
        self._tables: Any = None
        self._turns: list[np.ndarray | None] = []  # from a target's axes to those that are weighed
        self.reset()

    def reset(self, values: np.ndarray | None = None, base: Pose | None = None) -> None:
        """Put the robot, at rest, where its actuators are at given values.

        What a tracker remembers of earlier steps is forgotten.

        Args:
            values: (A,) actuator values [rad or m]; those of the rest pose if left out.
            base: the floating root's own frame in the world; where it is in the rest pose if left out.

        Raises:
            MechanismError: a wrong number of values, or values that are not finite.
        """
        if values is None and base is None:
            self.put(self.topology.rest)
        else:
            if self._fk is None:
                self._fk = ForwardKinematics(self.mechanism, self.topology)
            else:
                self._fk.reset()
            self._fk.move(self._rest_values if values is None else values, base)
            self.put(self._fk.coordinates)

    def put(self, coordinates: np.ndarray) -> None:
        """Put the robot at rest at coordinates of its tree, as `coordinates` gave them; see `reset`.

        Args:
            coordinates: Coordinates (nq,).
        """
        self.now.q[:] = coordinates
        forward_kinematics(self.flat, self.now)
        self.residual = float(close(self.flat, self.now))
        self.values = self._rest_values.copy()
        self.values = self._read_values()
        self._forget()

    def step(self, targets: Targets, dt: float) -> np.ndarray:
        """Move the robot towards targets for a while.

        Args:
            targets: where frames and centre of mass should be.
            dt: for how long [s].

        Returns:
            Actuator values (A,) [rad or m], in the order of `Mechanism.actuators`.

        Raises:
            MechanismError: an unknown frame; lists those that exist.
            ClipError: targets that are not finite, a centre of mass for a robot without mass, or a dt that is not
                positive.
        """
        if not (isfinite(dt) and dt > 0):
            raise ClipError(f"a step's dt must be a positive number of seconds, not {dt}")
        self.residual = float(self._advance(self._aim(targets), dt))
        self.values = self._read_values()
        return self.values.copy()

    @abstractmethod
    def _advance(self, tables: ObjectiveTables, dt: float) -> float:
        """Move `now` towards the targets for dt [s]; return the closure residual [m] it ends with."""

    def _forget(self) -> None:  # noqa: B027 - a tracker without memory has nothing to forget
        """Forget what is known of the steps before; `now` stands where the robot is from now on."""

    @property
    def coordinates(self) -> np.ndarray:
        """(nq,) coordinates of the tree, which say where everything is; `put` takes them."""
        return self.now.q.copy()

    def frame(self, name: str) -> Pose:
        """Return the pose of a frame (or body) in the world.

        Args:
            name: Name of the frame.

        Returns:
            Its pose.

        Raises:
            MechanismError: Lists the frames that exist.
        """
        b, point, axes = anchor(self.topology, name)
        return Pose.of(self.now.R[b] @ axes, self.now.c[b] + self.now.R[b] @ point)

    def bodies(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bodies' own frames: positions (n, 3) [m] and quaternions (n, 4) wxyz, in the mechanism's order."""
        com, quaternion = self._state()
        position, turned = own_frames(self.topology, com, quaternion)
        return position[0], turned[0]

    @property
    def com(self) -> np.ndarray:
        """The robot's centre of mass (3,) in the world [m]."""
        return self.flat.mass @ self.now.c

    def _state(self) -> tuple[np.ndarray, np.ndarray]:
        """State frames: (1, n, 3) and (1, n, 4)."""
        return state_of(self.flat, self.now)

    def _read_values(self) -> np.ndarray:
        """Actuator values (A,) at `now`, without jumps from `values`."""
        if self._scalar:
            return self._actuator_sign * self.now.q[self._actuator_q]
        state, q, at = self._state(), self.now.q[None], 0
        read = np.empty(len(self.values))
        for joint in self.mechanism.actuated:
            own = slice(at, at + len(joint.motions))
            read[own] = joint_values(self.topology, joint, q, *state, last=self.values[own])[0]
            at = own.stop
        return read

    def _aim(self, targets: Targets) -> ObjectiveTables:
        """Return the targets as the arrays of compiled code."""
        frames = targets.frames
        if targets.objectives and not self.TAKES_OBJECTIVES:
            raise ClipError(
                f"{type(self).__name__} follows frames and the centre of mass alone; leave out"
                f" {targets.objectives[0].key!r}, or use StateBasedTracker"
            )
        self._prepare(targets)
        given = self._given
        try:
            for i, t in enumerate(frames.values()):
                if t.position is not None:
                    given[i, :3] = t.position
                if t.quaternion is not None:
                    turn = self._turns[i]
                    given[i, 3:] = t.quaternion if turn is None else product(*t.quaternion, *turn)
            if targets.com is not None:
                given[-1, :3] = targets.com
        except (TypeError, ValueError) as error:
            raise ClipError(
                f"a target's position must be three numbers and its quaternion four, wxyz: {error}"
            ) from None
        if (wrong := take_targets(self.flat, self.now, given, self._tables)) >= 0:
            name = [*frames, "the centre of mass"][wrong]
            raise ClipError(
                f"the target of {name} must be finite numbers with a quaternion of length 1, not"
                f" {given[wrong].tolist()}"
            )
        return self._tables

    def _prepare(self, targets: Targets) -> None:
        """Lay the tables out, and write weights into them, where either has changed since the step before."""
        frames = targets.frames
        layout = (
            *(item.layout for item in targets.objectives),
            *[(name, t.position is None, t.quaternion is None, t.weights.along) for name, t in frames.items()],
            targets.com is None,
        )
        weights = [t.weights for t in frames.values()], targets.com_weight
        if layout != self._layout:
            self._tables = self._lay_out(targets)
            self._given = np.zeros((len(frames) + 1, 7))
            self._given[:, 3] = 1.0
            self._layout, self._weights = layout, ()
        if weights != self._weights:  # those of feet change from step to step
            self._weigh(self._tables, targets)
            self._weights = weights

    def _lay_out(self, targets: Targets) -> ObjectiveTables:
        """Return the tables, whose weights are yet to be written."""
        if targets.com is not None and self.mechanism.mass <= 0:
            raise ClipError(f"robot {self.mechanism.name!r} has no mass, so its centre of mass cannot follow a target")
        given = list(targets.frames.values())
        self._turns = [None if g.weights.along is None else matrix_quaternion(g.weights.axes) for g in given]
        tables = new_tables(self.topology, tuple(targets.frames), self.now, targets.objectives, self._holds)
        for axes, target in zip(tables.frame_pose.axes, given, strict=True):
            axes[:] = axes @ target.weights.axes
        return tables

    def _weigh(self, tables: ObjectiveTables, targets: Targets) -> None:
        """Write the targets' weights into the tables; zero for what a target leaves open."""
        given, t = targets.frames.values(), len(targets.frames)
        place_weights = [g.weights.position if g.position is not None else (0.0,) * 3 for g in given]
        turn_weights = [g.weights.directions if g.quaternion is not None else (0.0,) * 3 for g in given]
        tables.frame_pose.position_weight[:] = np.array(place_weights, dtype=float).reshape(t, 3)
        tables.frame_pose.orientation_weight[:] = np.array(turn_weights, dtype=float).reshape(t, 3)
        tables.centre_of_mass.weight[:] = 0.0 if targets.com is None else targets.com_weight


@kernel
def take_targets(flat, now, given, tables):
    """Write targets into the objectives.

    The first wrong one, or -1.

    Args:
        flat: The mechanism's arrays for the kernels.
        now: Placement of the bodies.
        given: Targets (t + 1, 7) of position [m] and quaternion wxyz, the centre of mass last.
        tables: The objectives with their targets.

    Returns:
        Index of the first wrong one, or -1.
    """
    frames, com = tables.frame_pose, tables.centre_of_mass
    t = frames.body.shape[0]
    for i in range(t + 1):
        for k in range(7):
            if not np.isfinite(given[i, k]):
                return i
    most = FARTHEST * flat.size
    x = y = z = 0.0
    for b in range(1, flat.parent.shape[0]):
        m, c = flat.mass[b], now.c[b]
        x, y, z = x + m * c[0], y + m * c[1], z + m * c[2]
    _near(given[t], x, y, z, com.weight, most, com.target)
    for i in range(t):
        x, y, z = rotate(now.R[frames.body[i]], frames.point[i])
        c = now.c[frames.body[i]]
        _near(given[i], x + c[0], y + c[1], z + c[2], frames.position_weight[i], most, frames.position[i])
        w, x, y, z = given[i, 3], given[i, 4], given[i, 5], given[i, 6]
        norm = w * w + x * x + y * y + z * z
        if not abs(sqrt(norm) - 1.0) < UNIT_TOLERANCE:
            return i
        s = 2.0 / norm
        R = frames.rotation[i]
        R[0, 0], R[0, 1], R[0, 2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
        R[1, 0], R[1, 1], R[1, 2] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
        R[2, 0], R[2, 1], R[2, 2] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)
    return -1


@inlined
def _near(given, x, y, z, weight, most, target):
    """Write into a target (3,) what is given, no further than `most` from (x, y, z): beyond, that far in its direction.

    Along directions that do not count, it is where the frame is.
    """
    dx = given[0] - x if weight[0] > 0.0 else 0.0
    dy = given[1] - y if weight[1] > 0.0 else 0.0
    dz = given[2] - z if weight[2] > 0.0 else 0.0
    largest = max(abs(dx), abs(dy), abs(dz))
    if largest > most:  # so that no square overflows
        f = most / largest
        dx, dy, dz = f * dx, f * dy, f * dz
    away = sqrt(dx * dx + dy * dy + dz * dz)
    if largest > most or away > most:
        f = most / away
        target[0], target[1], target[2] = x + f * dx, y + f * dy, z + f * dz
    else:
        target[0], target[1], target[2] = (
            given[0] if weight[0] > 0.0 else x,
            given[1] if weight[1] > 0.0 else y,
            given[2] if weight[2] > 0.0 else z,
        )
