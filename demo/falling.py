"""Test of the walker in physics: does it fall?"""

from __future__ import annotations

from bl_ext.user_default.robik.robik.mechanism import Mechanism
from bl_ext.user_default.robik.robik.motions import Motion
from bl_ext.user_default.robik.robik.physics import draws, planned, run
from bl_ext.user_default.robik.robik.physics.motors import chain_drives
from bl_ext.user_default.robik.robik.servo.chain import ServoChain

P_GAIN = 14000  # of the servos: 6 times as stiff as standing needs
DRAWS = 20  # times with other masses, softer and stiffer motors, delay, slippery and sloping floors


def in_physics(mechanism: Mechanism, motion: Motion, chain: ServoChain) -> dict:
    """Play a motion in physics, goals carrying the weight; what `robik physics --json` prints."""
    drives = chain_drives(chain, mechanism, P_GAIN)
    plan = planned(mechanism, motion, drives, carry=True, delay=chain.goal_seconds, source="the bake")
    return run(plan, draws(DRAWS)).as_data()
