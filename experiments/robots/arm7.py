"""An arm of seven hinges, one more than a pose asks for: it can move its elbow while the tool stands still.

Lengths, limits, speeds and torques are those KUKA publishes for the LBR iiwa 14 R820 (data sheet); the masses share out
its 29.9 kg, and how it looks is simplified. Shoulder, elbow and wrist each have their axes meet in a point. `tool` is
the flange: z along the last axis.

`python -m experiments.robots.arm7` rewrites arm7.robik.json.
"""

from __future__ import annotations

from math import pi, radians

import numpy as np

from experiments.robots.denavit_hartenberg import Row, hinges, housing, link_frames, links, tube
from experiments.robots.parts import FRAME, STEEL, disc
from robik.formats import save_robot
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.robots import FOLDER

BASE, UPPER, LOWER, HAND = 0.360, 0.420, 0.400, 0.126  # to the shoulder, elbow, wrist, flange [m]
ROWS = (
    Row(0.0, BASE, -pi / 2, 4.8, radians(170), radians(85), 320.0),
    Row(0.0, 0.0, pi / 2, 4.8, radians(120), radians(85), 320.0),
    Row(0.0, UPPER, pi / 2, 4.2, radians(170), radians(100), 176.0),
    Row(0.0, 0.0, -pi / 2, 3.6, radians(120), radians(75), 176.0),
    Row(0.0, LOWER, -pi / 2, 3.0, radians(170), radians(130), 110.0),
    Row(0.0, 0.0, pi / 2, 2.4, radians(120), radians(135), 40.0),
    Row(0.0, HAND, 0.0, 0.5, radians(175), radians(135), 40.0),
)
REST = (0.0, 0.6, 0.0, -1.4, 0.0, 1.1, 0.0)  # elbow up, the flange nearly down
MOTORS = ("shoulder_turn", "shoulder_lift", "upper_twist", "elbow", "lower_twist", "wrist_lift", "wrist_turn")
BODIES = ("base", "shoulder", "upper_arm", "elbow_block", "forearm", "wrist", "hand", "flange")
BASE_MASS = 6.6


def build() -> Mechanism:
    """Return the robot, in its rest pose."""
    at = link_frames(ROWS, REST)
    joints = (Joint("mount", "fixed", WORLD, "base"), *hinges(ROWS, REST, MOTORS, BODIES))
    return Mechanism("arm7", tuple(_bodies(at)), joints, frames=(Frame("tool", "flange", Pose()),))


def _bodies(at: list[np.ndarray]) -> list[Body]:
    """Return the base and the links, each with the table's frame for its own."""
    p, z = [T[:3, 3] for T in at], [T[:3, 2] for T in at]
    shoulder, elbow, wrist = p[1], p[3], p[5]
    drawn = (
        (disc(0.02 * z[0], z[0], 0.105, 0.04, 0.4, FRAME), tube(0.04 * z[0], 0.155 * z[0], 0.080, 0.6)),
        (tube(0.160 * z[0], shoulder, 0.072, 0.5), *housing(shoulder, z[1], 0.074, 0.15, 0.5)),
        (*housing(shoulder, z[1], 0.066, 0.172, 0.5), tube(shoulder, shoulder + 0.21 * z[2], 0.066, 0.5)),
        (tube(shoulder + 0.215 * z[2], elbow, 0.062, 0.5), *housing(elbow, z[3], 0.064, 0.135, 0.5)),
        (*housing(elbow, z[3], 0.058, 0.155, 0.5), tube(elbow, elbow + 0.20 * z[4], 0.058, 0.5)),
        (tube(elbow + 0.205 * z[4], wrist, 0.050, 0.5), *housing(wrist, z[5], 0.056, 0.115, 0.5)),
        (*housing(wrist, z[5], 0.050, 0.132, 0.6), tube(wrist, wrist + 0.092 * z[6], 0.046, 0.4)),
        (disc(p[7] - 0.014 * z[7], z[7], 0.0315, 0.028, 1.0, STEEL),),
    )
    return links(BODIES, at, [BASE_MASS, *(row.mass for row in ROWS)], drawn)


if __name__ == "__main__":
    save_robot(build(), FOLDER / "arm7.robik.json")
