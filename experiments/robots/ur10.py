"""The UR10: six hinges in a row, the arm that most papers on inverse kinematics measure on.

Lengths, masses, speeds and torques are those Universal Robots publish (Denavit-Hartenberg table and data sheet of the
CB series); how it looks is simplified, and where a link's mass sits follows from that. `tool` is the flange: z along
the last axis.

`python -m experiments.robots.ur10` rewrites ur10.robik.json.
"""

from __future__ import annotations

from math import pi, radians

import numpy as np

from experiments.robots.denavit_hartenberg import Row, hinges, housing, link_frames, links, tube
from experiments.robots.parts import FRAME, STEEL, disc
from robik.formats import save_robot
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.robots import FOLDER

SLOW, FAST = radians(120), radians(180)
ROWS = (
    Row(0.0, 0.1273, pi / 2, 7.1, 2 * pi, SLOW, 330.0),
    Row(-0.612, 0.0, 0.0, 12.7, 2 * pi, SLOW, 330.0),
    Row(-0.5723, 0.0, 0.0, 4.27, 2 * pi, FAST, 150.0),
    Row(0.0, 0.163941, pi / 2, 2.0, 2 * pi, FAST, 56.0),
    Row(0.0, 0.1157, -pi / 2, 2.0, 2 * pi, FAST, 56.0),
    Row(0.0, 0.0922, 0.0, 0.365, 2 * pi, FAST, 56.0),
)
REST = (0.0, -1.9, 1.9, -1.6, -1.57, 0.0)  # bent in every joint, the flange down
MOTORS = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
BODIES = ("base", "shoulder", "upper_arm", "forearm", "wrist_one", "wrist_two", "flange")
BESIDE = 0.2208  # the upper arm runs beside the shoulder [m]
INSIDE = 0.0489  # and the forearm nearer again
BASE_MASS = 4.0


def build() -> Mechanism:
    """Return the robot, in its rest pose."""
    at = link_frames(ROWS, REST)
    joints = (Joint("mount", "fixed", WORLD, "base"), *hinges(ROWS, REST, MOTORS, BODIES))
    return Mechanism("ur10", tuple(_bodies(at)), joints, frames=(Frame("tool", "flange", Pose()),))


def _bodies(at: list[np.ndarray]) -> list[Body]:
    """Return the base and the links, each with the table's frame for its own."""
    p, z = [T[:3, 3] for T in at], [T[:3, 2] for T in at]
    upper, lower = BESIDE * z[1], INSIDE * z[1]
    drawn = (
        (disc(0.03 * z[0], z[0], 0.095, 0.06, 0.8, FRAME), *housing(0.08 * z[0], z[0], 0.075, 0.04, 0.2)),
        (*housing(p[1] - 0.01 * z[0], z[0], 0.070, 0.13, 0.4), *housing(p[1] + 0.06 * z[1], z[1], 0.070, 0.17, 0.6)),
        (*housing(p[1] + upper, z[1], 0.070, 0.14, 0.4), tube(p[1] + upper, p[2] + upper, 0.052, 0.35),
         *housing(p[2] + upper, z[1], 0.058, 0.13, 0.25)),
        (*housing(p[2] + lower + 0.03 * z[1], z[1], 0.056, 0.17, 0.4), tube(p[2] + lower, p[3] + lower, 0.042, 0.4),
         *housing(p[3] + lower, z[1], 0.045, 0.10, 0.2)),
        (*housing(p[4] - 0.015 * z[3], z[3], 0.044, 0.10, 0.5), *housing(p[4] + 0.01 * z[4], z[4], 0.044, 0.12, 0.5)),
        (*housing(p[5] - 0.005 * z[4], z[4], 0.044, 0.10, 0.5), *housing(p[5] + 0.01 * z[5], z[5], 0.044, 0.11, 0.5)),
        (disc(p[6] - 0.013 * z[6], z[6], 0.0375, 0.026, 1.0, STEEL),),
    )  # fmt: skip
    return links(BODIES, at, [BASE_MASS, *(row.mass for row in ROWS)], drawn)


if __name__ == "__main__":
    save_robot(build(), FOLDER / "ur10.robik.json")
