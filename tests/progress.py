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
        self._done, self._name, self._write, self._clock = 0, name, write, clock
        self.begin(0)

    def begin(self, total: int) -> None:
        """Count from now, up to so many tests."""
        self._total, self._began = total, self._clock()
        self._told = self._began

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        return ("passed", "", "PASSED") if report.passed and report.when == "call" else None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.begin(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.begin(len(ids))

    def pytest_runtest_logfinish(self) -> None:
        self._done += 1
        now = self._clock()
        if now - self._told >= EVERY:
            self._told, spent = now, now - self._began
            left = spent / self._done * max(self._total - self._done, 0)
            self._write(f"{self._name}: {self._done} of {self._total} tests, {_told(spent)}, about {_told(left)} left")


def _told(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # xdist's workers tell their controller
        config.pluginmanager.register(
            Progress(config.args[0].removeprefix("tests").strip("/") or "library", _write(config))
        )


def _write(config: pytest.Config) -> Callable[[str], object]:
    return lambda line: config.pluginmanager.getplugin("terminalreporter").write_line(line, flush=True)
