"""Slow down where needed: the same path, later, within all limits, and not later than it must be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from robik.cli import main
from robik.clip_solver.bounds import differences
from robik.errors import ClipError
from robik.motions import Motion, load_motion, save_motion
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget
from robik.retiming import Limits, limits_of, slow_down
from tests.clip_solver.clips import ARM, BOXER, WALKER, hurried_walk, lissajous, waving


def shares(motion: Motion, limits: Limits) -> list[float]:
    """Return the largest share of speed, acceleration and jerk that a motion uses which rests at both ends."""
    orders = differences(motion.times, rests=(True, True))
    return [float((np.abs(o.of(motion.values)) / top).max()) for o, top in zip(orders, limits.over_time, strict=True)]


@pytest.mark.parametrize("case", ["arm", "walker", "boxer"])
def test_limits_are_kept_on_the_same_path(case: str) -> None:
    cases = {"arm": (ARM, lissajous(3.0, 60.0, 2.0)), "walker": (WALKER, hurried_walk(5.0, 60.0))}
    robot, clip = (cases | {"boxer": (BOXER, waving(40))})[case]
    motion = retarget(robot, clip, Settings(state_weight=None))
    limits = limits_of(robot, 60.0, 3000.0)
    assert max(shares(motion, limits)) > 1.5
    slowed = slow_down(robot, motion, limits)
    assert slowed.beyond == ""
    assert max(shares(slowed.motion, limits)) <= 1.0005
    assert max(shares(slowed.motion, limits)) > 0.99, "no slower than it must be"
    assert slowed.longer == pytest.approx(slowed.motion.times[-1] - motion.times[-1])
    assert slowed.longer > 0.1
    assert np.diff(slowed.along).min() >= -1e-9
    at = slowed.later(motion.times)
    assert (np.diff(at) >= np.diff(motion.times) - 1e-6).all(), "nowhere faster"
    assert slowed.motion.values[0] == pytest.approx(motion.values[0], abs=1e-9)
    assert slowed.motion.values[-1] == pytest.approx(motion.values[-1], abs=1e-6)
    path = CubicSpline(motion.times, motion.values)(slowed.along)
    assert np.abs(slowed.motion.values - path).max() < 1e-9


def test_time_that_a_judge_finds_is_not_beaten_by_much() -> None:
    """TOPP-RA (toppra 0.6.10) takes 2.622 s for this path with speeds and accelerations alone, at 40 nodes a second."""
    motion = retarget(ARM, lissajous(1.0, 20.0), Settings(state_weight=None))
    quick = replace(motion, times=motion.times / 6.0, report=None)
    free, held = (slow_down(ARM, quick, limits_of(ARM, 60.0, jerk)) for jerk in (1e5, 3000.0))
    assert free.motion.times[-1] == pytest.approx(2.622, abs=0.03)
    assert free.motion.times[-1] <= held.motion.times[-1] <= 2.70


def test_a_delay_is_made_up_for_where_that_is_allowed() -> None:
    motion, limits = (
        retarget(WALKER, hurried_walk(3.0, 60.0), Settings(state_weight=None)),
        limits_of(WALKER, 60.0, 3000.0),
    )
    late, back = slow_down(WALKER, motion, limits), slow_down(WALKER, motion, limits, catch_up=0.3)
    assert back.beyond == ""
    assert back.longer < 0.8 * late.longer
    assert (back.along <= back.motion.times + 1e-6).all(), "never early"
    assert np.diff(back.along).max() <= 1.3 / 60.0 + 1e-6


def test_a_motion_within_its_limits_stays_as_it_is() -> None:
    motion = retarget(WALKER, hurried_walk(1.0, 30.0), Settings(state_weight=None))
    slowed = slow_down(WALKER, motion, limits_of(WALKER))
    assert slowed.longer == pytest.approx(0.0, abs=1e-9)
    assert slowed.motion.values == pytest.approx(motion.values, abs=1e-6)


def test_torques_are_kept() -> None:
    motion = retarget(ARM, lissajous(3.0, 60.0, 2.0), Settings(state_weight=None))
    free = limits_of(ARM, 60.0, 3000.0)
    weak = replace(free, torque=np.full(len(ARM.actuators), np.inf))
    most = slow_down(ARM, motion, replace(free, torque=np.full(len(ARM.actuators), 1e6)))
    assert "torque" in most.shares
    weak.torque[:] = 0.93e6 * most.shares["torque"]
    held = slow_down(ARM, motion, weak)
    assert held.shares["torque"] <= 1.0005 or "torque" in held.beyond
    assert max(shares(held.motion, weak)) <= 1.0005


def test_the_command_says_what_it_costs_before(tmp_path, capsys) -> None:
    motion = retarget(WALKER, hurried_walk(6.0, 60.0), Settings(state_weight=None))
    save_motion(motion, tmp_path / "quick.csv", "csv")
    arguments = ["retime", "walker", str(tmp_path / "quick.csv"), "--acceleration", "60", "--jerk", "3000"]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    assert "s longer" in told
    assert list(tmp_path.iterdir()) == [tmp_path / "quick.csv"]
    assert main([*arguments, "--vibration", "4", "-o", str(tmp_path / "slow.csv")]) == 0
    slow = load_motion(tmp_path / "slow.csv")
    assert max(shares(slow, limits_of(WALKER, 60.0, 3000.0))) <= 1.01  # digits of a CSV
    assert main([*arguments, "--vibration", "fast"]) == 2


def test_bad_input_is_told() -> None:
    motion = retarget(BOXER, waving(3), Settings(state_weight=None))
    with pytest.raises(ClipError, match="from 4 samples on, this one has 3"):
        slow_down(BOXER, motion, limits_of(BOXER))
    with pytest.raises(ClipError, match="acceleration of tail, which robot 'boxer' does not have"):
        limits_of(BOXER, {"tail": 3.0})
