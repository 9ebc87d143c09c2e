"""What targets leave free: at rest, still, alike at any sample rate, and no cost to targets within reach."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError
from robik.formats import load_robot
from robik.mechanism import Mechanism
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget

CALM = Settings(state_weight=None)
LARGEST_STEP = 0.2  # rad in 1/120 s
PLACE_ONLY = 0.05  # rad: what a free chain is bent by at least in the test of rates


def led_chain(rate: float) -> Motion:
    """The chain, its tip led sideways and held there, which leaves most of its motors free."""
    chain = robots.load("chain")
    times = np.arange(round(3 * rate) + 1) / rate
    away = np.clip(times, 0.0, 1.0)
    path = np.array(chain.rest_pose("tool").position) + np.stack([0 * times, 0.05 * away, -0.05 * away**2], axis=1)
    return retarget(chain, TargetClip(times, {"tool": Track(path)}), CALM)


def test_free_joints_do_alike_at_any_sample_rate() -> None:
    slow, fast = led_chain(60.0), led_chain(1200.0)
    assert np.ptp(slow.values, axis=0).max() > PLACE_ONLY
    off = np.abs(slow.values - fast.values[::20])
    assert off.max() < 0.05 * np.ptp(fast.values, axis=0).max()


def test_reachable_targets_are_met() -> None:
    for rate in (24.0, 60.0, 1200.0):
        assert np.nanmax(led_chain(rate).report.position_error) < 1e-6


def torn(robot: Mechanism, rate: float) -> TargetClip:
    """Feet and pelvis where they rest, and a centre of mass that circles where it cannot go."""
    times = np.arange(round(2 * rate)) / rate
    still = {
        n: np.tile(robot.rest_pose(n).position, (len(times), 1))
        for n in ("pelvis", "left_ankle_roll_link", "right_ankle_roll_link")
    }
    level = {n: np.tile(robot.rest_pose(n).quaternion, (len(times), 1)) for n in still}
    com = sum(b.mass * b.rest_com for b in robot.bodies) / robot.mass
    circle = 0.06 * np.stack([np.cos(np.pi * times) - 1.0, np.sin(np.pi * times), 0 * times], axis=1)
    return TargetClip(times, {n: Track(still[n], level[n]) for n in still}, com + circle)


@pytest.mark.parametrize("rate", [24.0, 120.0])
def test_unmapped_limbs_of_a_humanoid_are_calm(shared_data: Path, rate: float) -> None:
    robot = load_robot(shared_data / "unitree_g1" / "g1_29dof.xml")
    clip = torn(robot, rate)
    wild, motion = retarget(robot, clip, Settings(state_weight=1e-7)), retarget(robot, clip, CALM)
    largest = np.abs(motion.report.velocity).max() / 120.0

    assert np.abs(wild.report.velocity).max() / 120.0 > largest
    assert largest < LARGEST_STEP
    assert len(motion.report.jumping) == 0
    assert motion.report.acceleration.shape == motion.values.shape


def test_a_target_that_comes_back_into_reach_is_met_at_once() -> None:
    boxer = robots.load("boxer")
    times = np.arange(4) / 60
    home = np.array(boxer.rest_pose("hand").position)
    path = np.array([home, home + np.array([2.0, 0.0, 0.0]), home, home])
    motion = retarget(boxer, TargetClip(times, {"hand": Track(path)}), CALM)
    assert motion.report.position_error[2, 0] < 1e-6


@pytest.mark.parametrize("field", ["stillness", "posture"])
def test_wrong_weights_are_told(field: str) -> None:
    with pytest.raises(ClipError, match=f"{field} must be positive"):
        Settings(**{field: 0.0})
