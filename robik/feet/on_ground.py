"""Motions on ground that is a mesh: in its coordinates where it moves, with a body that goes along with its feet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from ..clips.clip import TargetClip, Track
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternions, rotation

SMOOTH = 0.15  # s of the way in which the body goes along with its feet


def along_with(clip: TargetClip, shifts: Mapping[str, np.ndarray]) -> TargetClip:
    """Return a clip with feet shifted by (T, 3) [m] and the body along: up steps, and aside with footholds."""
    if not shifts:
        return clip
    way = np.mean(list(shifts.values()), axis=0)
    if len(clip.times) > 1:
        way = gaussian_filter1d(way, SMOOTH / float(np.median(np.diff(clip.times))), axis=0, mode="nearest")
    tracks = {
        name: track
        if track.position is None or track.ground_position is not None
        else replace(track, position=track.position + shifts.get(name, way))
        for name, track in clip.tracks.items()
    }
    return replace(clip, tracks=tracks, com=None if clip.com is None else clip.com + way)


def onto_ground(mechanism: Mechanism, clip: TargetClip) -> TargetClip:
    """Return a clip in the coordinates of a ground that moves, which rests in them; else the clip itself.

    A motion whose feet rest against the ground rides on it. Another one, as a walk that was recorded on a floor, is put
    onto it.
    """
    if clip.ground is None or not clip.ground.moves:
        return clip
    place, turn = clip.ground.poses(len(clip.times))
    if not _rides(mechanism, clip, place, turn):
        place, turn = np.tile(place[0], (len(place), 1)), Rotation.concatenate([turn[0]] * len(place))
    resting = replace(clip.ground, position=None, quaternion=None)
    return replace(_moved(clip, -turn.inv().apply(place), turn.inv()), obstacles=(resting,), objectives=())


def from_ground(clip: TargetClip, moving: TargetClip, names: tuple[str, ...]) -> TargetClip:
    """Return a clip from `onto_ground`, which made it of `moving`, in the coordinates of the world again.

    `names` are the feet that stand on that ground.
    """
    assert moving.ground is not None
    place, turn = moving.ground.poses(len(moving.times))
    found = _moved(clip, place, turn)
    tracks = {
        name: replace(track, ground_position=place, ground_quaternion=quaternions(turn)) if name in names else track
        for name, track in found.tracks.items()
    }
    return replace(found, tracks=tracks, obstacles=moving.obstacles, objectives=moving.objectives)


def _rides(mechanism: Mechanism, clip: TargetClip, place: np.ndarray, turn: Rotation) -> bool:
    """Return whether feet rest against a ground that moves rather than against the world."""
    if len(clip.times) < 2:
        return True
    slow = []
    for frame in mechanism.frames:
        track = clip.tracks.get(frame.name)
        if frame.is_foot and track is not None and track.position is not None:
            for path in (turn.inv().apply(track.position - place), track.position):
                speed = np.linalg.norm(np.gradient(path, clip.times, axis=0), axis=1)
                slow.append(float(np.percentile(speed, 25)))
    return sum(slow[0::2]) <= sum(slow[1::2])


def _moved(clip: TargetClip, place: np.ndarray, turn: Rotation) -> TargetClip:
    """Return a clip whose targets are turned and then shifted by (T, 3) [m]."""

    def moved(track: Track) -> Track:
        position, quaternion = track.position, track.quaternion
        return replace(
            track,
            position=None if position is None else turn.apply(position) + place,
            quaternion=None if quaternion is None else quaternions(turn * rotation(quaternion)),
        )

    com = None if clip.com is None else turn.apply(clip.com) + place
    return replace(clip, tracks={name: moved(track) for name, track in clip.tracks.items()}, com=com)
