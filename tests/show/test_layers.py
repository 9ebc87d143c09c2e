"""Layers of a performance: continuity, limits, loops without a jump, triggers within triggers, release."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robik.errors import RobikError
from robik.motions import BaseTrack, Motion
from robik.show.layers import BASE, LEAN, MOST, Clip, Layers, clip_of

NAMES = ("yaw", "pitch", "arm")
LIMITS = np.array([[-1.0, 1.0], [-0.5, 0.5], [-2.0, 2.0]])
SPEEDS, ACCELERATIONS = np.array([3.0, 4.0, 5.0]), np.array([30.0, 40.0, 50.0])
PLACE = np.array([0.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0])
STEP = 0.01  # [s]


def motion(seconds: float, rate: float = 24.0, **columns: Callable[[np.ndarray], np.ndarray]) -> Motion:
    times = np.arange(round(seconds * rate) + 1) / rate
    return Motion(
        times=times, actuators=tuple(columns), values=np.column_stack([column(times) for column in columns.values()])
    )


def idle(seconds: float = 2.0) -> Clip:
    turn = 2 * np.pi / seconds
    breathing = motion(seconds, yaw=lambda t: 0.1 * np.sin(turn * t), pitch=lambda t: 0.05 * np.cos(turn * t),
                       arm=lambda t: 0.2 + 0.0 * t)  # fmt: skip
    return clip_of("idle", breathing, NAMES, is_round=True)


def wave(name: str = "wave", seconds: float = 2.0, height: float = 1.0, moved_only: bool = True) -> Clip:
    lifted = motion(
        seconds, yaw=lambda t: 0.3 + 0 * t, pitch=lambda t: 0 * t, arm=lambda t: height + 0.2 * np.sin(6 * t)
    )
    return clip_of(name, lifted, NAMES, moved_only=moved_only)


def layers(**options) -> Layers:
    return Layers(LIMITS, SPEEDS, ACCELERATIONS, np.zeros(3), PLACE, **options)


def run(made: Layers, seconds: float) -> np.ndarray:
    """Values (K, 3) of the steps."""
    rows = []
    for _ in range(round(seconds / STEP)):
        made.advance(STEP)
        rows.append(made.values.copy())
    return np.array(rows)


def within_limits(rows: np.ndarray) -> None:
    assert (rows >= LIMITS[:, 0] - 1e-12).all() and (rows <= LIMITS[:, 1] + 1e-12).all()
    assert (np.abs(np.diff(rows, axis=0)) / STEP <= SPEEDS + 1e-9).all()
    assert (np.abs(np.diff(rows, 2, axis=0)) / STEP**2 <= ACCELERATIONS + 1e-6).all()


def test_the_idle_motion_is_met_and_goes_round_without_a_jump() -> None:
    made = layers(idle=idle())
    rows, times = run(made, 9.0), STEP * np.arange(1, 901)
    met = times > 1.5
    np.testing.assert_allclose(rows[met, 0], 0.1 * np.sin(np.pi * times[met]), atol=1e-3)
    accelerations = np.abs(np.diff(rows[met, :2], 2, axis=0)).max(axis=0) / STEP**2
    assert (accelerations < [1.35, 0.7]).all()  # the curves' own are 0.99 and 0.49; rows of 24 a second


def test_an_idle_motion_whose_end_is_elsewhere_is_led_into_its_beginning() -> None:
    drifting = clip_of("idle", motion(2.0, yaw=lambda t: 0.1 * t), NAMES, is_round=True)
    np.testing.assert_allclose(drifting.rows[-1], drifting.rows[0], atol=1e-12)
    made = layers(idle=drifting)
    run(made, 1.5)
    within_limits(rows := run(made, 5.0))
    assert np.abs(np.diff(rows[:, 0])).max() < 0.01  # the jump would be 0.2, at the limiter's 0.03 a step


def test_a_clip_comes_and_goes_and_leaves_the_idle_motion_as_it_was() -> None:
    with_clip, without = layers(idle=idle()), layers(idle=idle())
    run(with_clip, 2.0), run(without, 2.0)
    assert with_clip.trigger(wave())
    during, beside = run(with_clip, 1.9), run(without, 1.9)
    assert during[50:150, 2].max() > 1.1
    np.testing.assert_array_equal(during[:, :2], beside[:, :2])  # it moves the arm alone
    run(with_clip, 1.0), run(without, 1.0)
    assert with_clip.names == []
    np.testing.assert_allclose(with_clip.values, without.values, atol=1e-6)


def test_a_clip_of_the_full_body_takes_over_what_it_does_not_move() -> None:
    made = layers(idle=idle())
    run(made, 2.0)
    made.trigger(wave(moved_only=False))
    rows = run(made, 1.0)
    np.testing.assert_allclose(rows[50:, 0], 0.3, atol=1e-6)


def test_blending_is_smooth() -> None:
    """Within its own acceleration: 10 / √3 × way / fade² of S, not the limiter's."""
    made = layers(fade=0.5)
    made.trigger(clip_of("lift", motion(2.0, arm=lambda t: 0.5 + 0 * t), NAMES))
    rows = run(made, 2.5)
    within_limits(rows)
    fastest = 10 / 3**0.5 * 0.5 / 0.5**2
    assert np.abs(np.diff(rows[:, 2], 2)).max() / STEP**2 < 1.02 * fastest
    assert rows[100, 2] == pytest.approx(0.5) and rows[-1, 2] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("moment", [0.1, 0.2, 0.5, 1.85])
