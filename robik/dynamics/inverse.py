"""Inverse dynamics of a motion: what ground and motors must give for it, through all loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import MechanismError
from ..jit import by_reference
from ..kinematics.elimination import Elimination, eliminate, new_elimination
from ..kinematics.forward import ForwardKinematics
from ..kinematics.kernels import close, forward_kinematics, integrate, new_placement
from ..mechanism.model import Mechanism
from ..mechanism.topology import Flat, Topology
from ..motions import Motion
from ..motions.coordinates import tree_coordinates
from .contact_forces import new_contact_work
from .contact_points import ContactPoints
from .derivatives import CUTOFF, derivatives
from .kernels import new_bodies, unit_wrench
from .motion_kernel import Drive, Forces, motion_forces, new_forces
from .resistances import Resistances, resistances_of

GRAVITY = 9.81  # [m/s²]
AWAY = 0.02  # rad or m: how far from the rest pose ranks are counted, since it may be singular


@dataclass(frozen=True, kw_only=True)
class Dynamics:
    """Forces of a motion of T samples, in world coordinates.

    Attributes:
        times: (T,) [s].
        actuators: names (A,).
        torque: (T, A) that each motor gives its joint [N m or N].
        velocity: (T, A) of the actuators [rad/s or m/s].
        force: (T, K, 3) of the ground on each contact point [N].
        point: (T, K, 3) the contact points [m].
        wrench: (T, 6) moment about the origin and force that the whole robot needs from the ground [N m, N].
        momentum: (T, 3) linear [kg m/s].
        angular_momentum: (T, 3) about the centre of mass [kg m²/s].
        com: (T, 3) the centre of mass [m].
        missing: (T,) the largest generalised force that neither motors nor contacts can give, in weights of the robot.
    """

    times: np.ndarray
    actuators: tuple[str, ...]
    torque: np.ndarray
    velocity: np.ndarray
    force: np.ndarray
    point: np.ndarray
    wrench: np.ndarray
    momentum: np.ndarray
    angular_momentum: np.ndarray
    com: np.ndarray
    missing: np.ndarray

    def zero_moment_point(self, height: float | np.ndarray = 0.0) -> np.ndarray:
        """Return the points (T, 2) [m] where the ground's force needs no moment along the ground.

        `height` is that of the ground [m], a number or (T,). A point is NaN where the robot does not press on it.
        """
        moment, force = self.wrench[:, :3], self.wrench[:, 3:]
        down = np.where(force[:, 2] > 0, force[:, 2], np.nan)
        x = (height * force[:, 0] - moment[:, 1]) / down
        y = (height * force[:, 1] + moment[:, 0]) / down
        return np.stack([x, y], axis=1)


class InverseDynamics:
    """Inverse dynamics of a robot, with room for its kernels.

    `gravity` is along −z [m/s²]. Motions are in the coordinates of `topology`, the robot's own if left out. Raise
    MechanismError for a robot without mass.
    """

    def __init__(self, mechanism: Mechanism, gravity: float = GRAVITY, topology: Topology | None = None) -> None:
        if not mechanism.mass > 0:
            raise MechanismError(
                f"robot {mechanism.name!r} has no mass, so its forces are unknown; give its bodies masses"
            )
        self.mechanism, self.gravity = mechanism, gravity
        self.fk = ForwardKinematics(mechanism, topology)
        self.topology, self.flat = self.fk.topology, self.fk.flat
        self._motor, self._sign = _motors(self.topology)
        self._elimination, self._surplus = _independent_motors(self.topology, self.flat, self._motor)
        self._now = new_placement(self.flat, self.topology.rest)

    def coordinates(self, motion: Motion, source: str = "the motion") -> np.ndarray:
        """Return the tree's coordinates (T, nq) [rad or m, wxyz for balls] along a motion, by forward kinematics.

        Errors call the motion `source`. Raise ClipError where it lacks actuators, MechanismError where loops do not
        close.
        """
        return tree_coordinates(self.fk, motion, source)

    def solve(
        self,
        times: np.ndarray,
        q: np.ndarray,
        velocity: np.ndarray,
        acceleration: np.ndarray,
        contacts: ContactPoints | None = None,
    ) -> Dynamics:
        """Return the forces of a motion along q (T, nq), with closed loops, and its derivatives (T, d).

        `contacts` say where and when the ground can push; nowhere if left out.
        """
        points = contacts or ContactPoints((), np.zeros((0, 3)), np.zeros((len(times), 0), bool))
        bodies = new_bodies(self.flat, *self._masses, np.array([0.0, 0.0, -self.gravity]))
        drive = self._drive(points)
        work = new_contact_work(len(self.flat.before), len(points.bodies), np.array(points.normal), points.friction)
        found: Forces = new_forces(len(times), len(self._motor), len(points.bodies))
        own = self._resistances.forces(q, velocity, acceleration)
        arrays = (np.ascontiguousarray(a, dtype=float) for a in (q, velocity, acceleration, own))
        touches = np.ascontiguousarray(points.touches)
        motion_forces(self.flat, self._now, self._elimination, bodies, drive, work, *arrays, touches, found)
        return Dynamics(
            times=np.asarray(times, dtype=float),
            actuators=self.mechanism.actuators,
            torque=found.torque,
            velocity=self._sign * np.asarray(velocity)[:, self._motor],
            force=found.force,
            point=found.point,
            wrench=found.wrench,
            momentum=found.momentum[:, :3],
            angular_momentum=found.momentum[:, 3:6],
            com=found.momentum[:, 6:],
            missing=found.missing,
        )

    def forces(
        self, times: np.ndarray, q: np.ndarray, contacts: ContactPoints | None = None, cutoff: float | None = CUTOFF
    ) -> Dynamics:
        """Return the forces of a motion whose velocities and accelerations are those of its coordinates q (T, nq).

        `contacts` say where and when the ground can push; nowhere if left out. `cutoff` is that of the low-pass
        filter before accelerations are taken [Hz]; None for none.
        """
        return self.solve(times, q, *derivatives(self.flat, times, q, cutoff), contacts)

    def torques_of_moments(self, body: str) -> np.ndarray:
        """Return the motors' torques (3, A) against 1 N m on a body about x, y and z, in the rest pose.

        The base, or the world, holds against it.
        """
        return self.twists([body], self.topology.rest)[0, :3]

    def twists(self, bodies: Sequence[str], q: np.ndarray) -> np.ndarray:
        """Return the bodies' twists (bodies, 6, A) by actuator while the base stays, all loops closed, at q (nq,).

        A twist is the turn about the world's origin and the speed of what passes it. Motors more than the loops
        leave free, which follow the others, have none.
        """
        now, e, out = new_placement(self.flat, q), self._elimination, np.zeros(len(self.flat.before))
        forward_kinematics(self.flat, now)
        close(self.flat, now)
        eliminate(self.flat, now, e)
        found = np.zeros((len(bodies), 6, len(self._motor)))
        for index, body in enumerate(bodies):
            for k in range(6):
                unit_wrench(self.flat, now, e, self.topology.body_at[body], k, out)
                found[index, k] = self._sign * out[self._motor]
        return found

    @property
    def following_motors(self) -> tuple[str, ...]:
        """Return the actuators more than the loops leave free, which follow the others."""
        return tuple(self.mechanism.actuators[k] for k in self._surplus.tolist())

    @property
    def undriven_joints(self) -> tuple[str, ...]:
        """Return the joints that move on their own: neither motors nor loops say how."""
        flat, free = self.flat, ~self._elimination.dependent
        free[self._motor] = False
        moved = [joint.name for joint in self.mechanism.joints if joint.motions and joint.type != "free"]
        at = {name: self.topology.joint_at[name] for name in moved if name in self.topology.joint_at}
        return tuple(name for name, b in at.items() if free[flat.at_v[flat.first[b]] : flat.tip[b] + 1].any())

    @cached_property
    def _resistances(self) -> Resistances:
        return resistances_of(self.topology, self.flat)

    @cached_property
    def _masses(self) -> tuple[np.ndarray, np.ndarray]:
        """Masses (n + 1,) [kg] and inertias (n + 1, 3, 3) [kg m²] of the state frames."""
        n = len(self.flat.parent)
        mass, inertia = np.zeros(n), np.zeros((n, 3, 3))
        for body in self.topology.mechanism.bodies:
            b, R = self.topology.body_at[body.name], body.pose.matrix
            mass[b], inertia[b] = body.mass, R @ body.inertia_matrix @ R.T
        return mass, inertia

    def _drive(self, points: ContactPoints) -> Drive:
        """Return the motors and contact points as the kernels want them."""
        d, count, motors, surplus = len(self.flat.before), len(points.bodies), len(self._motor), len(self._surplus)
        body = np.array([self.topology.body_at[name] for name in points.bodies], dtype=np.int64)
        bodies = {b.name: b for b in self.topology.mechanism.bodies}
        local = np.array(
            [
                bodies[n].pose.matrix @ (p - np.array(bodies[n].com))
                for n, p in zip(points.bodies, points.points, strict=True)
            ]
        ).reshape(-1, 3)
        foot, foot_of = np.unique(body, return_inverse=True)
        driven = np.zeros(d, bool)
        driven[self._motor] = True
        return by_reference(
            Drive(
                motor=self._motor,
                sign=self._sign,
                driven=driven,
                surplus=self._surplus,
                follow=np.zeros((surplus, motors)),
                S=np.zeros((surplus, surplus)),
                extra=np.zeros(surplus),
                body=body,
                local=local,
                foot=foot.astype(np.int64),
                foot_of=foot_of.astype(np.int64).reshape(-1),
                unit=np.zeros((len(foot) + 1, 6, d)),
                at=np.zeros((count, 3)),
                Q=np.zeros(d),
                weight=np.array([self.mechanism.mass * max(abs(self.gravity), 1e-3)]),
            )
        )


def inverse_dynamics(
    mechanism: Mechanism,
    motion: Motion,
    contacts: ContactPoints | None = None,
    *,
    cutoff: float | None = CUTOFF,
    gravity: float = GRAVITY,
) -> Dynamics:
    """Return the forces that a motion needs; it has a column per actuator, and the base of a floating robot.

    `contacts` say where and when the ground can push. `cutoff` is that of the low-pass filter before accelerations
    are taken [Hz]; None for none. `gravity` is along −z [m/s²]. Raise MechanismError where the robot has no mass,
    or its loops do not close; ClipError where the motion lacks actuators.
    """
    room = InverseDynamics(mechanism, gravity)
    return room.forces(motion.times, room.coordinates(motion), contacts, cutoff)


def _motors(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """Return the degree of freedom of each actuator and its sign, (A,) each."""
    flat, dofs, signs = topology.flat, [], []
    for joint in topology.mechanism.actuated:
        b = topology.joint_at[joint.name]
        flipped = topology.body_at[joint.parent] != flat.parent[b]
        turn = 0
        for name in joint.coordinate_names:
            if name in topology.dofs:
                dof, sign = topology.dofs[name]
            else:  # one of a ball's three, about the axes of the side towards the tree's root
                ball = int(np.argmax(flat.ball[flat.at_v[flat.first[b]] : flat.tip[b] + 1] >= 0))
                dof, sign = int(flat.at_v[flat.first[b]]) + ball + turn, -1 if flipped else 1
                turn += 1
            dofs.append(dof)
            signs.append(float(sign))
    return np.array(dofs, dtype=np.int64), np.array(signs, dtype=float)


def _independent_motors(topology: Topology, flat: Flat, motor: np.ndarray) -> tuple[Elimination, np.ndarray]:
    """Return an elimination in which the base and as many motors as possible are independent.

    And the motors that are not.
    """
    e, now = new_elimination(flat), new_placement(flat, topology.rest)
    step = np.random.default_rng(0).uniform(-AWAY, AWAY, len(flat.before))
    integrate(flat, topology.rest, step, 1.0, now.q)
    forward_kinematics(flat, now)
    close(flat, now)
    base = np.zeros(0, np.int64)
    if topology.base is not None:
        b = topology.joint_at[topology.base.name]
        base = np.arange(flat.at_v[flat.first[b]], flat.tip[b] + 1)
    e.free[base] = False
    most = eliminate(flat, now, e)
    e.free[motor] = False
    rank, surplus = eliminate(flat, now, e), []
    for index, dof in enumerate(motor.tolist()):
        if rank == most:
            break
        e.free[dof] = True
        with_it = eliminate(flat, now, e)
        if with_it > rank:
            rank = with_it
            surplus.append(index)
        else:
            e.free[dof] = False
    return e, np.array(surplus, dtype=np.int64)
