"""One target as it arrives: late, unevenly, with holes, not a number, frozen, or all of a sudden elsewhere.

Every good sample starts a straight way to it, as long as samples usually are apart, and what follows this way is a
critically damped spring: position and velocity never jump, whatever arrives. Without new samples it comes to rest in
the last good one. To a place that is far away, and believed, it goes slowly, from where it is led now, and is there
after a few seconds whatever the distance.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from math import exp, isfinite

import numpy as np

from ..errors import ClipError
from ..jit import kernel
from ..kinematics.rotations import between, turned
from ..mechanism.pose import UNIT_TOLERANCE

REMEMBERED = 9  # intervals between samples, of which the median counts
STRETCH = 1.2  # a way lasts a little longer than samples are apart, so that uneven ones do not make it stand in between
SPRING = 0.25  # time constant of the spring, of that interval
FIRST_PERIOD = 1 / 30  # s between samples, before two have come
APPROACH = 0.5  # s on the way to a place, by jumps that it is away
LONGEST_APPROACH = 3.0  # s, however many
SAME = 0.5  # of what counts as a jump: samples that near to each other agree on where the target is


class Health(Enum):
    """Health of a target."""

    WAITING = "no sample yet"
    FOLLOWING = "followed"
    LOST = "no good sample for too long: at rest in the last one"
    FROZEN = "the same sample over and over: at rest in it"
    JUMPED = "elsewhere all of a sudden: at rest until it stays there"
    APPROACHING = "on the slow way to where it jumped"


@dataclass(frozen=True, kw_only=True)
class FeedSettings:
    """Thresholds of a feed; a ClipError names the setting that is not positive.

    Attributes:
        patience: without a good sample for so long a target is lost [s].
        frozen: the same sample for so long means that nobody moves the target [s].
        jump: a sample further than this from the last is not followed at once [m].
        turn: likewise for its orientation [rad].
        belief: but is, once samples have agreed on the new place for so long [s].
        far: a sample further than this from where the target is led now counts as none [m].
    """

    patience: float = 0.5
    frozen: float = 2.0
    jump: float = 0.3
    turn: float = 1.0
    belief: float = 0.3
    far: float = 30.0

    def __post_init__(self) -> None:
        for name in ("patience", "frozen", "jump", "turn", "belief", "far"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ClipError(f"{name} must be positive, not {getattr(self, name)}")


class Feed:
    """Feed of a target: samples in, a smooth target out.

    It begins at `start` (7,), position [m] and unit quaternion wxyz. `pose` (7,) is the smooth target; `bad` counts
    samples that were not numbers, no rotation, or too far away.
    """

    def __init__(self, start: np.ndarray, settings: FeedSettings):
        self.settings, self.bad = settings, 0
        self.pose = np.array(start, dtype=float)
        self._velocity = np.zeros(6)
        self._from, self._to, self._aim = self.pose.copy(), self.pose.copy(), self.pose.copy()
        self._intervals: deque[float] = deque(maxlen=REMEMBERED)
        self._clock = self._since = 0.0  # now, and since when on the way
        self._arrival = 0.0  # when it may be there, of a slow way
        self._last: float | None = None  # when the last good sample came
        self._changed = 0.0  # when the last that differed from the one before came
        self._doubt: np.ndarray | None = None  # where it jumped to
        self._doubted = 0.0  # and since when it has been there

    @property
    def period(self) -> float:
        """Return how far apart samples usually are [s]."""
        return float(np.median(self._intervals)) if self._intervals else FIRST_PERIOD

    @property
    def health(self) -> Health:
        """Return how the target is doing."""
        if self._last is None:
            return Health.WAITING
        if self._clock - self._last > self.settings.patience:
            return Health.LOST
        if self._doubt is not None:
            return Health.JUMPED
        if self._clock < self._arrival:
            return Health.APPROACHING
        return Health.FROZEN if self._clock - self._changed > self.settings.frozen else Health.FOLLOWING

    @property
    def target(self) -> np.ndarray:
        """(7,) the last sample that is followed."""
        return self._to.copy()

    def receive(self, sample: np.ndarray, time: float) -> None:
        """Receive a sample (7,), position [m] and quaternion wxyz, at its time [s].

        One that is earlier than the last counts as at the last one's time. One that is not finite, whose
        quaternion's length is further than `UNIT_TOLERANCE` from 1, or that is too far away counts as none.
        """
        length = float(np.linalg.norm(sample[3:]))
        with np.errstate(over="ignore"):  # too far it is then
            if not (
                abs(length - 1.0) < UNIT_TOLERANCE and np.linalg.norm(sample[:3] - self._aim[:3]) <= self.settings.far
            ):
                self.bad += 1
                return
        good = np.concatenate([sample[:3], sample[3:] / length])
        if self._last is not None:
            time = max(time, self._last)
            if time > self._last and self.health is not Health.LOST:
                self._intervals.append(time - self._last)
        if self._last is None or not np.array_equal(good, self._to if self._doubt is None else self._doubt):
            self._changed = time
        self._last = time
        self._go(good, time)

    def _go(self, good: np.ndarray, time: float) -> None:
        """Start the way to a sample, slow if it was in doubt; if it is, a slow way ends where it has come to."""
        doubted = self._doubt is not None
        if self._believed(good, time):
            away = self._jumps(good, self._aim)
            if doubted and away > 1.0:
                self._arrival = time + min(away * APPROACH, LONGEST_APPROACH)
            self._from[:], self._to[:] = self._aim, good
            self._since = time
        elif time < self._arrival:
            self._from[:] = self._to[:] = self._aim
            self._arrival = time

    def _believed(self, sample: np.ndarray, time: float) -> bool:
        """Return whether to follow a sample: near to the last one, or where others have been for a while."""
        if self._jumps(sample, self._to) <= 1.0:
            self._doubt = None
            return True
        if self._doubt is None or self._jumps(sample, self._doubt) > SAME:
            self._doubted = time
        self._doubt = sample
        if time - self._doubted < self.settings.belief:
            return False
        self._doubt = None
        return True

    def _jumps(self, a: np.ndarray, b: np.ndarray) -> float:
        """Return how far apart two poses are, in jumps."""
        apart, turn = np.linalg.norm(a[:3] - b[:3]), np.linalg.norm(between(a, b, 3))
        return float(max(apart / self.settings.jump, turn / self.settings.turn))

    def step(self, time: float) -> np.ndarray:
        """Return the smooth target (7,) at a time [s] later than the last; it is the same array each time."""
        dt, way = time - self._clock, max(STRETCH * self.period, self._arrival - self._since)
        self._clock = time
        share = min(max((time - self._since) / way, 0.0), 1.0) if self._last is not None else 1.0
        glide(self.pose, self._velocity, self._from, self._to, share, SPRING * self.period, dt, self._aim)
        return self.pose


@kernel(allocates=True)
def glide(now, velocity, start, target, share, lag, dt, aim):
    """Move a pose (7,) and its velocity (6,) [m/s, rad/s] in place by a critically damped spring towards an aim.

    The aim (7,), which is filled, is at `share` of the way from `start` (7,) to `target` (7,); for one that stands
    it is exact. `lag` [s] is the spring's time constant.
    """
    for k in range(7):
        aim[k] = start[k] + share * (target[k] - start[k]) if k < 3 else start[k]
    x, y, z = between(target, start, 3)
    turned(aim, 3, share * x, share * y, share * z)
    w, decay = 1.0 / lag, exp(-dt / lag)
    off = np.empty(6)
    for k in range(3):
        off[k] = now[k] - aim[k]
    off[3], off[4], off[5] = between(now, aim, 3)
    for k in range(6):
        c = velocity[k] + w * off[k]
        off[k] = (off[k] + c * dt) * decay
        velocity[k] = (velocity[k] - w * c * dt) * decay
    for k in range(3):
        now[k] = aim[k] + off[k]
    for k in range(4):
        now[3 + k] = aim[3 + k]
    turned(now, 3, off[3], off[4], off[5])
