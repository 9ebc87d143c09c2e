"""Contacts → where the centre of mass should be, so that a walking robot does not fall.

Slowly, standing still at any time (paper, V-4): on one foot the CoM stays inside that foot's support; on several it
moves along the line between the feet; and it shifts before a foot lifts, not while. In motion, it is the zero-moment
point that stays inside the outline of what stands, so the CoM need not go from foot to foot. `com_path` has the
program that finds the path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from ..clips.clip import TargetClip
from ..errors import ClipError
from ..feet.finding import foot_poses, with_contacts
from ..feet.footholds import Footholds
from ..feet.holding import holding, nearness, unmoved
from ..feet.support import placed, sole_polygon
from ..mechanism.model import Mechanism
from ..skeleton.hips import hips_of
from ..straight import straight
from .com_path import Smoothness, levers, outside, smooth_inside, zero_moment

RATE = 60.0  # the path is planned at this many points a second and interpolated between them
JERK = 0.1  # [s]: its sixth power weighs jerk
NOISE = 0.05  # [s] of heights, smoothed before accelerations are taken from them
SLOW = 0.5  # of the margin: a path whose zero-moment point takes no more of it is slow
STILL, MOVING, AUTO = "still", "moving", "auto"
PACES = (STILL, MOVING, AUTO)


def with_balance(
    mechanism: Mechanism,
    clip: TargetClip,
    margin: float = 0.01,
    wish: np.ndarray | None = None,
    lead: float = 0.06,
    shift: float = 0.15,
    stiffness: float = 0.2,
    pace: str = STILL,
) -> TargetClip:
    """Return the clip with a CoM target that keeps the robot balanced, and with its feet's contact phases.

    Contact phases are found where the clip has none. The target's height is that of the wish: leave the weight of the
    CoM along z at zero. The tracks of what is no foot lean with the CoM, level, as far as its target lies off the wish:
    else the pelvis would pull it back out of the support. What holds on to something stays there, and carries weight as
    a foot does.

    The CoM stays `margin` [m] inside the standing foot's outline, as far as the sole is that wide. `wish` (T, 3) [m] is
    the path of the CoM if balance did not matter; `default_wish` if left out. The shift of weight ends `lead` [s]
    before a foot lifts, and begins as long after one lands. Where the feet leave less time than `shift` [s] for it, it
    begins earlier and ends later. The fourth power of `stiffness` [s] weighs accelerations: a longer one gives a
    smoother path that leaves the wish further.

    With the pace "still" the CoM is over the feet, so that the robot could stop at any time. With "moving" the
    zero-moment point is there: the robot may not stop, but need not throw its weight from foot to foot. "auto" takes
    the first where its own accelerations allow that, else the second, and the wish where no foot ever stands.

    Raise ClipError where the clip moves no foot, none ever stands (but for "auto"), or a setting cannot be.
    """
    return BalancePlan(
        mechanism, clip, margin=margin, wish=wish, lead=lead, shift=shift, stiffness=stiffness, pace=pace
    ).clip()


class BalancePlan:
    """Plan of where the centre of mass of a clip should be; arguments and errors as for `with_balance`.

    Attributes:
        pace: still or moving; None until a path was planned.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        clip: TargetClip,
        *,
        margin: float = 0.01,
        wish: np.ndarray | None = None,
        lead: float = 0.06,
        shift: float = 0.15,
        stiffness: float = 0.2,
        pace: str = STILL,
    ) -> None:
        for what, value in (("margin", margin), ("lead", lead), ("shift", shift), ("stiffness", stiffness)):
            if not (isfinite(value) and value >= 0):
                raise ClipError(f"the balance's {what} must be zero or more, not {value}")
        if pace not in PACES:
            raise ClipError(f"the balance's pace must be one of {', '.join(PACES)}, not {pace!r}")
        self._clip = with_contacts(mechanism, clip)
        self._contacts = _foot_contacts(mechanism, self._clip, pace != AUTO)
        wish = default_wish(mechanism, self._clip, self._contacts) if wish is None else np.asarray(wish, dtype=float)
        if wish.shape != (len(clip.times), 3):
            raise ClipError(f"the wished CoM must have the shape ({len(clip.times)}, 3), not {wish.shape}")
        start, end = clip.times[0], clip.times[-1]
        points = max(int(np.ceil((end - start) * RATE)), 1) + 1
        self._grid = np.linspace(start, end, points) if end > start else clip.times
        self._held = holding(mechanism, self._clip)
        stands = self._contacts | self._held | _seat(mechanism, self._clip)
        self._feet = Footholds.of(mechanism, self._clip, stands, self._grid, margin)
        self._wish, self._asked, self._margin = wish, pace, margin
        self._lead, self._shift, self._stiffness = lead, shift, stiffness
        self.pace: str | None = None
        self._slow: np.ndarray | None = None  # path of a plan that is still

    @property
    def ground(self) -> np.ndarray:
        """Return the height of the ground (T,) [m]."""
        return straight(self._clip.times, self._grid, self._feet.ground)

    def clip(self, offset: np.ndarray | None = None) -> TargetClip:
        """Return the clip with a target of the centre of mass, and with tracks that lean with it.

        In motion the whole body's zero-moment point lies off that of all mass at the centre of mass by `offset` (T, 2)
        [m].
        """
        times, wish = self._clip.times, self._wish
        path = self._path(np.zeros((len(times), 2)) if offset is None else offset)
        level = CubicSpline(self._grid, path)(times) if len(self._grid) > 1 else path
        com = np.column_stack([level, wish[:, 2]])
        tracks = {
            n: t
            if n in self._contacts or t.position is None
            else replace(t, position=t.position + unmoved(times, self._held, n)[:, None] * (com - wish))
            for n, t in self._clip.tracks.items()
        }
        return replace(self._clip, tracks=tracks, com=com)

    def _path(self, offset: np.ndarray) -> np.ndarray:
        """Return the path of the centre of mass (N, 2) [m] at the grid's times."""
        grid, feet = self._grid, self._feet
        wish = straight(grid, self._clip.times, self._wish)
        off = straight(grid, self._clip.times, offset)
        acceleration = (self._stiffness * RATE) ** 4
        height, ground = (gaussian_filter1d(z, NOISE * RATE, mode="nearest") for z in (wish[:, 2], feet.ground))
        lever = levers(height, ground, RATE)
        if self.pace == STILL and self._slow is not None:
            return self._slow  # nothing that limbs do counts at rest
        if self._asked != MOVING and self.pace != MOVING:
            slow = smooth_inside(
                wish[:, :2], feet.for_standing(self._lead, self._shift), Smoothness(acceleration=acceleration)
            )
            taken = outside(zero_moment(slow, lever), feet.for_moving(0.0)).max(initial=0.0)
            if self._asked == STILL or taken <= SLOW * self._margin:
                self.pace, self._slow = STILL, slow
                return slow
        self.pace = MOVING
        supports = [
            None if polygon is None else polygon - shift
            for polygon, shift in zip(feet.for_moving(self._lead), off, strict=True)
        ]
        return smooth_inside(
            wish[:, :2], supports, Smoothness(acceleration=acceleration, jerk=(JERK * RATE) ** 6), lever
        )


