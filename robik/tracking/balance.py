"""Balance of targets as they arrive: feet held where they stand, and the centre of mass over them.

It does what `feet.pinning` and `balance.plan` do to a whole clip, from the past alone: a foot is held where it
touched down instead of in the middle of its phase, and the weight begins to shift when a foot lifts, not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..balance.plan import AUTO, MOVING, STILL, default_wish
from ..clips.clip import TargetClip, Track
from ..feet.contact import hold_of
from ..feet.finding import feet, foot_poses
from ..feet.footholds import sole_inside
from ..feet.phases import FAST, HIGH, RAISED, SLOW
from ..feet.pinning import FADE, STEP
from ..feet.sole_turns import flattened, ground_height
from ..feet.support import convex_hull, nearest, placed, sole_length, sole_polygon
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternions, rotation
from ..objectives.weights import Weights
from .targets import Targets

LAND = 0.1  # [s] in which a foot that touches down comes to rest where it is held
LEAVE = 0.5  # of a sole's length: a held foot whose target is farther away goes there
SETTLE = 0.1  # [s] time constant with which the centre of mass leans over what stands
HELD = 1e4  # times the weight of a foot that stands: it is where it is held within micrometres
LANDING, NEAR = 0.5, 0.5
WALKING = 3.0  # [s] after the last step in which a robot counts as one in motion
MEMORY = 3.0  # [s] in which a foot's lowest height counts as the height at which it stands
SMOOTHING = 0.03  # [s] of the speeds of feet


@dataclass(slots=True)
class _Foot:
    """A foot as it arrives.

    Attributes:
        length: of its sole [m].
        stands: whether it does.
        anchor: (3,) where its sole's centre is held [m], and `turn`, its orientation there.
        shift, twist: correction of position [m] and orientation when the present phase began.
        now_shift, now_twist: the present correction.
        since: time since the phase began [s]; infinite where there was none before.
        seen: (3,) its sole's centre at the last step [m]; None before the first.
        speed: (3,) smoothed [m/s].
        levels: times and heights of the recent past [s, m].
        clock: time since the first step [s].
        grip: how firmly it is held, from 0 in the air to 1 where it stands.
    """

    length: float
    stands: bool = False
    anchor: np.ndarray = field(default_factory=lambda: np.zeros(3))
    turn: Rotation = field(default_factory=Rotation.identity)
    shift: np.ndarray = field(default_factory=lambda: np.zeros(3))
    twist: Rotation = field(default_factory=Rotation.identity)
    now_shift: np.ndarray = field(default_factory=lambda: np.zeros(3))
    now_twist: Rotation = field(default_factory=Rotation.identity)
    since: float = np.inf
    seen: np.ndarray | None = None
    speed: np.ndarray = field(default_factory=lambda: np.zeros(3))
    levels: list[tuple[float, float]] = field(default_factory=list)
    clock: float = 0.0
    grip: float = 0.0

    @property
    def level(self) -> float:
        """Lowest height of the recent past [m]."""
        return min(height for _, height in self.levels)

    def look(self, centre: np.ndarray, dt: float) -> None:
        """Take in where the target's sole is (3,) [m]."""
        if self.seen is not None:
            share = min(dt / SMOOTHING, 1.0)
            self.speed = self.speed + share * ((centre - self.seen) / dt - self.speed)
        self.seen, self.clock = centre.copy(), self.clock + dt
        self.levels = [(t, h) for t, h in self.levels if self.clock - t <= MEMORY and h < centre[2]]
        self.levels.append((self.clock, float(centre[2])))

    def height(self, ground: float) -> float:
        """Return how high it is over where it stands, by a ground [m], in lengths of its sole."""
        level = self.level if self.level - ground < HIGH * self.length else ground
        return (self.levels[-1][1] - level) / self.length

    def grasp(self, ground: float, dt: float) -> None:
        """Let the grip come to that of its height over a ground [m]: a foot that is about to land counts more."""
        goal = 1.0 if self.stands else LANDING * max(1.0 - self.height(ground) / NEAR, 0.0)
        self.grip += float(np.clip(goal - self.grip, -dt / LAND, dt / LAND))

    def touches(self, ground: float) -> bool:
        """Return whether it stands now, by its height over a ground [m] and its speed, as `feet.finding` does."""
        height = self.height(ground)
        speed = float(np.linalg.norm(self.speed)) / self.length
        if self.stands:
            return not (height > RAISED or speed > FAST or (height > HIGH and speed > SLOW))
        return height < HIGH and speed < SLOW


