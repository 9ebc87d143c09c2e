"""Report of a motion: what its values and its bodies are worth against a clip.

A motion that a solver has just made is judged so, and one whose curves were edited since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..clip_solver.bounds import differences
from ..clips.clip import TargetClip
from ..kinematics.actuation import speeds
from ..kinematics.forward import body_poses
from ..kinematics.frames import robot_com
from ..kinematics.straightening import straightened
from ..mechanism.model import Mechanism
from ..motions import Motion, Report
from ..motions.report import ObjectiveError
from ..objectives.settings import Settings
from .distances import ClipErrors, ObjectiveErrors, distances, objective_errors
from .misses import misses
from .motor_hold import hold_along
from .quality import QualityFigures
from .shortfall import open_beyond

JUMP_SPEED = 24.0  # rad/s, or the robot's extents in a second: 0.2 rad in 1/120 s
ON_LIMIT = 1e-6  # rad or m, as single precision keeps it

Reasons = Callable[[int, list[str]], str]  # what is said of a sample: its index, and what it misses in words


def judged(
    mechanism: Mechanism,
    clip: TargetClip,
    settings: Settings,
    motion: Motion,
    base: tuple[np.ndarray, np.ndarray] | None,
) -> Motion:
    """Return a motion with the poses of its bodies and a report, whoever made it.

    The clip has a target for each sample. `base` has positions (T, 3) [m] and quaternions (T, 4) wxyz; None for a robot
    on the ground. The report has no iterations and no times, since nothing was solved.
    """
    position, quaternion, residual = body_poses(mechanism, motion.values, base)
    com = robot_com(mechanism, position, quaternion)
    contacts = QualityFigures(mechanism, clip)
    contacts.add(slice(0, len(motion.values)), position, quaternion)
    off = distances(mechanism, clip, settings, position, quaternion, com)
    asked = objective_errors(mechanism, clip, settings, position, quaternion)
    opened = residual > open_beyond(mechanism)
    still = {name for name, (low, high) in settings.ranges.items() if low == high}

    def why(k: int, found: list[str]) -> str:
        if found and (at_limit := [name for name in _at_limit(mechanism, motion.values[k]) if name not in still]):
            found.append(f"at its limit: {', '.join(at_limit)}")
        return "; ".join([*found, "the loops do not close"] if opened[k] else found)

    report = make_report(
        mechanism, clip, settings, motion.values, off, asked, contacts, why, np.flatnonzero(opened).tolist()
    )
    names = tuple(body.name for body in mechanism.bodies)
    found = replace(motion, passive=None, bodies=names, position=position, quaternion=quaternion, com=com)
    on_demand: dict[str, Any] = {"hold": lambda: hold_along(mechanism, motion.values)}
    return replace(found, report=replace(report, residual=residual, **on_demand))


def make_report(
    mechanism: Mechanism,
    clip: TargetClip,
    settings: Settings,
    values: np.ndarray,
    off: ClipErrors,
    asked: ObjectiveErrors,
    contacts: QualityFigures,
    why: Reasons,
    also: Iterable[int] = (),
) -> Report:
    """Return the report of actuator values (T, A) and errors, without what only a solver knows.

    `off` are errors of frames and of the centre of mass, `asked` of the clip's other objectives. `why` words the
    reasons of a sample that falls short; `also` are samples that fall short for another reason than a target.
    """
    missed = misses(mechanism, clip, settings, off, asked.errors)
    late = contacts.late() if settings.contacts == "hold" else {}
    short = sorted({*np.flatnonzero(missed.worst > 1.0).tolist(), *also, *late})
    velocity, acceleration, jerk = rates(mechanism, values, clip.times)
    nothing = np.zeros(len(values))
    return Report(
        targets=tuple(clip.tracks),
        position_error=off.position,
        orientation_error=off.orientation,
        com_error=off.com,
        residual=nothing,
        iterations=nothing.astype(np.int64),
        velocity=velocity,
        acceleration=acceleration,
        jerk=jerk,
        jump_speed=_jump_speed(mechanism),
        velocity_limit=mechanism.actuator_velocity_limits,
        milliseconds=nothing,
        missed=missed.worst,
        short=tuple((k, why(k, late.get(k, []) + missed.words(k))) for k in short),
        objectives=tuple(
            ObjectiveError(key=key, unit=error.unit, values=error.values) for key, error in zip(*asked, strict=True)
        ),
        quality=contacts.quality(values, jerk),
        rounding=straightened(mechanism).rounding,
        moved=clip.moved,
    )


def rates(mechanism: Mechanism, values: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return velocities, accelerations and jerks (T, A) of actuators, as reports have them.

    They are 0 where a frame has none. Velocities are those of the step into the frame.
    """
    velocity, acceleration, jerk = (np.zeros_like(values) for _ in range(3))
    _, second, third = differences(times)
    velocity[1:] = speeds(mechanism, values, times)
    acceleration[1:-1] = second.of(values)  # one after the other: each takes as much memory as the motion
    jerk[2:-1] = third.of(values)
    return velocity, acceleration, jerk


def _jump_speed(mechanism: Mechanism) -> np.ndarray:
    """Return the speed of each actuator above which a step is called a jump (A,) [rad/s or m/s]."""
    return np.array([JUMP_SPEED * (mechanism.extent if unit == "m" else 1.0) for unit in mechanism.actuator_units])


def _at_limit(mechanism: Mechanism, values: np.ndarray) -> list[str]:
    """Return the actuators whose values (A,) are on a limit."""
    lower, upper = mechanism.actuator_limits.T
    on = (values <= lower + ON_LIMIT) | (values >= upper - ON_LIMIT)
    return [name for name, is_on in zip(mechanism.actuators, on, strict=True) if is_on]
