"""What keeping motors within their speeds costs in tracking, by solving the clip a second time without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robik.errors import ClipError
from robik.kinematics.frames import frame_poses
from robik.kinematics.rotations import product
from robik.mechanism.model import Mechanism
from robik.objectives.settings import Settings
from robik.retarget.clip import TargetClip, Track
from robik.retarget.distances import distances
from robik.retarget.motion import Motion, Report
from robik.retarget.shortfall import ORIENTATION_MET, position_met


@dataclass(frozen=True)
class Errors:
    """How far something is from its targets [m or rad], with speeds held and without: `largest` and `mean`, `free_largest` and
    `free_mean`."""

    largest: float
    mean: float
    free_largest: float
    free_mean: float

    @classmethod
    def between(cls, held: np.ndarray, free: np.ndarray) -> Errors | None:
        """Of distances (T, ...); None where nothing is followed."""
        if not np.isfinite(held).any():
            return None
        return cls(*(float(of(errors)) for errors in (held, free) for of in (np.nanmax, np.nanmean)))


@dataclass(frozen=True)
class SpeedCost:
    """Of a motion whose speeds are held back, against the same without.

    Attributes:
        moved: (T,) how far that moves what it moves most of the frames and the centre of mass that are followed [m].
        turned: (T,) how far it turns the frame that it turns most [rad].
        lag: (T,) these in what would just count as met: a sample with 1 or more is held back.
        position, orientation, com: errors of the frames [m], [rad] and of the centre of mass [m]; None where none is followed.
    """

    moved: np.ndarray
    turned: np.ndarray
    lag: np.ndarray
    position: Errors | None
    orientation: Errors | None
    com: Errors | None

    @classmethod
    def between(cls, mechanism: Mechanism, clip: TargetClip, settings: Settings, held: Motion, free: Motion) -> SpeedCost:
        """Of two solved motions that follow the same clip; what moves along axes without weight costs nothing.

        Raises:
            ClipError: a motion is not a solved one.
        """
        (report, *poses), (without, *others) = _solved(held), _solved(free)
        apart, twisted, off = distances(mechanism, _reached(mechanism, clip, *others), settings, *poses)
        moved = np.nan_to_num(np.column_stack([apart, off])).max(axis=1)
        turned = np.nan_to_num(twisted).max(axis=1, initial=0.0)
        return cls(
            moved,
            turned,
            np.maximum(moved / position_met(mechanism), turned / ORIENTATION_MET),
            Errors.between(report.position_error, without.position_error),
            Errors.between(report.orientation_error, without.orientation_error),
            Errors.between(report.com_error, without.com_error),
        )

    def __str__(self) -> str:
        of = (("positions", self.position, _mm), ("orientations", self.orientation, _degrees), ("the centre of mass", self.com, _mm))
        errors = [
            f"{what} off by {unit(e.mean)} on average, {unit(e.largest)} at most, without it {unit(e.free_mean)} and {unit(e.free_largest)}"
            for what, e, unit in of
            if e is not None
        ]
        far = [_mm(self.moved.max())] if self.position or self.com else []
        far += [_degrees(self.turned.max())] if self.orientation else []
        return "; ".join([f"keeping speeds costs up to {' and '.join(far)}, most in sample {self.lag.argmax()}", *errors])

    def as_data(self) -> dict:
        """Plain data, as `REPORT.json` holds it."""
        data = {
            "moved_max_m": float(self.moved.max()),
            "moved_mean_m": float(self.moved.mean()),
            "turned_max_rad": float(self.turned.max()),
            "turned_mean_rad": float(self.turned.mean()),
            "frame": int(self.lag.argmax()),
        }
        for what, unit, errors in (("position", "m", self.position), ("orientation", "rad", self.orientation), ("com", "m", self.com)):
            e = errors or Errors(0.0, 0.0, 0.0, 0.0)
            data |= {f"{what}_error_max_{unit}": e.largest, f"{what}_error_max_{unit}_without": e.free_largest}
            data |= {f"{what}_error_mean_{unit}": e.mean, f"{what}_error_mean_{unit}_without": e.free_mean}
        return data


def without_speeds(settings: Settings) -> Settings | None:
    """The settings with no speed held back; None where none is."""
    if not settings.enforce_velocity and not settings.velocity_weight:
        return None
    return replace(settings, enforce_velocity=False, velocity_weight=0.0)


def _solved(motion: Motion) -> tuple[Report, np.ndarray, np.ndarray, np.ndarray]:
    """Its report, its bodies' poses and its centre of mass."""
    if motion.report is None or motion.position is None or motion.quaternion is None or motion.com is None:
        raise ClipError("what keeping speeds costs is told of solved motions, which have their bodies' poses and a report")
    return motion.report, motion.position, motion.quaternion, motion.com


def _reached(mechanism: Mechanism, clip: TargetClip, position: np.ndarray, quaternion: np.ndarray, com: np.ndarray) -> TargetClip:
    """Where a motion takes what the clip asks for, as a clip; by the bodies' own frames (T, n, 3), (T, n, 4) and the CoM (T, 3)."""
    tracks = {}
    for name, track in clip.tracks.items():
        frame = mechanism.frame(name)
        place, _ = frame_poses(mechanism, name, position, quaternion)
        turn = np.column_stack(product(*quaternion[:, mechanism.body_index[frame.body]].T, *np.array(frame.pose.quaternion)))
        tracks[name] = Track(None if track.position is None else place, None if track.quaternion is None else turn)
    return TargetClip(clip.times, tracks, None if clip.com is None else com)


def _mm(distance: float) -> str:
    return f"{1e3 * distance:.3g} mm"


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle):.3g}°"
