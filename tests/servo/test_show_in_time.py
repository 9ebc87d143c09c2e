"""A robot by the clock of a show, to the count and the moment: in a time of the test's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik.motions import Motion
from robik.servo.chain.chain import default_chain
from robik.servo.chain.trajectory import Along
from robik.servo.port.guide import STEERING
from robik.servo.port.status import PlaySettings, PlayState
from robik.show.show_file import Act, Part
from robik.show.timeline import Stage as ShowStage

from .conftest import COUNTS_PER_RAD
from .virtual import Stage, Time

NAMES = ("hip", "knee")
SPEED, ACCELERATION, APPROACH, RATE = 2.5, 12.0, 0.8, 100.0
CALM = PlaySettings(rate=RATE, approach_speed=APPROACH, heartbeat=1e6, watchdog=2.54, silence=10.0)
TIMES = np.arange(0.0, 2.0 + 1e-9, 1 / 60)
SWING = Motion(times=TIMES, actuators=NAMES, values=np.column_stack([np.sin(2 * TIMES), np.cos(2 * TIMES)]))
PERIOD = 1.0 / RATE


def slow_chain():
    chain = default_chain(NAMES, dict.fromkeys(NAMES, (-2.5, 2.5)), dict.fromkeys(NAMES, SPEED), model="XH430-W210")
    return replace(chain, servos=tuple(replace(one, acceleration_limit=ACCELERATION) for one in chain.servos))


CHAIN = slow_chain()


@pytest.fixture
def stage(monkeypatch):
    made = Stage(Time(), CHAIN, CALM, monkeypatch)
    made.session.torque_on()
    return made


def perform(stage: Stage, motion: Motion, wait: float = 3.0, every: float = 0.0, rate: float = 1.0) -> float:
    """Perform a motion that begins `wait` seconds from now; returns when that was.

    A clock that goes at another rate than the computer's is told anew `every` so many seconds.
    """
    begin = stage.time.now + wait
    stage.wishes.show.set(begin)

    def tell() -> None:
        now = stage.time.now
        stage.wishes.show.set(now - (now - begin) * rate if now > begin else begin)
        stage.time.at(now + every, tell)

    if every:
        tell()
    stage.session.perform(Along(motion, CHAIN))
    return begin


def played(stage: Stage, begin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times since the begin (K,) [s] and values (K, n) [rad] of the goals from then on."""
    times, goals, _ = stage.rows()
    after = times > begin - 0.5 * PERIOD
    return times[after] - begin, (goals[after] - 2048) / COUNTS_PER_RAD


def behind(times: np.ndarray, values: np.ndarray, motion: Motion) -> np.ndarray:
    """Return how far goals (K, n) are behind a motion [s], by the steepest column."""
    found = np.full(len(times), np.nan)
    for k, (now, row) in enumerate(zip(times, values, strict=True)):
        near = now + np.arange(-0.6, 0.6, 1e-3)
        ways = np.column_stack([np.interp(near, motion.times, column) for column in motion.values.T])
        found[k] = now - near[np.argmin(np.abs(ways - row).sum(axis=1))]
    return found


def test_it_stands_at_the_first_frame_until_the_show_begins(stage) -> None:
    begin = perform(stage, SWING, wait=5.0)
    times, goals, _ = stage.rows()
    waiting = (times > begin - 1.0) & (times < begin - PERIOD)
    assert waiting.sum() > 90  # and is told so all the time, since a watchdog is armed
    assert (goals[waiting] == np.rint(2048 + SWING.values[0] * COUNTS_PER_RAD)).all()
    since, values = played(stage, begin)
    expected = np.column_stack([np.interp(since, SWING.times, column) for column in SWING.values.T])
    assert np.abs(values - expected).max() < 2 * PERIOD * PERIOD + 1.5 / COUNTS_PER_RAD  # within 0.2 ms and a count
    assert stage.status.behind_worst < 1e-3
    assert (stage.status.state, stage.status.message) == (PlayState.HOLDING, "played to the end, holding")


def test_a_stop_before_the_begin_moves_nothing(stage) -> None:
    stage.time.at(stage.time.now + 3.0, stage.wishes.stop.set)
    perform(stage, SWING, wait=60.0)
    assert "stopped" in stage.status.message
    assert (stage.rows()[1][-1] == np.rint(2048 + SWING.values[0] * COUNTS_PER_RAD)).all()


