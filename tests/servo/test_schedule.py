"""Which goals are late and which are dropped; and precedence as it is asked for on Windows, which no test runs on."""

from __future__ import annotations

import ctypes

import pytest

from robik.servo.bus import schedule

THREAD = ctypes.c_void_p(-2).value  # what stands for the present thread there: as wide as a pointer


class Clock:
    """A clock that goes on by itself only while somebody sleeps, and then `overshoots` [s] once."""

    def __init__(self) -> None:
        self.now, self.overshoots = 100.0, 0.0

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self.overshoots
        self.overshoots = 0.0


def test_a_goal_goes_out_late_and_is_dropped_only_where_the_next_is_due(monkeypatch) -> None:
    clock = Clock()
    monkeypatch.setattr(schedule, "time", clock)
    goals = schedule.Schedule(100.0)
    goals.start()
    sent = []

    def send() -> None:
        number = goals.wait()
        late = clock.now - 100.0 - number / 100.0
        sent.append((number, pytest.approx(1e3 * late, abs=1e-6)))
        goals.done()

    send()
    clock.now = 100.018
    send()  # late by less than a period
    assert (goals.dropped, goals.dropped_at) == (0, 0.0)
    clock.now = 100.045
    send()  # the newest that is due, in the place of those before it
    assert (goals.dropped, goals.dropped_at) == (2, 100.045)
    send()
    clock.overshoots = 0.025
    send()  # waited for, and woken late: it goes out all the same
    assert goals.dropped == 2
    send()
    assert sent == [(0, 0.0), (1, 8.0), (4, 5.0), (5, 0.0), (6, 25.0), (8, 5.0)]
    assert (goals.sent, goals.dropped, goals.dropped_at) == (6, 3, pytest.approx(100.085))
    assert goals.lateness.worst == pytest.approx(0.025)


class Call:
    """A function of a Windows library, as `ctypes` has it: of what is not declared, an int of 32 bits is made."""

    def __init__(self, result: int | None = 0) -> None:
        self.restype, self.argtypes, self.asked, self._result = ctypes.c_int, None, [], result

    def __call__(self, *arguments: int) -> int | None:
        types = self.argtypes or [ctypes.c_int] * len(arguments)
        self.asked.append([kind(one).value for kind, one in zip(types, arguments, strict=True)])
        return self.restype(self._result).value


class Library:
    """Functions by name."""

    def __init__(self, **calls: Call) -> None:
        self.__dict__ |= calls


def test_the_thread_itself_gets_precedence_on_windows() -> None:
    kernel = Library(GetCurrentThread=Call(THREAD), SetThreadPriority=Call(1))
    timers = Library(timeBeginPeriod=Call())
    schedule._take_precedence_on_windows(kernel, timers)
    assert kernel.SetThreadPriority.asked == [[THREAD, 15]]
    assert timers.timeBeginPeriod.asked == [[1]]
