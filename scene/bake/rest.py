"""Rest of a bake of an own range: what its other frames are worth, judged from the curves that stayed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bpy.types import Object, Scene

from ...robik.clips.clip import TargetClip, Track
from ...robik.kinematics.frames import robot_com
from ...robik.mechanism import Mechanism
from ...robik.objectives.settings import Settings
from ...robik.report.distances import distances
from ...robik.report.misses import misses
from ...robik.report.shortfall import millimetres
from ...robik.words import counted
from ..motion import SAME, motion_frames, read_bodies
from .kept_clip import KeptClip


def outside(kept: KeptClip, frames: np.ndarray) -> KeptClip | None:
    """Return what was followed before and after a range of frames (T,); None where nothing was."""
    keep = (kept.frames < frames[0] - SAME) | (kept.frames > frames[-1] + SAME)
    if not keep.any():
        return None

    def rows(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[keep]

    tracks = {
        name: Track(rows(track.position), rows(track.quaternion), contact=rows(track.contact))
        for name, track in kept.clip.tracks.items()
    }
    clip = TargetClip(kept.clip.times[keep], tracks, com=rows(kept.clip.com))
    return KeptClip(kept.frames[keep], clip, kept.settings)


def store_rest(root: Object, mechanism: Mechanism, scene: Scene, frames: np.ndarray, before: KeptClip | None) -> None:
    """Judge the frames that stayed, and set `rest`, `rest_missed` and `rest_frame` of a robot's result.

    `frames` (T,) are those that were baked, `before` is what the bake before followed, None if unknown.
    """
    result = root.robik.robot.result
    result.rest, result.rest_missed, result.rest_frame = "", 0, 0
    first, last = motion_frames(root, mechanism, scene)[[0, -1]]
    if first > frames[0] - SAME and last < frames[-1] + SAME:
        return
    rest = outside(before, frames) if before is not None else None
    if rest is None:
        result.rest = "The other frames stay as they were keyed; what they should follow is not known"
        return
    worst, where, missed = _judged(root, mechanism, scene, rest)
    result.rest_missed, result.rest_frame = missed, round(float(rest.frames[where]))
    count = counted(len(rest.frames), "other sample")
    result.rest = (
        f"The {count} of the bake before: {missed} {'misses its' if missed == 1 else 'miss their'} targets, the worst"
        f" by {millimetres(worst)}"
        if missed
        else f"The {count} of the bake before meet their targets"
    )


def _judged(root: Object, mechanism: Mechanism, scene: Scene, rest: KeptClip) -> tuple[float, int, int]:
    """Return the largest distance [m], its sample, and how many samples miss their targets."""
    position, quaternion = read_bodies(root, rest.frames, scene)
    com = robot_com(mechanism, position, quaternion)
    off = distances(mechanism, rest.clip, rest.settings, position, quaternion, com)
    worst = misses(mechanism, rest.clip, rest.settings, off).worst
    lengths = np.nan_to_num(np.column_stack([off.position, off.com]))
    return float(lengths.max(initial=0.0)), int(worst.argmax()), int((worst > 1.0).sum())


def joined(rest: KeptClip | None, frames: np.ndarray, clip: TargetClip, settings: Settings) -> KeptClip:
    """Return what all frames followed: the new ones (T,), and those that stayed where they followed the same frames.

    `rest` is what was followed outside of the new frames, None if unknown.
    """
    new = KeptClip(frames, clip, settings)
    if rest is None or not _alike(rest.clip, clip):
        return new
    every = np.concatenate([rest.frames, frames])
    order = np.argsort(every, kind="stable")

    def both(old: np.ndarray | None, now: np.ndarray | None) -> np.ndarray | None:
        return None if old is None or now is None else np.concatenate([old, now])[order]

    tracks = {
        name: Track(
            both(rest.clip.tracks[name].position, track.position),
            both(rest.clip.tracks[name].quaternion, track.quaternion),
            contact=both(rest.clip.tracks[name].contact, track.contact),
        )
        for name, track in clip.tracks.items()
    }
    step = (clip.times[-1] - clip.times[0]) / (frames[-1] - frames[0]) if len(frames) > 1 else 1.0
    times = (every[order] - every[order][0]) * step
    return KeptClip(
        every[order], replace(clip, times=times, tracks=tracks, com=both(rest.clip.com, clip.com)), settings
    )


def _alike(old: TargetClip, new: TargetClip) -> bool:
    """Return whether two clips follow the same frames in the same ways, and nothing else."""

    def kinds(clip: TargetClip) -> dict[str, tuple[bool, bool]]:
        return {n: (t.position is not None, t.quaternion is not None) for n, t in clip.tracks.items()}

    is_plain = not new.objectives and not new.obstacles
    is_plain &= all(track.ground_position is None for track in new.tracks.values())
    return is_plain and kinds(old) == kinds(new) and (old.com is None) == (new.com is None)
