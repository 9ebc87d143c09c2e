"""Contacts of what is no foot: a hand on a rail, hips on a seat. It comes to its place whatever balance asks for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..mechanism.model import Mechanism
from .clip import TargetClip

APPROACH = 1.0  # s: from here on towards its contact, and away from it, a frame goes its own way


def holding(mechanism: Mechanism, clip: TargetClip) -> dict[str, np.ndarray]:
    """Return when frames that are no feet are in contact.

    Args:
        mechanism: The robot.
        clip: The targets.

    Returns:
        Whether each holds on to something (T,), by frame; those that never do are left out.
    """
    contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None and t.position is not None}
    return {n: c for n, c in contacts.items() if c.any() and not mechanism.frame(n).is_foot}


def nearness(times: np.ndarray, contact: np.ndarray) -> np.ndarray:
    """Return how near a contact is in time: 1 while it lasts, 0 from `APPROACH` before and after it, smooth between.

    Args:
        times: Times (T,) [s].
        contact: Whether it lasts (T,).

    Returns:
        Shares (T,), 0 to 1.
    """
    held = times[contact]
    after = np.searchsorted(held, times)
    away = np.minimum(
        np.abs(held[np.minimum(after, len(held) - 1)] - times), np.abs(times - held[np.maximum(after - 1, 0)])
    )
    share = 1.0 - np.minimum(away / APPROACH, 1.0)
    return np.asarray(share**2 * (3.0 - 2.0 * share))


def unmoved(times: np.ndarray, held: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Return the share of balance's shift that a frame takes (T,): none while it is in contact.

    Args:
        times: Times (T,) [s].
        held: Contacts as `holding` has them.
        name: Name of the frame.

    Returns:
        Shares (T,), 0 to 1.
    """
    return 1.0 - nearness(times, held[name]) if name in held else np.ones(len(times))
