"""When each foot stands: contact phases from the feet's tracks, and feet held where they stand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d, label
from scipy.spatial.transform import Rotation, Slerp

from robik.errors import ClipError
from robik.mechanism.model import Mechanism
from robik.retarget.clip import TargetClip, Track
from robik.retarget.motion import Motion
from robik.retarget.support import placed, sole_axes, sole_length, standing_points

# Heights and speeds in sole lengths, so that they hold at any scale.
HIGH, RAISED = 0.15, 0.25  # a foot this high may be in a swing, and is if it moves; this high it surely is
SLOW, FAST = 0.5, 1.25  # a foot this fast may be in a swing; this fast it surely is, per second
FADE = 0.5  # before the first phase, and after the last, corrections come and go within this [s]
STEP = 0.3  # a foot that stands this much higher than another does so on a step
LEVEL = 0.02  # a phase begins and ends where the foot is this near to the height at which it stands
SHORTEST = 0.06  # no phase is shorter [s]
SMOOTHING = 0.02  # of noisy tracks before speeds are taken from them [s]


def feet(mechanism: Mechanism, clip: TargetClip) -> tuple[str, ...]:
    """The frames with a sole that the clip moves.

    Raises:
        ClipError: there are none; says which frames could be.
    """
    known = [frame.name for frame in mechanism.frames if frame.is_foot]
    if not known:
        raise ClipError(f"robot {mechanism.name!r} has no feet: give the frames that it stands on a sole (in Blender: Make Foot)")
    names = tuple(name for name in known if name in clip.tracks)
    if not names:
        raise ClipError(f"the clip moves no foot of robot {mechanism.name!r}; follow at least one of {', '.join(known)}")
    for name in names:
        if clip.tracks[name].position is None:
            raise ClipError(f"foot {name!r} has no position to follow, so it is unknown when it stands; give its track one")
    return names


def foot_poses(mechanism: Mechanism, clip: TargetClip, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A foot's target: positions (T, 3) [m] and unit quaternions (T, 4) wxyz; where no orientation is asked for, the rest pose's."""
    track, frame = clip.tracks[name], mechanism.frame(name)
    assert track.position is not None  # `feet` has checked
    if track.quaternion is not None:
        return track.position, track.quaternion
    rest = mechanism.bodies[mechanism.body_index[frame.body]].pose @ frame.pose
    return track.position, np.tile(rest.quaternion, (len(clip.times), 1))


def find_contacts(mechanism: Mechanism, clip: TargetClip) -> dict[str, np.ndarray]:
    """Whether each foot stands (T,), by hand where its track says so, else from its height and speed.

    A swing is a stretch in which the foot may be moving and at some time surely is: two thresholds each for height and speed, so that
    noise does not cut phases to pieces. Heights count from where the foot stands most of the time; a foot that is never
    near the lowest one's ground never stands.

    Raises:
        ClipError: the clip moves no foot.
    """
    names = feet(mechanism, clip)
    soles = {n: placed(np.array(mechanism.frame(n).sole), *foot_poses(mechanism, clip, n)).mean(axis=1) for n in names}
    levels = {n: float(np.percentile(soles[n][:, 2], 10)) for n in names}
    ground = min(levels.values())
    contacts = {}
    for name in names:
        given, length = clip.tracks[name].contact, sole_length(mechanism.frame(name))
        level = levels[name] if levels[name] - ground < HIGH * length else ground
        contacts[name] = given if given is not None else standing(clip.times, soles[name], level, length)
    return contacts


def standing(times: np.ndarray, sole: np.ndarray, level: float, length: float) -> np.ndarray:
    """Whether a foot stands (T,).

    Args:
        times: (T,) [s].
        sole: (T, 3) the sole's centre [m].
        level: its height where it stands [m].
        length: of the sole [m]; the measure of heights and speeds.
    """
    if len(times) < 2:
        return sole[:, 2] - level < HIGH * length
    step = float(np.median(np.diff(times)))
    smooth = gaussian_filter1d(sole, SMOOTHING / step, axis=0, mode="nearest")
    height = (smooth[:, 2] - level) / length
    speed = np.linalg.norm(np.gradient(smooth, times, axis=0), axis=1) / length
    swings, _ = label((height > HIGH) | (speed > SLOW))
    sure = np.unique(swings[(height > RAISED) | (speed > FAST) | ((height > HIGH) & (speed > SLOW))])
    stands = ~np.isin(swings, sure[sure > 0])
    stands = _without_short(times, stands, step)
    return _without_short(times, _trimmed(stands, height), step)


