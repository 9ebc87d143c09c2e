"""Forward kinematics: actuator values → where every body is (paper, III-C)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..budget import current
from ..errors import MechanismError
from ..jit import by_reference
from ..mechanism.constraints import BALL, turn_matrix
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..mechanism.parts import Joint
from ..mechanism.pose import Pose, matrix_quaternion
from ..mechanism.topology import Topology, build_topology
from .along import FARTHEST, LARGEST_MOVE, AskedCoordinates, Driven, follow, linearized_along, new_driven, pose_along
from .assembly import closed, prepared, project
from .elimination import eliminate, new_elimination
from .frames import become_own_frames, com_of_states, own_frames
from .kernels import (
    close,
    closure_jacobian,
    forward_kinematics,
    integrate,
    new_placement,
    read_state,
    state_of,
)
from .straightening import straightened


@dataclass(frozen=True, kw_only=True)
class Assembly:
    """Poses of a robot's bodies after forward kinematics.

    Attributes:
        mechanism: the robot.
        values: (A,) of the actuators [rad or m].
        position, quaternion: (n, 3) [m] and (n, 4) wxyz of each body's own frame, in the mechanism's order, world
            coordinates.
        com: (3,) the robot's centre of mass [m].
        residual: largest closure residual [m]; rotations count by the robot's size.
        assembled: whether the loops close at these actuator values; if not, this is the nearest that was found.
    """

    mechanism: Mechanism = field(repr=False)
    values: np.ndarray
    position: np.ndarray = field(repr=False)
    quaternion: np.ndarray = field(repr=False)
    com: np.ndarray
    residual: float
    assembled: bool

    def pose(self, name: str) -> Pose:
        """Return the pose of a frame, or a body, in the world; a MechanismError lists the names that there are."""
        frame = self.mechanism.frame(name)
        k = self.mechanism.body_index[frame.body]
        body = Pose(tuple(self.position[k].tolist()), tuple(self.quaternion[k].tolist()))
        return body @ frame.pose


class BodyPoses(NamedTuple):
    """Poses of a robot's bodies along a motion."""

    position: np.ndarray  # (T, n, 3) of the bodies' own frames [m]
    quaternion: np.ndarray  # (T, n, 4) wxyz
    residual: np.ndarray  # (T,) of the closure [m]


