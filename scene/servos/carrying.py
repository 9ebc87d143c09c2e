"""Goals of a robot's bake that carry its weight, by its masses and the position P gains of its servos."""

from __future__ import annotations

from bpy.types import Object

from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism, Pose
from ...robik.motions import Motion
from ...robik.physics.carrying import carrying
from ...robik.physics.live_carrying import LiveCarrying
from ...robik.servo.chain.chain import ServoChain
from ..robot.parts import bodies
from ..robot.reading import read_robot


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

    The bake has the base of a floating robot, and is played at `speed`, with goals at `rate` [Hz]. `read` has the
    servos' position P gains as read back, by id; for the others, those that physics is asked about count. The
    second value is what is to be said of them, empty if nothing. Raise RobikError if torques or motors are not
    known.
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


class LiveGoals:
    """Goals of a robot's sliders that carry its weight, as it is posed now, where its *Carry Weight* is on.

    `read` has the servos' position P gains as read back, by id; for the others, those that physics is asked about
    count. Raise RobikError if torques or motors are not known.
    """

    def __init__(self, root: Object, chain: ServoChain, read: dict[int, float]) -> None:
        physics = root.robik.robot.physics
        gains = read or float(physics.p_gain) or None
        self._carrying = LiveCarrying(read_robot(root), chain, gains) if physics.carry_weight else None

    def of(self, root: Object, sliders: dict[str, float]) -> dict[str, float]:
        """Return what the servos are told for the sliders' values, which come back as they are where that fails."""
        if self._carrying is None:
            return sliders
        base = next((body for body in bodies(root) if body.name == self._carrying.base), None)
        pose = None if base is None else Pose(*_placed(base))
        try:
            return self._carrying.goals(sliders, pose)
        except RobikError:  # a pose that cannot be; the limiter takes it from there
            return sliders


def _placed(body: Object) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    """Return where a body's object is, in the robot's coordinates."""
    position, quaternion, _ = body.matrix_local.decompose()
    turn = quaternion.normalized()
    return (position[0], position[1], position[2]), (turn.w, turn.x, turn.y, turn.z)
