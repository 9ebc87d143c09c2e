"""Footholds within reach: soles that a robot's legs cannot hold are moved and turned by as little as it takes.

A recording may ask for feet that are further apart, or turned further against each other, than the robot's joints
allow. If soles were held there, the rest of the body could not follow. So the clip is first solved as it is. If a sole
does not reach its hold, the clip is solved again: only the sole's centre is held, and its yaw is one target among
others. The yaw that the sole then has is the one that it is held at, flat, during the whole contact.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..clips.clip import TargetClip, Track
from ..clips.contacts import feet, foot_poses, runs
from ..clips.support import sole_axes
from ..ik.standing import FlatSolver
from ..kinematics.frames import frame_poses
from ..mechanism import Frame, Mechanism, Pose
from ..mechanism.orientations import quaternions, rotation
from ..motions import Motion
from ..motions.report import MovedFoothold
from ..objectives.settings import Settings
from ..objectives.weights import Weights
from .held_contacts import held_tracks
from .pinning import held_elsewhere
from .quality import contact_gaps
from .retarget import Retargeting

RATE = 30.0  # [Hz] of the samples that are solved
ROUNDS = 6  # at most
TURNS = 2  # the first of them, in which footholds are turned; in the others they are moved
FURTHER = 1.3  # factor on what a foothold is off, so that fewer rounds are needed
LATE = (0.002, 0.01)  # of the robot's size, and rad: a sole further off is out of reach
LEAST = (1e-3, 0.01)  # likewise: one that would be moved by less stays where it is
YAW, FLAT = 1.0, 1e4  # weights of the yaw and the tilt of a sole that may turn

Phase = tuple[str, int, int]  # a foot, the first sample in which it stands and the one after the last


@dataclass(frozen=True, kw_only=True, eq=False)
class Reached:
    """Clip whose footholds can be reached, as far as that was found.

    Attributes:
        pinned: clip with these footholds, before its balance is planned.
        part: about `RATE` samples a second of that clip with its balance.
        motion: that follows `part`.
    """

    pinned: TargetClip
    part: TargetClip
    motion: Motion


def thinned(clip: TargetClip) -> TargetClip:
    """Return about `RATE` samples a second of a clip.

    Args:
        clip: The targets.

    Returns:
        The part, which begins at 0 s.
    """
    seconds = float(clip.times[-1] - clip.times[0])
    return clip.part(0, len(clip.times), max(1, int((len(clip.times) - 1) / max(seconds * RATE, 1.0))))


def reaching(
    mechanism: Mechanism, clip: TargetClip, settings: Settings, planned: Callable[[TargetClip], TargetClip]
) -> Generator[float, None, Reached]:
    """Move footholds that are out of reach, and yield the share that is done.

    Args:
        mechanism: The robot.
        clip: Clip with pinned feet.
        settings: Settings that the clip will be solved with.
        planned: Returns a clip with its balance planned.

    Yields:
        Share that is done, 0 to 1. The generator returns the clip whose footholds are best reached, with its motion.
    """
    quick = settings.frame_by_frame()
    best: Reached | None = None
    least = np.inf
    for done in range(ROUNDS + 1):
        solving = Retargeting(mechanism, thinned(planned(clip)), quick, FlatSolver)
        for frames in solving.steps():
            yield (done + frames / len(solving.clip.times)) / (ROUNDS + 1)
        motion = solving.motion()
        late = _late(mechanism, solving.clip, motion)
        short = sum(float(np.sum(gap)) for gap in late.values())
        if short < least or best is None:
            best, least = Reached(pinned=clip, part=solving.clip, motion=motion), short
        if not late or done == ROUNDS:
            break
        moved = _moved(mechanism, clip, solving, late, done < TURNS)
        if moved is None:
            break
        clip = moved
    assert best is not None  # the first round gives one
    return best


def _late(mechanism: Mechanism, clip: TargetClip, motion: Motion) -> dict[Phase, np.ndarray]:
    """Return the phases in which a pinned sole is out of reach, with how far in multiples of `LATE`, by sample."""
    found = {}
    pinned = set(feet(mechanism, clip))
    for name, track in held_tracks(clip).items():
        if name in pinned and clip.tracks[name].ground_position is None:
            distance, angle = contact_gaps(mechanism, name, track, motion)
            gap = np.fmax(distance / (LATE[0] * mechanism.extent), angle / LATE[1])
            for start, stop in runs(track.contact.stands):
                found[name, start, stop] = gap[start:stop]
    beside = np.zeros(len(clip.times), bool)
    for (_, start, stop), gap in found.items():
        beside[start:stop] |= gap > 1.0
    return {phase: gap for phase, gap in found.items() if beside[phase[1] : phase[2]].any()}


def _moved(
    mechanism: Mechanism, clip: TargetClip, solving: Retargeting, late: dict[Phase, np.ndarray], turns: bool
) -> TargetClip | None:
    """Return the clip with late footholds turned, or else moved, to where the legs reach; None if that is nowhere."""
    part, motion = solving.clip, solving.motion()
    if turns:
        motion = _turning(mechanism, part, late, solving.settings)
    legs = _legs(mechanism, feet(mechanism, clip))
    places: dict[str, dict[int, tuple[np.ndarray, float]]] = {}
    told: list[MovedFoothold] = []
    for (name, start, stop), gap in late.items():
        shifts, angles = _off(mechanism, part, motion, name, slice(start, stop))
        shift, turn = (np.zeros(2), float(angles.mean())) if turns else (FURTHER * shifts[np.nanargmax(gap)], 0.0)
        if np.linalg.norm(shift) < LEAST[0] * mechanism.extent and abs(turn) < LEAST[1]:
            continue
        first, last = _phase(clip, name, part.times[[start, stop - 1]] + clip.times[0])
        places.setdefault(name, {})[first] = shift, turn
        why = [coordinate for coordinate in solving.at_limit(int(start + np.nanargmax(gap))) if coordinate in legs]
        told.append(
            MovedFoothold(
                frame=name, start=float(clip.times[first]), end=float(clip.times[last - 1]),
                shift=(float(shift[0]), float(shift[1])), turned=turn, limits=tuple(why),
            )
        )  # fmt: skip
    if not places:
        return None
    for name, moves in places.items():
        clip = held_elsewhere(mechanism, clip, name, moves)
    return replace(clip, moved=_together(clip.moved, told))


def _turning(mechanism: Mechanism, part: TargetClip, late: dict[Phase, np.ndarray], settings: Settings) -> Motion:
    """Return the motion in which soles that are late hold their centres and lie flat, but turn as they like."""
    frames, tracks, weights = list(mechanism.frames), dict(part.tracks), dict(settings.targets)
    for name in {name for name, _, _ in late}:
        track, foot = part.tracks[name], mechanism.frame(name)
        free = np.zeros(len(part.times), bool)
        for other, start, stop in late:
            free[start:stop] |= other == name
        assert track.contact is not None  # it is late
        along, across, _ = sole_axes(foot)
        centre = Pose.of(np.column_stack([along, across, np.cross(along, across)]), np.mean(foot.sole, axis=0))
        position, quaternion = foot_poses(mechanism, part, name)
        turns = rotation(quaternion)
        place, lying = f"{name} (centre)", f"{name} (flat)"
        frames += [Frame(new, foot.body, foot.pose @ centre) for new in (place, lying)]
        tracks[name] = replace(track, contact=track.contact & ~free)
        tracks[place] = Track(position + turns.apply(centre.position), contact=free)
        tracks[lying] = Track(quaternion=quaternions(turns * Rotation.from_matrix(centre.matrix)))
        weights[place] = Weights((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        weights[lying] = Weights((0.0, 0.0, 0.0), (YAW, YAW, FLAT))
    solving = Retargeting(
        mechanism.with_changes(frames=tuple(frames)), replace(part, tracks=tracks), replace(settings, targets=weights)
    )
    for _ in solving.steps():
        pass
    return solving.motion()


def _off(
    mechanism: Mechanism, part: TargetClip, motion: Motion, name: str, phase: slice
) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much a sole is off its hold over a phase: (T, 2) [m], and turned (T,) [rad]."""
    assert motion.position is not None and motion.quaternion is not None  # a solved motion has them
    centre = np.mean(mechanism.frame(name).sole, axis=0)
    x, R = (array[phase] for array in frame_poses(mechanism, name, motion.position, motion.quaternion))
    held_x, held_q = (array[phase] for array in foot_poses(mechanism, part, name))
    held_R = rotation(held_q)
    turns = (Rotation.from_matrix(R) * held_R.inv()).as_rotvec()[:, 2]
    return (x + R @ centre - held_x - held_R.apply(centre))[:, :2], turns


