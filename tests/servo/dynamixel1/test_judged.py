"""The independent and the simulated chain of Protocol 1.0, which the vendor's SDK judges."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

import pytest

from robik.servo.brands.driver import driver_of
from robik.servo.simulator.process import SimulatorProcess

from .conftest import OK, Sdk, chain_of, eventually
from .independent import Dynamixel1Chain

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]
TORQUE, GOAL, LIMIT, POSITION, LOCK = 24, 30, 34, 36, 47
ANGLE, RANGE, OVERLOAD, UNKNOWN = 2, 8, 32, 64


@pytest.fixture(params=["independent", "simulated"])
def judged(request: pytest.FixtureRequest, servos: Dynamixel1Chain) -> Iterator[str]:
    if request.param == "independent":
        yield servos.port
        return
    with SimulatorProcess.of(chain_of()) as process:
        yield process.port


@pytest.fixture
def sdk(judged: str) -> Iterator[Sdk]:
    with closing(Sdk(judged)) as opened:
        yield opened


def test_the_sdk_finds_servos_as_they_should_be(sdk: Sdk) -> None:
    assert sdk.ping(sdk.port, 2) == (12, *OK)
    assert sdk.read(2, POSITION) == (512, *OK)
    assert sdk.write(2, TORQUE, 1, 1) == OK
    assert sdk.write(2, GOAL, 562) == OK
    eventually(lambda: sdk.read(2, POSITION)[0] == 562)
    assert sdk.regWriteTxRx(sdk.port, 3, GOAL, 2, [244, 1]) == OK
    assert sdk.read(3, 44, 1) == (1, *OK)
    assert sdk.write(3, TORQUE, 1, 1) == OK
    assert sdk.read(3, POSITION) == (512, *OK)
    sdk.action(sdk.port, 0xFE)
    eventually(lambda: sdk.read(3, POSITION)[0] == 500)
    assert sdk.read(3, 44, 1) == (0, *OK)


def test_the_sdk_finds_errors_as_they_should_be(sdk: Sdk) -> None:
    assert sdk.write(1, 8, 600) == OK
    assert sdk.write(1, GOAL, 700) == (OK[0], ANGLE)
    assert sdk.read(1, GOAL)[1:] == OK  # an error of an instruction is in one answer
    assert sdk.read(1, GOAL)[0] != 700
    assert sdk.write(1, TORQUE, 1, 1) == OK
    assert sdk.write(1, 8, 1023) == (OK[0], RANGE)  # settings are locked
    assert sdk.read(1, 8) == (600, *OK)
    assert sdk.txRxPacket(sdk.port, [0, 0, 1, 2, 5, 0])[1:] == (OK[0], UNKNOWN)  # an action, and nothing was registered
    assert sdk.write(1, TORQUE, 0, 1) == OK
    assert sdk.write(1, LOCK, 1, 1) == OK
    assert sdk.write(1, LOCK, 0, 1)[0] == OK[0]
    assert sdk.read(1, LOCK, 1) == (1, *OK)  # until the power goes


def test_a_servo_that_answers_reads_alone_still_answers_pings(sdk: Sdk) -> None:
    assert sdk.write(1, 16, 1, 1)[0] in (OK[0], -3001)  # whether this is answered, nobody says
    assert sdk.read(1, 16, 1) == (1, *OK)
    assert sdk.write(1, 16, 0, 1)[0] != OK[0]
    assert sdk.read(1, 16, 1)[1] != OK[0]
    sdk.port.is_using = False
    assert sdk.txRxPacket(sdk.port, [0, 0, 1, 2, 1, 0])[1] == OK[0]


def test_a_shutdown_takes_the_torque_limit_until_it_is_written_again() -> None:
    servo = driver_of("dynamixel1").simulate(chain_of(), 0.0).servos[0]
    servo.write(GOAL, (700).to_bytes(2, "little"))  # type: ignore[attr-defined]
    servo.motor.blocked = True
    servo.advance(2.0)
    assert servo.read(LIMIT, 2) == bytes(2)  # type: ignore[attr-defined]
    assert (servo.said(), servo.motor.strength) == (OVERLOAD, 0.0)  # type: ignore[attr-defined]
    servo.motor.blocked = False
    servo.write(TORQUE, b"\0")  # type: ignore[attr-defined]
    servo.write(LIMIT, b"\xff\3")  # type: ignore[attr-defined]
    assert (servo.said(), servo.motor.strength) == (0, 1.0)  # type: ignore[attr-defined]
    servo.sense(celsius=71.0)
    assert servo.read(LIMIT, 2) == bytes(2)  # type: ignore[attr-defined]
    servo.sense(celsius=69.0)
    assert servo.said() == 0  # type: ignore[attr-defined]
