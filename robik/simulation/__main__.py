"""The process that simulates: reads a job from the file that is named, and prints a line of JSON per thing to tell."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ..tilt_feedback import TiltPlan
from . import RECORD, REHEARSED, STOP
from .simulation import Job, Simulation
from .trials import STRONG, Trial


def main(path: str) -> None:
    """Run a job file: a rehearsal where it has the task of one, else its trials."""
    with np.load(path, allow_pickle=False) as file:
        arrays: dict[str, Any] = {name: file[name] for name in file}
    told: dict[str, Any] = json.loads(str(arrays.pop("told")))
    lists: dict[str, Any] = {name: tuple(told.pop(name)) for name in ("actuators", "feet")}
    tilt = _named(arrays, "tilt_")
    felt = TiltPlan(body=told["body"], actuators=lists["actuators"], **tilt) if tilt else None
    task = told.pop("task") | _named(arrays, "task_")
    rest = {name: told.pop(name) for name in ("trials", "most_falls", "asks_for_torque")}
    job = Job(**told, **lists, **arrays, tilt=felt)
    if task:
        _rehearse(job, task, Path(path).parent)
    else:
        _try(job, Path(path).parent, **rest)
    _tell(ended=True)


def _named(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays whose names begin like this, by the rest of their names, and take them out."""
    return {name.removeprefix(prefix): arrays.pop(name) for name in tuple(arrays) if name.startswith(prefix)}


def _try(job: Job, folder: Path, trials: list[dict], most_falls: int | None, asks_for_torque: bool) -> None:
    """Run trials; print a line for each result, and save the record of the first one.

    Where the job asks for it, a robot that falls in the first trial is tried once more with motors of any torque.
    """
    simulation, falls = Simulation(job), 0
    _tell(bodies=simulation.bodies)
    for index, data in enumerate(trials):

        def progress(share: float, index: int = index) -> None:
            _tell(trial=index, progress=share)

        found = simulation.run(Trial(**data), progress, keep=index == 0)
        if found.record:
            np.savez(folder / RECORD, **found.record)
        fell = {"falls_at": found.falls_at, "broken": found.broken}
        if index == 0 and asks_for_torque and found.falls_at is not None:
            fell["strong_falls_at"] = simulation.run(STRONG, progress).falls_at
        _tell(trial=index, found=fell)
        falls += found.falls_at is not None or found.broken
        if most_falls is not None and falls > (most_falls if index else 0):
            break


def _rehearse(job: Job, task: dict[str, Any], folder: Path) -> None:
    """Rehearse; print the time up to which the robot stands and the result, and save what was sent and what it did."""
    from .planner import Task
    from .rehearsing import Rehearsing

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked for it stops it by a file, and keeps what there is
    lists: dict[str, Any] = {name: tuple(task.pop(name)) for name in ("motors", "ends")}
    rehearsing, length = Rehearsing(job, Task(**lists, **task)), (len(job.values) - 1) / job.rate
    _tell(bodies=rehearsing.simulation.bodies)
    found = rehearsing.run(lambda time: _tell(progress=time / max(length, 1e-9)), (folder / STOP).exists)
    record, rehearsed = rehearsing.arrays()
    np.savez(folder / RECORD, **record)
    np.savez(folder / REHEARSED, **rehearsed)
    _tell(found=found | {"seconds": process_time()})


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
