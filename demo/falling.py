"""Test of the walker in physics: does it fall, and what makes it stand?"""

from __future__ import annotations

from collections.abc import Callable

from bl_ext.user_default.robik.robik.dynamics.inverse import InverseDynamics
from bl_ext.user_default.robik.robik.mechanism import Mechanism
from bl_ext.user_default.robik.robik.motions import Motion
from bl_ext.user_default.robik.robik.motions.needs import Needs
from bl_ext.user_default.robik.robik.physics import draws, planned, run
from bl_ext.user_default.robik.robik.physics.motors import Motors
from bl_ext.user_default.robik.robik.physics.remedies import Source
from bl_ext.user_default.robik.robik.physics.standing import Search, make_it_stand
from bl_ext.user_default.robik.robik.servo.chain.chain import ServoChain
from bpy.types import Object

from demo.performance import sampled

NEEDS = Needs(carry_weight=True, p_gain=10500.0)  # with which the balanced walk stands in all trials (docs/physics.md)


def in_physics(mechanism: Mechanism, motion: Motion, chain: ServoChain, trials: int) -> dict:
    """Play a motion in physics with the servos' settings above; what `robik physics --json` prints."""
    motors = Motors(room=InverseDynamics(mechanism), chain=chain)
    drives, carry = motors.drives(NEEDS.p_gain), NEEDS.carry_weight
    plan = planned(mechanism, motion, drives, carry=carry, delay=motors.delay, source="the bake")
    return run(plan, draws(trials)).as_data()


def made_to_stand(root: Object, motion: Motion, chain: ServoChain, trials: int, said: Callable[[str], None]) -> Search:
    """Search for the least change of the balanced bake with which the robot stands."""
    _, asked = sampled(root)
    source = Source(motion=motion, request=asked)
    motors = Motors(room=InverseDynamics(asked.mechanism), chain=chain)
    return make_it_stand(source, motors, trials, lambda trying: said(f"  {trying}"))


def own_pace(search: Search) -> str:
    """Return how far the bake's own pace got."""
    last = max((a for a in search.attempts if a.remedy.speed == 1.0), key=lambda attempt: attempt.score)
    return last.told()
