"""When goals go out and what servos make of them, to the count and the moment: in a time of the test's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.servo.bus.connecting import find
from robik.servo.bus.health import Health
from robik.servo.bus.line import ServoSilent
from robik.servo.chain.trajectory import Along
from robik.servo.port.stream import Outcome, Stream

from .conftest import COUNTS_PER_RAD
from .four_servos import (  # noqa: F401  (fixtures)
    APPROACH,
    CALM,
    CHAIN,
    NAMES,
    RATE,
    UNIT,
    hold,
    new_stage,
    new_time,
    play,
    pose,
    wave,
)
from .virtual import Stage


@pytest.mark.parametrize("stalls", [0.0, 0.02])
@pytest.mark.parametrize("poses", [12, pytest.param(100, marks=pytest.mark.long)])
def test_no_approach_is_ever_faster_than_its_speed(stage, time, stalls, poses):
    """From random poses to others, also from outside the limits and from beyond a turn: goals, and the horns
    themselves."""
    random = np.random.default_rng(5)
    per_second = APPROACH * COUNTS_PER_RAD
    arrived = 0
    for _ in range(poses):
        time.stalls = 0.0
        starts = random.integers(-6000, 9000, len(NAMES))
        hold(stage, starts)
        time.stalls, skip, target = stalls, len(stage.goals) // len(NAMES), random.uniform(-1.5, 1.5, len(NAMES))
        arrived += play(stage, pose(target))
        times, goals, horns = stage.rows(skip)
        assert (horns[0] == starts % 4096).all()
        assert (np.abs(np.diff(horns, axis=0)) <= (per_second + UNIT) * np.diff(times)[:, None] + 1e-6).all()
        if stalls == 0.0:
            assert np.abs(np.diff(goals, axis=0)).max() <= per_second / RATE + 1
            assert np.abs(goals[-1] - (2048 + target * COUNTS_PER_RAD)).max() <= 0.5 + 1e-9
            assert stage.status.dropped == 0
    assert arrived == poses if stalls == 0.0 else arrived > poses / 2


@pytest.mark.parametrize("rate", [25.0, 100.0, 500.0, pytest.param(1000.0, marks=pytest.mark.long)])
def test_an_approach_from_outside_the_limits_keeps_its_speed(time, monkeypatch, rate):
    """Goals and horns, over any tenth of a second; and nobody is told that something is blocked."""
    narrow = replace(
        CHAIN, baud_rate=4_000_000, servos=tuple(replace(one, position_limits=(-0.4, 0.4)) for one in CHAIN.servos)
    )
    stage = Stage(time, narrow, replace(CALM, rate=rate, approach_speed=0.5), monkeypatch)
    hold(stage, [100, 4000, 2048, 3000])
    skip = len(stage.goals) // len(NAMES)
    motion = pose([0.3, -0.3, 0.0, 0.39])
    stage.session.play(Along(motion, narrow), False, 1 / 60)
    times, goals, horns = stage.rows(skip)
    window = round(0.1 * rate)
    passed = (times[window:] - times[:-window])[:, None]
    assert (np.abs(goals[window:] - goals[:-window]) / passed).max() <= 0.5 * COUNTS_PER_RAD * 1.001 + 1 / 0.1
    assert (np.abs(horns[window:] - horns[:-window]) / passed).max() <= 0.5 * COUNTS_PER_RAD + UNIT
    assert "played to the end" in stage.status.message
    assert np.abs(goals[-1] - (2048 + np.array([0.3, -0.3, 0.0, 0.39]) * COUNTS_PER_RAD)).max() <= 0.5


def test_every_goal_of_a_motion_goes_out_at_its_time(stage, time):
    """To the count and to the tenth of a millisecond, which the bytes take."""
    stage.session.torque_on()
    assert play(stage, wave(3.0))
    assert (stage.status.sent, stage.status.dropped) == (round(3.0 * RATE) + 1, 0)
    times, goals, _ = stage.rows(-stage.status.sent)
    expected = 2048 + COUNTS_PER_RAD * Along(wave(3.0), CHAIN).at(np.arange(stage.status.sent) / RATE)
    assert np.abs(goals - expected).max() <= 0.5 + 1e-6
    assert times - times[0] == pytest.approx(np.arange(stage.status.sent) / RATE, abs=1e-4)


def test_a_soft_stop_slows_down_evenly_on_the_way(stage, time):
    stage.session.torque_on()
    time.at(time.now + 3.0, stage.wishes.stop.set)
    play(stage, wave(20.0))
    assert (stage.status.message, stage.status.torque) == ("stopped, holding; play again to go on", True)
    _, goals, _ = stage.rows(-stage.status.sent)
    asked = CALM.stop_time * RATE  # goals, at half their speed in the mean
    way = 2048 + COUNTS_PER_RAD * Along(wave(20.0), CHAIN).at(np.arange(0.0, 4.0, 1e-3))
    assert max(np.abs(way - goal).max(axis=1).min() for goal in goals) <= 2  # none leaves the motion
    speeds = np.abs(np.diff(goals, axis=0)).max(axis=1)
    assert speeds[-1] <= 0.1 * speeds.max()
    before = Along(wave(20.0), CHAIN).at(np.arange(len(goals)) / RATE)
    followed = int(np.flatnonzero(np.abs(goals - 2048 - COUNTS_PER_RAD * before).max(axis=1) <= 0.6)[-1])
    assert len(goals) - followed == pytest.approx(asked, abs=2)


def test_near_its_limits_it_goes_at_half_the_pace(stage, time):
    stage.session.torque_on()
    time.at(time.now + 3.0, lambda: stage.simulated.servos[1].sense(12.0, 72.0))
    began = time.now
    assert play(stage, wave(6.0))
    times, _, _ = stage.rows(-stage.status.sent)
    cool = began + 3.0 - times[0]
    assert times[-1] - times[0] == pytest.approx(
        cool + 2 * (6.0 - cool), abs=0.25
    )  # the pace changes within the time of a stop
    assert "at 72 °C" in stage.status.strain


def test_feed_forward_sends_each_goal_with_its_speed(time, monkeypatch):
    """And a little more, so that nobody is left behind."""
    stage = Stage(time, CHAIN, replace(CALM, feed_forward=True), monkeypatch)
    stage.session.torque_on()
    assert play(stage, wave(3.0))
    _, goals, horns = stage.rows(-stage.status.sent)
    units = np.array(stage.profiles[-goals.size :]).reshape(goals.shape)
    needed = np.abs(np.diff(goals, axis=0)) * RATE / UNIT
    assert (units[1:] >= needed).all()
    assert units[1:] == pytest.approx(1.3 * needed + 8, abs=1)
    assert np.abs(horns[1:] - goals[:-1]).max() <= 1  # each arrives before the next comes


@pytest.mark.parametrize("times", [12, pytest.param(100, marks=pytest.mark.long)])
def test_live_whatever_the_mouse_does(stage, time, times):
    """Jumps, scrubbing, NaN and lost wishes, from anywhere: no goal outside the limits, no step above the speed, no
    change of speed above the acceleration, and slowly until it has caught up."""
    random = np.random.default_rng(7)
    speeds = CALM.live_share * CHAIN.speed_limits * COUNTS_PER_RAD / RATE
    change = CALM.live_acceleration * COUNTS_PER_RAD / RATE**2
    for _ in range(times):
        hold(stage, random.integers(500, 3600, len(NAMES)))
        skip = len(stage.goals) // len(NAMES)
        script = [
            random.choice([random.uniform(-9, 9, len(NAMES)), np.full(len(NAMES), np.nan), np.zeros(len(NAMES))])
            for _ in range(6)
        ]

        def wish(script=script) -> None:
            if not script:
                stage.wishes.stop.set()
                return
            wanted = script.pop()
            stage.wishes.wish.set(
                None if random.random() < 0.2 else np.where(random.random(len(NAMES)) < 0.1, np.nan, wanted)
            )
            time.at(time.now + random.uniform(0.02, 0.6), wish)

        wish()
        stage.session.live()
        _, goals, _ = stage.rows(skip)
        assert (goals >= CHAIN.count_limits[:, 0]).all()
        assert (goals <= CHAIN.count_limits[:, 1]).all()
        steps = np.diff(goals, axis=0)
        assert (np.abs(steps) <= speeds + 1).all()
        assert np.abs(np.diff(steps, axis=0)).max(initial=0) <= change + 2  # rounding of three goals
        assert np.abs(steps[-1:]).max(initial=0) <= change + 1
        assert (stage.status.message, stage.status.torque) == ("stopped, holding; play again to go on", True)


class Scribble:
    """Random jumps: what no preflight would let pass."""

    at, is_resting, left = 0.0, False, np.inf

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    @property
    def is_over(self) -> bool:
        return self.at >= 20.0

    def step(self, seconds, pace):
        self.at += seconds
        return self._rng.uniform(-4, 4, len(NAMES)) if self.at < 15.0 else np.full(len(NAMES), 9.0)

    def stop(self) -> None:
        self.at = 20.0

    def stand(self) -> None:
        raise AssertionError("nothing stalls here")


@pytest.mark.parametrize("seed", range(3))
def test_no_goal_outside_the_limits_and_no_step_above_the_speed(stage, seed):
    """The stream's own last guard, with everything before it left out."""
    stage.session.torque_on()
    stage.bus.set_speed_limit(CHAIN.speed_limits)
    stage.bus.set_watchdog(CALM.watchdog)
    skip = len(stage.goals) // len(NAMES)
    found = find(stage.bus)
    stream = Stream(stage.bus, CALM, CHAIN.count_limits, stage.wishes, Health(CHAIN, found), lambda _: None)
    stream.begin(np.full(len(NAMES), 2048), CHAIN.speed_limits)
    assert stream.follow(Scribble(seed)) is Outcome.DONE
    _, goals, _ = stage.rows(skip)
    assert (goals >= CHAIN.count_limits[:, 0]).all()
    assert (goals <= CHAIN.count_limits[:, 1]).all()
    assert np.abs(np.diff(goals, axis=0, prepend=2048)).max() <= CHAIN.speed_limits[0] * COUNTS_PER_RAD / RATE + 1
    assert goals[-1].tolist() == CHAIN.count_limits[:, 1].tolist()


