"""A servo brand: what its models are, as far as a chain needs to know, and what its bus carries.

How its servos are spoken to is in the driver of its package: see `driver`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import tau
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True, kw_only=True)
class Motor:
    """Motor of a servo model, with its gear, as the vendor gives it.

    Attributes:
        stall_torque: of the horn at rest [N m].
        voltage: at which that is [V].
        stall_current: at rest [A]; None where it is not known.
        p_gain: the position P gain from the factory.
        highest_gain: to which that can be set.
        drive: share of all that the motor has, by radian of error and unit of the P gain.
        is_checked: whether the vendor's own page or sheet says so.
    """

    stall_torque: float
    voltage: float
    stall_current: float | None
    p_gain: int
    highest_gain: int
    drive: float
    is_checked: bool


def motor_of(data: Mapping[str, Any], p_gain: Mapping[str, Any], drive: float) -> Motor | None:
    """Return the motor that a data file describes; None where it describes none.

    Args:
        data: What the file says of it.
        p_gain: The entry of the position P gain.
        drive: Share of all that the motor has, by radian of error and unit of the P gain.

    Returns:
        The motor, or None.
    """
    if not data:
        return None
    current = data.get("stall_current")
    return Motor(
        stall_torque=float(data["stall_torque"]),
        voltage=float(data["voltage"]),
        stall_current=None if current is None else float(current),
        p_gain=int(p_gain.get("initial", 0)),
        highest_gain=int(p_gain.get("high", 0)),
        drive=drive,
        is_checked=bool(data.get("checked", True)),
    )


class GainRange(NamedTuple):
    """Values of a gain of a servo model, in its own unit."""

    factory: int  # as the servo comes
    highest: int  # that can be set


class Gains(NamedTuple):
    """Gains of the position control of a servo model."""

    p: GainRange  # proportional
    i: GainRange  # integral
    d: GainRange  # derivative


@dataclass(frozen=True, kw_only=True)
class ServoModel:
    """A servo model.

    Attributes:
        name: as chains name it.
        counts_per_turn: of positions; with a fraction where its turn is less than a whole one.
        centre: counts in the middle of its single turn.
        farthest: of positions over many turns, either way [counts]; less than a turn where it turns only once.
        velocity_unit: of velocities [rad/s].
        factory_velocity: its velocity limit from the factory [rad/s].
        highest_velocity: to which that can be set [rad/s].
        max_speed: of the horn without load [rad/s].
        current_unit: of currents [A]; None where the servo reports a load instead.
        highest_current: that its current can be limited to [A]; None where it reports a load instead.
        is_playable: whether goals can be sent to it; another one is only seen, and its torque can be cut.
        motor: what its motor can; None where that is not known.
        gains: of its position control; None where they cannot be set.
        acceleration_unit: of its profile's acceleration [rad/s²]; 0 where that cannot be set.
        highest_acceleration: to which that can be set [rad/s²].
    """

    name: str
    counts_per_turn: float
    centre: int
    farthest: int
    velocity_unit: float
    factory_velocity: float
    highest_velocity: float
    max_speed: float
    current_unit: float | None = None
    highest_current: float | None = None
    is_playable: bool = True
    motor: Motor | None = None
    gains: Gains | None = None
    acceleration_unit: float = 0.0
    highest_acceleration: float = 0.0

    @property
    def lowest(self) -> int:
        """Its least position [counts]."""
        return -self.farthest if self.farthest >= self.counts_per_turn else 0

    @property
    def turn(self) -> tuple[float, float]:
        """Lowest and highest angle from its centre in its single turn [rad]."""
        last = min(self.counts_per_turn - 1, self.farthest)
        return -tau * self.centre / self.counts_per_turn, tau * (last - self.centre) / self.counts_per_turn


@dataclass(frozen=True, kw_only=True)
class Brand:
    """A brand of servos.

    Attributes:
        name: as chains name it, and of its package beside this module.
        title: as users read it.
        models: by name.
        default_model: the name of the one that a servo has if nobody says.
        baud_rates: that its servos know [bit/s]; none where a program has their bus.
        baud_codes: of these rates in the servos' tables; empty where they are counted from 0.
        streaming_baud: to which servos are brought for playing [bit/s].
        likely_bauds: at which servos are looked for, in this order [bit/s].
        goal_bytes: of a packet with all goals: fixed, and per servo.
        speed_bytes: more per servo where goals carry speeds.
        look_bytes: of a question to one servo, and of its answer, while it plays.
        waking: what a servo takes to answer again after a reboot [s].
        unguarded: what befell a servo that is not guarded any more, in words.
        scheme: how ports begin through which servos of other brands are spoken to as of this one: the names of programs
            that have their bus. Empty where there are none.
        usual_port: name of the port of such a program if nobody says another; empty where there is none.
        has_watchdog: whether its servos stop by themselves when no packet comes; others go on to their last goal.
        folder: in which a user adds data files of models; None where that is not possible.
        problems: what is wrong with data files there, in words.
    """

    name: str
    title: str
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
    baud_codes: tuple[int, ...] = ()
    unguarded: str = "lost its watchdog or its speed limit: it restarted, or another program changed it"
    scheme: str = ""
    usual_port: str = ""
    folder: Path | None = None
    problems: tuple[str, ...] = ()

    @property
    def playable(self) -> tuple[str, ...]:
        """Names of the models that goals can be sent to."""
        return tuple(name for name, model in self.models.items() if model.is_playable)

    def baud_code(self, baud_rate: int) -> int:
        """Return the code of a baud rate in the servos' tables.

        Args:
            baud_rate: One that they know [bit/s].

        Returns:
            The code.
        """
        place = self.baud_rates.index(baud_rate)
        return self.baud_codes[place] if self.baud_codes else place

    def baud_rate(self, code: int) -> int:
        """Return the baud rate that a code in the servos' tables means.

        Args:
            code: One that they know.

        Returns:
            Rate [bit/s].
        """
        return self.baud_rates[self.baud_codes.index(code) if self.baud_codes else code]
