"""The approach in real time, from outside the limits: how fast goals and horns are by an independent chain's clock."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from robik.motions import Motion
from robik.servo.chain.chain import default_chain
from robik.servo.play.player import Player
from robik.servo.port.status import FARTHEST_WATCHDOG, PlaySettings, PlayState

from .independent import IndependentChain

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]

NAMES = ("hip", "knee", "foot", "toe")
BAUD = 4_000_000
CHAIN = replace(default_chain(NAMES, dict.fromkeys(NAMES, (-0.4, 0.4))), baud_rate=BAUD)
STARTS = {1: 1400, 2: 2700, 3: 2048, 4: 2300}  # [counts]: up to 0.6 rad outside
START = np.array([0.3, -0.3, 0.0, 0.39])  # of the motion [rad]
ASKED = 0.5  # [rad/s]
COUNTS_PER_RAD = 4096 / (2 * np.pi)
UNIT = 0.229 / 60 * 4096  # [counts/s], in which servos count speeds
WINDOW = 0.1  # [s] of goals over which their speed is a mean
USUAL = 0.9  # of the windows; the others may lie beside a stall of the machine, after which goals are dropped


@pytest.mark.parametrize("rate", [100.0, 500.0, 1000.0])
def test_an_approach_from_outside_the_limits_is_as_fast_as_asked(rate):
    how = PlaySettings(rate=rate, approach_speed=ASKED, heartbeat=30.0, silence=2.0, watchdog=FARTHEST_WATCHDOG)
    motion = Motion(times=np.array([0.0, 0.05]), actuators=NAMES, values=np.array([START, START]))
    with IndependentChain(ids=CHAIN.ids, positions=STARTS, baud=BAUD) as servos:
        player = Player(CHAIN, servos.port, how)
        try:
            player.connect()
            player.wait(PlayState.READY)
            player.torque(True)
            player.wait(PlayState.HOLDING)
            servos.mark()
            player.play(motion, from_afar=True)
            status = player.wait(PlayState.HOLDING)
        finally:
            player.close()
        packets = [packet for packet in servos.log.packets() if len(packet.goals) == len(NAMES)]
        fastest = servos.fastest()
    assert status.message == "played to the end, holding", "nobody is told that something is blocked"
    times = np.array([packet.time for packet in packets])
    goals = np.array([list(packet.goals.values()) for packet in packets])
    window = round(WINDOW * rate)
    passed = np.maximum(times[window:] - times[:-window], window / rate)  # goals that came late in a row left apart
    speeds = np.abs(goals[window:] - goals[:-window]) / passed[:, None]
    assert len(speeds) > 0.5 * rate
    most = speeds.max(axis=1)
    assert np.quantile(most, USUAL) <= ASKED * COUNTS_PER_RAD * 1.02 + 1 / WINDOW
    assert speeds.max() >= 0.9 * ASKED * COUNTS_PER_RAD, "and no slower"
    assert max(fastest.values()) <= np.ceil(ASKED * COUNTS_PER_RAD / UNIT) * UNIT * 1.01
    assert np.abs(goals[-1] - (2048 + START * COUNTS_PER_RAD)).max() <= 0.5
