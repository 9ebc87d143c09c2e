"""Loads of motors: by hand, for a motor that lifts."""

from __future__ import annotations

import numpy as np
import pytest

from robik.dynamics.drives import Drive
from robik.dynamics.inverse import Dynamics
from robik.dynamics.loads import battery_power, motor_loads


def lifting(torque: list[float], speed: list[float]) -> Dynamics:
    count = len(torque)
    nothing = np.zeros((count, 3))
    return Dynamics(
        times=np.arange(count) / 10.0,
        actuators=("hip",),
        torque=np.array(torque)[:, None],
        velocity=np.array(speed)[:, None],
        force=np.zeros((count, 0, 3)),
        point=np.zeros((count, 0, 3)),
        wrench=np.zeros((count, 6)),
        momentum=nothing,
        angular_momentum=nothing,
        com=nothing,
        missing=np.zeros(count),
    )


def test_a_motor_gives_less_the_faster_it_turns_and_brakes_with_all_it_has() -> None:
    motion = lifting([1.0, 1.2, 1.2, -1.9], [0.0, 2.0, 2.1, 3.0])
    load = motor_loads(motion, {"hip": Drive(10.0, effort=2.0, speed=5.0)})["hip"]
    assert load.beyond == 1  # 2 N m (1 - 2.1 / 5) = 1.16; at 2.0 rad/s it is 1.2, and what brakes may be all
    assert (load.torque, load.sample) == (1.9, 3)
    assert load.share == pytest.approx(0.95)
    assert load.heat == pytest.approx(np.mean(np.square([0.5, 0.6, 0.6, 0.95])))


def test_power_is_work_and_heat() -> None:
    drives = {"hip": Drive(10.0, effort=2.0, speed=5.0)}
    power = battery_power(lifting([2.0, 1.0, 1.0, -1.0], [0.0, 0.0, 2.0, 4.0]), drives)
    assert power is not None
    np.testing.assert_allclose(power, [10.0, 2.5, 4.5, 0.0])  # stalled, holding, lifting; braking gives, uncounted
    assert battery_power(lifting([1.0], [0.0]), {"hip": Drive(10.0, effort=2.0)}) is None


def test_unknown_motors_have_no_share() -> None:
    load = motor_loads(lifting([3.0], [1.0]), {"hip": Drive(10.0)})["hip"]
    assert (load.share, load.heat, load.beyond) == (0.0, 0.0, 0)
