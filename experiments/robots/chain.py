"""The chain: six hinges and six slides in turn on a grounded base, all driven (the paper's Fig. 6b).

Twelve freedoms, six more than a frame can ask for. Drawn as an arc from straight up to nearly level. The first hinge
turns about y, the next about what is square to y and to the link, the next about the link, and so on; each slide runs
along its link.

`python -m experiments.robots.chain` rewrites chain.robik.json.
"""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np

from experiments.robots.parts import (
    ACCENT,
    BRASS,
    FRAME,
    RUBBER,
    SHELL,
    STEEL,
    along,
    ball,
    bar,
    body,
    disc,
    driven,
    rounded,
)
from robik.formats import save_robot
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.robots import FOLDER

X, Y, Z = np.eye(3)
LINKS = 6
LINK = 0.150  # from hinge to hinge at rest [m]
SLIDE = 0.090  # from a hinge to the mouth of the tube
TRAVEL = 0.070  # of a slide, both ways
SLIDE_SPEED, SLIDE_FORCE = 0.25, 60.0  # m/s, N: an XH430 on a pinion of 48 mm
ARC = radians(15)  # between neighbouring links at rest
BASE = np.array([0.0, 0.0, 0.060])


def build() -> Mechanism:
    """Return the robot, in its rest pose."""
    bodies, joints = [_base()], [Joint("mount", "fixed", WORLD, "base")]
    at, before = BASE, "base"
    for k in range(LINKS):
        link = np.array([sin(k * ARC), 0.0, cos(k * ARC)])
        tube, rod = f"tube_{k + 1}", f"rod_{k + 1}"
        axis = (Y, np.cross(Y, link), link)[k % 3]
        joints += [
            driven(Joint(f"turn_{k + 1}", "revolute", before, tube, position=rounded(at, 12), axis=rounded(axis, 12),
                         limits=((-2.0, 2.0),))),
            Joint(f"slide_{k + 1}", "prismatic", tube, rod, position=rounded(at + SLIDE * link, 12),
                  axis=rounded(link, 12), actuated=True,
                  limits=((-TRAVEL, TRAVEL),), velocity_limit=SLIDE_SPEED, effort_limit=SLIDE_FORCE),
        ]  # fmt: skip
        bodies += [_tube(tube, at, link, axis), _rod(rod, at, link, last=k == LINKS - 1)]
        at, before = at + LINK * link, rod
    return Mechanism("chain", tuple(bodies), tuple(joints), frames=(Frame("tool", before, Pose((0.0, 0.0, LINK))),))


def _base() -> Body:
    return body(
        "base",
        Pose(),
        (
            disc((0, 0, 0.005), Z, 0.070, 0.010, 0.60, RUBBER),
            disc((0, 0, 0.013), Z, 0.062, 0.006, 0.20, FRAME),
            bar((0, 0, 0.016), BASE - 0.018 * Z, 0.026, 0.25, SHELL, "cylinder"),
            disc((0, 0, 0.034), Z, 0.0265, 0.005, 0.02, ACCENT),
        ),
    )


def _tube(name: str, at: np.ndarray, link: np.ndarray, axis: np.ndarray) -> Body:
    mouth = at + SLIDE * link
    parts = (
        disc(at, axis, 0.0190, 0.038, 0.06, FRAME),
        disc(at, axis, 0.0125, 0.043, 0.02, ACCENT),
        bar(at + 0.012 * link, mouth - 0.006 * link, 0.0140, 0.04, SHELL, "cylinder"),
        disc(mouth - 0.004 * link, link, 0.0155, 0.006, 0.01, FRAME),
    )
    return body(name, Pose.of(along(link, Y), at), parts)


def _rod(name: str, at: np.ndarray, link: np.ndarray, last: bool) -> Body:
    end = at + LINK * link
    parts = [
        bar(at + 0.016 * link, end - 0.014 * link, 0.0075, 0.04, STEEL, "cylinder"),
        disc(end - 0.015 * link, link, 0.0130, 0.006, 0.01, BRASS),
    ]
    if last:
        parts += [
            bar(end - 0.012 * link, end - 0.004 * link, 0.0090, 0.01, RUBBER, "cylinder"),
            ball(end, 0.0080, 0.01, ACCENT),
        ]
    return body(name, Pose.of(along(link, Y), at), parts)


if __name__ == "__main__":
    save_robot(build(), FOLDER / "chain.robik.json")
