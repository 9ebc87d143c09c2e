"""Recording of a robot that is moved by hand, from what its servos report.

A hand trembles, and a servo reports whole counts. Where the robot is held still, all its motors stand exactly; between
these stands the curve is smoothed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ServoError
from ...straight import straight
from ..chain.chain import ServoChain
from ..chain.trajectory import Between
from ..port.status import Status

if TYPE_CHECKING:
    from ...motions import Motion

RATE = 50.0  # [Hz] of what comes out
SMOOTH = 0.2  # [s] over which it is smoothed
HELD = 0.4  # [s]: a robot that is held still for this long stands
STILL = 0.02  # [rad] of a horn, 1.1°: within it, it is held still
LEAD = 0.2  # [s] that are kept of the stillness before and after
AT_REST = 1.2  # [s]: one that stands for this long and then again, a little beside, is not in a slow motion
SHORTEST = 0.1  # [s] of a recording
SILENT = 0.2  # [s] without a sample, from which a curve may be off


@dataclass(frozen=True, kw_only=True)
class Poses:
    """Poses in which the robot was held still.

    Attributes:
        begins, ends: (P,) when each pose was reached and left [s].
        values: (P, actuators) [rad or m].
    """

    begins: np.ndarray
    ends: np.ndarray
    values: np.ndarray


class HandRecording:
    """Samples of where servos are, as their player tells it.

    Attributes:
        actuators: names; of several servos on one actuator, the first speaks.
        horns: how far a servo's horn turns with its actuator (actuators,) [rad per rad or m].
    """

    def __init__(self, chain: ServoChain) -> None:
        self.actuators = tuple(dict.fromkeys(chain.actuators))
        self._servos = len(chain.servos)
        self._columns = [chain.actuators.index(name) for name in self.actuators]
        self.horns = (np.abs(chain.scale) / chain.counts_per_turn * 2 * np.pi)[self._columns]  # rad per rad or m
        self._times: list[float] = []
        self._values: list[np.ndarray] = []

    @property
    def seconds(self) -> float:
        """Return how long it is [s]."""
        return self._times[-1] - self._times[0] if self._times else 0.0

    @property
    def silence(self) -> str:
        """The longest time in which nothing was heard of the servos, in words; empty where that does no harm."""
        gaps = np.diff(self._times)
        if not len(gaps) or gaps.max() < SILENT:
            return ""
        begins = self._times[int(gaps.argmax())] - self._times[0]
        return (
            f"nothing was heard of the servos for {gaps.max():.2f} s, {begins:.1f} s after the recording began; what"
            " the hand did then is not in it"
        )

    def take(self, status: Status) -> bool:
        """Record where the servos are, and return whether the status was new."""
        return self.add(status.seen, np.array(status.present, dtype=float))

    def add(self, time: float, values: np.ndarray) -> bool:
        """Add a sample, values by servo [rad or m]; return whether it is later than the others, and whole."""
        if len(values) != self._servos or not np.isfinite(values).all() or (self._times and time <= self._times[-1]):
            return False
        self._times.append(time)
        self._values.append(values[self._columns])
        return True

    def motion(self) -> Motion:
        """Return the motion from 0 s on, without the stillness before and after it.

        Raise ServoError if the servos said too little, or nobody moved them.
        """
        from ...motions import Motion

        times, values = self._sampled()
        begins, ends = _stands(values * self.horns)
        for first, last in zip(begins, ends, strict=True):
            values[first : last + 1] = values[first : last + 1].mean(axis=0)
        moves = np.flatnonzero((np.abs(np.diff(values * self.horns, axis=0)) > 1e-9).any(axis=1))
        if not len(moves):
            raise ServoError("nothing was moved while it was recorded; turn torque off and move the robot by hand")
        kept = round(LEAD * RATE)
        part = slice(max(0, moves[0] - kept), moves[-1] + 2 + kept)
        times, values = times[part] - times[part][0], _smooth(values)[part]
        return Motion(times=times, actuators=self.actuators, values=values)

    def poses(self) -> Poses:
        """Return the poses in which the robot was held still, in their times; the first is reached at 0 s.

        Raise ServoError if there are fewer than two.
        """
        times, values = self._sampled()
        begins, ends = _stands(values * self.horns)
        if len(begins) < 2:
            raise ServoError(
                f"poses need a robot that is held still for {HELD:g} s at least twice; hold each pose for a moment, or"
                " record the motion"
            )
        held = np.array([values[a : b + 1].mean(axis=0) for a, b in zip(begins, ends, strict=True)])
        return Poses(begins=times[begins] - times[begins[0]], ends=times[ends] - times[begins[0]], values=held)

    def _sampled(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times (T,) at `RATE` and values (T, actuators)."""
        if self.seconds < SHORTEST:
            raise ServoError(f"a recording needs at least {SHORTEST:g} s in which the servos say where they are")
        there, values = np.array(self._times) - self._times[0], np.array(self._values)
        times = np.arange(int(there[-1] * RATE) + 1) / RATE
        return times, straight(times, there, values)


def between_poses(poses: Poses, actuators: tuple[str, ...]) -> Motion:
    """Return a motion from 0 s on that holds each pose as long as it was held, and goes smoothly between them."""
    from ...motions import Motion

    times = np.arange(int(np.ceil(poses.ends[-1] * RATE)) + 1) / RATE
    values = np.repeat(poses.values[:1], len(times), axis=0)
    for k, (pose, following) in enumerate(pairwise(poses.values)):
        way = Between(pose, following, np.full(len(pose), np.inf))
        way.duration = float(poses.begins[k + 1] - poses.ends[k])
        later = times >= poses.ends[k]
        values[later] = way.at(times[later] - poses.ends[k])
    return Motion(times=times, actuators=actuators, values=values)


def _stands(horns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last sample of each stretch in which all horns (T, n) [rad] are held still.

    Short stretches that touch another one are one slow motion, and no stand.
    """
    found: list[tuple[int, int]] = []
    first = 0
    while first < len(horns):
        last = _last_still(horns, first)
        if last - first >= round(HELD * RATE):
            found.append((first, last))
            first = last
        first += 1
    touches = [False, *(a[1] + 1 == b[0] for a, b in pairwise(found)), False]
    stands = [
        (first, last)
        for k, (first, last) in enumerate(found)
        if not any(touches[k : k + 2]) or last - first >= round(AT_REST * RATE)
    ]
    return np.array([first for first, _ in stands], dtype=int), np.array([last for _, last in stands], dtype=int)


def _last_still(horns: np.ndarray, first: int) -> int:
    """Return the last sample up to which all horns are as they are at the first, but for `STILL`."""
    low, high = horns[first].copy(), horns[first].copy()
    for k in range(first + 1, len(horns)):
        np.minimum(low, horns[k], out=low)
        np.maximum(high, horns[k], out=high)
        if (high - low > STILL).any():
            return k - 1
    return len(horns) - 1


def _smooth(values: np.ndarray) -> np.ndarray:
    """Return values (T, n) smoothed; a constant and a straight line stay as they are."""
    from scipy.signal import savgol_filter  # takes long to import

    window = min(round(SMOOTH * RATE) | 1, (len(values) - 1) | 1)
    return savgol_filter(values, window, 2, axis=0) if window > 2 and window <= len(values) else values
