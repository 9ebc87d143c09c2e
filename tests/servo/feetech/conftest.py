"""The vendor's SDK as the judge of Feetech's packets and servos."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scservo_sdk import COMM_SUCCESS, PortHandler, sms_sts

from tests.servo.waiting import Waiting

from .independent import FeetechChain

OK = (COMM_SUCCESS, 0)
PATIENCE = 250.0  # [ms] that an answer may take on a busy machine


class PatientPort(Waiting, PortHandler):
    """The SDK's port, with more patience."""

    def setPacketTimeout(self, packet_length: int) -> None:
        self.setPacketTimeoutMillis(PATIENCE)


def opened(name: str) -> sms_sts:
    """The SDK on a port."""
    port = PatientPort(name)
    assert port.setBaudRate(1_000_000)
    return sms_sts(port)


@pytest.fixture
def servos() -> Iterator[FeetechChain]:
    with FeetechChain(ids=(1, 2, 3)) as chain:
        yield chain
