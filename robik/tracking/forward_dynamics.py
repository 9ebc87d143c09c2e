"""Inverse kinematics by forward dynamics.

Scherzinger, Roennau, Dillmann: Inverse Kinematics with Forward Dynamics Solvers for Sampled Motion Tracking. A virtual
twin, weightless but for its end effectors, is drawn towards the targets by springs and dampers.

    f = K_p e + K_d ė,   ÿ = H⁻¹ Jᵀ f,   y ← y + ½ ÿ Δt²                                (eq. 11, 12 and algorithm 1)

With the mass in the end effector, J H⁻¹ Jᵀ is nearly the identity wherever the robot is: every target draws its frame
straight towards itself, by the same share ½ K_p Δt² / m of the way in each iteration. At a share of 1 it is reached at
once, at 2 it would be unstable.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from ..errors import ClipError
from ..mechanism.model import Mechanism
from ..mechanism.pose import Vector, vector
from ..objectives.registry import ObjectiveTables
from .targets import Targets
from .tracker import Tracker
from .twin_steps import advance
from .virtual_twin import Twin, inertia, load, measure, new_twin


@dataclass(frozen=True, kw_only=True)
class TwinSettings:
    """Parameters of the paper, its values as defaults (V-A to V-C); a ClipError names one that is out of range.

    Attributes:
        iterations: N, of a step.
        interval: Δt of an iteration [s]; the twin's time, which need not be that of the targets.
        position_gain, rotation_gain: K_p, along the world's axes [N/m, N m/rad].
        position_damping, rotation_damping: K_d, likewise [N s/m, N m s/rad]; of the error's change from iteration to
            iteration.
        mass, inertia: of an end effector [kg, kg m²]; a target that weighs w has w times that, and w times the force.
        link_mass, link_inertia: of every other body, so that H is never singular [kg, kg m²].
    """

    iterations: int = 10
    interval: float = 0.1
    position_gain: Vector = (50.0, 50.0, 50.0)
    rotation_gain: Vector = (50.0, 50.0, 50.0)
    position_damping: Vector = (0.0, 0.0, 0.0)
    rotation_damping: Vector = (0.0, 0.0, 0.0)
    mass: float = 1.0
    inertia: float = 1.0
    link_mass: float = 1e-3
    link_inertia: float = 1e-7

    def __post_init__(self) -> None:
        if not (isinstance(self.iterations, int) and self.iterations > 0):
            raise ClipError(f"iterations must be a positive whole number, for example 10, not {self.iterations}")
        for name in ("interval", "mass", "inertia", "link_mass", "link_inertia"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0):
                raise ClipError(f"{name} must be positive, not {value}")
        for name in ("position_gain", "rotation_gain", "position_damping", "rotation_damping"):
            gains = vector(getattr(self, name), name)
            if min(gains) < 0:
                raise ClipError(f"{name} must be zero or more in each direction, not {gains}")
            object.__setattr__(self, name, gains)
        share = 0.5 * self.interval**2 * max(*self.position_gain, *self.rotation_gain) / min(self.mass, self.inertia)
        if share >= 2.0:
            raise ClipError(
                f"these gains go {share:.3g} times the way to a target in an iteration, less than 2 is stable; lower"
                " gain or interval"
            )


class ForwardDynamicsTracker(Tracker):
    """Tracker that follows targets by the forward dynamics of a virtual twin.

    Several targets have a mass each; loops are held by constraint forces; joint limits hold.
    """

    def __init__(self, mechanism: Mechanism, settings: TwinSettings = TwinSettings()):
        self.settings = settings
        self._twin: Twin | None = None
        super().__init__(mechanism)

    def _advance(self, tables: ObjectiveTables, dt: float) -> float:
        settings = self.settings
        return float(
            advance(self.flat, self.now, tables, self._twin_for(tables), settings.iterations, settings.interval)
        )

    def inertia(self, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
        """Return H (d, d) and Jᵀ f (d,) of the equations of motion H ÿ = Jᵀ f (+ constraint forces)."""
        tables = self._aim(targets)
        twin = self._twin_for(tables)
        measure(self.flat, self.now, tables, twin)
        load(self.flat, self.now, tables, twin, 0.0)
        inertia(self.flat, self.now, tables, twin)
        return twin.H.copy(), twin.force.copy()

    def _twin_for(self, tables: ObjectiveTables) -> Twin:
        """Return the twin with an end effector per target."""
        if self._twin is None or len(self._twin.error) != len(tables.frame_pose.body) + 1:
            s = self.settings
            mass = np.array([s.mass, s.inertia, s.link_mass, s.link_inertia])
            gains, damping = (
                np.array([*s.position_gain, *s.rotation_gain]),
                np.array([*s.position_damping, *s.rotation_damping]),
            )
            self._twin = new_twin(self.flat, self.topology.rest, len(tables.frame_pose.body), mass, gains, damping)
        return self._twin
