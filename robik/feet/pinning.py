"""Feet held where they stand: flat on the ground that the robot rests on, or as they come to rest on a mesh."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation, Slerp

from ..clips.clip import TargetClip
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternions, rotation
from ..surroundings.ground import Ground
from .finding import feet, foot_poses, with_contacts
from .on_ground import along_with, from_ground, onto_ground
from .phases import runs
from .sole_turns import ground_height, laid_on, up_of
from .support import placed, sole_length
from .swings import eased, swings_clear
from .terrain import Terrain, raised_over

STEP = 0.3  # of a sole's length: a foot that stands this much higher than the lowest does so on a step
SMOOTHING = 0.02  # of tracks before speeds are taken from them [s]
# Of a foot's speed where its swing begins or ends, what is taken from it: with all of it left, feet leave and land by a
# blow, which throws the zero-moment point out; with half of it or less left, the swing between becomes too fast for it.
TAKEN = 0.25
FADE = 0.5  # before the first phase, and after the last, corrections come and go within this [s]
# How far a foot must be raised (T,) by its poses [m], to be so far (T,) above ground that is so high (T,) [m]
Lift = Callable[[np.ndarray, Rotation, np.ndarray, np.ndarray], np.ndarray]


class _Hold(NamedTuple):
    """A phase in which a foot is held."""

    start: int  # its first sample
    stop: int  # the one after its last
    point: np.ndarray  # (3,) of the sole's centre [m]
    turn: Rotation  # of the foot
    low: float  # height of the sole's lowest point, tilted as its track has it [m]


def pin_feet(mechanism: Mechanism, clip: TargetClip, ground: float | None = None) -> TargetClip:
    """Return the clip with its feet held in contact: flat on the ground, without sliding or turning.

    Swings are led from hold to hold. Contact phases are found where the clip has none. `ground` is the height of level
    ground [m]; that of the robot's rest pose if left out. Raise ClipError where the clip moves no foot.

    A foot is held at the middle of its phase's track; one that stands on a step stays so much higher. On a mesh as
    ground it is held as it comes to rest there, and the body goes along. Through a swing the corrections at its two
    ends blend into each other, before the first phase and after the last they come and go, so that the track stays
    continuous and keeps its shape; no sole dips into the ground.
    """
    level = ground_height(mechanism) if ground is None else ground
    if clip.ground is not None and clip.ground.moves:
        names = tuple(name for name in feet(mechanism, clip) if clip.tracks[name].ground_position is None)
        return from_ground(_pinned(mechanism, onto_ground(mechanism, clip), level), clip, names)
    return _pinned(mechanism, clip, level)


def _pinned(mechanism: Mechanism, clip: TargetClip, level: float) -> TargetClip:
    """Return the clip with its feet held on ground that does not move."""
    clip = with_contacts(mechanism, clip)
    names = tuple(name for name in feet(mechanism, clip) if clip.tracks[name].ground_position is None)
    terrain = None if clip.ground is None else Terrain(mechanism, Ground(level, clip.ground))
    phases = {name: _phases(mechanism, clip, name) for name in names}
    if terrain is None:
        holds = _on_level(mechanism, phases, level)
        lifts = {name: _lift(mechanism, name, level) for name in names}
    else:
        holds = {name: [_on(terrain, mechanism, name, phase) for phase in found] for name, found in phases.items()}
        lifts = {name: _over(terrain, clip, name) for name in names}
        clip = along_with(clip, {name: _shifts(clip, name, phases[name], holds[name]) for name in names})
    tracks = dict(clip.tracks)
    for name in names:
        position, quaternion = _led(mechanism, clip, name, holds[name], lifts[name])
        tracks[name] = replace(clip.tracks[name], position=position, quaternion=quaternion)
    return replace(clip, tracks=tracks)


def held_elsewhere(
    mechanism: Mechanism, clip: TargetClip, name: str, moves: Mapping[int, tuple[np.ndarray, float]]
) -> TargetClip:
    """Return a pinned clip with some of a foot's holds moved over the ground; its swings are led there.

    `moves` gives, by the first sample of a phase, the way (2,) [m] and the angle about the vertical through the sole's
    centre [rad].
    """
    track = clip.tracks[name]
    assert track.contact is not None  # `pin_feet` has filled it in
    position, quaternion = foot_poses(mechanism, clip, name)
    terrain = None if clip.ground is None else Terrain(mechanism, Ground(ground_height(mechanism), clip.ground))
    holds = []
    for phase in _phases(mechanism, clip, name):
        if phase.start not in moves:
            holds.append(phase)
            continue
        shift, turn = moves[phase.start]
        moved = phase._replace(
            point=phase.point + np.array([*shift, 0.0]), turn=Rotation.from_rotvec([0.0, 0.0, turn]) * phase.turn
        )
        holds.append(moved if terrain is None else _on(terrain, mechanism, name, moved))
    lowest = float(placed(np.array(mechanism.frame(name).sole), position, quaternion)[..., 2].min())
    lift = _lift(mechanism, name, lowest) if terrain is None else _over(terrain, clip, name)
    position, quaternion = _led(mechanism, clip, name, holds, lift)
    return replace(clip, tracks={**clip.tracks, name: replace(track, position=position, quaternion=quaternion)})


def _phases(mechanism: Mechanism, clip: TargetClip, name: str) -> list[_Hold]:
    """Return a foot's phases, each where the foot's track is in it: in the median, and in its mean direction."""
    contact = clip.tracks[name].contact
    assert contact is not None  # `with_contacts` has filled it in
    position, quaternion = foot_poses(mechanism, clip, name)
    turns = rotation(quaternion)
    sole = placed(np.array(mechanism.frame(name).sole), position, quaternion)
    path, low = sole.mean(axis=1), sole[..., 2].min(axis=1)
    return [
        _Hold(a, b, np.median(path[a:b], axis=0), turns[a:b].mean(), float(np.median(low[a:b])))
        for a, b in runs(contact)
    ]


def _on_level(mechanism: Mechanism, phases: Mapping[str, list[_Hold]], ground: float) -> dict[str, list[_Hold]]:
    """Return where feet are held on level ground; one that stands higher by a step stays so much higher."""
    lowest = min((phase.low for found in phases.values() for phase in found), default=0.0)
    holds = {}
    for name, found in phases.items():
        step, up = STEP * sole_length(mechanism.frame(name)), up_of(mechanism, name)
        above = [phase.low - lowest for phase in found]
        heights = [ground + (height if height > step else 0.0) for height in above]
        holds[name] = [
            phase._replace(point=np.array([*phase.point[:2], height]), turn=laid_on(phase.turn, up))
            for phase, height in zip(found, heights, strict=True)
        ]
    return holds


def _on(terrain: Terrain, mechanism: Mechanism, name: str, phase: _Hold) -> _Hold:
    """Return where a foot comes to rest on a mesh that is put down where a phase has it."""
    point, turn = terrain.lay(name, up_of(mechanism, name), phase.point, phase.turn)
    return phase._replace(point=point, turn=turn)


def _lift(mechanism: Mechanism, name: str, ground: float) -> Lift:
    """Return how far a foot must be raised over level ground."""
    sole = np.array(mechanism.frame(name).sole)

    def lift(position: np.ndarray, turns: Rotation, clear: np.ndarray, under: np.ndarray) -> np.ndarray:
        outline = np.stack([turns.apply(point)[:, 2] for point in sole], axis=1)
        low = position[:, 2] + outline.min(axis=1)
        found = np.maximum(ground - low, 0.0)
        for start, stop in runs(clear > 0.0):
            share = clear[start:stop] / clear[start:stop].max()
            short = (clear + under - low)[start:stop] / share
            found[start:stop] = np.maximum(found[start:stop], share * max(short[share > 0.5].max(initial=0.0), 0.0))
        return found

    return lift


def _over(terrain: Terrain, clip: TargetClip, name: str) -> Lift:
    """Return how far a foot must be raised over a mesh; a swing is, smoothly."""
    contact = clip.tracks[name].contact
    assert contact is not None  # `with_contacts` has filled it in
    step = float(np.median(np.diff(clip.times))) if len(clip.times) > 1 else 1.0

    def lift(position: np.ndarray, turns: Rotation, clear: np.ndarray, under: np.ndarray) -> np.ndarray:
        needed = terrain.lift(name, position - clear[:, None] * [0.0, 0.0, 1.0], turns)
        found = np.zeros(len(position))
        for start, stop in runs(~contact):
            found[start:stop] = raised_over(needed[start:stop], step)
        return found

    return lift


def _shifts(clip: TargetClip, name: str, phases: list[_Hold], holds: list[_Hold]) -> np.ndarray:
    """Return how far a foot's holds are from its track (T, 3) [m]; between them from one to the next."""
    found = np.zeros((len(clip.times), 3))
    if not holds:
        return found
    moved = [hold.point - phase.point for hold, phase in zip(holds, phases, strict=True)]
    found[: holds[0].start], found[holds[-1].stop :] = moved[0], moved[-1]
    for hold, shift in zip(holds, moved, strict=True):
        found[hold.start : hold.stop] = shift
    for (before, after), (a, b) in zip(pairwise(holds), pairwise(moved), strict=True):
        u = eased(clip.times[before.stop : after.start], clip.times[before.stop - 1], clip.times[after.start])
        found[before.stop : after.start] = a + u[:, None] * (b - a)
    return found


