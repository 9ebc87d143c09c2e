"""Seams of an own range: targets that come out of the motion before and lead back into it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..clips.clip import TargetClip, Track
from ..feet.phases import runs
from ..kinematics.forward import body_poses
from ..kinematics.frames import robot_com
from ..mechanism.model import Mechanism
from ..report.distances import reached
from .blend import blended, blended_turns
from .own_range import OwnRange

STANDS = 0.02  # m/s: a frame in contact that the motion before moves faster does not stand there
NEAR = 0.02  # of the robot's size: as far a stance is moved to where the motion before has it
SAME = 1e-4  # of the robot's size: a stance that it has further apart at both seams has moved


def led_through(mechanism: Mechanism, clip: TargetClip, own: OwnRange, share: np.ndarray) -> TargetClip:
    """Return a clip whose targets blend, at the seams of an own range, with the poses of the motion before.

    `share` (T,) is that of the clip's own targets: 0 outside of the range. A stance over a seam is held where the
    motion before has it. Where that does not stand there, or stands elsewhere, it is no contact during the blend. The
    clip's other objectives stay.
    """
    before = own.before
    base = None if before.base is None else (before.base.position, before.base.quaternion)
    position, quaternion, _ = body_poses(mechanism, before.values, base)
    old = reached(mechanism, clip, position, quaternion, robot_com(mechanism, position, quaternion))
    tracks = {
        name: _led(clip.times, track, old.tracks[name], own, share, mechanism.extent)
        for name, track in clip.tracks.items()
    }
    com = clip.com if clip.com is None or old.com is None else blended(old.com, clip.com, share)
    return replace(clip, tracks=tracks, com=com)


def _led(times: np.ndarray, track: Track, old: Track, own: OwnRange, share: np.ndarray, size: float) -> Track:
    """Return a track that changes over from an old one."""
    position, quaternion, contact = track.position, track.quaternion, track.contact
    if position is not None and old.position is not None:
        position = blended(old.position, position, share)
    if quaternion is not None and old.quaternion is not None:
        quaternion = blended_turns(old.quaternion, quaternion, share)
    led = replace(track, position=position, quaternion=quaternion)
    is_still = track.ground_position is None and track.ground_quaternion is None
    if contact is None or old.position is None or position is None or not is_still:
        return led
    contact, full = contact.copy(), share >= 1.0
    for start, stop in runs(contact):
        kept = _kept(times, old.position, (start, stop), own)
        if kept is None or (kept and np.abs(old.position[kept] - old.position[kept[0]]).max() > SAME * size):
            contact[start:stop] &= full[start:stop]
        elif kept:
            at, own_places = kept[0], position[start:stop][full[start:stop]]
            if np.abs(own_places - old.position[at]).max(initial=0.0) > NEAR * size:
                contact[start:stop] &= full[start:stop]
            else:
                position[start:stop] = old.position[at]
                if quaternion is not None and old.quaternion is not None:
                    quaternion[start:stop] = old.quaternion[at]
    return replace(led, position=position, quaternion=quaternion, contact=contact)


def _kept(times: np.ndarray, old: np.ndarray, stance: tuple[int, int], own: OwnRange) -> list[int] | None:
    """Return frames of a stance at which the motion before has it, one for each seam that it is over.

    None where that motion does not stand there.
    """
    (start, stop), (first, end) = stance, own.frames
    found = []
    for begin, close, at in ((start, first, first - 1), (end, stop, end)):
        if begin < close and start <= at < stop:
            far = np.linalg.norm(old[begin:close] - old[at], axis=1).max()
            if far > STANDS * max(times[close - 1] - times[begin], times[1] - times[0]):
                return None
            found.append(at)
    return found
