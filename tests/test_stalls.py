"""A test in real time runs again where the machine stalled, and only there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.stalls import BEHIND, BUSY, FEW, STALL, Stalls

CHECKOUT = Path(__file__).resolve().parents[1]
TESTS = """
import pytest
from tests.stalls import Stalls

runs, stalled = {}, set()
Stalls.saw_one = lambda _: bool(stalled)


def run(name, stalls):
    runs[name] = runs.get(name, 0) + 1
    stalled.clear()
    if runs[name] in stalls:
        stalled.add(name)
    return runs[name]


@pytest.mark.real_time
def test_passes_after_a_stall():
    assert run("passes", {1}) == 2


@pytest.mark.real_time
def test_fails_without_one():
    assert run("calm", set()) == 2


@pytest.mark.real_time
def test_fails_without_one_the_second_time():
    assert run("second", {1}) == 3


@pytest.mark.real_time
def test_fails_whenever_it_stalls():
    run("always", set(range(9)))
    assert False


def test_is_no_test_in_real_time():
    assert run("other", {1}) == 2
"""


def test_a_processor_that_is_taken_away_is_noticed() -> None:
    stalls = Stalls()
    time.sleep(5 * STALL)
    while True:  # the machine itself may stall
        stalls.forget()
        time.sleep(STALL)
        if not stalls.saw_one():
            break
    began = time.monotonic()
    while time.monotonic() - began < 2 * STALL:
        sum(range(20_000_000))  # no other thread of this process runs meanwhile
    time.sleep(STALL)
    assert stalls.saw_one()


def worst_after_rest(stalls: Stalls) -> float:
    """Return the longest stall [s] that is noticed after half a second at rest, in which nothing may look."""
    stalls.rest()
    time.sleep(0.1)  # a look that was under way ends
    looks = stalls.looks
    time.sleep(0.5)
    assert stalls.looks == looks
    stalls.forget()
    while not stalls.looks:
        time.sleep(0.01)
    return stalls.worst


def test_time_at_rest_is_no_stall() -> None:
    stalls = Stalls()
    assert min(worst_after_rest(stalls) for _ in range(3)) < 0.4, "the machine itself may stall now and then"


def test_many_short_waits_are_noticed_and_few_are_not() -> None:
    stalls = object.__new__(Stalls)  # without the threads that look
    stalls.worst, stalls.looks, stalls.late = 2 * BEHIND, FEW, int(BUSY * FEW)
    assert not stalls.saw_one()
    stalls.late += 1
    assert stalls.saw_one()


def test_what_runs_anew(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import pytest_collection_modifyitems, pytest_runtest_setup\n"
    )
    (tmp_path / "test_it.py").write_text(TESTS)
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    options = (
        "-q",
        "-rfR",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "-c",
        str(CHECKOUT / "pyproject.toml"),
        "--rootdir",
        str(tmp_path),
    )
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    told = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False).stdout
    reruns = [line.rsplit("::", 1)[1].split(" ")[0] for line in told.splitlines() if line.startswith("RERUN")]
    failed = {line.rsplit("::", 1)[1].split(" ")[0] for line in told.splitlines() if line.startswith("FAILED")}
    assert failed == {
        "test_fails_without_one",
        "test_fails_without_one_the_second_time",
        "test_fails_whenever_it_stalls",
        "test_is_no_test_in_real_time",
    }, told
    counts = {name: reruns.count(name) for name in reruns}
    assert counts == {
        "test_passes_after_a_stall": 1,
        "test_fails_without_one_the_second_time": 1,
        "test_fails_whenever_it_stalls": 3,
    }, told
