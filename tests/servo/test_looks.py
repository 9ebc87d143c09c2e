"""Looks between goals, and the telemetry that is made of them, with twelve servos behind an independent chain."""

from __future__ import annotations

import os
import re
import time

import numpy as np
import pytest

from robik.motions import Motion
from robik.servo.adapter import advice
from robik.servo.chain import ServoChain
from robik.servo.dynamixel.question import wire_bytes
from robik.servo.looks import LOOK_AT_LEAST, Looks, Moment
from robik.servo.player import Player
from robik.servo.preflight import preflight
from robik.servo.recording import load_recording
from robik.servo.servo import Servo
from robik.servo.status import FARTHEST_WATCHDOG, PlaySettings, PlayState

from .conftest import DEADLINE
from .independent import IndependentChain

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]

NAMES = tuple(f"motor_{k}" for k in range(12))
TIMES = np.arange(0.0, 3.0, 1 / 60)
MOTION = Motion(times=TIMES, actuators=NAMES, values=0.4 * np.sin(2 * TIMES[:, None] + np.arange(12)))
XL330 = 1200
MIXED = dict.fromkeys(range(2, 13, 2), XL330)
FTDI = 0.016  # [s] that such an adapter holds answers back by default
FAST_SYNC_READ, READ_SIZE = 0x8A, 20  # of all that a look reads of a servo


def chain_of(models: dict[int, int] | None = None, baud: int = 1_000_000) -> ServoChain:
    kinds = dict.fromkeys(models or {}, "XL330-M288")
    servos = (
        Servo(name, k + 1, kinds.get(k + 1, "XH430-W350"), position_limits=(-2.5, 2.5)) for k, name in enumerate(NAMES)
    )
    return ServoChain(tuple(servos), baud)


def play(servos: IndependentChain, chain: ServoChain, **settings: object):
    """Play the motion; return the last status. A machine on which answers wait for a core is no fault of the servos."""
    patient = {"approach_speed": 3.0, "heartbeat": 30.0, "silence": 2.0, "watchdog": FARTHEST_WATCHDOG}
    player = Player(chain, servos.port, PlaySettings(**patient, **settings))
    try:
        player.connect()
        player.wait(PlayState.READY)
        player.torque(True)
        player.wait(PlayState.HOLDING)
        player.play(MOTION, from_afar=True)
        return player.wait(PlayState.HOLDING, timeout=DEADLINE)
    finally:
        player.close()


