"""The boxer: one arm with a three-axis shoulder and an elbow, on a grounded base.

Five bodies in a row, four motors. The shoulder's axes meet in one point, each perpendicular to the next: swing (about
z), lift (about y), twist (along the upper arm). Where lift brings the twist axis up to the swing axis the shoulder is
singular. The arm is drawn with its elbow bent; the elbow's value is measured from the straight arm.

`python -m experiments.robots.boxer` rewrites boxer.robik.json.
"""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np

from experiments.robots.parts import (
    ACCENT,
    FRAME,
    RUBBER,
    SHELL,
    STEEL,
    ball,
    bar,
    body,
    box,
    disc,
    driven,
    plate,
    rounded,
    servo,
)
from robik.formats import save_robot
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.robots import FOLDER

SHOULDER = np.array([0.0, 0.0, 0.26])  # [m]
UPPER_ARM = 0.165
FOREARM = 0.185  # from the elbow to the middle of the fist
ELBOW_REST = radians(60)  # flexion in the rest pose

X, Y, Z = np.eye(3)
ELBOW = SHOULDER + UPPER_ARM * X
FORWARD = np.array([cos(ELBOW_REST), 0.0, sin(ELBOW_REST)])  # along the forearm
ACROSS = np.array([-sin(ELBOW_REST), 0.0, cos(ELBOW_REST)])
HAND = ELBOW + FOREARM * FORWARD


def build() -> Mechanism:
    """Return the robot, in its rest pose."""
    bodies = (_base(), _shoulder(), _yoke(), _upper_arm(), _forearm())
    joints = (
        Joint("mount", "fixed", WORLD, "base"),
        motor("shoulder_swing", "base", "shoulder", SHOULDER, Z),
        motor("shoulder_lift", "shoulder", "yoke", SHOULDER, -Y),
        motor("shoulder_twist", "yoke", "upper_arm", SHOULDER, X),
        motor("elbow", "upper_arm", "forearm", ELBOW, -Y, limits=(-0.1, 2.6), rest=round(ELBOW_REST, 12)),
    )
    hand = Frame("hand", "forearm", Pose((FOREARM, 0.0, 0.0)))
    return Mechanism("boxer", bodies, joints, frames=(hand,))


def motor(
    name: str,
    parent: str,
    child: str,
    at: np.ndarray,
    axis: np.ndarray,
    limits: tuple[float, float] = (-2.5, 2.5),
    rest: float = 0.0,
) -> Joint:
    """Return a hinge with a motor."""
    return driven(
        Joint(
            name,
            "revolute",
            parent,
            child,
            position=rounded(at, 12),
            axis=rounded(axis, 12),
            limits=(limits,),
            rest=(rest,),
        )
    )


def _base() -> Body:
    top = SHOULDER - 0.075 * Z
    return body(
        "base",
        Pose(),
        (
            disc((0, 0, 0.006), Z, 0.075, 0.012, 0.60, RUBBER),
            disc((0, 0, 0.016), Z, 0.068, 0.008, 0.20, FRAME),
            bar((0, 0, 0.02), top - 0.03 * Z, 0.030, 0.35, SHELL, "cylinder"),
            disc((0, 0, 0.05), Z, 0.0315, 0.010, 0.02, ACCENT),
            box(top - 0.017 * Z - 0.012 * X, (0.062, 0.044, 0.044), 0.06, SHELL),
            *servo(top - 0.017 * Z + 0.0005 * X, Z, -X),
        ),
    )


def _shoulder() -> Body:
    outer = SHOULDER + 0.042 * Y
    foot = SHOULDER - 0.066 * Z
    return body(
        "shoulder",
        Pose(tuple(SHOULDER)),
        (
            disc(foot, Z, 0.024, 0.010, 0.03, FRAME),
            *plate(foot, foot + 0.050 * Y, Z, 0.032, 0.006, 0.03, FRAME),
            *plate(foot + 0.060 * Y + 0.006 * Z, outer - 0.02 * Z + 0.018 * Y, Y, 0.026, 0.005, 0.03, FRAME),
            *servo(outer, -Y, -Z),
        ),
    )


def _yoke() -> Body:
    hub = SHOULDER + 0.016 * Y
    back = SHOULDER - 0.030 * X
    return body(
        "yoke",
        Pose(tuple(SHOULDER)),
        (
            disc(hub, Y, 0.019, 0.012, 0.03, ACCENT),
            disc(hub - 0.020 * Y, Y, 0.014, 0.030, 0.03, FRAME),
            *servo(back + 0.048 * X, X, -Z),
            box(back + 0.030 * X, (0.008, 0.034, 0.034), 0.02, FRAME),
        ),
    )


def _upper_arm() -> Body:
    start = SHOULDER + 0.040 * X
    return body(
        "upper_arm",
        Pose(tuple(SHOULDER)),
        (
            disc(start, X, 0.022, 0.006, 0.02, STEEL),
            bar(start + 0.014 * X, start + 0.066 * X, 0.0195, 0.08, SHELL),
            disc(start + 0.030 * X, X, 0.0200, 0.008, 0.01, ACCENT),
            *servo(ELBOW, Y, -X),
            box(ELBOW - 0.040 * X, (0.016, 0.034, 0.026), 0.03, FRAME),
        ),
    )


def _forearm() -> Body:
    pose = Pose.of(np.column_stack([FORWARD, Y, ACROSS]), ELBOW)
    wrist, tip = ELBOW + 0.125 * FORWARD, HAND
    thumb = tip + 0.020 * Y + 0.024 * ACROSS - 0.012 * FORWARD
    parts = [
        disc(ELBOW + 0.0245 * Y, Y, 0.010, 0.003, 0.004, STEEL),
        disc(ELBOW - 0.0245 * Y, Y, 0.010, 0.003, 0.004, STEEL),
        bar(ELBOW + 0.058 * FORWARD, wrist - 0.018 * FORWARD, 0.0225, 0.09, SHELL),
        disc(wrist - 0.022 * FORWARD, FORWARD, 0.0230, 0.008, 0.01, ACCENT),
        disc(wrist, FORWARD, 0.0200, 0.012, 0.02, FRAME),
        disc(wrist + 0.016 * FORWARD, FORWARD, 0.0255, 0.022, 0.01, RUBBER),
        ball(tip, 0.036, 0.05, ACCENT),
        bar(tip + 0.012 * FORWARD - 0.012 * Y, tip + 0.012 * FORWARD + 0.012 * Y, 0.030, 0.03, ACCENT),
        bar(thumb, thumb + 0.024 * FORWARD - 0.010 * Y, 0.0125, 0.02, ACCENT),
    ]
    for side in (1, -1):
        cheek = side * 0.0215 * Y
        parts.extend(plate(ELBOW + cheek, ELBOW + 0.052 * FORWARD + cheek, Y, 0.024, 0.004, 0.015, FRAME))
    return body("forearm", pose, parts)


if __name__ == "__main__":
    save_robot(build(), FOLDER / "boxer.robik.json")
