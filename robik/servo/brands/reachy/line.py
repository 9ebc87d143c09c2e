"""A line of Reachy Mini's motors behind its daemon: see `Line`.

Nothing guards them when nobody speaks any more: they hold at their last goal. So each goal is only a step ahead, no
farther from where its motor was last seen than the speed limit takes it in the watchdog's time, and goals are kept back
while the daemon is silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan, tau

import numpy as np

from ....errors import ServoError
from ...bus.emergency import Emergency
from ...bus.telemetry import Found, Telemetry
from ...chain.chain import ServoChain
from ...chain.servo import Servo
from ...chain.tuning import Tuning
from .brand import COUNTS_PER_TURN, MIDDLE, MOTORS
from .daemon import Daemon

SAG = 0.16  # [rad], 9°, that a loaded motor may stand from its goal, beyond what it lags behind
STANDING = 0.01  # [rad] that a motor which stands may move between two words of the daemon


class ReachyLine:
    """Motors of a chain behind one daemon, which may be silent for `silence` [s].

    Its methods raise PortGone if the daemon is gone.

    Attributes:
        name: of the port.
        takes_speeds: never: the daemon takes angles alone.
        latency: not known.
    """

    takes_speeds, latency = False, 0.0

    def __init__(self, chain: ServoChain, port: str, silence: float, emergency: Emergency) -> None:
        if unknown := [servo for servo in chain.servos if servo.id not in MOTORS]:
            ids = f"from {min(MOTORS)} to {max(MOTORS)}"
            raise ServoError(
                f"Reachy Mini has motors {ids}, not {unknown[0].id} ({unknown[0].actuator}); choose its servo file"
            )
        self.name, self._chain, self._servos = port, chain, chain.servos
        self._emergency, self._is_asked = emergency, False
        self._goals: dict[int, float] = {}  # of all motors by id [rad]
        self._speeds: dict[int, float] = {}  # limits by id [rad/s]
        self._reach = 0.0  # [s] in which a goal must be reached; 0 before anything is played
        self._daemon = Daemon(port, silence, emergency)

    @property
    def servos(self) -> tuple[Servo, ...]:
        """Return whom it speaks to."""
        return self._servos

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Ids of motors that are looked at together: all, since the daemon speaks of all at once."""
        return (tuple(servo.id for servo in self._servos),)

    def close(self) -> None:
        """Let go of the daemon; whatever the motors do, they go on doing."""
        self._daemon.close()

    # connecting

    def forget(self) -> None:
        """Speak to all motors of the chain, and know nothing of them."""
        self._servos, self._goals, self._is_asked = self._chain.servos, {}, False

    def inquire(self, servo: Servo) -> Found:
        """Ask where a motor is, and what keeps it from playing; supply, temperature and load are not known."""
        is_first, self._is_asked = not self._is_asked, True
        if is_first:  # once for all of them
            self._daemon.wait_for_angles()
            self._daemon.look()
        return Found(
            torque=self._daemon.has_torque,
            position=counts(self._daemon.angles[servo.id]),
            low=None,
            high=None,
            is_single_turn=False,
            volts=nan,
            celsius=nan,
            celsius_limit=nan,
            load_limit=1,
            obstacles=self._obstacles() if is_first else (),
        )

    def _obstacles(self) -> tuple[str, ...]:
        where = f"the daemon on {self.name}"
        if self._daemon.mode == "gravity_compensation":
            return (f"{where} lets the head float (gravity compensation); turn torque off, then on again",)
        if self._daemon.plays:
            return (f"{where} plays a move of its own; wait for its end, or stop it there",)
        return ()

    def leave_out(self, missing: Sequence[Servo]) -> None:
        """Speak from here on to all motors but the missing."""
        self._servos = tuple(servo for servo in self._chain.servos if servo not in missing)

    def prepare(self) -> None:
        """Do nothing: the daemon has set its motors up."""

    # reading

    def positions(self) -> np.ndarray:
        """Return present positions (n,) [counts]; raises PortGone."""
        self._daemon.wait_for_angles()
        return np.array([counts(self._daemon.angles[servo.id]) for servo in self._servos], dtype=np.int64)

    def begin_look(self, ids: Sequence[int]) -> DaemonLook:
        """Return a look at motors, which has not asked anything yet."""
        return DaemonLook(self, self._daemon, ids)

    def begin_late_look(self, id: int) -> None:
        """Return no look: the daemon does not say which goals its motors have."""

    def telemetry(self, id: int) -> Telemetry:
        """Return what the daemon last said of a motor; supply, temperature and load are not known."""
        return Telemetry(
            torque=self._daemon.has_torque,
            is_guarded=not self._daemon.plays,
            is_stopped=False,
            errors=0,
            error="",
            load=0,
            position=counts(self._daemon.angles[id]),
            volts=nan,
            celsius=nan,
        )

    def look(self) -> list[Telemetry]:
        """Return the state of each motor; raises PortGone."""
        self._emergency.check()
        self._daemon.listen()
        return [self.telemetry(servo.id) for servo in self._servos]

    def look_at(self, servo: Servo, hastily: bool) -> Telemetry:
        """Look at one motor; haste makes no difference."""
        self._emergency.check()
        self._daemon.listen()
        return self.telemetry(servo.id)

    def glance(self, servo: Servo) -> Telemetry:
        """Look at one motor, of which the daemon may not have spoken yet."""
        if not self._daemon.angles:
            self._daemon.wait_for_angles()
        return self.look_at(servo, True)

    def tunings(self) -> list[Tuning]:
        """Return nothing known of each motor: the daemon does not say its gains."""
        return [Tuning()] * len(self._servos)

    def tune(self, servo: Servo, tuning: Tuning) -> None:
        """Do nothing: the daemon has tuned its motors itself."""

    def has_error(self, servo: Servo) -> bool:
        """Return False: the daemon keeps its motors' errors to itself."""
        return False

    def are_stopped(self) -> list[bool]:
        """Return which motors stand; raises PortGone."""
        before, now = self.positions(), self.positions()
        return (np.abs(now - before) / COUNTS_PER_TURN * tau < STANDING).tolist()

    # writing

    def set_watchdog(self, seconds: float) -> None:
        """Keep goals so near to the motors that each reaches its last one within `seconds` when nobody speaks any more.

        0 where nothing is played.
        """
        self._reach, self._daemon.is_hurried = seconds, seconds > 0

    def send_watchdog_off(self, servos: Sequence[Servo]) -> None:
        """Do nothing: motors behind the daemon hold without packets."""

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        """Set the actuators' speeds (n,) [rad/s or m/s] by which goals count as reached in time.

        The daemon takes none.
        """
        pairs = zip(self._servos, speeds.tolist(), strict=True)
        self._speeds = {servo.id: speed * servo.gear_ratio for servo, speed in pairs}

    def hold_at(self, counts: np.ndarray) -> None:
        """Set goals (n,) [counts] before torque is on, and those of all other motors to where they are.

        The daemon keeps goals while torque is off.
        """
        self._emergency.check(changes=True)
        self._daemon.wait_for_angles()
        self._goals = dict(self._daemon.angles)
        self._goals |= {servo.id: angle(count) for servo, count in zip(self._servos, counts.tolist(), strict=True)}
        self._daemon.tell_goals(self._goals, [servo.id for servo in self._servos])

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None, places: Sequence[int]) -> None:
        """Send goals (n,) [counts] to the motors at these places; unanswered, and kept back while the daemon is silent.

        `speeds` are ignored: the daemon takes none.
        """
        self._emergency.check(changes=True)
        self._daemon.listen()
        if not self._daemon.is_fresh or not places:
            return
        there = self._daemon.angles
        self._goals = {id: self._goals.get(id, at) for id, at in there.items()}
        for k in places:
            id, goal = self._servos[k].id, angle(int(counts[k]))
            reach = self._speeds.get(id, 0.0) * self._reach + SAG
            self._goals[id] = min(max(goal, there[id] - reach), there[id] + reach) if self._reach else goal
        self._daemon.tell_goals(self._goals, [self._servos[k].id for k in places])

    def set_torque(self, powered: Sequence[bool]) -> None:
        """Turn torque of all motors on if any is to have it, else off, since the daemon knows no single ones.

        Raise ServoError if it does not obey.
        """
        is_on = any(powered)
        self._emergency.check(changes=True)
        self._daemon.tell_torque(is_on)
        if self._daemon.confirm_torque(is_on) != is_on:
            raise ServoError(f"the daemon on {self.name} does not turn torque {'on' if is_on else 'off'}")

    def send_torque_off(self) -> None:
        """Turn the torque of all motors off at once; unanswered."""
        self._daemon.tell_torque(False)

    def confirm_torque_off(self) -> list[bool | None]:
        """Turn torque off by HTTP as well where it is still on, and return that of each motor as read back."""
        return [self._daemon.confirm_torque(False)] * len(self._servos)

    def reboot(self, servo: Servo) -> None:
        """Raise ServoError: the daemon does not reboot motors."""
        raise ServoError("Reachy Mini's daemon does not reboot motors; restart the daemon")


