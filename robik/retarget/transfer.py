"""Transfer of a motion between two models of one robot: a serial one, and one with the linkages that drive it.

Coordinates that both models name, or that a table pairs, are made equal: the first model's forward kinematics gives
those of its joints without a motor too, the second model is driven by them instead of by its own motors, its loops are
closed, and its motors' values are read off. So ankle pitch and roll become the angles of two motors, and back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import null_space

from ..errors import ClipError, FormatError
from ..files import read_json
from ..kinematics.assembly import assembled_poses
from ..kinematics.forward import ForwardKinematics, body_poses
from ..kinematics.kernels import close, closure_jacobian, forward_kinematics
from ..mechanism import Joint, Mechanism
from ..mechanism.topology import build_topology
from ..motions import BaseTrack, Motion, values_for
from ..motions.layout import joint_coordinates
from .shortfall import unassembled

RANK = 1e-7  # of the largest singular value: a smaller one counts as none
BEYOND = 1e-6  # [rad or m]: a limit that is passed by less is kept


@dataclass(frozen=True, kw_only=True)
class Transferred:
    """A motion on another model of its robot.

    Attributes:
        motion: the second model's, with the coordinates of its joints without a motor.
        drivers: coordinates of the second model that were given.
        residual: (T,) closure of its loops [m].
        notes: one sentence each on what does not fit: limits, speeds, frames that cannot be assembled.
    """

    motion: Motion
    drivers: tuple[str, ...]
    residual: np.ndarray
    notes: tuple[str, ...]


def transfer(
    source: Mechanism, target: Mechanism, motion: Motion, table: Mapping[str, str] | None = None
) -> Transferred:
    """Bring a motion from one model of a robot to another.

    Args:
        source: The model that the motion was made for.
        target: The other one.
        motion: Has a column per actuator of the source.
        table: Coordinate of the source → coordinate of the target, where names differ; a minus before the target's name
            turns the sign round. A body that floats is named in it as well.

    Returns:
        The motion of the other model, with its report.

    Raises:
        ClipError: A name that is not there, or motors of the target of which the source says nothing.
    """
    table = dict(table or {})
    _check(source, target, table)
    values, base = values_for(source, motion, "the motion"), _base(source, motion)
    position, quaternion, _ = body_poses(source, values, base)
    given = _given(source, target, table, values, position, quaternion)
    placed = _placed(source, target, table, position, quaternion, base is not None)
    driven, drivers = _driven(target, given, set(source.actuators))
    columns = {name: given[name] for name in drivers}
    position, quaternion, residual = body_poses(driven, np.column_stack([*columns.values()]), placed)
    passive: dict[str, np.ndarray] = {}
    for joint in target.joints:
        if joint.motions and joint.type != "free":
            for name, column in zip(
                joint.coordinate_names, joint_coordinates(target, joint, position, quaternion).T, strict=True
            ):
                (columns if joint.actuated else passive).setdefault(name, column)
    root = build_topology(target).root
    made = Motion(
        times=motion.times,
        actuators=target.actuators,
        values=np.column_stack([columns[name] for name in target.actuators]),
        base=None if placed is None or root is None else BaseTrack(body=root, position=placed[0], quaternion=placed[1]),
        passive=passive,
    )
    told = (
        unassembled(target, residual),
        *_beyond(source, motion.times, values),
        *_beyond(target, made.times, made.values),
    )
    return Transferred(motion=made, drivers=tuple(drivers), residual=residual, notes=tuple(filter(None, told)))


def load_table(path: str | Path) -> dict[str, str]:
    """Read a table of names: `{"left_ankle_pitch": "free_foot1_left", "left_knee": "-motor_knee_left"}`.

    Args:
        path: The file.

    Returns:
        Name in the other robot by name in this one; a minus turns the sign.

    Raises:
        ClipError: Names the file and what is wrong.
    """
    try:
        data: Any = read_json(path)
    except FormatError as error:
        raise ClipError(str(error)) from None
    if not isinstance(data, dict) or not all(isinstance(name, str) for name in data.values()):
        raise ClipError(f"{path}: a table is an object that gives each coordinate's name in the other robot")
    return data


def _check(source: Mechanism, target: Mechanism, table: Mapping[str, str]) -> None:
    """Check that what a table names is there. Raises ClipError."""
    for robot, names in ((source, table), (target, (name.removeprefix("-") for name in table.values()))):
        known = {*_coordinates(robot), *(body.name for body in robot.bodies)}
        if unknown := [name for name in names if name not in known]:
            raise ClipError(
                f"robot {robot.name!r} has no coordinate {unknown[0]!r}; it has {', '.join(_coordinates(robot))}"
            )


def _coordinates(robot: Mechanism) -> list[str]:
    return [name for joint in robot.joints if joint.type != "free" for name in joint.coordinate_names]


def _base(robot: Mechanism, motion: Motion) -> tuple[np.ndarray, np.ndarray] | None:
    base, root = motion.base, build_topology(robot).root
    if base is None or root is None:
        return None
    if base.body not in ("", root):
        raise ClipError(f"the motion has the base {base.body!r}, but robot {robot.name!r} floats by its body {root!r}")
    return base.position, base.quaternion


def _given(
    source: Mechanism,
    target: Mechanism,
    table: Mapping[str, str],
    values: np.ndarray,
    position: np.ndarray,
    quaternion: np.ndarray,
) -> dict[str, np.ndarray]:
    """Return what the source says of the target's coordinates (T,) each [rad or m], its motors first."""
    known = dict(zip(source.actuators, values.T, strict=True))
    wanted = {*_coordinates(target)}
    for joint in source.joints:
        named = {table.get(name, name).removeprefix("-") for name in joint.coordinate_names}
        if not joint.actuated and joint.motions and joint.type != "free" and not joint.is_ball and named & wanted:
            read = joint_coordinates(source, joint, position, quaternion)
            known |= dict(zip(joint.coordinate_names, read.T, strict=True))
    given: dict[str, np.ndarray] = {}
    for name, column in known.items():
        there = table.get(name, name)
        if there.removeprefix("-") in wanted:
            given[there.removeprefix("-")] = -column if there.startswith("-") else column
    return given


