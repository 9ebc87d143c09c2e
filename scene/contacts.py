"""Feet and balance: contact phases set by hand, pinned feet and the target of the centre of mass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from bpy.types import PropertyGroup

from robik.errors import RobikError
from robik.mechanism import Mechanism
from robik.retarget.balance import with_balance
from robik.retarget.clip import TargetClip
from robik.retarget.contacts import pin_feet


def parse_phases(text: str, where: str) -> list[tuple[float, float]]:
    """First and last frame of each phase in a text such as "1-20, 36-60".

    Raises:
        RobikError: says what could not be read.
    """
    phases = []
    for part in filter(None, (p.strip() for p in text.replace("–", "-").split(","))):
        first, dash, last = part.partition("-")
        try:
            phase = (float(first), float(last if dash else first))
        except ValueError:
            raise RobikError(f"{where}: {part!r} is no phase; write frames like 1-20, 36-60") from None
        if phase[1] < phase[0]:
            raise RobikError(f"{where}: the phase {part!r} runs backwards")
        phases.append(phase)
    return phases


def with_hand_contacts(clip: TargetClip, targets: Iterable[PropertyGroup], frames: np.ndarray) -> TargetClip:
    """The clip with the contact phases that were set by hand."""
    tracks = dict(clip.tracks)
    for target in targets:
        if target.contact == "HAND":
            phases = parse_phases(target.phases, f"the target of {target.frame!r}")
            stands = np.any([(frames >= first) & (frames <= last) for first, last in phases] or [np.zeros(len(frames), dtype=bool)], axis=0)
            tracks[target.frame] = replace(tracks[target.frame], contact=stands)
    return replace(clip, tracks=tracks)


def balanced(clip: TargetClip, mechanism: Mechanism, balance: PropertyGroup) -> TargetClip:
    """The clip with pinned feet and a target of the centre of mass over them, as far as asked for."""
    if balance.pin_feet:
        clip = pin_feet(mechanism, clip)
    if balance.source == "FEET":
        clip = with_balance(mechanism, clip, float(balance.margin))
    return clip
