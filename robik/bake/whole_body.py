"""Passes of a balance plan with the zero-moment point of all bodies in place of that of one mass.

A plan takes all mass to be at the centre of mass. Arms and legs that swing move the zero-moment point z of the whole
body off that of one mass, z₁, by what hardly depends on the path of the centre of mass. So a pass solves the clip that
was planned, measures the difference, and plans again with it:

    z₁ + (z − z₁ of the last pass) ∈ S

It is done when z is inside everywhere, or nothing is gained any more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..balance.plan import MOVING, BalancePlan
from ..clips.clip import TargetClip
from ..dynamics.zero_moment import point_mass_zero_moment, zero_moment_points
from ..feet.finding import ground_of
from ..feet.support import zero_moment_margins
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..objectives.settings import Settings
from ..retargeting.retarget import Retargeting
from ..straight import straight
from .reach import Reached, thinned

PASSES = 4  # at most
KEPT = 0.02  # of the margin: a plan that falls short of it by less, in the mean, is done
LIMBS = 0.1  # of the centre of mass's height: limbs that swing move the zero-moment point by no more


def passes(
    plan: BalancePlan,
    mechanism: Mechanism,
    settings: Settings,
    margin: float,
    first: TargetClip,
    known: Reached | None = None,
) -> Iterator[tuple[float, TargetClip]]:
    """Yield the share that is done and the best clip so far; nothing where the plan is slow.

    `margin` [m] is to be kept by the zero-moment point. `first` is the clip as the plan has it for one mass, `known`
    its solution where it has been solved; the footholds of that are the plan's.
    """
    if plan.pace != MOVING or not mechanism.mass > 0:
        return
    clip, best, least = first, first, np.inf
    quick = settings.frame_by_frame()
    for done in range(PASSES):
        if known is not None and clip is first:
            part, motion = known.part, known.motion
        else:
            solving = Retargeting(mechanism, thinned(clip), quick)
            for frames in solving.steps():
                yield (done + frames / len(solving.clip.times)) / PASSES, best
            part, motion = solving.clip, solving.motion()
        short = _shortfall(mechanism, part, motion, margin)
        cost = short + _missed(part, motion)
        if cost >= least:
            break
        best, least = clip, cost
        if short <= KEPT * margin:
            break
        times = first.times - first.times[0]
        ground = straight(part.times, times, plan.ground)
        clip = plan.clip(straight(times, part.times, _by_limbs(mechanism, part, motion, ground)))
    yield 1.0, best


def _shortfall(mechanism: Mechanism, clip: TargetClip, motion: Motion, margin: float) -> float:
    """Return by how much the zero-moment point falls short of the margin, in the mean of all samples [m]."""
    contacts = {name: track.contact for name, track in clip.tracks.items() if track.contact is not None}
    inside = zero_moment_margins(mechanism, motion, contacts, ground_of(mechanism, clip))
    return float(np.maximum(margin - inside[np.isfinite(inside)], 0.0).sum()) / len(inside)


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