class ForwardKinematics:
    """Forward kinematics of a robot by its actuators, each time from where it was, in its own topology if left out.

    `root` is the floating body's name, None where the robot is grounded.
    """

    def __init__(self, mechanism: Mechanism, topology: Topology | None = None):
        self.mechanism = mechanism
        self.topology = topology or build_topology(straightened(mechanism))
        self.root = self.topology.root
        self.flat = prepared(self.topology)
        self.elimination = new_elimination(self.flat)
        self._scratch = (
            np.zeros(len(self.flat.before)),
            np.zeros(len(self.flat.row_kind) + len(self.flat.coupling_leader)),
        )
        for joint in (*mechanism.actuated, *([self.topology.base] if self.topology.base else [])):
            b = self.topology.joint_at[joint.name]
            self.elimination.free[self.flat.at_v[self.flat.first[b]] : self.flat.tip[b] + 1] = False
        dofs = {k: self.topology.dofs[n] for k, n in enumerate(mechanism.actuators) if n in self.topology.dofs}
        self._driven_values = np.array(list(dofs), dtype=np.int64)
        self._driven_dof = np.array([dof for dof, _ in dofs.values()], dtype=np.int64)
        self._driven_q = self.flat.dof_q[self._driven_dof]
        self._driven_sign = np.array([float(sign) for _, sign in dofs.values()])
        self._driven_balls = [joint for joint in mechanism.actuated if joint.is_ball]
        self._rest_values = mechanism.actuator_rest
        self.now = new_placement(self.flat, self.topology.rest)
        self._drive(self._rest_values)
        forward_kinematics(self.flat, self.now)
        close(self.flat, self.now)
        self._at_rest = self.now.everything.copy()
        self._alone = self._driven(has_base=False)
        self.reset()

    def reset(self) -> None:
        """Back to the rest pose."""
        self.now.everything[:] = self._at_rest
        self._values = self._rest_values.copy()
        eliminate(self.flat, self.now, self.elimination)

    @property
    def driven(self) -> Iterator[tuple[int, int, float]]:
        """(actuator, degree of freedom, sign) of each actuator that is no ball's."""
        return zip(self._driven_values.tolist(), self._driven_dof.tolist(), self._driven_sign.tolist(), strict=True)

    @property
    def ball_values(self) -> list[int]:
        """Actuators that are coordinates of balls."""
        return sorted(set(range(len(self._values))) - set(self._driven_values.tolist()))

    @property
    def coordinates(self) -> np.ndarray:
        """(nq,) coordinates of the tree at which it stands."""
        return self.now.q.copy()

    def solve(self, values: np.ndarray, base: Pose | None = None) -> Assembly:
        """Return the assembly at actuator values (A,), in the order of `Mechanism.actuators`.

        `base` is the floating root's own frame in the world; where it was if left out. Raise MechanismError for a
        wrong number of values, or values that are not finite.
        """
        return self._assembly(self.move(values, base))

    def move(self, values: np.ndarray, base: Pose | None = None) -> float:
        """Move to actuator values (A,) [rad or m] as `solve` does; return only the closure residual [m]."""
        values = np.asarray(values, dtype=float)
        if values.shape != self._values.shape or not np.isfinite(values).all():
            self._refuse(values)
        if base is not None and self.root is not None:
            self._put_base(base)
        if not self._driven_balls:
            residual = float(follow(self.flat, self.now, self.elimination, self._alone, self._values, values))
            if closed(self.flat, self.now, residual):
                return residual
        start, away = self._values, float(np.abs(values - self._values).max(initial=0.0))
        has_way = len(self.topology.cuts) > 0 and 0.0 < away < FARTHEST
        parts, residual = int(np.ceil(away / LARGEST_MOVE)) if has_way else 1, 0.0
        for part in range(1, parts + 1):  # in Python: from far away, and balls
            self._drive(start + (values - start) * part / parts)
            residual = self._close()
        self._values = values.copy()
        return residual

    def _drive(self, values: np.ndarray) -> None:
        self.now.q[self._driven_q] = self._driven_sign * values[self._driven_values]
        for joint in self._driven_balls:
            at = self.mechanism.actuators.index(joint.coordinate_names[0])
            self._turn_ball(joint, values[at : at + len(joint.motions)])

    def _turn_ball(self, joint: Joint, values: np.ndarray) -> None:
        b = self.topology.joint_at[joint.name]
        turn = turn_matrix(joint, values)
        flipped = self.topology.body_at[joint.parent] != self.flat.parent[b]
        for m in range(self.flat.first[b], self.flat.last[b]):
            if self.flat.kind[m] == BALL:
                self.now.q[self.flat.at_q[m] : self.flat.at_q[m] + 4] = matrix_quaternion(turn.T if flipped else turn)

    def along(
        self, values: np.ndarray, base: tuple[np.ndarray, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Move through samples (T, A) of a motion, as `move` does; return the state frames and residuals (T,) [m].

        The frames are (T, n, 3) [m] and (T, n, 4) wxyz, in the topology's order, without sign flips. `base`, (T, 3)
        [m] and (T, 4) wxyz, is the floating root's own frame; where it is if left out.
        """
        values = np.ascontiguousarray(values, dtype=float)
        if values.shape[1:] != self._values.shape or not np.isfinite(values).all():
            self._refuse(values)
        count, n = len(values), self.flat.bodies
        position, residual = np.zeros((count, n, 3)), np.zeros(count)
        quaternion = np.tile([1.0, 0.0, 0.0, 0.0], (count, n, 1))
        placed = None if base is None or self.root is None else base
        rows = np.zeros((0, 7)) if placed is None else self._base_rows(*placed)
        driven = self._alone if placed is None else self._driven(has_base=True)
        k = 0
        while k < count:
            if not self._driven_balls:
                k = pose_along(self.flat, self.now, self.elimination, driven, self._values, values, rows, position,
                               quaternion, residual, k)  # fmt: skip
            if k < count:  # in Python: from far away, and balls
                residual[k] = self.move(values[k], placed and Pose(tuple(placed[0][k]), tuple(placed[1][k])))
                quaternion[k] = quaternion[max(k - 1, 0)]
                read_state(self.flat, self.now, position[k], quaternion[k])
                k += 1
        return position, quaternion, residual

    def poses(self, values: np.ndarray, base: tuple[np.ndarray, np.ndarray] | None = None) -> BodyPoses:
        """Return the bodies' own frames along actuator values (T, A), from the rest pose on.

        `base`, (T, 3) [m] and (T, 4) wxyz, is the floating root's own frame; in its rest pose if left out.
        """
        self.reset()
        position, quaternion, residual = self.along(values, base)
        become_own_frames(self.topology, position, quaternion)
        return BodyPoses(position, quaternion, residual)

    def coordinates_along(
        self, values: np.ndarray, base: tuple[np.ndarray, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates (T, nq) and residuals (T,) [m] along actuator values (T, A), from the rest pose on.

        `base`, (T, 3) [m] and (T, 4) wxyz, is the floating root's own frame; in its rest pose if left out.
        """
        self.reset()
        q, residual = np.zeros((len(values), len(self.topology.rest))), np.zeros(len(values))
        for k, row in enumerate(values):
            residual[k] = self.move(row, base and Pose(tuple(base[0][k]), tuple(base[1][k])))
            q[k] = self.now.q
        return q, residual

    def linearized(self, values: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates (T, N) and their derivatives by actuator values (T, N, A), from the rest pose on.

        `names` are N coordinates of the topology's tree; actuators are no balls. Where the loops do not close both
        are zero.
        """
        self.reset()
        values, k, count = np.ascontiguousarray(values, dtype=float), 0, len(values)
        coordinates, slopes = np.zeros((count, len(names))), np.zeros((count, len(names), values.shape[1]))
        dof, sign = np.array([self.topology.dofs[name] for name in names], dtype=np.int64).reshape(-1, 2).T.copy()
        step = np.zeros(len(self.flat.before))
        asked = by_reference(AskedCoordinates(dof, sign.astype(float), self._driven_dof, step))
        about = self.flat, self.now, self.elimination, self._alone, asked
        while k < count:
            k = linearized_along(*about, self._values, values, coordinates, slopes, k)
            if k < count:  # from far away
                self.move(values[k])
                linearized_along(*about, self._values, values[: k + 1], coordinates, slopes, k)
                k += 1
        return coordinates, slopes

    def _driven(self, has_base: bool) -> Driven:
        """Return what follows the samples of a motion."""
        first = int(self.flat.at_q[self.flat.first[self.topology.body_at[self.root or ""]]]) if has_base else -1
        return new_driven(
            self._driven_q,
            self._driven_dof,
            self._driven_values,
            self._driven_sign,
            first,
            len(self.now.q),
            *map(len, self._scratch),
        )

    def _base_rows(self, position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
        """Return the seven coordinates (T, 7) of the floating root where its own frame is."""
        b = self.topology.body_at[self.root or ""]
        body = self.mechanism.bodies[self.topology.order[b - 1]]
        turn, parent = quaternion_matrices(quaternion), self.flat.from_parent_R[b]
        joint_R = turn @ body.pose.matrix.T @ self.flat.to_child_R[b].T
        joint_p = position + turn @ np.array(body.com) - joint_R @ self.flat.to_child_p[b]
        from scipy.spatial.transform import Rotation  # takes long to import

        xyzw = Rotation.from_matrix(parent.T @ joint_R).as_quat()
        return np.hstack([(joint_p - self.flat.from_parent_p[b]) @ parent, xyzw[:, [3, 0, 1, 2]]])

    def _refuse(self, values: np.ndarray) -> None:
        """Raise the error that says what values are wanted."""
        raise MechanismError(
            f"robot {self.mechanism.name!r} wants {len(self._values)} finite actuator values, not {values}"
        )

    def _put_base(self, base: Pose) -> None:
        """Set the six coordinates of the floating root."""
        b = self.topology.body_at[self.root or ""]
        body = self.mechanism.bodies[self.topology.order[b - 1]]
        state = base.matrix @ body.pose.matrix.T
        joint_R = state @ self.flat.to_child_R[b].T
        joint_p = base.point(body.com) - joint_R @ self.flat.to_child_p[b]
        first = int(self.flat.at_q[self.flat.first[b]])
        parent = self.flat.from_parent_R[b]
        self.now.q[first : first + 3] = parent.T @ (joint_p - self.flat.from_parent_p[b])
        self.now.q[first + 3 : first + 7] = matrix_quaternion(parent.T @ joint_R)

    def _close(self) -> float:
        before = self.now.q.copy()
        residual = project(self.flat, self.now, self.elimination, *self._scratch)
        if closed(self.flat, self.now, residual):
            return float(residual)
        self.now.q[:] = before
        self._nearest()
        forward_kinematics(self.flat, self.now)
        close(self.flat, self.now)
        eliminate(self.flat, self.now, self.elimination)
        return float(project(self.flat, self.now, self.elimination, *self._scratch)) if self._nearly() else self._gap()

    def _gap(self) -> float:
        forward_kinematics(self.flat, self.now)
        return float(close(self.flat, self.now))

    def _nearly(self) -> bool:
        return self._gap() < 1e-4 * self.flat.size

    def _nearest(self) -> None:
        """Return the least squares of the closure over what no actuator sets (paper, eq. 1).

        From far away, by Levenberg-Marquardt in a trust region.
        """
        flat, now, origin = self.flat, self.now, self.now.q.copy()
        passive = np.flatnonzero(self.elimination.free)
        if not len(passive) or not len(now.value):
            return
        step = np.zeros(len(flat.before))

        def at(y: np.ndarray) -> np.ndarray:
            current().check()
            step[passive] = y
            integrate(flat, origin, step, 1.0, now.q)
            forward_kinematics(flat, now)
            close(flat, now)
            return now.value.copy()

        def slope(y: np.ndarray) -> np.ndarray:
            at(y)
            return closure_jacobian(flat, now)[:, passive]

        exact = not (
            flat.ball[passive] >= 0
        ).any()  # a ball's screws differ from the derivatives of its rotation vector away from zero
        jacobian = slope if exact else "2-point"
        from scipy.optimize import least_squares  # takes long to import, and few poses need it

        found = least_squares(
            at, np.zeros(len(passive)), jac=jacobian, xtol=1e-12, ftol=1e-14, gtol=1e-14, max_nfev=200
        )
        at(found.x)

    def _assembly(self, residual: float) -> Assembly:
        centres, turned = state_of(self.flat, self.now)
        com = com_of_states(self.topology, centres)[0]
        position, turned = own_frames(self.topology, centres, turned)
        return Assembly(
            mechanism=self.mechanism,
            values=self._values.copy(),
            position=position[0],
            quaternion=turned[0],
            com=com,
            residual=residual,
            assembled=bool(closed(self.flat, self.now, residual)),
        )


def body_poses(
    mechanism: Mechanism, values: np.ndarray, base: tuple[np.ndarray, np.ndarray] | None = None
) -> BodyPoses:
    """Return the bodies' own frames along actuator values (T, A) [rad or m], with closure residuals (T,) [m].

    Frames are (T, n, 3) [m] and (T, n, 4) wxyz, without sign flips. `base`, (T, 3) [m] and (T, 4), is the floating
    root's own frame; in its rest pose if left out.
    """
    return ForwardKinematics(mechanism).poses(values, base)
