"""Feet held where they stand, on the ground that the robot rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from ..mechanism.model import Mechanism
from .clip import TargetClip
from .contacts import feet, foot_poses, runs, with_contacts
from .support import placed, sole_axes, sole_length

STEP = 0.3  # of a sole's length: a foot that stands this much higher than the lowest does so on a step
_Hold = tuple[int, int, np.ndarray, Rotation]  # a phase's first sample and the one after it; sole's centre, orientation
FADE = 0.5  # before the first phase, and after the last, corrections come and go within this [s]


def pin_feet(mechanism: Mechanism, clip: TargetClip, ground: float | None = None) -> TargetClip:
    """Return the clip with its feet held in contact: flat on the ground, without sliding or turning.

    Swings are led from hold to hold.

    A foot is held at the middle of its phase's track; one that stands on a step stays so much higher. Through a swing
    the corrections at its two ends blend into each other, before the first phase and after the last they come and go,
    so that the track stays continuous and keeps its shape; no sole dips into the ground.

    Args:
        mechanism: The robot.
        clip: With tracks of its feet; contact phases are found where there are none.
        ground: Its height [m]; left out, that of the robot's rest pose.

    Returns:
        The clip.

    Raises:
        ClipError: The clip moves no foot.
    """
    clip, ground = with_contacts(mechanism, clip), ground_height(mechanism) if ground is None else ground
    names = tuple(name for name in feet(mechanism, clip) if clip.tracks[name].ground_position is None)
    levels = {name: _levels(mechanism, clip, name) for name in names}
    lowest = min((level for found in levels.values() for level in found), default=0.0)
    tracks = dict(clip.tracks)
    for name in names:
        step = STEP * sole_length(mechanism.frame(name))
        heights = [ground + (level - lowest if level - lowest > step else 0.0) for level in levels[name]]
        holds = _holds(mechanism, clip, name, heights)
        position, quaternion = _led(mechanism, clip, name, ground, holds)
        tracks[name] = replace(clip.tracks[name], position=position, quaternion=quaternion)
    return replace(clip, tracks=tracks)


def held_elsewhere(
    mechanism: Mechanism, clip: TargetClip, name: str, moves: Mapping[int, tuple[np.ndarray, float]]
) -> TargetClip:
    """Return a pinned clip with some of a foot's holds moved over the ground; its swings are led there.

    Args:
        mechanism: The robot.
        clip: With pinned feet.
        name: Of the foot's frame.
        moves: By the first sample of a phase, how far its hold is moved (2,) [m] and turned about the vertical through
            the sole's centre [rad].

    Returns:
        The clip.
    """
    track = clip.tracks[name]
    assert track.contact is not None  # `pin_feet` has filled it in
    position, quaternion = foot_poses(mechanism, clip, name)
    centre, holds = np.mean(mechanism.frame(name).sole, axis=0), []
    for start, stop in runs(track.contact):
        shift, turn = moves.get(start, (np.zeros(2), 0.0))
        orientation = Rotation.from_quat(quaternion[start, [1, 2, 3, 0]])
        point = position[start] + orientation.apply(centre) + [*shift, 0.0]
        holds.append((start, stop, point, Rotation.from_rotvec([0.0, 0.0, turn]) * orientation))
    ground = float(placed(np.array(mechanism.frame(name).sole), position, quaternion)[..., 2].min())
    position, quaternion = _led(mechanism, clip, name, ground, holds)
    return replace(clip, tracks={**clip.tracks, name: replace(track, position=position, quaternion=quaternion)})


def ground_height(mechanism: Mechanism) -> float:
    """Return the height of the ground on which a robot stands in its rest pose.

    Under the lowest of its soles, turned level.

    Args:
        mechanism: The robot.

    Returns:
        Height [m]; 0 without feet.
    """
    feet = [frame for frame in mechanism.frames if frame.is_foot]
    heights = [
        mechanism.rest_pose(f.name).position[2] + float(_up(mechanism, f.name) @ np.mean(f.sole, axis=0)) for f in feet
    ]
    return min(heights, default=0.0)


def _levels(mechanism: Mechanism, clip: TargetClip, name: str) -> list[float]:
    """At which height a foot's sole is, phase by phase [m]."""
    contact = clip.tracks[name].contact
    assert contact is not None  # `pin_feet` has filled it in
    sole = placed(np.array(mechanism.frame(name).sole), *foot_poses(mechanism, clip, name)).mean(axis=1)
    return [float(np.median(sole[start:stop, 2])) for start, stop in runs(contact)]


