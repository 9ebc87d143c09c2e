"""Lines and workshops of every brand with control tables, on simulated servos in a time of the tests' own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from robik.errors import ServoError
from robik.servo.brands.driver import driver_of
from robik.servo.brands.registry import BRANDS
from robik.servo.brands.wired.line import WiredLine
from robik.servo.brands.wired.patience import LATENCY, SHORTEST_LATENCY, Patience
from robik.servo.brands.wired.workshop import Workshop
from robik.servo.bus.emergency import Emergency, EmergencyStopped
from robik.servo.bus.line import ServoSilent
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.setup.setup import open_workshop

from .feetech.independent.table import BAUD_RATES as FEETECH_RATES
from .independent.table import BAUD_RATES as DYNAMIXEL_RATES
from .virtual import Port

NAMES = ("a", "b", "c", "d")
RATES = (500_000, 1_000_000, 2_000_000)
OTHER = {"dynamixel": 2_000_000, "dynamixel1": 500_000, "feetech": 500_000}  # a baud rate that the servos do not have
AX_RATES = (1_000_000, 500_000, 400_000, 250_000, 200_000, 115_200, 57_600, 19_200, 9_600)
TYPED_RATES = {"dynamixel": DYNAMIXEL_RATES, "dynamixel1": AX_RATES, "feetech": FEETECH_RATES}
PINGED = {"dynamixel": 1000, "dynamixel1": 12, "feetech": 777}  # the numbers of these models
MIDDLE = {"dynamixel": 2048, "dynamixel1": 512, "feetech": 2048}
ONE_BY_ONE = ("dynamixel1",)  # whose servos cannot be asked in company
TORQUE = {"dynamixel": 64, "dynamixel1": 24, "feetech": 40}  # its address, from the vendors' pages
OFF = {  # torque-off of servos 1 to 4, worked out by hand but for the check
    "dynamixel": bytes([*b"\xff\xff\xfd\x00\xfe", 15, 0, 0x83, 64, 0, 1, 0, 1, 0, 2, 0, 3, 0, 4, 0]),
    "dynamixel1": bytes([*b"\xff\xff\xfe", 12, 0x83, 24, 1, 1, 0, 2, 0, 3, 0, 4, 0]),
    "feetech": bytes([*b"\xff\xff\xfe", 12, 0x83, 40, 1, 1, 0, 2, 0, 3, 0, 4, 0]),
}


@pytest.fixture(params=[name for name, brand in BRANDS.items() if not brand.scheme])
def brand(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def chain(brand: str) -> ServoChain:
    return default_chain(NAMES, dict.fromkeys(NAMES, (-2.0, 2.0)), brand=brand, model=BRANDS[brand].default_model)


@pytest.fixture
def port(chain: ServoChain, monkeypatch: pytest.MonkeyPatch) -> Port:
    return Port(chain, monkeypatch)


@pytest.fixture
def line(chain: ServoChain, port: Port) -> Iterator[WiredLine]:
    with closing(driver_of(chain.brand.name).open_line(chain, "a port", 0.5, Emergency())) as opened:
        assert isinstance(opened, WiredLine)
        yield opened


@pytest.fixture
def workshop(brand: str, port: Port) -> Iterator[Workshop]:
    with closing(open_workshop("a port", 1_000_000, brand)) as opened:
        yield opened


def playing(line: WiredLine) -> WiredLine:
    """A line with torque on."""
    for servo in line.servos:
        line.inquire(servo)
    line.leave_out(())
    line.prepare()
    line.set_speed_limit(np.full(len(line.servos), 2.0))
    line.hold_at(line.positions())
    line.set_torque([True] * len(line.servos))
    return line


def powered(port: Port) -> list[bool]:
    return [servo.motor.powered for servo in port.simulated.servos]


def test_torque_off_goes_out_three_times_to_everybody_left_out_or_not(brand: str, line: WiredLine, port: Port) -> None:
    playing(line).leave_out(line.servos[2:])
    assert powered(port) == [True] * 4
    before = len(port.sent)
    line.send_torque_off()
    sent = port.sent[before:]
    assert len(sent) == 3
    assert [packet[: len(OFF[brand])] for packet in sent] == [OFF[brand]] * 3
    assert powered(port) == [False] * 4
    assert line.confirm_torque_off() == [False, False]


def test_a_pressed_stop_lets_nothing_out_but_torque_off(line: WiredLine, port: Port) -> None:
    playing(line)
    emergency, goals = line._wire.emergency, line.positions()
    asked = line.begin_look(line.groups[0])
    asked.ask()
    before = len(port.sent)
    emergency.press()
    for forbidden in (
        asked.collect,
        line.positions,
        lambda: line.send_goals(goals, None, range(4)),
        lambda: line.set_torque([True] * 4),
        lambda: line.look_at(line.servos[0], False),
    ):
        with pytest.raises(EmergencyStopped):
            forbidden()
    assert port.sent[before:] == []
    pressed = port.time.now
    with emergency.serving():
        line.send_torque_off()
    assert port.lines[-1].sent[before][0] - pressed < 1e-3
    assert powered(port) == [False] * 4


@pytest.mark.parametrize("is_cut_by", ["its packet", "what is read back"])
def test_torque_off_is_confirmed_one_by_one(is_cut_by: str, line: WiredLine, port: Port) -> None:
    playing(line)
    if is_cut_by == "its packet":
        line.send_torque_off()
    port.simulated.servos[1].silent = True
    assert line.confirm_torque_off() == [False, None, False, False]
    assert [powered(port)[k] for k in (0, 2, 3)] == [False] * 3


def test_who_does_not_answer_is_named_and_asked_again_unless_goals_wait(line: WiredLine, port: Port) -> None:
    playing(line)
    port.simulated.servos[2].silent = True
    took = []
    for hastily in (True, False):
        before, began = len(port.sent), port.time.now
        with pytest.raises(ServoSilent, match=re.escape("servo 3 (c) stopped answering on a port")):
            line.look_at(line.servos[2], hastily)
        took.append((len(port.sent) - before, port.time.now - began))
    (once, soon), (often, late) = took
    assert (once, soon < 0.06) == (1, True)
    assert often >= 3
    assert 0.5 <= late < 0.8
    assert line.glance(line.servos[2]) is None
    assert line.look() is None
    with pytest.raises(ServoSilent, match=re.escape("servo 3 (c) does not answer on a port; check its power")):
        line.inquire(line.servos[2])


def test_a_look_while_goals_go_out_finds_what_a_look_that_waits_does(line: WiredLine, port: Port, brand: str) -> None:
    playing(line)
    places = [MIDDLE[brand] + away for away in (-48, 52, 152, 252)]
    for servo, place in zip(port.simulated.servos, places, strict=True):
        servo.motor.position = servo.motor.goal = float(place)
    seen = {}
    for group in line.groups:
        look = line.begin_look(group)
        assert 1e-4 < look.seconds < 5e-3
        look.ask()
        line.send_goals(np.array(places), None, range(4))
        while not look.is_over:
            port.time.sleep(1e-3)
            look.collect()
        seen |= look.seen
    found = line.look()
    assert found is not None
    assert [seen[id].position for id in (1, 2, 3, 4)] == places
    assert [one.position for one in found] == places
    assert {(one.torque, one.errors, one.complaint) for one in found} == {(True, 0, "")}


def test_a_line_forgets_who_was_left_out(line: WiredLine, brand: str) -> None:
    playing(line).leave_out(line.servos[:1])
    groups = ((2,), (3,), (4,)) if brand in ONE_BY_ONE else ((2, 3, 4),)
    assert ([servo.id for servo in line.servos], line.groups) == ([2, 3, 4], groups)
    assert 0.0 < line.latency < 1e-3
    line.forget()
    assert [servo.id for servo in line.servos] == [1, 2, 3, 4]
    assert line.latency == 0.0


def test_haste_asks_once_and_waits_as_long_as_the_slowest_ping_asks_for() -> None:
    patience = Patience(silence=0.0)
    assert (patience.best, sum(1 for _ in patience.attempts())) == (0.0, 3)
    for seconds, allowed in ((0.001, SHORTEST_LATENCY), (0.004, 0.016), (0.002, 0.016), (0.1, LATENCY)):
        patience.note(seconds)
        with patience.in_haste():
            assert patience.latency == pytest.approx(allowed)
            assert sum(1 for _ in patience.attempts()) == 1
        assert (patience.latency, patience.is_hasty) == (LATENCY, False)
    assert patience.best == 0.001
    patience.forget()
    assert patience.best == 0.0


# setting up


def test_ids_and_baud_rates(brand: str, workshop: Workshop, port: Port) -> None:
    one, two, three, four = workshop.scan((1_000_000,))
    moved = workshop.set_id(four, 30)
    assert [workshop.wire.ping(id) for id in (30, 4)] == [PINGED[brand], None]
    assert [seen.id for seen in workshop.scan((1_000_000,))] == [1, 2, 3, 30]
    fast = workshop.set_baud_rate(moved, OTHER[brand])
    assert workshop.position(fast) == MIDDLE[brand]  # the port went along
    assert [(seen.id, seen.baud_rate) for seen in workshop.scan(sorted((1_000_000, OTHER[brand])))] == sorted(
        [(1, 1_000_000), (2, 1_000_000), (3, 1_000_000), (30, OTHER[brand])], key=lambda pair: (pair[1], pair[0])
    )
    no_rate = f"a servo's baud rate is one of {', '.join(map(str, TYPED_RATES[brand]))}, not 1234"
    before = [servo.state() | {"heard": 0.0} for servo in port.simulated.servos]
    for refused, problem in (
        (lambda: workshop.set_id(one, 3), "id 3 is taken by another servo at 1000000 baud; give that one another id"),
        (lambda: workshop.set_id(one, 253), "a servo's id is from 0 to 252, not 253"),
        (lambda: workshop.set_baud_rate(two, 1234), no_rate),
        (lambda: workshop.advice([two], 1234), no_rate),
    ):
        with pytest.raises(ServoError, match=re.escape(problem)):
            refused()
    assert [servo.state() | {"heard": 0.0} for servo in port.simulated.servos] == before
    assert workshop.set_baud_rate(three, 1_000_000) == three


def test_two_servos_do_not_get_one_id_by_way_of_a_baud_rate(brand: str, workshop: Workshop) -> None:
    *_, three, four = workshop.scan((1_000_000,))
    fast = workshop.set_baud_rate(four, OTHER[brand])
    slow = workshop.set_id(fast, 3)
    with pytest.raises(ServoError, match="at 1000000 baud there is a servo 3 already; give one of them another id"):
        workshop.set_baud_rate(slow, 1_000_000)
    with pytest.raises(ServoError, match=f"at {OTHER[brand]} baud there is a servo 3 already"):
        workshop.set_baud_rate(three, OTHER[brand])


def test_torque_locks_settings(workshop: Workshop, brand: str, port: Port) -> None:
    one, *_ = workshop.scan((1_000_000,))
    servo = port.simulated.servos[0]
    servo.set("return_delay_time", 250)
    changes = workshop.advice([one], 1_000_000)
    assert [str(change) for change in changes] == ["servo 1: return delay time 250 → 0, so that it answers at once"]
    servo.write(TORQUE[brand], b"\x01")  # type: ignore[attr-defined]
    assert workshop.has_torque(one)
    locked = "servo 1 has its torque on, which locks its settings; turn it off first"
    for refused in (
        lambda: workshop.set_id(one, 9),
        lambda: workshop.set_baud_rate(one, OTHER[brand]),
        lambda: workshop.apply(changes),
    ):
        with pytest.raises(ServoError, match=locked):
            refused()
    assert workshop.torque_off((1_000_000,))[0] == (one, False)
    workshop.apply(changes)
    assert workshop.advice([one], 1_000_000) == []


def test_servos_of_unknown_models_are_seen_and_cut_but_not_set_up(workshop: Workshop, brand: str, port: Port) -> None:
    servo = port.simulated.servos[1]
    servo.set("model_number", 4242)
    servo.write(TORQUE[brand], b"\x01")  # type: ignore[attr-defined]
    found = workshop.torque_off((1_000_000,))
    assert [(one.id, one.model is None, torque) for one, torque in found] == [
        (1, False, False), (2, True, False), (3, False, False), (4, False, False)
    ]  # fmt: skip
    seen = [one for one, _ in found]
    unknown = "servo 2 is of an unknown model, number 4242; it can be seen, but not set up"
    assert workshop.unfit(seen) == [unknown]
    assert workshop.advice(seen, 1_000_000) == []
    with pytest.raises(ServoError, match=unknown):
        workshop.set_id(seen[1], 60)


def test_of_a_network_socket_no_baud_rate_can_be_set(brand: str, port: Port) -> None:
    with closing(open_workshop("socket://here:1", 1_000_000, brand)) as workshop:
        said: list[str] = []
        assert len(workshop.scan(RATES, said.append)) == 4
    assert said == ["asking at 1000000 baud"]
