"""Notices of who holds ports, and requests to stop."""

from __future__ import annotations

import threading

import pytest

from robik.errors import ServoError
from robik.servo import outside
from robik.servo.chain import Servo, ServoChain
from robik.servo.outside import STOP, TORQUE_OFF, Notice, ask_to_stop, holders, ports_of
from robik.servo.status import PlayState, Status

PORTS = ("/dev/ttyUSB0", "/dev/ttyUSB1")
PLAYING, HOLDING = Status(PlayState.PLAYING, "playing"), Status(PlayState.HOLDING, "stopped, holding")


@pytest.fixture(autouse=True)
def of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv(outside.VARIABLE, str(tmp_path))


def test_a_robot_on_several_ports_is_found_by_each_of_them() -> None:
    chain = ServoChain((Servo("a", 1), Servo("b", 2, port=PORTS[1])))
    assert ports_of(chain, PORTS[0]) == list(PORTS)
    with Notice(PORTS) as notice:
        assert notice.look(PLAYING) == ""
        assert [holders(port)[0].ports for port in ("", *PORTS)] == [PORTS] * 3
        assert holders("/dev/ttyUSB2") == []
    assert holders() == []


@pytest.mark.parametrize(("is_off", "asked"), [(False, STOP), (True, TORQUE_OFF)])
def test_who_asks_by_one_port_stops_the_robot(is_off, asked) -> None:
    with Notice(PORTS) as notice:
        notice.look(PLAYING)
        said: list[str] = []
        asking = threading.Thread(target=lambda: said.extend(ask_to_stop(PORTS[1], is_off)))
        asking.start()
        while not (found := notice.look(PLAYING)):
            pass
        assert found == asked
        notice.look(HOLDING)
        asking.join()
        assert said == ["/dev/ttyUSB0 and /dev/ttyUSB1: holding: stopped, holding"]


def test_a_request_is_there_whole_or_not_at_all(monkeypatch) -> None:
    """Whoever looked between its making and its writing would take half a request, and throw it away."""
    with Notice(PORTS) as notice:
        notice.look(PLAYING)
        looks: list[str] = []
        write = outside.write_whole

        def watched(path, content) -> None:
            if path.suffix == ".stop":
                looks.append(notice.look(PLAYING))
            write(path, content)
            if path.suffix == ".stop":
                looks.append(notice.look(HOLDING))

        monkeypatch.setattr(outside, "write_whole", watched)
        ask_to_stop(is_torque_off=True)
        assert looks == ["", TORQUE_OFF]


def test_a_stop_takes_no_torque_off_back(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(outside, "STOPPING", 0.1)
    with Notice(PORTS) as notice:
        notice.look(PLAYING)
        for is_off in (True, False):
            with pytest.raises(ServoError, match="does not stop"):
                ask_to_stop(is_torque_off=is_off)
        assert notice.look(PLAYING) == TORQUE_OFF
