"""Iterations that frames take, and what they miss: a slower way to the same optimum is a fault, too.

The figures are those of the solver as it is. One that needs fewer iterations, or misses less, gets new ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik import robots
from robik.mechanism import Mechanism
from robik.objectives.settings import Settings
from robik.retarget.clip import TargetClip, Track
from robik.retarget.retarget import retarget

FRAMES = 60
SHARE = 0.02  # of the iterations: rounding differs between machines
TIME = np.arange(FRAMES) / 60.0


def track(robot: Mechanism, name: str, far: float, turn: float) -> Track:
    """A track from where a frame rests, `far` times the robot's size away and back, turning by `turn` [rad]."""
    rest = robot.rest_pose(name)
    way = np.sin(np.pi * TIME / TIME[-1])[:, None]
    place = np.array(rest.position) + far * robot.extent * way * np.array([0.5, -0.4, 0.77])
    half = 0.5 * turn * way
    axis = np.array([0.36, 0.48, 0.8])
    turns = np.concatenate([np.cos(half), np.sin(half) * axis], axis=1)
    w, x, y, z = rest.quaternion
    left = np.array([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]])  # of q ↦ q · rest
    return Track(place, turns @ left.T)


def iterations(name: str, far: float, turn: float, **settings: float | None) -> np.ndarray:
    """Iterations (T,) of each frame of a robot whose frames all follow such tracks."""
    robot = robots.load(name)
    names = [frame.name for frame in robot.frames][:2]
    clip = TargetClip(TIME, {n: track(robot, n, far, turn) for n in names})
    report = retarget(robot, clip, Settings(**settings)).report  # type: ignore[arg-type]
    assert report is not None
    return report.iterations


def agree(found: int, expected: int) -> bool:
    """Whether two numbers of iterations are alike."""
    return abs(found - expected) <= SHARE * expected + 2


def narrowed(robot: Mechanism) -> Mechanism:
    """The robot with motors that turn by 0.7 rad (or m) from rest at most, and by 4 in a second."""
    joints = tuple(
        replace(j, limits=tuple((r - 0.7, r + 0.7) for r in j.rest), velocity_limit=min(j.velocity_limit, 4.0))
        if j.actuated and not j.is_ball
        else j
        for j in robot.joints
    )
    return robot.with_changes(joints=joints)


@pytest.mark.parametrize(("name", "far", "turn", "expected"), [
    ("arm7", 0.3, 1.0, 234), ("arm7", 1.0, 3.0, 297), ("arm7", 0.0, 6.0, 316), ("boxer", 0.05, 0.2, 84),
    ("boxer", 0.3, 1.0, 124), ("boxer", 1.0, 3.0, 233), ("boxer", 0.0, 6.0, 325), ("chain", 0.3, 1.0, 208),
    ("chain", 1.0, 3.0, 364), ("chain", 0.0, 6.0, 237), ("dancer", 0.05, 0.2, 116), ("dancer", 0.3, 1.0, 280),
    ("dancer", 1.0, 3.0, 270), ("dancer", 0.0, 6.0, 269), ("four_bar", 1.0, 3.0, 115), ("ur10", 1.0, 3.0, 150),
    ("ur10", 0.0, 6.0, 173), ("validation", 0.0, 6.0, 104), ("walker", 0.3, 1.0, 139), ("walker", 1.0, 3.0, 181),
    ("walker", 0.0, 6.0, 340),
])  # fmt: skip
def test_frames_take_no_more_iterations_than_they_need(name: str, far: float, turn: float, expected: int) -> None:
    assert agree(iterations(name, far, turn).sum(), expected)


@pytest.mark.parametrize(("name", "expected"), [
    ("arm7", 297), ("chain", 840), ("walker", 202),
])  # fmt: skip
def test_nor_with_the_velocity_regularizer(name: str, expected: int) -> None:
    assert agree(iterations(name, 0.3, 1.0, velocity_weight=1e-3, velocity_limit=2.0).sum(), expected)


@pytest.mark.parametrize(("name", "expected"), [
    ("arm7", 236), ("chain", 214), ("dancer", 282),
])  # fmt: skip
def test_nor_with_posture_and_stillness(name: str, expected: int) -> None:
    assert agree(iterations(name, 0.3, 1.0, state_weight=None).sum(), expected)


SPEEDS = {"enforce_velocity": True}
CALM = {"enforce_velocity": True, "state_weight": None}


@pytest.mark.parametrize(("name", "settings", "expected", "missed"), [
    ("arm7", {}, 147, 0.117875497), ("arm7", SPEEDS, 242, 0.387004369), ("arm7", CALM, 233, 0.385485112),
    ("boxer", {}, 119, 0.101108857), ("boxer", SPEEDS, 157, 0.151219695), ("boxer", CALM, 205, 0.151216611),
    ("walker", {}, 145, 0.052562083), ("walker", SPEEDS, 203, 0.055737099), ("walker", CALM, 336, 0.056093648),
    ("dancer", {}, 229, 0.091029225), ("dancer", SPEEDS, 455, 0.164744100), ("dancer", CALM, 374, 0.164470329),
    ("ur10", {}, 161, 0.162751273), ("ur10", SPEEDS, 261, 0.395654431), ("ur10", CALM, 253, 0.396034531),
    ("chain", SPEEDS, 332, 0.152996339), ("chain", CALM, 407, 0.152741399),
])  # fmt: skip
def test_targets_that_jump_are_missed_by_what_limits_and_speeds_demand(
    name: str, settings: dict, expected: int, missed: float
) -> None:
    """They stay for a quarter of a second at each place, most of which the robot cannot reach."""
    robot, rng = narrowed(robots.load(name)), np.random.default_rng(0)
    tracks = {}
    for frame in robot.frames[:2]:
        away = np.repeat(rng.normal(size=(8, 3)), 15, axis=0) * 0.4 * robot.extent
        tracks[frame.name] = Track(np.array(robot.rest_pose(frame.name).position) + away)
    report = retarget(robot, TargetClip(np.arange(120) / 60.0, tracks), Settings(**settings)).report
    assert report is not None
    assert report.position_error.mean() == pytest.approx(missed, rel=1e-4)
    assert agree(report.iterations.sum(), expected)
