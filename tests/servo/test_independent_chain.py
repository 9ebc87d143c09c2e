"""The independent chain, judged by the vendor's SDK, which shares no code with it either."""

from __future__ import annotations

import math
from contextlib import contextmanager

import numpy as np
import pytest
from dynamixel_sdk import (
    COMM_SUCCESS,
    GroupSyncRead,
    PacketHandler,
    PortHandler,
)

from robik.retarget.motion import Motion
from robik.servo.chain import default_chain
from robik.servo.player import Player
from robik.servo.status import PlaySettings, PlayState

from .conftest import DEADLINE, until
from .independent import IndependentChain

pytestmark = pytest.mark.real_time

OK = (COMM_SUCCESS, 0)
RESULT_FAIL, INSTRUCTION, CRC, RANGE, LENGTH, LIMIT, ACCESS = range(1, 8)
ALERT = 0x80
DRIVE_MODE, MODE, STARTUP, SHUTDOWN, TORQUE, LED, ERROR, WATCHDOG = 10, 11, 60, 63, 64, 65, 70, 98
ACCELERATION, VELOCITY, GOAL, LOAD, POSITION, VOLTS, CELSIUS = 108, 112, 116, 126, 132, 144, 146
VELOCITY_UNIT = 0.229 / 60 * 4096  # [counts/s]
ACCELERATION_UNIT = 214.577 / 3600 * 4096  # [counts/s²]
FULL_SPEED = 30 / 60 * 4096  # [counts/s] of an XH430-W350


class PatientPort(PortHandler):
    """The SDK's port; a busy machine may take some more time to answer."""

    def setPacketTimeout(self, packet_length):
        self.setPacketTimeoutMillis(250.0)


class Judge:
    """The vendor's SDK on a chain.

    Attributes:
        port, sdk: for what has no shorter form here.
    """

    def __init__(self, chain: IndependentChain) -> None:
        self.port, self.sdk = PatientPort(chain.port), PacketHandler(2.0)
        assert self.port.openPort()
        assert self.port.setBaudRate(1_000_000)

    def write(self, id, address, size, value):
        return self.sdk.writeTxRx(self.port, id, address, size, little(value, size))

    def read(self, id, address, size, signed=True):
        data, result, error = self.sdk.readTxRx(self.port, id, address, size)
        assert (result, error & 0x7F) == OK, (result, error)
        return int.from_bytes(bytes(data), "little", signed=signed)

    def group(self, address, size, ids):
        group = GroupSyncRead(self.port, self.sdk, address, size)
        for id in ids:
            group.addParam(id)
        return group

    def send(self, id, code, parameters=b""):
        """Send a packet that the SDK has no function for, with its own checksum, and return the error of the answer."""
        packet = [0, 0, 0, 0, id, len(parameters) + 3, 0, code, *parameters, 0, 0]
        _, result, error = self.sdk.txRxPacket(self.port, packet)
        assert result == COMM_SUCCESS
        return error


def little(value, size):
    return list(value.to_bytes(size, "little", signed=value < 0))


@contextmanager
def opened(*ids, **options):
    with IndependentChain(ids=ids or (1, 2, 3, 4), **options) as chain:
        judge = Judge(chain)
        yield chain, judge
        judge.port.closePort()


@pytest.fixture
def pair():
    with opened() as (chain, judge):
        yield chain, judge


@pytest.fixture
def chain(pair):
    return pair[0]


@pytest.fixture
def judge(pair):
    return pair[1]


# playing


def test_the_player_plays_on_it():
    names = ("a", "b", "c", "d")
    servos = default_chain(names, dict.fromkeys(names, (-2.5, 2.5)), model="XH430-W350", robot="test")
    times = np.arange(0.0, 1.5, 1 / 60)
    motion = Motion(times, names, 0.4 * np.sin(2 * times[:, None] + np.arange(4)))
    with IndependentChain(ids=servos.ids) as chain:
        player = Player(servos, chain.port, PlaySettings(approach_speed=1.5, heartbeat=30.0, watchdog=2.0, silence=2.0))
        try:
            player.connect()
            player.wait(PlayState.READY)
            assert chain.log.torque() == []
            player.torque(True)
            player.wait(PlayState.HOLDING)
            assert {change.id for change in chain.log.torque(on=True)} == set(servos.ids) == chain.powered
            chain.mark()
            player.play(motion)
            player.wait(PlayState.HOLDING, timeout=DEADLINE)
            until(lambda: not any(servo["velocity"] for servo in chain.state().values()))
            horns = [servo["horn"] for servo in chain.state().values()]
            assert horns == pytest.approx(2048 + motion.values[-1] * 4096 / math.tau, abs=1.5)
            assert 0.7 * 1.5 < max(chain.fastest().values()) * math.tau / 4096 < 1.05 * 1.5
            assert {goal.id for goal in chain.log.goals()} == set(servos.ids)
        finally:
            player.close()
