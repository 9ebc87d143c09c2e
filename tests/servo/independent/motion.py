"""The horn of a servo: where it is at a time, under a profile.

The e-Manual's section "What is the Profile": no profile velocity is a step, no profile acceleration is a rectangle of
speed, both are a trapezoid. Positions are counts, times seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, inf, sqrt

WINDOW = 0.02  # [s] over which speeds are means: without acceleration the smallest step is at full speed for a moment


@dataclass(frozen=True)
class Limits:
    """How a horn may move.

    Attributes:
        speed: [counts/s].
        acceleration: [counts/s²]; infinite where the profile has none.
    """

    speed: float
    acceleration: float = inf


@dataclass(frozen=True)
class Piece:
    """A stretch of time with one acceleration.

    Attributes:
        seconds: how long it lasts.
        velocity: at its start [counts/s].
        acceleration: [counts/s²].
    """

    seconds: float
    velocity: float
    acceleration: float = 0.0

    def way(self, seconds: float) -> float:
        """Return the distance after some seconds of it [counts]."""
        return (self.velocity + self.acceleration * seconds / 2) * seconds

    def speed(self, seconds: float) -> float:
        """Return the velocity after some seconds of it [counts/s]."""
        return self.velocity + self.acceleration * seconds


def trapezoid(distance: float, velocity: float, limits: Limits) -> tuple[Piece, ...]:
    """Return the fastest motion over a distance [counts], from a velocity [counts/s] to a stand."""
    rate = limits.acceleration
    if rate == inf:
        return (Piece(abs(distance) / limits.speed, copysign(limits.speed, distance)),) if distance else ()
    beyond = distance - velocity * abs(velocity) / (2 * rate)  # what is left after braking at once
    if beyond == 0:
        return (Piece(abs(velocity) / rate, velocity, -copysign(rate, velocity)),) if velocity else ()
    way = copysign(1.0, beyond)
    peak = way * min(limits.speed, sqrt(max(0.0, way * rate * distance + velocity**2 / 2)))
    first = Piece(abs(peak - velocity) / rate, velocity, copysign(rate, peak - velocity))
    last = Piece(abs(peak) / rate, peak, -way * rate)
    cruise = (distance - first.way(first.seconds) - last.way(last.seconds)) / peak if peak else 0.0
    return first, Piece(max(0.0, cruise), peak), last


class Horn:
    """A horn that follows its goal.

    Attributes:
        position: [counts], also beyond one turn.
        velocity: of its profile [counts/s].
        goal: where it ends up [counts].
        held: whether somebody holds it where it is.
        fastest: the greatest speed, as a mean over `WINDOW`, since this was last set to 0 [counts/s].
    """

    def __init__(self, position: float, now: float) -> None:
        self.position, self.velocity, self.goal, self.held, self.fastest = position, 0.0, position, False, 0.0
        self._pieces: tuple[Piece, ...] = ()
        self._begun, self._start, self._now = now, position, now
        self._window = now, position

    @property
    def is_moving(self) -> bool:
        """Whether a motion is under way, be the horn held or not."""
        return bool(self._pieces)

    def aim(self, goal: float, limits: Limits) -> None:
        """Begin a motion to a goal [counts] from here, with the speed that it has."""
        self._go(goal, trapezoid(goal - self.position, self.velocity, limits))

    def aim_timed(self, goal: float, seconds: float, rising: float) -> None:
        """Begin a motion to a goal [counts] that lasts some time, `rising` [s] of it up to speed and as many down."""
        rising = min(rising, seconds / 2)
        speed = (goal - self.position) / (seconds - rising)
        if rising == 0.0:
            self._go(goal, (Piece(seconds, speed),))
        else:
            rate = speed / rising
            self._go(goal, (Piece(rising, 0.0, rate), Piece(seconds - 2 * rising, speed), Piece(rising, speed, -rate)))

    def _go(self, goal: float, pieces: tuple[Piece, ...]) -> None:
        self.goal, self._pieces = goal, pieces
        self._begun, self._start = self._now, self.position
        if pieces and not self.held:
            self.velocity = pieces[0].velocity

    def halt(self) -> None:
        """Stand here, at once."""
        self._pieces, self.velocity, self.goal = (), 0.0, self.position

    def place(self, position: float) -> None:
        """Stand there, put by hand or by another way of counting."""
        self.position = position
        self._window = self._now, position
        self.halt()

    def advance(self, now: float) -> None:
        """Move on to a time [s]; times before the last one change nothing."""
        while (end := self._window[0] + WINDOW) <= now:
            self._follow(end)
            self.fastest = max(self.fastest, abs(self.position - self._window[1]) / WINDOW)
            self._window = (end if self._pieces else max(end, now)), self.position
        self._follow(max(now, self._now))

    def _follow(self, now: float) -> None:
        self._now = now
        if not self._pieces:
            return
        position, velocity, begins = self._start, 0.0, self._begun
        for piece in self._pieces:
            seconds = min(piece.seconds, max(0.0, now - begins))
            position += piece.way(seconds)
            velocity = piece.speed(seconds)
            begins += piece.seconds
            if now < begins:
                break
        else:
            self._pieces, velocity = (), 0.0
            position = self.goal
        if self.held:
            velocity = 0.0
        else:
            self.position = position
        self.velocity = velocity
