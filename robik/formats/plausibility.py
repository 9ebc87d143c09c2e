"""Doubts about a robot that can be read, but that nobody can build: mostly wrong units, or inertias written by hand."""

from __future__ import annotations

from math import isfinite, pi

import numpy as np

from ..mechanism import Body, Joint, Mechanism
from ..mechanism.joints import TURNS
from .imported import Notes

ROUNDED = 0.01  # of the largest principal moment: what rounding in a file explains
LIGHT = 1e-4  # of the robot's mass: a lighter body stands for a frame, and what its inertia is does not matter
NOTHING = 1e-9  # of the robot's largest moment: likewise
MANY_TURNS, MOST_DEGREES = (
    4 * pi,
    720,
)  # limits between, if whole numbers, look like degrees; those beyond stand for none
HEAVY = 10_000.0  # [kg]
FAR_OUT = 2.0  # of the robot's size: a radius of gyration that no part of it has


def doubts(mechanism: Mechanism) -> tuple[str, ...]:
    """Return one sentence for each doubt about a robot, with the first few bodies or joints that it is about."""
    notes = Notes()
    mass = sum(body.mass for body in mechanism.bodies)
    moments = [max(map(abs, body.inertia)) for body in mechanism.bodies]
    for body, largest in zip(mechanism.bodies, moments, strict=True):
        if largest <= NOTHING * max(moments):
            continue
        if body.mass == 0.0:
            notes.add("it has inertia, but no mass", body.name)
        elif body.mass > LIGHT * mass and not _is_possible(body.inertia_matrix / largest):
            notes.add(
                "no body has such an inertia: a principal moment is negative, or more than the other two together",
                body.name,
            )
        elif body.mass > LIGHT * mass and _is_far_out(body, FAR_OUT * mechanism.extent):
            notes.add(
                "for such an inertia its mass must lie farther out than twice the robot's size: give it in kg m², or "
                "balance, torques and physics are wrong",
                body.name,
            )
    for joint in mechanism.joints:
        if _in_degrees(joint):
            notes.add("its limits look like degrees, but were read as radians", joint.name)
    if mass > HEAVY:
        notes.add(
            f"the robot weighs {mass / 1000:,.0f} tonnes; are its masses in kilograms, and its lengths in metres?"
        )
    return notes.sentences


def _is_possible(inertia: np.ndarray) -> bool:
    low, middle, high = np.linalg.eigvalsh(inertia)
    return bool(min(low, low + middle - high) >= -ROUNDED * high)


def _is_far_out(body: Body, radius: float) -> bool:
    """Return whether a body's radius of gyration, in the mean of all axes, is more than a radius [m]."""
    return sum(body.inertia[:3]) > 2.0 * body.mass * radius * radius


def _in_degrees(joint: Joint) -> bool:
    """Return whether a joint's limits are whole numbers of more than two turns, as they would be of degrees."""
    turns = [
        limit for motion, pair in zip(joint.motions, joint.limits, strict=True) if motion in TURNS for limit in pair
    ]
    finite = [limit for limit in turns if isfinite(limit)]
    return (
        all(limit == round(limit) for limit in finite)
        and MANY_TURNS < max(map(abs, finite), default=0.0) <= MOST_DEGREES
    )
