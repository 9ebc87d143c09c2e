"""Draft of a clip that is being adjusted, and the clip that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..clips.clip import TargetClip, Track

RATE = 30.0  # [Hz] of the samples in which drafts are solved


@dataclass(frozen=True, kw_only=True, eq=False)
class Draft:
    """Draft of a clip: what adjustments may change.

    Attributes:
        pinned: clip with pinned feet, before its balance is planned.
        is_balanced: whether balance is planned.
        wish: (T, 3) path that the centre of mass should have if balance did not matter [m]; None for the plan's own.
        limbs: (T, 2) zero-moment point of all bodies from that of one mass [m]; None for nothing known.
        risen: tracks of feet that rise on the edges of their soles, and by how much (T,) [m].
    """

    pinned: TargetClip
    is_balanced: bool = True
    wish: np.ndarray | None = None
    limbs: np.ndarray | None = None
    risen: Mapping[str, tuple[Track, np.ndarray]] = field(default_factory=dict)

    def put_on(self, clip: TargetClip) -> TargetClip:
        """Return a clip with the tracks of feet that rise."""
        if not self.risen:
            return clip
        return replace(clip, tracks={**clip.tracks, **{name: track for name, (track, _) in self.risen.items()}})


def thinning(clip: TargetClip) -> int:
    """Return how many samples of a clip there are to each of about `RATE` a second."""
    seconds = float(clip.times[-1] - clip.times[0])
    return max(1, int((len(clip.times) - 1) / max(seconds * RATE, 1.0)))


def thinned(clip: TargetClip) -> TargetClip:
    """Return a clip with about `RATE` samples a second, from 0 s on."""
    return clip.part(0, len(clip.times), thinning(clip))
