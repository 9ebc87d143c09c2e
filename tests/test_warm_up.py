"""The solver is compiled ahead, once, in a process of its own, which says why if it cannot."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from numba import njit
from numba.core import event

from robik.jit import events, is_compiling
from robik.warm_up import processes, status, warm_up
from robik.warm_up.processes import WATCH, Status
from tools.compiled import compiled
from tools.extension import Target, dependency_wheels

CHECKOUT = Path(__file__).parents[1]
TYPES = """
from robik.jit import kinds_in_cache
from robik.ik import hessian, newton, sqp
from robik.kinematics import curvature
last = hessian.matrix, curvature.closure_curvature, hessian.times, newton._step, sqp._search, sqp._finish
print(*map(kinds_in_cache, last))
"""
SOLVING = """
from numba.core import event
from robik.bench.cases import cases
from robik.retargeting.retarget import retarget

class Count(event.Listener):
    compiled = 0
    def on_start(self, event): Count.compiled += 1
    def on_end(self, event): pass

event.register("numba:compile", Count())
solved = set()
for case in cases(fps=10.0):
    retarget(case.mechanism, case.clip, case.settings).report.hold
    solved.add(case.mechanism.name)

import numpy as np
from robik.feet.support import nearest
from robik.kinematics.forward import ForwardKinematics
from robik.objectives.clearance import Clearance
from robik.objectives.objective import States
from robik.tracking.feed import Feed, FeedSettings

walker, polygon = case.mechanism, np.eye(3, 2)
fk = ForwardKinematics(walker)
values = np.tile(walker.actuator_rest, (2, 1))
poses = fk.poses(values)
wall = Clearance(*(body.name for body in walker.bodies[:2]), least=np.zeros(2), points=np.zeros((2, 2, 3)))
wall.gaps(States(walker, poses.position, poses.quaternion))
fk.linearized(values, walker.actuators)
Feed(np.eye(7)[3], FeedSettings()).step(0.1)
polygon.flags.writeable = False
nearest(np.zeros((2, 2)), polygon)
print(Count.compiled, *sorted(solved))
"""


@pytest.fixture(scope="module")
def ahead() -> dict[str, str]:
    """Return the environment variables of processes for which the solver has been compiled ahead, as for the zip."""
    here = Target.here()
    compiled_ahead = compiled(here.platform, here.python, dependency_wheels(here))
    return {"NUMBA_CACHE_DIR": str(compiled_ahead), "NUMBA_CPU_NAME": "generic"}


@pytest.fixture(scope="module")
def warm(ahead: dict[str, str]) -> Callable[[str], list[str]]:
    """Run code where the solver has been compiled ahead."""

    def told(code: str) -> list[str]:
        environment = os.environ | ahead | {"PYTHONPATH": str(CHECKOUT)}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=CHECKOUT, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout.split()

    return told


def test_solving_compiles_nothing_that_has_not_been_compiled_ahead(warm: Callable[[str], list[str]]) -> None:
    compiled, *robots = warm(SOLVING)
    assert {"boxer", "chain", "dancer", "walker"} <= set(robots)
    assert compiled == "0"


def test_the_second_process_compiles_what_solving_comes_to(warm: Callable[[str], list[str]]) -> None:
    """Each kernel has one type of arguments; wrong guesses would be more."""
    assert warm(TYPES) == ["1"] * 6


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been started."""
    monkeypatch.setattr(processes, "_status", Status("idle"))


@pytest.mark.usefixtures("idle")
def test_compiling_ahead_happens_once(ahead: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also from beside another folder called `robik`."""
    (tmp_path / "robik").mkdir()
    (tmp_path / "robik" / "__init__.py").write_text("raise ImportError('this is another robik')")
    monkeypatch.chdir(tmp_path)
    for name, value in ahead.items():
        monkeypatch.setenv(name, value)
    process = warm_up()
    assert process is not None
    assert status() == Status("running")
    assert warm_up() is None
    assert process.wait(timeout=1500) == 0
    assert _ended() == Status("done")


@pytest.mark.usefixtures("idle")
def test_a_process_that_fails_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 'Traceback' >&2\necho 'ImportError: no compiler' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    assert warm_up() is not None
    assert _ended() == Status("failed", "ImportError: no compiler")
    (record,) = [r for r in caplog.records if r.name == "robik"]
    assert record.levelno == logging.ERROR
    assert "Traceback\nImportError: no compiler" in record.getMessage()


@pytest.mark.usefixtures("idle")
def test_a_process_that_ends_silently_is_told_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert warm_up() is not None
    assert _ended() == Status("failed", "the process ended with code 1")


@pytest.mark.usefixtures("idle")
def test_a_program_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert warm_up() is None
    assert status().state == "failed"
    assert "/nowhere/python" in status().line
    assert "could not be compiled ahead" in caplog.text


def _ended() -> Status:
    """How compiling fares once nobody waits for a process any more."""
    for thread in threading.enumerate():
        if thread.name == WATCH:
            thread.join(60)
    return status()


def test_compiling_is_told_while_it_lasts() -> None:
    told = []

    class Listening(event.Listener):
        def on_start(self, event: event.Event) -> None:
            told.append(is_compiling())

        def on_end(self, event: event.Event) -> None:
            pass

    assert not is_compiling()
    with event.install_listener("numba:compile", Listening()):
        assert njit(lambda x: x + 1)(1) == 2
    assert told
    assert all(told)
    assert not is_compiling()


def test_a_line_says_what_is_compiled_where_it_takes_long(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first says that it is once for all, later ones come every few seconds; here hours, for busy machines."""
    monkeypatch.setattr(events, "PATIENCE", 1e4)
    monkeypatch.setattr(events, "EVERY", 1e4)
    monkeypatch.setattr(events._compilations, "_next", 1e9)  # the process's own
    compilations = events._Compilations()
    with event.install_listener("numba:compile", compilations):
        njit(lambda x: x + 1)(1)
        assert caplog.text == ""
        compilations._before = events.PATIENCE
        njit(lambda x: x + 2)(1)
        njit(lambda x: x + 3)(1)
        compilations._before += events.EVERY
        njit(lambda x: x + 4)(1)
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("robik: compiling the solver, once for this machine (`robik warm-up` does it ahead): ")
    assert "test_warm_up.<lambda>" in first
    assert second.startswith("robik: compiling the solver: ")


def test_the_command_says_where_code_is_kept(ahead: dict[str, str]) -> None:
    """All is there, so that it has nothing to do."""
    command = [sys.executable, "-m", "robik", "warm-up"]
    done = subprocess.run(command, cwd=CHECKOUT, env=os.environ | ahead, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("nothing to compile: all of it is there\n", "")
