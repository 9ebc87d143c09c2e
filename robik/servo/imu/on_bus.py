"""A sensor of tilt on the servos' own bus: read between goals, in turn with looks at the servos."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...errors import ServoError
from .boards import BOARDS, MODEL_NUMBER
from .mount import ImuMount
from .tilt import LEAST_RATE, LISTENING, Tilt

if TYPE_CHECKING:
    from ..bus.line import BoardLine
    from ..bus.looks import Look

PERIOD = 0.01  # [s] between questions while it is listened to before anything moves


class BusImu(Tilt):
    """A board on a line, which is asked between goals; nobody waits for its answers."""

    def __init__(self, mount: ImuMount, line: BoardLine) -> None:
        super().__init__(mount)
        self._line, self._board = line, BOARDS[mount.type]

    def is_on(self, line: object) -> bool:
        """Return whether the sensor is on a line."""
        return self._line is line

    def close(self) -> None:
        """Leave the port to the servos."""

    def listen(self, pause: Callable[[float], None] = time.sleep) -> None:
        id, board = self.mount.bus_id, self._board
        said = self._line.read_beside(id, *MODEL_NUMBER)
        if said is None:
            raise ServoError(f"{self.where} says nothing; check its power, its cable, its id and its baud rate")
        if (number := int.from_bytes(said, "little")) != board.number:
            raise ServoError(f"{self.where} is no {self.mount.type}: its model number is {number}")
        began, count = time.perf_counter(), 0
        while (now := time.perf_counter()) - began < LISTENING:
            if (data := self._line.read_beside(id, board.address, board.size)) is not None:
                self.hear(board.up(data))
                count += 1
            pause(max(now + PERIOD - time.perf_counter(), 0.0))
        if (rate := count / LISTENING) < LEAST_RATE:
            raise ServoError(
                f"{self.where} gives {rate:.0f} readings a second, but {LEAST_RATE:.0f} are needed: the adapter is"
                " slow, or answers are lost"
            )

    def begin_look(self) -> Look[bytes]:
        """Return a look at the board, of which nothing has been asked yet."""
        return self._line.look_beside(self.mount.bus_id, self._board.address, self._board.size)

    def take(self, data: bytes) -> None:
        """Read the board's answer."""
        self.hear(self._board.up(data))
