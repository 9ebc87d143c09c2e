"""Goals of a robot's bake that carry its weight, by its masses and the position P gains of its servos."""

from __future__ import annotations

from bpy.types import Object

from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.physics.carrying import carrying
from ...robik.servo.chain import ServoChain


def carried(
    root: Object,
    mechanism: Mechanism,
    motion: Motion,
    chain: ServoChain,
    read: dict[int, float],
    speed: float,
    rate: float,
) -> tuple[Motion, str]:
    """Return goals that bring loaded servos to where a bake is, where the robot's *Carry Weight* is on; else the bake.

    Args:
        root: the robot.
        mechanism: what it is.
        motion: the bake, with the base of a floating robot.
        chain: the servos.
        read: their position P gains as read back, by id; those that physics is asked about where there are none.
        speed: at which it is played.
        rate: of goals [Hz].

    Returns:
        The goals, and what is to be said of them; empty where nothing is.

    Raises:
        RobikError: torques or motors are not known; says why.
    """
    physics = root.robik.robot.physics
    if not physics.carry_weight:
        return motion, ""
    asked = float(physics.p_gain) or None
    goals, said = carrying(mechanism, motion, chain, read or asked, speed=speed, rate=rate, source="the bake")
    others = sorted({gain for gain in read.values() if asked is not None and gain != asked})
    if others:
        told = f"the servos' P gain is {', '.join(f'{gain:.0f}' for gain in others)}, not {asked:.0f} as in physics"
        said = "; ".join(filter(None, (told, said)))
    return goals, said
