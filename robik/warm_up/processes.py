"""Processes that compile, and how they fare."""

from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import dataclass
from threading import Lock, Thread
from threading import enumerate as enumerate_threads
from typing import Literal

from .. import program

LOG = logging.getLogger("robik")
WATCH = "robik compiling ahead"  # the name of the thread that waits for the process
LAST, ALONE = "last", "alone"  # the arguments for what solving comes to last, and for everything in one process


@dataclass(frozen=True)
class Status:
    """State of compiling ahead.

    Attributes:
        state: `idle` before it is started.
        line: the last that a process said which failed; else empty.
    """

    state: Literal["idle", "running", "done", "failed"]
    line: str = ""


_lock = Lock()
_status = Status("idle")


def status() -> Status:
    """Return the state of compiling ahead in processes that this one started."""
    return _status


def warm_up() -> subprocess.Popen | None:
    """Start compiling everything in a process of low priority, once; return that process.

    Return None where it was started before, or cannot be started: `status` says why.
    """
    return _start()


def help_compiling() -> None:
    """Start a second process for what solving comes to last, unless all is compiled or a process has been started."""
    from ..ik.sqp import minimise
    from ..jit import kinds_in_cache

    if status().state == "idle" and kinds_in_cache(minimise) == 0:
        _start(LAST)


def wait_for_help() -> None:
    """Return when no process that this one started compiles any longer."""
    for thread in enumerate_threads():
        if thread.name == WATCH:
            thread.join()


def _start(*arguments: str) -> subprocess.Popen | None:
    """Start this package as a program, unless that has been done."""
    with _lock:
        if _status.state != "idle":
            return None
        try:
            process = _process(*arguments)
        except OSError as error:
            _note(Status("failed", str(error)))
            return None
        _note(Status("running"))
    Thread(target=_watch, args=(process,), name=WATCH, daemon=True).start()
    return process


def _process(*arguments: str) -> subprocess.Popen:
    """Start a process of low priority that runs this package out of this very folder, wherever it works."""
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    return subprocess.Popen(
        program.command("warm_up", *arguments),
        env=program.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        creationflags=flags,
    )


def _watch(process: subprocess.Popen) -> None:
    """Wait for a process, hand on what it says to the log, and note how it ended."""
    _, said = process.communicate()
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if process.returncode == 0:
        for line in lines:
            LOG.info("Compiling ahead: %s", line)
        _note(Status("done"))
    else:
        _note(Status("failed", lines[-1] if lines else f"the process ended with code {process.returncode}"), said)


def _note(found: Status, said: str = "") -> None:
    """Keep how compiling fares; a failure goes into the log, with all that the process said."""
    global _status
    _status = found
    if found.state == "failed":
        LOG.error("The solver could not be compiled ahead: %s", "\n".join(filter(None, (found.line, said.rstrip()))))