def _led(
    mechanism: Mechanism, clip: TargetClip, name: str, holds: list[_Hold], lift: Lift
) -> tuple[np.ndarray, np.ndarray]:
    """Return a foot's track, led from hold to hold, and nowhere below the ground."""
    position, quaternion = foot_poses(mechanism, clip, name)
    orientations = rotation(quaternion)
    centre = np.mean(mechanism.frame(name).sole, axis=0)
    # The sole's centre is what moves: a correction of the orientation then does not swing the sole about the frame's
    # origin.
    path = position + orientations.apply(centre)
    speeds = _speeds(clip.times, path, orientations)
    new_path, new_orientations = path.copy(), orientations.as_quat()
    for start, stop, point, orientation, _ in holds:
        new_path[start:stop], new_orientations[start:stop] = point, orientation.as_quat()
    ends = [None, *holds, None]
    for before, after in pairwise(ends):
        first, last = (before.stop if before else 0), (after.start if after else len(path))
        if first >= last or not (before or after):
            continue
        edges = (before, first - 1), (after, last)
        shifts = [hold.point - path[k] if hold else np.zeros(3) for hold, k in edges]
        twists = Rotation.concatenate(
            [hold.turn * orientations[k].inv() if hold else Rotation.identity() for hold, k in edges]
        )
        times, start = clip.times[first:last], clip.times[first - 1] if before else clip.times[last] - FADE
        end = clip.times[last] if after else clip.times[first - 1] + FADE
        u = eased(times, start, end)
        taken = np.zeros((last - first, 6))
        if before:
            taken += _ramp(times, start, end)[:, None] * speeds[first - 1]
        if after:
            taken += _ramp(times, end, start)[:, None] * speeds[last]
        new_path[first:last] += shifts[0] + u[:, None] * (shifts[1] - shifts[0]) - taken[:, :3]
        twist = Slerp([0.0, 1.0], twists)(u) * Rotation.from_rotvec(-taken[:, 3:])
        new_orientations[first:last] = (twist * orientations[first:last]).as_quat()
    rotations = Rotation.from_quat(new_orientations)
    found = new_path - rotations.apply(centre)
    found[:, 2] += lift(found, rotations, swings_clear(mechanism, clip, name), _under(clip.times, holds))
    return found, quaternions(rotations)