class LiveBalance:
    """Balance of live targets, so that a robot stands on its feet.

    `pin_feet` holds standing feet flat on the ground, without sliding; `over_feet` holds the centre of mass over
    them, `margin` [m] inside their outline. `pace` is that of `balance.plan.with_balance`: over several feet,
    "still" holds the centre of mass over the line between them, "moving" over their outline, and "auto" as the one
    or the other while it walks or not. A pinned foot counts `held` times its weight. The robot's feet have soles.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        pin_feet: bool,
        over_feet: bool,
        margin: float = 0.01,
        pace: str = AUTO,
        held: float = HELD,
    ) -> None:
        self.mechanism, self.pin_feet, self.over_feet, self.margin = mechanism, pin_feet, over_feet, margin
        self.pace, self.held, self._stepped = pace, held, np.inf
        self._feet: dict[str, _Foot] = {}
        self._lean: np.ndarray | None = None  # (2,) of the centre of mass from where it would be [m]
        self._lean_speed = np.zeros(2)
        self._ground = ground_height(mechanism)
        soles = [frame.name for frame in mechanism.frames if frame.is_foot]
        self._inside = {name: sole_inside(mechanism, name, margin) for name in soles}
        self._centre = {name: sole_polygon(mechanism.frame(name)).mean(axis=0)[None] for name in soles}
        self._axes = {name: _held_axes(mechanism, name) for name in soles}

    @property
    def standing(self) -> tuple[str, ...]:
        """Feet that stand."""
        return tuple(name for name, foot in self._feet.items() if foot.stands)

    def step(self, targets: Targets, dt: float, contacts: Mapping[str, bool] | None = None) -> Targets:
        """Return the targets with feet pinned and a target of the centre of mass, `dt` [s] after the last ones.

        `contacts` says which feet stand, where that is known; the others are judged by height and speed. Raise
        ClipError for targets that move no foot.
        """
        if not (self.pin_feet or self.over_feet):
            return targets
        tracks = {
            name: Track(
                None if t.position is None else np.array([t.position], dtype=float),
                None if t.quaternion is None else np.array([t.quaternion], dtype=float),
            )
            for name, t in targets.frames.items()
        }
        com = None if targets.com is None else np.array([targets.com], dtype=float)
        clip = TargetClip(np.zeros(1), tracks, com=com)
        self._look(clip, feet(self.mechanism, clip), dt, contacts or {})
        if self.pin_feet:
            clip = self._pinned(clip, dt)
        if self.over_feet:
            clip = self._over_feet(clip, dt)
        frames = {
            name: replace(
                target,
                position=None if (p := clip.tracks[name].position) is None else p[0],
                quaternion=None if (q := clip.tracks[name].quaternion) is None else q[0],
                weights=self._weights(name, target.weights),
            )
            for name, target in targets.frames.items()
        }
        return replace(targets, frames=frames, com=None if clip.com is None else clip.com[0])

    def _weights(self, name: str, weights: Weights) -> Weights:
        """Return the weights of a target: those of a pinned foot grow before it lands, and fade once it has left."""
        foot = self._feet.get(name)
        if foot is None or not self.pin_feet:
            return weights
        factor = self.held**foot.grip
        place, turn = factor * np.array(weights.position), np.array(weights.orientation)
        turn = np.where(self._axes[name], factor, 1.0) * turn
        return Weights(tuple(place.tolist()), tuple(turn.tolist()))

    def _look(self, clip: TargetClip, names: tuple[str, ...], dt: float, contacts: Mapping[str, bool]) -> None:
        """Take in where the feet are, and find out which of them stand."""
        self._feet = {n: self._feet.get(n) or _Foot(sole_length(self.mechanism.frame(n))) for n in names}
        new = {name for name, foot in self._feet.items() if foot.seen is None}
        for name, foot in self._feet.items():
            sole = placed(np.array(self.mechanism.frame(name).sole), *foot_poses(self.mechanism, clip, name))[0]
            foot.look(sole.mean(axis=0), dt)
        ground, self._stepped = min(foot.level for foot in self._feet.values()), self._stepped + dt
        for name, foot in self._feet.items():
            stands = contacts.get(name, foot.touches(ground))
            is_left = foot.stands and self.pin_feet and self._distance(foot) > LEAVE * foot.length
            if is_left and name not in contacts:
                stands = False
            if stands != foot.stands:
                self._stepped = 0.0 if name not in new else self._stepped
                foot.stands, foot.shift, foot.twist = stands, foot.now_shift, foot.now_twist
                foot.since = np.inf if name in new else 0.0  # the first that is seen is held at once
                if stands:
                    self._hold(clip, name, foot, ground)
            foot.grasp(ground, np.inf if name in new else dt)

    @staticmethod
    def _distance(foot: _Foot) -> float:
        """Return how far a held foot's target is from where it is held [m]."""
        assert foot.seen is not None
        return float(np.linalg.norm((foot.seen - foot.anchor)[:2]))

    def _hold(self, clip: TargetClip, name: str, foot: _Foot, ground: float) -> None:
        """Hold a foot where it is, flat on the ground, or on the step on which it stands."""
        assert foot.seen is not None
        _, quaternion = foot_poses(self.mechanism, clip, name)
        step = float(foot.seen[2]) - ground
        height = self._ground + (step if step > STEP * foot.length else 0.0)
        foot.anchor = np.array([*(foot.seen + foot.now_shift)[:2], height])
        turn = foot.now_twist * rotation(quaternion[0])
        foot.turn = flattened(self.mechanism, name, turn)

    def _pinned(self, clip: TargetClip, dt: float) -> TargetClip:
        """Return the clip of one sample with its feet held where they stand, and nowhere below the ground."""
        tracks = dict(clip.tracks)
        for name, foot in self._feet.items():
            assert foot.seen is not None
            _, quaternion = foot_poses(self.mechanism, clip, name)
            turn, sole = rotation(quaternion[0]), np.array(self.mechanism.frame(name).sole)
            foot.since += dt
            u = min(foot.since / (LAND if foot.stands else FADE), 1.0)
            u = u * u * (3.0 - 2.0 * u)
            goal_shift = foot.anchor - foot.seen if foot.stands else np.zeros(3)
            goal_twist = foot.turn * turn.inv() if foot.stands else Rotation.identity()
            foot.now_shift = foot.shift + u * (goal_shift - foot.shift)
            way = (goal_twist * foot.twist.inv()).as_rotvec()
            foot.now_twist = Rotation.from_rotvec(u * way) * foot.twist
            held = foot.now_twist * turn
            centre = foot.seen + foot.now_shift
            low = float((held.apply(sole - sole.mean(axis=0)))[:, 2].min())
            centre[2] += max(self._ground - centre[2] - low, 0.0)
            tracks[name] = replace(
                tracks[name],
                position=(centre - held.apply(sole.mean(axis=0)))[None],
                quaternion=quaternions(held)[None],
            )
        return replace(clip, tracks=tracks)

    def _over_feet(self, clip: TargetClip, dt: float) -> TargetClip:
        """Return the clip of one sample with its centre of mass over the feet that stand, and what leans with it."""
        known = {name: np.array([foot.stands]) for name, foot in self._feet.items()}
        wish = default_wish(self.mechanism, clip, known)
        target, support = wish[:, :2], self._support(clip)
        if support is not None:
            target = nearest(target, support)
        self._lean_towards((target - wish[:, :2])[0], dt)
        assert self._lean is not None
        com = wish + np.array([[*self._lean, 0.0]])
        stays = {n for n, t in clip.tracks.items() if n in known or t.position is None}
        tracks = {n: t if n in stays else replace(t, position=t.position + com - wish) for n, t in clip.tracks.items()}
        return replace(clip, tracks=tracks, com=com)

    def _lean_towards(self, goal: np.ndarray, dt: float) -> None:
        """Let the lean come to a goal (2,) [m], critically damped, exactly for any time step.

        It is the lean that is smoothed, and not the centre of mass, which would lag behind a walk.
        """
        if self._lean is None:
            self._lean = goal.copy()
        off, rate = self._lean - goal, 1.0 / SETTLE
        lead = (self._lean_speed + rate * off) * dt
        decay = np.exp(-rate * dt)
        self._lean = goal + (off + lead) * decay
        self._lean_speed = (self._lean_speed - rate * lead) * decay

    def _support(self, clip: TargetClip) -> np.ndarray | None:
        """Return what the centre of mass may be over: corners (K, 2), None where no foot stands."""
        standing = self.standing
        if not standing:
            return None
        poses = {name: foot_poses(self.mechanism, clip, name) for name in standing}
        walks = self.pace == MOVING or (self.pace != STILL and self._stepped < WALKING)
        if len(standing) == 1 or walks:
            return convex_hull(np.vstack([placed(self._inside[name], *poses[name])[0, :, :2] for name in standing]))
        return convex_hull(np.array([placed(self._centre[name], *poses[name])[0, 0, :2] for name in standing]))


def _held_axes(mechanism: Mechanism, name: str) -> np.ndarray:
    """Return which of its frame's axes (3,) keep their directions where a foot stands, as its contact in a bake."""
    hold = hold_of(mechanism, name, True)
    if hold.joint.type == "revolute":  # it may turn about its edge, or about its length
        return np.arange(3) == np.argmax(np.abs(hold.axes[:, 0]))
    return np.full(3, hold.joint.type == "fixed")
