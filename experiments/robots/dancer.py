"""The dancer: a pair of legs on fixed feet, made to move the hips.

Twelve bodies and twelve hinges in one loop: the stand with both feet, five bodies up the left leg, the pelvis, five
down the right. A loop of twelve hinges leaves 12 - 6 = 6 degrees of freedom, so the pelvis goes and turns as it likes.
Per leg:

    stand ─ ankle_roll ─ ankle ─ ankle_pitch ─ shank ─ knee ─ thigh ─ hip_pitch ─ hip ─ hip_roll ─ yoke ─ hip_yaw ─
    pelvis

Eight hinges have motors, two more than there are freedoms; ankle_pitch and hip_yaw are passive. That keeps the pelvis
further from the poses in which the motors would lose it than any six of them could alone (docs/experiments.md).

The feet are turned out, and the ankle's two axes do not meet, so that the passive axes never lie in one plane. Signs
read the same on both sides, as with the walker. The right leg mirrors the left. All values are 0 at rest.

`python -m experiments.robots.dancer` rewrites dancer.robik.json.
"""

from __future__ import annotations

from math import cos, radians, sin, sqrt

import numpy as np

from experiments.robots.parts import (
    ACCENT,
    BRASS,
    EYE,
    FRAME,
    RUBBER,
    SHELL,
    STEEL,
    Part,
    along,
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
from experiments.robots.walker import mirrored_body, mirrored_joint
from robik.formats import save_robot
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.robots import FOLDER

X, Y, Z = np.eye(3)
TURN_OUT = radians(24)  # of the left foot, to the left
ANKLE = np.array([0.0, 0.088, 0.042])  # on the ankle's roll axis [m]
ANKLE_RISE = 0.036  # from there up to its pitch axis
LINK = 0.135  # thigh and shank alike, axis to axis
HIP = np.array([0.004, 0.058, 0.300])
YAW_RISE = 0.060  # from the hip up to the yaw bearing in the pelvis

PASSIVE = ("ankle_pitch", "hip_yaw")
LIMITS = {
    "ankle_roll": 40,
    "ankle_pitch": 55,
    "knee": 62,
    "hip_pitch": 60,
    "hip_roll": 45,
    "hip_yaw": 60,
}  # both ways [degrees]


def build() -> Mechanism:
    """Return the robot, in its rest pose."""
    left = Leg()
    bodies, joints = left.bodies(), left.joints()
    return Mechanism(
        "dancer",
        (_stand(left), *bodies, _pelvis(), *(mirrored_body(b) for b in bodies)),
        (Joint("mount", "fixed", WORLD, "stand"), *joints, *(mirrored_joint(j) for j in joints)),
        frames=(Frame("pelvis_frame", "pelvis"),),
    )


class Leg:
    """The left leg's points and directions at rest, world coordinates."""

    def __init__(self) -> None:
        self.toes = np.array([cos(TURN_OUT), sin(TURN_OUT), 0.0])  # where the foot points
        self.roll, self.pitch = ANKLE, ANKLE + ANKLE_RISE * Z
        span = HIP - self.pitch
        up = span / np.linalg.norm(span)
        self.hinge = np.cross(up, self.toes)  # the direction of ankle pitch, knee and hip pitch
        self.hinge /= np.linalg.norm(self.hinge)
        bend = sqrt(LINK**2 - span @ span / 4)
        self.knee = self.pitch + span / 2 + bend * np.cross(self.hinge, up)

    def joints(self) -> tuple[Joint, ...]:
        """Return the leg's six hinges, from the ground up."""
        return (
            _hinge("ankle_roll", "stand", "ankle_l", self.roll, -self.toes),
            _hinge("ankle_pitch", "ankle_l", "shank_l", self.pitch, self.hinge),
            _hinge("knee", "shank_l", "thigh_l", self.knee, -self.hinge),
            _hinge("hip_pitch", "thigh_l", "hip_l", HIP, self.hinge),
            _hinge("hip_roll", "hip_l", "yoke_l", HIP, -self.toes),
            _hinge("hip_yaw", "yoke_l", "pelvis", HIP, -Z),
        )

    def bodies(self) -> tuple[Body, ...]:
        """Return the leg's five bodies, from the ground up."""
        return (self._ankle(), self._shank(), self._thigh(), self._hip(), self._yoke())

    def _ankle(self) -> Body:
        return body(
            "ankle_l",
            Pose(tuple(self.roll)),
            (
                bar(self.roll - 0.012 * self.toes, self.roll + 0.024 * self.toes, 0.0055, 0.008, STEEL, "cylinder"),
                box(
                    self.roll + 0.4 * ANKLE_RISE * Z, (0.020, 0.020, 0.6 * ANKLE_RISE), 0.02, FRAME, along(Z, self.toes)
                ),
                disc(self.pitch, self.hinge, 0.011, 0.022, 0.012, BRASS),
            ),
        )

    def _shank(self) -> Body:
        up, front = self._directions(self.pitch, self.knee)
        parts: list[Part] = [
            *servo(self.knee, -self.hinge, -up),
            bar(self.pitch + 0.030 * up + 0.002 * front, self.knee - 0.046 * up + 0.004 * front, 0.0190, 0.06, SHELL),
            disc(self.pitch + 0.040 * up + 0.002 * front, up, 0.0196, 0.007, 0.01, ACCENT),
        ]
        for side in (1, -1):
            parts.extend(plate(self.pitch + side * 0.0140 * self.hinge,
                               self.pitch + 0.026 * up + side * 0.0140 * self.hinge,
                               self.hinge, 0.020, 0.0040, 0.008, FRAME))  # fmt: skip
        return body("shank_l", Pose.of(along(up, front), self.pitch), parts)

    def _thigh(self) -> Body:
        up, front = self._directions(self.knee, HIP)
        parts: list[Part] = [
            *servo(HIP, self.hinge, -up),
            bar(self.knee + 0.046 * up + 0.004 * front, HIP - 0.046 * up + 0.003 * front, 0.0215, 0.08, SHELL),
            disc(HIP - 0.056 * up + 0.003 * front, up, 0.0222, 0.008, 0.01, ACCENT),
            disc(self.knee + 0.0285 * self.hinge, self.hinge, 0.0150, 0.004, 0.005, ACCENT),
        ]
        for side in (1, -1):
            cheek = side * 0.0222 * self.hinge
            parts.extend(
                plate(self.knee + cheek, self.knee + 0.046 * up + cheek, self.hinge, 0.024, 0.0040, 0.010, FRAME)
            )
        return body("thigh_l", Pose.of(along(up, front), self.knee), parts)

    def _hip(self) -> Body:
        back = HIP - 0.036 * self.toes
        parts: list[Part] = [box(back, (0.004, 0.050, 0.026), 0.015, FRAME, along(Z, self.toes))]
        for side in (1, -1):
            cheek = side * 0.0225 * self.hinge
            parts.extend(plate(HIP + cheek, HIP + cheek - 0.034 * self.toes, self.hinge, 0.022, 0.0040, 0.010, FRAME))
        return body(
            "hip_l", Pose(tuple(HIP)), (*parts, disc(back - 0.004 * self.toes, self.toes, 0.013, 0.006, 0.006, STEEL))
        )

    def _yoke(self) -> Body:
        motor = HIP - 0.060 * self.toes
        parts = (
            *servo(motor, self.toes, Z),
            *plate(motor + 0.040 * Z, HIP + 0.048 * Z, X, 0.024, 0.005, 0.02, FRAME),
            box(HIP + 0.044 * Z - 0.026 * self.toes, (0.074, 0.024, 0.006), 0.02, FRAME, along(Z, self.toes)),
            bar(HIP + 0.046 * Z, HIP + YAW_RISE * Z, 0.0090, 0.015, STEEL, "cylinder"),
            disc(HIP + 0.052 * Z, Z, 0.0150, 0.006, 0.010, BRASS),
        )
        return body("yoke_l", Pose(tuple(HIP)), parts)

    def _directions(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        up = (high - low) / np.linalg.norm(high - low)
        return up, np.cross(self.hinge, up)


def _hinge(name: str, parent: str, child: str, position: np.ndarray, axis: np.ndarray) -> Joint:
    """Return a revolute joint of the left leg, with an XH430 unless it is passive."""
    bound = round(radians(LIMITS[name]), 9)
    passive = Joint(
        f"{name}_l",
        "revolute",
        parent,
        child,
        position=rounded(position, 12),
        axis=rounded(axis, 12),
        limits=((-bound, bound),),
    )
    if name in PASSIVE:
        return passive
    return driven(passive)


def _stand(left: Leg) -> Body:
    """Return a round stage with both feet on it; the motors of the ankles lie in the feet."""
    parts: list[Part] = [
        disc((0, 0, -0.006), Z, 0.190, 0.012, 1.2, RUBBER),
        disc((0, 0, 0.001), Z, 0.182, 0.004, 0.3, FRAME),
        disc((0, 0, 0.002), Z, 0.060, 0.004, 0.05, ACCENT),
    ]
    for side in (1, -1):
        mirror = np.array([1.0, side, 1.0])
        toes, roll, out = left.toes * mirror, left.roll * mirror, np.array([-left.toes[1], left.toes[0], 0.0]) * mirror
        ground = roll - ANKLE[2] * Z
        parts += [
            box(ground + 0.028 * toes + 0.008 * Z, (0.150, 0.062, 0.010), 0.06, FRAME, along(Z, toes)),
            *servo(roll - 0.034 * toes, toes, -Z),
            bar(ground + 0.052 * toes + 0.024 * Z, ground + 0.088 * toes + 0.021 * Z, 0.0215, 0.05, SHELL),
            bar(
                ground + 0.080 * toes + 0.014 * out + 0.017 * Z,
                ground + 0.080 * toes - 0.014 * out + 0.017 * Z,
                0.0190,
                0.02,
                ACCENT,
            ),
        ]
    return body("stand", Pose(), parts)


def _pelvis() -> Body:
    """Return a deck over the yaw bearings, a bowl of a shell with a belt, and an eye to see where it points."""
    middle = HIP * [1.0, 0.0, 1.0]
    deck, chest = middle + (YAW_RISE + 0.006) * Z, middle + (YAW_RISE + 0.046) * Z
    parts: list[Part] = [
        bar(deck - 0.062 * Y, deck + 0.062 * Y, 0.0120, 0.10, FRAME),
        bar(chest - 0.014 * Z - 0.046 * Y, chest - 0.014 * Z + 0.046 * Y, 0.0360, 0.22, SHELL),
        bar(chest + 0.030 * Z - 0.022 * Y, chest + 0.030 * Z + 0.022 * Y, 0.0400, 0.20, SHELL),
        bar(chest - 0.034 * Z - 0.050 * Y, chest - 0.034 * Z + 0.050 * Y, 0.0240, 0.05, ACCENT),
        ball(chest + 0.032 * Z + 0.026 * X, 0.0240, 0.02, RUBBER),
        disc(chest + 0.032 * Z + 0.0495 * X, X, 0.0100, 0.003, 0.004, EYE),
    ]
    for side in (1, -1):
        bearing = deck + side * HIP[1] * Y
        parts += [disc(bearing, Z, 0.0180, 0.012, 0.02, STEEL), ball(bearing + 0.020 * Z, 0.0250, 0.05, SHELL)]
    return body("pelvis", Pose(tuple(middle)), parts)


if __name__ == "__main__":
    save_robot(build(), FOLDER / "dancer.robik.json")
