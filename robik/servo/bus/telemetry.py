"""Reports of servos of any brand: at connecting, while they play, and while they are set up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Found:
    """Report of a servo at connecting.

    Attributes:
        torque: whether it is on.
        position: as read [counts].
        low, high: its own limits for goals [counts]; None where its mode has none.
        is_single_turn: whether its positions are within one turn once torque is on.
        volts, celsius: supply [V] and temperature [°C].
        celsius_limit: at which it turns itself off [°C].
        load_limit: the most that its current or load may show, in its own unit: its own limit, or the chain's below
            that.
        obstacles: why it cannot play as it is, in words.
        zero_settings: by name, what decides where it counts from, which way, and how far.
    """

    torque: bool
    position: int
    low: int | None
    high: int | None
    is_single_turn: bool
    volts: float
    celsius: float
    celsius_limit: float
    load_limit: int
    obstacles: tuple[str, ...] = ()
    zero_settings: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Telemetry:
    """Report of one servo while it plays.

    Attributes:
        torque: whether it is powered.
        is_guarded: whether what was set to guard it is in force: a speed limit of its own, and the watchdog, or where
            the brand has none a mark that a restart takes away.
        is_stopped: whether its watchdog has stopped it.
        errors: hardware error bits, as the brand has them.
        error: the same in words; empty where there is none.
        load: current or load, in its own unit, with sign.
        position: [counts].
        volts, celsius: supply [V] and temperature [°C].
        goal: that it has [counts]; None where that is not asked.
        is_foreign: whether that is a goal which nobody here sent.
    """

    torque: bool
    is_guarded: bool
    is_stopped: bool
    errors: int
    error: str
    load: int
    position: int
    volts: float
    celsius: float
    goal: int | None = None
    is_foreign: bool = False

    @property
    def trouble(self) -> str:
        """Return why nothing may be played on this servo, in words; empty if it may."""
        if self.is_foreign and not self.complaint:
            return f"has a goal of {self.goal} counts that nobody here sent: another program moves it; end that program"
        return self.complaint

    @property
    def complaint(self) -> str:
        """Return why this servo does not do what it is told, in words; empty if it does."""
        if self.errors:
            return f"has a hardware error ({self.error})"
        if not self.torque:
            return "lost its torque, as after a loss of power"
        return "was stopped by its watchdog, since it heard nothing for too long" if self.is_stopped else ""


@dataclass(frozen=True)
class Seen:
    """A servo on a bus that is being set up.

    Attributes:
        id: on the bus.
        model: its name; None where it is not known here.
        number: what it reports as its model.
        firmware: version.
        baud_rate: at which it answers [bit/s]; 0 where a program has its bus.
        motor: that it is, where a program that has its bus says so.
    """

    id: int
    model: str | None
    number: int
    firmware: int
    baud_rate: int
    motor: str = ""

    @property
    def words(self) -> str:
        """Model, and what else it says of itself."""
        what = self.model or f"unknown model {self.number}"
        return f"{what:12}  {self.motor or f'firmware {self.firmware}  {self.baud_rate} baud'}"


@dataclass(frozen=True)
class Change:
    """A setting of a servo that should be another, and why."""

    servo: Seen
    entry: str
    now: int
    wanted: int
    why: str

    def __str__(self) -> str:
        return f"servo {self.servo.id}: {self.entry.replace('_', ' ')} {self.now} → {self.wanted}, {self.why}"
