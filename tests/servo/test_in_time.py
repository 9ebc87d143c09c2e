"""When goals go out and what servos make of them, to the count and the moment: in a time of the test's own, with and
without stalls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.chain import default_chain
from robik.servo.connecting import find
from robik.servo.health import Health
from robik.servo.line import ServoSilent
from robik.servo.status import PlaySettings
from robik.servo.stream import Outcome, Stream
from robik.servo.trajectory import Along

from .conftest import COUNTS_PER_RAD
from .virtual import Stage, Time

NAMES = ("hip", "knee", "foot", "toe")
CHAIN = default_chain(NAMES, dict.fromkeys(NAMES, (-2.5, 2.5)), model="XH430-W210")
RATE, APPROACH = 25.0, 3.0
UNIT = 0.229 / 60 * 4096  # [counts/s], to which servos round their speed limit up
CALM = PlaySettings(rate=RATE, approach_speed=APPROACH, heartbeat=1e6, watchdog=2.54, silence=10.0)


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def stage(time, monkeypatch):
    return Stage(time, CHAIN, CALM, monkeypatch)


def hold(stage, at) -> None:
    """The robot is put somewhere by hand, and holds."""
    stage.session.torque_off()
    for servo, counts in zip(stage.simulated.servos, at, strict=True):
        servo.motor.position = float(counts)
        servo.motor.halt()
    stage.session.torque_on()


def play(stage, motion: Motion) -> bool:
    """Whether it was played, or else ended in a fault."""
    try:
        stage.session.play(Along(motion, CHAIN), False, 1 / 60)
    except ServoError:
        return False
    return True


def pose(values) -> Motion:
    return Motion(times=np.zeros(1), actuators=NAMES, values=np.reshape(values, (1, len(NAMES))))


def wave(seconds: float) -> Motion:
    times = np.arange(0.0, seconds + 1e-9, 1 / 60)
    return Motion(times=times, actuators=NAMES, values=0.8 * np.sin(1.5 * times[:, None] + np.arange(len(NAMES))))


@pytest.mark.parametrize("stalls", [0.0, 0.02])
@pytest.mark.parametrize("poses", [30, pytest.param(100, marks=pytest.mark.long)])
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


@pytest.mark.parametrize("rate", [25.0, 100.0, pytest.param(500.0, marks=pytest.mark.long), 1000.0])
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


@pytest.mark.parametrize("first", [True, False])
def test_a_computer_that_stood_still_while_it_sent_goals_says_so(stage, time, monkeypatch, first):
    """Before they were out or after it."""
    send, sent = Stream._send, []

    def sleepy(*arguments: object) -> None:
        sent.append(time.now)
        asleep = len(sent) == 200
        if asleep and first:
            time.now += CALM.watchdog + 0.5
        send(*arguments)
        if asleep and not first:
            time.now += CALM.watchdog + 0.5

    stage.session.torque_on()
    monkeypatch.setattr(Stream, "_send", sleepy)
    with pytest.raises(ServoError, match=r"this computer stood still for 3\.\d s: 4 of 4 servos were stopped"):
        stage.session.play(Along(wave(20.0), CHAIN), False, 1 / 60)
    assert len(sent) == 200, "no goal after those"


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


@pytest.mark.parametrize("times", [25, pytest.param(100, marks=pytest.mark.long)])
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
