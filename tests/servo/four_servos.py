"""Four simulated servos in a time of the test's own, and what is played on them."""

from __future__ import annotations

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.chain.chain import default_chain
from robik.servo.chain.trajectory import Along
from robik.servo.port.status import PlaySettings

from .virtual import Stage, Time

NAMES = ("hip", "knee", "foot", "toe")
CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.5, 2.5)), model="XH430-W210")
RATE, APPROACH = 25.0, 3.0
UNIT = 0.229 / 60 * 4096  # [counts/s], to which servos round their speed limit up
CALM = PlaySettings(rate=RATE, approach_speed=APPROACH, heartbeat=1e6, watchdog=2.54, silence=10.0)


@pytest.fixture(name="time")
def new_time():
    return Time()


@pytest.fixture(name="stage")
def new_stage(time, monkeypatch):
    return Stage(time, CHAIN, CALM, monkeypatch)


def hold(stage, at) -> None:
    """The robot is put somewhere by hand, and holds."""
    stage.session.torque_off()
    for servo, counts in zip(stage.simulated.servos, at, strict=True):
        servo.motor.position = float(counts)
        servo.motor.halt()
    stage.session.torque_on()


def play(stage, motion: Motion) -> bool:
    """Whether it was played, or else ended in a fault."""
    try:
        stage.session.play(Along(motion, CHAIN), False, 1 / 60)
    except ServoError:
        return False
    return True


def pose(values) -> Motion:
    return Motion(times=np.zeros(1), actuators=NAMES, values=np.reshape(values, (1, len(NAMES))))


def wave(seconds: float) -> Motion:
    times = np.arange(0.0, seconds + 1e-9, 1 / 60)
    return Motion(times=times, actuators=NAMES, values=0.8 * np.sin(1.5 * times[:, None] + np.arange(len(NAMES))))
