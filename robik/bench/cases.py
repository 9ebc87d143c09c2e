"""The measured cases: a robot that ships, the clip that it follows, and the weights."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

from ..clips.clip import TargetClip
from ..mechanism.model import Mechanism
from ..objectives.settings import Settings
from ..objectives.weights import Weights
from ..robots import load
from .clips import arm_clip, boxer_clip, chain_clip, crank_clip, dance_clip
from .walking import walk_clip

FPS = 1200.0  # as the paper samples its animations
METRE = 1.0  # the length that the paper's weights are for

ARM = Settings(state_weight=1e-6, joint_limits=False, length=METRE)  # the clip swings joints beyond their limits
BOXER = Settings(state_weight=2e-4, length=METRE)
CHAIN = Settings(state_weight=1e-3, length=METRE)
DANCER = Settings(state_weight=1e-6, length=METRE)
NAIVE = Settings(state_weight=1e-2, length=METRE, contacts="ignore")  # feet are targets in the paper
FEET = Weights((10.0,) * 3, (100.0,) * 3)
BALANCED = Settings(
    contacts="ignore",
    targets={"foot_l": FEET, "foot_r": FEET, "pelvis": Weights((0.0, 0.0, 1.0), (0.0, 0.0, 1.0))},
    com_weight=(10.0, 10.0, 0.0), state_weight=1e-2,
    length=METRE,
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A robot, a clip and the settings to follow it with.

    Attributes:
        name: as the table shows it.
        mechanism, clip, settings: the arguments of `retarget`.
        paper_ms: time per frame in the paper's Table I [ms], on another machine and with other motions; None where it
            has none.
    """

    name: str
    mechanism: Mechanism
    clip: TargetClip
    settings: Settings
    paper_ms: float | None = None


def cases(fps: float = FPS) -> tuple[Case, ...]:
    """Return the cases on robots that RobIK brings, sampled at a rate [Hz]."""
    robot = {
        name: load(name) for name in ("arm7", "boxer", "chain", "dancer", "four_bar", "ur10", "validation", "walker")
    }
    arm7, ur10, four_bar, validation = robot["arm7"], robot["ur10"], robot["four_bar"], robot["validation"]
    boxer, chain, dancer, walker = robot["boxer"], robot["chain"], robot["dancer"], robot["walker"]
    return (
        Case("arm7", arm7, arm_clip(arm7, fps), ARM),
        Case("ur10", ur10, arm_clip(ur10, fps), ARM),
        Case("four_bar", four_bar, crank_clip(four_bar, fps, turn=0.6), DANCER),
        Case("validation, all joint types", validation, crank_clip(validation, fps, turn=4 * pi), DANCER),
        Case("chain, 12 motors, one frame", chain, chain_clip(chain, frames=round(fps)), CHAIN),
        Case("boxer", boxer, boxer_clip(boxer, fps), BOXER, 0.14),
        Case("dancer", dancer, dance_clip(dancer, fps), DANCER, 0.68),
        Case("walker, naive", walker, walk_clip(walker, fps, balanced=False), NAIVE),
        Case("walker, centre of mass", walker, walk_clip(walker, fps, balanced=True), BALANCED, 13.99),
    )
