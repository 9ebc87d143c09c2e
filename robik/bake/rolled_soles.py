"""Soles that roll while they stand: what the foot rises by, so that the edge on which it rolls does not go down.

A sole whose leg cannot roll it holds its middle and its length, and rolls about that as little as the hips need
(`robik.feet.contact`). Rolled by φ it touches the ground with one edge, and its middle is higher by the half width
times sin |φ|. How far it rolls is known once the clip is solved; then its hold goes up and down with it, as a hold on
an object that moves does.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..clips.clip import TargetClip, Track
from ..feet.contact import Hold, hold_of
from ..feet.held_contacts import FADE, HeldTrack, held_tracks
from ..feet.phases import runs
from ..feet.sole_turns import up_of
from ..kinematics.frames import frame_poses
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternions, rotation
from ..motions import Motion
from ..straight import straight
from .adjusting import Adjustment, Bench, Finding, Solution
from .draft import Draft, thinned
from .planned import Planned

LEAST = 1e-4  # m: a sole that rises by less, or by less more than in the round before, stays where it is


def rolling(mechanism: Mechanism, clip: TargetClip) -> dict[str, Hold]:
    """Return the holds of soles that may roll while they stand, by frame."""
    standing = (name for name, track in clip.tracks.items() if track.contact is not None and track.contact.any())
    holds = {name: hold_of(mechanism, name, True) for name in standing}
    return {name: hold for name, hold in holds.items() if hold.rolls}


class RolledSoles(Adjustment):
    """Adjustment of feet whose soles roll while they stand: they rise on the edges of these."""

    name, doing, most, patience, is_flat = "soles that roll", "Rolling soles", 3, 3, False

    def __init__(self, planned: Planned) -> None:
        self._planned = planned

    def applies(self, bench: Bench, draft: Draft) -> bool:
        return bool(rolling(bench.mechanism, draft.pinned))

    def judge(self, bench: Bench, draft: Draft, solution: Solution) -> Generator[float, None, Finding]:
        yield 1.0
        mechanism, clip, motion = bench.mechanism, self._planned(replace(draft, risen={})), solution.motion
        held, part, times = held_tracks(clip), held_tracks(thinned(clip)), clip.times - clip.times[0]
        risen, off = dict(draft.risen), np.zeros(len(times))
        for name, hold in rolling(mechanism, clip).items():
            roll = straight(times, motion.times, _rolls(mechanism, name, hold, part[name], motion))
            roll = _faded(clip.times, held[name].contact.stands, roll)
            rise = _rises(mechanism, name, hold, roll)
            before = draft.risen[name][1] if name in draft.risen else 0.0
            off = np.maximum(off, np.abs(rise - before))
            if rise.max() >= LEAST:
                risen[name] = _risen(mechanism, name, hold, clip.tracks[name], held[name], roll, rise), rise
        worst = float(off.max())
        where = straight(motion.times, times, off) >= LEAST
        return Finding(cost=worst if worst >= LEAST else 0.0, off=worst, where=where, details=risen)

    def change(self, bench: Bench, draft: Draft, solution: Solution, finding: Finding) -> Draft | None:
        return replace(draft, risen=finding.details)


def _rolls(mechanism: Mechanism, name: str, hold: Hold, held: HeldTrack, motion: Motion) -> np.ndarray:
    """Return how far a sole is rolled about its length against where it is held (T,) [rad]."""
    assert motion.position is not None and motion.quaternion is not None  # a solved motion has them
    _, turn = frame_poses(mechanism, name, motion.position, motion.quaternion)
    axes = np.swapaxes(held.contact.rotation @ hold.axes, 1, 2) @ (turn @ hold.axes)
    return np.arctan2(axes[:, 2, 1] - axes[:, 1, 2], axes[:, 1, 1] + axes[:, 2, 2])


def _rises(mechanism: Mechanism, name: str, hold: Hold, roll: np.ndarray) -> np.ndarray:
    """Return by how much a sole's middle rises (T,) [m] that is rolled by (T,) [rad]."""
    sole, up = np.array(mechanism.frame(name).sole) - hold.point, up_of(mechanism, name)
    own = Rotation.from_rotvec(roll[:, None] * hold.axes[:, 0])
    return np.asarray(np.max([-own.apply(point) @ up for point in sole], axis=0) + (sole @ up).min())


def _risen(
    mechanism: Mechanism, name: str, hold: Hold, track: Track, held: HeldTrack, roll: np.ndarray, rise: np.ndarray
) -> Track:
    """Return a foot's track, rolled by (T,) [rad] about its length and risen by (T,) [m]."""
    assert track.position is not None  # it is held
    stands = held.contact.stands[:, None]
    place, turn = np.where(stands, held.position, track.position), Rotation.from_matrix(held.contact.rotation)
    if track.quaternion is not None:
        turn = Rotation.from_quat(np.where(stands, turn.as_quat(), rotation(track.quaternion).as_quat()))
    middle = place + turn.apply(hold.point) + rise[:, None] * turn.apply(up_of(mechanism, name))
    rolled = turn * Rotation.from_rotvec(roll[:, None] * hold.axes[:, 0])
    tilt = rolled * turn.inv()
    if track.ground_quaternion is not None:
        tilt = tilt * rotation(track.ground_quaternion)
    return replace(
        track,
        position=middle - rolled.apply(hold.point),
        quaternion=quaternions(rolled),
        ground_position=middle,
        ground_quaternion=quaternions(tilt),
    )


def _faded(times: np.ndarray, stands: np.ndarray, roll: np.ndarray) -> np.ndarray:
    """Return the rolls where a foot stands; in a swing they fade out and in again (T,)."""
    found = np.where(stands, roll, 0.0)
    for start, stop in runs(~stands):
        span = times[start:stop]
        for edge, inside in ((start - 1, start > 0), (stop, stop < len(times))):
            if inside:
                u = np.clip(1.0 - np.abs(span - times[edge]) / FADE, 0.0, 1.0)
                found[start:stop] += roll[edge] * u * u * (3.0 - 2.0 * u)
    return found
