"""The moving part of a simulated servo.

A horn that follows its goal under a profile, against friction and a load, by the clock.

Torques and what drives the horn are shares of the greatest that the motor has; positive turns it towards larger counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, exp, inf, sqrt

STEP = 0.001  # [s] of integration, as the servo's own control loop
FRICTION = 0.02  # share of the greatest torque that the motor needs to turn a horn without a load at all
BACK_DRIVING = 0.1  # share of the greatest torque that turns a motor without power through its gear
SPIN_UP = 0.03  # [s], of a motor without a load
STILL = 0.5  # [counts/s]
OVERLOAD_AFTER, FULL = 1.0, 0.8  # [s] of pushing in vain with at least this share of the greatest torque


@dataclass
class Motor:
    """Position and speed of a horn, moved on whenever somebody looks.

    Attributes:
        position, velocity: [counts, counts/s].
        acceleration: under a profile [counts/s²]; 0 where it jumps to its speed, which takes no time.
        goal: where it is heading [counts].
        target_velocity: what a velocity command asks for [counts/s]; None while it heads for the goal.
        drive: what pushes the horn, -1 to 1 of the greatest current or voltage; None where a controller sees to that.
        drive_is_voltage: whether the turning motor's own voltage (back-EMF) takes its share of the drive.
        strength: of what the controller may push with, 0 to 1.
        top_speed: what the motor can do without a load [counts/s].
        travel_speed, travel_acceleration: [counts/s, counts/s²]; 0 for none.
        powered: whether torque is on; without it the gear's friction holds the horn, up to `BACK_DRIVING`.
        load: torque from outside.
        blocked: something holds the horn.
        pushing_for: how long it has pushed in vain with nearly all it has [s].
        overload_after, overload_share: how long it may [s], and with which share of the greatest torque that begins.
    """

    position: float
    top_speed: float
    velocity: float = 0.0
    acceleration: float = 0.0
    goal: float = 0.0
    target_velocity: float | None = None
    drive: float | None = None
    drive_is_voltage: bool = False
    strength: float = 1.0
    travel_speed: float = 0.0
    travel_acceleration: float = 0.0
    powered: bool = False
    load: float = 0.0
    blocked: bool = False
    pushing_for: float = 0.0
    overload_after: float = OVERLOAD_AFTER
    overload_share: float = FULL

    def __post_init__(self) -> None:
        self.goal = self.position

    @property
    def is_at_rest(self) -> bool:
        """Return whether time changes nothing."""
        if self.velocity != 0.0:
            return False
        if not self.powered:
            return self.blocked or abs(self.load) <= BACK_DRIVING
        if self.drive is not None:
            return abs(self.drive + self.load) <= FRICTION
        return self._wanted == 0.0 and not self._gives_way

    @property
    def is_pushing(self) -> bool:
        """Return whether it cannot turn as it should.

        Something holds the horn, or the load and friction take all it may push with.
        """
        if not self.powered or self._gives_way:
            return self.powered
        return self._wanted != 0.0 and (self.blocked or self._needed(self._wanted) >= self._most)

    @property
    def effort(self) -> float:
        """Return the force it pushes with, -1 to 1.

        Against the load, against friction where it turns, and for the acceleration.
        """
        if not self.powered:
            return 0.0
        if self.drive is not None:
            own = (1.0 - FRICTION) * self.velocity / self.top_speed if self.drive_is_voltage else 0.0
            return max(-1.0, min(1.0, self.drive - own))
        if self.is_pushing and not self._gives_way:
            return copysign(self.strength, self._wanted)
        turning = (self.velocity > 0.0) - (self.velocity < 0.0)
        needed = FRICTION * turning + self.acceleration * SPIN_UP / self.top_speed - self.load
        return max(-self.strength, min(self.strength, needed))

    @property
    def endures(self) -> float:
        """Return how long it may go on like this before it is overloaded [s]."""
        is_heavy = self.is_pushing and self._most >= self.overload_share
        return max(0.0, self.overload_after - self.pushing_for) if is_heavy else inf

    @property
    def _wanted(self) -> float:
        """The sign is which way it wants to turn; 0 for not at all."""
        if self.drive is not None:
            return self.drive
        return self.goal - self.position if self.target_velocity is None else self.target_velocity

    @property
    def _most(self) -> float:
        """Return what it may push with."""
        return self.strength if self.drive is None else abs(self.drive)

    @property
    def _gives_way(self) -> bool:
        """Return whether the load is more than the controller can hold, even with friction's help."""
        return self.drive is None and not self.blocked and abs(self.load) > self.strength + FRICTION

    def _needed(self, way: float) -> float:
        """Return the torque that turns the horn this way (a sign) at all."""
        return FRICTION - self.load if way > 0.0 else FRICTION + self.load

    def _fastest(self, way: float) -> float:
        """Return the greatest speed this way (a sign) [counts/s].

        A DC motor's falls with its torque, and too weak a one stands.
        """
        needed = self._needed(way)
        return 0.0 if needed >= self.strength else self.top_speed * min(1.0, (1.0 - needed) / (1.0 - FRICTION))

    def halt(self) -> None:
        """Stand at once, here."""
        self.velocity = self.acceleration = 0.0
        self.goal = self.position
        if self.target_velocity is not None:
            self.target_velocity = 0.0
        if self.drive is not None:
            self.drive = 0.0

    def advance(self, seconds: float) -> None:
        """Move on by a span of time."""
        if seconds <= 0.0:
            return
        self.pushing_for = self.pushing_for + seconds if self.endures < inf else 0.0
        self.acceleration = 0.0
        if self.blocked:
            self.velocity = 0.0
        elif not self.powered:
            self._push(0.0, BACK_DRIVING, seconds)
        elif self.drive is not None:
            self._push(self.drive, FRICTION, seconds)
        elif self._gives_way:
            self._push(-copysign(self.strength, self.load), FRICTION, seconds)
        elif self.travel_acceleration == 0.0:
            self._slide(seconds)
        else:
            self._follow(seconds)

    def _push(self, drive: float, friction: float, seconds: float) -> None:
        """Approach the speed at which friction and back-EMF eat up drive and load.

        As every DC motor does: exponentially.
        """
        torque = drive + self.load
        left = max(0.0, abs(torque) - friction) / (1.0 - friction)
        final = copysign(left * self.top_speed, torque)
        share = 1.0 - exp(-seconds / SPIN_UP)
        self.position += final * seconds + (self.velocity - final) * SPIN_UP * share
        self.velocity += (final - self.velocity) * share
        if final == 0.0 and abs(self.velocity) < STILL:
            self.velocity = 0.0

    def _slide(self, seconds: float) -> None:
        speed = self._fastest(self._wanted)
        if self.target_velocity is not None:
            self.velocity = max(-speed, min(speed, self.target_velocity))
            self.position += self.velocity * seconds
            return
        distance = self.goal - self.position
        speed = min(speed, self.travel_speed or inf)
        if abs(distance) <= speed * seconds:
            self.position, self.velocity = self.goal, 0.0
        else:
            self.velocity = copysign(speed, distance)
            self.position += self.velocity * seconds

    def _follow(self, seconds: float) -> None:
        """Under a profile that has an acceleration."""
        while seconds > 0.0 and not self.is_at_rest:
            self._accelerate(min(STEP, seconds))
            seconds -= STEP
        if self.is_at_rest:
            self.acceleration = 0.0

    def _accelerate(self, dt: float) -> None:
        change = self.travel_acceleration * dt
        fastest = self._fastest(self._wanted)
        if self.target_velocity is not None:
            wanted = max(-fastest, min(fastest, self.target_velocity))
        else:
            distance = self.goal - self.position
            if abs(distance) <= change * dt and abs(self.velocity) <= 2 * change:
                self.position, self.velocity = self.goal, 0.0
                return
            braking = sqrt(2 * self.travel_acceleration * abs(distance))
            wanted = copysign(min(fastest, self.travel_speed or inf, braking, abs(distance) / dt), distance)
        self.acceleration = max(-change, min(change, wanted - self.velocity)) / dt
        self.velocity += self.acceleration * dt
        self.position += self.velocity * dt
