"""The four-bar linkage of the paper's Fig. 2 and 5: ground, crank, coupler, rocker.

One servo, in the ground's left bearing.

No bar can go all the way round: the shortest and the longest together are longer than the other two (Grashof). The
crank reaches `REACH` to either side of the line between the bearings, where coupler and rocker are stretched. A handle
sits on the crank's pin.

`python -m experiments.robots.four_bar` rewrites four_bar.robik.json.
"""

from __future__ import annotations

from math import acos, radians

import numpy as np

from experiments.robots.parts import (
    ACCENT,
    BRASS,
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

Y, Z = np.eye(3)[1:]
GROUND, CRANK, COUPLER, ROCKER = 0.200, 0.090, 0.120, 0.130  # from pin to pin [m]
HEIGHT = 0.060  # of the bearings
REST = radians(60)  # of the crank, from the line between the bearings
REACH = acos((GROUND**2 + CRANK**2 - (COUPLER + ROCKER) ** 2) / (2 * GROUND * CRANK))  # 113.6° [rad]
LAYER = 0.008  # between neighbouring bars, along the axes [m]


def pins(crank: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the moving pins (3,) of crank and rocker at a crank angle [rad].

    They are where two circles cut, above.
    """
    a = np.array([CRANK * np.cos(crank), 0.0, CRANK * np.sin(crank) + HEIGHT])
    way = np.array([GROUND, 0.0, HEIGHT]) - a
    length = float(np.linalg.norm(way))
    along = (length**2 + COUPLER**2 - ROCKER**2) / (2 * length)
    return a, a + (along * way + np.sqrt(COUPLER**2 - along**2) * np.cross(way, Y)) / length


def build() -> Mechanism:
    """Return the linkage in its rest pose."""
    left, right = np.array([0.0, 0.0, HEIGHT]), np.array([GROUND, 0.0, HEIGHT])
    a, b = pins(REST)
    axis = (0.0, -1.0, 0.0)
    bodies = (_ground(left, right), _crank(left, a), _bar("coupler", a, b, -2), _bar("rocker", right, b, -1))
    joints = (
        Joint("mount", "fixed", WORLD, "ground"),
        driven(Joint("crank_drive", "revolute", "ground", "crank", position=tuple(left), axis=axis, rest=(REST,))),
        Joint("crank_pin", "revolute", "crank", "coupler", position=rounded(a, 12), axis=axis),
        Joint("rocker_pin", "revolute", "coupler", "rocker", position=rounded(b, 12), axis=axis),
        Joint("rocker_bearing", "revolute", "ground", "rocker", position=tuple(right), axis=axis),
    )
    return Mechanism("four_bar", bodies, joints, frames=(Frame("handle", "crank", Pose((0.0, 0.0, CRANK))),))


def _ground(left: np.ndarray, right: np.ndarray) -> Body:
    middle = 0.5 * (left + right)
    parts = (
        box((middle[0], 0.006, 0.006), (GROUND + 0.110, 0.090, 0.012), 0.60, RUBBER),
        box((left[0], 0.034, 0.5 * HEIGHT), (0.036, 0.008, HEIGHT + 0.020), 0.10, FRAME),
        *servo(left + 0.014 * Y, -Y, -Z),
        box((right[0], 0.010, 0.5 * HEIGHT - 0.004), (0.022, 0.012, HEIGHT), 0.08, FRAME),
        disc((right[0], 0.002, HEIGHT), Y, 0.014, 0.016, 0.05, SHELL),
    )
    return body("ground", Pose(), parts)


def _crank(left: np.ndarray, pin: np.ndarray) -> Body:
    back = -0.5 * LAYER * Y
    parts = (
        *plate(left + back, pin + back, Y, 0.024, 0.006, 0.05, ACCENT),
        bar(pin + back, pin - 4.2 * LAYER * Y, 0.0045, 0.02, STEEL, "cylinder"),
        ball(pin - 4.4 * LAYER * Y, 0.0100, 0.02, BRASS),
    )
    way = (pin - left) / CRANK
    return body("crank", Pose.of(np.column_stack([np.cross(Y, way), Y, way]), left), parts)


def _bar(name: str, start: np.ndarray, end: np.ndarray, layer: int) -> Body:
    shift = (layer * LAYER + 0.5 * LAYER) * Y
    parts = (
        *plate(start + shift, end + shift, Y, 0.020, 0.006, 0.05, SHELL if name == "coupler" else FRAME),
        disc(end + shift, Y, 0.0045, 0.018, 0.01, STEEL),
    )
    way = (end - start) / np.linalg.norm(end - start)
    return body(name, Pose.of(np.column_stack([np.cross(Y, way), Y, way]), start), parts)


if __name__ == "__main__":
    save_robot(build(), FOLDER / "four_bar.robik.json")