def _holds(mechanism: Mechanism, clip: TargetClip, name: str, heights: list[float]) -> list[_Hold]:
    """Return where a foot is held phase by phase, with its sole's centre at these heights."""
    frame, contact = mechanism.frame(name), clip.tracks[name].contact
    assert contact is not None  # `pin_feet` has filled it in
    position, quaternion = foot_poses(mechanism, clip, name)
    orientations = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]])
    path, up = position + orientations.apply(np.mean(frame.sole, axis=0)), _up(mechanism, name)
    return [
        (start, stop, *_hold(path[start:stop], orientations[start:stop], up, height))
        for (start, stop), height in zip(runs(contact), heights, strict=True)
    ]


def _led(
    mechanism: Mechanism, clip: TargetClip, name: str, ground: float, holds: list[_Hold]
) -> tuple[np.ndarray, np.ndarray]:
    """Return a foot's track, led from hold to hold, and nowhere below the ground."""
    frame = mechanism.frame(name)
    position, quaternion = foot_poses(mechanism, clip, name)
    orientations = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]])
    sole = np.array(frame.sole)
    centre = sole.mean(axis=0)
    # The sole's centre is what moves: a correction of the orientation then does not swing the sole about the frame's
    # origin.
    path = position + orientations.apply(centre)
    new_path, new_orientations = path.copy(), orientations.as_quat()
    for start, stop, point, orientation in holds:
        new_path[start:stop], new_orientations[start:stop] = point, orientation.as_quat()
    ends = [None, *holds, None]
    for before, after in pairwise(ends):
        first, last = (before[1] if before else 0), (after[0] if after else len(path))
        if first >= last or not (before or after):
            continue
        edges = (before, first - 1), (after, last)
        shifts = [hold[2] - path[k] if hold else np.zeros(3) for hold, k in edges]
        twists = Rotation.concatenate(
            [hold[3] * orientations[k].inv() if hold else Rotation.identity() for hold, k in edges]
        )
        start = clip.times[first - 1] if before else clip.times[last] - FADE
        u = _eased(clip.times[first:last], start, clip.times[last] if after else clip.times[first - 1] + FADE)
        new_path[first:last] += shifts[0] + u[:, None] * (shifts[1] - shifts[0])
        new_orientations[first:last] = (Slerp([0.0, 1.0], twists)(u) * orientations[first:last]).as_quat()
    rotations = Rotation.from_quat(new_orientations)
    outline = np.stack([rotations.apply(p - centre) for p in sole], axis=1)
    new_path[:, 2] += np.maximum(ground - new_path[:, 2] - outline[..., 2].min(axis=1), 0.0)
    return new_path - rotations.apply(centre), rotations.as_quat()[:, [3, 0, 1, 2]]


def _up(mechanism: Mechanism, name: str) -> np.ndarray:
    """Return the sole's normal, in the frame's coordinates, on the side that is up in the rest pose."""
    normal = sole_axes(mechanism.frame(name))[2]
    return normal if (mechanism.rest_pose(name).matrix @ normal)[2] >= 0 else -normal


def _hold(path: np.ndarray, orientations: Rotation, up: np.ndarray, height: float) -> tuple[np.ndarray, Rotation]:
    """Return the pose at which a foot is held through a phase.

    Its sole's centre at this height, and its mean orientation tilted flat.
    """
    middle = np.array([*np.median(path[:, :2], axis=0), height])
    return middle, _flat(orientations.mean(), up)


def flattened(mechanism: Mechanism, name: str, orientation: Rotation) -> Rotation:
    """Return a foot's orientation, tilted by as little as lays its sole flat on level ground.

    Args:
        mechanism: The robot.
        name: Name of the foot's frame.
        orientation: Its orientation.

    Returns:
        The orientation, tilted.
    """
    return _flat(orientation, _up(mechanism, name))


def _flat(orientation: Rotation, up: np.ndarray) -> Rotation:
    return _shortest(orientation.apply(up), np.array([0.0, 0.0, 1.0])) * orientation


def _shortest(a: np.ndarray, b: np.ndarray) -> Rotation:
    """Return the smallest rotation that takes the unit vector a to the unit vector b."""
    axis, cosine = np.cross(a, b), float(a @ b)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        return Rotation.identity() if cosine > 0 else Rotation.from_rotvec([np.pi, 0.0, 0.0])
    return Rotation.from_rotvec(axis / sine * np.arctan2(sine, cosine))


def _eased(times: np.ndarray, start: float, end: float) -> np.ndarray:
    """0 until the start to 1 from the end on, at rest at both (T,)."""
    t = np.clip((times - start) / (end - start), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
