"""Live graph of a servo: collects what its player tells of it, and has it drawn in the 3D views."""

from __future__ import annotations

from collections import deque
from math import isfinite
from time import monotonic, perf_counter

from ...robik.servo.chain.servo import Servo
from ...robik.servo.play.player import Player
from ...robik.servo.port.response import response
from ...robik.servo.port.trace import Sample
from ...translations import sentence
from ..overlay import servo_graph

SPAN = 5.0  # [s] that the graph goes back
EVERY = 0.05  # [s] between drawings
_samples: deque[Sample] = deque()
_shown: tuple[Player, int] | None = None  # whom the graph follows: of which player, and which id
_drawn = 0.0


def samples() -> tuple[Sample, ...]:
    """Return what the graph shows."""
    return tuple(_samples)


def follow(player: Player, servo: Servo | None, per_unit: float) -> None:
    """Show how a servo of a player follows, or nothing for None; `per_unit` is degrees or millimetres per rad or m."""
    global _shown, _drawn
    wanted = None if servo is None else (player, servo.id)
    if wanted != _shown:
        hide()
        player.trace(None if servo is None else servo.id)
        _shown = wanted
    if servo is None:
        return
    last = _samples[-1].time if _samples else 0.0
    _samples.extend(one for one in player.status.trace if one.time > last)
    now = perf_counter()
    while _samples and _samples[0].time < now - SPAN:
        _samples.popleft()
    if monotonic() - _drawn > EVERY:
        _drawn = monotonic()
        servo_graph.show(_picture(servo, per_unit, now))


def hide() -> None:
    """Show nothing any more."""
    global _shown
    _samples.clear()
    _shown = None
    servo_graph.hide()


def _picture(servo: Servo, per_unit: float, now: float) -> servo_graph.Picture:
    """Return what is drawn, in degrees or millimetres, and milliamperes or per cent."""
    amperes = servo.datasheet.current_unit is not None
    unit = "°" if per_unit < 100.0 else " mm"
    rows = [
        (one.time - now, one.goal * per_unit, one.position * per_unit, one.effort * (1e3 if amperes else 1e2))
        for one in _samples
    ]
    return servo_graph.Picture(
        title=f"{servo.id} {servo.actuator}",
        words=_words(per_unit, unit),
        rows=tuple(rows),
        span=SPAN,
        unit=unit,
        effort=sentence("Motor current") if amperes else sentence("Motor load"),
        effort_unit=" mA" if amperes else " %",
        has_effort=any(isfinite(row[3]) for row in rows),
    )


def _words(per_unit: float, unit: str) -> str:
    """Return how the servo follows, in a few words."""
    found = response(_samples)
    if found is None:
        return sentence("no goals") if _samples else sentence("waiting for the servo")
    error = sentence("error {error:.2f}{unit} rms", error=found.error * per_unit, unit=unit)
    if found.lag is None:
        return error
    return f"{error}, " + sentence("{lag:.0f} ms behind", lag=1e3 * found.lag)
