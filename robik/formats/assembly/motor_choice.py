"""The choice of motors for a robot whose file names none, or not all."""

from __future__ import annotations

from collections.abc import Container, Iterable
from math import inf

import numpy as np

from ...mechanism.model import TOLERANCE
from .closing import ACCEPTED, Closure, newton, slides, with_values
from .open_joint import OpenJoint
from .open_robot import OpenRobot

AWAY = 0.05  # rad, or of the robot's size: how far to look beside a pose that may be singular
HARDLY = 1e-4  # of the motions that are left: a coordinate that moves less follows from others, but for rounding
PASSIVE = ("passive", "suspension")  # in the name of a joint that is not meant to be driven


def chosen_motors(robot: OpenRobot, q: np.ndarray) -> list[str]:
    """Return the joints that get motors: those that can be moved independently of each other at the closed pose q (d,).

    Joints with one motion, universal joints, and balls in no loop that their format drives. Slides in loops come
    first, which are mostly linear drives, then joints with one motion and those near the root.
    """
    ties: list[np.ndarray] = []
    place_of: dict[int, tuple[int, int]] = {}  # coordinate in a loop → its part and the column there
    for number, part in enumerate(robot.parts):
        index = np.array([robot.coordinates[name] for name in part.coordinates], dtype=int)
        place_of |= {int(k): (number, column) for column, k in enumerate(index[part.in_loops])}
        ties.append(_beside(part, q[index]))
    followers = {coupling.follower for coupling in robot.couplings}
    depth = robot.moves.sum(axis=1)
    chosen: set[str] = set()

    def preference(item: tuple[str, OpenJoint]) -> tuple[bool, bool, int, int]:
        body, joint = item
        is_drive = joint.type == "prismatic" and robot.at[joint.name] in place_of
        return is_called_passive(joint), not is_drive, len(joint.motions), int(depth[robot.order[body]])

    for _, joint in sorted(robot.hangs_on.items(), key=preference):
        if is_called_passive(joint) and chosen:
            break
        start = robot.at[joint.name]
        places = [place_of[k] for k in range(start, start + len(joint.motions)) if k in place_of]
        may = len(joint.motions) == 1 or joint.type == "universal" or (joint.is_passive is False and not places)
        if may and not joint.is_passive and followers.isdisjoint(joint.coordinate_names):
            held = _held(ties, places)
            if held is not None:
                ties = held
                chosen.add(joint.name)
    return [j.name for j in robot.joints if j.name in chosen]


def left_out_motors(joints: Iterable[OpenJoint], motors: Container[str], decided: Container[str]) -> list[str]:
    """Return the joints of a tree that have motors although their file names only others.

    Descriptions of an arm, a leg or a gripper come with transmissions of their own, and files join such with ones
    that have none. A motor's limits of speed and effort tell those joints from casters and pendulums. Coordinates
    in `decided` follow from others and get none.
    """
    return [
        joint.name
        for joint in joints
        if len(joint.motions) == 1
        and joint.name not in motors
        and joint.name not in decided
        and max(joint.velocity_limit, joint.effort_limit) < inf
        and not is_called_passive(joint)
    ]


def is_called_passive(joint: OpenJoint) -> bool:
    """Return whether a joint's name contains a word of `PASSIVE`, which says that nothing drives it."""
    return any(word in joint.name.lower() for word in PASSIVE)


def _held(ties: list[np.ndarray], places: list[tuple[int, int]]) -> list[np.ndarray] | None:
    """Return what ties coordinates to each other when some of them, by part and column, are held.

    None where these depend on each other. With orthonormal rows V that tie coordinates, column i moves by √(1 − |vᵢ|²)
    when all that the others allow is used. Held, it is left out, and (1 − vᵢ vᵢᵀ)^(-1/2) makes the rows orthonormal.
    """
    ties = list(ties)
    for number, i in places:
        V = ties[number]
        v = V[:, i]
        tied = float(v @ v)
        moves = float(np.sqrt(max(0.0, 1.0 - tied)))
        if moves <= HARDLY:
            return None
        ties[number] = V + np.outer(v * ((1.0 / moves - 1.0) / tied), v @ V) if tied > 0.0 else V.copy()
        ties[number][:, i] = 0.0
    return ties


def _beside(part: OpenRobot, q: np.ndarray) -> np.ndarray:
    """Return orthonormal rows (r, tied) that tie a part's coordinates in loops to each other.

    At a closed pose near q (d,), since a flat or otherwise singular one seems to move in more ways than it does.
    """
    columns = np.flatnonzero(part.in_loops)

    def closure(x: np.ndarray) -> Closure:
        values, rows = part.closure(with_values(q, columns, x))
        return values, rows[:, columns]

    x = q[columns]
    ties = _ties(closure(x)[1])
    rates = np.random.default_rng(0).uniform(-1.0, 1.0, len(x))
    step = AWAY * (rates - ties.T @ (ties @ rates)) * np.where(slides(part)[columns], part.size, 1.0)
    beside, error = newton(x + step, closure, (np.full_like(x, -inf), np.full_like(x, inf)))
    return _ties(closure(beside)[1]) if error <= ACCEPTED else ties


def _ties(J: np.ndarray) -> np.ndarray:
    """Return orthonormal rows (r, d) of equations with the Jacobian J (m, d), those aside that follow from others."""
    _, s, V = np.linalg.svd(J, full_matrices=False)
    return V[: int((s > TOLERANCE * float(s.max(initial=1.0))).sum())]