def test_a_trigger_within_a_trigger_fades_over_from_there(moment: float) -> None:
    made = layers(idle=idle())
    run(made, 2.0)
    made.trigger(wave("first"))
    before = run(made, moment)
    made.trigger(wave("second", height=-1.0))
    rows = np.vstack([before, run(made, 3.0)])
    within_limits(rows)
    assert rows[round(moment / STEP) + 40 :, 2].min() < -1.1
    assert made.names == []


def test_a_clip_below_one_that_covers_it_is_forgotten() -> None:
    made = layers()
    made.trigger(wave("long", seconds=20.0))
    run(made, 0.2)
    made.trigger(wave("short", seconds=1.0))
    run(made, 0.5)
    assert made.names == ["short"]
    run(made, 2.0)
    assert made.values[2] == pytest.approx(0.0, abs=1e-6)


def test_a_clip_that_moves_more_stays_below_one_that_moves_less() -> None:
    made = layers()
    made.trigger(wave("body", seconds=3.0, moved_only=False))
    run(made, 0.5)
    made.trigger(wave("arm", seconds=1.0))
    run(made, 0.6)
    assert made.names == ["body", "arm"]


def test_a_clip_that_goes_round_goes_on_until_it_is_released() -> None:
    made = layers()
    made.trigger(clip_of("dance", motion(1.0, arm=lambda t: 1 + 0.3 * np.sin(2 * np.pi * t)), NAMES, is_round=True))
    rows = run(made, 5.0)
    assert rows[-100:, 2].max() > 1.25 and rows[-100:, 2].min() < 0.75
    made.release("dance")
    within_limits(np.vstack([rows, run(made, 1.0)]))
    assert made.names == [] and made.values[2] == pytest.approx(0.0, abs=1e-6)


def test_release_while_it_still_comes() -> None:
    made = layers(fade=0.5)
    made.trigger(wave(seconds=4.0, height=0.5))
    rows = run(made, 0.25)
    made.release_all()
    rows = np.vstack([rows, run(made, 1.5)])
    within_limits(rows)
    assert np.abs(np.diff(rows[:, 2], 2)).max() / STEP**2 < 40.0  # by itself, not by the limiter of 49
    assert made.names == []


def test_the_stick_leans_smoothly_and_comes_back() -> None:
    made = layers(idle=idle())
    run(made, 2.0)
    made.lean(np.array([0.4, 0.0, 0.0]))
    rows = run(made, 1.0)
    within_limits(rows)
    times = 2.0 + STEP * np.arange(1, 101)
    assert rows[-1, 0] == pytest.approx(0.4 + 0.1 * np.sin(np.pi * times[-1]), abs=2e-3)
    made.lean(np.zeros(3))
    run(made, 1.0)
    assert made.values[0] == pytest.approx(0.1 * np.sin(np.pi * 4.0), abs=2e-3)


