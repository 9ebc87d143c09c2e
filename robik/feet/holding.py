"""Contacts of what is no foot: a hand on a rail, hips on a seat. It comes to its place whatever balance asks for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..clips.clip import TargetClip
from ..mechanism.model import Mechanism

APPROACH = 1.0  # s: from here on towards its contact, and away from it, a frame goes its own way


def holding(mechanism: Mechanism, clip: TargetClip) -> dict[str, np.ndarray]:
    """Return flags (T,) of contact by frame that is no foot, without those that are never in contact."""
    contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None and t.position is not None}
    return {n: c for n, c in contacts.items() if c.any() and not mechanism.frame(n).is_foot}


def nearness(times: np.ndarray, contact: np.ndarray) -> np.ndarray:
    """Return the nearness (T,) of a contact in time, by flags (T,) and times (T,) [s].

    It is 1 while the contact lasts, 0 from `APPROACH` before and after it, smooth between.
    """
    held = times[contact]
    after = np.searchsorted(held, times)
    away = np.minimum(
        np.abs(held[np.minimum(after, len(held) - 1)] - times), np.abs(times - held[np.maximum(after - 1, 0)])
    )
    share = 1.0 - np.minimum(away / APPROACH, 1.0)
    return np.asarray(share**2 * (3.0 - 2.0 * share))


def unmoved(times: np.ndarray, held: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Return the share (T,), 0 to 1, of balance's shift that a frame takes: none while it is in contact.

    `held` has the contacts as from `holding`.
    """
    return 1.0 - nearness(times, held[name]) if name in held else np.ones(len(times))
