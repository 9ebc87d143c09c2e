"""Errors of a robot's frames and its centre of mass against their targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..clips.clip import TargetClip, Track
from ..kinematics.blocks import blocks
from ..kinematics.frames import frame_poses
from ..kinematics.rotations import product
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from ..objectives.distances import angle_between, length_along
from ..objectives.objective import States, TargetError
from ..objectives.settings import Settings


class ClipErrors(NamedTuple):
    """Errors of a motion against its clip; NaN where there is nothing to follow."""

    position: np.ndarray  # (T, targets) in the order of the clip's tracks [m]
    orientation: np.ndarray  # (T, targets) [rad]
    com: np.ndarray  # (T,) of the centre of mass [m]


class ObjectiveErrors(NamedTuple):
    """Errors of a motion against what its clip asks for beside frames and the centre of mass."""

    keys: tuple[str, ...]  # the objectives' names, one for each error
    errors: tuple[TargetError, ...]  # over T samples


def objective_errors(
    mechanism: Mechanism, clip: TargetClip, settings: Settings, position: np.ndarray, quaternion: np.ndarray
) -> ObjectiveErrors:
    """Return the errors of a motion against its clip's objectives, in their order.

    Positions (T, n, 3) [m] and quaternions (T, n, 4) wxyz are of the bodies' own frames.
    """
    states = States(mechanism, position, quaternion)
    found = [(item.key, error) for item in clip.objectives for error in item.errors(states, settings.weight_of(item))]
    return ObjectiveErrors(tuple(key for key, _ in found), tuple(error for _, error in found))


def distances(
    mechanism: Mechanism,
    clip: TargetClip,
    settings: Settings,
    position: np.ndarray,
    quaternion: np.ndarray,
    com: np.ndarray,
) -> ClipErrors:
    """Return the errors of a motion against its clip, along the axes that have weight.

    Of the targets these are distances [m] and angles [rad], (T, targets), in the order of the clip's tracks; of the
    centre of mass distances (T,) [m]; NaN where there is no target. Positions (T, n, 3) [m] and quaternions (T, n, 4)
    wxyz are of the bodies' own frames.
    """
    frames = len(clip.times)
    apart, turned = np.full((frames, len(clip.tracks)), np.nan), np.full((frames, len(clip.tracks)), np.nan)
    for i, (name, track) in enumerate(clip.tracks.items()):
        weights = settings.weights(name)
        for block in blocks(frames):
            x, R = frame_poses(mechanism, name, position[block], quaternion[block])
            if track.position is not None and any(weights.position):
                apart[block, i] = length_along(x - track.position[block], weights.position)
            if track.quaternion is not None and any(weights.orientation):
                targets = quaternion_matrices(track.quaternion[block]) @ weights.axes
                turned[block, i] = angle_between(R @ weights.axes, targets, weights.directions)
    off = np.full(frames, np.nan)
    if clip.com is not None and any(settings.com_weight):
        off = length_along(com - clip.com, settings.com_weight)
    return ClipErrors(apart, turned, off)


def reached(
    mechanism: Mechanism, clip: TargetClip, position: np.ndarray, quaternion: np.ndarray, com: np.ndarray
) -> TargetClip:
    """Return a clip of the poses that a motion reaches, with the same tracks as a clip and nothing else.

    Positions (T, n, 3) [m] and quaternions (T, n, 4) wxyz are of the bodies' own frames, `com` is (T, 3) [m].
    """
    tracks = {}
    for name, track in clip.tracks.items():
        frame = mechanism.frame(name)
        place, _ = frame_poses(mechanism, name, position, quaternion)
        turn = np.column_stack(
            product(*quaternion[:, mechanism.body_index[frame.body]].T, *np.array(frame.pose.quaternion))
        )
        tracks[name] = Track(None if track.position is None else place, None if track.quaternion is None else turn)
    return TargetClip(clip.times, tracks, com=None if clip.com is None else com)
