"""The paper's experiments: a robot, what it follows, and with which weights (V)."""

from __future__ import annotations

from dataclasses import dataclass
from math import acos

from robik.bench.clips import boxer_clip, chain_clip, dance_clip, singular_clip, validation_clip, with_posture
from robik.bench.walking import naive, walk_clip, walker_clip
from robik.mechanism.model import Mechanism
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retarget.clip import TargetClip
from robik.robots import load

FPS = 1200.0  # as the paper samples its animations
METRE = 1.0  # the length for which the paper's weights are
THRESHOLD = 1.11e-5  # of the boxer's velocity regularizer, at that rate
BOXER_LIMIT = acos(1 - THRESHOLD / 2) * FPS  # the angular velocity that it stands for [rad/s]


@dataclass(frozen=True)
class Case:
    """A robot, a clip and how to follow it.

    Attributes:
        name: as the table shows it.
        mechanism, clip, settings: what goes into the retargeting.
        paper_ms: what the paper's Table I says, on another machine, with other motions; None where it says nothing.
        only: the targets that errors are of, where others are there for the posture; all of them if left out.
    """

    name: str
    mechanism: Mechanism
    clip: TargetClip
    settings: Settings
    paper_ms: float | None = None
    only: tuple[str, ...] = ()


BOXER = Settings(state_weight=2e-4, length=METRE)
BOXER_REGULARIZED = Settings(state_weight=2e-4, velocity_weight=1e-4, velocity_limit=BOXER_LIMIT, length=METRE)
DANCER = Settings(state_weight=1e-6, length=METRE)
CHAIN = Settings(state_weight=1e-3, length=METRE)
POSTURE = 1e-6  # of every body's pull to where it rests
NAIVE = Settings(state_weight=1e-2, length=METRE)
FEET = Weights((10.0,) * 3, (100.0,) * 3)
BALANCED = Settings(
    {"foot_l": FEET, "foot_r": FEET, "pelvis": Weights((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))}, com_weight=(10.0, 10.0, 0.0), state_weight=1e-2,
    length=METRE,
)  # fmt: skip
COMPROMISE = Settings({"foot_l": FEET, "foot_r": FEET}, com_weight=(10.0, 10.0, 0.0), state_weight=1e-2, length=METRE)


def chain_posture(chain: Mechanism) -> Settings:
    """How the chain is drawn to its rest pose."""
    drawn = Weights((POSTURE,) * 3, (POSTURE,) * 3)
    return Settings({body.name: drawn for body in chain.bodies}, state_weight=1e-7, length=METRE)


def cases(fps: float = FPS) -> tuple[Case, ...]:
    """What is measured."""
    robot = {name: load(name) for name in ("boxer", "chain", "dancer", "validation", "walker")}
    boxer, walker = robot["boxer"], robot["walker"]
    singular, strides = singular_clip(fps), walker_clip(walker, fps)
    chain, laps = robot["chain"], chain_clip(robot["chain"], frames=round(fps))
    return (
        Case("validation, all joint types", robot["validation"], validation_clip(fps), DANCER),
        Case("chain, 12 motors, one frame", chain, laps, CHAIN),
        Case("chain, drawn to its rest pose", chain, with_posture(chain, laps), chain_posture(chain), only=("tool",)),
        Case("boxer", boxer, boxer_clip(boxer, fps), BOXER, 0.14),
        Case("boxer, singular", boxer, singular, BOXER, 0.14),
        Case("boxer, singular, regularized", boxer, singular, BOXER_REGULARIZED, 0.23),
        Case("dancer", robot["dancer"], dance_clip(robot["dancer"], fps), DANCER, 0.68),
        Case("walker, naive", walker, walk_clip(walker, fps, balanced=False), NAIVE),
        Case("walker, centre of mass", walker, walk_clip(walker, fps, balanced=True), BALANCED, 13.99),
        Case("walker, beyond reach, naive", walker, naive(strides), NAIVE),
        Case("walker, beyond reach, CoM", walker, strides, COMPROMISE, 13.99),
    )
