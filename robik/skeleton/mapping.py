"""Auto-Map: which bone each frame of a robot follows, and how much.

Frames that a file names come first; hips, chest, head, hands and feet that none of them stands for are followed by
bodies. Thighs and shins, upper arms and forearms are followed by their direction alone: a robot of other proportions
then bends as the character does, and not only reaches where it reaches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD, Frame
from . import names
from .anatomy import ARM, LEG, PARTS_OF, Anatomy
from .robot import robot_anatomy
from .robot_parts import RobotAnatomy, RobotLimb

ALL = (1.0, 1.0, 1.0)
NONE = (0.0, 0.0, 0.0)
WEIGHTS = {"spine": 0.3, "chest": 0.3, "neck": 0.1, "head": 0.1} | dict.fromkeys(
    names.ARMS, 0.1
)  # of a robot that stands
FOOT = 3.0  # of a foot's place: before hips and the limbs' directions, else a swinging foot leaves its track
SOLE = 0.005  # of a foot's direction: an ankle's limits shall cost neither its place nor the hips'
DIRECTION = {LEG: 0.2, ARM: 0.5}  # of a limb's parts, by their direction
POSITION, POSE = 3, 6  # values that a foot's place and its whole pose fix
TRUNK = ("hips", "spine", "chest")
INSTEAD = {"front foot": "hand", "hand": "front foot"}  # of a character that has not as many legs as the robot


@dataclass(frozen=True, kw_only=True)
class Row:
    """A frame of the robot with the bone that it follows.

    Attributes:
        frame: frame or body of the robot.
        bone: of the character; empty where there is none.
        part, side: of the body, as ("foot", "l"); empty where they are not known.
        weight: of the target.
        position_weight, orientation_weight: (3,) by axis.
    """

    frame: str
    bone: str
    part: str = ""
    side: str = ""
    weight: float = 1.0
    position_weight: tuple[float, float, float] = ALL
    orientation_weight: tuple[float, float, float] = ALL

    @property
    def is_direction(self) -> bool:
        """Return whether only the direction of a limb is followed."""
        return self.part in ("thigh", "shin", "upper arm", "forearm") and self.position_weight == NONE


def auto_map(mechanism: Mechanism, bones: Sequence[str], character: Anatomy) -> list[Row]:
    """Return a row for each frame of a robot with the bone that it should follow; named frames may be without one."""
    robot = robot_anatomy(mechanism)
    rows = _rows_of_frames(mechanism, robot, bones, character)
    told = {"hips", "foot"} <= {row.part for row in rows if row.bone}  # the file says by what it is to be led
    rows += _rows_of_bodies(mechanism, robot, character, rows)
    rows += _rows_by_names(mechanism, robot, bones, character, rows)
    stands = any(row.part == "foot" and row.bone for row in rows)
    if robot.is_upper_body:
        rows = [row for row in rows if not _stands_still(mechanism, robot, row.frame)]
    rows = [_weighed(mechanism, robot, row, stands) for row in rows]
    led = stands or (robot.is_upper_body and any(row.part == "hand" and row.bone for row in rows))
    return rows + (list(_directions(mechanism, robot, character, rows, told)) if led else [])


def _stands_still(mechanism: Mechanism, robot: RobotAnatomy, frame: str) -> bool:
    """Return whether a frame is on what is bolted to the ground, which can follow nothing."""
    held = {robot.rigid.get(joint.child) for joint in mechanism.joints if joint.parent == WORLD and not joint.motions}
    return robot.rigid.get(mechanism.frame(frame).body) in held


def _rows_of_frames(mechanism: Mechanism, robot: RobotAnatomy, bones: Sequence[str], character: Anatomy) -> list[Row]:
    """Return rows of the frames that the robot's file names, in its order."""
    parts = {frame.name: _part_of_frame(robot, frame) for frame in mechanism.frames}
    soles = {frame.name for frame in mechanism.frames if frame.is_foot}
    first = sorted(
        parts, key=lambda frame: frame not in soles
    )  # of two that are called a foot, the one that it stands on
    hips = next((frame for frame in first if parts[frame][0] == "hips"), "")
    by_name = names.auto_map(first, bones, hips)
    found, taken = {}, set()
    for frame in first:
        bone = by_name.get(frame, "")
        if bone.lower() != frame.lower():
            bone = _bone_of(character, *parts[frame]) or ("" if parts[frame] in character.parts else bone)
        if parts[frame][0] and parts[frame] in taken:
            bone = ""
        found[frame] = Row(frame=frame, bone=bone, part=parts[frame][0], side=parts[frame][1])
        taken |= {parts[frame]} if bone else set()
    return [found[frame.name] for frame in mechanism.frames]


