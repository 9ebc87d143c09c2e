"""Zero-moment point of all bodies in a balance plan, in place of that of one mass.

A plan takes all mass to be at the centre of mass. Arms and legs that swing move the zero-moment point z of the whole
body off that of one mass, z₁, by what hardly depends on the path of the centre of mass. So the clip that was planned is
solved, the difference measured, and balance planned again with it:

    z₁ + (z − z₁ of the last round) ∈ S

It is done when z is inside everywhere, or nothing is gained any more.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ..balance.plan import MOVING
from ..clips.clip import TargetClip
from ..dynamics.zero_moment import point_mass_zero_moment, zero_moment_points
from ..feet.finding import ground_of
from ..feet.support import zero_moment_margins
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..straight import straight
from .adjusting import Adjustment, Bench, Finding, Solution
from .draft import Draft
from .planned import Planned

KEPT = 0.02  # of the margin: a plan that falls short of it by less, in the mean, is done
LIMBS = 0.1  # of the centre of mass's height: limbs that swing move the zero-moment point by no more


class WholeBody(Adjustment):
    """Adjustment of a plan in motion: the zero-moment point of all bodies keeps the margin [m]."""

    name, doing, most, patience, is_flat = "balance of all bodies", "Balancing all bodies", 3, 1, False

    def __init__(self, planned: Planned, margin: float) -> None:
        self._planned, self._margin = planned, margin

    def applies(self, bench: Bench, draft: Draft) -> bool:
        self._planned(draft)  # whether it is shows once it is planned
        return bench.mechanism.mass > 0 and self._planned.plan(draft).pace == MOVING

    def judge(self, bench: Bench, draft: Draft, solution: Solution) -> Generator[float, None, Finding]:
        yield 1.0
        part, motion = solution.part, solution.motion
        short = _shortfalls(bench.mechanism, part, motion, self._margin)
        mean = float(short.sum()) / len(short)
        cost = 0.0 if mean <= KEPT * self._margin else mean + _missed(part, motion)
        return Finding(cost=cost, off=mean, where=short > 0.0)

    def change(self, bench: Bench, draft: Draft, solution: Solution, finding: Finding) -> Draft | None:
        part, times = solution.part, draft.pinned.times - draft.pinned.times[0]
        ground = straight(part.times, times, self._planned.plan(draft).ground)
        off = _by_limbs(bench.mechanism, part, solution.motion, ground)
        return replace(draft, limbs=straight(times, part.times, off))


def _shortfalls(mechanism: Mechanism, clip: TargetClip, motion: Motion, margin: float) -> np.ndarray:
    """Return by how much the zero-moment point falls short of the margin (T,) [m]; nothing in the air."""
    contacts = {name: track.contact for name, track in clip.tracks.items() if track.contact is not None}
    inside = zero_moment_margins(mechanism, motion, contacts, ground_of(mechanism, clip))
    return np.where(np.isfinite(inside), np.maximum(margin - inside, 0.0), 0.0)


def _missed(clip: TargetClip, motion: Motion) -> float:
    """Return by how much the robot misses the plan's path, in the mean [m]: a plan that it cannot follow is none."""
    assert clip.com is not None  # a plan gives one
    assert motion.com is not None
    return float(np.linalg.norm(motion.com - clip.com, axis=1)[np.isfinite(clip.com).all(axis=1)].mean())


def _by_limbs(mechanism: Mechanism, clip: TargetClip, motion: Motion, ground: np.ndarray) -> np.ndarray:
    """Return the zero-moment point of all bodies from that of the plan's own path (T, 2) [m], where a foot stands.

    In the air there is none, and beside it what little force there is would make it lie anywhere.
    """
    assert clip.com is not None
    off = zero_moment_points(mechanism, motion, ground) - point_mass_zero_moment(clip.times, clip.com, ground)
    stands = np.any([track.contact for track in clip.tracks.values() if track.contact is not None], axis=0)
    off[~(np.isfinite(off).all(axis=1) & stands)] = 0.0
    most = LIMBS * float(np.mean(clip.com[:, 2] - ground))
    return off * np.minimum(1.0, most / np.maximum(np.linalg.norm(off, axis=1), 1e-12))[:, None]
