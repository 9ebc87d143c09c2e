"""Retargeting of a recording onto a robot: Auto-Map, Fit, balance and the solver, as a bake in Blender does it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time

from ..bake.bake import bake
from ..bake.progress import Progress
from ..bake.request import BakeRequest
from ..bake.settings import MOVING, STILL, BakeSettings, Balance, balance_by_name
from ..clips.clip import TargetClip
from ..collision.apart import Walls, walls_of
from ..errors import ClipError
from ..feet.sole_turns import ground_height
from ..feet.support import thin_feet
from ..kinematics.locked import warn_of_locked_motors
from ..mechanism import WORLD, Mechanism, Pose
from ..motions import Motion
from ..objectives.settings import Settings
from ..physics.servo_limits import chain_beside, with_servos
from ..retargeting.own_range import OwnRange
from ..robots import file_of
from ..robots import load as load_robot
from ..servo.chain.chain import ServoChain
from ..servo.chain.file import load_chain
from ..skeleton.anatomy import read_anatomy
from ..skeleton.feet import FEET, Shapes, missing_feet, on_feet
from ..skeleton.following import FEW, Following, character_clip, checked, fit_rows, glances
from ..skeleton.limb_ranges import untold_legs
from ..skeleton.mapping import Row, auto_map
from ..skeleton.mapping_file import load_rows
from ..skeleton.shapes import shapes_of
from ..skeleton.single import single
from ..skeleton.skeleton import SkeletonMotion
from ..surroundings.obstacle import Obstacle
from .recording import load_recording, part_of_time, without_first

LOG = logging.getLogger(__name__)
DEFAULT = BakeSettings()


@dataclass(frozen=True, kw_only=True, eq=False)
class Retargeted:
    """A recording on a robot.

    Attributes:
        mechanism: the robot, with the feet that were found on its meshes.
        rows: which bone each frame follows, as Auto-Map or the mapping says.
        following: what its frames follow.
        clip: what was followed.
        settings: of the solver.
        motion: what came out.
        request: for its bake.
    """

    mechanism: Mechanism
    rows: tuple[Row, ...]
    following: Following
    clip: TargetClip
    settings: Settings
    motion: Motion
    request: BakeRequest


def retarget_recording(
    robot: Mechanism | str | Path,
    recording: SkeletonMotion | str | Path,
    *,
    balance: str = "auto",
    pin_feet: bool = True,
    mapping: Sequence[Row] | str | Path | None = None,
    start: float | None = None,
    end: float | None = None,
    body_model: str | Path | None = None,
    robot_file: str | Path | None = None,
    obstacles: Sequence[Obstacle] = (),
    settings: BakeSettings = DEFAULT,
    servos: ServoChain | str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    own_range: OwnRange | None = None,
) -> Retargeted:
    """Follow a recording with a robot.

    Args:
        robot: A mechanism, a robot's file, or the name of one that comes with RobIK.
        recording: A character's motion, or a file of one (`load_recording`).
        balance: "off", or the pace of a centre of mass over the feet: "still", "moving", "auto"; by "auto" a robot of
            which no foot follows is not balanced.
        pin_feet: Whether standing feet are held flat and without sliding, where feet follow.
        mapping: Which bone each frame follows, as rows or as their file; found by names and shapes if left out.
        start: First time of the recording [s]; its own if left out.
        end: Last time of the recording [s]; its own if left out.
        body_model: An npz of the SMPL family, for recordings that are its poses.
        robot_file: That a mechanism was read from, for its meshes, on which feet are found.
        obstacles: What the robot must not go into, in its world; feet stand on the one called "ground".
        settings: Of the bake.
        servos: That move the robot, or their file; those beside the robot's file, if there are any, if left out. Their
            accelerations are kept, and balance leaves room for what they give way by.
        progress: Called with how far it is.
        own_range: Frames that are solved, by looking ahead, as a part of the whole motion; all others stay as a motion
            before has them. All frames if left out.

    Returns:
        The motion, with the robot that made it and the clip that it followed.

    Raises:
        RobikError: One sentence that says what is wrong, and what would be right.
    """
    mechanism, file = _robot(robot, robot_file)
    warn_of_locked_motors(mechanism)
    if file is None and (untold := _without_meshes(mechanism)):
        LOG.warning(untold)
    motion = recording if isinstance(recording, SkeletonMotion) else load_recording(recording, body_model)
    motion = part_of_time(motion, start, end)
    rows = load_rows(mapping) if isinstance(mapping, str | Path) else mapping
    return follow(
        mechanism,
        motion,
        shapes_of(mechanism, file),
        rows,
        balance_by_name(balance, pin_feet),
        settings,
        partial(walls_of, robot_file=file),
        chain=_chain(servos, file),
        progress=progress,
        obstacles=obstacles,
        own_range=own_range,
    )


def follow(
    mechanism: Mechanism,
    motion: SkeletonMotion,
    shapes: Shapes,
    rows: Iterable[Row] | None,
    balance: Balance,
    settings: BakeSettings = DEFAULT,
    walls: Callable[[Mechanism], Walls | None] | None = None,
    *,
    chain: ServoChain | None = None,
    progress: Callable[[Progress], None] | None = None,
    obstacles: Sequence[Obstacle] = (),
    own_range: OwnRange | None = None,
) -> Retargeted:
    """Follow a character with a robot: map it, fit it, bake it.

    Args:
        mechanism: The robot.
        motion: The character's; a pose to align by at its start is left out of what is solved.
        shapes: Of the robot's bodies, on which feet are found.
        rows: Which bone each frame follows; None for Auto-Map.
        balance: Balance, as Blender's panel has it.
        settings: Settings of the bake, as Blender's panel has them.
        walls: Returns what keeps the robot's bodies out of each other; left out, nothing does.
        chain: Servos that move the robot, where they are known.
        progress: Called with how far it is.
        obstacles: What the robot must not go into.
        own_range: Frames that are solved, while all others stay; all if left out.

    Returns:
        The motion, with the robot that made it and the clip that it followed.

    Raises:
        RobikError: One sentence that says what is wrong.
    """
    began = process_time()
    asked = [row for row in (proposed(mechanism, motion) if rows is None else told(rows, motion)) if row.bone]
    footed, mapped = on_feet(mechanism, checked(mechanism, motion, asked), shapes)
    balance, settings = with_servos(_kept(footed, mapped, balance), settings, footed, chain)
    following = fit_rows(footed, motion, mapped, standing_root(mechanism, footed, mapped))
    moving = without_first(motion, following.left_out)
    clip = replace(character_clip(moving, following.followers, following.placement), obstacles=tuple(obstacles))
    request = BakeRequest(
        mechanism=footed,
        clip=clip,
        weights=following.weights,
        balance=balance,
        settings=settings,
        walls=None if walls is None else partial(walls, footed),
        own_range=own_range,
    )
    if own_range is not None:
        own_range.check(footed, clip.times, request.solver)
    mapping = process_time() - began
    made = bake(request, progress)
    assert made.motion.report is not None
    seconds = {"mapping": mapping, **made.motion.report.seconds}
    return Retargeted(
        mechanism=footed, rows=tuple(asked), following=following, clip=made.followed, settings=request.solver,
        motion=made.motion.reported(seconds=seconds), request=request,
    )  # fmt: skip


def _kept(mechanism: Mechanism, rows: Sequence[Row], balance: Balance) -> Balance:
    """Return the balance that a robot can keep, and warn of feet and legs that make it hard.

    Raises:
        ClipError: A pace was asked for, and no foot follows.
    """
    if balance.mode in (STILL, MOVING) and (missing := missing_feet(mechanism, rows)):
        raise ClipError(missing)
    balance = balance.as_far_as(mechanism, (row.frame for row in rows))
    if balance.needs_contacts and (thin := thin_feet(mechanism, balance.margin)):
        LOG.warning("robot %r: %s", mechanism.name, thin)
    if untold := untold_legs(mechanism, [row.frame for row in rows]):
        LOG.warning("robot %r: %s", mechanism.name, untold)
    return balance


def proposed(mechanism: Mechanism, motion: SkeletonMotion) -> list[Row]:
    """Return the rows that names and shapes of robot and character propose.

    Args:
        mechanism: The robot.
        motion: The character's motion.

    Returns:
        A row per frame of the robot that has a bone to follow.
    """
    seen = motion.positions[glances(len(motion.times), FEW)]
    return auto_map(mechanism, motion.skeleton.names, read_anatomy(motion.skeleton, seen))


def told(rows: Iterable[Row], motion: SkeletonMotion) -> list[Row]:
    """Return rows with the parts of the body that their bones are, where the rows do not say them.

    Args:
        rows: Rows of a mapping.
        motion: The character's motion.

    Returns:
        The rows with parts and sides.
    """
    anatomy = read_anatomy(motion.skeleton, motion.positions[glances(len(motion.times), FEW)])
    parts = {row: anatomy.part(row.bone) for row in rows}
    return [row if row.part else replace(row, part=part, side=side) for row, (part, side) in parts.items()]


def standing_root(before: Mechanism, mechanism: Mechanism, rows: Iterable[Row]) -> Pose:
    """Return the pose in which a robot stands on the ground.

    One that floats without a place is lifted onto the floor when its feet are found, as Blender does it; the rest pose
    of one that was held, or far off, was raised onto it. One without soles stands with the lower one of what follows
    feet on the floor.

    Args:
        before: The robot as its file has it.
        mechanism: The robot with feet.
        rows: Which bone each frame follows.

    Returns:
        Pose of its root [m].
    """
    if mechanism is before or any(joint.parent == WORLD for joint in mechanism.joints):
        return Pose()
    has_feet = any(frame.is_foot for frame in mechanism.frames)
    if has_feet and mechanism.bodies[0].pose != before.bodies[0].pose:
        return Pose()
    ground = ground_height(mechanism)
    if not has_feet:
        ground = min(mechanism.rest_pose(row.frame).position[2] for row in rows if row.part in FEET)
    return Pose((0.0, 0.0, single(-ground)))


def _robot(robot: Mechanism | str | Path, file: str | Path | None) -> tuple[Mechanism, Path | None]:
    """Return a robot and its file."""
    if isinstance(robot, Mechanism):
        return robot, None if file is None else Path(file)
    return load_robot(robot), file_of(robot)


def _chain(servos: ServoChain | str | Path | None, robot_file: Path | None) -> ServoChain | None:
    """Return the servos that are given, else those beside the robot's file."""
    if servos is None:
        return chain_beside(robot_file)
    return servos if isinstance(servos, ServoChain) else load_chain(servos)


def _without_meshes(mechanism: Mechanism) -> str:
    """Return in a sentence that no feet are found on a robot whose file is not given; empty where none is missed."""
    is_shown = any(visual.shape == "mesh" for body in mechanism.bodies for visual in body.visuals)
    if any(frame.is_foot for frame in mechanism.frames) or not is_shown:
        return ""
    return (
        f"robot {mechanism.name!r} came without its file, so no feet are looked for on its meshes, and it is not "
        "balanced: give robot_file=…, or the file in place of the mechanism"
    )
