"""Bakes that keep hold: paths that lead through poses in which motors lose a loop are bent beside them.

Judges: the closed form of a five-bar, Newton's method for its hand, and MuJoCo with stiff servos (`test_motor_hold`).
"""

from __future__ import annotations

import numpy as np
import pytest

from robik import ClipError, TargetClip, Track, load, retarget, robots
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.frames import frame_poses
from robik.mechanism import Mechanism
from robik.motions import Motion, report_summary
from robik.motions.hold import LEAST
from robik.objectives.settings import Settings, settings_from
from robik.tracking import StateBasedTracker, Target, Targets
from tests.kinematics import five_bar
from tests.retarget.test_motor_hold import ANYWHERE, RATE, hands_by_newton, height_in_mujoco, hold_of

EDGE = 1.2 * LEAST  # where the wall begins


def bake(places: np.ndarray, settings: Settings | None = None) -> tuple[Mechanism, Motion]:
    robot = five_bar.robot()
    clip = TargetClip(np.arange(len(places)) / RATE, {"hand": Track(position=places)})
    return robot, retarget(robot, clip, settings or Settings())


def hand(robot: Mechanism, motion: Motion) -> np.ndarray:
    bodies = motion.position, motion.quaternion
    return frame_poses(robot, "hand", *bodies)[0][:, [0, 2]]  # type: ignore[arg-type]


def in_closed_form(places: np.ndarray) -> np.ndarray:
    return np.array([five_bar.hold(x, z) for x, z in places])


@pytest.mark.parametrize("look_ahead", [False, True])
def test_a_path_through_forearms_in_line_ends_beside_it(look_ahead: bool) -> None:
    places = five_bar.down(0.2, 0.05)
    robot, motion = bake(places, Settings(look_ahead=look_ahead))
    at, wanted = hand(robot, motion), places[:, [0, 2]]
    hold, off = in_closed_form(at), np.linalg.norm(at - wanted, axis=1)
    assert hold.min() >= LEAST
    assert hold_of(motion).is_kept
    np.testing.assert_allclose(hold_of(motion).values, hold, rtol=1e-6)
    assert report_summary(motion)["position_error_max_m"] == pytest.approx(off.max(), rel=1e-3)
    sides = np.array([five_bar.bend(x, z) for x, z in at])
    assert (np.sign(sides) == np.sign(sides[0])).all(), "it stays in its assembly"
    if not look_ahead:
        is_far = (in_closed_form(wanted) > 1.01 * EDGE) & (np.arange(len(wanted)) < in_closed_form(wanted).argmin())
        assert off[is_far].max() < 1e-5, "where nothing is near, targets are met"


@pytest.mark.parametrize("gravity", [4.0, -4.0])
def test_stiff_servos_go_where_the_bake_goes(gravity: float) -> None:
    robot, motion = bake(five_bar.down(0.2, 0.05))
    at = hand(robot, motion)
    assert np.linalg.norm(hands_by_newton(motion.values) - at, axis=1).max() < 1e-6
    assert abs(height_in_mujoco(motion.values, gravity, 500.0) - at[-1, 1]) < 3e-3  # [N m/rad]


def test_a_path_that_keeps_hold_is_solved_as_without_a_bound() -> None:
    places = five_bar.down(0.2, 0.14)
    (_, kept), (_, free) = bake(places), bake(places, ANYWHERE)
    np.testing.assert_array_equal(kept.values, free.values)


def waves(seed: int, count: int) -> np.ndarray:
    rng, times = np.random.default_rng(seed), np.arange(count) / RATE
    ways = [
        sum(rng.uniform(-1, 1) * (np.cos(rng.uniform(1, 4) * times + p) - np.cos(p)) for p in rng.uniform(0, 6, 3))
        for _ in range(2)
    ]
    return np.array([0.0, 0.0, 0.21]) + np.stack([0.08 * ways[0], 0 * times, 0.08 * ways[1]], axis=1)


@pytest.mark.parametrize("seed", [10, 16, 23])
def test_motors_lead_to_the_same_poses_in_half_of_the_samples(seed: int) -> None:
    robot, motion = bake(waves(seed, 300))
    coarsely = ForwardKinematics(robot).poses(motion.values[::2])
    np.testing.assert_allclose(coarsely.position, motion.position[::2], atol=1e-8)  # type: ignore[index]


@pytest.mark.parametrize("seed", range(6))
def test_random_paths_keep_hold_and_their_assembly(seed: int) -> None:
    robot, motion = bake(waves(seed, 240))
    at = hand(robot, motion)
    assert hold_of(motion).is_kept, str(hold_of(motion))
    assert hold_of(motion).least >= LEAST
    assert not hold_of(motion).apart
    assert np.isfinite(at).all()


def test_a_robot_that_begins_below_the_bound_leaves_it_steadily(monkeypatch: pytest.MonkeyPatch) -> None:
    low = min(np.linspace(0.08, 0.16, 801), key=lambda z: abs(five_bar.hold(0.004, z) - 0.02) - (z > 0.1))
    monkeypatch.setattr(five_bar, "REST", (0.004, float(low)))
    robot, motion = bake(five_bar.down(float(low), float(low) + 0.05))
    hold = in_closed_form(hand(robot, motion))
    assert hold[0] < LEAST < hold[-1]
    assert hold_of(motion).below, "the report says so"
    assert (np.diff(hold) > -1e-4 * hold[0]).all()


def test_live_stops_at_the_edge() -> None:
    robot = five_bar.robot()
    tracker = StateBasedTracker(robot)
    for place in five_bar.down(0.2, 0.05):
        tracker.step(Targets({"hand": Target(place)}), 1.0 / RATE)
        at = tracker.frame("hand").position
        assert five_bar.hold(at[0], at[2]) >= LEAST
        assert five_bar.bend(at[0], at[2]) * five_bar.bend(*five_bar.REST) > 0.0


def test_more_motors_than_freedoms_and_robots_without_loops_are_left_alone() -> None:
    for name in ("dancer", "ur10"):
        robot = robots.load(name)
        frame = robot.frames[0].name
        clip = TargetClip(np.arange(10) / RATE, {frame: Track(position=np.tile([0.1, 0.1, 0.4], (10, 1)))})
        np.testing.assert_array_equal(retarget(robot, clip).values, retarget(robot, clip, ANYWHERE).values)


def test_the_setting_is_checked() -> None:
    assert settings_from({"hold": 0.1}).hold == 0.1
    for wrong in (-0.1, 1.0, float("nan")):
        with pytest.raises(ClipError, match="hold must be from 0"):
            Settings(hold=wrong)
    with pytest.raises(ClipError, match="hold must be a number"):
        settings_from({"hold": "much"})


def test_a_five_bar_of_others(shared_data) -> None:  # type: ignore[no-untyped-def]
    """The way of `turn3/make_fivebar_clip.py`: straight down through the pose with both forearms in line."""
    robot, times = load(shared_data / "turn3/fivebar.xml"), np.arange(121) / RATE
    z = 0.22 + (0.05 - 0.22) * (0.5 - 0.5 * np.cos(np.pi * times / times[-1]))
    places = np.stack([0 * z + 0.005, 0 * z, z], axis=1)
    clip = TargetClip(times, {"tip_l": Track(position=places)})
    lost, kept = (hold_of(retarget(robot, clip, settings)) for settings in (ANYWHERE, Settings()))
    assert lost.below
    assert kept.is_kept
    assert kept.least >= LEAST
