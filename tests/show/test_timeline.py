"""Timelines: when acts begin, and that nothing between them is beyond the motors' limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robik.errors import ServoError
from robik.motions import Motion
from robik.servo.chain.chain import ServoChain, default_chain
from robik.servo.play.preflight import preflight
from robik.servo.port.status import PlaySettings
from robik.show.show_file import Act, Part
from robik.show.timeline import Stage
from robik.show.ways import Ways

NAMES = ("hip", "knee")
LIMIT, SPEED, ACCELERATION, APPROACH = 2.0, 3.0, 12.0, 0.8


def chain_of() -> ServoChain:
    chain = default_chain(NAMES, dict.fromkeys(NAMES, (-LIMIT, LIMIT)), dict.fromkeys(NAMES, SPEED))
    return replace(chain, servos=tuple(replace(one, acceleration_limit=ACCELERATION) for one in chain.servos))


CHAIN = chain_of()
TIMES = np.arange(0.0, 2.0 + 1e-9, 1 / 60)
SWING = Motion(times=TIMES, actuators=NAMES, values=np.column_stack([np.sin(2 * TIMES), np.cos(2 * TIMES)]))  # moves
BOW = Motion(times=TIMES, actuators=("knee", "hip", "ear"), values=np.outer(1 - np.cos(np.pi * TIMES), [0.5, -0.3, 9]))
ROUND = Motion(times=TIMES, actuators=NAMES, values=0.5 * np.sin(np.pi * TIMES)[:, None] * np.ones(2))
FILES = {"swing": SWING, "bow": BOW, "round": ROUND}


def stage(*robots: str, **how) -> Stage:
    motions = {(name, Path(file)): motion for name in robots for file, motion in FILES.items()}
    return Stage(dict.fromkeys(robots, CHAIN), motions, APPROACH, 100.0, **how)


def act(start: float | None = None, **files: str | Part) -> Act:
    return Act(
        parts={name: Part(motion=Path(one)) if isinstance(one, str) else one for name, one in files.items()},
        start=start,
    )


def check_limits(motion: Motion) -> None:
    """Check positions, speeds and accelerations at the samples, written out here."""
    steps = np.diff(motion.times)
    assert steps.min() > 0.0
    speeds = np.diff(motion.values, axis=0) / steps[:, None]
    assert np.abs(motion.values).max() <= LIMIT
    assert np.abs(speeds).max() <= SPEED
    changes = np.diff(speeds, axis=0) / (0.5 * (steps[1:] + steps[:-1]))[:, None]
    assert np.abs(changes).max() <= ACCELERATION


def test_an_act_begins_when_the_one_before_is_over_and_all_are_in_place() -> None:
    line = stage("ann", "bob").timeline((act(0.0, ann="round"), act(ann="swing", bob="bow"), act(bob="swing")))
    first, second, third = line.acts
    assert (first.start, first.end) == (0.0, pytest.approx(2.4))  # 0.4 s to a stand, since it ends in motion
    assert second.start > first.end
    assert second.end == pytest.approx(second.start + 2.4)
    assert third.start > second.end
    assert line.duration == pytest.approx(third.end)
    for name in ("ann", "bob"):
        motion = line.motions[name]
        assert (motion.times[0], motion.times[-1], motion.actuators) == (0.0, pytest.approx(line.duration), NAMES)
        check_limits(Motion(times=motion.times[1:], actuators=NAMES, values=motion.values[1:]))
    both = [
        np.interp(second.start + TIMES, line.motions["ann"].times, column) for column in line.motions["ann"].values.T
    ]
    assert np.column_stack(both) == pytest.approx(SWING.values, abs=1e-9)  # just as its file has it
    waits = line.motions["bob"]
    assert waits.values[waits.times <= second.start] == pytest.approx(0.0)  # at its first frame


def test_a_stretch_of_a_motion_begins_at_once_wherever_its_file_has_it() -> None:
    line = stage("ann").timeline((act(3.0, ann=Part(motion=Path("bow"), range=(0.5, 1.5), speed=0.5)),))
    assert line.acts[0].start == 3.0
    assert line.acts[0].end == pytest.approx(5.4)
    ann = line.motions["ann"]
    found = [np.interp(3.0 + 2.0 * (TIMES[30:91] - 0.5), ann.times, column) for column in ann.values.T]
    assert np.column_stack(found) == pytest.approx(BOW.values[30:91, [1, 0]], abs=1e-9)


def test_a_robot_stands_until_the_end_of_the_show_and_of_its_sound() -> None:
    line = stage("ann").timeline((act(ann="bow"),), least=30.0)
    assert line.duration == 30.0
    assert line.motions["ann"].values[-1] == pytest.approx(line.motions["ann"].values[-2])


def test_columns_without_a_servo_are_left_out() -> None:
    assert stage("ann").timeline((act(ann="bow"),)).motions["ann"].actuators == NAMES


def test_a_begin_that_is_too_early_names_when_it_can_be() -> None:
    with pytest.raises(
        ServoError, match=r"act 2, ann: ann is there at (\d+\.\d+) s at the earliest, after 2\.00 s"
    ) as it:
        stage("ann").timeline((act(0.0, ann="round"), act(2.0, ann="swing")))
    earliest = float(str(it.value).split(" at the earliest")[0].rsplit(" ", 2)[1])
    line = stage("ann").timeline((act(0.0, ann="round"), act(earliest + 0.01, ann="swing")))
    check_limits(line.motions["ann"])


def test_a_motion_without_a_column_and_a_stretch_outside_it_name_the_act() -> None:
    short = Motion(times=TIMES, actuators=("hip",), values=np.zeros((len(TIMES), 1)))
    one = Stage({"ann": CHAIN}, {("ann", Path("swing")): short}, APPROACH)
    with pytest.raises(ServoError, match="act 1, ann: swing has no column for knee; it has hip"):
        one.timeline((act(ann="swing"),))
    with pytest.raises(ServoError, match=r"act 2, ann: the stretch from 1 to 9 s is not in the motion"):
        stage("ann").timeline((act(ann="bow"), act(ann=Part(motion=Path("bow"), range=(1.0, 9.0)))))


def test_repeats_go_round_where_the_end_meets_the_start_and_back_slowly_where_not() -> None:
    rounds = stage("ann").timeline((act(0.0, ann=Part(motion=Path("round"), repeat=3)),))
    assert rounds.acts[0].end == pytest.approx(3 * 2.0 + 0.4)
    backs = stage("ann").timeline((act(0.0, ann=Part(motion=Path("swing"), repeat=3)),))
    assert backs.duration > 3 * 2.0 + 2 * 0.8
    check_limits(backs.motions["ann"])


def test_softening_brings_a_motion_within_the_limits_and_says_so() -> None:
    fast = Part(motion=Path("swing"), speed=1.55)
    hard, soft = stage("ann"), stage("ann", softens=True)
    problems = preflight(hard.timeline((act(ann=fast),)).motions["ann"], CHAIN, PlaySettings()).problems
    assert any("above its limit" in one for one in problems)
    motion = soft.timeline((act(ann=fast),)).motions["ann"]
    assert preflight(motion, CHAIN, PlaySettings()).problems == ()
    assert soft.notes[0].startswith("act 1, ann: softened, ")


def test_too_fast_to_stand_before_a_limit_names_the_motor() -> None:
    ways = Ways(CHAIN, NAMES, APPROACH, 100.0)
    with pytest.raises(ServoError, match="knee is at 2 per second, too near to its limit to stand before it"):
        ways.slow_down(np.array([0.0, LIMIT - 0.1]), np.array([0.0, 2.0]))
    away = ways.slow_down(np.array([0.0, LIMIT - 0.1]), np.array([0.0, -2.0]))
    assert away.duration >= 1.5 * 2.0 / ACCELERATION


values = st.floats(-LIMIT, LIMIT)
speeds = st.floats(-SPEED, SPEED)


@settings(deadline=None, max_examples=200)
@given(st.tuples(values, values), st.tuples(values, values), st.tuples(speeds, speeds))
def test_ways_keep_every_limit(start, end, speed) -> None:
    ways = Ways(CHAIN, NAMES, APPROACH, 100.0)
    over = ways.over(np.array(start), np.array(end))
    assert (over.values[0] == start).all()
    assert over.values[-1] == pytest.approx(end)
    assert (
        np.abs(np.diff(over.values, axis=0)).max(initial=0.0) <= APPROACH * np.diff(over.times).max(initial=0.0) + 1e-9
    )
    if min(LIMIT - abs(value) for value in start) < SPEED**2 * 0.75 / ACCELERATION / 0.98:
        return  # it may be too near to its limit
    slow = ways.slow_down(np.array(start), np.array(speed))
    steps = np.diff(slow.times)
    for one in (over, slow):
        if len(one.times) > 2:
            check_limits(Motion(times=one.times, actuators=NAMES, values=one.values))
    if len(steps):
        moving = np.abs(speed) >= 0.02
        begun = (slow.values[1] - slow.values[0]) / steps[0]
        assert begun[moving] == pytest.approx(np.array(speed)[moving], abs=ACCELERATION * steps[0])
        assert np.abs(slow.values[-1] - slow.values[-2]).max() < 1e-3
        up = ways.speed_up(np.array(start), -np.array(speed))
        assert up.values == pytest.approx(slow.values[::-1])
