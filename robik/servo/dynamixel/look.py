"""A look at some servos whose answers nobody waits for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from .models import RETURN_DELAY_UNIT
from .question import wire_bytes
from .wire import Wire

_Telemetry = TypeVar("_Telemetry")
Part = tuple[int, int]  # address and size of bytes


class AskedLook(Generic[_Telemetry]):
    """A look in one question or several, one after the other.

    Args:
        wire: of the servos.
        ids: theirs.
        parts: addresses and sizes, in the order in which they are asked for.
        delay: sum of the servos' return delays [their unit].
        decode: makes what a servo reports of the bytes of the parts.

    Attributes:
        ids: see above.
        is_asked: whether answers are on their way.
        seen: what those report who have answered everything, by id.
    """

    def __init__(
        self,
        wire: Wire,
        ids: Sequence[int],
        parts: Sequence[Part],
        delay: int,
        decode: Callable[[list[bytes]], _Telemetry],
    ) -> None:
        self.ids, self.is_asked = tuple(ids), False
        self.seen: dict[int, _Telemetry] = {}
        self._wire, self._left, self._decode = wire, list(parts), decode
        self._delay = delay * RETURN_DELAY_UNIT
        self._said: dict[int, list[bytes]] = {id: [] for id in ids}

    @property
    def seconds(self) -> float:
        """Time of the next question and its answers on the wire [s]."""
        if not self._left:
            return 0.0
        size = wire_bytes(len(self.ids), self._left[0][1], self._wire.has_fast_read)
        return size * self._wire.seconds_per_byte + self._delay

    @property
    def is_over(self) -> bool:
        """Return whether nothing more comes."""
        return not self._left and not self.is_asked

    def ask(self) -> None:
        """Send the next question."""
        self._wire.ask(self.ids, *self._left.pop(0))
        self.is_asked = True

    def collect(self) -> None:
        """Take in what has been answered; where somebody is silent, nothing more is asked."""
        answers = self._wire.answers()
        if answers is None:
            return
        self.is_asked = False
        for id, data in answers.items():
            self._said[id].append(data)
        if not self._left:
            self.seen = {id: self._decode(self._said[id]) for id in self.ids if id in answers}
        elif len(answers) < len(self.ids):
            self._left.clear()