def test_the_limiter_adds_no_lag_to_the_stick() -> None:
    made = layers()
    made.lean(np.array([0.1, 0.0, 0.0]))
    times = STEP * np.arange(1, 101) / LEAN
    np.testing.assert_allclose(run(made, 1.0)[:, 0], 0.1 * (1 - (1 + times) * np.exp(-times)), atol=1e-6)


def test_no_number_from_a_stick_is_none() -> None:
    made = layers()
    made.lean(np.array([np.nan, np.inf, 0.0]))
    np.testing.assert_array_equal(run(made, 0.5)[-1], np.zeros(3))


@pytest.mark.parametrize("seed", range(5))
def test_limits_are_kept_whatever_is_pressed(seed: int) -> None:
    chance = np.random.default_rng(seed)
    made = layers(idle=idle(0.7), fade=0.05)
    clips = [wave("a", 0.4, 5.0, False), wave("b", 1.0, -5.0), clip_of("c", motion(0.5, yaw=lambda t: 9 * t), NAMES,
             is_round=True)]  # fmt: skip
    rows = []
    for _ in range(2000):
        what = chance.random()
        if what < 0.05:
            made.trigger(clips[chance.integers(3)])
        elif what < 0.07:
            made.release("c")
        elif what < 0.15:
            made.lean(chance.uniform(-5, 5, 3))
        made.advance(STEP)
        rows.append(made.values.copy())
    within_limits(np.array(rows))
    assert np.abs(np.diff(rows, axis=0)).max(axis=0) == pytest.approx(0.98 * SPEEDS * STEP)  # they were asked for


def test_a_key_that_is_hammered_is_heard_only_so_often() -> None:
    made = layers()
    assert all(made.trigger(wave()) for _ in range(MOST))
    assert not made.trigger(wave())


def test_a_stall_is_not_caught_up_with() -> None:
    made = layers(idle=idle())
    made.advance(60.0)
    assert made.time == pytest.approx(0.1)


def test_the_base_goes_along_the_short_way_and_comes_back() -> None:
    half = 0.3
    times = np.arange(49) / 24.0
    turned = -np.array([np.cos(half), 0.0, 0.0, np.sin(half)])  # the same turn with the other sign
    track = BaseTrack(body="", position=np.tile([0.0, 0.0, 0.3], (49, 1)), quaternion=np.tile(turned, (49, 1)))
    bow = Motion(times=times, actuators=("arm",), values=np.zeros((49, 1)), base=track)
    made = layers()
    made.keeps = True
    made.trigger(clip_of("bow", bow, NAMES))
    run(made, 1.0)
    np.testing.assert_allclose(made.base, [0.0, 0.0, 0.3, np.cos(half), 0.0, 0.0, np.sin(half)], atol=1e-9)
    run(made, 1.5)
    np.testing.assert_allclose(made.base, PLACE, atol=1e-9)
    taken = made.motion(NAMES, "pelvis")
    assert taken.base is not None and len(taken.times) == 251 and taken.times[-1] == pytest.approx(2.5)
    assert taken.base.position[:, 2].min() == pytest.approx(0.3)
    assert (taken.base.quaternion[:, 0] > 0.9).all()


def test_of_what_moves_only_a_little_the_base_stays() -> None:
    track = BaseTrack(body="", position=np.zeros((3, 3)), quaternion=np.tile([1.0, 0, 0, 0], (3, 1)))
    shake = Motion(times=np.arange(3.0), actuators=("arm",), values=np.array([[0.0], [1.0], [0.0]]), base=track)
    assert clip_of("shake", shake, NAMES).moves[-BASE:].all()
    assert not clip_of("shake", shake, NAMES, moved_only=True).moves[-BASE:].any()


def test_a_clip_of_another_robot_is_refused() -> None:
    with pytest.raises(RobikError, match=r"^'wave' moves none of the robot's motors; it has hip$"):
        clip_of("wave", motion(1.0, hip=lambda t: t), NAMES)


def test_a_clip_of_one_sample_is_a_pose() -> None:
    pose = clip_of("pose", motion(0.0, arm=lambda t: 0.7 + t), NAMES, is_round=True)
    made = layers()
    made.trigger(pose)
    run(made, 1.0)
    assert made.values[2] == pytest.approx(0.7)