@pytest.mark.parametrize("rate", [1.0005, 0.9995])
def test_a_clock_of_another_rate_is_followed(stage, rate) -> None:
    """Five times what the clocks of sound cards differ by at worst; unguided, it would end 15 ms apart."""
    times = np.arange(0.0, 30.0, 1 / 60)
    motion = Motion(times=times, actuators=NAMES, values=0.5 * np.sin(times[:, None] + np.arange(2)))
    begin = perform(stage, motion, every=0.02, rate=rate)
    since, values = played(stage, begin)
    late = np.array(
        [behind(since[k : k + 1] * rate, values[k : k + 1], motion)[0] for k in range(500, len(since), 100)]
    )
    assert np.abs(late).max() < 4e-3  # a count is 3 ms at this speed
    assert stage.status.behind_worst < 2e-3
    assert since[-1] == pytest.approx(times[-1] / rate, abs=2 * PERIOD)


def test_after_a_stall_it_comes_back_to_the_clock_a_little_faster(stage) -> None:
    times = np.arange(0.0, 40.0, 1 / 60)
    motion = Motion(times=times, actuators=NAMES, values=0.5 * np.sin(times[:, None] + np.arange(2)))
    begin = stage.time.now + 3.0

    def stall() -> None:
        stage.time.now += 0.2

    stage.time.at(begin + 5.0, stall)
    perform(stage, motion)
    since, values = played(stage, begin)
    found = behind(since, values, motion)
    assert 0.2 < found[(since > 5.2) & (since < 6.5)].max() < 0.5
    assert np.abs(found[since > 36.0]).max() < 5e-3
    steps = np.abs(np.diff(values, axis=0)).max(axis=1) / np.diff(since)
    assert steps.max() <= 0.5 * (1 + STEERING) + 1.0 / COUNTS_PER_RAD / PERIOD


def test_ways_between_acts_are_within_the_limits_at_the_servos(stage) -> None:
    """The first act ends, and the third begins, at some 2 rad/s."""
    files = {("ann", Path("swing")): SWING}
    acts = [Act(parts={"ann": Part(motion=Path("swing"))}, start=start) for start in (None, None, 14.0)]
    motion = ShowStage({"ann": CHAIN}, files, APPROACH, RATE).timeline(tuple(acts)).motions["ann"]
    begin = perform(stage, motion)
    since, values = played(stage, begin)
    assert np.diff(since).max() < 1.1 * PERIOD
    assert np.abs(np.diff(values, axis=0)).max() / PERIOD <= SPEED + 1.0 / COUNTS_PER_RAD / PERIOD
    wide = 5  # goals: over them, a count is little
    seconds = wide * PERIOD
    changes = values[2 * wide :] - 2 * values[wide:-wide] + values[: -2 * wide]
    assert np.abs(changes).max() / seconds**2 <= ACCELERATION + 2.0 / COUNTS_PER_RAD / seconds**2
    assert np.abs(changes).max() / seconds**2 > 0.4 * ACCELERATION  # it is no crawl either
    assert since[-1] == pytest.approx(motion.times[-1], abs=2 * PERIOD)


@pytest.mark.parametrize("late", [0.0, 0.04])
def test_who_joins_from_a_stand_is_soon_in_time_and_never_faster_than_asked(stage, late) -> None:
    """The motion begins at 1 rad/s; the clock says so `late`, as frames do."""
    times = np.arange(0.0, 5.0 + 1e-9, 1 / 60)
    motion = Motion(times=times, actuators=NAMES, values=np.column_stack([times - 2.0, 0.5 * times - 1.0]))
    begin = stage.time.now + 8.0
    stage.time.at(begin + late, lambda: stage.wishes.show.set(begin))
    stage.session.perform(Along(motion, CHAIN), 0.0, 0.25)
    since, values = played(stage, begin)
    found = behind(since, values, motion)
    assert 0.15 < found[(since > 0.1) & (since < 1.0)].max() < 0.3 + late
    assert np.abs(found[(since > 3.0) & (since < 4.0)]).max() < 5e-3
    speeds = np.diff(values[:, 0]) / PERIOD
    assert speeds.max() <= 1.25 + 1.0 / COUNTS_PER_RAD / PERIOD
    wide = 5  # goals: over them, a count is little
    changes = values[2 * wide :] - 2 * values[wide:-wide] + values[: -2 * wide]
    is_before_the_end = since[: len(changes)] < 4.0
    assert np.abs(changes[is_before_the_end]).max() / (wide * PERIOD) ** 2 < 1.0 / 0.4 + 1.0  # as a soft stop
