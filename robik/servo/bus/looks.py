"""Looks at servos between goals: a share of them at a time, as many as there is time for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from random import Random
from typing import Protocol, TypeVar

import numpy as np

from .telemetry import Telemetry

LOOK_EVERY = 0.009  # [s], at most, at all servos: at 100 Hz after every goal
LOOK_AT_LEAST = 0.25  # [s]: this often, at one, whatever the rate leaves time for
ASIDE = 3e-4  # [s] between goals that is left for this computer
MISSES = 3  # answers of one servo in a row that must be lost for it to be gone


@dataclass(frozen=True)
class Moment:
    """Time of a look at servos.

    Attributes:
        time: by the clock [s].
        at: on the way [s].
        goals, speeds: of the servos then (n,) [counts, counts/s].
    """

    time: float
    at: float
    goals: np.ndarray
    speeds: np.ndarray


_Seen = TypeVar("_Seen")


class Look(Protocol[_Seen]):
    """A look at some servos, of one question or several.

    Attributes:
        ids: of the servos.
        seconds: what the next question and its answers take on the wire.
        is_asked: whether answers to one are on their way.
        seen: what those report who have answered everything, by id.
        is_over: whether nothing more comes.
    """

    ids: tuple[int, ...]
    is_asked: bool
    seen: dict[int, _Seen]

    @property
    def seconds(self) -> float:
        """Time that has passed [s]."""

    @property
    def is_over(self) -> bool:
        """True once no look comes any more."""

    def ask(self) -> None:
        """Send the next question; nobody waits for the answers."""
        ...

    def collect(self) -> None:
        """Take in what has been answered."""
        ...


class Sight(Protocol):
    """Source of looks: see `line.Line`.

    Attributes:
        groups: ids of servos that can be asked together.
    """

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the servos that are looked at together."""

    def begin_look(self, ids: Sequence[int]) -> Look[Telemetry]:
        """Return a look at servos of one group, which has not asked anything yet."""
        ...

    def begin_late_look(self, id: int) -> Look[Telemetry] | None:
        """Return a look at one servo in one question, of which nothing has been asked yet."""
        ...


class Beside(Protocol):
    """A board on the bus that is looked at in turn with the servos."""

    def begin_look(self) -> Look[bytes]:
        """Return a look at it, of which nothing has been asked yet."""
        ...

    def take(self, data: bytes) -> None:
        """Read the board's answer."""
        ...


