"""Looks at servos whose answers nobody waits for: see `Look`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from .reading import Reader

_Telemetry = TypeVar("_Telemetry")
Part = tuple[int, int]  # address and size of bytes


class AskedLook(Generic[_Telemetry]):
    """A look in one question or several, one after the other.

    `parts` are addresses and sizes in the order in which they are asked for, `decode` returns a report of a servo's
    id and its bytes, and `delay` is what the servos wait before they answer, beyond what a question counts on [s].

    Attributes:
        ids: of the servos.
        is_asked: whether answers are on their way.
        seen: what those report who have answered everything, by id.
    """

    def __init__(
        self,
        reader: Reader,
        ids: Sequence[int],
        parts: Sequence[Part],
        decode: Callable[[int, list[bytes]], _Telemetry],
        delay: float = 0.0,
    ) -> None:
        self.ids, self.is_asked = tuple(ids), False
        self.seen: dict[int, _Telemetry] = {}
        self._reader, self._left, self._decode, self._delay = reader, list(parts), decode, delay
        self._said: dict[int, list[bytes]] = {id: [] for id in ids}

    @property
    def seconds(self) -> float:
        """Time of the next question and its answers on the wire [s]."""
        if not self._left:
            return 0.0
        return self._reader.seconds(self.ids, *self._left[0]) + self._delay

    @property
    def is_over(self) -> bool:
        """Return whether nothing more comes."""
        return not self._left and not self.is_asked

    def ask(self) -> None:
        """Send the next question."""
        self._reader.ask(self.ids, *self._left.pop(0))
        self.is_asked = True

    def collect(self) -> None:
        """Take in what has been answered; where somebody is silent, nothing more is asked."""
        answers = self._reader.answers()
        if answers is None:
            return
        self.is_asked = False
        for id, data in answers.items():
            self._said[id].append(data)
        if not self._left:
            self.seen = {id: self._decode(id, self._said[id]) for id in self.ids if id in answers}
        elif len(answers) < len(self.ids):
            self._left.clear()
