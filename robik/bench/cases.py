"""The paper's experiments: a robot, what it follows, and with which weights (V)."""

from __future__ import annotations

from dataclasses import dataclass
from math import acos

from robik.bench.clips import boxer_clip, chain_clip, dance_clip, singular_clip, validation_clip
from robik.bench.walking import naive, walk_clip, walker_clip
from robik.ik.objectives import Settings, Weights
from robik.mechanism.model import Mechanism
from robik.retarget.clip import TargetClip
from robik.robots import load

FPS = 1200.0  # as the paper samples its animations
THRESHOLD = 1.11e-5  # of the boxer's velocity regularizer, at that rate
BOXER_LIMIT = acos(1 - THRESHOLD / 2) * FPS  # the angular velocity that it stands for [rad/s]


@dataclass(frozen=True)
class Case:
    """A robot, a clip and how to follow it.

    Attributes:
        name: as the table shows it.
        mechanism, clip, settings: what goes into the retargeting.
        paper_ms: what the paper's Table I says, on another machine, with other motions; None where it says nothing.
    """

    name: str
    mechanism: Mechanism
    clip: TargetClip
    settings: Settings
    paper_ms: float | None = None


BOXER = Settings(state_weight=2e-4)
BOXER_REGULARIZED = Settings(state_weight=2e-4, velocity_weight=1e-4, velocity_limit=BOXER_LIMIT)
DANCER = Settings(state_weight=1e-6)
CHAIN = Settings(state_weight=1e-3)
NAIVE = Settings(state_weight=1e-2)
FEET = Weights((10.0,) * 3, (100.0,) * 3)
BALANCED = Settings(
    {"foot_l": FEET, "foot_r": FEET, "pelvis": Weights((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))}, com_weight=(10.0, 10.0, 0.0), state_weight=1e-2
)
COMPROMISE = Settings({"foot_l": FEET, "foot_r": FEET}, com_weight=(10.0, 10.0, 0.0), state_weight=1e-2)


def cases(fps: float = FPS) -> tuple[Case, ...]:
    """What is measured."""
    robot = {name: load(name) for name in ("boxer", "chain", "dancer", "validation", "walker")}
    boxer, walker = robot["boxer"], robot["walker"]
    singular, strides = singular_clip(fps), walker_clip(walker, fps)
    return (
        Case("validation, all joint types", robot["validation"], validation_clip(fps), DANCER),
        Case("chain, 12 motors, one frame", robot["chain"], chain_clip(robot["chain"], frames=round(fps)), CHAIN),
        Case("boxer", boxer, boxer_clip(boxer, fps), BOXER, 0.14),
        Case("boxer, singular", boxer, singular, BOXER, 0.14),
        Case("boxer, singular, regularized", boxer, singular, BOXER_REGULARIZED, 0.23),
        Case("dancer", robot["dancer"], dance_clip(robot["dancer"], fps), DANCER, 0.68),
        Case("walker, naive", walker, walk_clip(walker, fps, balanced=False), NAIVE),
        Case("walker, centre of mass", walker, walk_clip(walker, fps, balanced=True), BALANCED, 13.99),
        Case("walker, beyond reach, naive", walker, naive(strides), NAIVE),
        Case("walker, beyond reach, CoM", walker, strides, COMPROMISE, 13.99),
    )