def test_looks_go_on_while_answers_are_late(time, monkeypatch):
    """While answers are late by more than the time between goals, fewer of them come, and nobody waits for them."""
    stage = Stage(time, CHAIN, replace(CALM, rate=100.0), monkeypatch)
    stage.session.torque_on()
    looks: list[tuple[float, int]] = []
    publish = stage.board.publish

    def noted(**changes) -> None:
        looks.append((time.now - began, changes.get("looks", 0)))
        publish(**changes)

    def between(first: float, last: float) -> int:
        inside = [n for when, n in looks if first <= when < last]
        return inside[-1] - inside[0]

    monkeypatch.setattr(stage.board, "publish", noted)
    began = time.now
    time.at(
        began + 3.0,
        lambda: (setattr(time, "slowness", 0.016), time.at(began + 8.0, lambda: setattr(time, "slowness", 0.0))),
    )
    assert play(stage, wave(20.0))
    assert between(2.0, 3.0) > 80
    assert 50 < between(6.0, 8.0) < 120
    assert between(11.0, 19.0) > 700
    assert stage.status.dropped == 0


@pytest.mark.parametrize(
    ("silence", "speaks", "waited"), [(2.0, 1.0, (1.0, 1.2)), (2.0, 9.0, (2.0, 2.2)), (0.01, 9.0, (0.2, 0.4))]
)
def test_a_servo_is_asked_for_as_long_as_it_may_be_silent(time, monkeypatch, silence, speaks, waited):
    """And thrice, however short that is."""
    stage = Stage(time, CHAIN, replace(CALM, silence=silence), monkeypatch)
    silent, began = stage.simulated.servos[1], time.now
    silent.silent = True
    time.at(began + speaks, lambda: setattr(silent, "silent", False))
    if speaks < silence:
        assert stage.bus.positions().tolist() == [2048] * len(NAMES)
    else:
        with pytest.raises(ServoSilent, match=r"servo 2 \(knee\) stopped answering"):
            stage.bus.positions()
    assert waited[0] <= time.now - began <= waited[1]
