"""Differential inverse kinematics: each step is a small quadratic program over the robot's next velocity (Caron).

    minimise over dy   Σ tasks ½ Σ w (J dy - K e)²  +  ½ (λ + Σ μ w (e² + ℓ |e′|)) |dy|²
    subject to         loops stay closed, and every coordinate within what `limits.py` lets it do

The loops are equalities that hold by construction: the program is over the coordinates that lead
(`kinematics/elimination.py`), where redundant rows have fallen out, and after the step the dependent coordinates are
pulled back onto the loops. So nothing drifts. Where no inequality is met, the optimum is one Cholesky factorization
away; else DAQP, an active-set solver, finds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ClipError
from ..extras import extra
from ..jit import by_reference
from ..kinematics.frames import anchor
from ..mechanism.model import Mechanism
from ..mechanism.pose import IDENTITY, Pose
from ..objectives.registry import ObjectiveTables
from .limits import MotionLimits
from .linear_targets import LinearTargets, remember_targets, take_targets
from .targets import WEIGHTS, Targets
from .tracker import Tracker
from .velocity_step import BENT, TIGHT, new_motion, program, take_step

with extra("live"):
    import daqp

MOST_BENDS = 4  # times that a step is planned again with what the loops bent it by
SOFT = 8  # DAQP's mark of a row that gives way where the rows contradict each other


@dataclass(frozen=True)
class RelativeTarget:
    """Target of a frame as seen from another frame of the robot: two hands that hold one box.

    Attributes:
        frame, other: names of frames or bodies.
        pose: of `frame` in `other`'s coordinates.
        weights: as a target's, position along `other`'s axes.
    """

    frame: str
    other: str
    pose: Pose = IDENTITY
    weights: Any = WEIGHTS


@dataclass(frozen=True, kw_only=True)
class DifferentialSettings:
    """Settings of the differential tracker; a ClipError names the setting that is out of range.

    Attributes:
        gain: share K of a target's error that a step should take away, in (0, 1].
        gains: by frame, where it is another; "com" names the centre of mass.
        damping: Levenberg-Marquardt damping μ by task error.
        least_damping: λ, of a robot without error; keeps every program strictly convex.
        posture: (A,) actuator values that the robot prefers; those of the rest pose if left out.
        posture_weight: by how much it prefers them; small, so that it only decides what the targets leave open.
        relative: targets between the robot's own frames.
        limits: of the actuators; the robot's own if left out.
        limit_gain: share of the way to a joint's bound that one step may take, in (0, 1].
    """

    gain: float = 1.0
    gains: Mapping[str, float] = field(default_factory=dict)
    damping: float = 0.1
    least_damping: float = 1e-6
    posture: np.ndarray | None = None
    posture_weight: float = 1e-5
    relative: tuple[RelativeTarget, ...] = ()
    limits: MotionLimits | None = None
    limit_gain: float = 0.5

    def __post_init__(self) -> None:
        for name, value in (("gain", self.gain), ("limit_gain", self.limit_gain), *self.gains.items()):
            if not 0 < value <= 1:
                raise ClipError(f"the gain {name!r} must be above 0 and at most 1, not {value}")
        for name in ("damping", "posture_weight"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ClipError(f"{name} must be zero or more, not {getattr(self, name)}")
        if not 0 < self.least_damping < np.inf:
            raise ClipError(f"least_damping must be positive, for example 1e-6, not {self.least_damping}")
        if self.posture is not None and not np.isfinite(self.posture).all():
            raise ClipError(
                f"posture must be finite actuator values [rad or m], not {np.asarray(self.posture).tolist()}"
            )


class DifferentialTracker(Tracker):
    """Tracker that follows targets by velocities; weights come with the targets.

    Raise MechanismError for a relative target between unknown frames, or a gain of one; ClipError for limits or a
    posture for another number of actuators.
    """

    def __init__(self, mechanism: Mechanism, settings: DifferentialSettings = DifferentialSettings()):
        self.settings = settings
        self.limits = settings.limits or MotionLimits.of(mechanism)
        actuators = len(mechanism.actuators)
        for what, values in (("limits", self.limits.velocity), ("posture", settings.posture)):
            if values is not None and np.shape(values) != (actuators,):
                raise ClipError(f"robot {mechanism.name!r} has {actuators} actuators; the {what} are for {len(values)}")
        self._preferred = settings.posture
        super().__init__(mechanism)
        for name in settings.gains:
            if name != "com":
                anchor(self.topology, name)

    def prefer(self, posture: np.ndarray) -> None:
        """Prefer another posture (A,) [rad or m] from the next step on.

        Its change is followed as a target's own motion is.
        """
        self._preferred = posture
        if self._linear is not None:
            self._linear.posture[:], _ = self._posture()

    def _forget(self) -> None:
        self._motion = self._new_motion()
        self._laid_out: Any = None
        self._linear: Any = None
        self._layout = ()

    def _weigh(self, tables: ObjectiveTables, targets: Targets) -> None:
        super()._weigh(tables, targets)
        self._laid_out = None  # its rows have copies of the weights

    def _advance(self, tables: ObjectiveTables, dt: float) -> float:
        if tables is not self._laid_out:
            self._linear, self._laid_out = self._new_linear(tables), tables
        flat, motion = self.flat, self._motion
        n, rows, inside = program(
            flat, self.now, tables, self._linear, motion, self.settings.least_damping, self.settings.limit_gain, dt
        )
        if not inside:
            self._solve(n, rows)
        residual = take_step(flat, self.now, motion, n, rows, dt, True)
        for bends in range(MOST_BENDS):
            if residual != BENT:
                break
            self._solve(n, rows)
            residual = take_step(flat, self.now, motion, n, rows, dt, bends < MOST_BENDS - 1)
        return residual

    def _solve(self, n: int, rows: int) -> None:
        """Into `z`: the program's optimum between its bounds."""
        motion, total = self._motion, n + rows
        program = (
            motion.P[:n, :n].copy(),
            motion.g[:n],
            motion.rows[:rows, :n].copy(),
            motion.most[:total],
            motion.least[:total],
        )
        sense = np.zeros(total, np.int32)
        z, _, status, _ = daqp.solve(*program, sense, primal_tol=TIGHT)
        if status != 1 and rows:
            sense[n:] = SOFT
            z, _, status, _ = daqp.solve(*program, sense, primal_tol=TIGHT)
        motion.z[:n] = (
            z if status > 0 else 0.0
        )  # without an answer the robot brakes: nothing, brought between the bounds
        np.clip(motion.z[:n], motion.least[:n], motion.most[:n], out=motion.z[:n])

    def _new_motion(self) -> Any:
        flat, d = self.flat, len(self.flat.before)
        low, high = flat.lower.copy(), flat.upper.copy()
        speed, acceleration = np.full(d, np.inf), np.full(d, np.inf)
        for i, name in enumerate(self.mechanism.actuators):
            if name in self.topology.dofs:
                dof, sign = self.topology.dofs[name]
                speed[dof], acceleration[dof] = self.limits.velocity[i], self.limits.acceleration[i]
                ends = sorted((sign * self.limits.lower[i], sign * self.limits.upper[i]))
                low[dof], high[dof] = max(low[dof], ends[0]), min(high[dof], ends[1])
        return new_motion(flat, self.now.q, (low, high, speed, acceleration))

    def _new_linear(self, tables: ObjectiveTables) -> Any:
        """Return room for the rows of targets, and after them those of the settings."""
        s, d = self.settings, len(self.flat.before)
        own, seen = (
            [anchor(self.topology, r.frame) for r in s.relative],
            [anchor(self.topology, r.other) for r in s.relative],
        )
        frames = tables.frame_pose
        goal_frames, t = len(frames.body), len(frames.body) + len(own)
        names = [*(name for name, *_ in self._layout[:-1]), *(r.frame for r in s.relative), "com"]
        world = np.tile(np.eye(3), (goal_frames, 1, 1))

        def joined(first: np.ndarray, then: list, *shape: int) -> np.ndarray:
            return np.concatenate([first, np.array(then, dtype=first.dtype).reshape(-1, *shape)])

        posture, pull = self._posture()
        linear = by_reference(LinearTargets(
            body=joined(frames.body, [a[0] for a in own]),
            other=joined(np.zeros_like(frames.body), [a[0] for a in seen]),
            point=joined(frames.point, [a[1] for a in own], 3), axes=joined(frames.axes, [a[2] for a in own], 3, 3),
            other_point=joined(np.zeros((goal_frames, 3)), [a[1] for a in seen], 3),
            other_axes=joined(world, [a[2] for a in seen], 3, 3),
            position=joined(frames.position, [r.pose.position for r in s.relative], 3),
            rotation=joined(frames.rotation, [r.pose.matrix for r in s.relative], 3, 3),
            place_weight=joined(frames.position_weight, [r.weights.position for r in s.relative], 3),
            turn_weight=joined(frames.orientation_weight, [r.weights.orientation for r in s.relative], 3),
            gain=np.array([s.gains.get(name, s.gain) for name in names]), damping=np.full(t + 1, s.damping),
            com=np.zeros(3), com_weight=tables.centre_of_mass.weight.copy(),
            posture=posture, posture_pull=pull, posture_gain=np.array([s.gain]),
            last_position=np.zeros((t, 3)), last_rotation=np.zeros((t, 3, 3)), last_com=np.zeros(3),
            last_posture=np.zeros(d),
            rows=np.zeros((6 * t + 3, d)), error=np.zeros(6 * t + 3), moved=np.zeros(6 * t + 3),
            weight=np.zeros(6 * t + 3),
            pulls=np.zeros((3, d)), turns=np.zeros((5, 3, 3)),
        ))  # fmt: skip
        take_targets(tables, linear)
        remember_targets(linear)
        return linear

    def _posture(self) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates (d,) that the actuators prefer, and their weights."""
        d = len(self.flat.before)
        values = self._rest_values if self._preferred is None else self._preferred
        posture, pull = np.zeros(d), np.zeros(d)
        for name, value in zip(self.mechanism.actuators, values, strict=True):
            if name in self.topology.dofs:
                dof, sign = self.topology.dofs[name]
                posture[dof], pull[dof] = sign * value, self.settings.posture_weight
        return posture, pull
