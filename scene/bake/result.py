"""Result of a bake, kept with the robot for the Result panel."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite

import numpy as np
from bpy.types import PropertyGroup

from ...robik.clips.clip import TargetClip
from ...robik.feet.finding import below_ground
from ...robik.feet.phases import runs
from ...robik.mechanism import Mechanism
from ...robik.motions import Motion, Report, SpeedCost
from ...robik.motions.hold import Hold
from ...robik.motions.report import Quality
from ...robik.report.kept_balance import kept_balance
from ...robik.report.shortfall import beyond_the_robot, millimetres, position_met
from ...translations import sentence


def store_result(
    result: PropertyGroup, mechanism: Mechanism, clip: TargetClip, motion: Motion, frames: np.ndarray, seconds: float
) -> None:
    """Replace a robot's last result by that of a solved motion, with a report, at frames (T,) of the scene.

    There is a margin of balance where the clip knows the feet's contacts. `seconds` is how long the bake took.
    """
    report = motion.report
    assert report is not None  # a solved motion has one
    result.frames, result.seconds = len(frames), seconds
    result.start, result.step = float(frames[0]), float(frames[1] - frames[0]) if len(frames) > 1 else 1.0
    result.milliseconds = float(np.median(report.milliseconds))
    result.residual = float(report.residual.max())
    result.has_com = bool(np.isfinite(report.com_error).any())
    result.com_error, where = _largest(report.com_error)
    result.com_mean, result.com_frame = _mean(report.com_error), round(float(frames[where]))
    _store_targets(result.targets, report, frames)
    _store_asked(result.targets, report, frames)
    _store_actuators(result.actuators, mechanism, motion, report, frames)
    _store_margin(result, mechanism, clip, motion, frames)
    _store_quality(result, report.quality, frames)
    _store_moved(result, clip, frames)
    result.beyond_robot = beyond_the_robot(mechanism, motion)
    _store_hold(result, report.hold, frames)
    result.met = position_met(mechanism)
    result.physics = result.physics_more = ""
    result.penetration.clear()
    _store_short(result, motion, report, frames)
    _store_look_ahead(result, report)


def store_cost(result: PropertyGroup, cost: SpeedCost | None, frames: np.ndarray) -> None:
    """Store the cost of keeping the motors' speeds of a bake of these frames of the scene.

    None where nothing was to be kept.
    """
    lag = np.zeros(len(frames)) if cost is None else cost.lag
    result.speed_cost, result.speed_turn = (0.0, 0.0) if cost is None else (cost.moved.max(), cost.turned.max())
    result.speed_frame, result.held_back = round(float(frames[int(lag.argmax())])), int((lag >= 1.0).sum())


def _store_look_ahead(result: PropertyGroup, report: Report) -> None:
    """Store the changes that come from solving all frames at once."""
    ahead = report.look_ahead
    result.looked_ahead, result.mean_distance = bool(ahead and ahead.iterations), _mean(report.position_error)
    result.ended_early = bool(ahead and not ahead.converged)
    result.beyond = ahead.beyond if ahead else ""
    result.mean_before = ahead.position_error_mean if ahead else 0.0
    result.acceleration_before = ahead.peak_acceleration if ahead else 0.0


def _store_margin(
    result: PropertyGroup, mechanism: Mechanism, clip: TargetClip, motion: Motion, frames: np.ndarray
) -> None:
    result.sunk, deepest = _largest(below_ground(mechanism, clip, motion))
    result.sunk_frame = round(float(frames[deepest]))
    kept = kept_balance(mechanism, clip, motion)
    result.has_margin, result.flight, result.flight_frame, result.tipping = kept is not None, 0, 0, 0.0
    if kept is None:
        return
    result.margin, result.margin_frame = kept.margin, round(float(frames[kept.sample]))
    result.tipping = 1.0 - kept.share_inside
    result.flight = int(kept.aloft.sum())
    if result.flight:
        result.flight_frame = round(float(frames[int(kept.aloft.argmax())]))


def _store_hold(result: PropertyGroup, hold: Hold | None, frames: np.ndarray) -> None:
    lost = () if hold is None else hold.lost
    result.hold, result.hold_lost = "" if hold is None else hold.words(lambda k: f"{frames[k]:g}"), len(lost)
    if hold is not None and lost:
        result.hold_frame = round(float(frames[hold.frame if hold.below else lost[0]]))


def _store_quality(result: PropertyGroup, quality: Quality, frames: np.ndarray) -> None:
    result.has_contacts = quality.slide_mm_s is not None
    result.slide, result.contact_off = quality.slide_mm_s or 0.0, 1e-3 * (quality.contact_off_mm or 0.0)
    result.contact_frame = round(float(frames[quality.contact_sample or 0]))
    result.limbs = ", ".join(f"{part} {angle:.1f}°" for part, angle in quality.directions_deg.items())


def _store_moved(result: PropertyGroup, clip: TargetClip, frames: np.ndarray) -> None:
    """Store which footholds were out of reach, at the frame where the furthest of them begins."""
    result.moved, result.moved_why = len(clip.moved), ". ".join(map(str, clip.moved))
    if clip.moved:
        furthest = max(clip.moved, key=lambda item: item.moved)
        result.moved_most = furthest.moved
        result.moved_frame = round(float(frames[np.searchsorted(clip.times, furthest.start)]))


def _store_targets(rows: PropertyGroup, report: Report, frames: np.ndarray) -> None:
    rows.clear()
    for k, name in enumerate(report.targets):
        added = rows.add()
        added.name = name
        distance, where = _largest(report.position_error[:, k])
        angle, turned = _largest(report.orientation_error[:, k])
        added.position_error, added.orientation_error = distance, angle
        added.position_mean, added.orientation_mean = (
            _mean(report.position_error[:, k]),
            _mean(report.orientation_error[:, k]),
        )
        added.frame = round(float(frames[where if distance > 0 else turned]))


def _store_asked(rows: PropertyGroup, report: Report, frames: np.ndarray) -> None:
    """Add a row for each error of what is asked for beside poses of frames."""
    for error in report.objectives:
        added = rows.add()
        largest, where = _largest(error.values)
        added.name, added.frame, added.is_angle = error.key, round(float(frames[where])), error.unit == "rad"
        if added.is_angle:
            added.orientation_error, added.orientation_mean = largest, _mean(error.values)
        else:
            added.position_error, added.position_mean = largest, _mean(error.values)


def _store_actuators(
    rows: PropertyGroup, mechanism: Mechanism, motion: Motion, report: Report, frames: np.ndarray
) -> None:
    rows.clear()
    for k, name in enumerate(motion.actuators):
        added = rows.add()
        added.name, added.unit = name, mechanism.actuator_units[k]
        speed, where = _largest(np.abs(report.velocity[:, k]))
        added.peak_velocity, added.frame = speed, round(float(frames[where]))
        added.velocity_limit = report.velocity_limit[k] if np.isfinite(report.velocity_limit[k]) else 0.0
        lower, upper = mechanism.actuator_limits[k].tolist()
        added.has_limits = isfinite(lower) or isfinite(upper)
        if added.has_limits:
            room = np.minimum(motion.values[:, k] - lower, upper - motion.values[:, k])
            nearest = int(np.argmin(room))
            added.room, added.room_frame = float(room[nearest]), round(float(frames[nearest]))
            added.used = used_range(float(motion.values[nearest, k]), lower, upper)


def used_range(value: float, lower: float, upper: float) -> float:
    """Return how far a value is from the middle of its range: 0 there, 1 at a limit, more beyond.

    0 where a side is open.
    """
    if not (isfinite(lower) and isfinite(upper)):
        return 0.0
    half = 0.5 * (upper - lower)
    return abs(value - lower - half) / half if half > 0 else inf


def _store_short(result: PropertyGroup, motion: Motion, report: Report, frames: np.ndarray) -> None:
    """One row for each run of samples that fall short, at the worst of them."""
    why = dict(report.short)
    result.missed, result.too_fast, result.jumps = len(why), len(report.too_fast), len(report.jumping)
    result.nearly = len(report.nearly)
    result.acceleration = float(np.abs(report.acceleration).max(initial=0.0))
    result.jerk = float(np.abs(report.jerk).max(initial=0.0))
    for k in report.too_fast.tolist():
        fast = [
            n
            for n, v, limit in zip(motion.actuators, report.velocity[k], report.velocity_limit, strict=True)
            if abs(v) > limit
        ]
        why[k] = "; ".join(filter(None, (why.get(k, ""), f"too fast: {', '.join(fast)}")))
    badness = _badness(report)
    result.worst = why.get(int(badness.argmax()), "").split("; ")[0]
    result.short.clear()
    for first, stop in runs(np.isin(np.arange(len(frames)), list(why))):
        worst = first + int(np.argmax(badness[first:stop]))
        added = result.short.add()
        added.name = why[worst]
        added.frame, added.first, added.last = (round(float(frames[k])) for k in (worst, first, stop - 1))


def _badness(report: Report) -> np.ndarray:
    """Return how far each sample falls short (T,), in what would just be good enough."""
    speed = np.abs(report.velocity) / report.velocity_limit
    return np.maximum(report.missed, np.where(speed > 1.0, speed, 0.0).max(axis=1, initial=0.0))


def _largest(values: np.ndarray) -> tuple[float, int]:
    """Return the largest value and its index; 0 at the first where there is none."""
    if not np.isfinite(values).any():
        return 0.0, 0
    where = int(np.nanargmax(values))
    return float(values[where]), where


def _mean(values: np.ndarray) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else 0.0


def status(result: PropertyGroup) -> str:
    """Return one line about a robot's last bake."""
    if not result.frames:
        kept = result.id_data.robik.robot.bakes
        none = "no bake moves the robot now; choose one under Bake > Bakes" if kept else "no bake yet"
        return sentence(none)
    beside = list(_beside(result))
    return "; ".join([_met(result, is_good=not beside), *beside])


