"""Verdict of `tests.servo.hour`: a dropped goal is the machine's fault only where a bare clock was late with it."""

from __future__ import annotations

import numpy as np

from tests.servo.hour import LATE, STATUS, TOGETHER, _judged


def judged(drops):
    """Return the verdict on a player that dropped goals then, beside clocks of which one was late at 10 s."""
    told = {"began": 0.0, "ended": 60.0, "bakes": 1, "stops": [], "drops": drops, "beats_apart": 0.1}
    bare = np.array([(k / 100, 1e-4, 0) for k in range(6000)])
    on_cores = np.array([(10.0, 0.031, 15, 1), (70.0, 0.5, 200, 0)])
    return _judged(told | dict.fromkeys(STATUS, 0), bare, on_cores, np.arange(6000) / 100)


def test_a_drop_beside_a_late_clock_is_the_machines() -> None:
    found = judged([(10.0 + TOGETHER / 2, 3)])
    assert found["dropped_while_every_bare_clock_was_in_time"] == 0
    assert found["dropped_at_this_rate_on_the_cores"] == [3]


def test_a_drop_alone_is_ours() -> None:
    assert judged([(10.0, 2), (10.0 + 3 * TOGETHER, 4)])["dropped_while_every_bare_clock_was_in_time"] == 4
    assert judged([(70.0, 1)])["dropped_while_every_bare_clock_was_in_time"] == 1, "after the end nobody was late"


def test_the_bare_clock_counts_too() -> None:
    told = {"began": 0.0, "ended": 9.0, "bakes": 1, "stops": [], "drops": [(5.0, 1)], "beats_apart": 0.1}
    told |= dict.fromkeys(STATUS, 0)
    none = np.zeros((0, 4))
    for late, alone in ((2 * LATE, 0), (LATE / 2, 1)):
        found = _judged(told, np.array([(5.0, late, 0)]), none, np.zeros(2))
        assert found["dropped_while_every_bare_clock_was_in_time"] == alone
