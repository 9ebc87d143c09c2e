"""Notices of who holds ports, and requests to stop."""

from __future__ import annotations

import threading

import pytest

from robik.errors import ServoError
from robik.servo.chain.chain import Servo, ServoChain
from robik.servo.port import outside
from robik.servo.port.outside import STOP, TORQUE_OFF, Held, Holder, Notice, ask_to_stop, held, holders, ports_of
from robik.servo.port.own_folder import VARIABLE
from robik.servo.port.status import PlayState, ServoReading, Status

PORTS = ("/dev/ttyUSB0", "/dev/ttyUSB1")
HELD = tuple(Held(port, "dynamixel", 1_000_000) for port in PORTS)
PLAYING, HOLDING = Status(PlayState.PLAYING, "playing"), Status(PlayState.HOLDING, "stopped, holding")
CUT = Status(PlayState.READY, "torque is off", servos=(ServoReading(1, "knee", False, 0.0, None, 30.0, 12.0, ""),))


class Board:
    """What a player says of itself."""

    def __init__(self) -> None:
        self.status = PLAYING

    def notice(self) -> Notice:
        """Return a notice of it."""
        return Notice(HELD, lambda: self.status)


@pytest.fixture(autouse=True)
def of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))


def test_a_robot_on_several_ports_is_found_by_each_of_them() -> None:
    chain = ServoChain((Servo("a", 1), Servo("b", 2, port=PORTS[1])))
    assert ports_of(chain, PORTS[0]) == list(PORTS)
    assert held(chain, PORTS[0]) == list(HELD)
    with Board().notice() as notice:
        assert notice.look() == ""
        assert [holders(port)[0].ports for port in ("", *PORTS)] == [HELD] * 3
        assert holders("/dev/ttyUSB2") == []
    assert holders() == []


@pytest.mark.parametrize(("is_off", "asked"), [(False, STOP), (True, TORQUE_OFF)])
def test_who_asks_by_one_port_stops_the_robot(is_off, asked) -> None:
    with (board := Board()).notice() as notice:
        notice.look()
        said: list[Holder] = []
        asking = threading.Thread(target=lambda: said.extend(ask_to_stop(PORTS[1], is_off)))
        asking.start()
        while not (found := notice.look()):
            pass
        assert found == asked
        board.status = HOLDING
        notice.look()
        asking.join()
        assert [(one.name, one.state, one.is_off) for one in said] == [
            ("/dev/ttyUSB0 and /dev/ttyUSB1", "holding: stopped, holding", False)
        ]


def test_a_request_is_there_whole_or_not_at_all(monkeypatch) -> None:
    """Whoever looked between its making and its writing would take half a request, and throw it away."""
    with (board := Board()).notice() as notice:
        notice.look()
        looks: list[str] = []
        write = outside.write_whole

        def watched(path, content) -> None:
            if path.suffix == ".stop":
                looks.append(notice.look())
            write(path, content)
            if path.suffix == ".stop":
                board.status = HOLDING
                looks.append(notice.look())

        monkeypatch.setattr(outside, "write_whole", watched)
        ask_to_stop(is_torque_off=True)
        assert looks == ["", TORQUE_OFF]


def test_a_stop_takes_no_torque_off_back(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(outside, "STOPPING", 0.1)
    with Board().notice() as notice:
        notice.look()
        assert [one.is_hung for one in ask_to_stop(is_torque_off=True)] == [True], "within 0.3 s"
        with pytest.raises(ServoError, match="does not stop"):
            ask_to_stop()
        assert notice.look() == TORQUE_OFF


@pytest.mark.parametrize("last", [CUT, HOLDING], ids=["off", "on"])
def test_who_leaves_after_it_was_asked_has_said_how_it_ended(last, tmp_path, monkeypatch) -> None:
    """Who asked may look too late to see what the program said while it was there."""
    with (board := Board()).notice() as notice:
        notice.look()
        write = outside.write_whole

        def leave_at_once(path, content) -> None:
            write(path, content)
            if path.suffix == ".stop":
                monkeypatch.setattr(outside, "write_whole", write)
                assert notice.look() == TORQUE_OFF
                board.status = last
                notice.__exit__()

        monkeypatch.setattr(outside, "write_whole", leave_at_once)
        (said,) = ask_to_stop(is_torque_off=True)
        assert (said.state, said.is_off) == (f"{last.state.value}: {last.message}", last is CUT)
        assert said.is_hung is (last is not CUT), "then torque goes off from here"
        assert list(tmp_path.iterdir()) == []