def verdict(result: PropertyGroup) -> str:
    """Return how many samples of a robot's last bake meet their targets, with which `status` begins."""
    return status(result).partition("; ")[0]


def _met(result: PropertyGroup, is_good: bool) -> str:
    """Return how many samples meet their targets, and by how much the others miss them."""
    count, met = result.frames, result.frames - result.missed
    if not result.missed:
        return sentence(
            "good: all {count} samples meet their targets" if is_good else "all {count} samples meet their targets",
            count=count,
        )
    if result.nearly == result.missed and met:  # nothing that an animator would call missed
        told = sentence("all {count} samples nearly meet their targets, {met} of them exactly", count=count, met=met)
    elif result.nearly == result.missed:
        told = sentence("all {count} samples nearly meet their targets", count=count)
    elif result.nearly:
        pattern = "{met} of {count} samples meet their targets, {nearly} more nearly"
        told = sentence(pattern, met=met, count=count, nearly=result.nearly)
    else:
        told = sentence("{met} of {count} samples meet their targets", met=met, count=count)
    told += "; " + sentence("{distance} off on average", distance=millimetres(result.mean_distance))
    return told + ("; " + sentence("at worst {miss}", miss=result.worst) if result.worst else "")


def _beside(result: PropertyGroup) -> Iterator[str]:
    """Yield what is wrong beside targets that are missed."""
    if result.too_fast:
        yield sentence("{count} are too fast for a motor", count=result.too_fast)
    if result.jumps:
        yield sentence("a motor jumps in {count} samples", count=result.jumps)
    if result.hold:
        yield sentence("the motors lose hold of the robot in {count} samples", count=result.hold_lost)
    if result.beyond:
        yield sentence("cannot be kept: {what}", what=result.beyond)
    if result.sunk > result.met:
        told = "a foot goes {depth} into the ground at frame {frame}"
        yield sentence(told, depth=millimetres(result.sunk), frame=result.sunk_frame)
    if result.contact_off > result.met:
        told = "a contact is {distance} off at frame {frame}"
        yield sentence(told, distance=millimetres(result.contact_off), frame=result.contact_frame)