class Looks:
    """Looks in turn, one share of the servos after the other, which also find out who is silent.

    `on_seen` is called with each look's moment and the servos' reports by id, `on_silent` with the id of a servo
    that has been silent for `silence` [s]. `beside` is a board that gets every other look.

    Attributes:
        rounds: in which every servo was looked at.
        is_late: whether the look whose answer is awaited was one just before goals.
    """

    def __init__(
        self,
        sight: Sight,
        silence: float,
        on_seen: Callable[[Moment, dict[int, Telemetry]], None],
        on_silent: Callable[[int], None],
        beside: Beside | None = None,
    ) -> None:
        self.rounds = 0
        self._beside = beside
        self._aside: Look[bytes] | None = None  # at it
        self._was_aside = self.is_late = False  # the last look
        self._sight, self._silence = sight, silence
        self._on_seen, self._on_silent = on_seen, on_silent
        self._look: Look[Telemetry] | None = None
        self._late: Look[Telemetry] | None = None  # at one servo, between rounds
        self._chance = Random(0)  # which servo gets it: in turn, one might be seen only where somebody else is silent
        self._moment = Moment(0.0, 0.0, np.zeros(0), np.zeros(0))
        self._group = self._first = 0  # where the next share begins
        self._suspects: list[int] = []  # of those that did not answer in company
        self._alone = 0  # how many are to be asked alone before company is tried again
        self._missed = dict.fromkeys(self._all, 0)
        self._silent_since = dict.fromkeys(self._all, inf)
        self._round_began = self._asked = -inf

    @property
    def _all(self) -> list[int]:
        return [id for group in self._sight.groups for id in group]

    def turn(self, slack: float, moment: Moment) -> float:
        """Collect answers, ask what fits into `slack` [s], and return how long the wire is needed [s].

        0 means that nothing was asked. `slack` ends when the wire is needed for goals.
        """
        self.collect()
        if self._aside is not None or (self._look is not None and self._look.is_asked):
            return 0.0
        if self._beside is not None and not self._was_aside and (seconds := self._ask_aside(self._beside, slack)):
            return seconds
        self._was_aside = False
        look = self._look or self._next(slack, moment)
        if look is None:
            return 0.0
        seconds = look.seconds
        if seconds + ASIDE > slack and moment.time - self._asked < LOOK_AT_LEAST:
            return 0.0
        if self._is_new_round:
            self._round_began = moment.time
        self._look, self._moment, self._asked = look, moment, moment.time
        look.ask()
        return seconds

    def late(self) -> float:
        """Choose a servo to be looked at just before the next goals."""
        self._late = self._sight.begin_late_look(self._chance.choice(self._all))
        return self._late.seconds + ASIDE if self._late else 0.0

    def ask_late(self, slack: float, moment: Moment) -> bool:
        """Ask that servo if the goals leave `slack` [s] for it; return False where another answer is awaited.

        Somebody's silence goes first, and counts as asked.
        """
        self.collect()
        look, self._late = self._late, None
        if self._suspects:
            return True
        if look is None or self._look is not None or self._aside is not None or look.seconds + ASIDE / 2 > slack:
            return False
        self._look, self._moment, self.is_late = look, moment, True
        look.ask()
        return True

    @property
    def holds_up(self) -> bool:
        """Return whether an answer is awaited after which others are to be asked: the board's, or that of a group."""
        is_asked = self._look is not None and self._look.is_asked
        return self._aside is not None or (is_asked and len(self._sight.groups) > 1)

    def _ask_aside(self, beside: Beside, slack: float) -> float:
        """Ask the board, where that fits, and return how long the wire is needed [s]."""
        look = beside.begin_look()
        if look.seconds + ASIDE > slack:
            return 0.0
        self._aside, self._was_aside, seconds = look, True, look.seconds
        look.ask()
        return seconds

    @property
    def is_waiting(self) -> bool:
        """Return whether answers to what was asked may still come."""
        self.collect()
        if self._aside is not None:
            return True
        if self._look is not None and not self._look.is_asked:
            self._look = None  # of its further questions none is asked any more
        return self._look is not None

    @property
    def _is_new_round(self) -> bool:
        return self._group == self._first == 0 and not self._suspects and self._look is None

    def _next(self, slack: float, moment: Moment) -> Look[Telemetry] | None:
        """Return a look at the next share, as many servos as fit or one; None before it is time for a new round."""
        if self._is_new_round and moment.time - self._round_began < LOOK_EVERY:
            return None
        group = self._sight.groups[self._group]
        share = self._suspects[:1] or list(group[self._first : self._first + (1 if self._alone else len(group))])
        look = self._sight.begin_look(share)
        while len(share) > 1 and look.seconds + ASIDE > slack:
            share = share[:-1]
            look = self._sight.begin_look(share)
        return look

    def collect(self) -> None:
        """Take in what was answered."""
        if self._aside is not None and self._beside is not None:
            self._aside.collect()
            if self._aside.is_over:
                for data in self._aside.seen.values():
                    self._beside.take(data)
                self._aside = None
        look = self._look
        if look is None or not look.is_asked:
            return
        look.collect()
        if look.is_over:
            self._look = None
            self._take_note(look)

    def _take_note(self, look: Look[Telemetry]) -> None:
        was_late, self.is_late = self.is_late, False
        for id in look.seen:
            self._missed[id], self._silent_since[id] = 0, inf
        lost = [id for id in look.ids if id not in look.seen]
        if self._suspects:
            self._suspects = [id for id in self._suspects if id not in look.seen]
        elif (look.seen or len(look.ids) > 1) and not was_late:
            self._advance(len(look.ids))
        self._alone = max(0, self._alone - len(look.seen))
        if look.seen:
            self._on_seen(self._moment, look.seen)
        if lost:
            self._lose(lost, len(look.ids) == 1)

    def _lose(self, lost: list[int], was_alone: bool) -> None:
        """Find out which of these is silent: each is asked alone, and who is silent again at once."""
        now, self._alone = time.perf_counter(), len(self._missed)
        self._suspects = [*lost, *(id for id in self._suspects if id not in lost)]
        for id in lost:
            self._silent_since[id] = min(self._silent_since[id], self._moment.time)
        id = lost[0]
        self._missed[id] += was_alone
        if self._missed[id] >= MISSES and now - self._silent_since[id] >= self._silence:
            self._on_silent(id)

    def _advance(self, count: int) -> None:
        self._first += count
        if self._first >= len(self._sight.groups[self._group]):
            self._group, self._first = (self._group + 1) % len(self._sight.groups), 0
            self.rounds += self._group == 0