def _under(times: np.ndarray, holds: list[_Hold]) -> np.ndarray:
    """Return how high the ground is (T,) where a foot is held [m], and on straight lines between."""
    if not holds:
        return np.zeros(len(times))
    edges = [k for hold in holds for k in (hold.start, hold.stop - 1)]
    return np.asarray(np.interp(times, times[edges], np.repeat([hold.point[2] for hold in holds], 2)))


def _speeds(times: np.ndarray, path: np.ndarray, turns: Rotation) -> np.ndarray:
    """Return velocities [m/s] and angular velocities [rad/s] (T, 6), without the noise of recordings."""
    if len(times) < 2:
        return np.zeros((len(times), 6))
    moved = np.hstack([np.diff(path, axis=0), (turns[1:] * turns[:-1].inv()).as_rotvec()])
    step = np.diff(times)
    between = gaussian_filter1d(moved / step[:, None], SMOOTHING / float(np.median(step)), axis=0, mode="nearest")
    return 0.5 * (np.vstack([between[:1], between]) + np.vstack([between, between[-1:]]))


def _ramp(times: np.ndarray, at: float, other: float) -> np.ndarray:
    """Return a ramp (T,) that is zero at both ends, with slope `TAKEN` at one and flat at the other [s]."""
    s = np.clip((times - at) / (other - at), 0.0, 1.0)
    return TAKEN * (other - at) * s * (1.0 - s) ** 2
