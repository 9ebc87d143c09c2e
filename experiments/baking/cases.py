"""The paper's experiments (V): time per frame, errors and speeds of a robot, a clip and weights."""

from __future__ import annotations

from dataclasses import replace
from math import acos

import numpy as np

from experiments.baking.clips import naive, singular_clip, validation_clip, walker_clip, with_posture
from experiments.experiment import Experiment, Found, tell
from robik.bench.cases import BALANCED, BOXER, CHAIN, DANCER, FEET, FPS, METRE, NAIVE, Case
from robik.bench.clips import boxer_clip, chain_clip, dance_clip
from robik.bench.measure import print_table, row, solved
from robik.bench.walking import walk_clip
from robik.mechanism.model import Mechanism
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.robots import load

THRESHOLD = 1.11e-5  # of the boxer's velocity regularizer, at 1200 frames a second
BOXER_LIMIT = acos(1 - THRESHOLD / 2) * FPS  # the angular velocity that it stands for [rad/s]
BOXER_REGULARIZED = Settings(state_weight=2e-4, velocity_weight=1e-4, velocity_limit=BOXER_LIMIT, length=METRE)
POSTURE = 1e-6  # weight of every body's pull to its rest pose
COMPROMISE = Settings(
    targets={"foot_l": FEET, "foot_r": FEET}, com_weight=(10.0, 10.0, 0.0), state_weight=1e-2, length=METRE
)
DRAWN = "chain, drawn to its rest pose"


def chain_posture(chain: Mechanism) -> Settings:
    """Return the settings that draw the chain to its rest pose."""
    drawn = Weights((POSTURE,) * 3, (POSTURE,) * 3)
    return Settings(targets={body.name: drawn for body in chain.bodies}, state_weight=1e-7, length=METRE)


def cases(fps: float = FPS) -> tuple[Case, ...]:
    """Return the cases, sampled at a rate [Hz]."""
    robot = {name: load(name) for name in ("boxer", "chain", "dancer", "validation", "walker")}
    boxer, walker = robot["boxer"], robot["walker"]
    singular, strides = singular_clip(fps), walker_clip(walker, fps)
    chain, laps = robot["chain"], chain_clip(robot["chain"], frames=round(fps))
    return (
        Case("validation, all joint types", robot["validation"], validation_clip(fps), DANCER),
        Case("chain, 12 motors, one frame", chain, laps, CHAIN),
        Case(DRAWN, chain, with_posture(chain, laps), chain_posture(chain)),
        Case("boxer", boxer, boxer_clip(boxer, fps), BOXER, 0.14),
        Case("boxer, singular", boxer, singular, BOXER, 0.14),
        Case("boxer, singular, regularized", boxer, singular, BOXER_REGULARIZED, 0.23),
        Case("dancer", robot["dancer"], dance_clip(robot["dancer"], fps), DANCER, 0.68),
        Case("walker, naive", walker, walk_clip(walker, fps, balanced=False), NAIVE),
        Case("walker, centre of mass", walker, walk_clip(walker, fps, balanced=True), BALANCED, 13.99),
        Case("walker, beyond reach, naive", walker, naive(strides), NAIVE),
        Case("walker, beyond reach, CoM", walker, strides, COMPROMISE, 13.99),
    )


def run(fps: float = FPS) -> Found:
    """Measure every case at a frame rate [Hz]."""
    rows = []
    for case in cases(fps):
        tell(f"cases: {case.name}")
        runs = solved(case)
        if case.name == DRAWN:
            runs = [run._replace(motion=_tool_alone(run.motion)) for run in runs]
        rows.append(row(case, runs))
    return {"cases": rows}


def _tool_alone(motion: Motion) -> Motion:
    """Return the motion with the errors of the tool, without those of the posture's targets."""
    report = motion.report
    assert report is not None
    kept = [report.targets.index("tool")]
    place, turn = report.position_error[:, kept], report.orientation_error[:, kept]
    return replace(motion, report=replace(report, targets=("tool",), position_error=place, orientation_error=turn))


def drift(motion: Motion, frames: int) -> np.ndarray:
    """Return each actuator's largest distance from its value a lap of `frames` before.

    As (laps - 2, actuators) [rad or m].

    The first lap is left out: the path begins in it.
    """
    laps = motion.values.reshape(-1, frames, len(motion.actuators))[1:]
    return np.abs(np.diff(laps, axis=0)).max(axis=1)


EXPERIMENT = Experiment(run=run, show=print_table, parameters={"fps": (FPS, FPS)})
