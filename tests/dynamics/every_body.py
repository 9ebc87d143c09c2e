"""Balance of every single body, with forces of all joints as unknowns: a judge that knows no tree and no
elimination."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robik.dynamics import InverseDynamics
from robik.kinematics.kernels import forward_kinematics, integrate
from robik.mechanism import WORLD, Joint
from robik.mechanism.constraints import joint_matrices
from robik.mechanism.joints import SLIDES, TURNS

STEP = 2e-3  # [s] between poses of which differences are taken
STENCIL = {-2: (1 / 12, -1 / 12), -1: (-2 / 3, 4 / 3), 0: (0.0, -5 / 2), 1: (2 / 3, 4 / 3), 2: (-1 / 12, -1 / 12)}


@dataclass(frozen=True)
class Placed:
    """Rotations (n + 1, 3, 3) and centres of mass (n + 1, 3) of the state frames."""

    R: np.ndarray
    c: np.ndarray


def placed(room: InverseDynamics, q: np.ndarray) -> Placed:
    now = room._now
    now.q[:] = q
    forward_kinematics(room.flat, now)
    return Placed(np.array(now.R), np.array(now.c))


def needed(room: InverseDynamics, q: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    """The force and moment about its own centre of mass that each body needs (n, 6), from differences of poses."""
    poses = {}
    for k in STENCIL:
        t, out = k * STEP, q.copy()
        integrate(room.flat, q, velocity * t + 0.5 * acceleration * t * t, 1.0, out)
        poses[k] = placed(room, out)
    rows = []
    for body in room.topology.mechanism.bodies:
        b = room.topology.body_at[body.name]
        R = poses[0].R[b]
        at = sum(w2 * poses[k].c[b] for k, (_, w2) in STENCIL.items()) / STEP**2
        first = sum(w1 * poses[k].R[b] for k, (w1, _) in STENCIL.items()) / STEP
        second = sum(w2 * poses[k].R[b] for k, (_, w2) in STENCIL.items()) / STEP**2
        spin, change = first @ R.T, second @ R.T + first @ first.T
        omega, alpha = _vector(spin), _vector(change)
        inertia = R @ body.pose.matrix @ body.inertia_matrix @ body.pose.matrix.T @ R.T
        force = body.mass * (at + np.array([0.0, 0.0, room.gravity]))
        rows.append(np.concatenate([force, inertia @ alpha + np.cross(omega, inertia @ omega)]))
    return np.array(rows)


def _vector(m: np.ndarray) -> np.ndarray:
    return 0.5 * np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])


class Balance:
    """The linear equations of all bodies' balance at a pose: reactions of joints, and torques of motors."""

    def __init__(self, room: InverseDynamics, q: np.ndarray) -> None:
        self.room, self.mechanism = room, room.topology.mechanism
        self.pose = placed(room, q)
        self.at = room.topology.body_at
        reactions, motors, along = [], [], {}
        for joint in self.mechanism.joints:
            anchor, slides, turns = self.axes(joint)
            free = {f"{joint.name}|{m}": (a, None) for m, a in slides.items()}
            free |= {f"{joint.name}|{m}": (None, a) for m, a in turns.items()}
            screws = []
            for name, motion in zip(joint.coordinate_names, joint.motions, strict=True):
                force, moment = free[f"{joint.name}|{motion}"]
                unit = np.zeros(6)
                if force is not None:
                    unit[:3] = force
                if moment is not None:
                    unit[3:] = moment
                screws.append(unit)
                along[name] = self.column(joint, anchor, unit)
                if joint.actuated:
                    motors.append(along[name])
            left = np.linalg.svd(np.array(screws).reshape(-1, 6), full_matrices=True)[2][len(screws) :]
            reactions += [self.column(joint, anchor, unit) for unit in left]
        for coupling in self.mechanism.couplings:
            x = self.coordinate(coupling.leader, q)
            slope = np.polynomial.Polynomial(coupling.coefficients).deriv()(x)
            others = sum(weight * along[name] for name, weight in coupling.others)
            reactions.append(along[coupling.follower] - slope * along[coupling.leader] - others)
        self.reactions = np.array(reactions).T.reshape(6 * len(self.mechanism.bodies), -1)
        self.motors = np.array(motors).T.reshape(6 * len(self.mechanism.bodies), -1)

    def coordinate(self, name: str, q: np.ndarray) -> float:
        dof, sign = self.room.topology.dofs[name]
        return sign * float(q[self.room.flat.dof_q[dof]])

    def axes(self, joint: Joint) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Where the child side is, and the directions of the free motions."""
        parent_R, _, child_R = joint_matrices(joint)
        near, far = self.at[joint.parent], self.at[joint.child]
        rest = self.room.topology.rest_com
        anchor = self.pose.c[far] + self.pose.R[far] @ (np.array(joint.position) - rest[far])
        near_axes, far_axes = self.pose.R[near] @ parent_R, self.pose.R[far] @ child_R
        slides = {m: near_axes[:, k] for k, m in enumerate(SLIDES) if m in joint.motions}
        turning = [k for k, m in enumerate(TURNS) if m in joint.motions]
        turns = {}
        for i, k in enumerate(turning):
            turns[TURNS[k]] = (near_axes if i == 0 or len(turning) == 3 else far_axes)[:, k]
        return anchor, slides, turns

    def column(self, joint: Joint, anchor: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """What (force, moment at the anchor) on the child, and its counterpart on the parent, do to the bodies (6
        n,)."""
        out = np.zeros((len(self.mechanism.bodies), 6))
        for name, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
            if name != WORLD:
                out[self.mechanism.body_index[name]] += sign * self.at_com(name, anchor, unit)
        return out.ravel()

    def at_com(self, name: str, point: np.ndarray, unit: np.ndarray) -> np.ndarray:
        return np.concatenate([unit[:3], unit[3:] + np.cross(point - self.pose.c[self.at[name]], unit[:3])])

    def contacts(self, bodies: tuple[str, ...], points: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """What contact forces do to the bodies (6 n,)."""
        out = np.zeros((len(self.mechanism.bodies), 6))
        for name, point, force in zip(bodies, points, forces, strict=True):
            out[self.mechanism.body_index[name]] += self.at_com(name, point, np.concatenate([force, np.zeros(3)]))
        return out.ravel()

    def left_over(self, needed: np.ndarray) -> float:
        """The largest force or moment that no joint's reaction can give."""
        x = np.linalg.lstsq(self.reactions, needed, rcond=1e-11)[0]
        return float(np.abs(needed - self.reactions @ x).max())

    def smallest_torques(self, needed: np.ndarray) -> np.ndarray:
        """The smallest torques with which reactions can do the rest."""
        U, s, _ = np.linalg.svd(self.reactions, full_matrices=True)
        free = U[:, (s > 1e-11 * s[0]).sum() :].T
        return np.linalg.lstsq(free @ self.motors, free @ needed, rcond=1e-10)[0]
