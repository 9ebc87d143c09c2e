"""Report on a motion: how well it follows its clip, and what keeping its motors' speeds costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..errors import ClipError
from .adjusted import Adjusted, MovedFoothold
from .hold import Hold
from .on_demand import on_demand
from .penetration import Penetration

NEARLY = 10.0  # times its tolerance: a target that is missed by no more is nearly met


@dataclass(frozen=True, kw_only=True)
class SpeedErrors:
    """Distances from targets [m or rad] with speeds held and without.

    Attributes:
        largest, mean: with speeds held.
        free_largest, free_mean: without.
    """

    largest: float = 0.0
    mean: float = 0.0
    free_largest: float = 0.0
    free_mean: float = 0.0

    @classmethod
    def between(cls, held: np.ndarray, free: np.ndarray) -> SpeedErrors | None:
        """Return the errors of distances (T, ...) [m or rad]; None where nothing is followed.

        Args:
            held: Errors (T, …) with the speeds kept [m or rad].
            free: Errors (T, …) without.

        Returns:
            The largest and mean of both, or None.
        """
        if not np.isfinite(held).any():
            return None
        return cls(
            largest=float(np.nanmax(held)),
            mean=float(np.nanmean(held)),
            free_largest=float(np.nanmax(free)),
            free_mean=float(np.nanmean(free)),
        )


@dataclass(frozen=True, kw_only=True)
class SpeedCost:
    """A motion whose speeds are held back, compared with the same motion without.

    Attributes:
        moved: (T,) largest distance by which it moves a followed frame or the centre of mass [m].
        turned: (T,) largest angle by which it turns a followed frame [rad].
        lag: (T,) the same in units of what just counts as met: a sample with 1 or more is held back.
        position, orientation: errors of the frames [m] and [rad]; None where none is followed.
        com: errors of the centre of mass [m]; None where it is not followed.
    """

    moved: np.ndarray
    turned: np.ndarray
    lag: np.ndarray
    position: SpeedErrors | None
    orientation: SpeedErrors | None
    com: SpeedErrors | None

    def __str__(self) -> str:
        of = (
            ("positions", self.position, _mm),
            ("orientations", self.orientation, _degrees),
            ("the centre of mass", self.com, _mm),
        )
        errors = [
            f"{what} off by {unit(e.mean)} on average, {unit(e.largest)} at most, "
            f"without it {unit(e.free_mean)} and {unit(e.free_largest)}"
            for what, e, unit in of
            if e is not None
        ]
        far = [_mm(self.moved.max())] if self.position or self.com else []
        far += [_degrees(self.turned.max())] if self.orientation else []
        return "; ".join(
            [f"keeping speeds costs up to {' and '.join(far)}, most in sample {self.lag.argmax()}", *errors]
        )

    def as_data(self) -> dict:
        """Return plain data, as `REPORT.json` holds it."""
        data = {
            "moved_max_m": float(self.moved.max()),
            "moved_mean_m": float(self.moved.mean()),
            "turned_max_rad": float(self.turned.max()),
            "turned_mean_rad": float(self.turned.mean()),
            "frame": int(self.lag.argmax()),
        }
        for what, unit, errors in (
            ("position", "m", self.position),
            ("orientation", "rad", self.orientation),
            ("com", "m", self.com),
        ):
            e = errors or SpeedErrors()
            data |= {f"{what}_error_max_{unit}": e.largest, f"{what}_error_max_{unit}_without": e.free_largest}
            data |= {f"{what}_error_mean_{unit}": e.mean, f"{what}_error_mean_{unit}_without": e.free_mean}
        return data


@dataclass(frozen=True, kw_only=True)
class ZeroMoment:
    """Depth of the zero-moment point in the support, over samples in which something with an area stands.

    It is that of three samples each, without a filter, as all frames at once keep it; `Quality` tells it of motions
    filtered.

    Attributes:
        inside: share of the samples in which it is inside.
        worst: its least depth [m]; negative outside.
        sample: in which that is.
        inside_before, worst_before: likewise, frame by frame.
    """

    inside: float
    worst: float
    sample: int
    inside_before: float
    worst_before: float

    def __str__(self) -> str:
        return (
            f"the zero-moment point is inside the support in {100 * self.inside_before:.4g} → {100 * self.inside:.4g} %"
            f" of the samples, at worst {_depth(self.worst_before)} → {_depth(self.worst)}, in sample {self.sample}"
        )


def _depth(depth: float) -> str:
    """Return a depth [m] in words."""
    return f"{1e3 * abs(depth):.1f} mm {'outside' if depth < 0 else 'inside'}"


@dataclass(frozen=True, kw_only=True)
class LookAhead:
    """All frames solved at once, compared with the same clip frame by frame.

    Attributes:
        iterations: over all frames.
        converged: whether another one would change next to nothing.
        shares: largest share of a motor's limit that is used, by `speed`, `acceleration` and `jerk`; 0 without a limit.
        beyond: what could not be kept, and where, as a sentence; empty where all is kept.
        position_error_max, position_error_mean: of the frames that are followed, frame by frame [m].
        peak_acceleration: of any motor, frame by frame [rad/s² or m/s²].
        zero_moment: where the zero-moment point is kept inside the support; None where it is not.
    """

    iterations: int
    converged: bool
    shares: dict[str, float]
    beyond: str
    position_error_max: float
    position_error_mean: float
    peak_acceleration: float
    zero_moment: ZeroMoment | None = None

    def __str__(self) -> str:
        balance = f"; {self.zero_moment}" if self.zero_moment else ""
        missed = f"; cannot be kept: {self.beyond}" if self.beyond else ""
        if not self.iterations and self.converged:
            return f"no motor reaches a limit, so looking ahead changes nothing{balance}{missed}"
        used = ", ".join(f"{order} {100 * share:.4g} %" for order, share in self.shares.items() if share > 0)
        of_limits = f"; of the limits: {used}" if used else ""
        ended = "" if self.converged else ", ended before the optimum"
        return (
            f"all frames at once in {self.iterations} iterations{ended}{of_limits}; frame by frame: off by"
            f" {_mm(self.position_error_mean)} on average, {_mm(self.position_error_max)} at most, acceleration up to"
            f" {self.peak_acceleration:.3g} /s²{balance}{missed}"
        )

    def as_data(self) -> dict:
        """Return plain data, as `REPORT.json` holds it."""
        return {
            "iterations": self.iterations,
            "converged": self.converged,
            "shares": self.shares,
            "beyond": self.beyond,
            "frame_by_frame": {
                "position_error_max_m": self.position_error_max,
                "position_error_mean_m": self.position_error_mean,
                "peak_acceleration": self.peak_acceleration,
            },
            "zero_moment": None if self.zero_moment is None else asdict(self.zero_moment),
        }


@dataclass(frozen=True, kw_only=True)
class ObjectiveError:
    """Error of a motion against one objective of its clip.

    Attributes:
        key: the objective's name in the clip, as `hand.look_at`.
        unit: m or rad.
        values: (T,); NaN where nothing is asked for.
    """

    key: str
    unit: str
    values: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Figures of quality of a motion, None where the clip has no contact or nobody judged.

    Attributes:
        slide_mm_s: mean speed of what is in contact, against what it stands on.
        float_mm: most that something in contact is above where it stands.
        floor_penetration_mm: most that a sole is below the ground.
        floor_penetration_frames: share of the samples in which one is by more than 1 mm.
        clearance_mm: least that a sole is above the ground in the middle of a swing.
        landing_mm_s: largest speed downwards with which one lands.
        self_penetration_mm, self_penetration_frames: the same of the robot in itself, once that is judged.
        contact_off_mm, contact_turned_deg: most that a frame in contact is from where it is held.
        contact_sample: in which one is furthest off.
        jump_rad: largest turn of a motor in 1/120 s.
        jerk_rad_s3: root of the mean square over all motors.
        directions_deg: mean angle between each part of the limbs and what it follows, by part.
        zero_moment_margin_mm: least that the zero-moment point is inside what stands; negative outside.
        zero_moment_sample: in which that is.
        zero_moment_inside: share of the samples with a standing foot in which it is inside.
        aloft: samples in which no foot stands.
    """

    slide_mm_s: float | None = None
    float_mm: float | None = None
    floor_penetration_mm: float | None = None
    floor_penetration_frames: float | None = None
    clearance_mm: float | None = None
    landing_mm_s: float | None = None
    self_penetration_mm: float | None = None
    self_penetration_frames: float | None = None
    contact_off_mm: float | None = None
    contact_turned_deg: float | None = None
    contact_sample: int | None = None
    jump_rad: float = 0.0
    jerk_rad_s3: float = 0.0
    directions_deg: dict[str, float] = field(default_factory=dict)
    zero_moment_margin_mm: float | None = None
    zero_moment_sample: int | None = None
    zero_moment_inside: float | None = None
    aloft: int | None = None

    def rows(self) -> list[tuple[str, str]]:
        """Return name and value of each figure that is known, in words."""
        found = [
            ("slide in contact", _figure(self.slide_mm_s, "mm/s")),
            ("float", _figure(self.float_mm, "mm")),
            ("contact off", _figure(self.contact_off_mm, "mm")),
            ("contact turned", _figure(self.contact_turned_deg, "°")),
            ("in the ground", _figure(self.floor_penetration_mm, "mm", self.floor_penetration_frames)),
            ("clearance of swings", _figure(self.clearance_mm, "mm at least")),
            ("landing", _figure(self.landing_mm_s, "mm/s at most")),
            ("in itself", _figure(self.self_penetration_mm, "mm", self.self_penetration_frames)),
            ("zero-moment point inside", _figure(self.zero_moment_margin_mm, "mm at least", self.zero_moment_inside)),
            ("in the air", _figure(self.aloft, "samples")),
            ("largest turn in 1/120 s", _figure(self.jump_rad, "rad")),
            ("jerk, root of the mean square", _figure(self.jerk_rad_s3, "rad/s³")),
        ]
        found += [(f"direction of {part}", _figure(angle, "°")) for part, angle in self.directions_deg.items()]
        return [(name, value) for name, value in found if value]