def _placed(
    source: Mechanism,
    target: Mechanism,
    table: Mapping[str, str],
    position: np.ndarray,
    quaternion: np.ndarray,
    is_known: bool,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return where the body is by which the target floats; None where it does not float, or that is not known."""
    root = build_topology(target).root
    if root is None or not (is_known or source.is_grounded):
        return None
    name = next((own for own, other in table.items() if other == root), root)
    if name not in source.body_index:
        raise ClipError(
            f"robot {target.name!r} floats by its body {root!r}, which robot {source.name!r} does not have; "
            "name it in the table"
        )
    k = source.body_index[name]
    return position[:, k], quaternion[:, k]


def _driven(target: Mechanism, given: Mapping[str, np.ndarray], known: set[str]) -> tuple[Mechanism, list[str]]:
    """Return the target driven by what is given, and by which of its coordinates: as many as it has freedoms.

    Its own motors come first, then what motors of the source drive, then what else is known.
    """
    joints = [joint for joint in target.joints if joint.motions and {*joint.coordinate_names} <= {*given}]
    joints.sort(key=lambda joint: (not joint.actuated, not {*joint.coordinate_names} <= known))
    chosen, freedoms = _independent(target, joints)
    if sum(len(joint.motions) for joint in chosen) < freedoms:
        missing = [name for name in target.actuators if name not in given]
        raise ClipError(
            f"of {freedoms} freedoms of robot {target.name!r} the motion says {sum(len(j.motions) for j in chosen)}; "
            f"nothing says where {', '.join(missing)} shall be: pair more names in the table"
        )
    names = {joint.name for joint in chosen}
    driven = target.with_changes(joints=tuple(replace(j, actuated=j.name in names) for j in target.joints))
    return driven, list(driven.actuators)


def _independent(robot: Mechanism, joints: Sequence[Joint]) -> tuple[list[Joint], int]:
    """Return the first ones of some joints that can be set freely beside each other, and how many freedoms there are.

    The rows of a basis of all closed motions are compared: a joint is free beside others if its row does not follow.
    """
    forward = ForwardKinematics(robot)
    poses = assembled_poses(forward.flat, forward.topology.rest)
    next(poses)  # the rest pose may be a singular one
    _, placement = next(poses)
    forward_kinematics(forward.flat, placement)
    close(forward.flat, placement)
    motions = null_space(closure_jacobian(forward.flat, placement), RANK)
    base = 6 * (forward.root is not None)
    dofs, rows, chosen = forward.topology.dofs, np.zeros((0, motions.shape[1])), []
    for joint in joints:
        own = [dofs[name][0] for name in joint.coordinate_names if name in dofs]
        if len(own) == len(joint.motions):
            more = np.vstack([rows, motions[own]])
            if np.linalg.matrix_rank(more, RANK) == len(more):
                rows = more
                chosen.append(joint)
    return chosen, motions.shape[1] - base


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
            notes.append(f"{robot.name}: {name} goes {over:.3g} {unit} beyond its limits")
        if speeds is not None and speeds[k] > joint.velocity_limit * (1 + BEYOND):
            notes.append(
                f"{robot.name}: {name} turns at {speeds[k]:.3g} {unit}/s where {joint.velocity_limit:.3g} is its most"
            )
    return notes
