"""Trials: what may be different on the day."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

DRAWS, SEED = 20, 1
SETTLE = 0.5  # [s] before the motion begins, in which the first goal is held unless the job has goals for it


@dataclass(frozen=True)
class Trial:
    """One simulation's differences from the plan.

    Attributes:
        mass: factor of all masses and inertias.
        stiffness: factor of all motors' stiffness and damping.
        torque: factor of what all motors can give.
        delay: of goals on their way to the motors [s].
        friction: between soles and floor; None for the plan's.
        slope: of the floor [deg].
        heading: the way in which it falls off, from x [deg].
        name: of a single disturbance, in words; empty for a draw of all at once.
    """

    mass: float = 1.0
    stiffness: float = 1.0
    torque: float = 1.0
    delay: float = 0.0
    friction: float | None = None
    slope: float = 0.0
    heading: float = 0.0
    name: str = ""

    def as_data(self) -> dict:
        """Return plain data."""
        return asdict(self)


NOMINAL = Trial()
STRONG = Trial(torque=10.0)  # as if motors had whatever torque it takes
SINGLE = (
    Trial(name="10 % more mass", mass=1.1),
    Trial(name="10 % less mass", mass=0.9),
    Trial(name="half the stiffness", stiffness=0.5),
    Trial(name="1.5 times the stiffness", stiffness=1.5),
    Trial(name="5 ms of delay", delay=0.005),
    Trial(name="friction 0.4", friction=0.4),
    *(Trial(name=f"1° down to {way}", slope=1.0, heading=90.0 * k) for k, way in enumerate(("+X", "+Y", "-X", "-Y"))),
)  # disturbances one by one


def draws(count: int = DRAWS, seed: int = SEED) -> tuple[Trial, ...]:
    """Return random trials with everything different at once.

    Mass ±10 %, stiffness ±50 %, up to 5 ms of delay, friction from 0.4 to 0.8, and a slope of up to 1° any way.
    """
    rng = np.random.default_rng(seed)
    return tuple(
        Trial(
            mass=float(rng.uniform(0.9, 1.1)),
            stiffness=float(rng.uniform(0.5, 1.5)),
            delay=float(rng.uniform(0.0, 0.005)),
            friction=float(rng.uniform(0.4, 0.8)),
            slope=float(rng.uniform(0.0, 1.0)),
            heading=float(rng.uniform(0.0, 360.0)),
        )
        for _ in range(count)
    )
