"""Motion of a robot: actuator values over time and, where they are known, its base, passive joints and bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ClipError
from ..mechanism.model import Mechanism
from .degrees import check_radians
from .needs import Needs
from .on_demand import on_demand
from .report import Report

LATEST = 1e12  # [s]: beyond it, milliseconds are lost in a time's digits
ROUNDING = 1e-3  # by which a quaternion's length may differ from 1 and still be made unit


@dataclass(frozen=True, kw_only=True)
class BaseTrack:
    """Pose of a floating robot's base over time.

    Attributes:
        body: the name of the body that floats; empty where a file does not name it.
        position: (T, 3) of the body's own frame, world coordinates [m].
        quaternion: (T, 4) likewise, unit quaternions wxyz. Lengths that are off by at most 1e-3 are taken for rounding
            and made unit.

    Raises:
        ClipError: wrong shapes, numbers that are not finite, or quaternions of another length; names the sample.
    """

    body: str
    position: np.ndarray
    quaternion: np.ndarray

    def __post_init__(self) -> None:
        position, quaternion = np.array(self.position, dtype=float), np.array(self.quaternion, dtype=float)
        for name, values, width in (("position", position, 3), ("quaternion", quaternion, 4)):
            if values.ndim != 2 or values.shape[1] != width:
                raise ClipError(f"the base's {name} must have {width} numbers per sample, not the shape {values.shape}")
            if not (finite := np.isfinite(values).all(axis=1)).all():
                raise ClipError(f"the base's {name} must be finite; sample {int(np.argmin(finite))} is not")
        if len(position) != len(quaternion):
            raise ClipError(f"the base has {len(position)} positions, but {len(quaternion)} quaternions")
        lengths = np.linalg.norm(quaternion, axis=1)
        if (bad := np.abs(lengths - 1.0) > ROUNDING).any():
            sample = int(np.argmax(bad))
            raise ClipError(f"the base's quaternions must have length 1; sample {sample} has {lengths[sample]:g}")
        off = np.abs(lengths - 1.0) > 4e-16  # a unit quaternion must survive a round trip to the last bit
        quaternion[off] /= lengths[off, None]
        object.__setattr__(self, "position", _frozen(position))
        object.__setattr__(self, "quaternion", _frozen(quaternion))


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Derivatives of a motion at its samples.

    Attributes:
        values: (T, actuators) [rad/s or m/s].
        linear: (T, 3) velocity of the base's own frame in the world [m/s]; None without a base.
        angular: (T, 3) its angular velocity in the world [rad/s], likewise.
    """

    values: np.ndarray
    linear: np.ndarray | None = None
    angular: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class Motion:
    """A robot's motion.

    Attributes:
        times: (T,) increasing [s].
        actuators: names (`Mechanism.actuators`).
        values: (T, actuators) [rad or m], without jumps of 2π.
        base: the pose of a floating robot's base, or None where the robot is grounded or nobody knows.
        passive: the coordinates of joints without a motor, (T,) each [rad or m], by name (`Joint.coordinate_names`)
            and without the base's; None where they are unknown.
        bodies: the bodies' names, in order, where states are known.
        position: (T, bodies, 3) of each body's own frame, world coordinates [m], or None. A solved motion works them
            out when they are first asked for.
        quaternion: (T, bodies, 4) likewise, unit quaternions wxyz, or None.
        com: (T, 3) the robot's centre of mass [m], or None.
        report: how well it follows its clip, or None. A solved motion is judged when it is first asked for.
        rates: derivatives of the curves that it was taken from; None where its samples are all there is.
        sound: the sound file that plays with it from its first sample on, or None.
        needs: settings of the motors with which it was made to stand, or None.

    Raises:
        ClipError: names what is wrong: shapes that do not fit, numbers that are not finite, two columns of one name,
            times that do not increase.
    """

    times: np.ndarray
    actuators: tuple[str, ...]
    values: np.ndarray
    base: BaseTrack | None = None
    passive: Mapping[str, np.ndarray] | None = None
    bodies: tuple[str, ...] = ()
    position: np.ndarray | None = on_demand()  # noqa: RUF009 - each field has its own
    quaternion: np.ndarray | None = on_demand()  # noqa: RUF009 - each field has its own
    com: np.ndarray | None = None
    report: Report | None = on_demand()  # noqa: RUF009 - each field has its own
    rates: Rates | None = None
    sound: Path | None = None
    needs: Needs | None = None

    def __post_init__(self) -> None:
        times, values = np.asarray(self.times, dtype=float), np.asarray(self.values, dtype=float)
        _check_times(times)
        actuators = tuple(self.actuators)
        if len(set(actuators)) < len(actuators):
            twice = next(name for k, name in enumerate(actuators) if name in actuators[:k])
            raise ClipError(f"a motion has one column per actuator; {twice!r} is there twice")
        if values.shape != (len(times), len(actuators)):
            raise ClipError(
                f"a motion's values must have the shape ({len(times)}, {len(actuators)}), not {values.shape}"
            )
        if not (finite := np.isfinite(values)).all():
            sample, column = (int(k) for k in np.argwhere(~finite)[0])
            raise ClipError(
                f"a motion's times and values must be finite; sample {sample} of {actuators[column]!r} is not"
            )
        if self.base is not None and len(self.base.position) != len(times):
            raise ClipError(f"the base has {len(self.base.position)} samples where the motion has {len(times)}")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "actuators", actuators)
        object.__setattr__(self, "passive", self._checked_passive(len(times)))

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, so that a copy or a pickle has arrays alone."""
        return self.__dict__ | {
            "_position": self.position, "_quaternion": self.quaternion, "_report": self.report
        }  # fmt: skip

    def with_sound(self, sound: Path | None) -> Motion:
        """Return the motion with another sound.

        Args:
            sound: The sound file, or None.

        Returns:
            The motion; what has not been asked for is not worked out.
        """
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__ | {"sound": sound})
        return made

    def reported(self, **changes: Any) -> Motion:
        """Return the solved motion with changes in its report.

        Args:
            changes: Fields of `Report`.

        Returns:
            The motion.
        """
        assert self.report is not None
        return replace(self, report=replace(self.report, **changes))

    def _checked_passive(self, samples: int) -> dict[str, np.ndarray] | None:
        """Return the passive coordinates as arrays of numbers."""
        if self.passive is None:
            return None
        passive = {name: np.asarray(column, dtype=float) for name, column in self.passive.items()}
        for name, column in passive.items():
            if column.shape != (samples,) or not np.isfinite(column).all():
                raise ClipError(f"the passive coordinate {name!r} must have {samples} finite numbers, one per sample")
        return passive

    def peak_velocity(self) -> dict[str, float]:
        """Return the largest speed between neighbouring samples [rad/s or m/s], per actuator."""
        if len(self.times) < 2:
            return dict.fromkeys(self.actuators, 0.0)
        speed = np.abs(np.diff(self.values, axis=0) / np.diff(self.times)[:, None]).max(axis=0)
        return dict(zip(self.actuators, speed.tolist(), strict=True))


def values_for(mechanism: Mechanism, motion: Motion, source: str | Path) -> np.ndarray:
    """Return a motion's values (T, A) in the order of a robot's actuators.

    Args:
        mechanism: The robot.
        motion: Has a column per actuator of the robot.
        source: The motion's file, for the error.

    Returns:
        Values (T, A) [rad or m].

    Raises:
        ClipError: Names the source and the actuators that have no column, or one that is in degrees.
    """
    if missing := [name for name in mechanism.actuators if name not in motion.actuators]:
        raise ClipError(f"{source} has no column for {', '.join(missing)} of robot {mechanism.name!r}")
    values = motion.values[:, [motion.actuators.index(name) for name in mechanism.actuators]]
    check_radians(mechanism, motion.times, values, source)
    return values


def _check_times(times: np.ndarray) -> None:
    if times.ndim != 1 or not len(times):
        raise ClipError("a motion needs at least one time")
    if not (finite := np.isfinite(times)).all():
        raise ClipError(
            f"a motion's times and values must be finite; the time of sample {int(np.argmin(finite))} is not"
        )
    if (far := np.abs(times) > LATEST).any():
        k = int(np.argmax(far))
        raise ClipError(f"a motion's times are in seconds, at most {LATEST:g}; sample {k} is at {times[k]:g} s")
    if len(times) > 1 and (np.diff(times) <= 0).any():
        k = int(np.argmax(np.diff(times) <= 0)) + 1
        raise ClipError(f"a motion's times must increase; sample {k} at {times[k]:g} s follows {times[k - 1]:g} s")


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
