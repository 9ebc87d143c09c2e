"""What a bake achieved, kept with the robot for the Result panel."""

from __future__ import annotations

import numpy as np
from bpy.types import PropertyGroup

from robik.mechanism import Mechanism
from robik.retarget.clip import TargetClip
from robik.retarget.motion import Motion, Report
from robik.retarget.support import margins


def store_result(result: PropertyGroup, mechanism: Mechanism, clip: TargetClip, motion: Motion, frames: np.ndarray, seconds: float) -> None:
    """Replaces a robot's last result by that of a solved motion.

    Args:
        result: of the robot.
        mechanism: for the motors' limits.
        clip: that was followed; where it knows the feet's contacts there is a margin of balance.
        motion: with its report.
        frames: (T,) of the scene, one per sample of the motion.
        seconds: how long the bake took.
    """
    report = motion.report
    assert report is not None  # a solved motion has one
    result.frames, result.seconds = len(frames), seconds
    result.start, result.step = float(frames[0]), float(frames[1] - frames[0]) if len(frames) > 1 else 1.0
    result.milliseconds = float(np.median(report.milliseconds))
    result.residual = float(report.residual.max())
    result.com_error = _largest(report.com_error)[0]
    _store_targets(result.targets, report, frames)
    _store_actuators(result.actuators, mechanism, motion, report, frames)
    _store_margin(result, mechanism, clip, motion, frames)
    result.short.clear()
    for index, why in report.short:
        added = result.short.add()
        added.frame, added.name = round(float(frames[index])), why


def _store_margin(result: PropertyGroup, mechanism: Mechanism, clip: TargetClip, motion: Motion, frames: np.ndarray) -> None:
    contacts = {name: track.contact for name, track in clip.tracks.items() if track.contact is not None}
    inside = margins(mechanism, motion, contacts) if contacts else np.full(len(frames), np.nan)
    result.has_margin = bool(np.isfinite(inside).any())
    if result.has_margin:
        least = int(np.nanargmin(inside))
        result.margin, result.margin_frame = float(inside[least]), round(float(frames[least]))


def _store_targets(rows: PropertyGroup, report: Report, frames: np.ndarray) -> None:
    rows.clear()
    for k, name in enumerate(report.targets):
        added = rows.add()
        added.name = name
        distance, where = _largest(report.position_error[:, k])
        angle, turned = _largest(report.orientation_error[:, k])
        added.position_error, added.orientation_error = distance, angle
        added.frame = round(float(frames[where if distance > 0 else turned]))


def _store_actuators(rows: PropertyGroup, mechanism: Mechanism, motion: Motion, report: Report, frames: np.ndarray) -> None:
    limits = {n: j.velocity_limit for j in mechanism.actuated for n in j.coordinate_names}
    rows.clear()
    for k, name in enumerate(motion.actuators):
        added = rows.add()
        added.name = name
        speed, where = _largest(np.abs(report.velocity[:, k]))
        added.peak_velocity, added.frame = speed, round(float(frames[where]))
        added.velocity_limit = limits[name] if np.isfinite(limits[name]) else 0.0


def _largest(values: np.ndarray) -> tuple[float, int]:
    """The largest value and its index; 0 at the first where there is none."""
    if not np.isfinite(values).any():
        return 0.0, 0
    where = int(np.nanargmax(values))
    return float(values[where]), where


def status(result: PropertyGroup) -> str:
    """One line about a robot's last bake."""
    if not result.frames:
        return "no bake yet"
    met = result.frames - len({row.frame for row in result.short})
    if met == result.frames:
        return f"good: all {result.frames} samples meet their targets"
    worst = max([result.com_error, *(row.position_error for row in result.targets)])
    return f"{met} of {result.frames} samples meet their targets, the others come within {1e3 * worst:.1f} mm"
