"""Writing the tuning of servos on the thread that owns the port, and reading it back."""

from __future__ import annotations

from ...errors import ServoError
from ..bus.bus import Bus
from ..bus.line import PortGone
from ..chain.servo import Servo
from ..chain.tuning import Tuning


class Tuner:
    """Writer of the tunings by id that the chain, and later its owner, asks for."""

    def __init__(self, bus: Bus, asked: dict[int, Tuning]) -> None:
        self._bus, self._asked = bus, asked
        self._before: dict[int, Tuning] = {}  # of servos that were tuned

    def read(self) -> tuple[Tuning, ...]:
        """Return the tuning of each servo that is there, as read; raise ServoSilent if one does not answer."""
        return tuple(self._bus.tunings())

    def write_all(self) -> None:
        """Write the tunings that are asked for of the servos that are there."""
        for servo in self._bus.chain.servos:
            if servo.id in self._before or self._asked[servo.id].is_asked:
                self._write(servo)

    def tune(self, id: int, tuning: Tuning) -> tuple[str, tuple[Tuning, ...]]:
        """Give a servo another tuning; return why it did not take it, and the tuning of each servo as read back.

        The reason is a sentence, empty if it did; the tunings are empty where they are not known. Entries that are
        None become what they were before it was tuned. Raise PortGone if the port fails.
        """
        self._asked[id] = tuning
        servos = self._bus.chain.servos
        servo = next((servo for servo in servos if servo.id == id), None)
        if servo is None:
            return f"servo {id} is not there, so its gains were not set", ()
        said, now = "", tuple[Tuning, ...]()
        try:
            self._write(servo)
            now = self.read()
        except PortGone:
            raise
        except ServoError as error:
            said = str(error)
        has = now[servos.index(servo)] if now else tuning
        if any(value not in (None, is_value) for value, is_value in zip(tuning, has, strict=True)):
            said = f"servo {id} ({servo.actuator}) does not take {tuning}; it stays at {has}"
        return said, now

    def _write(self, servo: Servo) -> None:
        if servo.id not in self._before:
            self._before[servo.id] = self.read()[self._bus.chain.servos.index(servo)]
        both = zip(self._asked[servo.id], self._before[servo.id], strict=True)
        self._bus.tune(servo, Tuning(*(was if asked is None else asked for asked, was in both)))
