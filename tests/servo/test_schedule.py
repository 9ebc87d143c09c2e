"""Precedence as it is asked for on Windows, which no test here runs on: with the calls' own types."""

from __future__ import annotations

import ctypes

from robik.servo import schedule

THREAD = ctypes.c_void_p(-2).value  # what stands for the present thread there: as wide as a pointer


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
