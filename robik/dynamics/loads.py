"""Loads of motors along a motion: torque against what they can, heat, and power from the battery.

A DC motor of stall torque τₛ and free speed ω₀ gives at most τₛ (1 − |ω| / ω₀) in the way in which it turns. For torque
τ at speed ω it takes

    P = τ (ω + ω₀ τ / τₛ) / η

from the battery: what it does, and what its windings turn into heat. What the gear loses is in η, by the current that
the motor takes when it stalls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .drives import Drive
from .inverse import Dynamics


@dataclass(frozen=True, kw_only=True)
class Load:
    """Load of one motor.

    Attributes:
        torque: the largest [N m or N].
        sample: where that is.
        effort: largest at rest [N m or N]; inf where unknown.
        heat: mean square of torque by effort; 1 is a motor that stalls all the time.
        beyond: samples whose torque the motor cannot give at its speed.
    """

    torque: float
    sample: int
    effort: float
    heat: float
    beyond: int

    @property
    def share(self) -> float:
        """Return the largest torque by that at rest; 0 where that is unknown."""
        return self.torque / self.effort if np.isfinite(self.effort) and self.effort > 0 else 0.0


def motor_loads(dynamics: Dynamics, drives: Mapping[str, Drive]) -> dict[str, Load]:
    """Return the loads of a motion by actuator."""
    loads = {}
    for k, name in enumerate(dynamics.actuators):
        torque, drive = dynamics.torque[:, k], drives[name]
        speed = dynamics.velocity[:, k]
        size = np.abs(torque)
        driving = torque * speed > 0
        left = np.where(driving, np.clip(1.0 - np.abs(speed) / drive.speed, 0.0, 1.0), 1.0)
        loads[name] = Load(
            torque=float(size.max(initial=0.0)),
            sample=int(size.argmax()) if len(size) else 0,
            effort=drive.effort,
            heat=float(np.mean((size / drive.effort) ** 2)) if len(size) else 0.0,
            beyond=int((size > drive.effort * left * (1.0 + 1e-9)).sum()) if np.isfinite(drive.effort) else 0,
        )
    return loads


def battery_power(dynamics: Dynamics, drives: Mapping[str, Drive]) -> np.ndarray | None:
    """Return the power (T,) [W] that the motors take from the battery.

    What a braking motor gives back is not counted. Return None where a stall torque or free speed is unknown.
    """
    effort = np.array([drives[name].effort for name in dynamics.actuators])
    free = np.array([drives[name].speed for name in dynamics.actuators])
    if not len(effort) or not (np.isfinite(effort).all() and np.isfinite(free).all()):
        return None
    share = np.array([drives[name].efficiency for name in dynamics.actuators])
    power = dynamics.torque * (dynamics.velocity + free * dynamics.torque / effort) / share
    return np.asarray(np.maximum(power, 0.0).sum(axis=1))
