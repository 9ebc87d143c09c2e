"""The process that simulates: reads a job from the file that is named, and prints a line of JSON per thing to tell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..tilt_feedback import TiltPlan
from . import RECORD
from .simulation import Job, Simulation
from .trials import STRONG, Trial


def main(path: str) -> None:
    """Run the trials of a job file; print a line for each result, and save the record of the first trial beside it.

    Where the job asks for it, a robot that falls in the first trial is tried once more with motors of any torque.
    """
    with np.load(path, allow_pickle=False) as file:
        told: dict[str, Any] = json.loads(str(file["told"]))
        arrays: dict[str, Any] = {
            name: file[name] for name in ("start", "goals", "values", "base", "height", "effort", "speed")
        }
        tilt = {name: file[f"tilt_{name}"] for name in ("times", "up", "gains") if f"tilt_{name}" in file}
    trials = [Trial(**trial) for trial in told.pop("trials")]
    most, asks_for_torque = told.pop("most_falls"), told.pop("asks_for_torque")
    lists: dict[str, Any] = {name: tuple(told.pop(name)) for name in ("actuators", "feet")}
    felt = TiltPlan(body=told["body"], actuators=lists["actuators"], **tilt) if tilt else None
    simulation = Simulation(Job(**told, **lists, **arrays, tilt=felt))
    falls = 0
    _tell(bodies=[simulation.model.body(k).name for k in range(1, simulation.model.nbody)])
    for index, trial in enumerate(trials):

        def progress(share: float, index: int = index) -> None:
            _tell(trial=index, progress=share)

        found = simulation.run(trial, progress, keep=index == 0)
        if found.record:
            np.savez(Path(path).with_name(RECORD), **found.record)
        fell = {"falls_at": found.falls_at, "broken": found.broken}
        if index == 0 and asks_for_torque and found.falls_at is not None:
            fell["strong_falls_at"] = simulation.run(STRONG, progress).falls_at
        _tell(trial=index, found=fell)
        falls += found.falls_at is not None or found.broken
        if most is not None and falls > (most if index else 0):
            break
    _tell(ended=True)


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