def _part_of_frame(robot: RobotAnatomy, frame: Frame) -> tuple[str, str]:
    """Return part and side that a frame stands for.

    What it stands on is its leg's foot, a torso is the chest where it carries the arms.
    """
    part, side = names.part_of(frame.name)
    if (
        frame.is_foot
        and (limb := next((limb for limb in robot.limbs if _ends_in(robot, limb, frame.body)), None)) is not None
    ):
        return PARTS_OF[limb.kind][2], limb.side
    if part in TRUNK:
        for named, carried in (("hips", robot.hips), ("chest", robot.chest)):
            if carried and robot.rigid.get(frame.body) == carried:
                return named, ""
    return part, side


def _bone_of(character: Anatomy, part: str, side: str) -> str:
    """Return the bone of a part; for a hand, where there is only the other side's, none."""
    return character.parts.get((part, side)) or character.parts.get((INSTEAD.get(part, ""), side), "")


def _rows_of_bodies(mechanism: Mechanism, robot: RobotAnatomy, character: Anatomy, rows: list[Row]) -> list[Row]:
    """Return rows of hips, chest, head, hands and feet for which no frame stands."""
    covered = {(row.part, row.side) for row in rows if row.bone}
    used = {robot.rigid[mechanism.frame(row.frame).body] for row in rows if row.bone}
    made: list[Row] = []
    for part, side, body in _ends(robot):
        bone = _bone_of(character, part, side)
        if body and bone and (part, side) not in covered and robot.rigid[body] not in used:
            made.append(Row(frame=body, bone=bone, part=part, side=side))
            used.add(robot.rigid[body])
    return made


def _ends(robot: RobotAnatomy) -> Iterator[tuple[str, str, str]]:
    """Yield part, side and body of what of a robot is worth following."""
    yield "hips", "", robot.hips
    yield "chest", "", robot.chest
    yield "head", "", robot.head
    for limb in robot.limbs:
        part = PARTS_OF[limb.kind][2]
        if limb.kind == ARM and not limb.end:
            part = "forearm"
        yield part, limb.side, limb.end or limb.lower


def _rows_by_names(
    mechanism: Mechanism, robot: RobotAnatomy, bones: Sequence[str], character: Anatomy, rows: list[Row]
) -> list[Row]:
    """Return rows of bodies whose names say what their robot's shape does not."""
    used = {robot.rigid[mechanism.frame(row.frame).body] for row in rows if row.bone}
    covered = {(row.part, row.side) for row in rows if row.bone}
    if any(
        row.part and row.bone and not mechanism.frame(row.frame).is_foot and row.frame not in robot.rigid.values()
        for row in rows
    ):
        return []  # the file names what is to be followed
    ends = names.ends(body.name for body in mechanism.bodies)
    left = [name for name in ends if robot.rigid.get(name) not in used]
    made: list[Row] = []
    for frame, bone in names.auto_map(left, bones).items():
        part, side = names.part_of(frame)
        is_hand = part == "forearm" and ("hand", side) in covered
        if robot.is_upper_body and part in TRUNK:
            continue  # what bears its chest is neither hips nor spine
        if (part, side) not in covered and not is_hand and bone not in {row.bone for row in (*rows, *made)}:
            made.append(Row(frame=frame, bone=bone, part=part, side=side))
    torso = next(
        (
            name
            for name in ends
            if names.part_of(name) in {(part, "") for part in TRUNK} and name not in {row.frame for row in rows}
        ),
        "",
    )
    if (
        torso and not robot.chest and ("hips", "") in covered and (chest := character.parts.get(("chest", "")))
    ):  # the waist is fixed
        made.append(Row(frame=torso, bone=chest, part="chest"))
    return made


