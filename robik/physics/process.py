"""The process that simulates, as seen from the one that asked for it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .. import program
from ..dynamics.drives import Drive
from ..errors import RobikError
from ..extras import missing
from ..formats.mjcf.stage import floor_text
from ..simulation import JOB, RECORD
from ..simulation.trials import NOMINAL, Trial
from ..steps import finish, relay
from .falling import Record
from .motors import Motors
from .obstacles import weak_motors
from .plan import Plan
from .verdict import Verdict, judged


class PhysicsError(RobikError):
    """A simulation that could not be run."""


def run(plan: Plan, trials: Sequence[Trial] = ()) -> Verdict:
    """Return the verdict on a plan, simulated as it is and under disturbances.

    Raise PhysicsError where the process ended early or the simulation diverged, MissingExtraError without MuJoCo.
    """
    return finish(simulate(plan, trials))


def judge_steps(
    plan: Callable[[Mapping[str, Drive]], Plan],
    motors: Motors,
    p_gain: float | None = None,
    trials: Sequence[Trial] = (),
) -> Generator[float, None, Verdict]:
    """Simulate a plan with the motors that there are, and yield the share that is done.

    Where the robot falls on legs too soft to stand, what stiffer ones would do is tried as well, undisturbed. The
    generator returns the verdict; errors are those of `run`.
    """
    verdict = yield from simulate(plan(motors.drives(p_gain)), trials)
    verdict, stiffer = replace(verdict, raised=motors.raised), motors.stiffer
    if verdict.stands or verdict.is_fixed or stiffer is None or stiffer.raised is None:
        return verdict
    other = yield from relay(simulate(plan(stiffer.drives())), lambda _: 1.0)
    return replace(verdict, stiffer=(stiffer.raised, other.falls_at_s))


def simulate(
    plan: Plan, trials: Sequence[Trial] = (), most_falls: int | None = None
) -> Generator[float, None, Verdict]:
    """Simulate a plan in a process of its own, and yield the share that is done; the generator returns the verdict.

    A generator that is closed ends the process. With `most_falls`, trials after one fall more than that are left out,
    and all of them where the robot falls undisturbed; None simulates all. Errors are those of `run`.
    """
    if find_spec("mujoco") is None:
        raise missing("physics")
    every = [NOMINAL, *trials]
    with tempfile.TemporaryDirectory(prefix="robik-physics-") as folder:
        path = Path(folder) / JOB
        save_job(plan, every, path, most_falls)
        found, bodies = yield from watched(path, len(every))
        if found[0]["broken"]:
            raise PhysicsError(
                f"robot {plan.mechanism.name!r}: the simulation left the numbers; look for bodies with next to no mass,"
                " or motors far too stiff for them"
            )
        return judged(plan, every, found, bodies, record_of(path))


def record_of(path: Path) -> Record:
    """Return the record that the process of a job file left beside it."""
    with np.load(path.with_name(RECORD), allow_pickle=False) as file:
        return Record(**{name: file[name] for name in file})


def watched(path: Path, count: int) -> Generator[float, None, tuple[list[dict[str, Any]], tuple[str, ...]]]:
    """Run the process of a job file with so many results, and yield the share that is done.

    The generator returns the results and the bodies' names. Raise PhysicsError where the process ended too early.
    """
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        return (yield from _watched(path, said, count))


def _watched(path: Path, said: Any, count: int) -> Generator[float, None, tuple[list[dict[str, Any]], tuple[str, ...]]]:
    """Run the process of a job file and yield the share that is done.

    The generator returns the trials' results and the bodies' names. The process writes its stderr to `said`. Raise
    PhysicsError where it ended too early.
    """
    process = _start(path, said)
    found: list[dict[str, Any]] = []
    bodies: tuple[str, ...] = ()
    ended = False
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            told = json.loads(line)
            bodies, ended = tuple(told.get("bodies", bodies)), ended or "ended" in told
            if "found" in told:
                found.append(told["found"])
            yield (len(found) + (0.0 if "found" in told else told.get("progress", 0.0))) / count
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if not ended:
        said.seek(0)
        raise PhysicsError(_ended(process.returncode, said.read()))
    return found, bodies


def _start(path: Path, said: Any) -> subprocess.Popen:
    """Start the process with low priority and without a window."""
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    try:
        return subprocess.Popen(
            program.command("simulation", str(path)),
            env=program.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            errors="replace",
            creationflags=flags,
        )
    except OSError as error:
        raise PhysicsError(f"the physics process cannot be started: {error.strerror or error}") from None


def _ended(code: int, said: str) -> str:
    """Return why the process ended too early, in one sentence."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if code < 0:
        return f"the physics process was ended from outside (signal {-code}); test again"
    return f"the physics process ended early: {lines[-1] if lines else f'code {code}'}"


def save_job(
    plan: Plan,
    trials: Sequence[Trial],
    path: Path,
    most_falls: int | None = None,
    task: Mapping[str, Any] | None = None,
    around: str = "",
) -> None:
    """Write the job file, of trials or of a rehearsal's task; `around` is MJCF beside the robot and the floor."""
    kept = {name: value for name, value in (task or {}).items() if not isinstance(value, np.ndarray)}
    arrays = {f"task_{name}": value for name, value in (task or {}).items() if name not in kept}
    if plan.tilt is not None:
        arrays |= {f"tilt_{name}": getattr(plan.tilt, name) for name in ("times", "up", "gains")}
    told = {
        "text": plan.text.rstrip().removesuffix("</mujoco>") + floor_text(plan.stage) + around + "</mujoco>\n",
        "rate": plan.rate,
        "delay": plan.delay,
        "actuators": plan.mechanism.actuators,
        "feet": tuple(plan.standing),
        "body": plan.base_body if plan.reference.base is not None and plan.standing else "",
        "trials": [trial.as_data() for trial in trials],
        "most_falls": most_falls,
        "task": kept,
        "asks_for_torque": bool(weak_motors(plan)),
    }
    np.savez(path, told=np.array(json.dumps(told)), **_arrays(plan), **arrays)


def _arrays(plan: Plan) -> dict[str, np.ndarray]:
    """Return the arrays of a job."""
    base = plan.reference.base
    drives = [plan.drives[name] for name in plan.mechanism.actuators]
    return {
        "start": plan.positions[0],
        "goals": plan.goals,
        "values": plan.reference.values,
        "base": np.hstack([base.position, base.quaternion])
        if base is not None and plan.standing
        else np.zeros((len(plan.reference.values), 0)),
        "height": plan.heights,
        "effort": np.array([drive.effort for drive in drives]),
        "speed": np.array([drive.speed for drive in drives]),
    }
