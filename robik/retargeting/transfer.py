"""Transfer of a motion between two models of one robot: a serial one, and one with the linkages that drive it.

Coordinates that both models name, or that a table pairs, are made equal: the first model's forward kinematics gives
those of its joints without a motor too, the second model is driven by them instead of by its own motors, its loops are
closed, and its motors' values are read off. So ankle pitch and roll become the angles of two motors, and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ClipError, FormatError
from ..files import read_json
from ..mechanism import Mechanism
from ..mechanism.topology import build_topology
from ..motions import BaseTrack, Motion, values_for
from ..motions.curves import rates_of
from ..report.shortfall import unassembled
from .transmission import Arrived, Base, Way, coordinates_of, paired_by_place, transmitted

BEYOND = 1e-6  # [rad or m]: a limit that is passed by less is kept


@dataclass(frozen=True, kw_only=True)
class Transferred:
    """A motion on another model of its robot.

    Attributes:
        motion: the second model's, with the coordinates of its joints without a motor.
        drivers: coordinates of the second model that were given.
        residual: (T,) closure of its loops [m].
        speeds: (T, A) of its motors, by the curves through the samples [rad/s or m/s].
        torques: (T, A) of its motors, where those of the first model were given [N m or N].
        notes: one sentence each on what does not fit: limits, speeds, torques, frames that cannot be assembled; and on
            coordinates that were paired by their place.
    """

    motion: Motion
    drivers: tuple[str, ...]
    residual: np.ndarray
    speeds: np.ndarray
    torques: np.ndarray | None
    notes: tuple[str, ...]


def transfer(
    source: Mechanism,
    target: Mechanism,
    motion: Motion,
    table: Mapping[str, str] | None = None,
    torques: np.ndarray | None = None,
) -> Transferred:
    """Return a motion of one model of a robot as that of another, within the limits of both, with its report.

    `table` gives, by the source's coordinate or floating body, the name in the target where it differs; a minus turns
    the sign round. Coordinates that neither a name nor the table pairs are paired where their axes lie in the same
    place in the rest pose. `torques` (T, A) are of the source's motors [N m or N].

    Raise ClipError for an unknown name, motors of the target without a value, or torques of another shape.
    """
    table = dict(table or {})
    _check(source, target, table)
    by_place = paired_by_place(source, target, table)
    way = Way(source, target, table | by_place)
    values, base = values_for(source, motion, "the motion"), _base(source, motion)
    values, told_here = _kept(source, motion.times, values)
    found = way.along(values, base)
    own, told_there = _kept(target, motion.times, found.values)
    if own is not found.values:
        found = way.driven_by_own_motors(own, found.base)
    notes = [f"{name} is {other} by its place" for name, other in by_place.items()]
    notes += [unassembled(target, found.residual), *told_here, *told_there]
    there = None
    if torques is not None:
        torques = _checked_torques(source, motion, torques)
        there = transmitted(way, values, found, torques)
        notes += [*_too_strong(source, torques), *_too_strong(target, there)]
    made = _motion(target, motion.times, own, found)
    return Transferred(
        motion=made,
        drivers=way.drivers,
        residual=found.residual,
        speeds=rates_of(made).values,
        torques=there,
        notes=tuple(filter(None, notes)),
    )


def _motion(target: Mechanism, times: np.ndarray, values: np.ndarray, found: Arrived) -> Motion:
    root, base = build_topology(target).root, None
    if found.base is not None and root is not None:
        base = BaseTrack(body=root, position=found.base[0], quaternion=found.base[1])
    return Motion(times=times, actuators=target.actuators, values=values, base=base, passive=found.passive)


def load_table(path: str | Path) -> dict[str, str]:
    """Read a table of names: `{"left_ankle_pitch": "free_foot1_left", "left_knee": "-motor_knee_left"}`.

    Keys are names in this robot, values in the other; a minus turns the sign. A ClipError names the file and its fault.
    """
    try:
        data: Any = read_json(path)
    except FormatError as error:
        raise ClipError(str(error)) from None
    if not isinstance(data, dict) or not all(isinstance(name, str) for name in data.values()):
        raise ClipError(f"{path}: a table is an object that gives each coordinate's name in the other robot")
    return data


def _check(source: Mechanism, target: Mechanism, table: Mapping[str, str]) -> None:
    """Check that no ball has a motor, and that what a table names is there. Raises ClipError."""
    for robot, names in ((source, table), (target, (name.removeprefix("-") for name in table.values()))):
        if ball := next((joint.name for joint in robot.actuated if joint.is_ball), None):
            raise ClipError(
                f"robot {robot.name!r}: its ball {ball!r} has a motor; motions of such balls are not transferred"
            )
        known = {*coordinates_of(robot), *(body.name for body in robot.bodies)}
        if unknown := [name for name in names if name not in known]:
            raise ClipError(
                f"robot {robot.name!r} has no coordinate {unknown[0]!r}; it has {', '.join(coordinates_of(robot))}"
            )


def _base(robot: Mechanism, motion: Motion) -> Base | None:
    base, root = motion.base, build_topology(robot).root
    if base is None or root is None:
        return None
    if base.body not in ("", root):
        raise ClipError(f"the motion has the base {base.body!r}, but robot {robot.name!r} floats by its body {root!r}")
    return base.position, base.quaternion


def _checked_torques(source: Mechanism, motion: Motion, torques: np.ndarray) -> np.ndarray:
    """Return torques as an array (T, A). Raises ClipError."""
    torques = np.asarray(torques, dtype=float)
    wanted = len(motion.times), len(source.actuators)
    if torques.shape != wanted or not np.isfinite(torques).all():
        raise ClipError(f"torques must be finite numbers of the shape {wanted}, not {torques.shape}")
    return torques


def _kept(robot: Mechanism, times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return values (T, A) within a robot's limits, the given ones where they are, and what went beyond, in words."""
    inside = np.clip(values, *robot.actuator_limits.T)
    is_beyond = np.abs(inside - values).max(initial=0.0) > BEYOND
    return (inside if is_beyond else values), _beyond(robot, times, values)


