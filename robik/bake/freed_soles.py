"""Soles that lie flat while they stand, but turn and move over the ground: where a robot would rather have its feet."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..clips.clip import TargetClip, Track
from ..feet.finding import foot_poses
from ..feet.support import sole_axes
from ..kinematics.frames import frame_poses
from ..mechanism import Frame, Mechanism, Pose
from ..mechanism.orientations import quaternions, rotation
from ..motions import Motion
from ..objectives.weights import Weights
from .adjusting import Bench

PLACE, YAW, FLAT = 300.0, 1.0, 1e4  # weights of a sole's place over the ground, its yaw, and its height and tilt
LESS = 0.1  # times their weight count other targets where soles may move, so that walls alone move them

Phase = tuple[str, int, int]  # a foot, the first sample in which it stands and the one after the last


def freed(bench: Bench, part: TargetClip, phases: Collection[Phase], held: bool) -> Motion:
    """Return a motion in which soles lie flat while they stand, but turn as they like in the given phases.

    Where they are `held`, soles keep their centres; else these are targets, and move as far as walls push them.
    """
    mechanism, settings = bench.mechanism, bench.quick
    frames, tracks, weights = list(mechanism.frames), dict(part.tracks), dict(settings.targets)
    if not held:
        weights = {name: weights.get(name, Weights()).scaled(LESS) for name in tracks}
        x, y, z = settings.com_weight
        settings = replace(settings, com_weight=(LESS * x, LESS * y, LESS * z))
    for name in {name for name, _, _ in phases}:
        track, foot = part.tracks[name], mechanism.frame(name)
        free = np.zeros(len(part.times), bool)
        for other, start, stop in phases:
            free[start:stop] |= other == name
        assert track.contact is not None  # it stands
        along, across, _ = sole_axes(foot)
        centre = Pose.of(np.column_stack([along, across, np.cross(along, across)]), np.mean(foot.sole, axis=0))
        position, quaternion = foot_poses(mechanism, part, name)
        turns = rotation(quaternion)
        place, lying = f"{name} (centre)", f"{name} (flat)"
        frames += [Frame(new, foot.body, foot.pose @ centre) for new in (place, lying)]
        tracks[name] = replace(track, contact=track.contact & ~free)
        tracks[place] = Track(position + turns.apply(centre.position), contact=free if held else None)
        tracks[lying] = Track(quaternion=quaternions(turns * Rotation.from_matrix(centre.matrix)))
        weights[place] = Weights((0.0, 0.0, 0.0) if held else (PLACE, PLACE, FLAT), (0.0, 0.0, 0.0))
        weights[lying] = Weights((0.0, 0.0, 0.0), (YAW, YAW, FLAT))
    freer = mechanism.with_changes(frames=tuple(frames))
    settings = replace(settings, targets=weights)
    return bench.begin(replace(part, tracks=tracks), mechanism=freer, settings=settings).run()


def off_hold(mechanism: Mechanism, part: TargetClip, motion: Motion, phase: Phase) -> tuple[np.ndarray, np.ndarray]:
    """Return a sole's errors from its hold in a phase: over the ground (T, 2) [m], about the vertical (T,) [rad]."""
    assert motion.position is not None and motion.quaternion is not None  # a solved motion has them
    name, during = phase[0], slice(*phase[1:])
    centre = np.mean(mechanism.frame(name).sole, axis=0)
    x, R = (array[during] for array in frame_poses(mechanism, name, motion.position, motion.quaternion))
    held_x, held_q = (array[during] for array in foot_poses(mechanism, part, name))
    held_R = rotation(held_q)
    turns = (Rotation.from_matrix(R) * held_R.inv()).as_rotvec()[:, 2]
    return (x + R @ centre - held_x - held_R.apply(centre))[:, :2], turns
