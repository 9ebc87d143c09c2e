"""How far a run of tests is, and how long it will take: a line every half minute in place of dots, for several runs
at once (`make test`)."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

EVERY = 30.0  # [s] between two lines


class Progress:
    """Counts tests that are done, and tells of them now and then."""

    def __init__(self, name: str, write: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self.total = self._done = 0
        self._name, self._write, self._clock = name, write, clock
        self._began = self._told = clock()

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        return ("passed", "", "PASSED") if report.passed and report.when == "call" else None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.total = len(ids)

    def pytest_runtest_logfinish(self) -> None:
        self._done += 1
        now = self._clock()
        if now - self._told >= EVERY:
            self._told, spent = now, now - self._began
            left = spent / self._done * max(self.total - self._done, 0)
            self._write(f"{self._name}: {self._done} of {self.total} tests, {_told(spent)}, about {_told(left)} left")


def _told(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # xdist's workers tell their controller
        terminal = config.pluginmanager.getplugin("terminalreporter")
        folder = config.args[0].removeprefix("tests").strip("/") or "library"
        config.pluginmanager.register(Progress(folder, lambda line: terminal.write_line(line, flush=True)))