def _foot_contacts(mechanism: Mechanism, clip: TargetClip, needed: bool) -> dict[str, np.ndarray]:
    """Return the contact phase (T,) of each foot; raise ClipError if one is needed and no foot ever stands."""
    contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None and mechanism.frame(n).is_foot}
    if needed and not any(c.any() for c in contacts.values()):
        why = "they slide or are in the air all the time; mend their targets, or give the phases by hand"
        raise ClipError(f"none of the feet {', '.join(contacts)} ever stands: {why}")
    return contacts


def hips_held(mechanism: Mechanism, clip: TargetClip) -> str | None:
    """Return the hips' frame if it holds on to something at some time, as to a seat; else None."""
    hips = hips_of(mechanism, (n for n, t in clip.tracks.items() if t.position is not None))
    return hips if hips in holding(mechanism, clip) else None


def _seat(mechanism: Mechanism, clip: TargetClip) -> dict[str, np.ndarray]:
    """Return when hips that sit down carry weight, from half an approach on: nobody sits down on the feet alone."""
    hips = hips_held(mechanism, clip)
    return {} if hips is None else {hips: nearness(clip.times, holding(mechanism, clip)[hips]) >= 0.5}


def default_wish(mechanism: Mechanism, clip: TargetClip, contacts: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the preferred path (T, 3) of the CoM before balance [m].

    It is the clip's own CoM target; else the way of the robot's CoM if it moved rigidly with the track of its hips, or
    with the first track that is not a foot's; else the middle of the feet. `contacts` (T,) are by frame.
    """
    if clip.com is not None:
        return clip.com
    rest_com = (
        sum(b.mass * b.rest_com for b in mechanism.bodies) / mechanism.mass if mechanism.mass > 0 else np.zeros(3)
    )
    name = hips_of(mechanism, (n for n, t in clip.tracks.items() if t.position is not None and n not in contacts))
    if name is not None and (position := clip.tracks[name].position) is not None:
        rest, quaternion = mechanism.rest_pose(name), clip.tracks[name].quaternion
        offset = np.asarray(rest_com) - np.asarray(rest.position)
        return (
            position + offset
            if quaternion is None
            else placed((rest.matrix.T @ offset)[None], position, quaternion)[:, 0]
        )
    return np.mean(
        [placed(sole_polygon(mechanism.frame(n)), *foot_poses(mechanism, clip, n)).mean(axis=1) for n in contacts],
        axis=0,
    )
