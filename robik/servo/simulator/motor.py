"""The moving part of a simulated servo: a horn that follows its goal under a profile, by the clock."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, exp, inf, sqrt

STEP = 0.001  # [s] of integration, as the servo's own control loop
FRICTION = 0.02  # of the greatest drive, which a horn without a load needs to turn at all
SPIN_UP = 0.03  # [s], of a motor without a load
STILL = 0.5  # [counts/s]
OVERLOAD_AFTER, FULL = 1.0, 0.8  # [s] of standing at full current, and what share of the greatest that is


@dataclass
class Motor:
    """Position and speed of a horn, moved on whenever somebody looks.

    Attributes:
        position, velocity: [counts, counts/s].
        goal: where it is heading [counts].
        target_velocity: what a velocity command asks for [counts/s]; None while it heads for the goal.
        drive: what pushes the horn, -1 to 1 of the greatest current or voltage; None where a controller sees to that.
        strength: of what the controller may push with, 0 to 1.
        top_speed: what the motor can do [counts/s].
        profile_velocity, profile_acceleration: [counts/s, counts/s²]; 0 for none.
        powered: whether torque is on; without it the horn stands, as friction holds it.
        blocked: something holds the horn.
        blocked_for: how long it has pushed against that with all it has [s].
    """

    position: float
    top_speed: float
    velocity: float = 0.0
    goal: float = 0.0
    target_velocity: float | None = None
    drive: float | None = None
    strength: float = 1.0
    profile_velocity: float = 0.0
    profile_acceleration: float = 0.0
    powered: bool = False
    blocked: bool = False
    blocked_for: float = 0.0

    def __post_init__(self) -> None:
        self.goal = self.position

    @property
    def is_at_rest(self) -> bool:
        """Whether time changes nothing."""
        if not self.powered:
            return True
        if self.drive is not None:
            return self.velocity == 0.0 and abs(self.drive) <= FRICTION
        return self.velocity == 0.0 and (self.position == self.goal if self.target_velocity is None else self.target_velocity == 0.0)

    @property
    def is_pushing(self) -> bool:
        """Whether it wants to move and cannot."""
        if self.drive is not None:
            return self.powered and self.blocked and abs(self.drive) > FRICTION
        return self.powered and self.blocked and self.position != self.goal

    def halt(self) -> None:
        """Stands at once, here."""
        self.velocity = 0.0
        self.goal = self.position
        if self.target_velocity is not None:
            self.target_velocity = 0.0
        if self.drive is not None:
            self.drive = 0.0

    def advance(self, seconds: float) -> None:
        """Moves on by a span of time [s]."""
        if not self.powered:
            self.velocity = 0.0
            return
        if self.blocked:
            self.velocity = 0.0
            effort = self.strength if self.drive is None else abs(self.drive)
            self.blocked_for = self.blocked_for + seconds if self.is_pushing and effort >= FULL else 0.0
            return
        self.blocked_for = 0.0
        if self.drive is not None:
            self._push(seconds)
            return
        if self.strength <= FRICTION:  # too weak to turn itself
            self.velocity = 0.0
            return
        if self.profile_acceleration == 0.0:
            self._slide(seconds)
            return
        while seconds > 0.0 and not self.is_at_rest:
            self._accelerate(min(STEP, seconds))
            seconds -= STEP

    def _push(self, seconds: float) -> None:
        """Towards the speed at which friction and back-EMF eat up the drive, as every DC motor goes: exponentially."""
        assert self.drive is not None
        left = max(0.0, abs(self.drive) - FRICTION) / (1.0 - FRICTION)
        final = copysign(left * self.top_speed, self.drive)
        share = 1.0 - exp(-seconds / SPIN_UP)
        self.position += final * seconds + (self.velocity - final) * SPIN_UP * share
        self.velocity += (final - self.velocity) * share
        if final == 0.0 and abs(self.velocity) < STILL:
            self.velocity = 0.0

    def _slide(self, seconds: float) -> None:
        if self.target_velocity is not None:
            self.velocity = max(-self.top_speed, min(self.top_speed, self.target_velocity))
            self.position += self.velocity * seconds
            return
        distance = self.goal - self.position
        speed = min(self.top_speed, self.profile_velocity or inf)
        if abs(distance) <= speed * seconds:
            self.position, self.velocity = self.goal, 0.0
        else:
            self.velocity = copysign(speed, distance)
            self.position += self.velocity * seconds

    def _accelerate(self, dt: float) -> None:
        change = self.profile_acceleration * dt
        if self.target_velocity is not None:
            wanted = max(-self.top_speed, min(self.top_speed, self.target_velocity))
        else:
            distance = self.goal - self.position
            if abs(distance) <= change * dt and abs(self.velocity) <= 2 * change:
                self.position, self.velocity = self.goal, 0.0
                return
            braking = sqrt(2 * self.profile_acceleration * abs(distance))
            wanted = copysign(min(self.top_speed, self.profile_velocity or inf, braking, abs(distance) / dt), distance)
        self.velocity += max(-change, min(change, wanted - self.velocity))
        self.position += self.velocity * dt
