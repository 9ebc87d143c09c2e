"""Smooth curves through the samples of a motion, and their derivatives.

Columns and positions are cubic splines with two continuous derivatives, with two exceptions. Between two samples of
the same value a curve is constant, so that a joint that rests, or stands at a limit, does so between the samples too.
At a sample a curve is no faster than the mean speed to one of the two neighbours, so that a joint that goes back and
forth at its largest speed does not exceed it. Orientations are splines of rotations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..mechanism.orientations import quaternions, rotation
from .motion import BaseTrack, Motion, Rates

if TYPE_CHECKING:
    from scipy.interpolate import CubicHermiteSpline

STEEPEST = 3.0  # times the mean slope of a piece: with ends no steeper it stays between its two samples
FASTER = 1.01  # times the larger mean slope beside a sample: smooth motions are that much faster between samples


class Curves:
    """Curves through the samples of a motion."""

    def __init__(self, motion: Motion) -> None:
        from scipy.spatial.transform import RotationSpline  # takes long to import

        self.motion = motion
        self._values = through(motion.times, motion.values)
        passive = motion.passive or {}
        table = np.array([*passive.values()]).reshape(len(passive), len(motion.times)).T
        self._passive = through(motion.times, table)
        self._position = None if motion.base is None else through(motion.times, motion.base.position)
        self._turns = None
        if motion.base is not None and len(motion.times) > 1:
            self._turns = RotationSpline(motion.times, rotation(motion.base.quaternion))

    def at(self, times: np.ndarray) -> Motion:
        """Return the motion at increasing times (K,) [s], with its rates, without bodies' states and report.

        Before the first sample and after the last one the motion stands still.
        """
        inside = np.clip(times, self.motion.times[0], self.motion.times[-1])
        base, linear, angular = None, None, None
        if self.motion.base is not None and self._position is not None:
            base = BaseTrack(
                body=self.motion.base.body, position=self._position(inside), quaternion=self._quaternions(inside)
            )
            linear, angular = self._position(inside, 1), self._angular(inside)
        names = self.motion.passive
        passive = None if names is None else dict(zip(names, self._passive(inside).T, strict=True))
        rates = Rates(values=self._values(inside, 1), linear=linear, angular=angular)
        values = self._values(inside)
        return Motion(
            times=times, actuators=self.motion.actuators, values=values, base=base, passive=passive, rates=rates
        )

    def _quaternions(self, times: np.ndarray) -> np.ndarray:
        """Return unit quaternions wxyz (K, 4) without sign flips, the first one as in the motion."""
        assert self.motion.base is not None
        own = self.motion.base.quaternion
        if self._turns is None:
            return np.repeat(own, len(times), axis=0)
        found = quaternions(self._turns(times))
        against = (found[1:] * found[:-1]).sum(axis=1) < 0
        signs = np.concatenate([[1.0 if found[0] @ own[0] >= 0 else -1.0], np.where(against, -1.0, 1.0)])
        return found * np.cumprod(signs)[:, None]

    def _angular(self, times: np.ndarray) -> np.ndarray:
        """Return angular velocities in the world (K, 3) [rad/s]."""
        if self._turns is None:
            return np.zeros((len(times), 3))
        return self._turns(times).apply(self._turns(times, 1))  # the spline's own are along the turned axes


def rates_of(motion: Motion) -> Rates:
    """Return the derivatives of a motion at its samples: its own rates, else those of the curves through them."""
    rates = motion.rates or Curves(motion).at(motion.times).rates
    assert rates is not None
    return rates


def through(times: np.ndarray, values: np.ndarray) -> CubicHermiteSpline:
    """Return the curve through values (T, n) at increasing times (T,) [s].

    Called with times (K,), and 1 for its derivative, it returns (K, n).
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline  # takes long to import

    if len(times) < 2:
        times, values = np.array([times[0], times[0] + 1.0]), np.repeat(values, 2, axis=0)
    slopes = CubicSpline(times, values, axis=0)(times, 1)
    mean = np.diff(values, axis=0) / np.diff(times)[:, None]
    beside = np.abs(mean[[0, *range(len(mean)), -1]])
    most = FASTER * np.maximum(beside[:-1], beside[1:])
    slopes = np.clip(slopes, -most, most)
    still = np.abs(mean) <= 1e-12 * np.abs(mean).max(axis=0, initial=0.0)
    held = np.zeros(values.shape, dtype=bool)
    held[:-1] |= still
    held[1:] |= still
    slopes[held] = 0.0
    next_to = (held[1:] | held[:-1]) & ~still
    for end in (slice(1, None), slice(None, -1)):
        limited = np.clip(slopes[end], np.minimum(0.0, STEEPEST * mean), np.maximum(0.0, STEEPEST * mean))
        slopes[end] = np.where(next_to, limited, slopes[end])
    return CubicHermiteSpline(times, values, slopes, axis=0)
