"""The paper's implicit formulation, for comparison (paper, eq. 2).

Actuator values are the unknowns, and states follow by forward kinematics.

    minimise over p   f_IK(s(p)) + R(s(p))    where s(p) minimises   f_FK(p, s) = ½ |C_FK(p, s)|²

By quasi-Newton steps of p, with the sensitivity of the state by the implicit function theorem:

    ds/dp = −(∂²f_FK/∂s²)⁻¹ ∂²f_FK/∂p∂s

Forward kinematics answers any p, also one that cannot be assembled: then C_FK is not zero at its minimum. So for
targets beyond the workspace this formulation takes the robot apart to meet them, which is why RobIK follows clips by
the other one (`Solver`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import OptimizeResult, minimize

from experiments.oracle.maximal import JointFrames, Rows, motion_derivatives
from experiments.oracle.reference import ReferenceSolver
from experiments.oracle.reference_objective import Objective
from robik.errors import ClipError, MechanismError
from robik.ik.memory import Output, States
from robik.ik.solver import MOST_ITERATIONS, ClipTargets, Solver, Targets
from robik.ik.sqp import CONVERGED, STALLED
from robik.mechanism.model import Mechanism
from robik.mechanism.parts import UNLIMITED
from robik.mechanism.pose import matrix_quaternion
from robik.objectives import objective as asked
from robik.objectives.registry import over_time
from robik.objectives.settings import Settings

LARGEST_MOVE = 0.2  # rad or m of an actuator at once, so that loops stay in their assembly mode
LARGEST_TURN = 0.5  # rad of a body in one step of forward kinematics
MOST_STEPS = 200  # of forward kinematics
SOFT = 1e-10  # of the largest eigenvalue: a direction in which f_FK is flat, as a rod's spin between two balls is
STATIONARY = 1e-7  # of the objective's slope, weights' units per radian or metre


class DrivenRows:
    """C_FK of a robot: what its joints lock, and the values p of those that are driven.

    With their derivatives by s and p.

    Derivatives by the state are along (δ, φ) (6 n,): a body's centre of mass moves by δ, its quaternion by q ∘ (1,
    φ/2), so unit quaternions stay so and only joints come apart.
    """

    def __init__(self, joints: list[JointFrames], driven: list[JointFrames], length: float, bodies: int) -> None:
        passive = [row for joint in joints if joint not in driven for row in joint.rows(length)]
        self.driven, self.length, self.bodies = driven, length, bodies
        self._passive, self._first = passive, len(passive)

    def at(self, p: np.ndarray) -> Rows:
        """Return the rows at values p of the driven joints' motions."""
        table, k = list(self._passive), 0
        for joint in self.driven:
            count = len(joint.joint.motions)
            table += joint.rows(self.length, p[k : k + count])
            k += count
        return Rows(table, self.bodies)

    def slopes(self, p: np.ndarray) -> list[tuple[int, Rows]]:
        """∂C/∂p per entry of p: six rows, and the place of the first of them in `at`.

        They are rows of the same kind.
        """
        slopes, at, k = [], self._first, 0
        for joint in self.driven:
            count = len(joint.joint.motions)
            slopes += [
                (at, Rows(joint.slopes(self.length, *by), self.bodies))
                for by in motion_derivatives(joint.joint, p[k : k + count])
            ]
            at, k = at + 6, k + count
        return slopes


def tangent(state: np.ndarray) -> np.ndarray:
    """(7 n, 6 n): how states (n, 7) move by (δ, φ)."""
    n, (w, x, y, z) = len(state), 0.5 * state[:, 3:].T
    T, b = np.zeros((n, 7, n, 6)), np.arange(n)
    T[b, :3, b, :3] = np.eye(3)
    T[b, 3:, b, 3:] = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]).transpose(2, 0, 1)
    return T.reshape(7 * n, 6 * n)


