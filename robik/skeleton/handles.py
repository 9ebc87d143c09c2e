"""Handles: the frames of a robot that an animator takes hold of when nothing else moves it.

Of a body that walks these are hips, feet, hands and head. Of other robots they are the frames that their file names for
parts of a body or for tools; where it names none, the ends of their arms.
"""

from __future__ import annotations

import re

from ..mechanism.model import Mechanism
from ..mechanism.parts import WORLD
from ..mechanism.spanning_tree import spanning_tree
from .anatomy import ARM
from .names import part_of, robot_name
from .robot import robot_anatomy
from .robot_parts import RobotAnatomy

HELD = ("hips", "head", "hand", "foot")  # parts of a body that have handles
MARKS = re.compile(r"closing|loop|imu|camera|cam_|_cam|optical|sensor|force|gyro|accel|com$|site", re.IGNORECASE)
FINGER = re.compile(r"jaw|finger|gripper|claw|thumb|knuckle|moving", re.IGNORECASE)


def handle_frames(mechanism: Mechanism) -> tuple[str, ...]:
    """Return frames and bodies of a robot to take hold of, one of each part that moves as one.

    Args:
        mechanism: The robot.

    Returns:
        Their names, hips first; none for a robot that cannot move.
    """
    anatomy = robot_anatomy(mechanism)
    marks = [frame.name for frame in mechanism.frames if not MARKS.search(frame.name)]
    named = [name for name in marks if part_of(robot_name(name))[0] in HELD or mechanism.frame(name).is_foot]
    if not mechanism.is_grounded and anatomy.limbs:
        choices = [[*named, *_of_body(anatomy)]]
    else:
        choices = [named, marks, _of_body(anatomy), _ends(mechanism)]
    moving = (_one_each(mechanism, anatomy, found) for found in choices)
    return next((tuple(found) for found in moving if found), ())


def _of_body(anatomy: RobotAnatomy) -> list[str]:
    """Return hips, feet, hands and head as bodies; none of a robot without limbs."""
    found = [anatomy.hips] if anatomy.limbs else []
    for limb in anatomy.limbs:
        is_arm = limb.kind == ARM
        found.append(limb.end or (limb.lower if is_arm else ""))
    return [name for name in (*found, anatomy.head if anatomy.limbs else "") if name]


def _ends(mechanism: Mechanism) -> list[str]:
    """Return the bodies at the ends of the longest chain of motors; of a gripper's parts the one that holds them."""
    tree = [(body, joint) for body, joint in spanning_tree(mechanism)[0] if body in mechanism.body_index]
    parent = {body: joint.parent if joint.child == body else joint.child for body, joint in tree}
    motors = {WORLD: 0}
    for body, joint in tree:
        motors[body] = motors[parent[body]] + joint.actuated
    joint_of = dict(tree)
    held = [body for body in parent if motors[body] and not FINGER.search(joint_of[body].name)]
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
