"""A look at some servos whose answers nobody waits for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from ..chain import BITS_PER_BYTE
from .bus import Bus
from .models import RETURN_DELAY_UNIT
from .question import wire_bytes

_Telemetry = TypeVar("_Telemetry")
Part = tuple[int, int]  # address and size of bytes


class AskedLook(Generic[_Telemetry]):
    """A look in one question or several, one after the other.

    Args:
        bus: of the servos.
        places: theirs in the bus's chain.
        parts: addresses and sizes, in the order in which they are asked for.
        delays: return delay of each servo [its unit].
        decode: makes what a servo reports of the bytes of the parts.

    Attributes:
        places: see above.
        is_asked: whether answers are on their way.
        seen: what those report who have answered everything, by place.
    """

    def __init__(
        self,
        bus: Bus,
        places: Sequence[int],
        parts: Sequence[Part],
        delays: Sequence[int],
        decode: Callable[[list[bytes]], _Telemetry],
    ) -> None:
        self.places, self.is_asked = tuple(places), False
        self.seen: dict[int, _Telemetry] = {}
        self._bus, self._left, self._decode = bus, list(parts), decode
        self._delay = sum(delays) * RETURN_DELAY_UNIT
        self._ids = [bus.chain.ids[place] for place in places]
        self._said: dict[int, list[bytes]] = {id: [] for id in self._ids}

    @property
    def seconds(self) -> float:
        """Time of the next question and its answers on the wire [s]."""
        if not self._left:
            return 0.0
        size = wire_bytes(len(self._ids), self._left[0][1], self._bus.has_fast_read)
        return size * BITS_PER_BYTE / self._bus.chain.baud_rate + self._delay

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        return not self._left and not self.is_asked

    def ask(self) -> None:
        """Send the next question."""
        self._bus.ask(self._ids, *self._left.pop(0))
        self.is_asked = True

    def collect(self) -> None:
        """Take in what has been answered; where somebody is silent, nothing more is asked."""
        answers = self._bus.answers()
        if answers is None:
            return
        self.is_asked = False
        for id, data in answers.items():
            self._said[id].append(data)
        if not self._left:
            by_place = zip(self.places, self._ids, strict=True)
            self.seen = {place: self._decode(self._said[id]) for place, id in by_place if id in answers}
        elif len(answers) < len(self._ids):
            self._left.clear()
