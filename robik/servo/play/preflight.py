"""Preflight: reasons against playing a motion on a chain, before anything moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import ServoError
from ...motions import Motion
from ...motions.needs import Needs
from ..bus.looks import LOOK_AT_LEAST
from ..chain.chain import BITS_PER_BYTE, ServoChain
from ..chain.trajectory import Along, Between, sample_times
from ..port.status import PlaySettings

SLOWEST_RATE, FASTEST_RATE = 10.0, 1000.0  # [Hz]
COMPUTING = 6e-4  # [s] of a computer's time that a goal and a look take
BUSIEST = 0.8  # share of the bus that goals may take
FAR = 2.0  # [s] of approach from which it must be asked for
JUMP = 5.0  # times the speed limit from which a step is called a jump
TOLERANCE = 1e-6  # [rad or m] beyond a position limit: rounding
SPEED_TOLERANCE = 1e-3  # share beyond a speed limit: rounding


@dataclass(frozen=True)
class Preflight:
    """Attributes: problems: why it must not be played.

    Empty if it may. warnings: what is done without.
    """

    problems: tuple[str, ...]
    warnings: tuple[str, ...]

    def with_hold(self, lost: str, may_lose: bool) -> Preflight:
        """Return the preflight with what is said where the motors lose hold of the robot."""
        if not lost:
            return self
        if may_lose:
            return replace(self, warnings=(*self.warnings, lost))
        return replace(self, problems=(*self.problems, lost))

    def with_needs(self, needs: Needs | None, chain: ServoChain, carries: bool, feels: bool) -> Preflight:
        """Return the preflight with what the motion was made to stand with, and is not played with."""
        if needs is None:
            return self
        motors = [(servo.p_gain, servo.datasheet.motor) for servo in chain.servos]
        least = min(gain or (motor.p_gain if motor else 0.0) for gain, motor in motors)
        left = replace(
            needs,
            carry_weight=needs.carry_weight and not carries,
            tilt_feedback=needs.tilt_feedback and not feels,
            p_gain=needs.p_gain if needs.p_gain and least < needs.p_gain else None,
            stiffness=None,
        )
        if not left.as_data():
            return self
        return replace(self, warnings=(*self.warnings, f"the motion was made to stand with {left}, which is not set"))

    def check(self) -> None:
        """Raise: ServoError: lists the problems."""
        if self.problems:
            raise ServoError("the motion must not be played: " + "; ".join(self.problems))


def preflight(
    motion: Motion,
    chain: ServoChain,
    settings: PlaySettings,
    present: Sequence[float] = (),
    from_afar: bool = False,
    goal_limits: np.ndarray | None = None,
    begin: float = 0.0,
) -> Preflight:
    """Return problems, which forbid playing, and warnings: a motion held against the chain's limits.

    Positions and speeds count at every goal that will be sent, accelerations at the motion's own samples: straight
    lines between these have corners, at which an acceleration would mean nothing.

    `present` has where the chain's servos are [rad or m], empty if unknown, and `goal_limits` the lowest and
    highest counts (n, 2) that they take, None if unknown. With `from_afar` it may start far from there, going there
    slowly. `begin` is where on the way it goes on after a stop [s].
    """
    rate = settings.rate
    warnings = [f"{name} has no servo and is left out" for name in motion.actuators if name not in chain.actuators]
    if not SLOWEST_RATE <= rate <= FASTEST_RATE:
        return Preflight(
            (f"the rate must be from {SLOWEST_RATE:g} to {FASTEST_RATE:g} Hz, not {rate:g}",), tuple(warnings)
        )
    try:
        along = Along(motion, chain, settings.interpolation)
        times = sample_times(along, rate)
    except ServoError as error:
        return Preflight((str(error),), tuple(warnings))
    values = along.at(times)
    far = _way_to_start(chain, settings, present, along.at(np.array([begin]))[0])
    if from_afar:
        warnings += far
    warnings += _look_warnings(chain, settings)
    problems = bus_problems(chain, rate, settings.feed_forward) + limit_problems(motion, chain, times, values)
    if goal_limits is not None:
        problems += _own_limit_problems(chain, chain.counts(values), goal_limits)
    if not from_afar:
        problems += [f"{one}; bring it nearer, or ask for softening, and it goes there slowly" for one in far]
    return Preflight(tuple(problems), tuple(warnings))


def _way_to_start(chain: ServoChain, settings: PlaySettings, present: Sequence[float], start: np.ndarray) -> list[str]:
    """Warn that the first frame is far from where the robot stands.

    The way there is nobody's animation, and may lead through anything.
    """
    if len(present) != len(start):
        return []
    away = np.abs(start - np.array(present))
    seconds = Between(np.array(present), start, chain.approach_speeds(settings.approach_speed)).duration
    if seconds < FAR:
        return []
    k = int(np.argmax(away / chain.speed_limits))
    return [
        f"the robot stands far from the first frame, {chain.actuators[k]} by {away[k]:.3g}; the approach takes"
        f" {seconds:.1f} s"
    ]


def bus_problems(chain: ServoChain, rate: float, feed_forward: bool = False) -> list[str]:
    """Return sentences on why the bus cannot carry goals at a rate [Hz], with the arithmetic; none where it can.

    `feed_forward` says that goals carry speeds.
    """
    size = chain.packet_bytes(feed_forward)
    seconds = size * BITS_PER_BYTE / chain.baud_rate
    if seconds * rate <= BUSIEST:
        return []
    arithmetic = f"{size} bytes × {BITS_PER_BYTE} bits / {chain.baud_rate} baud = {seconds * 1e3:.2f} ms"
    return [
        f"the bus is too slow: {arithmetic} of the {1e3 / rate:.2f} ms between goals; lower the rate or raise the baud"
        " rate"
    ]


def _look_warnings(chain: ServoChain, settings: PlaySettings) -> list[str]:
    """Say where goals leave no time to look at any servo, so that little is known of them, and little is recorded."""
    left = 1.0 / settings.rate - chain.packet_bytes(settings.feed_forward) * BITS_PER_BYTE / chain.baud_rate
    needed = max(part.brand.look_bytes for part in chain.parts) * BITS_PER_BYTE / chain.baud_rate + COMPUTING
    if left >= needed:
        return []
    times = f"goals leave {1e3 * left:.2f} ms between them, and a look at one servo takes {1e3 * needed:.2f} ms"
    each = f"each is looked at only every {LOOK_AT_LEAST * max(len(part.servos) for part in chain.parts):.1f} s"
    what = "the telemetry has gaps of that length" if settings.record else "heat and faults are noticed late"
    return [f"at {settings.rate:g} Hz {times}: {each}, and {what}; lower the rate or raise the baud rate"]


def limit_problems(motion: Motion, chain: ServoChain, times: np.ndarray, values: np.ndarray) -> list[str]:
    """Return sentences on where a motion exceeds limits of position, speed or acceleration; none where it keeps them.

    Accelerations are judged at the motion's samples, the others at the goals: times (K,) [s] and values (K, n) [rad
    or m].
    """
    problems = _position_problems(chain, times, values) + _speed_problems(chain, times, values)
    return problems + _acceleration_problems(chain, motion)


def _position_problems(chain: ServoChain, times: np.ndarray, values: np.ndarray) -> list[str]:
    problems = []
    for k, servo in enumerate(chain.servos):
        low, high = servo.position_limits
        beyond = np.maximum(values[:, k] - high, low - values[:, k])
        worst = int(np.argmax(beyond))
        if beyond[worst] > TOLERANCE:
            side, limit = ("above", high) if values[worst, k] > high else ("below", low)
            problems.append(
                f"{servo.actuator}: {values[worst, k]:.4g} at {times[worst]:.3f} s is {side} its limit {limit:.4g}"
            )
    return problems


def _own_limit_problems(chain: ServoChain, counts: np.ndarray, goal_limits: np.ndarray) -> list[str]:
    """Say which goals (K, n) are beyond the servos' own limits (n, 2), which these refuse without a word."""
    problems = []
    for k, servo in enumerate(chain.servos):
        low, high = goal_limits[k]
        least, most = counts[:, k].min(), counts[:, k].max()
        if least < low or most > high:
            problems.append(
                f"servo {servo.id} ({servo.actuator}) takes goals from {low} to {high} counts only, the motion needs"
                f" {least} to {most}; change its position limits or its operating mode"
            )
    return problems


