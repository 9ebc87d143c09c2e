"""Turns of looks: whose turn it is, who is asked alone, and who is gone, with servos that answer as a test says."""

from __future__ import annotations

import numpy as np
import pytest

from robik.servo.bus.looks import LOOK_AT_LEAST, Looks, Moment


class Blind:
    """Servos none of which ever answers."""

    groups = ((1, 2, 3),)

    def __init__(self) -> None:
        self.asked: list[tuple[int, ...]] = []

    def begin_look(self, ids):
        return BlindLook(self, ids)


class BlindLook:
    def __init__(self, sight, ids) -> None:
        self.ids, self.is_asked, self.seen, self.is_over = tuple(ids), False, {}, False
        self.seconds, self._sight = 1e-4 * len(ids), sight

    def ask(self) -> None:
        self._sight.asked.append(self.ids)
        self.is_asked = True

    def collect(self) -> None:
        self.is_asked, self.is_over = False, True


def test_who_is_silent_is_asked_alone_and_a_busy_wire_now_and_then():
    sight, gone = Blind(), []
    looks = Looks(sight, 0.0, lambda moment, seen: None, gone.append)
    for k in range(4):
        assert looks.turn(0.01, Moment(float(k), 0.0, np.zeros(3), np.zeros(3))) > 0.0
        looks.collect()
    assert sight.asked == [(1, 2, 3), (1,), (1,), (1,)]
    assert gone == [1]
    sight.asked.clear()
    busy = Looks(sight, 1e9, lambda moment, seen: None, gone.append)
    for k in range(1000):
        busy.turn(0.0, Moment(10.0 + 0.001 * k, 0.0, np.zeros(3), np.zeros(3)))
    assert len(sight.asked) == pytest.approx(1.0 / LOOK_AT_LEAST, abs=1)


class Answering(Blind):
    """Servos that answer, but for those that a test has silent."""

    def __init__(self, *groups: tuple[int, ...]) -> None:
        super().__init__()
        self.groups, self.silent = groups, set()

    def begin_look(self, ids):
        return AnsweringLook(self, ids)


class AnsweringLook(BlindLook):
    def collect(self) -> None:
        super().collect()
        self.seen = dict.fromkeys(set(self.ids) - self._sight.silent)


def turned(looks: Looks, times: int, slack: float = 0.01, start: int = 0) -> None:
    """Look so many times; each look is long after the one before."""
    for k in range(start, start + times):
        looks.turn(slack, Moment(float(k), 0.0, np.zeros(5), np.zeros(5)))
        looks.collect()


@pytest.mark.parametrize(
    ("slack", "shares"),
    [(0.01, [(1, 2, 3), (4, 5)]), (5.5e-4, [(1, 2), (3,), (4, 5)]), (4.5e-4, [(1,), (2,), (3,), (4,), (5,)])],
)
def test_all_servos_are_looked_at_in_turn_as_many_at_once_as_fit(slack, shares):
    sight, seen = Answering((1, 2, 3), (4, 5)), []
    looks = Looks(sight, 0.0, lambda moment, telemetry: seen.append((moment.time, *sorted(telemetry))), lambda id: None)
    turned(looks, 3 * len(shares), slack)
    assert sight.asked == 3 * shares
    assert looks.rounds == 3
    assert seen == [(float(k), *ids) for k, ids in enumerate(3 * shares)]


def test_who_answers_again_may_miss_as_often_as_at_first():
    sight, gone = Answering((1, 2, 3)), []
    looks = Looks(sight, 0.0, lambda moment, seen: None, gone.append)
    for start in (0, 12, 24):
        sight.silent = {2}
        turned(looks, 3, start=start)
        assert sight.asked[-2:] == [(2,), (2,)]
        sight.silent = set()
        turned(looks, 9, start=start + 3)
        assert (1, 2, 3) in sight.asked[-9:], "in company again"
    assert not gone
    sight.silent = {2}
    turned(looks, 4, start=36)
    assert gone == [2]


def test_who_was_asked_alone_is_asked_again_after_the_others():
    sight = Answering((1, 2, 3))
    looks = Looks(sight, 1e9, lambda moment, seen: None, lambda id: None)
    sight.silent = {1, 2}
    turned(looks, 1, 5.5e-4)
    sight.silent = set()
    turned(looks, 4, 5.5e-4, start=1)
    assert sight.asked == [(1, 2), (1,), (2,), (3,), (1, 2)]


def test_no_round_ends_with_a_servo_that_never_answers():
    sight = Answering((1,))
    sight.silent = {1}
    looks = Looks(sight, 1e9, lambda moment, seen: None, lambda id: None)
    turned(looks, 9)
    assert sight.asked == 9 * [(1,)] and looks.rounds == 0
