"""Parts that our robots are drawn from: primitives with masses, servos, links, gathered into bodies.

Everything is placed in world coordinates of the rest pose; a body's mass, centre of mass, inertia and visuals follow
from its parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Any

import numpy as np

from robik.mechanism import Body, Joint, Pose, Visual

Color = tuple[float, float, float, float]
Triple = Sequence[float] | np.ndarray

SHELL: Color = (0.86, 0.85, 0.81, 1.0)
ACCENT: Color = (0.90, 0.36, 0.12, 1.0)
FRAME: Color = (0.30, 0.33, 0.37, 1.0)
SERVO: Color = (0.055, 0.058, 0.065, 1.0)
STEEL: Color = (0.56, 0.59, 0.62, 1.0)
BRASS: Color = (0.72, 0.54, 0.24, 1.0)
RUBBER: Color = (0.035, 0.035, 0.038, 1.0)
EYE: Color = (0.10, 0.75, 0.90, 1.0)

# Dynamixel XH430-W210, from its data sheet: at 12 V it turns 50 rev/min unloaded and stalls at 2.5 N m. The paper's
# velocity threshold for the boxer, 1.11e-5 at 1200 frames/s and 90 % of the rated speed, is 2 (1 - cos(ω Δt)) for ω =
# 4.0 rad/s: above the 3.14 rad/s of the W350, so its motors turn as fast as the W210's.
SERVO_SIZE = (0.0285, 0.0465, 0.034)  # width, height, depth along the output axis [m]
SERVO_SHAFT = 0.01125  # from the output axis to the near end of the height [m]
SERVO_MASS = 0.082  # [kg]
SERVO_SPEED = 50 * 2 * pi / 60  # [rad/s]
SERVO_TORQUE = 2.5  # [N m]
HORN_RADIUS, HORN_HEIGHT = 0.0095, 0.002


@dataclass(frozen=True)
class Part:
    """A primitive with a mass [kg], placed in the world."""

    shape: str
    size: tuple[float, ...]
    pose: Pose
    mass: float
    color: Color

    @property
    def inertia(self) -> np.ndarray:
        """About its own centre, along its own axes (3, 3), of a solid of even density [kg m²]."""
        if self.shape == "box":
            squares = np.array(self.size) ** 2 / 12
            return self.mass * np.diag(squares.sum() - squares)
        if self.shape == "sphere":
            return self.mass * 0.4 * self.size[0] ** 2 * np.eye(3)
        radius, length = self.size  # a capsule as the cylinder it nearly is
        across = radius**2 / 4 + length**2 / 12
        return self.mass * np.diag([across, across, radius**2 / 2])


def box(center: Triple, size: Triple, mass: float, color: Color, turn: np.ndarray | None = None) -> Part:
    """Return a box; `turn` (3, 3) holds its axes as columns."""
    return Part("box", tuple(size), pose=Pose.of(np.eye(3) if turn is None else turn, center), mass=mass, color=color)


def ball(center: Triple, radius: float, mass: float, color: Color) -> Part:
    """Return a sphere."""
    return Part("sphere", (radius,), pose=Pose(tuple(center)), mass=mass, color=color)


def disc(center: Triple, axis: Triple, radius: float, height: float, mass: float, color: Color) -> Part:
    """Return a cylinder about `axis`."""
    return Part("cylinder", (radius, height), pose=Pose.of(along(axis), center), mass=mass, color=color)


def bar(start: Triple, end: Triple, radius: float, mass: float, color: Color, shape: str = "capsule") -> Part:
    """Return a capsule or cylinder from point to point."""
    a, b = np.array(start, float), np.array(end, float)
    return Part(
        shape, (radius, float(np.linalg.norm(b - a))), pose=Pose.of(along(b - a), (a + b) / 2), mass=mass, color=color
    )


def plate(
    start: Triple, end: Triple, normal: Triple, width: float, thickness: float, mass: float, color: Color
) -> tuple[Part, ...]:
    """Return a flat strip with round ends from point to point, `thickness` along `normal`."""
    a, b = np.array(start, float), np.array(end, float)
    strip = box((a + b) / 2, (thickness, width, float(np.linalg.norm(b - a))), 0.8 * mass, color, along(b - a, normal))
    return (strip, *(disc(point, normal, width / 2, thickness + 0.0004, 0.1 * mass, color) for point in (a, b)))


def servo(shaft: Triple, axis: Triple, up: Triple) -> tuple[Part, ...]:
    """Return an XH430.

    Its housing is centred on the point `shaft` of its output axis, with the horn towards `axis` and the long end
    towards `up`.
    """
    x, z = (np.array(v, float) / np.linalg.norm(v) for v in (axis, up))
    turn = np.column_stack([np.cross(z, x), z, x])  # width, height, depth
    width, height, depth = SERVO_SIZE
    center = np.array(shaft, float) + z * (height / 2 - SERVO_SHAFT)
    face = np.array(shaft, float) + x * depth / 2
    seam = center - x * depth * 0.28
    return (
        box(center, SERVO_SIZE, SERVO_MASS - 0.006, SERVO, turn),
        box(seam, (width + 0.0006, height + 0.0006, 0.0012), 0.001, FRAME, turn),
        disc(face + x * HORN_HEIGHT / 2, x, HORN_RADIUS, HORN_HEIGHT, 0.005, STEEL),
    )


def driven(joint: Joint) -> Joint:
    """Return the joint with an XH430 on it."""
    return replace(joint, actuated=True, velocity_limit=round(SERVO_SPEED, 6), effort_limit=SERVO_TORQUE)


def along(z: Triple, x: Triple | None = None) -> np.ndarray:
    """Return a rotation (3, 3) whose z axis points along `z`, its x axis as near to `x` as can be."""
    direction = np.array(z, float) / np.linalg.norm(z)
    if x is None:
        x = np.eye(3)[int(np.argmin(np.abs(direction)))]
    side = np.array(x, float) - direction * (direction @ np.array(x, float))
    side /= np.linalg.norm(side)
    return np.column_stack([side, np.cross(direction, side), direction])


def body(name: str, pose: Pose, parts: Iterable[Part]) -> Body:
    """Return a body with its own frame at `pose`.

    Mass, centre and inertia are those of its parts, rounded to the microgram's scale.
    """
    parts = tuple(parts)
    pose = Pose(rounded(pose.position, 12), rounded(pose.quaternion, 12))
    mass = sum(p.mass for p in parts)
    com = np.sum([p.mass * np.array(p.pose.position) for p in parts], axis=0) / mass
    inertia = np.zeros((3, 3))
    for p in parts:
        d = np.array(p.pose.position) - com
        inertia += p.pose.matrix @ p.inertia @ p.pose.matrix.T + p.mass * (d @ d * np.eye(3) - np.outer(d, d))
    inertia = pose.matrix.T @ inertia @ pose.matrix
    into = pose.inverse()
    six = (inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2])
    return Body(
        name=name,
        mass=round(mass, 6),
        com=rounded(into.point(com), 9),
        inertia=rounded(six, 12),
        pose=pose,
        visuals=tuple(
            Visual(p.shape, rounded(p.size, 7), pose=rounded_pose(into @ p.pose), color=p.color) for p in parts
        ),
    )


def rounded(values: Iterable[float], digits: int) -> tuple[Any, ...]:
    """So that files read well and the last bits of one machine's arithmetic do not show."""
    return tuple(round(float(v), digits) + 0.0 for v in values)


def rounded_pose(pose: Pose) -> Pose:
    """Return a pose rounded for a file: the position to 1e-7 m, the quaternion to 1e-9."""
    return Pose(rounded(pose.position, 7), rounded(pose.quaternion, 9))