def _speed_problems(chain: ServoChain, times: np.ndarray, values: np.ndarray) -> list[str]:
    if len(times) < 2:
        return []
    steps = np.diff(values, axis=0)
    speeds = np.abs(steps) / np.diff(times)[:, None]
    problems = []
    for k, servo in enumerate(chain.servos):
        worst = int(np.argmax(speeds[:, k]))
        speed, limit = speeds[worst, k], servo.velocity_limit
        if speed > JUMP * limit:
            problems.append(f"{servo.actuator}: jumps by {abs(steps[worst, k]):.3g} at {times[worst + 1]:.3f} s")
        elif speed > (1 + SPEED_TOLERANCE) * limit:
            problems.append(
                f"{servo.actuator}: {speed:.4g} per second at {times[worst + 1]:.3f} s is above its limit {limit:.4g}"
            )
    return problems


def _acceleration_problems(chain: ServoChain, motion: Motion) -> list[str]:
    if len(motion.times) < 3:
        return []
    problems = []
    for servo in chain.servos:
        found = np.abs(accelerations(motion.times, motion.values[:, motion.actuators.index(servo.actuator)]))
        worst = int(np.argmax(found))
        if found[worst] > (1 + SPEED_TOLERANCE) * servo.acceleration_limit:
            when = motion.times[worst + 1] - motion.times[0]
            limit = f"its limit {servo.acceleration_limit:.4g}"
            problems.append(
                f"{servo.actuator}: accelerates by {found[worst]:.4g} per second² at {when:.3f} s, above {limit}"
            )
    return problems


def accelerations(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return second differences (K − 2, …) of values (K, …) at all times (K,) [s] but the first and the last."""
    steps = np.diff(times).reshape(-1, *[1] * (values.ndim - 1))
    return 2.0 * np.diff(np.diff(values, axis=0) / steps, axis=0) / (steps[1:] + steps[:-1])