class DaemonLook:
    """A look at motors: the next message of the daemon.

    Attributes:
        ids: of the motors.
        seconds: on a wire: none is needed.
        is_asked: whether the message is waited for.
        is_over: whether it has come.
        seen: what it says of the motors, by id.
    """

    seconds = 0.0

    def __init__(self, line: ReachyLine, daemon: Daemon, ids: Sequence[int]) -> None:
        self.ids, self.is_asked, self.is_over = tuple(ids), False, False
        self.seen: dict[int, Telemetry] = {}
        self._line, self._daemon, self._words = line, daemon, daemon.words

    def ask(self) -> None:
        """Wait for the next word from here on."""
        self.is_asked, self._words = True, self._daemon.words

    def collect(self) -> None:
        """Take in what has been said."""
        if not self.is_asked:
            return
        self._daemon.listen()
        if self._daemon.words > self._words:
            self.seen = {id: self._line.telemetry(id) for id in self.ids}
            self.is_asked, self.is_over = False, True


def counts(radians: float) -> int:
    """Return an angle [rad] in counts."""
    return round(radians / tau * COUNTS_PER_TURN) + MIDDLE


def angle(count: int) -> float:
    """Return a count as an angle [rad]."""
    return (count - MIDDLE) / COUNTS_PER_TURN * tau