def _too_strong(robot: Mechanism, torques: np.ndarray) -> list[str]:
    """Return which motors would have to be stronger, in words."""
    notes, at = [], 0
    for joint in robot.actuated:
        for name, unit in zip(joint.coordinate_names, joint.coordinate_units, strict=True):
            most, at = float(np.abs(torques[:, at]).max(initial=0.0)), at + 1
            if most > joint.effort_limit * (1 + BEYOND):
                unit = "N m" if unit == "rad" else "N"
                notes.append(f"{robot.name}: {name} needs {most:.3g} {unit} where {joint.effort_limit:.3g} is its most")
    return notes


def _beyond(robot: Mechanism, times: np.ndarray, values: np.ndarray) -> list[str]:
    """Return what goes beyond limits and speeds, in words."""
    notes = []
    speeds = (
        np.abs(np.diff(values, axis=0) / np.diff(times)[:, None]).max(axis=0, initial=0.0) if len(times) > 1 else None
    )
    rows = [(name, limits, joint, unit) for joint in robot.actuated for name, limits, unit in
            zip(joint.coordinate_names, joint.limits, joint.coordinate_units, strict=True)]  # fmt: skip
    for k, (name, (low, high), joint, unit) in enumerate(rows):
        over = max(float(low - values[:, k].min()), float(values[:, k].max() - high))
        if over > BEYOND:
            notes.append(f"{robot.name}: {name} goes {over:.3g} {unit} beyond its limits, and is kept at them")
        if speeds is not None and speeds[k] > joint.velocity_limit * (1 + BEYOND):
            notes.append(
                f"{robot.name}: {name} turns at {speeds[k]:.3g} {unit}/s where {joint.velocity_limit:.3g} is its most"
            )
    return notes
