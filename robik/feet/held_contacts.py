"""Contacts of a clip: which frames stand, where they are held, and how their targets lead there and away again.

A frame is held where its target is when the contact begins; on an object that moves it goes along with that. The
swing before lands there, and the one after begins there: over FADE comes in what the target has meanwhile moved by.
Within RAMP of a contact a swing is asked for up to RISE times as hard, so that the tension of an exact hold does not
snap back in one frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ..clips.clip import TargetClip, Track
from ..errors import ClipError
from ..mechanism.orientations import rotation
from .contact import Contact
from .phases import runs

RAMP = 0.1  # s
RISE = 50.0  # with far more a foot that lands bends a robot whose other foot still stands (docs/experiments.md)
FADE = 0.3  # s


@dataclass(frozen=True)
class HeldTrack:
    """A track with its contact.

    Attributes:
        contact: when the frame stands, and where.
        position: (T, 3) target, led to the holds and away from them [m].
        quaternion: (T, 4) likewise, or None where only the position matters.
    """

    contact: Contact
    position: np.ndarray
    quaternion: np.ndarray | None

    def part(self, kept: slice | np.ndarray) -> HeldTrack:
        """Return the track of some of its samples."""
        turn = None if self.quaternion is None else self.quaternion[kept]
        return HeldTrack(self.contact.part(kept), self.position[kept], turn)


def held_tracks(clip: TargetClip) -> dict[str, HeldTrack]:
    """Return the contact and held pose of each track that has a contact and positions, by frame."""
    return {
        name: _held(name, clip.times, track, track.contact, track.position)
        for name, track in clip.tracks.items()
        if track.contact is not None and track.contact.any() and track.position is not None
    }


def check_contacts(clip: TargetClip) -> None:
    """Check that every contact of a clip can be held; raise ClipError for a frame in contact without a position."""
    for name, track in clip.tracks.items():
        if track.contact is not None and track.contact.any() and track.position is None:
            raise ClipError(
                f"{name!r} is in contact, but has no position to be held at; give its track one, or set contacts to"
                " ignore"
            )


def _held(name: str, times: np.ndarray, track: Track, stands: np.ndarray, position: np.ndarray) -> HeldTrack:
    turns = Rotation.identity(len(times)) if track.quaternion is None else rotation(track.quaternion)
    place, turn = position.copy(), turns.as_quat()
    phases = runs(stands)
    ground, tilt = _ground(track, len(times))
    for start, stop in phases:
        if track.ground_position is None and track.ground_quaternion is None:  # without rounding
            place[start:stop], turn[start:stop] = place[start], turn[start]
            continue
        carried = tilt[start:stop] * tilt[start].inv()
        place[start:stop] = ground[start:stop] + carried.apply(place[start] - ground[start])
        turn[start:stop] = (carried * turns[start]).as_quat()
    for (_, stop), (start, _) in zip(phases, [*phases[1:], (len(times), 0)], strict=True):
        if stop < len(times):
            until = min(times[stop - 1] + FADE, times[min(start, len(times) - 1)])
            share = 1.0 - _eased((times[stop:start] - times[stop - 1]) / max(until - times[stop - 1], 1e-9))
            place[stop:start] += share[:, None] * (place[stop - 1] - position[stop - 1])
            away = (Rotation.from_quat(turn[stop - 1]) * turns[stop - 1].inv()).as_rotvec()
            turn[stop:start] = (Rotation.from_rotvec(share[:, None] * away) * turns[stop:start]).as_quat()
    oriented, matrices = track.quaternion is not None, Rotation.from_quat(turn).as_matrix()
    contact = Contact(name, oriented, stands, place, matrices, _tension(times, phases))
    return HeldTrack(contact, place, turn[:, [3, 0, 1, 2]] if oriented else None)


def _ground(track: Track, frames: int) -> tuple[np.ndarray, Rotation]:
    """Return positions (T, 3) [m] and rotations of what a frame stands on."""
    place, turns = track.ground_position, track.ground_quaternion
    return (
        np.zeros((frames, 3)) if place is None else place,
        Rotation.identity(frames) if turns is None else rotation(turns),
    )


def _tension(times: np.ndarray, phases: list[tuple[int, int]]) -> np.ndarray:
    """Return what the weights grow by (T,): RISE beside a contact, nothing in it and from RAMP on."""
    away = np.full(len(times), np.inf)
    for start, stop in phases:
        if start > 0:
            near = slice(np.searchsorted(times, times[start] - RAMP), start)
            away[near] = np.minimum(away[near], times[start] - times[near])
        if stop < len(times):
            near = slice(stop, np.searchsorted(times, times[stop - 1] + RAMP))
            away[near] = np.minimum(away[near], times[near] - times[stop - 1])
    for start, stop in phases:
        away[start:stop] = np.inf
    return RISE ** (1.0 - _eased(away / RAMP)) - 1.0


def _eased(u: np.ndarray) -> np.ndarray:
    """0 to 1 for u from 0 to 1, at rest at both."""
    u = np.clip(u, 0.0, 1.0)
    return u * u * (3.0 - 2.0 * u)
