"""A servo brand: what its models are, as far as a chain needs to know, and what its bus carries.

How its servos are spoken to is in the driver of its package: see `driver`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class ServoModel:
    """A servo model.

    Attributes:
        name: as chains name it.
        counts_per_turn: of positions.
        centre: counts in the middle of its single turn.
        farthest: of positions over many turns, either way [counts].
        velocity_unit: of velocities [rad/s].
        factory_velocity: its velocity limit from the factory [rad/s].
        highest_velocity: to which that can be set [rad/s].
        max_speed: of the horn without load [rad/s].
        current_unit: of currents [A]; None where the servo reports a load instead.
        highest_current: that its current can be limited to [A]; None where it reports a load instead.
        is_playable: whether goals can be sent to it; another one is only seen, and its torque can be cut.
    """

    name: str
    counts_per_turn: int
    centre: int
    farthest: int
    velocity_unit: float
    factory_velocity: float
    highest_velocity: float
    max_speed: float
    current_unit: float | None = None
    highest_current: float | None = None
    is_playable: bool = True


@dataclass(frozen=True, kw_only=True)
class Brand:
    """A brand of servos.

    Attributes:
        name: as chains name it, and of its package beside this module.
        models: by name.
        default_model: the name of the one that a servo has if nobody says.
        baud_rates: that its servos know [bit/s].
        streaming_baud: to which servos are brought for playing [bit/s].
        likely_bauds: at which servos are looked for, in this order [bit/s].
        goal_bytes: of a packet with all goals: fixed, and per servo.
        speed_bytes: more per servo where goals carry speeds.
        look_bytes: of a question to one servo, and of its answer, while it plays.
        waking: what a servo takes to answer again after a reboot [s].
        has_watchdog: whether its servos stop by themselves when no packet comes; others go on to their last goal.
        folder: in which a user adds data files of models; None where that is not possible.
        problems: what is wrong with data files there, in words.
    """

    name: str
    models: Mapping[str, ServoModel]
    default_model: str
    baud_rates: tuple[int, ...]
    streaming_baud: int
    likely_bauds: tuple[int, ...]
    goal_bytes: tuple[int, int]
    speed_bytes: int
    look_bytes: int
    waking: float
    has_watchdog: bool = True
    folder: Path | None = None
    problems: tuple[str, ...] = ()

    @property
    def playable(self) -> tuple[str, ...]:
        """Names of the models that goals can be sent to."""
        return tuple(name for name, model in self.models.items() if model.is_playable)
