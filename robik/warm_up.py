"""Compiling what solving needs before anybody waits for it, in a process of its own: numba's cache has it from then on.

`python -m robik.warm_up` compiles here and now.
"""

from __future__ import annotations

import os
import subprocess
import sys

from numba.core import event

_started: list[subprocess.Popen] = []


class _Compilations(event.Listener):
    """Counts those under way; what comes from the cache is none."""

    def __init__(self) -> None:
        self.under_way = 0

    def on_start(self, event: event.Event) -> None:
        self.under_way += 1

    def on_end(self, event: event.Event) -> None:
        self.under_way -= 1


_compilations = _Compilations()
event.register("numba:compile", _compilations)


def is_compiling() -> bool:
    """Whether this process is compiling."""
    return _compilations.under_way > 0


def compile_all() -> None:
    """Compiles, or loads from the cache, everything that solving needs."""
    from robik.bench.cases import cases
    from robik.retarget.retarget import retarget

    for case in cases(fps=10.0):
        retarget(case.mechanism, case.clip, case.settings)


def warm_up() -> subprocess.Popen | None:
    """Starts `compile_all` in a process of low priority, once; returns that process, None if it had been started before."""
    if _started:
        return None
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    process = subprocess.Popen(
        [sys.executable, "-m", "robik.warm_up"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        creationflags=flags,
    )
    _started.append(process)
    return _started[0]


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)
    compile_all()
