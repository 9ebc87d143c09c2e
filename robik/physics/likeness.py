"""Likeness of what a robot did to what it should do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from ..mechanism.orientations import rotation
from ..motions import Motion
from .plan import Plan


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """Distances of a motion in physics from the motion that was asked for.

    Attributes:
        base_mean_m, base_max_m: of the base [m].
        base_turn_max_rad: of its orientation [rad].
        feet_mean_m, feet_max_m: of the bodies with soles [m].
        limbs_mean_m, limbs_max_m: of the ends of all limbs, relative to the base's place [m].
        joints_mean_rad: of the turning motors, on average [rad].
    """

    base_mean_m: float
    base_max_m: float
    base_turn_max_rad: float
    feet_mean_m: float
    feet_max_m: float
    limbs_mean_m: float
    limbs_max_m: float
    joints_mean_rad: float

    def as_data(self) -> dict[str, float]:
        """Return plain data."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return it in words."""
        return [
            f"the base is off by {1e3 * self.base_mean_m:.0f} mm on average, {1e3 * self.base_max_m:.0f} mm and "
            f"{np.degrees(self.base_turn_max_rad):.0f}° at most",
            f"feet are off by {1e3 * self.feet_mean_m:.0f} mm on average, {1e3 * self.feet_max_m:.0f} mm at most; "
            f"the limbs' ends, from the base, by {1e3 * self.limbs_mean_m:.0f} and {1e3 * self.limbs_max_m:.0f} mm",
        ]


def likeness_of(plan: Plan, made: Motion, ends: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Likeness:
    """Return how near a motion is to a plan's reference, over its samples.

    `ends` are places that bodies had and should have had, (T, 3) each [m], by body; they begin with the reference.
    """
    count, reference = len(made.times), plan.reference
    assert made.base is not None
    assert reference.base is not None
    moved = made.base.position - reference.base.position[:count]
    turned = (rotation(made.base.quaternion) * rotation(reference.base.quaternion[:count]).inv()).magnitude()
    soles = {plan.mechanism.frame(name).body for name in plan.standing}
    off = {name: had - wanted for name, (had, wanted) in ends.items()}
    feet = _lengths([apart for name, apart in off.items() if name in soles])
    limbs = _lengths([apart - moved for apart in off.values()])
    turns = np.array([unit == "rad" for unit in plan.mechanism.actuator_units])
    joints = np.abs(made.values - reference.values[:count])[:, turns]
    base = np.linalg.norm(moved, axis=1)
    return Likeness(
        base_mean_m=float(base.mean()),
        base_max_m=float(base.max()),
        base_turn_max_rad=float(turned.max()),
        feet_mean_m=float(feet.mean()),
        feet_max_m=float(feet.max()),
        limbs_mean_m=float(limbs.mean()),
        limbs_max_m=float(limbs.max()),
        joints_mean_rad=float(joints.mean()) if joints.size else 0.0,
    )


def _lengths(apart: list[np.ndarray]) -> np.ndarray:
    """Return the lengths of differences (T, 3) each; one zero where there are none."""
    return np.linalg.norm(np.concatenate(apart), axis=1) if apart else np.zeros(1)
