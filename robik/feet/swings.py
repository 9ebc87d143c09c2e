"""Swings of feet: what soles clear, and gentler ones, which are shorter or land without speed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..clips.clip import TargetClip, Track
from ..mechanism.model import Mechanism
from .legs import leg_length
from .phases import runs

CLEARANCE = 0.04  # of the leg: what a sole clears in mid-swing; servos sag by more than the toes of a recording do
EDGE = 0.35  # of a swing, in which it rises to that, and in which it comes down
STEEPEST = 9.81  # [m/s²] with which it does: a short swing clears less
LANDING = 0.15  # [s] before a foot stands, in which it comes to rest


def swings_clear(mechanism: Mechanism, clip: TargetClip, name: str) -> np.ndarray:
    """Return the heights (T,) [m] that a foot's sole clears in its swings between phases in which it stands.

    In the middle of a swing something else stands. If nothing does it is a flight, or feet glide over the ground; there
    they stay where they are.
    """
    times, contact = clip.times, clip.tracks[name].contact
    height, found = CLEARANCE * leg_length(mechanism, name), np.zeros(len(times))
    others = [track.contact for other, track in clip.tracks.items() if other != name and track.contact is not None]
    for (_, lifted), (landed, _) in pairwise([] if contact is None else runs(contact)):
        start, end = times[lifted - 1], times[landed]
        if not any(stands[(lifted + landed) // 2] for stands in others):
            continue
        edge, swing = EDGE * (end - start), slice(lifted, landed)
        least = np.minimum(eased(times[swing], start, start + edge), 1.0 - eased(times[swing], end - edge, end))
        found[swing] = min(height, STEEPEST * edge**2 / 6.0) * least
    return found


def eased(times: np.ndarray, start: float, end: float) -> np.ndarray:
    """0 until the start to 1 from the end on, at rest at both (T,)."""
    t = np.clip((times - start) / (end - start), 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))


def narrowed(clip: TargetClip, share: float) -> TargetClip:
    """Return a clip whose tracks go only a share of their way over the ground: shorter steps and swings of arms.

    Each track keeps its first place, and what stood stands.
    """

    def nearer(track: Track) -> Track:
        if track.position is None:
            return track
        position = track.position.copy()
        position[:, :2] = position[0, :2] + share * (position[:, :2] - position[0, :2])
        return replace(track, position=position)

    com = None
    if clip.com is not None:
        com = clip.com.copy()
        com[:, :2] = com[0, :2] + share * (com[:, :2] - com[0, :2])
    return replace(clip, tracks={name: nearer(track) for name, track in clip.tracks.items()}, com=com)


def landing_softly(mechanism: Mechanism, clip: TargetClip, seconds: float = LANDING) -> TargetClip:
    """Return a clip whose feet come down slower and slower, so that they land without speed.

    The height h above the landing becomes h u (2 − u), with u from 1 to 0 in the last `seconds` of a swing.
    """
    tracks = dict(clip.tracks)
    for name, track in clip.tracks.items():
        if track.position is None or track.contact is None or not mechanism.frame(name).is_foot:
            continue
        position = track.position.copy()
        for start, _ in runs(track.contact):
            if start == 0:
                continue
            left = (clip.times[start] - clip.times[:start]) / seconds
            near = left < 1.0
            above = position[:start, 2] - position[start, 2]
            position[:start, 2] -= np.where(near & (above > 0), above * (1.0 - left * (2.0 - left)), 0.0)
        tracks[name] = replace(track, position=position)
    return replace(clip, tracks=tracks)
