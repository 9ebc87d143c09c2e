"""The paper's formulation exactly as written, as the reference for faster ones.

Slow, dense, and independent of their code.

State s: per body its centre of mass c and a quaternion q that is the identity in the rest pose, 7 n numbers in all.

    minimise  f_IK(s) + w_state R_state(s) + w_vel R_vel(s)   subject to   C_IK(s) = 0            (paper, eq. 3 to 5)

C_IK holds the rows of every joint, active ones made passive, and n rows q·q − 1. It is solved by sequential quadratic
programming with the exact Hessian of the Lagrangian on the null space of the constraints; each step is pulled back onto
them, so every iterate is assembled and the objective itself is the merit function.

Couplings and joint limits are not in the paper and not in here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from experiments.oracle.maximal import AXES, JointFrames, Rows
from experiments.oracle.reference_asked import Term, terms
from experiments.oracle.reference_objective import Objective, Targets
from experiments.oracle.reference_result import Model, ReferenceResult
from robik.errors import MechanismError
from robik.mechanism.model import Mechanism
from robik.mechanism.parts import WORLD, Joint
from robik.mechanism.pose import Pose, matrix_quaternion, quaternion_matrix
from robik.objectives.settings import Settings

if TYPE_CHECKING:
    from robik.clips.clip import TargetClip

RANK_TOLERANCE = 1e-8  # singular values below this part of the largest belong to redundant rows
MOST_ITERATIONS = 300
LARGEST_TURN = 0.25  # of a quaternion in one step: half a radian


class ReferenceSolver:
    """The paper's inverse and forward kinematics of one robot, without couplings: for them raise MechanismError."""

    def __init__(self, mechanism: Mechanism, settings: Settings) -> None:
        if mechanism.couplings:
            raise MechanismError(
                f"robot {mechanism.name!r}: the reference has no couplings; leave out {mechanism.couplings[0].name!r}"
            )
        self.mechanism, self.settings = mechanism, settings
        n = len(mechanism.bodies)
        self.origins = np.array([*(body.rest_com for body in mechanism.bodies), np.zeros(3)])
        index = {**mechanism.body_index, WORLD: n}
        self.joints = [
            JointFrames(joint, (index[joint.parent], index[joint.child]), self.origins) for joint in mechanism.joints
        ]
        anchors = np.array([joint.position for joint in mechanism.joints]).reshape(-1, 3)
        distances = [float(np.linalg.norm(a - b)) for a, b in combinations(anchors, 2)]
        mean = float(np.mean(distances)) if distances else 0.0
        self.length = (
            mean if mean > 1e-9 else 1.0
        )  # what makes rows of rotations comparable to rows of translations [m]
        self.constraints = Rows([row for joint in self.joints for row in joint.rows(self.length)], n)
        self._facing = Rows([row for joint in self.joints for row in joint.facing()], n)

    def hold(self, held: Mapping[str, tuple[np.ndarray, np.ndarray | None]]) -> None:
        """Tie frames to the world from now on, and no others.

        `held` gives, by the name of a frame, position (3,) [m] and unit quaternion (4,), or None where it may turn.
        """
        n, joints = len(self.mechanism.bodies), list(self.joints)
        for name, (position, quaternion) in held.items():
            frame, rest = self.mechanism.frame(name), self.mechanism.rest_pose(name)
            kind = "spherical" if quaternion is None else "fixed"
            tie = Joint(f"{name} held", kind, WORLD, frame.body, position=rest.position)
            frames = JointFrames(tie, (n, self.mechanism.body_index[frame.body]), self.origins)
            frames.parent_origin = np.array(position)
            if quaternion is not None:
                turn = Pose(quaternion=tuple(quaternion)).matrix @ rest.matrix.T
                frames.parent_axes = turn @ frames.parent_axes
            joints.append(frames)
        self.constraints = Rows([row for joint in joints for row in joint.rows(self.length)], n)
        self._facing = Rows([row for joint in joints for row in joint.facing()], n)

    def assembled(self, state: np.ndarray) -> np.ndarray:
        """Return an assembled state (n, 7) near one that is not: Newton steps of least norm."""
        for _ in range(MOST_ITERATIONS):
            residual = self.residual(state)
            if np.abs(residual).max() < 1e-13:
                break
            inverse = np.linalg.pinv(self._jacobian(self.constraints, state), RANK_TOLERANCE)
            state = state - (inverse @ residual).reshape(state.shape)
        return state

    def rest_state(self) -> np.ndarray:
        """(n, 7)."""
        n = len(self.mechanism.bodies)
        return np.hstack([self.origins[:n], np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))])

    def residual(self, state: np.ndarray) -> np.ndarray:
        """C_IK (rows + n,): the joints' rows [m], then q·q − 1."""
        return self._residual(self.constraints, state)

    def solve(
        self,
        targets: Targets,
        com: np.ndarray | None,
        previous: np.ndarray,
        dt: float | None,
        start: np.ndarray | None = None,
        asked: Sequence[Term] = (),
    ) -> ReferenceResult:
        """Solve one frame.

        Targets are, by the name of a frame, position (3,) [m] and unit quaternion (4,), each or None; `com` (3,) [m] or
        None. Regularizers refer to the state `previous` (n, 7), `dt` [s] ago; None leaves the velocity term out. The
        solver starts at an assembled state `start`, by default the previous one. `asked` are other terms.
        """
        objective = Objective(self, targets, com, previous, dt, self.settings, asked)
        state = self._nearest_signs((previous if start is None else start).copy(), previous)
        last, converged = np.inf, False
        for iteration in range(MOST_ITERATIONS + 1):
            model = self._model(objective, state)
            stationarity = float(np.abs(model.slope).max(initial=0.0))
            curvature = float(model.bends.min(initial=np.inf))
            step = model.newton(model.slope)
            size = float(np.abs(step).max(initial=0.0))
            saddle = curvature < -1e-9 and size < 1e-7  # no minimum: leave it along the mode that bends down
            converged = not saddle and (size <= 1e-10 or (size <= 1e-7 and stationarity > 0.5 * last))
            if converged or iteration == MOST_ITERATIONS:
                break
            last = stationarity
            if saddle:
                step = model.modes[:, 0] * (0.1 if model.modes[:, 0] @ model.slope <= 0 else -0.1)
            reached = self._line_search(objective, model, state, step)
            if reached is None:  # nothing lower: rounding is all that is left of a small step
                converged = not saddle and size <= 1e-7
                break
            state = self._nearest_signs(reached, previous)
        return ReferenceResult(
            state=state,
            objective=objective.value(state),
            constraint_residual=float(np.abs(self.residual(state)).max()),
            iterations=iteration,
            converged=converged,
            stationarity=stationarity,
            curvature=curvature,
            flexibility=model.flexibility,
        )

    def actuator_values(self, state: np.ndarray, previous: np.ndarray) -> np.ndarray:
        """Return the values (A,) in the order of `Mechanism.actuators` [rad or m].

        Angles as near as multiples of 2π allow to previous ones (A,).
        """
        values, at = [], 0
        for joint in self.joints:
            if joint.joint.actuated:
                count = len(joint.joint.motions)
                values.append(joint.coordinates(state, previous[at : at + count]))
                at += count
        return np.concatenate(values) if values else np.zeros(0)

    def own_frames(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position (n, 3) [m] and unit quaternion (n, 4) of each body's own frame in the world."""
        poses = [self.frame_pose(state, body.name) for body in self.mechanism.bodies]
        return np.array([pose.position for pose in poses]), np.array([pose.quaternion for pose in poses])

    def frame_pose(self, state: np.ndarray, name: str) -> Pose:
        """Of a frame or a body's own frame, in the world."""
        frame = self.mechanism.frame(name)
        body = self.mechanism.body_index[frame.body]
        rest = self.mechanism.bodies[body].pose @ frame.pose
        turn = quaternion_matrix(state[body, 3:])
        return Pose.of(turn @ rest.matrix, state[body, :3] + turn @ (np.array(rest.position) - self.origins[body]))

    def state_of(self, position: np.ndarray, quaternion: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Return the state (n, 7) of bodies whose own frames are known, (n, 3) and (n, 4).

        Of q and −q the one nearer to a state's.
        """
        state = np.empty((len(position), 7))
        for k, body in enumerate(self.mechanism.bodies):
            now = Pose(tuple(position[k]), tuple(quaternion[k]))
            state[k] = *now.point(body.com), *matrix_quaternion(now.matrix @ body.pose.matrix.T)
        return self._nearest_signs(state, near)

    def fk(
        self, values: np.ndarray, start: np.ndarray, held: tuple[str, Pose] | None = None
    ) -> tuple[np.ndarray, float]:
        """Solve forward kinematics by Gauss-Newton steps with backtracking on ½|C_FK|² (paper, eq. 1).

        The actuators' values (A,) go from those of the assembled state `start` (n, 7) to the wanted ones in small
        steps, so that the robot stays in the start's branch. Return the state (n, 7) and the largest of C_FK [m], not
        near zero where the values cannot be assembled. `held` is a floating robot's body with the pose of its own
        frame; the first body where it starts if None.
        """
        state, fixed = start.copy(), []
        if not self.mechanism.is_grounded:
            name, pose = held or (self.mechanism.bodies[0].name, self.frame_pose(start, self.mechanism.bodies[0].name))
            state = self._moved(start, name, pose)
            fixed = self._held(state, self.mechanism.body_index[name])
        first = self.actuator_values(start, values)
        steps = max(1, int(np.ceil(np.abs(values - first).max(initial=0.0) / 0.2)))
        for part in np.linspace(0.0, 1.0, steps + 1)[1:]:
            rows, at = list(fixed), first + part * (values - first)
            for joint in self.joints:
                own, at = (
                    (at[: len(joint.joint.motions)], at[len(joint.joint.motions) :])
                    if joint.joint.actuated
                    else (None, at)
                )
                rows += joint.rows(self.length, own)
            state, residual = self._gauss_newton(Rows(rows, len(state)), state)
        return state, residual

    def _gauss_newton(self, rows: Rows, state: np.ndarray) -> tuple[np.ndarray, float]:
        residual = self._residual(rows, state)
        for _ in range(100):
            step = -np.linalg.lstsq(self._jacobian(rows, state), residual, rcond=RANK_TOLERANCE)[0].reshape(state.shape)
            part = min(1.0, LARGEST_TURN / max(np.abs(step[:, 3:]).max(), 1e-300))
            while (
                part > 1e-6 and not (trial := self._residual(rows, state + part * step)) @ trial < residual @ residual
            ):
                part /= 2
            if part <= 1e-6 or np.abs(step).max() < 1e-14:
                break
            state, residual = state + part * step, trial
        return state, float(np.abs(residual).max(initial=0.0))

    def _held(self, state: np.ndarray, body: int) -> list[tuple]:
        """Rows that keep a body where it is."""
        world, axes = len(state), quaternion_matrix(state[body, 3:])
        place = [(world, AXES[k], body, np.zeros(3), world, state[body, :3], 1, 1) for k in range(3)]
        return place + [
            (world, axes[:, a], body, AXES[b], world, np.zeros(3), 0, self.length) for a, b in combinations(range(3), 2)
        ]

    def _moved(self, state: np.ndarray, name: str, pose: Pose) -> np.ndarray:
        """Return the robot moved as one piece so that a body's own frame gets a pose."""
        now = self.frame_pose(state, name)
        turn = pose.matrix @ now.matrix.T
        moved = state.copy()
        for k in range(len(state)):
            moved[k, :3] = np.array(pose.position) + turn @ (state[k, :3] - np.array(now.position))
            moved[k, 3:] = matrix_quaternion(turn @ quaternion_matrix(state[k, 3:]))
        return self._nearest_signs(moved, state)

    @staticmethod
    def _residual(rows: Rows, state: np.ndarray) -> np.ndarray:
        return np.concatenate([rows.value(state), (state[:, 3:] ** 2).sum(1) - 1])

    @staticmethod
    def _jacobian(rows: Rows, state: np.ndarray) -> np.ndarray:
        lengths = np.zeros((len(state), len(state), 7))
        lengths[range(len(state)), range(len(state)), 3:] = 2 * state[:, 3:]
        return np.vstack([rows.jacobian(state), lengths.reshape(len(state), -1)])

    @staticmethod
    def _nearest_signs(state: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Take of q and −q, in place, the one nearer to a state's.

        They are one orientation.
        """
        state[(state[:, 3:] * near[:, 3:]).sum(1) < 0, 3:] *= -1
        return state

    def _model(self, objective: Objective, state: np.ndarray) -> Model:
        jacobian, gradient = self._jacobian(self.constraints, state), objective.gradient(state)
        left, sizes, right = np.linalg.svd(jacobian)
        rank = int(np.sum(sizes > RANK_TOLERANCE * sizes[0]))
        null, inverse = right[rank:].T, (right[:rank].T / sizes[:rank]) @ left[:, :rank].T
        multipliers = -inverse.T @ gradient
        hessian = objective.hessian(state) + self.constraints.curvature(state, multipliers[: len(self.constraints)])
        lengths = np.zeros(state.shape)
        lengths[:, 3:] = 2 * multipliers[len(self.constraints) :, None]
        bends, modes = np.linalg.eigh(null.T @ (hessian + np.diag(lengths.ravel())) @ null)
        return Model(null, inverse, float(sizes[rank - 1] / sizes[0]), multipliers, null.T @ gradient, bends, modes)

    def _line_search(
        self, objective: Objective, model: Model, state: np.ndarray, step: np.ndarray
    ) -> np.ndarray | None:
        """Return the state after the longest part of a step that lowers the objective enough.

        Each is projected onto the constraints.

        A long step in a narrow valley climbs its wall; up to three more steps with the same Hessian lead down again.
        Where rounding hides the decrease, the slope along the step decides.
        """
        before, slope, move = (
            objective.value(state),
            float(model.slope @ step),
            (model.null @ step).reshape(state.shape),
        )
        part = min(1.0, LARGEST_TURN / max(np.abs(move[:, 3:]).max(), 1e-300))
        while part > 1e-12:
            reached = self._pull_back(model, state + part * move)
            for _ in range(4):
                if reached is None:
                    break
                change = objective.value(reached) - before
                if change <= 1e-4 * part * slope < -1e-14 * before:
                    return reached
                lagrangian = (
                    objective.gradient(reached) + self._jacobian(self.constraints, reached).T @ model.multipliers
                )
                there = model.null.T @ lagrangian
                if change <= 1e-14 * before and abs(there @ step) <= 0.9 * abs(slope):
                    return reached
                reached = self._pull_back(model, reached + (model.null @ model.newton(there)).reshape(state.shape))
            part /= 2
        return None

    def _pull_back(self, model: Model, state: np.ndarray) -> np.ndarray | None:
        """Return the nearby state on the constraints, or None where there is none or an axis points backwards."""
        inverse, size = model.inverse, np.inf
        for attempt in range(30):
            residual = self.residual(state)
            last, size = size, float(np.abs(residual).max())
            if size <= 1e-16 or (size <= 1e-11 and size > 0.5 * last):
                return state if (self._facing.value(state) > 0).all() else None
            if size > 1e6 or (attempt > 12 and size > 0.5 * last):
                return None
            if attempt > 3 and size > 0.1 * last:  # the factorization at hand no longer fits
                inverse = np.linalg.pinv(self._jacobian(self.constraints, state), RANK_TOLERANCE)
            state = state - (inverse @ residual).reshape(state.shape)
        return None


def _place(target: tuple[np.ndarray | None, np.ndarray | None]) -> tuple[np.ndarray, np.ndarray | None]:
    """Return a target that has a position."""
    position, quaternion = target
    assert position is not None  # nothing is held without one
    return position, quaternion


def follow(mechanism: Mechanism, clip: TargetClip, settings: Settings) -> list[ReferenceResult]:
    """Return a clip's results, each frame from the one before.

    The first one starts from the rest pose and has no velocity term.

    Frames in contact are held where their targets are when it begins; the ground stands still.
    """
    solver, results = ReferenceSolver(mechanism, settings), []
    previous, dt = solver.rest_state(), None
    held: dict[str, tuple[np.ndarray, np.ndarray | None]] = {}
    for k, time in enumerate(clip.times):
        targets = {
            name: (
                None if track.position is None else track.position[k],
                None if track.quaternion is None else track.quaternion[k],
            )
            for name, track in clip.tracks.items()
        }
        dt, start = float(time - clip.times[k - 1]) if k else None, None
        contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None}
        if contacts and settings.contacts == "hold":
            stands = [name for name, contact in contacts.items() if contact[k]]
            held = {name: held.get(name) or _place(targets[name]) for name in stands}
            solver.hold(held)
            start = solver.assembled(previous)
        asked = terms(solver, clip.objectives, k)
        results.append(solver.solve(targets, None if clip.com is None else clip.com[k], previous, dt, start, asked))
        previous = results[-1].state
    return results
