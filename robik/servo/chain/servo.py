"""A servo and how it moves its actuator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, tau
from typing import Any

import numpy as np

from ...errors import ServoError
from ..brands.brand import Brand, ServoModel
from ..brands.registry import DEFAULT, brand_of, model_of
from .checks import entries, positive, span
from .tuning import Tuning

FULL_TURN = tau * (1 + 1e-6)  # [rad] between the limits of a servo that is not to turn more than once
FASTER = 1.5  # times a model's speed without load: one at a higher voltage turns faster than its data sheet says
HIGH = 4.0  # times the factory's P gain, from which a servo is likely to shake
STOP_TIME = 0.4  # [s] within which a profile must bring its servo to a stand, as a soft stop does
OVER = 1 + 1e-6  # [counts] by which a whole turn that is turned round ends beyond the last one
FARTHEST = 2 * tau  # [rad or m] of a limit behind a gear, from which it must be asked for: degrees are beyond it


@dataclass(frozen=True)
class Servo:
    """A servo and how it moves its actuator.

    counts = zero + direction · gear_ratio · value · counts per turn / 2π

    Raise ServoError, which names the actuator, for values that cannot be so.

    Attributes:
        actuator: the column of a motion that it plays.
        id: on the bus, 0 to 252.
        model: the name of one of its brand's.
        direction: 1, or -1 where the servo turns against the actuator.
        zero: counts where the actuator is at 0.
        gear_ratio: turns of the servo per turn of the actuator; [rad/m] where the actuator slides.
        position_limits: lowest and highest value of the actuator [rad or m].
        velocity_limit: of the actuator [rad/s or m/s]; not above what the model can turn at and can be set to.
        acceleration_limit: of the actuator [rad/s² or m/s²].
        p_gain, i_gain, d_gain: of its position control, in the servo's own unit; None for those that it has.
        profile_acceleration: of the actuator, with which the servo goes to each goal [rad/s² or m/s²]; None for none.
        current_limit: that the servo may draw for longer [A], below its own; None for its own.
        multi_turn: whether it may turn more than once, in the extended position mode.
        brand: the name of one in `BRANDS`.
        port: that it is on, where the robot has several; empty for the one that is played on.
    """

    actuator: str
    id: int
    model: str = DEFAULT.default_model
    direction: int = 1
    zero: int = 2048
    gear_ratio: float = 1.0
    position_limits: tuple[float, float] = (-np.pi, np.pi * 2047 / 2048)
    velocity_limit: float = 3.0
    acceleration_limit: float = 100.0
    current_limit: float | None = None
    multi_turn: bool = False
    brand: str = DEFAULT.name
    port: str = ""
    p_gain: int | None = None
    i_gain: int | None = None
    d_gain: int | None = None
    profile_acceleration: float | None = None
    zero_settings: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.actuator, str) or not self.actuator:
            raise ServoError(f"a servo must name its actuator, not {self.actuator!r}")
        where = f"servo of {self.actuator!r}"
        try:
            model = model_of(self.brand, self.model)
        except ServoError as error:
            raise ServoError(f"{where}: {error}") from None
        if not isinstance(self.port, str):
            raise ServoError(f"{where}: its port must be a name, not {self.port!r}")
        if type(self.id) is not int or not 0 <= self.id <= 252:
            raise ServoError(f"{where}: its id must be a whole number from 0 to 252, not {self.id!r}")
        if type(self.direction) is not int or self.direction not in (1, -1):
            raise ServoError(f"{where}: its direction must be 1 or -1, not {self.direction!r}")
        if type(self.zero) is not int or abs(self.zero) > model.farthest:
            raise ServoError(f"{where}: its zero must be a whole number of counts, not {self.zero!r}")
        if type(self.multi_turn) is not bool:
            raise ServoError(f"{where}: its multi_turn must be true or false, not {self.multi_turn!r}")
        for what in ("gear_ratio", "velocity_limit", "acceleration_limit"):
            object.__setattr__(self, what, positive(getattr(self, what), f"{where}: its {what}"))
        object.__setattr__(self, "position_limits", span(self.position_limits, f"{where}: its position_limits"))
        if self.current_limit is not None:
            object.__setattr__(self, "current_limit", positive(self.current_limit, f"{where}: its current_limit"))
        settings = entries(self.zero_settings, f"{where}: its zero_settings")
        object.__setattr__(self, "zero_settings", settings)
        if self.profile_acceleration is not None:
            what = f"{where}: its profile_acceleration"
            object.__setattr__(self, "profile_acceleration", positive(self.profile_acceleration, what))
        if misfit := self._misfit() or self._mistuned():
            raise ServoError(f"{where}: {misfit}")

    def _misfit(self) -> str:
        """Return why the limits cannot be those of this model, in words; empty if they can."""
        low, high = self.position_limits
        if too_fast := self._too_fast():
            return too_fast
        edges = sorted(self.zero + self.counts_per_unit * edge for edge in (low, high))
        first, last = self.datasheet.lowest, self.datasheet.farthest
        if edges[0] < first - OVER or edges[1] > last + OVER:
            where = f"its position_limits [{low:g}, {high:g}] are"
            if first == 0:
                return f"{where} counts {edges[0]:.0f} to {edges[1]:.0f}, and an {self.model} counts from 0 to {last}"
            return f"{where} farther than an {self.model} counts, {last / self.datasheet.counts_per_turn:.0f} turns"
        is_far = high - low > FULL_TURN if self.gear_ratio == 1.0 else max(-low, high) > FARTHEST
        if is_far and not self.multi_turn:
            hint = (
                'they are in rad, 90 degrees are 1.571; a servo that is to turn more than once has "multi_turn": true'
            )
            return f"its position_limits [{low:g}, {high:g}] are more than a turn; {hint}"
        if self.current_limit is None:
            return ""
        most = self.datasheet.highest_current
        if most is None:
            return f"an {self.model} cannot measure its current, so it takes no current_limit; leave it out"
        if self.current_limit > most * (1 + 1e-6):
            return f"its current_limit {self.current_limit:g} is in amperes, of which an {self.model} takes {most:.3g}"
        return ""

    def _too_fast(self) -> str:
        """Return why its model cannot keep the velocity limit, in words; empty if it can."""
        horn, sheet = self.velocity_limit * self.gear_ratio, self.datasheet
        what = f"its velocity_limit {self.velocity_limit:g} is {horn:g} rad/s at its horn"
        fastest = max(FASTER * sheet.max_speed, sheet.factory_velocity)
        if sheet.max_speed and horn > fastest:
            why, top = f"an {self.model} makes {sheet.max_speed:.4g} rad/s without load", fastest
        elif horn > max(sheet.highest_velocity, sheet.max_speed):
            why, top = f"more than an {self.model} can be set to", max(sheet.highest_velocity, sheet.max_speed)
        else:
            return ""
        return f"{what}, {why}; at most {top / self.gear_ratio:.4g} fits"

    def _mistuned(self) -> str:
        """Return why it cannot follow its goals as it is asked to, in words; empty if it can."""
        sheet, accelerating = self.datasheet, self.profile_acceleration
        for name, lowest in (("p_gain", 1), ("i_gain", 0), ("d_gain", 0)):  # without P it holds nothing
            gain = getattr(self, name)
            if gain is None:
                continue
            if sheet.gains is None:
                return f"an {self.model} takes no {name}; leave it out"
            highest = getattr(sheet.gains, name[0]).highest
            if type(gain) is not int or not lowest <= gain <= highest:
                return f"its {name} must be a whole number from {lowest} to {highest}, not {gain!r}"
        if accelerating is None:
            return ""
        if not sheet.acceleration_unit:
            return f"an {self.model} takes no profile_acceleration; leave it out"
        least, most = self.velocity_limit / STOP_TIME, sheet.highest_acceleration / self.gear_ratio
        if least * (1 - 1e-6) <= accelerating <= most * (1 + 1e-6):
            return ""
        return (
            f"its profile_acceleration must be from {least:.4g}, which stops it from its velocity_limit within"
            f" {STOP_TIME:g} s, to {most:.4g}, not {accelerating:g}"
        )

    def as_of(self, brand: Brand) -> Servo:
        """Return the servo as a program of another brand has it, in the program's counts.

        Its limit of current and its gains are the program's.
        """
        if self.brand == brand.name:
            return self
        return replace(self.as_model(brand, brand.default_model), current_limit=None)

    def as_model(self, brand: Brand, model: str) -> Servo:
        """Return the servo as another model, its zero and limits in that model's counts, without gains.

        Raise ServoError if the model cannot do what the servo's limits say.
        """
        there = model_of(brand.name, model)
        finer = there.counts_per_turn / self.datasheet.counts_per_turn
        zero = there.centre + round((self.zero - self.datasheet.centre) * finer)
        limits = self.position_limits
        if there.lowest == 0:
            edges = sorted((count - zero) / (self.counts_per_unit * finer) for count in (0, there.farthest))
            limits = max(limits[0], edges[0]), min(limits[1], edges[1])
        changes: dict[str, Any] = {}
        if (brand.name, model) != (self.brand, self.model):  # gains are in a model's own unit
            changes = dict.fromkeys(("p_gain", "i_gain", "d_gain", "profile_acceleration")) | {"zero_settings": ()}
        return replace(self, brand=brand.name, model=model, zero=zero, position_limits=limits, **changes)

    @property
    def datasheet(self) -> ServoModel:
        """Return what its model is."""
        return brand_of(self.brand).models[self.model]

    @property
    def counts_per_unit(self) -> float:
        """Counts per rad (or m) of the actuator, with sign."""
        return self.direction * self.gear_ratio * self.datasheet.counts_per_turn / tau

    def velocity_units(self, speed: float) -> int:
        """Return an actuator's speed [rad/s or m/s] in the servo's unit, rounded up: 0 would mean no limit."""
        return max(1, ceil(abs(speed) * self.gear_ratio / self.datasheet.velocity_unit - 1e-9))

    @property
    def current_units(self) -> int | None:
        """The limit of its current in the servo's unit, at least 1; None for its own."""
        if self.current_limit is None or self.datasheet.current_unit is None:
            return None
        return max(1, int(self.current_limit / self.datasheet.current_unit))

    @property
    def tuning_warning(self) -> str:
        """Return what speaks against its gains, in words; empty if nothing does."""
        gains = self.datasheet.gains
        if gains is None or self.p_gain is None or self.p_gain < HIGH * gains.p.factory:
            return ""
        times = self.p_gain / gains.p.factory
        return f"P is {times:.1f} times the factory's {gains.p.factory}: {self.actuator} may shake, hum and get hot"

    @property
    def tuning(self) -> Tuning:
        """Its gains and its profile's acceleration, in its own units."""
        wanted, unit = self.profile_acceleration, self.datasheet.acceleration_unit
        units = max(1, round(wanted * self.gear_ratio / unit)) if wanted is not None else 0 if unit else None
        return Tuning(self.p_gain, self.i_gain, self.d_gain, units)

    def amperes(self, units: int) -> float | None:
        """Return a current [A] from the servo's unit; None where it reports a load instead."""
        unit = self.datasheet.current_unit
        return None if unit is None else units * unit

    def speed(self, units: float) -> float:
        """Return the actuator's velocity [rad/s or m/s] from the servo's unit."""
        return self.direction * units * self.datasheet.velocity_unit / self.gear_ratio
