"""Status and settings of a player."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, nan

from ...errors import ServoError
from ..bus.telemetry import Telemetry
from ..chain.servo import Servo
from ..chain.tuning import Tuning
from .trace import Sample

OFF = "emergency stop: torque is off; turn it on to go on"
NEAREST_WATCHDOG, FARTHEST_WATCHDOG = (
    0.06,
    2.54,
)  # [s]: below three of its units it trips on a busy computer; it has 127


class PlayState(StrEnum):
    """States of a player."""

    CLOSED = "closed"
    CONNECTING = "connecting"
    READY = "ready"
    HOLDING = "holding"
    APPROACHING = "approaching"
    PLAYING = "playing"
    PAUSED = "paused"
    LIVE = "live"
    STOPPING = "stopping"
    FAULT = "fault"

    @property
    def is_moving(self) -> bool:
        """Return whether goals are being sent."""
        return self in (PlayState.APPROACHING, PlayState.PLAYING, PlayState.PAUSED, PlayState.LIVE, PlayState.STOPPING)


@dataclass(frozen=True)
class PlaySettings:
    """Settings of playing.

    Attributes:
        rate: of goals [Hz].
        approach_speed: of the servos' horns on the way to the first frame, at most [rad/s].
        stop_time: of a soft stop, from full speed to standing [s].
        watchdog: after this long without a packet the servos stop by themselves [s].
        heartbeat: after this long without `Player.heartbeat` nothing is sent any more; where a process of its own
            has the port, they slow down and hold [s].
        silence: after this long without an answer a servo counts as gone, and all stop [s].
        interpolation: between the motion's samples, "linear" or "cubic".
        torque_after: whether torque stays on when the motion is over.
        feed_forward: whether each goal carries the speed at which it should be reached, where the models can.
        live_share, live_acceleration: when following live, of the speed limits, at most; and of the actuators [rad/s²
            or m/s²].
        without: ids of servos to play without; any other that does not answer at connecting is refused.
        record: a file that gets the telemetry of what is played; empty for none.
    """

    rate: float = 100.0
    approach_speed: float = 0.5
    stop_time: float = 0.4
    watchdog: float = 0.2
    heartbeat: float = 0.5
    silence: float = 0.15
    interpolation: str = "linear"
    torque_after: bool = True
    feed_forward: bool = False
    live_share: float = 0.6
    live_acceleration: float = 20.0
    without: tuple[int, ...] = ()
    record: str = ""

    def __post_init__(self) -> None:
        for what in (
            "rate",
            "approach_speed",
            "stop_time",
            "watchdog",
            "heartbeat",
            "silence",
            "live_share",
            "live_acceleration",
        ):
            if not 0 < float(getattr(self, what)) < inf:
                raise ServoError(f"the {what} of playing must be positive, not {getattr(self, what)!r}")
        if not NEAREST_WATCHDOG <= self.watchdog <= FARTHEST_WATCHDOG:
            raise ServoError(
                f"the watchdog must be from {NEAREST_WATCHDOG:g} to {FARTHEST_WATCHDOG:g} s, not {self.watchdog:g}"
            )


@dataclass(frozen=True)
class ServoReading:
    """Last report of one servo.

    Attributes:
        id, actuator: which one.
        torque: whether it has torque, as read back; None where it does not answer.
        load: as a share of its greatest, averaged.
        current: [A]; None where it measures none.
        celsius, volts: temperature [°C] and supply [V]; NaN where it does not answer.
        error: hardware errors in words, or that it does not answer; empty otherwise.
    """

    id: int
    actuator: str
    torque: bool | None
    load: float
    current: float | None
    celsius: float
    volts: float
    error: str

    @classmethod
    def of(cls, servo: Servo, seen: Telemetry | None, load: float) -> ServoReading:
        """Return the reading of a servo; `seen` is None where it does not answer.

        The load is a share of its greatest, averaged.
        """
        if seen is None:
            return cls(servo.id, servo.actuator, None, 0.0, None, nan, nan, "does not answer")
        current = servo.amperes(abs(seen.load))
        return cls(servo.id, servo.actuator, seen.torque, load, current, seen.celsius, seen.volts, seen.error)


@dataclass(frozen=True)
class Status:
    """A player at one moment; a new one replaces it, so that any thread may keep and read it.

    Attributes:
        state, message: where it stands, and in words for the user.
        time, duration: of what is being played [s]; over and over, the time goes on.
        round: what a round takes with the way back, over and over [s]; 0 where it is played once.
        sent, dropped: goals; those that went out, late or not, and those that did not, since the next was due already.
        dropped_at: when that happened last, by `time.perf_counter` [s]; 0 before.
        lateness_p99, lateness_p999, lateness_worst: [s].
        behind, behind_worst: the clock of a show [s], now and at worst, to either side; 0 where none is played.
        present: actuator values [rad or m] as last read, in the chain's order; empty before.
        seen: when that was, by `time.perf_counter` [s]; 0 before.
        hottest: [°C]; 0 before.
        lowest_volts: [V]; 0 before.
        strain: why it plays slower than asked; empty where it does not.
        missing: which servos it plays without, since they do not answer; empty where there are none.
        adapter: which adapter takes too long, and how to set it; empty where none does.
        looks: at all servos while this was played.
        stopped_at: where on the way it was stopped, from where *Play* goes on [s]; 0 where it was not.
        recording: what became of the telemetry where it is not where it was asked for, or not whole; empty otherwise.
        righting: what tilt feedback does, or why it does nothing; empty where there is none.
        goals: actuator values that the servos hold [rad or m], in the chain's order; empty where they hold none.
        tunings: of the servos, as read back, in the chain's order; empty before they were asked for.
        untuned: why a servo did not take its latest tuning; empty where it did.
        trace: the last second of the servo that is followed, the newest last; empty where none is.
        servos: what each servo last reported, in the chain's order; empty before.
        zero_settings: of each servo found at connecting, by name, what decides where it counts from, which way, and how
            far, in the chain's order.
    """

    state: PlayState = PlayState.CLOSED
    message: str = "not connected"
    time: float = 0.0
    duration: float = 0.0
    round: float = 0.0
    sent: int = 0
    dropped: int = 0
    dropped_at: float = 0.0
    lateness_p99: float = 0.0
    lateness_p999: float = 0.0
    lateness_worst: float = 0.0
    behind: float = 0.0
    behind_worst: float = 0.0
    present: tuple[float, ...] = ()
    seen: float = 0.0
    hottest: float = 0.0
    lowest_volts: float = 0.0
    strain: str = ""
    missing: str = ""
    adapter: str = ""
    looks: int = 0
    stopped_at: float = 0.0
    recording: str = ""
    righting: str = ""
    goals: tuple[float, ...] = ()
    tunings: tuple[Tuning, ...] = ()
    untuned: str = ""
    trace: tuple[Sample, ...] = ()
    servos: tuple[ServoReading, ...] = ()
    zero_settings: tuple[tuple[tuple[str, int], ...], ...] = ()

    @property
    def p_gains(self) -> dict[int, float]:
        """Return the servos' position P gains as read back, by id; those that are not known are left out."""
        both = zip(self.servos, self.tunings, strict=False)
        return {servo.id: float(tuning.p) for servo, tuning in both if tuning.p}

    @property
    def torque(self) -> bool:
        """Return whether every servo has torque, as read back."""
        return bool(self.servos) and all(servo.torque for servo in self.servos)

    @property
    def may_have_torque(self) -> bool:
        """Return whether any servo has torque, or may have: one that does not answer says nothing of it."""
        return any(servo.torque is not False for servo in self.servos)

    @property
    def is_off(self) -> bool:
        """Return whether torque was read back as off from all servos; False where none are known."""
        return bool(self.servos) and not self.may_have_torque

    @property
    def at(self) -> float:
        """Return the time within the motion [s]: on the way back to its start, its end."""
        return min(self.time % self.round, self.duration) if self.round else self.time

    @property
    def progress(self) -> float:
        """Share of the motion that has been played, 0 to 1."""
        return min(1.0, self.at / self.duration) if self.duration > 0 else 0.0


def torque_words(servos: Sequence[ServoReading]) -> str:
    """Return the servos that have torque, as read back, as a sentence."""
    powered = [servo.id for servo in servos if servo.torque]
    silent = [servo.id for servo in servos if servo.torque is None]
    if not servos or len(silent) == len(servos):
        return "torque is not known"
    if len(powered) == len(servos):
        return "torque is on"
    if not powered and not silent:
        return "torque is off"
    said = f"torque is on in {len(powered)} of {len(servos)}"
    said += f" (servo {', '.join(map(str, powered))})" if powered else ""
    return said + (f", not known of servo {', '.join(map(str, silent))}" if silent else "")
