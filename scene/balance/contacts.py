"""Contact phases of feet, set by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import ceil, floor

import numpy as np
from bpy.types import PropertyGroup

from ...robik.clips.clip import TargetClip
from ...robik.errors import RobikError
from ...robik.feet.phases import runs
from ..character.mapping import MappedTarget
from ..robot.library import add_row

SAME = 1e-3  # frames nearer than this are one
STANDS, SWINGS = "█", "▁"


def parse_phases(text: str, where: str) -> list[tuple[float, float]]:
    """Return the first and last frame of each phase in a text such as "1-20, 36-60"; else raise RobikError."""
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


def standing(phases: Iterable[tuple[float, float]], frames: np.ndarray, foot: str) -> np.ndarray:
    """Return flags (T,) of the frames in which a foot stands, by its phases.

    A RobikError names the foot of a phase that ends before it begins.
    """
    stands = np.zeros(len(frames), dtype=bool)
    for start, end in phases:
        if end < start:
            raise RobikError(f"the contact of {foot!r}: a phase runs backwards, from {start} to {end}")
        stands |= (frames >= start) & (frames <= end)
    return stands


def with_hand_contacts(clip: TargetClip, targets: Iterable[MappedTarget], frames: np.ndarray) -> TargetClip:
    """Return the clip with the contact phases that were set by hand."""
    tracks = dict(clip.tracks)
    for target in targets:
        if target.phases is not None:
            tracks[target.frame] = replace(tracks[target.frame], contact=standing(target.phases, frames, target.frame))
    return replace(clip, tracks=tracks)


def phases_in(stands: np.ndarray, frames: np.ndarray) -> list[tuple[int, int]]:
    """First and last frame of each phase in which a foot stands (T,)."""
    return [(ceil(frames[first] - SAME), floor(frames[stop - 1] + SAME)) for first, stop in runs(stands)]


def rows(target: PropertyGroup) -> list[tuple[int, int]]:
    """Return a target's phases by hand."""
    return [(phase.start, phase.end) for phase in target.stands]


def put_phase(target: PropertyGroup, phase: tuple[int, int], index: int | None = None) -> int:
    """Add a phase to a target, or replace the one of this index, and return its index: phases are in order.

    Raise RobikError if it would end before it begins.
    """
    if phase[1] < phase[0]:
        raise RobikError(f"a phase cannot run from {phase[0]} to {phase[1]}; it must not end before it begins")
    others = [other for k, other in enumerate(rows(target)) if k != index]
    place = sum(other[0] < phase[0] for other in others)
    set_rows(target, [*others[:place], phase, *others[place:]])
    target.active_phase = place
    return place


def set_rows(target: PropertyGroup, phases: Iterable[tuple[float, float]]) -> None:
    """Replace a target's phases; they are by hand from now on."""
    target.stands.clear()
    for start, end in phases:
        added = add_row(target.stands)
        added.start, added.end = round(start), round(end)
    target.contact, target.active_phase = "HAND", 0


def strip(target: PropertyGroup, start: int, end: int, width: int) -> str:
    """Return a target's phases over a range of frames as a line of blocks: high where the foot stands."""
    frames = np.linspace(start, end, width)
    half = 0.5 * (end - start) / max(width - 1, 1)
    stands = [any(p.start - half <= f <= p.end + half for p in target.stands) for f in frames]
    return "".join(STANDS if s else SWINGS for s in stands)
