"""Looks between goals, and the telemetry that is made of them, with twelve servos behind an independent chain."""

from __future__ import annotations

import os
import re
import time

import numpy as np
import pytest

from robik.motions import Motion
from robik.servo.brands.dynamixel.question import wire_bytes
from robik.servo.bus.adapter import advice
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.servo import Servo
from robik.servo.play.player import Player
from robik.servo.play.preflight import preflight
from robik.servo.port.recording import load_recording
from robik.servo.port.status import FARTHEST_WATCHDOG, PlaySettings, PlayState

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
SYNC_WRITE, INDIRECT = 0x83, bytes([224, 0, 8, 0])  # of eight bytes a servo


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


def is_of_speeds(packet) -> bool:
    """Whether it writes goals and speeds at once, by the addresses that were set for both."""
    return packet.instruction == SYNC_WRITE and packet.parameters[:4] == INDIRECT


def share_in_time(packets: list, rate: float) -> float:
    """Share of goals (0 to 1) that came at most a tenth of a period off their time after the one before: a look fits
    behind those alone where a period leaves little room, as one of 4 ms does beside answers that are 16 ms late."""
    between = np.diff([packet.arrived for packet in packets])
    return float((np.abs(between - 1 / rate) < 0.1 / rate).mean())


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
        packets = [packet for packet in servos.log.packets() if packet.goals or is_of_speeds(packet)]
    assert status.message == "played to the end, holding"
    assert status.recording == ""
    seconds = status.sent / settings["rate"]  # of goals: those that the machine dropped left no time for looks
    assert len(packets) >= status.sent and all(len(packet.goals) == 12 or is_of_speeds(packet) for packet in packets)
    recording = load_recording(tmp_path / "take.csv")
    assert seconds <= recording.times[-1] + 0.1, "longer where the machine stalled, never faster"
    looks = np.isfinite(recording.position).sum(axis=0) / seconds
    expected_looks = (20 if settings["rate"] <= 250 else 10) * share_in_time(packets, settings["rate"])
    assert looks.min() >= expected_looks, (looks, expected_looks)
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
    assert met.mean() < 0.1, "but where this computer stalls"


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
    assert status.dropped < 0.15 * (status.sent + status.dropped), "0.4 where looks wait for it; 0.01 on a busy machine"
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
                device = os.path.basename(os.path.realpath(servos.port))  # which the system knows, not its link
                assert f"/sys/bus/usb-serial/devices/{device}/latency_timer" in said
            else:
                assert said == ""
    assert "Device Manager" in advice("COM3", FTDI, "win32")
    assert "the adapter's driver" in advice("/dev/cu.usb", FTDI, "darwin")
