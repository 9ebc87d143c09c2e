"""Live control from targets as they arrive to what motors can do.

At a steady rate, never faster than they may, at rest where nothing good arrives.

samples ──Feed──▶ smooth targets ──Tracker──▶ actuator values ──guard──▶ within speeds, accelerations, ends
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..errors import ClipError
from ..limiter import Limiter
from ..mechanism.pose import Pose
from .differential import DifferentialSettings, DifferentialTracker
from .feed import Feed, FeedSettings, Health
from .limits import MotionLimits
from .targets import ALIKE, Target, Targets
from .tracker import Tracker

ON_LOOPS = DifferentialSettings(posture_weight=1.0, least_damping=1e-8)  # motors first, what they leave open stands
RATE = 200.0  # Hz
COM = "the centre of mass"
FAR = 1e6  # rad or m: no end


class Live:
    """Follows samples of targets with a tracker and answers at a steady rate.

    Args:
        tracker: what moves the robot.
        limits: of the actuators; the robot's own if left out. They hold for what comes out, whatever goes in and
            whatever tracker.
        settings: what counts as lost, frozen, a jump.
        rate: of what comes out [Hz].

    Attributes:
        time: of the last step [s].
        velocity: (A,) of what came out [rad/s or m/s].

    Raises:
        ClipError: a rate that is not positive.
    """

    def __init__(
        self,
        tracker: Tracker,
        limits: MotionLimits | None = None,
        settings: FeedSettings | None = None,
        rate: float = RATE,
    ) -> None:
        if not (np.isfinite(rate) and rate > 0):
            raise ClipError(f"the rate must be a positive number of steps a second, not {rate}")
        self.tracker, self.settings, self.rate = tracker, settings or FeedSettings(), rate
        self.limits = limits or MotionLimits.of(tracker.mechanism)
        ends = np.clip(np.column_stack([self.limits.lower, self.limits.upper]), -FAR, FAR)
        self._on_loops = _on_loops(tracker, self.limits)
        self._guard = Limiter(ends, self.limits.velocity, self.limits.acceleration, 1.0 / rate)
        self.restart()

    def restart(self, values: np.ndarray | None = None, base: Pose | None = None) -> None:
        """Forget all targets; the robot stands where its actuators are at given values, or else where it is.

        Args:
            values: (A,) [rad or m].
            base: the floating root's own frame in the world; where it is in the rest pose if left out.
        """
        if values is None:
            self.tracker.put(self.tracker.coordinates)
        else:
            self.tracker.reset(values, base)
        self._guard.place(self.tracker.values)
        if self._on_loops is not None:
            self._on_loops.put(self.tracker.coordinates)
            self._on_loops.prefer(self.tracker.values)
        self._feeds: dict[str, Feed] = {}
        self._asked: dict[str, Target] = {}
        self._com: Targets | None = None
        self._steps = 0
        self._wished = self.tracker.values.copy()

    @property
    def time(self) -> float:
        """Of the last step [s]; 0 when it starts."""
        return self._steps / self.rate

    @property
    def velocity(self) -> np.ndarray:
        """(A,) of what came out last [rad/s or m/s]."""
        return self._guard.velocity.copy()

    @property
    def health(self) -> Mapping[str, Health]:
        """Return how each target is doing, by frame; the centre of mass by the name `COM`."""
        return {name: feed.health for name, feed in self._feeds.items()}

    @property
    def bad(self) -> int:
        """Samples thrown away because they were not numbers, no rotations, or too far away."""
        return sum(feed.bad for feed in self._feeds.values())

    def receive(self, targets: Targets, time: float | None = None) -> None:
        """Receive samples that have arrived.

        A target that is not a number, no rotation (see `Target`) or too far away is thrown away; one that is missing is
        not changed.

        Args:
            targets: by frame; what was given once is held from then on.
            time: when they came [s], on this object's clock; now if left out. A time beyond the next step's counts as
                that one's, one before the target's last sample's as that sample's.

        Raises:
            MechanismError: an unknown frame; lists those that exist.
            ClipError: a time that is not finite, something that is no position or no quaternion at all, or a centre of
                mass for a robot without mass.
        """
        if time is not None and not np.isfinite(time):
            raise ClipError(
                f"the time at which samples came must be a finite number of seconds on this clock, not {time}"
            )
        now = self.time if time is None else min(time, self.time + 1.0 / self.rate)
        for name, target in targets.frames.items():
            if name not in self._feeds:
                start = self.tracker.frame(name)
                self._feeds[name] = Feed(np.array([*start.position, *start.quaternion]), self.settings)
            self._asked[name] = target
            feed = self._feeds[name]
            feed.receive(_sample(name, target.position, target.quaternion, feed.target), now)
        if targets.com is not None:
            if COM not in self._feeds:
                if self.tracker.mechanism.mass <= 0:
                    raise ClipError(
                        f"robot {self.tracker.mechanism.name!r} has no mass, so its centre of mass cannot follow a"
                        " target"
                    )
                self._feeds[COM] = Feed(np.array([*self.tracker.com, 1.0, 0.0, 0.0, 0.0]), self.settings)
            self._com = targets
            feed = self._feeds[COM]
            feed.receive(_sample(COM, targets.com, None, feed.target), now)

    def step(self) -> np.ndarray:
        """Return what the actuators (A,) [rad or m] should be at, 1 / `rate` after the last step."""
        self._steps += 1
        smooth = {name: feed.step(self.time) for name, feed in self._feeds.items()}
        if smooth:
            frames = {
                name: replace(
                    asked,
                    position=None if asked.position is None else smooth[name][:3],
                    quaternion=None if asked.quaternion is None else smooth[name][3:],
                )
                for name, asked in self._asked.items()
            }
            com = None if self._com is None else smooth[COM][:3]
            weight = ALIKE if self._com is None else self._com.com_weight
            wished = self.tracker.step(Targets(frames, com, weight), 1.0 / self.rate)
            if self._on_loops is not None:
                self._on_loops.prefer(wished)
                wished = self._on_loops.step(Targets(), 1.0 / self.rate)
            velocity = (wished - self._wished) * self.rate
            self._wished = wished
            return self._guard.step(wished, velocity).copy()
        return self._guard.step(self._wished).copy()


def _on_loops(tracker: Tracker, limits: MotionLimits) -> DifferentialTracker | None:
    """Return what keeps motors that loops tie to each other in step where their limits hold some of them back.

    None without loops, or where a ball's motors are among them, whose limits only the guard knows.
    """
    if not len(tracker.topology.cuts) or not all(name in tracker.topology.dofs for name in tracker.mechanism.actuators):
        return None
    return DifferentialTracker(tracker.mechanism, replace(ON_LOOPS, limits=limits))


def _sample(name: str, position: np.ndarray | None, quaternion: np.ndarray | None, sample: np.ndarray) -> np.ndarray:
    """Return a target as (7,) numbers; what it leaves open stays as in `sample`."""
    try:
        if position is not None:
            sample[:3] = position
        if quaternion is not None:
            sample[3:] = quaternion
    except (TypeError, ValueError) as error:
        raise ClipError(
            f"the target of {name}: a position is three numbers and a quaternion four, wxyz: {error}"
        ) from None
    return sample