def moved(state: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return a state (n, 7) moved by (δ, φ) (6 n,)."""
    away = (tangent(state) @ step).reshape(state.shape)
    half = 0.5 * np.linalg.norm(step.reshape(-1, 6)[:, 3:], axis=1)[:, None]
    result = state + away
    result[:, 3:] = np.cos(half) * state[:, 3:] + np.sinc(half / np.pi) * away[:, 3:]
    result[:, 3:] /= np.linalg.norm(result[:, 3:], axis=1)[:, None]
    return result


def closure_model(rows: Rows, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """C_FK, and gradient (6 n,) and exact Hessian (6 n, 6 n) of ½|C_FK|² along (δ, φ)."""
    value, jacobian, T = rows.value(state), rows.jacobian(state), tangent(state)
    slope = jacobian.T @ value
    hessian = T.T @ (jacobian.T @ jacobian + rows.curvature(state, value)) @ T
    bend = -0.25 * (slope.reshape(-1, 7)[:, 3:] * state[:, 3:]).sum(
        1
    )  # a quaternion on its sphere turns away from its tangent
    turns = np.arange(hessian.shape[0]).reshape(-1, 6)[:, 3:]
    hessian[turns, turns] += bend[:, None]
    return value, T.T @ slope, hessian


class ImplicitSolver(Solver):
    """Solver that follows targets by the implicit formulation; interface and arguments as `Solver` has them.

    Actuators keep their limits, and with `enforce_velocity` their speeds; passive joints' limits are not held. A
    floating base counts as driven. `Output.residual` is the largest of C_FK [m]: above zero where the robot has come
    apart. Slow: a comparison, not a tool. Raise MechanismError for couplings, which the paper does not have.
    """

    BY_COORDINATES = False

    def __init__(
        self,
        mechanism: Mechanism,
        names: tuple[str, ...],
        settings: Settings,
        has_com: bool = False,
        objectives: tuple[asked.Objective, ...] = (),
    ):
        if objectives:
            raise ClipError(
                f"the implicit formulation follows frames and the centre of mass alone; leave out {objectives[0].key!r}"
            )
        if mechanism.couplings:
            raise MechanismError(
                f"robot {mechanism.name!r} has the coupling {mechanism.couplings[0].name!r}, which the implicit"
                " formulation cannot hold; follow the clip with `Solver`, which does"
            )
        super().__init__(mechanism, names, settings, has_com)
        self._paper = ReferenceSolver(mechanism, settings)
        joints = self._paper.joints
        driven = [joint for joint in joints if joint.joint.actuated]
        if (base := self.topology.base) is not None:
            ends = len(mechanism.bodies), mechanism.body_index[base.child]
            held = next(
                (joint for joint in joints if joint.joint is base), JointFrames(base, ends, self._paper.origins)
            )
            driven += [held] if held not in driven else []
        self.rows = DrivenRows(joints, driven, self._paper.length, len(mechanism.bodies))
        limits = [pair if settings.joint_limits else UNLIMITED for joint in driven for pair in joint.joint.limits]
        speeds = [joint.joint.velocity_limit for joint in driven for _ in joint.joint.motions]
        self._limits = np.array(limits).reshape(-1, 2)
        self._fastest = np.array(speeds) if settings.enforce_velocity else np.full(len(speeds), np.inf)
        self._values = np.zeros((0, len(mechanism.actuators)))
        self.reset()

    def reset(self) -> None:
        """Put the robot back into its rest pose."""
        self._p = np.array([value for joint in self.rows.driven for value in joint.joint.rest])
        self._state = self._paper.rest_state()

    def room(self, frames: int) -> Output:
        """Return an empty output for so many frames."""
        self._values = np.zeros((frames, len(self.mechanism.actuators)))
        return super().room(frames)

    def actuator_values(self, states: Output | States, last: np.ndarray | None = None) -> np.ndarray:
        """Values (T, actuators) [rad or m]: what was solved for.

        A robot that has come apart has joints that read otherwise.
        """
        return self._values.copy()

    def passive_values(self, states: Output | States, last: Mapping[str, float] | None = None) -> None:
        """Return None: `solve` leaves `output.q` as it is."""

    def solve(self, output: Output, start: int, stop: int, clip_targets: ClipTargets) -> None:
        """Solve frames `start` to `stop` into `output`; `output.q` is left as it is."""
        order, dt = self.topology.order, clip_targets.dt
        frames, mass = self._tables.frame_pose, self._tables.centre_of_mass
        position, rotation, com = (
            over_time(self._tables, clip_targets.targets, own)
            for own in (frames.position, frames.rotation, mass.target)
        )
        for k in range(start, stop):
            targets = {
                name: (
                    position[k, i] if frames.position_weight[i].any() else None,
                    matrix_quaternion(rotation[k, i]) if frames.orientation_weight[i].any() else None,
                )
                for i, name in enumerate(self.names)
            }
            objective = self.objective(targets, com[k] if self.has_com else None, dt[k] if np.isfinite(dt[k]) else None)
            found = self._minimise(objective, dt[k])
            self._p, self._state = found.x, self.state(found.x)
            self._values[k] = self._p[: self._values.shape[1]]
            output.position[k], output.quaternion[k] = self._state[order, :3], self._state[order, 3:]
            output.value[k], output.iterations[k] = found.fun, found.nit
            output.status[k] = CONVERGED if found.stationary else STALLED
            output.residual[k] = np.abs(self.rows.at(self._p).value(self._state)).max(initial=0.0)

    def objective(self, targets: Targets, com: np.ndarray | None, dt: float | None) -> Objective:
        """Return the objective of a frame as a function of the state (paper, eq. 3), from the last state on."""
        return Objective(self._paper, targets, com, self._state, dt, self.settings)

    def state(self, p: np.ndarray) -> np.ndarray:
        """Forward kinematics from the last state on: the state (n, 7) that minimises f_FK at p (paper, eq. 1)."""
        state, parts = self._state, max(1, int(np.ceil(np.abs(p - self._p).max(initial=0.0) / LARGEST_MOVE)))
        for part in np.linspace(0.0, 1.0, parts + 1)[1:]:
            state = forward(self.rows.at(self._p + part * (p - self._p)), state)
        return state

    def value_and_gradient(self, objective: Objective, p: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective at s(p), and its gradient by p through the adjoint of the sensitivity."""
        state = self.state(p)
        rows, T = self.rows.at(p), tangent(state)
        value, _, hessian = closure_model(rows, state)
        adjoint = -T @ _newton(hessian, T.T @ objective.gradient(state))
        jacobian = rows.jacobian(state)
        gradient = np.zeros(len(p))
        for k, (at, slope) in enumerate(self.rows.slopes(p)):
            own = slice(at, at + len(slope))
            gradient[k] = -(slope.value(state) @ jacobian[own] @ adjoint + value[own] @ slope.jacobian(state) @ adjoint)
        return objective.value(state), gradient

    def _minimise(self, objective: Objective, dt: float) -> OptimizeResult:
        reach = self._fastest * dt
        bounds = np.clip(self._p[:, None] + np.stack([-reach, reach], axis=1), self._limits[:, :1], self._limits[:, 1:])
        options = {"maxiter": MOST_ITERATIONS, "maxfun": 4 * MOST_ITERATIONS, "ftol": 0.0, "gtol": 1e-12}
        found = minimize(
            lambda p: self.value_and_gradient(objective, p),
            self._p,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options=options,
        )
        inward = np.clip(found.x - found.jac, bounds[:, 0], bounds[:, 1]) - found.x
        found.stationary = np.abs(inward).max(initial=0.0) < STATIONARY
        return found


def forward(rows: Rows, state: np.ndarray) -> np.ndarray:
    """Return the state (n, 7) near by at which ½|C|² is least.

    By Newton's steps, downhill where the function bends down, with backtracking.
    """
    last = np.inf
    for _ in range(MOST_STEPS):
        value, slope, hessian = closure_model(rows, state)
        step = _newton(hessian, slope)
        largest = np.abs(step).max(initial=0.0)
        turn = float(np.abs(step.reshape(-1, 6)[:, 3:]).max(initial=0.0))
        part, energy, fall = min(1.0, LARGEST_TURN / max(turn, LARGEST_TURN)), 0.5 * value @ value, slope @ step
        while -fall > 1e-10 * energy and part > 1e-9:  # below that the energy is rounded too coarsely to tell
            reached = rows.value(moved(state, part * step))
            if 0.5 * reached @ reached <= energy + 1e-4 * part * fall:
                break
            part /= 2
        state = moved(state, part * step)
        if largest < 1e-14 or (largest < 1e-9 and largest > 0.5 * last):
            break
        last = largest
    return state


def _newton(hessian: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """−H⁻¹ slope, with the absolute eigenvalues where H is not positive definite; 0 along what is flat."""
    try:
        factor = cho_factor(hessian)
        diagonal = np.abs(np.diag(factor[0]))
        if diagonal.min() ** 2 > SOFT * diagonal.max() ** 2:
            return -cho_solve(factor, slope)
    except LinAlgError:
        pass
    bends, modes = np.linalg.eigh(hessian)
    kept = np.abs(bends) > SOFT * np.abs(bends).max(initial=0.0)
    return -(modes[:, kept] @ ((modes[:, kept].T @ slope) / np.abs(bends[kept])))
