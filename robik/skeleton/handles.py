"""Handles: the frames of a robot that an animator takes hold of when nothing else moves it.

Of a body that walks these are hips, feet, hands and head. Of other robots they are the frames that their file names for
parts of a body or for tools; where it names none, the ends of their arms, or where loops through their motors meet.
What one motor alone turns beyond them, such as an antenna or a gripper, has a handle that turns with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD, Joint
from ..mechanism.spanning_tree import connected_without, spanning_tree
from .anatomy import ARM
from .driven_bodies import driven_bodies, most_driven
from .names import part_of, robot_name
from .robot import robot_anatomy
from .robot_parts import RobotAnatomy

FULL = 6  # motions that place and turn a body every way
SAME_PLACE = 1e-6  # of the robot's size
MOST_ENDS = 8  # handles of single motors; a hand of many fingers is better posed by its sliders
HELD = ("hips", "head", "hand", "foot")  # parts of a body that have handles
MARKS = re.compile(r"closing|loop|imu|camera|cam_|_cam|optical|sensor|force|gyro|accel|com$|site", re.IGNORECASE)
FINGER = re.compile(r"jaw|finger|gripper|claw|thumb|knuckle|moving", re.IGNORECASE)  # joints of grippers
KNUCKLE = re.compile(r"jaw|claw|thumb|knuckle", re.IGNORECASE)  # bodies of grippers; others are what holds these, too


@dataclass(frozen=True, kw_only=True)
class Handle:
    """A handle of a robot.

    Attributes:
        frame: frame or body of the robot that follows it.
        joint: whose motor alone it turns or slides; None where it moves every way.
        carrier: frame of the handle that takes it along; empty for none.
        is_head: whether it is the head's.
        turns: whether motors can turn it every way wherever it is; an arm of five cannot.
    """

    frame: str
    joint: Joint | None = None
    carrier: str = ""
    is_head: bool = False
    turns: bool = True


def robot_handles(mechanism: Mechanism, turned: Collection[str] = ()) -> tuple[Handle, ...]:
    """Return the handles of a robot: those that move every way, hips first, then those of single motors.

    Each comes after the one that takes it along; a robot that cannot move has none. Motors in `turned`, such as the
    turn of a body, have a handle although they move other handles.
    """
    frames, anatomy = handle_frames(mechanism), robot_anatomy(mechanism)
    held = {name: mechanism.frame(name).body for name in frames}
    bases, ends = [], []
    for joint in mechanism.actuated:
        body = _moved_alone(mechanism, joint, {*held.values(), WORLD})
        if joint.name in turned and len(joint.motions) == 1:
            bases.append((joint, connected_without(mechanism, joint, joint.child)))
        elif body:
            ends.append((joint, body))
    carriers = {name: joint.child for joint, beyond in bases for name, body in held.items() if body in beyond}
    stiff = _stiff(mechanism, anatomy)
    ends = ends if len(ends) <= MOST_ENDS else []
    ends.sort(key=lambda end: -len(connected_without(mechanism, *end)))  # what carries others moves more bodies
    by_body = {body: body for _, body in ends} | {body: name for name, body in held.items()}
    return (
        *(Handle(frame=joint.child, joint=joint) for joint, _ in bases),
        *(
            Handle(
                frame=name,
                carrier=carriers.get(name, ""),
                is_head=body == anatomy.head or part_of(robot_name(name))[0] == "head",
                turns=body not in stiff,
            )
            for name, body in held.items()
        ),
        *(Handle(frame=body, joint=joint, carrier=_carrier(mechanism, joint, body, by_body)) for joint, body in ends),
    )


def _stiff(mechanism: Mechanism, anatomy: RobotAnatomy) -> set[str]:
    """Return the bodies with fewer than six motions between them and the world, or the hips of a robot that floats.

    Feet are none: that they are flat counts more than where they are. In loops nothing is counted.
    """
    tree, cuts = spanning_tree(mechanism)
    motions = {WORLD: 0 if mechanism.is_grounded else FULL}
    for body, joint in tree:
        near = joint.parent if joint.child == body else joint.child
        motions[body] = motions[near] + len(joint.motions)
    at_hips = motions.get(anatomy.hips, 0) if anatomy.limbs else 0
    feet = {limb.end for limb in anatomy.limbs if limb.kind != ARM}
    low = {body for body, count in motions.items() if count - at_hips < FULL}
    hips = anatomy.rigid.get(anatomy.hips, "")
    return set() if cuts else {body for body in low - feet if anatomy.rigid.get(body, body) != hips}


def _moved_alone(mechanism: Mechanism, joint: Joint, held: set[str]) -> str:
    """Return the body that a motor of one motion moves without moving what is held; empty where there is none."""
    if len(joint.motions) != 1:
        return ""
    for body, other in ((joint.child, joint.parent), (joint.parent, joint.child)):
        beyond = connected_without(mechanism, joint, body)
        if other not in beyond and held.isdisjoint(beyond):
            return body
    return ""


def _carrier(mechanism: Mechanism, joint: Joint, body: str, held: dict[str, str]) -> str:
    """Return the frame of the nearest handle on the way from a body, over a joint, to the rest of the robot."""
    seen, reached = {body}, [joint.parent if body == joint.child else joint.child]
    while reached:
        here = reached.pop(0)
        if here in held:
            return held[here]
        seen.add(here)
        ends = ((other.parent, other.child) for other in mechanism.joints if here in (other.parent, other.child))
        reached += [end for pair in ends for end in pair if end not in seen and end != WORLD]
    return ""


def handle_frames(mechanism: Mechanism) -> tuple[str, ...]:
    """Return names of a robot's frames and bodies to drag, one of each part that moves as one, hips first.

    A robot that cannot move has none.
    """
    anatomy = robot_anatomy(mechanism)
    marks = _apart(mechanism, [frame.name for frame in mechanism.frames if not MARKS.search(frame.name)])
    named = [name for name in marks if part_of(robot_name(name))[0] in HELD or mechanism.frame(name).is_foot]
    body = _of_body(anatomy)
    met = [] if named or not spanning_tree(mechanism)[1] else _where_loops_meet(mechanism, anatomy)
    parts, own = ({anatomy.rigid.get(name, name) for name in names} for names in (met, body))
    first, second = (body, met) if parts & own else (met, body)  # the legs of a platform are no limbs
    if mechanism.is_grounded or not anatomy.limbs:
        choices = [named, marks, first, second, _ends_of_arms(mechanism)]
    else:
        choices = [[*named, *body] if first is body or not met else met]
    moving = (_one_each(mechanism, anatomy, found) for found in choices)
    return next((tuple(found) for found in moving if found), ())


def _apart(mechanism: Mechanism, names: list[str]) -> list[str]:
    """Return the first of the frames that are at one place: the halves of a loop's joint are one handle."""
    places = {name: np.array(mechanism.rest_pose(name).position) for name in names}
    near = SAME_PLACE * mechanism.extent
    return [
        name
        for k, name in enumerate(names)
        if all(np.linalg.norm(places[name] - places[other]) > near for other in names[:k])
    ]


