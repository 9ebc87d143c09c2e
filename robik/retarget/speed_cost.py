"""What keeping motors within their speeds costs in tracking, by solving the clip a second time without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robik.errors import ClipError
from robik.ik.objectives import Settings
from robik.kinematics.frames import frame_poses
from robik.mechanism.model import Mechanism
from robik.retarget.motion import Motion


@dataclass(frozen=True)
class SpeedCost:
    """Of a motion whose speeds are held back, against the same without.

    Attributes:
        moved: (T,) how far that moves the followed frame that it moves most [m].
        error, free_error: the largest distance of a frame from its target, with speeds held and without [m].
        mean_error, free_mean_error: the mean of these distances, likewise.
    """

    moved: np.ndarray
    error: float
    free_error: float
    mean_error: float
    free_mean_error: float

    @classmethod
    def between(cls, mechanism: Mechanism, names: tuple[str, ...], held: Motion, free: Motion) -> SpeedCost:
        """Of two solved motions that follow the frames `names`."""
        places = []
        for motion in (held, free):
            if motion.position is None or motion.quaternion is None:
                raise ClipError("what keeping speeds costs is told of solved motions, which have their bodies' poses")
            places.append([frame_poses(mechanism, name, motion.position, motion.quaternion)[0] for name in names])
        apart = np.linalg.norm(np.array(places[0]) - np.array(places[1]), axis=-1) if names else np.zeros((1, len(held.times)))
        (error, mean), (free_error, free_mean) = _errors(held), _errors(free)
        return cls(apart.max(axis=0), error, free_error, mean, free_mean)

    def __str__(self) -> str:
        return (
            f"keeping speeds moves a frame by up to {1e3 * self.moved.max():.3g} mm, in sample {self.moved.argmax()}: "
            f"off by {1e3 * self.mean_error:.3g} mm on average, {1e3 * self.error:.3g} mm at most; "
            f"without it {1e3 * self.free_mean_error:.3g} and {1e3 * self.free_error:.3g} mm"
        )

    def as_data(self) -> dict:
        """Plain data, as `REPORT.json` holds it."""
        return {
            "moved_max_m": float(self.moved.max()),
            "moved_mean_m": float(self.moved.mean()),
            "frame": int(self.moved.argmax()),
            "position_error_max_m": self.error,
            "position_error_max_m_without": self.free_error,
            "position_error_mean_m": self.mean_error,
            "position_error_mean_m_without": self.free_mean_error,
        }


def without_speeds(settings: Settings) -> Settings | None:
    """The settings with no speed held back; None where none is."""
    if not settings.enforce_velocity and not settings.velocity_weight:
        return None
    return replace(settings, enforce_velocity=False, velocity_weight=0.0)


def _errors(motion: Motion) -> tuple[float, float]:
    """Largest and mean distance from targets [m]; 0 where no target has a position."""
    report = motion.report
    if report is None or not np.isfinite(report.position_error).any():
        return 0.0, 0.0
    return float(np.nanmax(report.position_error)), float(np.nanmean(report.position_error))
