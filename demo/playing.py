"""The motion on simulated servos, as it would go to real ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from bl_ext.user_default.robik.robik.motions import Motion
from bl_ext.user_default.robik.robik.servo.chain.chain import ServoChain
from bl_ext.user_default.robik.robik.servo.play.player import Player, PlaySettings, PlayState
from bl_ext.user_default.robik.robik.servo.play.softening import fitting_speed
from bl_ext.user_default.robik.robik.servo.port.thread import SIMULATED

PATIENT = PlaySettings(heartbeat=10.0, watchdog=2.5, silence=2.0)  # these servos do no harm while a busy machine stalls


def play(motion: Motion, chain: ServoChain) -> dict:
    """Play a motion on a simulated chain, slower where the servos are; what went over the bus."""
    motion, slowed = slowed_down(motion, chain)
    player = Player(chain, SIMULATED, PATIENT)
    player.connect()
    try:
        player.wait(PlayState.READY, PlayState.HOLDING)
        player.torque(True)
        player.wait(PlayState.HOLDING)
        player.play(motion, from_afar=True)
        done = player.wait(PlayState.HOLDING, timeout=60.0 + 2.0 * float(motion.times[-1]))
        end = np.array(done.present) - motion.values[-1, [motion.actuators.index(a) for a in chain.actuators]]
        player.torque(False)
        player.wait(PlayState.READY)
    finally:
        player.close()
    size = chain.goal_bytes
    return {
        "servos": len(chain.servos),
        "rate_hz": player.settings.rate,
        "slowed_down": slowed,
        "packets": done.sent,
        "dropped": done.dropped,
        "bytes_per_packet": size,
        "bytes": size * done.sent,
        "ms_per_packet_on_the_bus": chain.goal_seconds * 1e3,
        "bus_load": chain.bus_time(player.settings.rate),
        "late_p99_ms": done.lateness_p99 * 1e3,
        "late_worst_ms": done.lateness_worst * 1e3,
        "away_at_the_end_rad": float(np.abs(end).max()),
        "message": done.message,
    }


def slowed_down(motion: Motion, chain: ServoChain) -> tuple[Motion, float]:
    """Return the motion at a speed that every servo can keep, and how many times longer it then takes."""
    factor = 1.0 / fitting_speed(motion, chain)
    return replace(motion, times=motion.times * factor), factor
