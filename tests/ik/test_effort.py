"""Iterations that frames take: a slower way to the same optimum is a fault, too.

The limits are a little above what is needed.
"""

from __future__ import annotations

import numpy as np
import pytest

from robik import robots
from robik.mechanism import Mechanism
from robik.objectives.settings import Settings
from robik.retarget.clip import TargetClip, Track
from robik.retarget.retarget import retarget

FRAMES = 60
MORE = 1.06  # times what is needed: rounding differs between machines
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


@pytest.mark.parametrize(("name", "far", "turn", "mean", "most"), [
    ("arm7", 0.3, 1.0, 3.90, 12), ("arm7", 1.0, 3.0, 4.95, 14), ("arm7", 0.0, 6.0, 5.27, 23),
    ("boxer", 0.05, 0.2, 1.40, 3), ("boxer", 0.3, 1.0, 2.07, 11), ("boxer", 1.0, 3.0, 3.88, 11),
    ("boxer", 0.0, 6.0, 5.42, 24), ("chain", 0.3, 1.0, 3.47, 13), ("chain", 1.0, 3.0, 6.07, 24),
    ("chain", 0.0, 6.0, 3.95, 21), ("dancer", 0.05, 0.2, 1.93, 3), ("dancer", 0.3, 1.0, 4.67, 13),
    ("dancer", 1.0, 3.0, 4.50, 14), ("dancer", 0.0, 6.0, 4.48, 26), ("four_bar", 1.0, 3.0, 1.92, 3),
    ("ur10", 1.0, 3.0, 2.50, 9), ("ur10", 0.0, 6.0, 2.88, 5), ("validation", 0.0, 6.0, 1.73, 3),
    ("walker", 0.3, 1.0, 2.32, 5), ("walker", 1.0, 3.0, 3.02, 11), ("walker", 0.0, 6.0, 5.67, 21),
])  # fmt: skip
def test_frames_take_no_more_iterations_than_they_need(
    name: str, far: float, turn: float, mean: float, most: int
) -> None:
    found = iterations(name, far, turn)
    assert found.mean() <= MORE * mean
    assert found.max() <= MORE * most + 1


@pytest.mark.parametrize(("name", "mean", "most"), [("arm7", 4.95, 31), ("chain", 14.0, 74), ("walker", 3.37, 16)])
def test_nor_with_the_velocity_regularizer(name: str, mean: float, most: int) -> None:
    found = iterations(name, 0.3, 1.0, velocity_weight=1e-3, velocity_limit=2.0)
    assert found.mean() <= MORE * mean
    assert found.max() <= MORE * most + 1


@pytest.mark.parametrize(("name", "mean", "most"), [("arm7", 3.93, 12), ("chain", 3.57, 11), ("dancer", 4.7, 13)])
def test_nor_with_posture_and_stillness(name: str, mean: float, most: int) -> None:
    found = iterations(name, 0.3, 1.0, state_weight=None)
    assert found.mean() <= MORE * mean
    assert found.max() <= MORE * most + 1
