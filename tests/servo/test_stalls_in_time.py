"""What a computer that stalls sends, and what servos make of it: in a time of the test's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.errors import ServoError
from robik.servo.bus.bus import Bus
from robik.servo.bus.looks import Looks
from robik.servo.chain.trajectory import Along
from robik.servo.port.guide import Journey

from .conftest import COUNTS_PER_RAD
from .four_servos import CALM, CHAIN, NAMES, RATE, UNIT, hold, new_stage, new_time, play, wave  # noqa: F401  (fixtures)
from .virtual import Stage, Time


def test_late_goals_are_dropped_and_after_a_stall_time_slows(stage, time):
    """What goes out is on the motion and the end is there.

    The servos have stood during a stall, so the motion goes on where it was, from a stand, within the acceleration of
    a soft stop. Nothing is queued, and nothing is caught up with.
    """
    stage.session.torque_on()
    time.stalls = 0.03
    assert play(stage, wave(8.0))
    assert stage.status.dropped > 0
    assert stage.status.sent + stage.status.dropped > round(8.0 * RATE) + 1
    times, goals, _ = stage.rows(-stage.status.sent)
    fine = np.arange(0.0, 8.0 + 1e-9, 1e-3)
    way = 2048 + COUNTS_PER_RAD * Along(wave(8.0), CHAIN).at(fine)
    at = [0.0]
    for row in goals:
        ahead = (fine > at[-1] - 2e-3) & (fine < at[-1] + 2.5 / RATE)
        distance = np.abs(way[ahead] - row).max(axis=1)
        assert distance.min() <= 2.5, "on the way, whatever its time"
        at.append(fine[ahead][distance.argmin()])
    at = np.array(at[1:])
    assert at[-1] == pytest.approx(8.0, abs=5e-3)
    stalls = np.flatnonzero(np.diff(times) > 1 / RATE + 0.03)
    assert len(stalls) > 3
    pace = np.diff(at) * RATE  # of a step that took one period
    steps = (1 / RATE + 0.01) / CALM.stop_time  # of pace in a period
    for k in stalls:
        for n in range(min(5, len(pace) - k)):
            assert pace[k + n] <= (n + 1) * steps + 0.1, "from a stand, after each stall"


def test_a_computer_that_stood_still_for_too_long_sends_nothing_more(stage, time):
    stage.session.torque_on()
    time.at(
        time.now + 3.0, lambda: setattr(time, "now", time.now + CALM.watchdog + 0.5)
    )  # also where only the clock jumps
    with pytest.raises(
        ServoError, match=r"this computer stood still for 3\.\d s: 4 of 4 servos were stopped by their watch"
    ):
        stage.session.play(Along(wave(20.0), CHAIN), False, 1 / 60)
    times, _, _ = stage.rows(-stage.status.sent)
    assert time.now - times[-1] > CALM.watchdog, "no goal after it"
    assert stage.status.torque


@pytest.mark.parametrize(
    ("about", "name", "late"),
    [(Journey, "step", 0), (Bus, "send_goals", 1), (Looks, "turn", 0)],
    ids=["before", "while", "after"],
)
def test_who_fell_asleep_around_its_goals_says_so_and_sends_none_of_before(stage, time, monkeypatch, about, name, late):
    """As it works goals out, or looks at the servos after them; those that it was about to write still go out."""
    send, sent, woken = Bus.send_goals, [], []
    monkeypatch.setattr(Bus, "send_goals", lambda *arguments: (sent.append(time.now), send(*arguments)))
    act = getattr(about, name)

    def sleepy(*arguments: object) -> object:
        time.now += (CALM.watchdog + 0.5) * (len(woken) == 199)
        woken.append(time.now)
        return act(*arguments)

    stage.session.torque_on()
    monkeypatch.setattr(about, name, sleepy)
    with pytest.raises(ServoError, match=r"this computer stood still for 3\.\d s: 4 of 4 servos were stopped"):
        stage.session.play(Along(wave(20.0), CHAIN), False, 1 / 60)
    assert (np.array(sent) >= woken[199]).sum() == late


@pytest.mark.parametrize("offset", np.linspace(0.0, 1.0 / RATE, 12, endpoint=False))
def test_who_was_asleep_has_missed_the_heartbeat_as_well(time, monkeypatch, offset):
    """Whatever the process was about: it says that the computer stood still, and not that its owner is gone."""
    stage = Stage(time, CHAIN, replace(CALM, heartbeat=1.0), monkeypatch)
    stage.session.torque_on()
    asleep = time.now + 3.0 + offset

    def beat() -> None:
        stage.wishes.beat()
        if time.now < asleep - 0.5:
            time.at(time.now + 0.5, beat)
        else:
            time.at(asleep, lambda: setattr(time, "now", time.now + CALM.watchdog + 0.5))

    time.at(time.now, beat)
    with pytest.raises(ServoError, match=r"this computer stood still for [23]\.\d s: 4 of 4 servos were stopped"):
        stage.session.play(Along(wave(20.0), CHAIN), False, 1 / 60)


def test_live_goes_on_from_a_stand_after_a_stall(stage, time):
    stage.session.torque_on()
    stage.wishes.wish.set(np.full(len(NAMES), 2.4))
    began = time.now
    time.at(began + 0.4, lambda: (setattr(time, "now", time.now + 0.4), time.at(began + 3.0, stage.wishes.stop.set)))
    stage.session.live()
    times, goals, _ = stage.rows(-stage.status.sent)
    (stall,) = np.flatnonzero(np.diff(times) > 0.2)
    change = CALM.live_acceleration * COUNTS_PER_RAD / RATE**2
    before, after = np.diff(goals[stall - 1 : stall + 1], axis=0), np.diff(goals[stall : stall + 2], axis=0)
    assert np.abs(before).min() > 3 * change, "it was faster than a step from a stand may be"
    assert np.abs(after).max() <= change + 1


@pytest.mark.parametrize("seed", range(6))
def test_a_machine_that_stalls_ends_in_standing_servos_and_never_in_fast_ones(monkeypatch, seed):
    """With a watchdog of 0.2 s and stalls of up to 0.35 s, the motion is played to its end or the servos stop and say
    why."""
    time = Time(seed)
    stage = Stage(time, CHAIN, replace(CALM, watchdog=0.2, silence=0.15), monkeypatch)
    hold(stage, [2048] * len(NAMES))
    skip = len(stage.goals) // len(NAMES)
    time.stalls, said = 0.02, ""
    try:
        stage.session.play(Along(wave(6.0), CHAIN), False, 1 / 60)
    except ServoError as fault:
        said = str(fault)
    assert "played to the end" in stage.status.message if said == "" else "watchdog" in said
    times, _, horns = stage.rows(skip)
    fastest = CHAIN.speed_limits * COUNTS_PER_RAD + UNIT
    assert (np.abs(np.diff(horns, axis=0)) <= fastest * np.diff(times)[:, None] + 1e-6).all()
    for servo in stage.simulated.servos:
        servo.advance(time.now + 0.35)  # to the last goal, which a stall may have put so far ahead
        stood = servo.motor.position
        servo.advance(time.now + 10.0)
        assert (servo.motor.position, servo.motor.velocity) == (stood, 0)
    assert stage.status.torque
