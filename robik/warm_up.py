"""Compiling what solving needs before anybody waits for it, in processes of their own: numba's cache has it from then on.

`python -m robik.warm_up` compiles here and now, in two processes: one solves, and so compiles what it comes to; the other meanwhile
compiles what solving comes to last.
"""

from __future__ import annotations

import os
import subprocess
import sys

from . import program

LAST = "last"  # the argument for what solving comes to last
_started: list[subprocess.Popen] = []


def compile_all() -> None:
    """Compiles, or loads from the cache, everything that solving needs."""
    from .bench.cases import cases
    from .retarget.retarget import retarget

    help_compiling()
    for case in cases(fps=10.0):
        retarget(case.mechanism, case.clip, case.settings)


def help_compiling() -> None:
    """Before solving: starts a second process for what solving comes to last, unless all is compiled or that has been started before."""
    from .ik.sqp import minimise
    from .jit import kinds_in_cache

    if not _started and not kinds_in_cache(minimise):
        _started.append(_process(LAST))


def _compile_last() -> None:
    """What depends on little else comes first: the other process has compiled the rest by then."""
    from .ik import curvature, hessian, newton, sqp
    from .ik.work import new_work
    from .jit import by_reference, compile_for
    from .kinematics import elimination
    from .kinematics.kernels import new_placement
    from .mechanism.topology import build_topology
    from .objectives.registry import new_goals
    from .robots import load

    topology = build_topology(load("boxer"))
    flat = by_reference(topology.flat)
    now, room = new_placement(flat, topology.rest), new_work(flat, topology.rest)
    goals = new_goals(topology, [], now)
    frame = flat, now, goals, room
    compile_for(hessian.matrix, flat, now, room.terms, room.system, room.K)
    compile_for(curvature.closure_curvature, flat, now, room.step, room.system)
    compile_for(hessian.times, flat, now, goals, room.terms, room.system, room.step, room.step)
    compile_for(newton._step, *frame, True, True)
    compile_for(newton.leave_saddle, flat, now, room)
    compile_for(elimination.refactor, flat, now, room.e)
    compile_for(sqp._search, *frame, True, 0.0, 0.0, 0.0, 0)
    compile_for(sqp._finish, *frame, True, 0.0, 0.0)


def warm_up() -> subprocess.Popen | None:
    """Starts `compile_all` in a process of low priority, once; returns that process, None if it had been started before."""
    if _started:
        return None
    _started.append(_process())
    return _started[0]


def _process(*arguments: str) -> subprocess.Popen:
    """One that runs this module, of low priority."""
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    return subprocess.Popen(
        program.command("warm_up", *arguments),
        env=program.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        creationflags=flags,
    )


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(10)
    if sys.argv[1:] == [LAST]:
        _compile_last()
    else:
        compile_all()
