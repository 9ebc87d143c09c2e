"""Passes of a balance plan with the zero-moment point of all bodies in place of that of one mass.

A plan takes all mass to be at the centre of mass. Arms and legs that swing move the zero-moment point z of the whole
body off that of one mass, z₁, by what hardly depends on the path of the centre of mass. So a pass solves the clip that
was planned, measures the difference, and plans again with it:

    z₁ + (z − z₁ of the last pass) ∈ S

It is done when z is inside everywhere, or nothing is gained any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..dynamics.zero_moment import point_mass_zero_moment, zero_moment_points
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..objectives.settings import Settings
from .balance import MOVING, BalancePlan
from .clip import TargetClip
from .retarget import Retargeting
from .support import zero_moment_margins

PASSES = 4  # at most
RATE = 30.0  # [Hz] of samples that a pass solves: the zero-moment point is known up to 6 Hz
KEPT = 0.02  # of the margin: a plan that falls short of it by less, in the mean, is done


def passes(
    plan: BalancePlan, mechanism: Mechanism, settings: Settings, margin: float, first: TargetClip
) -> Iterator[tuple[float, TargetClip]]:
    """Yield the share that is done and the best clip so far; nothing where the plan is slow.

    Args:
        plan: of the clip's balance.
        mechanism: the robot.
        settings: with which it will be solved.
        margin: that the zero-moment point shall keep [m].
        first: the clip as the plan has it for one mass.

    Yields:
        Share that is done, and the best clip so far.
    """
    clip, best, least = first, first, np.inf
    quick = replace(settings, look_ahead=False, cyclic=False)
    for done in range(PASSES):
        if plan.pace != MOVING or not mechanism.mass > 0:
            return
        part = _thinned(clip)
        solving = Retargeting(mechanism, part, quick)
        for frames in solving.steps():
            yield (done + frames / len(part.times)) / PASSES, best
        motion = solving.motion()
        short = _shortfall(mechanism, part, motion, margin)
        if short >= least:
            break
        best, least = clip, short
        if short <= KEPT * margin:
            break
        off = zero_moment_points(mechanism, motion, plan.ground) - _as_one_mass(part, plan.ground)
        clip = plan.clip(_at_all(first.times, part.times, np.where(np.isfinite(off), off, 0.0)))
    yield 1.0, best


def _thinned(clip: TargetClip) -> TargetClip:
    """Return about `RATE` samples a second of a clip."""
    seconds = float(clip.times[-1] - clip.times[0])
    return clip.part(0, len(clip.times), max(1, int((len(clip.times) - 1) / max(seconds * RATE, 1.0))))


def _shortfall(mechanism: Mechanism, clip: TargetClip, motion: Motion, margin: float) -> float:
    """Return by how much the zero-moment point falls short of the margin, in the mean of all samples [m]."""
    contacts = {name: track.contact for name, track in clip.tracks.items() if track.contact is not None}
    inside = zero_moment_margins(mechanism, motion, contacts)
    return float(np.maximum(margin - inside[np.isfinite(inside)], 0.0).sum()) / len(inside)


def _as_one_mass(clip: TargetClip, ground: float) -> np.ndarray:
    """Return the zero-moment point of the plan's own path (T, 2) [m]."""
    assert clip.com is not None  # a plan gives one
    return point_mass_zero_moment(clip.times, clip.com, ground)


def _at_all(times: np.ndarray, some: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(times, some, column) for column in values.T])
