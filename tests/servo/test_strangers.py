"""Servos on the bus that are of no chain: models that are not known or not played. Judged by the independent chain."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from robik.motions import Motion
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.servo import Servo
from robik.servo.play.player import Player
from robik.servo.port.status import PlaySettings, PlayState
from robik.servo.setup import command as setup_command
from robik.servo.setup.setup import open_workshop

from .independent.table import NEWER_XL330
from .independent_judge import OK, opened

pytestmark = pytest.mark.real_time

TORQUE, TORQUE_OF_P = 64, 512
RATES = (1_000_000,)


@pytest.fixture
def mixed():
    """An XH430, a PH42, a servo of an unknown model, and another XH430, all powered."""
    with opened(1, 2, 3, 4, models={2: 2000}) as (servos, judge):
        servos.change(3, model_number=4242)
        for id in (1, 2, 3, 4):
            assert judge.write(id, TORQUE_OF_P if id == 2 else TORQUE, 1, 1) == OK
        assert servos.powered == {1, 2, 3, 4}
        judge.port.closePort()
        yield servos
        judge.port.openPort()


def settings(servos, id: int) -> dict[str, int]:
    """What a servo holds but for its clock."""
    return {name: value for name, value in servos.registers(id).items() if name != "realtime_tick"}


def test_all_lose_their_torque_known_or_not(mixed) -> None:
    with closing(open_workshop(mixed.port)) as workshop:
        found = workshop.torque_off(RATES)
    assert [(one.id, one.model, powered) for one, powered in found] == [
        (1, "XH430-W350", False), (2, "PH42-020-S300", False), (3, None, False), (4, "XH430-W350", False)
    ]  # fmt: skip
    assert mixed.powered == set()


def test_all_lose_their_torque_before_anybody_is_asked_who_it_is(mixed) -> None:
    mixed.faults(silent=True)  # they hear, and say nothing
    began = mixed.log.packets()[-1].arrived
    with closing(open_workshop(mixed.port)) as workshop:
        assert workshop.torque_off(RATES) == []
    assert mixed.powered == set()
    after = [packet for packet in mixed.log.packets() if packet.arrived > began]
    assert [(list(one.writes(TORQUE).values()), list(one.writes(TORQUE_OF_P).values())) for one in after[:6]] == [
        ([0], []), ([], [0])
    ] * 3  # fmt: skip
    assert {one.id for one in after[:6]} == {0xFE}


def test_strangers_stop_neither_scan_nor_prepare(mixed) -> None:
    mixed.change([1, 2, 3, 4], torque_enable=0)
    mixed.change(4, return_delay_time=250)
    before = {id: settings(mixed, id) for id in (2, 3)}
    with closing(open_workshop(mixed.port)) as workshop:
        found = workshop.scan(RATES)
        assert [(one.id, one.model) for one in found] == [
            (1, "XH430-W350"), (2, "PH42-020-S300"), (3, None), (4, "XH430-W350")
        ]  # fmt: skip
        changes = workshop.advice(found, 1_000_000)
        assert [(change.servo.id, change.entry) for change in changes] == [(4, "return_delay_time")]
        first, second = workshop.unfit(found)
        assert first == "servo 2 is an PH42-020-S300, which cannot be played; its torque can be cut, but not more"
        assert second == "servo 3 is of an unknown model, number 4242; it can be seen, but not set up"
        workshop.apply(changes)
    assert mixed.registers(4)["return_delay_time"] == 0
    assert {id: settings(mixed, id) for id in (2, 3)} == before


def test_newer_firmware_of_an_xl330_plays_too() -> None:
    """Its indirect data are elsewhere: at the old place a goal would be an indirect address."""
    names = ("a", "b")
    chain = ServoChain(tuple(Servo(name, k + 1, "XL330-M288", velocity_limit=5.0) for k, name in enumerate(names)))
    settings = PlaySettings(approach_speed=3.0, heartbeat=30.0, watchdog=2.5, silence=2.0)
    for model, firmware in ((1200, 52), (NEWER_XL330, 53)):
        with opened(1, 2, model=model, firmware=firmware) as (servos, judge):
            judge.port.closePort()
            player = Player(chain, servos.port, settings)
            player.connect()
            player.wait(PlayState.READY)
            player.torque(True)
            player.wait(PlayState.HOLDING)
            times = np.linspace(0.0, 0.6, 40)
            player.play(Motion(times=times, actuators=names, values=np.column_stack([0.5 * times, -0.5 * times])))
            assert "to the end" in player.wait(PlayState.HOLDING).message
            assert player.status.looks > 0
            player.close()
            assert servos.log.goals(id=1)[-1].counts == 2048 + round(0.3 * 4096 / (2 * np.pi))
            assert servos.log.goals(id=2)[-1].counts == 2048 - round(0.3 * 4096 / (2 * np.pi))
            judge.port.openPort()


def test_the_command_says_who_is_left_alone(mixed, monkeypatch, capsys) -> None:
    monkeypatch.setitem(vars(setup_command.DEFAULT), "likely_bauds", RATES)
    mixed.change([1, 2, 3, 4], torque_enable=0)
    mixed.change(4, return_delay_time=250)
    setup_command.prepare(mixed.port, 1_000_000, is_sure=True)
    said = capsys.readouterr().out
    assert "servo 2 is an PH42-020-S300" in said
    assert "servo 3 is of an unknown model" in said
    assert "1 changes made" in said
    setup_command.prepare(mixed.port, 1_000_000, is_sure=True)
    assert "all others are ready for streaming" in capsys.readouterr().out
