"""Wish of a robot that sits: on the seat its legs lie before it, and so does its centre of mass.

Elsewhere the wish takes the centre of mass to move rigidly with the hips (`default_wish`). A robot that sits would lean
back to bring it there. So the clip is solved without balance, and near the seat the wish is what comes out.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np

from ..balance.plan import default_wish, hips_held
from ..clips.clip import TargetClip
from ..feet.finding import find_contacts
from ..feet.holding import holding, nearness
from ..mechanism.model import Mechanism
from ..straight import straight
from .adjusting import Adjustment, Bench, Finding, Solution
from .draft import Draft


def sits(mechanism: Mechanism, clip: TargetClip) -> bool:
    """Return whether hips sit down, and the clip has no target of the centre of mass of its own."""
    return clip.com is None and mechanism.mass > 0 and hips_held(mechanism, clip) is not None


class Seated(Adjustment):
    """Adjustment of a draft without balance: it is balanced about where the centre of mass lies on the seat."""

    name, doing, most, patience, is_flat = "the seat", "Sitting down", 1, 1, False

    def applies(self, bench: Bench, draft: Draft) -> bool:
        return not draft.is_balanced

    def judge(self, bench: Bench, draft: Draft, solution: Solution) -> Generator[float, None, Finding]:
        nowhere = np.zeros(len(solution.part.times), bool)
        if draft.is_balanced:
            return Finding(cost=0.0, off=0.0, where=nowhere)
        yield 1.0
        mechanism, clip, motion = bench.mechanism, draft.pinned, solution.motion
        hips = hips_held(mechanism, clip)
        assert hips is not None and motion.com is not None
        wish = default_wish(mechanism, clip, find_contacts(mechanism, clip))
        found = straight(clip.times - clip.times[0], motion.times, motion.com)
        lean = nearness(clip.times, holding(mechanism, clip)[hips])[:, None] * (found - wish)
        far = np.linalg.norm(lean, axis=1)
        where = straight(motion.times, clip.times - clip.times[0], far) > 0.0
        return Finding(cost=np.inf, off=float(far.max()), where=where, details=wish + lean)

    def change(self, bench: Bench, draft: Draft, solution: Solution, finding: Finding) -> Draft | None:
        return replace(draft, wish=finding.details, is_balanced=True)
