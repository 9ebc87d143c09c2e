"""Hostile clips: poses that a robot reaches within its limits, each after targets that leap, flip or are pulled out of
reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from robik.ik.solver import Solver
from robik.kinematics.assembly import closed, prepared, project
from robik.kinematics.elimination import eliminate, new_elimination
from robik.kinematics.frames import anchor
from robik.kinematics.kernels import close, forward_kinematics, group_jacobian, integrate, new_placement
from robik.kinematics.null_space import extend
from robik.mechanism import Mechanism
from robik.mechanism.pose import matrix_quaternion
from robik.mechanism.topology import build_topology
from robik.objectives.registry import gather, new_tables
from robik.objectives.terms import gradient, new_terms

STEPS, STEP = 25, 0.5  # of a walk through the assembled poses [rad, or of half the robot's size]


@dataclass(frozen=True)
class Clip:
    """Targets (T, t, 3) and (T, t, 4) wxyz of t frames, and whether the robot can meet them (T,)."""

    position: np.ndarray
    quaternion: np.ndarray
    reachable: np.ndarray


class Reachable:
    """Assembled poses within a robot's limits, and where its frames are in them."""

    def __init__(self, mechanism: Mechanism, names: tuple[str, ...]):
        self.topology, self.names = build_topology(mechanism), names
        self.flat = prepared(self.topology)
        self.anchors = [anchor(self.topology, name) for name in names]
        self.now = new_placement(self.flat, self.topology.rest)
        self.at = np.array(self.flat.dof_q)
        self.scalar = self.at >= 0
        self.lower, self.upper = np.array(self.flat.lower), np.array(self.flat.upper)

    def within(self, q: np.ndarray, tolerance: float = 0.0) -> bool:
        """Whether coordinates keep to the limits."""
        x = q[self.at[self.scalar]]
        return bool(
            (x >= self.lower[self.scalar] - tolerance).all() and (x <= self.upper[self.scalar] + tolerance).all()
        )

    def walk(self, rng: np.random.Generator) -> np.ndarray:
        """Return the coordinates (nq,) at the end of a random walk from the rest pose."""
        flat, now, elimination = self.flat, self.now, new_elimination(self.flat)
        q, correction, right = self.topology.rest.copy(), np.zeros(len(self.at)), np.zeros(len(now.value))
        for _ in range(STEPS):
            now.q[:] = q
            forward_kinematics(flat, now)
            close(flat, now)
            eliminate(flat, now, elimination)
            step = rng.uniform(-STEP, STEP, len(self.at))
            step[np.abs(now.omega).max(axis=1) == 0] *= 0.5 * flat.size
            extend(flat, elimination, step)
            integrate(flat, q, step * STEP / max(STEP, np.abs(step).max()), 1.0, now.q)
            leads = self.scalar & ~np.array(elimination.dependent)
            now.q[self.at[leads]] = np.clip(now.q[self.at[leads]], self.lower[leads], self.upper[leads])
            if closed(flat, now, project(flat, now, elimination, correction, right)) and self.within(now.q):
                q = now.q.copy()
        return q

    def frames(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (t, 3) and quaternions (t, 4) of the frames at coordinates q."""
        self.now.q[:] = q
        forward_kinematics(self.flat, self.now)
        places = np.array([self.now.R[b] @ point + self.now.c[b] for b, point, _ in self.anchors])
        return places, np.array([matrix_quaternion(self.now.R[b] @ axes) for b, _, axes in self.anchors])

    def slope(
        self, solver: Solver, q: np.ndarray, before: np.ndarray, position: np.ndarray, rotation: np.ndarray
    ) -> float:
        """Return the largest entry of the gradient that neither the loops nor the limits on which q is can take up: 0
        at an optimum."""
        flat, now, d = self.flat, self.now, len(self.at)
        previous = new_placement(flat, before)
        forward_kinematics(flat, previous)
        tables, terms, slope = new_tables(self.topology, self.names, previous), new_terms(flat), np.zeros(d)
        frames, asked = tables.frame_pose, solver._tables.frame_pose
        frames.position_weight[:], frames.orientation_weight[:] = asked.position_weight, asked.orientation_weight
        tables.change_of_state.weight[:] = solver._tables.change_of_state.weight
        frames.position[:], frames.rotation[:] = position, rotation
        now.q[:] = q
        forward_kinematics(flat, now)
        close(flat, now)
        gather(flat, now, tables, terms, 1.0)
        gradient(flat, now, terms, slope)
        rows = [np.zeros((0, d))]
        for g, (r0, r1, c0, c1) in enumerate(zip(*self._groups(), strict=True)):
            jacobian, full = np.zeros((r1 - r0, c1 - c0)), np.zeros((r1 - r0, d))
            group_jacobian(flat, now, g, jacobian)
            full[:, flat.group_columns[c0:c1]] = jacobian
            rows.append(full)
        x = np.where(self.scalar, q[self.at], 0.0)
        low, high = self.scalar & (x <= self.lower + 1e-9), self.scalar & (x >= self.upper - 1e-9)
        bounds = np.vstack([np.eye(d)[low], -np.eye(d)[high]])
        forces = np.vstack([*rows, bounds]).T
        if not forces.shape[1]:
            return float(np.abs(slope).max())
        least = np.concatenate([np.full(forces.shape[1] - len(bounds), -np.inf), np.zeros(len(bounds))])
        found = lsq_linear(forces, slope, (least, np.inf), tol=1e-14, max_iter=500)
        return float(np.abs(slope - forces @ found.x).max())

    def _groups(self) -> tuple[np.ndarray, ...]:
        rows, columns = self.flat.group_row_at, self.flat.group_column_at
        return rows[:-1], rows[1:], columns[:-1], columns[1:]


def hostile_clip(mechanism: Mechanism, reachable: Reachable, rounds: int, seed: int) -> Clip:
    """Return a clip of that many rounds: two leaps between reachable poses, targets turned by half a turn, thrown far
    away, or pulled out of reach and back; after each two frames of a reachable pose, the rest pose half of the
    times."""
    rng, rest = np.random.default_rng(seed), reachable.frames(reachable.topology.rest)
    frames: list[tuple[np.ndarray, np.ndarray, bool]] = []

    def any_pose() -> tuple[np.ndarray, np.ndarray]:
        return rest if rng.random() < 0.5 else reachable.frames(reachable.walk(rng))

    def away(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
        way = rng.normal(size=rest[0].shape)
        return way * mechanism.extent * rng.uniform(low, high) / np.linalg.norm(way, axis=1)[:, None], rng.normal(
            size=rest[0].shape
        )

    for k in range(rounds):
        place, turn = any_pose()
        if k % 4 == 0:
            frames += [(*reachable.frames(reachable.walk(rng)), True) for _ in range(2)]
        elif k % 4 == 1:
            axis = np.eye(3)[rng.integers(3)] if rng.random() < 0.5 else rng.normal(size=3)
            frames.append((place, _turned(np.tile(np.pi * axis / np.linalg.norm(axis), (len(turn), 1)), turn), False))
        elif k % 4 == 2:
            way, axis = away(0.5, 2.0)
            frames.append((place + way, _turned(axis, turn), False))
        else:
            way, axis = away(0.3, 1.0)
            frames += [
                (place + s * way, _turned(s * axis, turn), False) for s in np.sin(np.linspace(0.0, np.pi, 12))[1:-1]
            ]
        frames += [(*any_pose(), True)] * 2
    position, quaternion, met = zip(*frames, strict=True)
    return Clip(np.array(position), np.array(quaternion), np.array(met))


def _turned(turn: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Quaternions (t, 4) wxyz turned by rotation vectors (t, 3) in the world."""
    whole = Rotation.from_rotvec(turn) * Rotation.from_quat(quaternion[:, [1, 2, 3, 0]])
    return whole.as_quat()[:, [3, 0, 1, 2]]
