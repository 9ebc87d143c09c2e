"""Legs of a robot: the body on which they hang, and how they can turn the feet at their ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from ..kinematics.forward import ForwardKinematics
from ..mechanism.joints import SLIDES, TURNS
from ..mechanism.model import Mechanism
from ..mechanism.orientations import rotation
from ..mechanism.parts import WORLD, Joint

POSES = 8  # in which a leg is tried
BENT = 0.7  # [rad] by which its joints are bent there, each way
BENT_LOOPED = 0.2  # likewise with loops, which close nearby only
NUDGE = 1e-6  # [rad, or of the robot's size] by which motors are moved to see where they take a foot
CLOSED = 1e-9  # of the robot's size: loops that are open further are not closed
LEFT = 0.2  # of a turn: a leg for which more of it is missing cannot do it


def pelvis(mechanism: Mechanism) -> str | None:
    """Return the body that all feet hang on, the nearest to them.

    Return None with fewer than two feet, or where they have none in common.
    """
    feet = list(dict.fromkeys(frame.body for frame in mechanism.frames if frame.is_foot))
    if len(feet) < 2:
        return None
    first, *others = (_above(mechanism, foot) for foot in feet)
    return next((body for body in first if body not in feet and all(body in chain for chain in others)), None)


def leg_length(mechanism: Mechanism, foot: str) -> float:
    """Return the distance of a foot's sole from the pelvis in the rest pose [m]; half the robot's size without one."""
    body = pelvis(mechanism)
    if body is None:
        return 0.5 * mechanism.extent
    sole = mechanism.rest_pose(foot).point(tuple(np.mean(mechanism.frame(foot).sole, axis=0)))
    return float(np.linalg.norm(np.subtract(mechanism.rest_pose(body).position, sole)))


def turns_freely(mechanism: Mechanism, foot: str) -> bool:
    """Return True if a leg has the six motions that a foot needs to stand anywhere in any direction.

    Legs with loops are taken to have them.
    """
    leg = _leg(mechanism, foot)
    return leg is None or sum(len(joint.motions) for joint in leg) >= 6


def can_turn(mechanism: Mechanism, foot: str, point: np.ndarray, axis: np.ndarray) -> bool:
    """Return True if a leg can turn its foot about an axis and leave it as it is otherwise, or no pelvis is known.

    A leg without a hinge at the ankle about the sole's length cannot roll its sole: held flat it would keep the
    hips from swaying. Point (3,) [m] and direction (3,) of the axis are in the foot's coordinates.
    """
    leg = _leg(mechanism, foot)
    ways = _ways_by_motors(mechanism, foot, point) if leg is None else _ways_by_joints(mechanism, foot, point, leg)
    missing = []
    for R, columns in ways:
        asked = np.array([*(R @ axis), 0.0, 0.0, 0.0])
        missing.append(np.linalg.norm(asked - columns @ np.linalg.lstsq(columns, asked, rcond=1e-9)[0]))
    return not missing or float(np.median(missing)) < LEFT


def _ways_by_joints(
    mechanism: Mechanism, foot: str, point: np.ndarray, leg: list[Joint]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield orientations (3, 3) of a foot, and how the joints of its leg turn and move it there (6, motions)."""
    rest, random = mechanism.rest_pose(foot), np.random.default_rng(0)
    place = np.array(rest.point(tuple(point)))
    for _ in range(POSES):
        R, x, motions = np.eye(3), np.zeros(3), []  # what moves the foot so far: y becomes R y + x
        for joint in reversed(leg):  # from the hips down
            for motion, low_high, at in zip(joint.motions, joint.limits, joint.rest, strict=True):
                turns, own = motion in TURNS, joint.matrix[:, (TURNS if motion in TURNS else SLIDES).index(motion)]
                far = float(np.clip(at + random.uniform(-BENT, BENT), *low_high) - at) if turns else 0.0
                along, anchor = R @ own, R @ np.array(joint.position) + x
                motions.append((along, np.cross(anchor, along)) if turns else (np.zeros(3), along))
                turn = Rotation.from_rotvec(far * own).as_matrix()
                R, x = R @ turn, x + R @ (np.array(joint.position) - turn @ np.array(joint.position))
        now = R @ place + x
        yield R @ rest.matrix, np.array([[*w, *((v + np.cross(w, now)) / mechanism.extent)] for w, v in motions]).T


def _ways_by_motors(mechanism: Mechanism, foot: str, point: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the same of a leg with loops, by the robot's motors (6, motors): each is moved a little."""
    top, frame, motors = pelvis(mechanism), mechanism.frame(foot), len(mechanism.actuators)
    if top is None or not motors:
        return
    lower, upper = np.array([limit for joint in mechanism.actuated for limit in joint.limits]).T
    rest = np.array([value for joint in mechanism.actuated for value in joint.rest])
    slides = np.array([unit == "m" for unit in mechanism.actuator_units])
    away = np.random.default_rng(0).uniform(-BENT_LOOPED, BENT_LOOPED, (POSES, motors)) * ~slides
    step = NUDGE * np.where(slides, mechanism.extent, 1.0)
    poses = np.clip(rest + away, lower, upper)
    values = (poses[:, None] + np.vstack([np.zeros(motors), np.diag(step)])).reshape(-1, motors)
    found = ForwardKinematics(mechanism).poses(values)
    hips, end = (
        (found.position[:, k], rotation(found.quaternion[:, k]))
        for k in (mechanism.body_index[top], mechanism.body_index[frame.body])
    )
    place = hips[1].inv().apply(end[0] + end[1].apply(frame.pose.point(tuple(point))) - hips[0])
    turn = hips[1].inv() * end[1]
    for k in range(0, len(values), motors + 1):
        if found.residual[k : k + motors + 1].max() <= CLOSED * mechanism.extent:
            near = slice(k + 1, k + motors + 1)
            moved = np.hstack([(turn[near] * turn[k].inv()).as_rotvec(), (place[near] - place[k]) / mechanism.extent])
            yield turn[k].as_matrix() @ frame.pose.matrix, moved.T / step


def _leg(mechanism: Mechanism, foot: str) -> list[Joint] | None:
    """Return the joints from a foot up to the pelvis; None with loops, or where no pelvis is known."""
    parents, top, body = _parents(mechanism), pelvis(mechanism), mechanism.frame(foot).body
    chain = _above(mechanism, body)
    if top is None or top not in chain or len(parents) < sum(joint.parent != WORLD for joint in mechanism.joints):
        return None
    return [parents[below] for below in chain[: chain.index(top)]]


def _parents(mechanism: Mechanism) -> dict[str, Joint]:
    """Return the joint by which each body hangs on another; the first of those of a body with several."""
    parents: dict[str, Joint] = {}
    for joint in mechanism.joints:
        if joint.parent != WORLD:
            parents.setdefault(joint.child, joint)
    return parents


def _above(mechanism: Mechanism, body: str) -> list[str]:
    """Return the bodies that a body hangs on, one on the next, itself first."""
    parents, chain = _parents(mechanism), [body]
    while chain[-1] in parents and (above := parents[chain[-1]].parent) not in chain:
        chain.append(above)
    return chain
