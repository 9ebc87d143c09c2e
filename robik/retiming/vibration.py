"""Vibration: a motion that does not excite a robot's own frequency, inside the bounds that it keeps.

An input shaper adds a motion to itself, later: what the first part excites, the others take back (zero vibration and
derivative; Singer and Seering, ASME J. DSMC 1990). All its weights are positive and add to one. So positions, speeds,
accelerations and jerks stay within every bound that they kept before, whatever the frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, pi, sqrt

import numpy as np

from ..errors import ClipError
from ..mechanism.model import Mechanism
from ..motions import BaseTrack, Motion
from ..motions.posing import posed
from ..servo.port.recording import Recording

DAMPING = 0.05  # of critical: what servos' gears have at the least
SLOWEST = 0.8  # [Hz] of a vibration: what is slower is the motion itself
FEWEST = 16  # looks at a servo
CLEAR = 0.2  # share of the error's power that a vibration has at the least


@dataclass(frozen=True)
class Shaper:
    """Weights (n,), which add to one, and delays (n,) [s] of an input shaper."""

    weights: np.ndarray
    delays: np.ndarray

    @property
    def length(self) -> float:
        """Return by how much a shaped motion is longer [s]."""
        return float(self.delays[-1])

    def left(self, frequency: float, damping: float = 0.0) -> float:
        """Return the share of a vibration [Hz] that a shaper leaves, 0 for none; damping is a share of critical."""
        rate = 2.0 * pi * frequency
        turning = rate * sqrt(1.0 - damping**2) * self.delays
        grown = self.weights * np.exp(damping * rate * (self.delays - self.length))
        return float(np.hypot((grown * np.cos(turning)).sum(), (grown * np.sin(turning)).sum()))


def shaper(frequency: float, damping: float = DAMPING) -> Shaper:
    """Return the shaper of a frequency [Hz] that is known to some percent: three impulses, the last after a period.

    Damping is a share of critical, below 1. Raise ClipError for values out of their range.
    """
    if not 0.0 < frequency < inf:
        raise ClipError(f"a vibration's frequency must be a positive number [Hz], not {frequency:g}")
    if not 0.0 <= damping < 1.0:
        raise ClipError(f"a vibration's damping must be from 0 to below 1, of critical, not {damping:g}")
    root = sqrt(1.0 - damping**2)
    k, half = exp(-damping * pi / root), 0.5 / (frequency * root)
    return Shaper(np.array([1.0, 2.0 * k, k * k]) / (1.0 + k) ** 2, np.array([0.0, half, 2.0 * half]))


def shaped(mechanism: Mechanism, motion: Motion, by: Shaper) -> Motion:
    """Return a motion, at even times, that excites no vibration of a shaper's frequency, assembled.

    It begins as the motion does and comes to rest a shaper's length later; on average it is half of that late.
    """
    step = float(np.median(np.diff(motion.times))) if len(motion.times) > 1 else 1.0
    more = int(np.ceil(by.length / step - 1e-9))
    times = motion.times[0] + step * np.arange(len(motion.times) + more)

    def mixed(columns: np.ndarray) -> np.ndarray:
        found = np.zeros((len(times), columns.shape[1]))
        for weight, delay in zip(by.weights.tolist(), by.delays.tolist(), strict=True):
            for k, column in enumerate(columns.T):
                found[:, k] += weight * np.interp(times - delay, motion.times, column)
        return found

    base = motion.base
    if base is not None:
        flips = np.where((base.quaternion[1:] * base.quaternion[:-1]).sum(axis=1) < 0, -1.0, 1.0)
        turns = mixed(base.quaternion * np.cumprod(np.concatenate([[1.0], flips]))[:, None])
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        base = BaseTrack(body=base.body, position=mixed(base.position), quaternion=turns)
    bare = Motion(times=times, actuators=motion.actuators, values=mixed(motion.values), base=base)
    return posed(mechanism, bare)[0]


def measured_vibration(recording: Recording) -> tuple[float, str, float]:
    """Return the strongest vibration of played servos: frequency [Hz], the actuator that shows it, and its share.

    It is measured in the error between goals and positions; the share is of that actuator's error. Raise ClipError
    where none stands out, or samples are too few.
    """
    found = [(*_strongest(times, error), name) for name, times, error in _errors(recording) if len(times) >= FEWEST]
    share, frequency, name = max(found, default=(0.0, 0.0, ""))
    if share < CLEAR:
        raise ClipError("no vibration stands out in the recording; give its frequency [Hz] instead")
    return frequency, name, share


def _strongest(times: np.ndarray, error: np.ndarray) -> tuple[float, float]:
    """Return the share of an error's power that its strongest vibration has, and the frequency of that [Hz]."""
    from scipy.signal import lombscargle  # takes long to import

    seconds = float(times[-1] - times[0])
    frequencies = np.arange(SLOWEST, 0.45 * (len(times) - 1) / seconds, 0.25 / seconds)
    away = error - np.polyval(np.polyfit(times - times.mean(), error, 2), times - times.mean())
    if not len(frequencies) or not away.any():
        return 0.0, 0.0
    power = lombscargle(times, away, 2.0 * pi * frequencies, normalize=True)
    k = int(np.argmax(power))
    return float(power[k]), float(frequencies[k])


def _errors(recording: Recording) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return the looks at each servo: its name, times (n,) [s] and errors (n,) [rad or m]."""
    seen = np.isfinite(recording.error)
    return [
        (name, recording.times[seen[:, k]], recording.error[seen[:, k], k]) for k, name in enumerate(recording.names)
    ]