def _trimmed(stands: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Phases shortened to where the foot is at the height at which it stands in this phase: lift-off is when it leaves that."""
    trimmed = stands.copy()
    for start, stop in runs(stands):
        down = np.flatnonzero(height[start:stop] <= np.median(height[start:stop]) + LEVEL)
        if start > 0:
            trimmed[start : start + down[0]] = False
        if stop < len(stands):
            trimmed[start + down[-1] + 1 : stop] = False
    return trimmed


def _without_short(times: np.ndarray, stands: np.ndarray, step: float) -> np.ndarray:
    """Short swings become standing, then short standing swinging; the clip's ends may cut a phase as short as they like."""
    for value in (False, True):
        stands = stands.copy()
        for start, stop in runs(stands == value):
            if start > 0 and stop < len(times) and times[stop - 1] - times[start] + step < SHORTEST:
                stands[start:stop] = not value
    return stands


def runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """First index and the one past the last of each stretch in which the flags (T,) hold."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def below_ground(mechanism: Mechanism, clip: TargetClip, motion: Motion) -> np.ndarray:
    """How far a motion's lowest sole is below the ground on which the clip's feet stand.

    The targets of pinned feet never go below it; a robot that cannot follow them in time may.

    Args:
        mechanism: the robot.
        clip: what was followed, with the feet's contact phases.
        motion: solved, with body poses.

    Returns:
        (T,) [m], zero above the ground, and everywhere if no foot ever stands.
    """
    known = {frame.name for frame in mechanism.frames if frame.is_foot}
    tracks = {n: t for n, t in clip.tracks.items() if n in known and t.position is not None}
    standing_feet = [n for n, t in tracks.items() if t.contact is not None and t.contact.any()]
    if not standing_feet:
        return np.zeros(len(clip.times))
    wanted = {n: placed(np.array(mechanism.frame(n).sole), *foot_poses(mechanism, clip, n))[..., 2].min(axis=1) for n in standing_feet}
    ground = min(float(heights[clip.tracks[n].contact].min()) for n, heights in wanted.items())
    lowest = np.min([standing_points(mechanism, motion, n)[..., 2].min(axis=1) for n in standing_feet], axis=0)
    return np.maximum(ground - lowest, 0.0)


def with_contacts(mechanism: Mechanism, clip: TargetClip) -> TargetClip:
    """The clip with every foot's contact phases filled in; phases given by hand stay."""
    contacts = find_contacts(mechanism, clip)
    return replace(clip, tracks={n: replace(t, contact=contacts.get(n, t.contact)) for n, t in clip.tracks.items()})


def pin_feet(mechanism: Mechanism, clip: TargetClip, ground: float | None = None) -> TargetClip:
    """The clip with its feet held in contact: flat on the ground, without sliding or turning; swings are led from hold to hold.

    A foot is held at the middle of its phase's track; one that stands on a step stays so much higher. Through a swing the corrections
    at its two ends blend into each other, before the first phase and after the last they come and go, so that the track stays continuous
    and keeps its shape; no sole dips into the ground.

    Args:
        mechanism: the robot.
        clip: with tracks of its feet; contact phases are found where there are none.
        ground: its height [m]; left out, that of the robot's rest pose.

    Raises:
        ClipError: the clip moves no foot.
    """
    ground = ground_height(mechanism) if ground is None else ground
    clip = with_contacts(mechanism, clip)
    tracks, names = dict(clip.tracks), feet(mechanism, clip)
    lowest = min((level for name in names for level in _levels(mechanism, clip, name)), default=0.0)
    for name in names:
        position, quaternion = _pinned(mechanism, clip, name, ground, lowest)
        tracks[name] = Track(position, quaternion, clip.tracks[name].contact)
    return replace(clip, tracks=tracks)


def ground_height(mechanism: Mechanism) -> float:
    """Height of the ground on which a robot stands in its rest pose [m]: under the lowest of its soles, turned level; 0 without feet."""
    heights = []
    for frame in (f for f in mechanism.frames if f.is_foot):
        origin = mechanism.bodies[mechanism.body_index[frame.body]].pose.point(frame.pose.position)
        heights.append(float(origin[2] + _up(mechanism, frame.name) @ np.mean(frame.sole, axis=0)))
    return min(heights, default=0.0)


def _levels(mechanism: Mechanism, clip: TargetClip, name: str) -> list[float]:
    """At which height a foot's sole is, phase by phase [m]."""
    contact = clip.tracks[name].contact
    assert contact is not None  # `pin_feet` has filled it in
    sole = placed(np.array(mechanism.frame(name).sole), *foot_poses(mechanism, clip, name)).mean(axis=1)
    return [float(np.median(sole[start:stop, 2])) for start, stop in runs(contact)]


def _pinned(mechanism: Mechanism, clip: TargetClip, name: str, ground: float, lowest: float) -> tuple[np.ndarray, np.ndarray]:
    """A foot's pinned track; the clip stands at its `lowest`, the robot on its `ground`."""
    frame, contact = mechanism.frame(name), clip.tracks[name].contact
    assert contact is not None  # `pin_feet` has filled it in
    position, quaternion = foot_poses(mechanism, clip, name)
    turns = Rotation.from_quat(quaternion[:, [1, 2, 3, 0]])
    sole, up = np.array(frame.sole), _up(mechanism, name)
    centre = sole.mean(axis=0)
    # The sole's centre is what moves: a correction of the orientation then does not swing the sole about the frame's origin.
    path = position + turns.apply(centre)
    new_path, new_turns = path.copy(), turns.as_quat()
    heights = [level - lowest for level in _levels(mechanism, clip, name)]
    steps = [ground + (height if height > STEP * sole_length(frame) else 0.0) for height in heights]
    phases = zip(runs(contact), steps, strict=True)
    holds = [(start, stop, *_hold(path[start:stop], turns[start:stop], up, step)) for (start, stop), step in phases]
    for start, stop, point, turn in holds:
        new_path[start:stop], new_turns[start:stop] = point, turn.as_quat()
    ends = [None, *holds, None]
    for before, after in pairwise(ends):
        first, last = (before[1] if before else 0), (after[0] if after else len(path))
        if first >= last or not (before or after):
            continue
        edges = (before, first - 1), (after, last)
        shifts = [hold[2] - path[k] if hold else np.zeros(3) for hold, k in edges]
        twists = Rotation.concatenate([hold[3] * turns[k].inv() if hold else Rotation.identity() for hold, k in edges])
        start = clip.times[first - 1] if before else clip.times[last] - FADE
        u = _eased(clip.times[first:last], start, clip.times[last] if after else clip.times[first - 1] + FADE)
        new_path[first:last] += shifts[0] + u[:, None] * (shifts[1] - shifts[0])
        new_turns[first:last] = (Slerp([0.0, 1.0], twists)(u) * turns[first:last]).as_quat()
    rotations = Rotation.from_quat(new_turns)
    outline = np.stack([rotations.apply(p - centre) for p in sole], axis=1)
    new_path[:, 2] += np.maximum(ground - new_path[:, 2] - outline[..., 2].min(axis=1), 0.0)
    return new_path - rotations.apply(centre), rotations.as_quat()[:, [3, 0, 1, 2]]


def _up(mechanism: Mechanism, name: str) -> np.ndarray:
    """The sole's normal, in the frame's coordinates, on the side that is up in the rest pose."""
    frame = mechanism.frame(name)
    normal = sole_axes(frame)[2]
    rest = mechanism.bodies[mechanism.body_index[frame.body]].pose @ frame.pose
    return normal if (rest.matrix @ normal)[2] >= 0 else -normal


def _hold(path: np.ndarray, turns: Rotation, up: np.ndarray, ground: float) -> tuple[np.ndarray, Rotation]:
    """Where a foot is held through a phase: its sole's centre on the ground, and its mean orientation tilted flat."""
    middle = np.array([*np.median(path[:, :2], axis=0), ground])
    mean = turns.mean()
    return middle, _shortest(mean.apply(up), np.array([0.0, 0.0, 1.0])) * mean


def _shortest(a: np.ndarray, b: np.ndarray) -> Rotation:
    """The smallest rotation that takes the unit vector a to the unit vector b."""
    axis, cosine = np.cross(a, b), float(a @ b)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        return Rotation.identity() if cosine > 0 else Rotation.from_rotvec([np.pi, 0.0, 0.0])
    return Rotation.from_rotvec(axis / sine * np.arctan2(sine, cosine))


def _eased(times: np.ndarray, start: float, end: float) -> np.ndarray:
    """0 until the start to 1 from the end on, at rest at both (T,)."""
    t = np.clip((times - start) / (end - start), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
