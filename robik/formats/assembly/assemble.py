"""A robot assembled: its loops closed, its rounded numbers straightened, its motors chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ...budget import current
from ...mechanism import Joint, Mechanism, Pose
from ...mechanism.joints import TURNS
from ...mechanism.parts import ball_angles
from ...mechanism.topology import CLOSED
from ..imported import Imported, Notes, listed
from .closing import check_lengths, closed
from .motor_choice import chosen_motors
from .open_joint import joint_values
from .open_pose import gap_of
from .open_robot import OpenRobot
from .rounding import looped_axes, straightened

TILTED = 1e-9  # rad: axes off by more could be taken for a loop that locks
WIDENED = "its limits keep the robot from being assembled, so they were widened to hold the rest pose"
AXIS_ALONE = ("fixed", "revolute", "prismatic", "cylindrical")  # types whose second axis does not matter


def assemble(robot: OpenRobot, notes: Notes, report: Notes) -> Imported:
    """Return the robot with its loops closed, as near to its stored pose as possible.

    An AssemblyError names a loop that stays open, with its gap in millimetres and degrees.
    """
    check_lengths(robot)
    with current().limited(current().seconds):
        q = closed(robot, notes)
    now = robot.placed(q)
    gap = max((gap_of(robot, joint, now)[0] for joint in robot.closers), default=0.0)
    if robot.closers:
        names = [name for name, _ in sorted(robot.coordinates.items(), key=lambda item: item[1])]
        moved = np.abs(q - robot.stored)
        far = (
            f"; {names[int(moved.argmax())]} moved most, by {moved.max():.3g}" if moved.max(initial=0.0) > 1e-9 else ""
        )
        count = "one loop" if len(robot.closers) == 1 else f"{len(robot.closers)} loops"
        report.add(f"{count} closed to {gap:.1e} m in the pose found nearest to the stored one{far}")
    axes, off = looped_axes(robot, q)
    is_open = float(np.abs(robot.closure(q)[0]).max(initial=0.0)) > CLOSED
    if is_open or off > TILTED:
        how = (
            f"the loops close to {gap:.1e} m only"
            if is_open
            else f"axes in its loops are parallel up to {off:.1e} rad only"
        )
        notes.add(f"the file's numbers are rounded: {how}, which was taken up in their joints")
        robot = straightened(robot, q, axes)
    mechanism = _mechanism(robot, q, notes)
    if not mechanism.actuated and not robot.lacks_motors:
        chosen = chosen_motors(robot, q)
        joints = tuple(replace(j, actuated=j.name in chosen) for j in mechanism.joints)
        mechanism = mechanism.with_changes(joints=joints)
        decided = (
            "the file names no motors, so every joint with one motion, and every universal joint, that no other joint"
            " decides has one"
        )
        report.add(f"{decided}: {listed(chosen) or 'none'}")
    return Imported(mechanism, notes.sentences, report.sentences)


def _mechanism(robot: OpenRobot, q: np.ndarray, notes: Notes) -> Mechanism:
    """Return the robot as it stands at q."""
    now = robot.placed(q)
    poses = {name: Pose.of(now.R[i], now.p[i]) for name, i in robot.order.items()}
    closers = set(map(id, robot.closers))
    joints = []
    for joint in robot.joints:
        Ra, pa, Rb, pb = robot.joint_frames(joint, now)
        if id(joint) in closers:
            rest = joint_values(joint, Ra.T @ Rb, Ra.T @ (pb - pa))
        else:
            at = robot.at[joint.name]
            rest = tuple(q[at : at + len(joint.motions)].tolist())
        limits = (
            tuple((min(lo, v), max(hi, v)) for (lo, hi), v in zip(joint.limits, rest, strict=True))
            if joint.limits
            else ()
        )
        tilt, turn = ball_angles(rest) if set(TURNS) == set(joint.motions) else (0.0, 0.0)
        cone, turn_limit = max(joint.cone, tilt), max(joint.turn_limit, turn)
        if _is_wider([(joint.cone, joint.turn_limit), *joint.limits], [(cone, turn_limit), *limits]):
            notes.add(WIDENED, joint.name)
        joints.append(
            Joint(
                joint.name, joint.type, joint.parent, joint.child, position=tuple(pb), axis=tuple(Rb[:, 0]),
                axis2=None if joint.type in AXIS_ALONE else tuple(Rb[:, 1]),
                actuated=joint.actuated, limits=limits,
                velocity_limit=joint.velocity_limit, effort_limit=joint.effort_limit, gain=joint.gain,
                rest=rest, motions=joint.free, cone=cone, turn_limit=turn_limit, resistance=joint.resistance,
            )
        )  # fmt: skip
    bodies = tuple(replace(body, pose=poses[body.name]) for body in robot.bodies)
    return Mechanism(robot.name, bodies, tuple(joints), frames=robot.frames, couplings=robot.couplings)


def _is_wider(before: Iterable[tuple[float, float]], after: Iterable[tuple[float, float]]) -> bool:
    """Return whether any limits have changed by more than rounding."""
    pairs = zip(before, after, strict=True)
    return any(a != b and abs(a - b) > 1e-9 for old, new in pairs for a, b in zip(old, new, strict=True))