CASES = {
    "100 Hz": ({}, {}, {"rate": 100.0}),
    "100 Hz, answers 16 ms late": ({}, {"latency": FTDI}, {"rate": 100.0}),
    "250 Hz": ({}, {}, {"rate": 250.0}),
    "250 Hz, answers 16 ms late": ({}, {"latency": FTDI}, {"rate": 250.0}),
    "400 Hz, speeds with the goals": ({}, {}, {"rate": 400.0, "feed_forward": True}),
    "100 Hz, two kinds of models": ({"models": MIXED}, {}, {"rate": 100.0}),
    "250 Hz, two kinds, answers 8 ms late": ({"models": MIXED}, {"latency": 0.008}, {"rate": 250.0}),
    "100 Hz, old firmware, answers 16 ms late": ({"firmware": 44}, {"latency": FTDI}, {"rate": 100.0}),
    "250 Hz, return delay of the factory": ({"return_delay": 250}, {}, {"rate": 250.0}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_servo_is_recorded_at_least_twenty_times_a_second(case, tmp_path):
    made, line, settings = CASES[case]
    chain = chain_of(made.get("models"))
    with IndependentChain(ids=chain.ids, **made) as servos:
        servos.line(**line)
        status = play(servos, chain, record=str(tmp_path / "take.csv"), **settings)
        packets = [packet for packet in servos.log.packets() if packet.goals]
    assert status.message == "played to the end, holding"
    assert status.recording == ""
    seconds = status.sent / settings["rate"]  # of goals: those that the machine dropped left no time for looks
    assert seconds <= TIMES[-1] + 2 / settings["rate"]
    assert all(len(packet.goals) == 12 for packet in packets)
    recording = load_recording(tmp_path / "take.csv")
    looks = np.isfinite(recording.position).sum(axis=0) / seconds
    assert looks.min() >= (20 if settings["rate"] <= 250 else 10), looks
    assert (np.diff(recording.times) > 0).all()
    seen = np.isfinite(recording.goal)
    expected = np.column_stack([np.interp(recording.at, TIMES, column) for column in MOTION.values.T])
    assert np.abs(recording.goal - expected)[seen].max() < 5e-3, "the goals of their time"
    assert np.nanmedian(np.abs(recording.error)) < 0.02
    assert (recording.celsius[seen] > 0).all()


def test_no_goal_meets_an_answer_on_the_wire(tmp_path):
    chain = chain_of()
    with IndependentChain(ids=chain.ids) as servos:
        play(servos, chain, rate=250.0)
        packets = servos.log.packets()
    byte = 10 / 1e6
    triples = zip(packets, packets[1:], packets[2:], strict=False)
    size = READ_SIZE.to_bytes(2, "little")
    asked = [
        (one, then)
        for goals, one, then in triples
        if goals.goals and one.instruction == FAST_SYNC_READ and one.parameters[2:4] == size
    ]
    shares = [len(one.parameters) - 4 for one, _ in asked]
    assert len(asked) > 300
    assert 6 <= max(shares) < 12, "not all fit between goals"
    answered = [one.time + (8 + 24 * share) * byte for (one, _), share in zip(asked, shares, strict=True)]
    begun = [then.time - (10 + len(then.parameters)) * byte for _, then in asked]
    met = np.array(begun) < np.array(answered)
    assert met.mean() < 0.05, "but where this computer stalls"


def test_servos_without_indirect_addresses_are_recorded_too(tmp_path):
    chain = chain_of()
    with IndependentChain(ids=chain.ids) as servos:
        servos.faults(swallow=["indirect_address_1"])
        status = play(servos, chain, record=str(tmp_path / "take.csv"))
    assert status.message == "played to the end, holding"
    recording = load_recording(tmp_path / "take.csv")
    assert (np.isfinite(recording.position).sum(axis=0) / TIMES[-1]).min() >= 10
    assert np.nanmax(np.abs(recording.error)) < 0.1


def test_a_servo_whose_answers_are_late_does_not_hold_the_others_up(tmp_path):
    chain = chain_of()
    with IndependentChain(ids=chain.ids) as servos:
        servos.faults(3, late=FTDI)
        status = play(servos, chain, record=str(tmp_path / "take.csv"))
    assert status.message == "played to the end, holding"
    assert status.dropped <= 3
    assert (np.isfinite(load_recording(tmp_path / "take.csv").position).sum(axis=0) / TIMES[-1]).min() >= 20


def test_a_servo_that_falls_silent_is_named_soon():
    chain = chain_of()
    with IndependentChain(ids=chain.ids) as servos:
        player = Player(chain, servos.port, PlaySettings(approach_speed=3.0, heartbeat=30.0))
        try:
            player.connect()
            player.wait(PlayState.READY)
            player.torque(True)
            player.wait(PlayState.HOLDING)
            player.play(MOTION, loop=True, from_afar=True)
            player.wait(PlayState.PLAYING)
            servos.faults(9, silent=True)
            began = time.monotonic()
            message = player.wait(PlayState.FAULT, PlayState.CLOSED).message
            last = max(goal.time for goal in servos.log.goals())
        finally:
            player.close()
    assert "servo 9 (motor_8) stopped answering" in message
    assert last - began < 0.15 + 0.4 + 0.35, "its silence, the soft stop, and finding out who it is"


def test_where_no_look_fits_it_is_said_before_playing():
    assert chain_of().brand.look_bytes == wire_bytes(1, READ_SIZE, fast=True)
    fast = PlaySettings(rate=1000.0, record="take.csv")
    (warning,) = preflight(MOTION, chain_of(), fast).warnings
    words = "at 1000 Hz goals leave 0.26 ms between them, and a look at one servo takes 1.07 ms: each is looked at only"
    assert warning.startswith(f"{words} every 3.0 s, and the telemetry has gaps of that length")
    for rate, baud in ((250.0, 1_000_000), (400.0, 1_000_000), (1000.0, 4_000_000)):
        assert preflight(MOTION, chain_of(baud=baud), PlaySettings(rate=rate)).warnings == ()


def test_an_adapter_that_takes_too_long_is_told_of_at_connecting():
    chain = chain_of()
    with IndependentChain(ids=chain.ids) as servos:
        for latency in (0.0, FTDI):
            servos.line(latency=latency)
            player = Player(chain, servos.port, PlaySettings())
            player.connect()
            said = player.wait(PlayState.READY).adapter
            player.close()
            if latency:
                assert re.match(
                    rf"answers on {servos.port} take 1[6-9] ms, .* the latency timer of the adapter to 1 ms", said
                )
                assert "/sys/bus/usb-serial/devices/port/latency_timer" in said
            else:
                assert said == ""
    assert "Device Manager" in advice("COM3", FTDI, "win32")
    assert "the adapter's driver" in advice("/dev/cu.usb", FTDI, "darwin")


class Blind:
    """Servos none of which ever answers."""

    groups = ((1, 2, 3),)

    def __init__(self) -> None:
        self.asked: list[tuple[int, ...]] = []

    def begin_look(self, ids):
        return BlindLook(self, ids)


class BlindLook:
    def __init__(self, sight, ids) -> None:
        self.ids, self.is_asked, self.seen, self.is_over = tuple(ids), False, {}, False
        self.seconds, self._sight = 1e-4 * len(ids), sight

    def ask(self) -> None:
        self._sight.asked.append(self.ids)
        self.is_asked = True

    def collect(self) -> None:
        self.is_asked, self.is_over = False, True


def test_who_is_silent_is_asked_alone_and_a_busy_wire_now_and_then():
    sight, gone = Blind(), []
    looks = Looks(sight, 0.0, lambda moment, seen: None, gone.append)
    for k in range(4):
        assert looks.turn(0.01, Moment(float(k), 0.0, np.zeros(3), np.zeros(3))) > 0.0
        looks.collect()
    assert sight.asked == [(1, 2, 3), (1,), (1,), (1,)]
    assert gone == [1]
    sight.asked.clear()
    busy = Looks(sight, 1e9, lambda moment, seen: None, gone.append)
    for k in range(1000):
        busy.turn(0.0, Moment(10.0 + 0.001 * k, 0.0, np.zeros(3), np.zeros(3)))
    assert len(sight.asked) == pytest.approx(1.0 / LOOK_AT_LEAST, abs=1)


class Answering(Blind):
    """Servos that answer, but for those that a test has silent."""

    def __init__(self, *groups: tuple[int, ...]) -> None:
        super().__init__()
        self.groups, self.silent = groups, set()

    def begin_look(self, ids):
        return AnsweringLook(self, ids)


class AnsweringLook(BlindLook):
    def collect(self) -> None:
        super().collect()
        self.seen = dict.fromkeys(set(self.ids) - self._sight.silent)


def turned(looks: Looks, times: int, slack: float = 0.01, start: int = 0) -> None:
    """Look so many times; each look is long after the one before."""
    for k in range(start, start + times):
        looks.turn(slack, Moment(float(k), 0.0, np.zeros(5), np.zeros(5)))
        looks.collect()


@pytest.mark.parametrize(
    ("slack", "shares"),
    [(0.01, [(1, 2, 3), (4, 5)]), (5.5e-4, [(1, 2), (3,), (4, 5)]), (4.5e-4, [(1,), (2,), (3,), (4,), (5,)])],
)
def test_all_servos_are_looked_at_in_turn_as_many_at_once_as_fit(slack, shares):
    sight, seen = Answering((1, 2, 3), (4, 5)), []
    looks = Looks(sight, 0.0, lambda moment, telemetry: seen.append((moment.time, *sorted(telemetry))), lambda id: None)
    turned(looks, 3 * len(shares), slack)
    assert sight.asked == 3 * shares
    assert looks.rounds == 3
    assert seen == [(float(k), *ids) for k, ids in enumerate(3 * shares)]


def test_who_answers_again_may_miss_as_often_as_at_first():
    sight, gone = Answering((1, 2, 3)), []
    looks = Looks(sight, 0.0, lambda moment, seen: None, gone.append)
    for start in (0, 12, 24):
        sight.silent = {2}
        turned(looks, 3, start=start)
        assert sight.asked[-2:] == [(2,), (2,)]
        sight.silent = set()
        turned(looks, 9, start=start + 3)
        assert (1, 2, 3) in sight.asked[-9:], "in company again"
    assert not gone
    sight.silent = {2}
    turned(looks, 4, start=36)
    assert gone == [2]


def test_who_was_asked_alone_is_asked_again_after_the_others():
    sight = Answering((1, 2, 3))
    looks = Looks(sight, 1e9, lambda moment, seen: None, lambda id: None)
    sight.silent = {1, 2}
    turned(looks, 1, 5.5e-4)
    sight.silent = set()
    turned(looks, 4, 5.5e-4, start=1)
    assert sight.asked == [(1, 2), (1,), (2,), (3,), (1, 2)]


def test_no_round_ends_with_a_servo_that_never_answers():
    sight = Answering((1,))
    sight.silent = {1}
    looks = Looks(sight, 1e9, lambda moment, seen: None, lambda id: None)
    turned(looks, 9)
    assert sight.asked == 9 * [(1,)] and looks.rounds == 0