@dataclass(frozen=True, kw_only=True)
class Report:
    """Errors of a motion against its clip, per frame.

    Attributes:
        targets: names of the T frames' targets, columns of the errors below.
        position_error: (T, targets) distance [m]; NaN where a target has no position or no weight on it.
        orientation_error: (T, targets) angle [rad]; NaN likewise.
        com_error: (T,) distance along the weighted axes [m]; NaN without a CoM target.
        residual: (T,) largest closure residual [m]; rotations count by the robot's size.
        iterations: (T,) of the solver.
        velocity: (T, actuators) [rad/s or m/s], the step into each frame.
        velocity_limit: (actuators,) of the motors, infinite where unknown.
        milliseconds: (T,) processor time of solving each frame.
        missed: (T,) largest error of each frame in units of its tolerance, wider for weak targets; met up to 1.
        short: (frame, why) for each frame in which something was not met.
        speed_cost: what keeping speeds costs, None where no speed is held back or nobody asked.
        objectives: errors of what the clip asks for beside frames and centre of mass.
        acceleration: (T, actuators) [rad/s² or m/s²], the change of velocity at each frame.
        jump_speed: (actuators,) above which a step is called a jump [rad/s or m/s].
        jerk: (T, actuators) [rad/s³ or m/s³], the change of acceleration into each frame.
        look_ahead: how all frames were solved at once; None where they were solved one by one.
        quality: figures of its contacts, balance, limbs and jumps.
        moved: footholds that were out of reach, or put legs into each other, and are elsewhere.
        penetration: of the robot into itself and the ground; None where nobody asked.
        adjustments: of the clip on the way, in the order in which a bake made them.
        seconds: of processor time that each part of a bake took; none where nobody measured.
        rounding: how far joints are from a file's rounded numbers, so that its linkages move [m].
        hold: whether the motors determine the robot, worked out when first asked for; None without loops.
    """

    targets: tuple[str, ...]
    position_error: np.ndarray
    orientation_error: np.ndarray
    com_error: np.ndarray
    residual: np.ndarray
    iterations: np.ndarray
    velocity: np.ndarray
    velocity_limit: np.ndarray
    milliseconds: np.ndarray
    missed: np.ndarray
    short: tuple[tuple[int, str], ...]
    speed_cost: SpeedCost | None = None
    objectives: tuple[ObjectiveError, ...] = ()
    acceleration: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    jump_speed: float | np.ndarray = np.inf
    jerk: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    look_ahead: LookAhead | None = None
    quality: Quality = field(default_factory=Quality)
    rounding: float = 0.0
    moved: tuple[MovedFoothold, ...] = ()
    penetration: Penetration | None = None
    adjustments: tuple[Adjusted, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    hold: Hold | None = on_demand()  # noqa: RUF009 - a field of its own

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, so that a copy or a pickle has no function."""
        return self.__dict__ | {"_hold": self.hold}

    def raise_if_short(self) -> None:
        """Raise a ClipError that says what the motion misses first, and in how many frames; nothing if it misses none.

        Raises:
            ClipError: something was not met.
        """
        if self.short:
            frame, why = self.short[0]
            many = f"{len(self.short)} of {len(self.missed)} frames fall short"
            raise ClipError(f"{many}, the first of them {frame}: {why}")

    @property
    def nearly(self) -> np.ndarray:
        """Indices of the frames that miss a target, and none by more than `NEARLY` times its tolerance."""
        return np.flatnonzero((self.missed > 1.0) & (self.missed <= NEARLY))

    @property
    def jumping(self) -> np.ndarray:
        """Indices of the frames into which some actuator jumps."""
        return np.flatnonzero((np.abs(self.velocity) > self.jump_speed).any(axis=1))

    @property
    def too_fast(self) -> np.ndarray:
        """Indices of the frames that some actuator would have to enter faster than its motor can."""
        return np.flatnonzero((np.abs(self.velocity) > self.velocity_limit * (1 + 1e-6)).any(axis=1))


def _figure(value: float | None, unit: str, share: float | None = None) -> str:
    """Return a figure with its unit, and the share of the samples that it is about; nothing where it is not known."""
    if value is None:
        return ""
    return f"{value:.3g} {unit}" + (f"; {100 * share:.3g} % of the samples" if share is not None else "")


def _mm(distance: float) -> str:
    return f"{1e3 * distance:.3g} mm"


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle):.3g}°"
