"""Balance that a solved motion keeps: how far its zero-moment point is inside what stands, and where nothing stands."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..clips.clip import TargetClip
from ..feet.finding import ground_of
from ..feet.support import zero_moment_margins
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..motions.report import Quality


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptBalance:
    """Balance of T samples.

    Attributes:
        inside: (T,) depth of the zero-moment point in the support [m]; negative outside, NaN where nothing stands.
        aloft: (T,) whether nothing stands, so that nothing can balance.
    """

    inside: np.ndarray
    aloft: np.ndarray

    @property
    def sample(self) -> int:
        """Index of the sample with the least margin."""
        return int(np.nanargmin(self.inside))

    @property
    def margin(self) -> float:
        """The least margin [m]."""
        return float(self.inside[self.sample])

    @property
    def share_inside(self) -> float:
        """Share of the samples with a standing foot in which the zero-moment point is inside."""
        return float(np.mean(self.inside[~np.isnan(self.inside)] >= 0.0))


def kept_balance(mechanism: Mechanism, clip: TargetClip, motion: Motion) -> KeptBalance | None:
    """Return the balance that a motion with body poses keeps; None if no foot ever stands or the robot has no mass."""
    contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None and t.contact.any()}
    if not any(mechanism.frame(name).is_foot for name in contacts) or mechanism.mass <= 0:
        return None
    # Where hardly a force is left, as at the ends of a flight, the point lies anywhere.
    inside = np.maximum(zero_moment_margins(mechanism, motion, contacts, ground_of(mechanism, clip)), -mechanism.extent)
    return (
        KeptBalance(inside=inside, aloft=~np.any(list(contacts.values()), axis=0))
        if np.isfinite(inside).any()
        else None
    )


def with_kept_balance(mechanism: Mechanism, clip: TargetClip, motion: Motion) -> Motion:
    """Return a solved motion with the balance that it keeps in its report's quality."""
    if motion.report is None:
        return motion
    quality = with_balance_figures(motion.report.quality, mechanism, clip, motion)
    return motion.reported(quality=quality)


def with_balance_figures(quality: Quality, mechanism: Mechanism, clip: TargetClip, motion: Motion) -> Quality:
    """Return figures of quality with those of balance; as they were where there is no balance to keep."""
    kept = kept_balance(mechanism, clip, motion)
    if kept is None:
        return quality
    return replace(
        quality,
        zero_moment_margin_mm=1e3 * kept.margin,
        zero_moment_sample=kept.sample,
        zero_moment_inside=kept.share_inside,
        aloft=int(kept.aloft.sum()),
    )
