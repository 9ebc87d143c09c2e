"""A planar five-bar in closed form: two motors on the ground, two forearms that meet in the hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robik.mechanism import Mechanism

BASE, UPPER, FORE = 0.09, 0.11, 0.14  # half of what lies between the motors, and lengths [m]
REST = (0.0, 0.21)  # where the hand rests, x and z [m]
SIDES = {"l": -1.0, "r": 1.0}


def elbow(x: float, z: float, side: str) -> np.ndarray:
    """Return where an elbow is, outside, with the hand at x, z."""
    base, hand = np.array([SIDES[side] * BASE, 0.0]), np.array([x, z])
    way = hand - base
    far = np.linalg.norm(way)
    along = (far**2 + UPPER**2 - FORE**2) / (2.0 * far)
    across = np.sqrt(UPPER**2 - along**2) * SIDES[side]
    return base + along * way / far + across * np.array([way[1], -way[0]]) / far


def _directions(x: float, z: float, side: str) -> tuple[float, float]:
    """Return the angles of upper arm and forearm against the ground [rad]."""
    at, hand = elbow(x, z, side), np.array([x, z])
    upper, fore = at - np.array([SIDES[side] * BASE, 0.0]), hand - at
    return float(np.arctan2(upper[1], upper[0])), float(np.arctan2(fore[1], fore[0]))


def angles(x: float, z: float) -> dict[str, float]:
    """Return the joints' coordinates with the hand at x, z [rad]."""
    found = {}
    for side in SIDES:
        (upper, fore), (upper_0, fore_0) = _directions(x, z, side), _directions(*REST, side)
        found |= {f"motor_{side}": upper - upper_0, f"elbow_{side}": (fore - upper) - (fore_0 - upper_0)}
    return {name: float((angle + np.pi) % (2 * np.pi) - np.pi) for name, angle in found.items()}


def bend(x: float, z: float) -> float:
    """Return the sine of the angle between the forearms: 0 where they are in line and the motors lose hold."""
    left, right = (np.array([x, z]) - elbow(x, z, side) for side in SIDES)
    return float((left[0] * right[1] - left[1] * right[0]) / FORE**2)


def hold(x: float, z: float) -> float:
    """Return the least motion of the motors by that of all joints."""
    (upper_l, fore_l), (upper_r, fore_r) = (_directions(x, z, side) for side in SIDES)

    def across(angle: float) -> np.ndarray:
        return np.array([-np.sin(angle), np.cos(angle)])

    meets = np.stack([FORE * across(fore_l), -FORE * across(fore_r)], axis=1)
    fores = np.linalg.solve(meets, np.stack([-UPPER * across(upper_l), UPPER * across(upper_r)], axis=1))
    return float(1.0 / np.linalg.svd(np.vstack([np.eye(2), fores - np.eye(2)]), compute_uv=False)[0])


def robot() -> Mechanism:
    """Return the robot, whose frame `hand` is on the left forearm."""
    from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose  # in Blender it has another name

    axis, joints, hand = (0.0, -1.0, 0.0), [], (REST[0], 0.0, REST[1])
    for side, sign in SIDES.items():
        at = elbow(*REST, side)
        joints += [
            Joint(f"motor_{side}", "revolute", WORLD, f"upper_{side}", position=(sign * BASE, 0.0, 0.0), axis=axis,
                  actuated=True),
            Joint(f"elbow_{side}", "revolute", f"upper_{side}", f"fore_{side}", position=(at[0], 0.0, at[1]),
                  axis=axis),
        ]  # fmt: skip
    joints.append(Joint("hand", "revolute", "fore_l", "fore_r", position=hand, axis=axis))
    names = ("upper_l", "fore_l", "upper_r", "fore_r")
    return Mechanism("five_bar", [Body(n, 0.05) for n in names], joints, frames=(Frame("hand", "fore_l", Pose(hand)),))


def down(top: float, bottom: float, x: float = 0.004, frames: int = 121) -> np.ndarray:
    """Return places (T, 3) of a hand that goes straight down, slowly at both ends [m]."""
    z = top + (bottom - top) * (0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, frames)))
    return np.stack([np.full(frames, x), np.zeros(frames), z], axis=1)
