"""Single poses without a motion before them, and first frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import robik
from robik.mechanism.pose import Pose

DATA = Path(__file__).parents[3] / "shared" / "data"
PANDA = DATA / "example-robot-data/robots/panda_description/urdf/panda.urdf"
FIVE_BAR = DATA / "5bar_linkage" / "robot.urdf"
DOWN = Pose((0.5, 0.0, 0.4), (0.0, 1.0, 0.0, 0.0))


def file_of(path: Path) -> robik.Mechanism:
    if not path.exists():
        pytest.skip("no ../shared/data")
    return robik.import_robot(path).mechanism


def random_poses(robot: robik.Mechanism, frame: str, count: int) -> list[Pose]:
    """Poses of a frame that the robot has somewhere within its limits."""
    rng, (low, high) = np.random.default_rng(0), np.clip(robot.actuator_limits.T, -np.pi, np.pi)
    found: list[Pose] = []
    while len(found) < count:
        at = robik.forward(robot, rng.uniform(low, high))
        found += [at.pose(frame)] if at.assembled else []
    return found


@pytest.mark.parametrize(
    ("name", "frame"), [("ur10", "flange"), ("arm7", "flange"), ("boxer", "hand"), ("chain", "tool")]
)
def test_poses_that_a_robot_has_are_found(name: str, frame: str) -> None:
    robot = robik.load(name)
    low, high = robot.actuator_limits.T
    for target in random_poses(robot, frame, 60):
        solved = robik.solve_pose(robot, {frame: target})
        assert solved.found, solved.why
        assert (solved.values >= low - 1e-9).all() and (solved.values <= high + 1e-9).all()
        reached = robik.forward(robot, solved.values).pose(frame)
        assert np.linalg.norm(np.subtract(reached.position, target.position)) < 1e-4 * robot.extent


def test_a_linkage_is_found_with_closed_loops() -> None:
    robot = file_of(FIVE_BAR)
    for target in random_poses(robot, "effector", 20):
        solved = robik.solve_pose(robot, {"effector": target.position})
        assert solved.found, solved.why
        assert solved.residual < 1e-9 * robot.extent


def test_the_first_pose_that_anybody_asks_of_an_arm() -> None:
    """From the rest pose, with the elbow on its limit, it ended 204 mm off."""
    robot = file_of(PANDA)
    assert robik.solve_pose(robot, {"panda_hand_tcp": DOWN}).position_error < 1e-6
    times = np.arange(5) / 24.0
    track = robik.Track(position=np.tile(DOWN.position, (5, 1)), quaternion=np.tile(DOWN.quaternion, (5, 1)))
    motion = robik.retarget(robot, robik.TargetClip(times, {"panda_hand_tcp": track}))
    motion.report.raise_if_short()
    assert motion.report.position_error.max() < 1e-6
    assert np.abs(np.diff(motion.values, axis=0)).max() < 0.01  # posture draws it along what is free


def test_a_start_chooses_the_branch() -> None:
    robot = robik.load("ur10")
    start = np.array([0.3, -1.0, 1.2, -0.8, 1.0, 0.2])
    flange = robik.forward(robot, start).pose("flange")
    flipped = np.array([0.3, 0.0, -1.2, 0.0, 1.0, 0.2])
    near, other = (robik.solve_pose(robot, {"flange": flange}, start=row) for row in (start, flipped))
    assert near.found and other.found
    assert np.abs(near.values - start).max() < 1e-5
    assert np.sign(near.values[2]) != np.sign(other.values[2])
    clip = robik.TargetClip([0.0], {"flange": robik.Track(position=[flange.position], quaternion=[flange.quaternion])})
    motion = robik.retarget(robot, clip, start=start)
    assert np.abs(motion.values[0] - start).max() < 1e-3


def test_what_cannot_be_reached_comes_nearest_and_is_told() -> None:
    robot = robik.load("ur10")
    solved = robik.solve_pose(robot, {"flange": (3.0, 0.0, 0.5)})
    assert not solved.found and "flange is" in solved.why and "mm off" in solved.why
    straight = np.linalg.norm(np.subtract((3.0, 0.0, 0.5), solved.pose("flange").position))
    assert solved.position_error == pytest.approx(straight)
    times = np.zeros(1)
    motion = robik.retarget(robot, robik.TargetClip(times, {"flange": robik.Track(position=[(3.0, 0.0, 0.5)])}))
    assert motion.report.position_error.max() == pytest.approx(solved.position_error, rel=1e-3)
    with pytest.raises(robik.ClipError, match="1 of 1 frames fall short, the first of them 0: "):
        motion.report.raise_if_short()


def test_a_robot_that_floats_goes_where_its_targets_are() -> None:
    robot = robik.load("walker")
    rest = robik.forward(robot, robot.actuator_rest)
    there = Pose((1.0, 2.0, 0.0))
    feet = {name: there @ rest.pose(name) for name in ("foot_l", "foot_r", "pelvis")}
    solved = robik.solve_pose(robot, feet)
    assert solved.found and solved.pose("pelvis").position[1] == pytest.approx(2.0 + rest.pose("pelvis").position[1])


@pytest.mark.parametrize(
    ("targets", "says"),
    [
        ({}, "there are no targets"),
        ({"flange": (1.0, 2.0)}, "must be a Pose or a position of 3 numbers"),
        ({"flange": "up"}, "must be a Pose or a position of 3 numbers"),
        ({"flange": (np.nan, 0.0, 0.0)}, "must be finite"),
        ({"hand": (0.0, 0.0, 0.0)}, "no frame or body 'hand'"),
    ],
)
def test_wrong_targets_are_refused(targets: dict, says: str) -> None:
    with pytest.raises(robik.RobikError, match=says):
        robik.solve_pose(robik.load("ur10"), targets)


def test_a_wrong_start_is_refused() -> None:
    with pytest.raises(robik.MechanismError, match="wants 6 finite actuator values"):
        robik.solve_pose(robik.load("ur10"), {"flange": (0.5, 0.0, 0.5)}, start=[0.0])
