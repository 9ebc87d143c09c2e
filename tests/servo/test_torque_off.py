"""Torque-off from a shell, at a bus whose servos say what a test lets them: what is printed, and the exit code."""

from __future__ import annotations

import pytest

from robik.servo.brands.registry import brand_of
from robik.servo.bus.emergency import Emergency
from robik.servo.bus.telemetry import Seen
from robik.servo.setup import setup
from robik.servo.setup.command import torque_off


class Bus:
    """Servos that answer `torque_off` as a test says."""

    def __init__(self, found: dict[int, bool | None]) -> None:
        self._found, self.rates, self.is_closed = found, None, False

    def torque_off(self, rates: tuple[int, ...]) -> list[tuple[Seen, bool | None]]:
        self.rates = rates
        return [(Seen(id, "XH430-W350", 1000, 46, 57600), powered) for id, powered in self._found.items()]

    def close(self) -> None:
        self.is_closed = True


CASES = {
    "all are off": ({1: False, 2: False}, 0, ["torque is off", "torque is off"]),
    "one is on": ({1: False, 2: True}, 1, ["torque is off", "torque is ON"]),
    "one is silent": ({1: None, 2: False}, 1, ["does not answer any more", "torque is off"]),
    "nobody": ({}, 1, ["torque-off was sent, but no servo answers; check the power, the cable and the port"]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("brand", ["dynamixel", "feetech"])
def test_it_is_0_only_where_every_servo_says_that_its_torque_is_off(
    case: str, brand: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found, code, words = CASES[case]
    opened = []

    def workshop(port: str, baud_rate: int, brand: str, emergency: Emergency) -> Bus:
        opened.append((port, baud_rate, brand))
        return bus

    monkeypatch.setattr(setup, "open_workshop", workshop)
    for baud_rate, rates in ((None, brand_of(brand).likely_bauds), (115200, (115200,))):
        bus = Bus(found)
        assert torque_off("/dev/nowhere", baud_rate, brand) == code
        assert bus.rates == rates and bus.is_closed
        assert opened.pop() == ("/dev/nowhere", rates[0], brand)
        lines = capsys.readouterr().out.splitlines()
        assert [line.endswith(end) for line, end in zip(lines, words, strict=True)] == [True] * len(words)
        assert [line.split()[:2] for line in lines if found] == [["id", str(id)] for id in found]
