"""The bus: a chain's servos behind the ports that they are on, spoken to as one, whatever their brand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ...errors import ServoError
from ..brands.driver import driver_of
from ..brands.wired.patience import UNHURRIED
from ..chain.chain import ServoChain
from ..chain.port_name import device_of
from ..chain.servo import Servo
from ..chain.tuning import Tuning
from ..imu.boards import BOARDS
from ..imu.mount import ImuMount
from .adapter import advice
from .emergency import Emergency
from .line import BoardLine, Line, PortGone
from .telemetry import Telemetry

_Each = TypeVar("_Each")


class Bus:
    """Open ports with a chain behind them. One thread at a time owns it.

    Reads and writes raise EmergencyStopped when the emergency stop is pressed. A servo is asked again for `silence`
    [s], unless goals are waiting, before it counts as gone. With `needs_all`, a port that cannot be opened is a
    ServoError at once; else it is one when torque has been cut on the others.

    Attributes:
        name: of the port, or of all.
        chain: the servos that it speaks to.
        missing: who is left out, and still hears when torque is turned off.
        failed: servos, by their place in the chain, that get no goals any more.
        emergency: the owner's emergency stop.
    """

    def __init__(
        self,
        chain: ServoChain,
        port: str,
        silence: float = UNHURRIED,
        emergency: Emergency | None = None,
        needs_all: bool = True,
    ) -> None:
        chain = chain.with_one_name_each(port)
        self.name, self.emergency = " and ".join(part.port or port for part in chain.parts), emergency or Emergency()
        self._asked = chain
        self._lines: list[Line] = []
        self._line_of: dict[int, Line] = {}
        self._unopened: list[ServoError] = []
        with ExitStack() as opened:  # a port that cannot be opened leaves none open
            for part in chain.parts:
                try:
                    line = driver_of(part.brand.name).open_line(part, part.port or port, silence, self.emergency)
                except ServoError as error:
                    self._unopened.append(error)
                    if needs_all or len(self._unopened) == len(chain.parts):
                        raise
                    continue
                self._lines.append(opened.enter_context(closing(line)))
                self._line_of |= dict.fromkeys(part.ids, line)
            self._opened = opened.pop_all()
        self.forget()

    def close(self) -> None:
        """Close the ports; whatever the servos do, they go on doing."""
        self._opened.close()

    # connecting

    def forget(self) -> None:
        """Speak to all servos of the chain, and know nothing of them but what it says."""
        for line in self._lines:
            line.forget()
        self._speak_to(self._asked, ())

    def leave_out(self, missing: Sequence[Servo]) -> None:
        """Speak from here on to all but the missing, who still hear torque-off; all others were inquired."""
        for line in self._lines:
            line.leave_out([servo for servo in line.servos if servo in missing])
        left = tuple(servo for servo in self._asked.servos if servo not in missing)
        self._speak_to(replace(self._asked, servos=left) if missing else self._asked, tuple(missing))

    def _speak_to(self, chain: ServoChain, missing: tuple[Servo, ...]) -> None:
        self.chain, self.missing, self.failed = chain, missing, set[int]()
        place = {servo.id: k for k, servo in enumerate(chain.servos)}
        self._places = [np.array([place[servo.id] for servo in line.servos], dtype=int) for line in self._lines]

    def prepare(self) -> None:
        """Set up what streaming needs; raise ServoSilent if a servo does not answer."""
        for line, _ in self._parts():
            line.prepare()

    @property
    def takes_speeds(self) -> bool:
        """Return whether goals can carry speeds; known after `prepare`."""
        return all(line.takes_speeds for line, _ in self._parts())

    @property
    def slowness(self) -> str:
        """Return which adapters take too long, and how to set them, in words; empty where none does.

        Known after inquiring.
        """
        return "; ".join(filter(None, (advice(line.name, line.latency) for line, _ in self._parts())))

    @property
    def lines(self) -> list[Line]:
        """Those that have servos to speak to."""
        return [line for line, _ in self._parts()]

    # reading

    def positions(self) -> np.ndarray:
        """Return present positions (n,) of all servos [counts]; raise ServoSilent if one does not answer."""
        return np.array(self._gathered([line.positions().tolist() for line, _ in self._parts()]), dtype=np.int64)

    def look(self) -> list[Telemetry] | None:
        """Look at all servos with one question; None where one is not enough, or not all answers arrived."""
        seen = []
        for line, _ in self._parts():
            if (some := line.look()) is None:
                return None
            seen.append(some)
        return self._gathered(seen)

    def look_at(self, k: int, hastily: bool = True) -> Telemetry:
        """Look at servo k of the chain; raise ServoSilent if it does not answer.

        `hastily`, while goals wait, it is asked only once and gets little time.
        """
        servo = self.chain.servos[k]
        return self.line_of(servo).look_at(servo, hastily)

    def look_at_each(self) -> list[Telemetry]:
        """Look at all servos, one after the other where one question is not enough.

        Raise ServoSilent if one does not answer.
        """
        return self.look() or [self.look_at(k, hastily=False) for k in range(len(self.chain.servos))]

    def glance(self) -> list[Telemetry | None]:
        """Look at every servo, asking once; None for one that does not answer."""
        return [self.line_of(servo).glance(servo) for servo in self.chain.servos]

    def tunings(self) -> list[Tuning]:
        """Return the tuning of each servo, as read; raise ServoSilent if one does not answer."""
        return self._gathered([line.tunings() for line, _ in self._parts()])

    def are_stopped(self) -> list[bool]:
        """Return which servos were stopped by their watchdog; raise ServoSilent if one does not answer."""
        return self._gathered([line.are_stopped() for line, _ in self._parts()])

    # writing

    def set_watchdog(self, seconds: float) -> None:
        """Let the servos stop when no packet has come for `seconds`; 0 turns that off and frees stopped ones."""
        for line, _ in self._parts():
            line.set_watchdog(seconds)

    def let_hold(self) -> None:
        """Let the servos that have not failed hold without packets.

        Unanswered, since one of the others may be silent.
        """
        for line, places in self._parts():
            line.send_watchdog_off([self.chain.servos[k] for k in places.tolist() if k not in self.failed])

    def set_speed_limit(self, speeds: np.ndarray) -> None:
        """Set the servos' own speed limits to speeds (n,) of the actuators [rad/s or m/s]."""
        for line, places in self._parts():
            line.set_speed_limit(speeds[places])

    def tune(self, servo: Servo, tuning: Tuning) -> None:
        """Write gains and the profile's acceleration of a servo; entries that are None stay.

        Raise ServoError if it does not take them.
        """
        self.line_of(servo).tune(servo, tuning)

    def hold_at(self, counts: np.ndarray) -> None:
        """Set goals (n,) [counts] and the limits of currents before torque is on."""
        for line, places in self._parts():
            line.hold_at(counts[places])

    def send_goals(self, counts: np.ndarray, speeds: np.ndarray | None = None) -> None:
        """Send goals (n,) [counts] to the servos that have not failed.

        `speeds` (n,) go with them, in the models' units, where goals carry speeds.
        """
        for line, places in self._parts():
            obeying = [k for k, place in enumerate(places.tolist()) if place not in self.failed]
            line.send_goals(counts[places], None if speeds is None else speeds[places], obeying)

    def set_torque(self, powered: Sequence[bool]) -> None:
        """Turn torque on or off, for each servo of the chain; raise ServoError if one does not obey."""
        for line, places in self._parts():
            line.set_torque([powered[k] for k in places.tolist()])

    def cut_torque(self) -> list[bool | None]:
        """Turn torque off at once, and return it for each servo as read back; None without an answer.

        Every port is told before any servo is asked. Raise ServoError if a port fails or could not be opened; the
        servos on the others were told, and asked, all the same.
        """
        with self.emergency.serving():
            gone = self._on_every(lambda line: line.send_torque_off())[1]
            torque, more = self._on_every(lambda line: line.confirm_torque_off())
            if failed := [*gone, *more, *self._unopened]:
                raise failed[0]
            return self._gathered(torque)

    def _on_every(self, act: Callable[[Line], _Each]) -> tuple[list[_Each], list[PortGone]]:
        """Do something on every line, also where another one fails."""
        done, gone = [], []
        for line in self._lines:
            try:
                done.append(act(line))
            except PortGone as error:
                gone.append(error)
        return done, gone

    @property
    def waking(self) -> float:
        """Return what the slowest servo takes to answer again after a reboot [s]."""
        return max(part.brand.waking for part in self._asked.parts)

    # lines

    def line_of(self, servo: Servo) -> Line:
        """Return the line of a servo, missing or not, for questions to it alone."""
        return self._line_of[servo.id]

    def line_with(self, imu: ImuMount) -> BoardLine:
        """Return the line that a sensor is on; raise ServoError if no servos of that port speak as it does."""
        brand = BOARDS[imu.type].brand
        for part in self._asked.parts:
            line = self._line_of.get(part.servos[0].id)
            is_it = line is not None and part.brand.name == brand
            if is_it and isinstance(line, BoardLine) and device_of(imu.port or line.name) == device_of(line.name):
                return line
        where = f" on {imu.port}" if imu.port else ""
        raise ServoError(f"the imu of type {imu.type} is on a bus of {brand} servos, and the chain has none{where}")

    def _parts(self) -> list[tuple[Line, np.ndarray]]:
        """Return the lines that have servos to speak to, with the servos' places in the chain."""
        return [(line, places) for line, places in zip(self._lines, self._places, strict=True) if len(places)]

    def _gathered(self, parts: Sequence[Sequence[_Each]]) -> list[_Each]:
        """Return what each line said of its servos in the order of the chain."""
        places, said = np.concatenate(self._places).tolist(), [one for part in parts for one in part]
        return [one for _, one in sorted(zip(places, said, strict=True), key=lambda pair: pair[0])]
