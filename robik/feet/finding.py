"""Contact phases of each foot from the feet's tracks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..clips.clip import TargetClip
from ..errors import ClipError
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..objectives.above import Above
from ..surroundings.ground import Ground
from .legs import turns_freely
from .on_ground import onto_ground
from .phases import FAST, HIGH, runs, speeds, standing
from .sole_turns import ground_height
from .stairs import on_steps
from .support import placed, sole_length, standing_points
from .swings import swings_clear
from .terrain import Terrain

# In sole lengths, so that they hold at any scale.
TOUCHING = 0.1  # a sole whose lowest point is this low touches the ground with an edge
NEAR = 0.35  # one whose outline has moved by less in the mean stays where it stands


def feet(mechanism: Mechanism, clip: TargetClip) -> tuple[str, ...]:
    """Return the frames with a sole that the clip moves; raise ClipError, with those that could be, for none."""
    known = [frame.name for frame in mechanism.frames if frame.is_foot]
    if not known:
        raise ClipError(
            f"robot {mechanism.name!r} has no feet: give the frames that it stands on a sole (in Blender: Make Foot)"
        )
    names = tuple(name for name in known if name in clip.tracks)
    if not names:
        raise ClipError(
            f"the clip moves no foot of robot {mechanism.name!r}; follow at least one of {', '.join(known)}"
        )
    for name in names:
        if clip.tracks[name].position is None:
            raise ClipError(
                f"foot {name!r} has no position to follow, so it is unknown when it stands; give its track one"
            )
    return names


def foot_poses(mechanism: Mechanism, clip: TargetClip, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a foot's targets, (T, 3) [m] and (T, 4) wxyz, with the rest pose's orientation where none is given."""
    track = clip.tracks[name]
    assert track.position is not None  # `feet` has checked
    if track.quaternion is not None:
        return track.position, track.quaternion
    return track.position, np.tile(mechanism.rest_pose(name).quaternion, (len(clip.times), 1))


def find_contacts(mechanism: Mechanism, clip: TargetClip) -> dict[str, np.ndarray]:
    """Return flags (T,) by foot of when it stands, by hand where its track says so, else from height and speed.

    A swing is a stretch in which the foot may be moving and at some time surely is: two thresholds each for height
    and speed, so that noise does not cut phases to pieces. Heights count from where the foot stands most of the
    time; a foot whose lowest point is never near the lowest one's ground never stands so. At any height a foot
    stands that is still and the lowest while all others surely move (`stairs`). Where one foot rolls off and the
    next one comes down, both stand until they meet. Raise ClipError for a clip that moves no foot.
    """
    names, clip = feet(mechanism, clip), onto_ground(mechanism, clip)
    soles = _soles(mechanism, clip, names)
    levels = {name: float(np.percentile(sole.centre[:, 2], 10)) for name, sole in soles.items()}
    ground = min(levels.values())
    contacts = {}
    for name, sole in soles.items():
        given = clip.tracks[name].contact
        level = levels[name] if np.percentile(sole.lowest, 10) - ground < HIGH * sole.length else ground
        contacts[name] = standing(clip.times, sole.centre, level, sole.length) if given is None else given
    contacts |= _on_steps(clip, soles, ground, contacts)
    return _without_gaps(soles, contacts)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sole:
    """Sole of a foot where its track has it."""

    length: float  # [m]
    rolls: bool  # whether its contacts are to be found, and its leg turns it every way
    centre: np.ndarray  # (T, 3) its height over the ground, as far as that is known [m]
    lowest: np.ndarray  # (T,) height of its lowest point, likewise [m]
    outline: np.ndarray  # (T, K, 2) seen from above [sole lengths]