def _of_body(anatomy: RobotAnatomy) -> list[str]:
    """Return hips, feet, hands and head as bodies; none of a robot without limbs."""
    found = [anatomy.hips] if anatomy.limbs else []
    for limb in anatomy.limbs:
        is_arm = limb.kind == ARM
        found.append(limb.end or (limb.lower if is_arm else ""))
    return [name for name in (*found, anatomy.head if anatomy.limbs else "") if name and not MARKS.search(name)]


def _joints_of_tree(mechanism: Mechanism) -> dict[str, Joint]:
    """Return the joint that leads to each body."""
    return {body: joint for body, joint in spanning_tree(mechanism)[0] if body in mechanism.body_index}


def _held(joint_of: dict[str, Joint]) -> list[str]:
    """Return the bodies that are worth holding: of a gripper's parts the one that holds them."""
    of_gripper = {body for body, joint in joint_of.items() if FINGER.search(joint.name) or KNUCKLE.search(body)}
    return [body for body in joint_of if body not in of_gripper and not MARKS.search(body)]


def _where_loops_meet(mechanism: Mechanism, anatomy: RobotAnatomy) -> list[str]:
    """Return the outermost body of each part that motors move in the most ways."""
    last = {anatomy.rigid.get(body, body): body for body in _held(_joints_of_tree(mechanism))}
    found = [one for one in driven_bodies(mechanism) if anatomy.rigid.get(one.body, one.body) in last]
    return [last[anatomy.rigid.get(body, body)] for body in most_driven(found)]


def _ends_of_arms(mechanism: Mechanism) -> list[str]:
    """Return the bodies at the ends of the longest chain of motors."""
    joint_of = _joints_of_tree(mechanism)
    parent = {body: joint.parent if joint.child == body else joint.child for body, joint in joint_of.items()}
    motors = {WORLD: 0}
    for body, joint in joint_of.items():
        motors[body] = motors[parent[body]] + joint.actuated
    held = [body for body in _held(joint_of) if motors[body]]
    most = max((motors[body] for body in held), default=0)
    longest = [body for body in held if motors[body] == most]
    inner = {parent[body] for body in longest}
    return [body for body in longest if body not in inner]


def _one_each(mechanism: Mechanism, anatomy: RobotAnatomy, found: list[str]) -> list[str]:
    """Return those of a list that move on their own: the first of each part, none that is fixed to the world."""
    bodies = {frame.name: frame.body for frame in mechanism.frames}

    def part(body: str) -> str:
        return anatomy.rigid.get(body, body)

    still = {part(joint.child) for joint in mechanism.joints if joint.parent == WORLD and not joint.motions}
    kept: dict[str, str] = {}
    for name in found:
        kept.setdefault(part(bodies.get(name, name)), name)
    return [name for moved, name in kept.items() if moved not in still]
