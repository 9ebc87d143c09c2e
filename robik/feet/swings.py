"""Gentler swings of a clip: shorter ones, and feet that land without speed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..clips.clip import TargetClip, Track
from ..mechanism.model import Mechanism
from .phases import runs

LANDING = 0.15  # [s] before a foot stands, in which it comes to rest


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