def _soles(mechanism: Mechanism, clip: TargetClip, names: tuple[str, ...]) -> dict[str, _Sole]:
    """Return the soles of a clip's feet."""
    points = {name: placed(np.array(mechanism.frame(name).sole), *foot_poses(mechanism, clip, name)) for name in names}
    centres = _over_ground(mechanism, clip, {name: found.mean(axis=1) for name, found in points.items()})
    found = {}
    for name, outline in points.items():
        length = sole_length(mechanism.frame(name))
        found[name] = _Sole(
            length=length,
            rolls=clip.tracks[name].contact is None and turns_freely(mechanism, name),
            centre=centres[name],
            lowest=centres[name][:, 2] + (outline - outline.mean(axis=1, keepdims=True))[..., 2].min(axis=1),
            outline=outline[..., :2] / length,
        )
    return found


def _on_steps(
    clip: TargetClip, soles: dict[str, _Sole], ground: float, contacts: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return whether feet stand (T,), also where they are high over the lowest ground [m]; those by hand stay."""
    still, fast = {}, {}
    for name, sole in soles.items():
        flags = standing(clip.times, sole.centre, float(sole.centre[:, 2].max()), sole.length)
        still[name] = runs(flags & ~contacts[name]) if clip.tracks[name].contact is None else []
        fast[name] = speeds(clip.times, sole.centre) > FAST * sole.length
    heights = {name: np.maximum(sole.lowest - ground, 0.0) for name, sole in soles.items()}
    found = {}
    for name, phases in on_steps(still, heights, fast, HIGH * min(sole.length for sole in soles.values())).items():
        found[name] = contacts[name].copy()
        for start, stop in phases:
            found[name][start:stop] = True
    return found


def _without_gaps(soles: dict[str, _Sole], contacts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return contacts (T,) without gaps in which no foot stands flat, but one rolls off and the next one comes down.

    Who walks always touches the ground. Each foot stands through half of the gap, as far as it stays where it stands.
    Flights, and turns on the toes, stay; so do gaps of legs that cannot turn their feet every way, which standing flat
    for longer keeps from where their hips should be.
    """
    found = {name: stands.copy() for name, stands in contacts.items()}
    for start, stop in runs(~np.any(list(contacts.values()), axis=0)):
        leaves, comes = {}, {}
        for name, stands in contacts.items():
            if start > 0 and stands[start - 1]:
                leaves[name] = start + _first(~_stays(soles[name], slice(start, stop), start - 1))
            if stop < len(stands) and stands[stop]:
                comes[name] = stop - _first(~_stays(soles[name], slice(start, stop), stop)[::-1])
        last, first = max(leaves.values(), default=start), min(comes.values(), default=stop)
        if last < first:
            continue
        middle = (first + last) // 2
        for name, end in leaves.items():
            found[name][start : min(end, middle + 1)] = True
        for name, begin in comes.items():
            found[name][max(begin, middle) : stop] = True
    return found


def _stays(sole: _Sole, during: slice, stands: int) -> np.ndarray:
    """Return whether a sole that may roll has an edge on the ground, near to where it stands in a sample."""
    near = np.linalg.norm(sole.outline[during] - sole.outline[stands], axis=-1).mean(axis=-1) < NEAR
    return sole.rolls & near & (sole.lowest[during] - sole.lowest[stands] < TOUCHING * sole.length)


def _first(flags: np.ndarray) -> int:
    """Return the index of the first flag that holds; how many there are where none does."""
    return int(np.argmax(flags)) if flags.any() else len(flags)


def _over_ground(mechanism: Mechanism, clip: TargetClip, soles: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return soles' centres (T, 3) with their heights over a mesh as ground, where they follow it in their motion.

    A walk that was recorded on a floor does not: its feet are as high over that floor each time they are slow.
    """
    if clip.ground is None or len(clip.times) < 2:
        return soles
    ground = Ground(ground_height(mechanism), clip.ground)
    over = {name: sole - [0.0, 0.0, 1.0] * ground.heights(sole)[:, None] for name, sole in soles.items()}
    over = {name: np.where(np.isfinite(sole), sole, soles[name] + [0.0, 0.0, 1e3]) for name, sole in over.items()}
    spread = []
    for known in (over, soles):
        low = []
        for name, sole in known.items():
            speed = np.linalg.norm(np.gradient(soles[name], clip.times, axis=0), axis=1)
            low.append(sole[speed <= np.percentile(speed, 30), 2])
        spread.append(float(np.subtract(*np.percentile(np.concatenate(low), [75, 25]))))
    return over if spread[0] <= spread[1] else soles


def ground_of(mechanism: Mechanism, clip: TargetClip) -> Ground | None:
    """Return the ground on which a clip's feet stand: its mesh, or at the height of the lowest sole that stands.

    Return None if no foot ever stands.
    """
    names = standing_feet(mechanism, clip)
    if not names:
        return None
    if clip.ground is not None:
        return Ground(ground_height(mechanism), clip.ground)
    wanted = {
        n: placed(np.array(mechanism.frame(n).sole), *foot_poses(mechanism, clip, n))[..., 2].min(axis=1) for n in names
    }
    return Ground(min(float(heights[clip.tracks[n].contact].min()) for n, heights in wanted.items()))


def above_ground(mechanism: Mechanism, clip: TargetClip, is_wanted: bool = True) -> TargetClip:
    """Return a clip that also asks the soles of its feet to stay above the ground, and to clear it in swings.

    It is the given one where no foot ever stands, or that is not wanted.
    """
    ground = ground_of(mechanism, clip) if is_wanted else None
    if ground is None:
        return clip
    feet = [frame for frame in mechanism.frames if frame.is_foot and frame.name in clip.tracks]
    terrain = None if ground.mesh is None else Terrain(mechanism, ground)
    held = []
    for foot in feet:
        poses, clear = foot_poses(mechanism, clip, foot.name), swings_clear(mechanism, clip, foot.name)
        points = np.array(foot.sole)
        if terrain is None:  # where the foot's target is lower, the bound is
            low = placed(points, *poses)[..., 2].min(axis=1)
            least, normal = np.maximum(np.minimum(ground.level + clear, low), ground.level), None
        else:
            normal, least = terrain.planes(foot.name, *poses, clear)
        held.append(Above(foot.name, least=least, points=points, normal=normal))
    return replace(clip, objectives=(*clip.objectives, *held))


def standing_feet(mechanism: Mechanism, clip: TargetClip) -> list[str]:
    """Return the frames of a clip's feet that stand at some time, by its contact phases."""
    known = {frame.name for frame in mechanism.frames if frame.is_foot}
    tracks = {n: t for n, t in clip.tracks.items() if n in known and t.position is not None}
    return [n for n, t in tracks.items() if t.contact is not None and t.contact.any()]


def below_ground(mechanism: Mechanism, clip: TargetClip, motion: Motion) -> np.ndarray:
    """Return the depth (T,) [m] of a motion's lowest sole below the ground on which the clip's feet stand.

    The targets of pinned feet never go below it; a robot that cannot follow them in time may. It is zero above the
    ground, and everywhere if no foot ever stands.
    """
    ground = ground_of(mechanism, clip)
    if ground is None:
        return np.zeros(len(clip.times))
    return depth_below(mechanism, ground, standing_feet(mechanism, clip), motion)


def depth_below(mechanism: Mechanism, ground: Ground, feet: list[str], motion: Motion) -> np.ndarray:
    """Return the largest depth (T,) [m] of soles in the ground, zero above it, of at least one foot."""
    soles = np.concatenate([standing_points(mechanism, motion, name) for name in feet], axis=1)
    return np.asarray(ground.depths(soles).max(axis=1))


def with_contacts(mechanism: Mechanism, clip: TargetClip) -> TargetClip:
    """Return the clip with every foot's contact phases filled in; phases given by hand stay."""
    contacts = find_contacts(mechanism, clip)
    return replace(clip, tracks={n: replace(t, contact=contacts.get(n, t.contact)) for n, t in clip.tracks.items()})
