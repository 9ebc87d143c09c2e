"""Trackers dragged about at random: time per step, and closure of the loops however long it lasts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np

from experiments.experiment import Experiment, Found, tell
from experiments.oracle.reference import ReferenceSolver
from robik.kinematics.frames import anchor
from robik.mechanism.model import Mechanism
from robik.objectives.settings import Settings
from robik.robots import load
from robik.tracking import DifferentialTracker, ForwardDynamicsTracker, StateBasedTracker, Target, Targets, Tracker

TRACKERS: tuple[type[Tracker], ...] = (
    DifferentialTracker,
    StateBasedTracker,
    ForwardDynamicsTracker,
)  # all that claim to keep loops
DRAGGED = ("ur10", "arm7", "dancer", "validation", "walker")
FPS = 60.0
JERK_EVERY = 1200  # steps: now and then a target jumps far beyond reach
JUDGED_EVERY = 100  # steps
HOURS = (0.02, 1.0)  # of dragging at 60 Hz: by default, in full


def dragged_frames(tracker: Tracker) -> tuple[str, ...]:
    """Return the robot's first three frames, or else three bodies that move.

    Their targets contradict each other.
    """
    mechanism, flat = tracker.mechanism, tracker.flat
    moving = [name for name in mechanism.frame_names if flat.tip[anchor(tracker.topology, name)[0]] >= 0]
    named = [f.name for f in mechanism.frames if f.name in moving]
    return tuple(named[:3] or dict.fromkeys(moving[k * len(moving) // 3 - 1] for k in (1, 2, 3)))


def drag(tracker: Tracker, frames: tuple[str, ...], steps: int, seed: int = 0) -> dict[str, Any]:
    """Drag frames of a robot at 60 Hz along random walks, and return the figures of the tracker's steps.

    The walks are drawn back to the frames' rest poses and stray from there by about the length of the robot's links.

    The figures are `residual`, the worst closure of any step [m]; every hundred steps, `judged`, the worst closure of
    all joints in maximal coordinates, by the reference solver's rows [m], and `coupled`, that of the couplings, which
    the reference lacks [rad, m]; `travelled`, the actuators' way [rad, m]; `ms`, the median of a step.
    """
    tracker.reset()
    judge = ReferenceSolver(replace(tracker.mechanism, couplings=()), Settings())
    near = judge.rest_state()
    rng, rest = np.random.default_rng(seed), {name: np.array(tracker.frame(name).position) for name in frames}
    away, reach = np.zeros((len(frames), 3)), float(tracker.flat.size)
    worst = judged = coupled = travelled = 0.0
    spent, last = np.empty(steps), tracker.values
    for k in range(steps):
        away = 0.98 * away + 0.2 * reach * rng.normal(size=away.shape)
        if k % JERK_EVERY == JERK_EVERY // 2:
            away = 5 * reach * rng.normal(size=away.shape)
        targets = Targets({name: Target(rest[name] + a) for name, a in zip(frames, away, strict=True)})
        start = process_time()
        values = tracker.step(targets, 1 / FPS)
        spent[k] = process_time() - start
        worst, travelled, last = max(worst, tracker.residual), travelled + float(np.abs(values - last).sum()), values
        if k % JUDGED_EVERY == 0:
            judged = max(
                judged, float(np.abs(judge.residual(judge.state_of(*tracker.bodies(), near))).max(initial=0.0))
            )
            coupled = max(coupled, coupling_residual(tracker))
    return {
        "residual": worst,
        "judged": judged,
        "coupled": coupled,
        "travelled": travelled,
        "ms": 1e3 * float(np.median(spent)),
    }


def coupling_residual(tracker: Tracker) -> float:
    """By how much a follower is off what its leader says, the worst of all couplings [rad, m].

    0 for a robot without.
    """
    q, dof_q, dofs = tracker.coordinates, tracker.flat.dof_q, tracker.topology.dofs

    def value(name: str) -> float:
        dof, sign = dofs[name]
        return sign * float(q[dof_q[dof]])

    return max(
        (
            abs(value(c.follower) - c.value({name: value(name) for name in c.leaders}))
            for c in tracker.mechanism.couplings
        ),
        default=0.0,
    )


def dragging(
    seed: int = 0, hours: float = HOURS[0], others: Mapping[str, Mechanism] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a row per tracker and robot; only robots with loops are dragged for long, `hours` at 60 Hz.

    `others` are robots by name, beside those that RobIK brings.
    """
    for name, mechanism in ({name: load(name) for name in DRAGGED} | dict(others or {})).items():
        for kind in TRACKERS:
            tracker = kind(mechanism)
            frames = dragged_frames(tracker)
            drag(tracker, frames, 5)
            steps = round(hours * 3600 * FPS) if len(tracker.topology.cuts) else round(min(hours, 1 / 60) * 3600 * FPS)
            tell(f"dragging: {name}, {kind.__name__}, {steps} steps")
            yield {"robot": name, "tracker": kind.__name__, "steps": steps, **drag(tracker, frames, steps, seed=seed)}


def run(seed: int = 0, hours: float = HOURS[0]) -> Found:
    """Drag every robot with every tracker."""
    return {"seed": seed, "dragging": list(dragging(seed, hours))}


def show(found: Found) -> None:
    """Print a line per robot and tracker."""
    print(
        "\ndragged at random: steps, worst closure m, all joints' by the reference's rows m, couplings' rad, motors'"
        " way rad, ms a step"
    )
    for row in found["dragging"]:
        errors = f"{row['residual']:10.1g}{row['judged']:10.1g}{row['coupled']:10.1g}"
        measured = errors + f"{row['travelled']:10.0f}{row['ms']:9.3f}"
        print(f"  {row['robot']:12}{row['tracker']:24}{row['steps']:9}{measured}")


EXPERIMENT = Experiment(run=run, show=show, parameters={"seed": (0, 0), "hours": HOURS})