def _legs(mechanism: Mechanism, names: tuple[str, ...]) -> set[str]:
    """Return the coordinates between feet and what the robot hangs on."""
    bodies, found = {mechanism.frame(name).body for name in names}, set()
    for _ in mechanism.joints:
        above = [joint for joint in mechanism.joints if joint.child in bodies]
        found = {name for joint in above for name in joint.coordinate_names}
        bodies |= {joint.parent for joint in above}
    return found


def _phase(clip: TargetClip, name: str, times: np.ndarray) -> tuple[int, int]:
    """Return the phase of a foot in a clip that lasts over these first and last times of its part."""
    contact = clip.tracks[name].contact
    assert contact is not None
    return next(
        (start, stop)
        for start, stop in runs(contact)
        if clip.times[start] <= times[1] and clip.times[stop - 1] >= times[0]
    )


def _together(before: tuple[MovedFoothold, ...], more: list[MovedFoothold]) -> tuple[MovedFoothold, ...]:
    """Return what was moved in all rounds, each foothold once."""
    found = {(item.frame, item.start): item for item in before}
    for item in more:
        key = item.frame, item.start
        if key in found:
            known = found[key]
            shift = (known.shift[0] + item.shift[0], known.shift[1] + item.shift[1])
            item = replace(known, shift=shift, turned=known.turned + item.turned)
        found[key] = item
    return tuple(sorted(found.values(), key=lambda item: (item.start, item.frame)))