def _weighed(mechanism: Mechanism, robot: RobotAnatomy, row: Row, stands: bool) -> Row:
    """Return a row with its weights.

    Above the hips they are less where a robot stands, and of chest and head only by direction. One without legs follows
    by directions alone: wherever the character goes, its arms then do as the character's, and they say where hands are.
    """
    if robot.is_upper_body and row.part in (*WEIGHTS, "hips"):
        row = replace(row, weight=WEIGHTS.get(row.part, 1.0), position_weight=NONE)
    elif stands and row.part in WEIGHTS:
        row = replace(row, weight=WEIGHTS[row.part], position_weight=ALL if row.part in names.ARMS else NONE)
    limb = next((limb for limb in robot.limbs if _ends_in(robot, limb, mechanism.frame(row.frame).body)), None)
    if row.part in ("foot", "front foot") and limb is not None and not limb.has_ankle:
        return replace(row, orientation_weight=NONE)
    return standing_row(mechanism, row)


def standing_row(mechanism: Mechanism, row: Row) -> Row:
    """Return a foot's row with a large weight of its position, and a small one of its orientation.

    While it stands it is held flat anyway. The row itself is returned where its frame is no foot, or weights were set.
    """
    if not mechanism.frame(row.frame).is_foot or row.orientation_weight != ALL:
        return row
    place = (FOOT,) * 3 if row.position_weight == ALL else row.position_weight
    return replace(row, position_weight=place, orientation_weight=(SOLE,) * 3)


def _ends_in(robot: RobotAnatomy, limb: RobotLimb, body: str) -> bool:
    """Return whether a body is the end of a limb, or fixed to it."""
    return robot.rigid.get(body) == robot.rigid.get(limb.end or limb.lower)


def _directions(
    mechanism: Mechanism, robot: RobotAnatomy, character: Anatomy, rows: Iterable[Row], told: bool
) -> Iterator[Row]:
    """Yield rows for the directions of limbs' parts, but of legs that their feet fix.

    Those are legs without a choice, and those of a robot whose file names hips and feet: hips and feet fix them. Legs
    that bend back as a bird's point nowhere as a character's do.
    """
    used = {robot.rigid[mechanism.frame(row.frame).body] for row in rows if row.bone}
    for limb in robot.limbs:
        if limb.kind not in DIRECTION or (
            limb.kind == LEG and (limb.freedom <= POSITION or (told and limb.freedom == POSE) or robot.bends_back(limb))
        ):
            continue
        for part, body, along in zip(PARTS_OF[limb.kind], (limb.upper, limb.lower), limb.ways, strict=False):
            bone = character.parts.get((part, limb.side), "")
            if bone and robot.rigid[body] not in used:
                axis = nearest_axis(mechanism, body, along)
                held = (float(axis == 0), float(axis == 1), float(axis == 2))
                yield Row(
                    frame=body,
                    bone=bone,
                    part=part,
                    side=limb.side,
                    weight=1.0 if robot.is_upper_body else DIRECTION[limb.kind],
                    position_weight=NONE,
                    orientation_weight=held,
                )


def nearest_axis(mechanism: Mechanism, frame: str, direction: np.ndarray) -> int:
    """Return the axis of a frame (0, 1 or 2) that is nearest to a direction (3,) in the world, in the rest pose."""
    return int(np.argmax(np.abs(mechanism.rest_pose(frame).matrix.T @ direction)))
