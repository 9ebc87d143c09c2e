"""A new motion within an old one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError
from robik.objectives.settings import Settings, settings_from
from robik.retargeting.blend import blended, blended_base, shares, within_speeds
from robik.retargeting.retarget import Retargeting


def test_shares_rise_and_fall_at_the_ends_that_blend() -> None:
    frames = np.arange(10.0, 31.0)
    both = shares(frames, 5, True, True)
    assert both[[0, -1]] == pytest.approx([0, 0])
    assert both[5:16] == pytest.approx(np.ones(11))
    assert (np.diff(both[:6]) > 0).all()
    assert shares(frames, 5, False, True)[0] == 1.0
    assert shares(frames, 0, True, True) == pytest.approx(np.ones(21))
    assert shares(frames, 100, True, True).max() == pytest.approx(1.0)  # never longer than half
    assert shares(frames[:1], 5, True, True) == pytest.approx([1.0])


@pytest.mark.parametrize(("length", "used"), [(1.0, 1.0), (2.5, 2.5), (100.0, 4.0)])
@pytest.mark.parametrize("ends", [(True, True), (True, False), (False, True), (False, False)])
def test_shares_are_the_cubic_that_is_at_rest_at_both_its_ends(
    length: float, used: float, ends: tuple[bool, bool]
) -> None:
    """Against SciPy's, at uneven frames; a blend is at most half as long as the motion."""
    frames = np.array([10.0, 10.25, 10.5, 11.0, 12.0, 12.5, 14.0, 15.0, 16.5, 17.75, 18.0])
    rise = CubicHermiteSpline([0.0, used], [0.0, 1.0], [0.0, 0.0])
    wanted = np.ones(len(frames))
    for blends, far in zip(ends, (frames - 10.0, 18.0 - frames), strict=True):
        if blends:
            wanted *= rise(np.minimum(far, used))
    np.testing.assert_allclose(shares(frames, length, *ends), wanted, rtol=0, atol=1e-14)


def test_bases_blend_the_short_way() -> None:
    turn = Rotation.from_euler("z", [0.0, 0.4]).as_quat()[:, [3, 0, 1, 2]]
    old, new = (np.zeros((1, 3)), turn[:1]), (np.ones((1, 3)), -turn[1:])
    position, quaternion = blended_base(old, new, np.array([0.5]))
    assert position[0] == pytest.approx([0.5] * 3)
    assert abs(quaternion[0] @ Rotation.from_euler("z", 0.2).as_quat()[[3, 0, 1, 2]]) == pytest.approx(1.0)
    assert blended_base(None, None, np.ones(1)) is None


def test_what_is_too_fast_is_slowed_to_the_speed_and_no_more() -> None:
    rng = np.random.default_rng(3)
    times, speeds = np.cumsum(rng.uniform(0.01, 0.1, 200)), np.array([1.0, 5.0, np.inf])
    held = np.zeros(200, dtype=bool)
    held[[0, -1]] = True
    wild = np.cumsum(0.05 * rng.standard_normal((200, 3)), axis=0)
    slow = within_speeds(wild, times, speeds, held)
    rates = np.abs(np.diff(slow, axis=0)) / np.diff(times)[:, None]
    assert rates.max(axis=0)[:2] == pytest.approx(speeds[:2], rel=1e-9)
    assert slow[[0, -1]] == pytest.approx(wild[[0, -1]], abs=1e-12)
    assert (slow[:, 2] == wild[:, 2]).all()
    assert (slow.max(axis=0) <= wild.max(axis=0)).all() and (
        slow.min(axis=0) >= wild.min(axis=0)
    ).all()  # within joint limits, so
    assert within_speeds(slow, times, speeds, held) == pytest.approx(slow, abs=1e-12)


def test_the_least_distance_that_the_speed_allows_is_kept() -> None:
    """Against a linear program: of all rows that keep the speed, none comes nearer to the wild ones at its worst."""
    rng = np.random.default_rng(4)
    times, wild = np.arange(40) / 24, rng.uniform(-1, 1, 40)
    slow = within_speeds(wild[:, None], times, np.array([2.0]), np.zeros(40, dtype=bool))[:, 0]
    far = np.ones((40, 1))
    step = np.hstack([np.diff(np.eye(40), axis=0), np.zeros((39, 1))])
    near = np.hstack([np.eye(40), -far]), np.hstack([-np.eye(40), -far])
    least = linprog(
        np.eye(41)[40],
        A_ub=np.vstack([*near, step, -step]),
        b_ub=np.concatenate([wild, -wild, np.full(78, 2.0 / 24)]),
        bounds=(None, None),
    )
    assert np.abs(slow - wild).max() == pytest.approx(least.fun, abs=1e-9)


def test_ends_that_no_speed_could_join_are_slowed_as_far_as_they_go() -> None:
    held = np.array([True, False, True])
    slow = within_speeds(np.array([[0.0], [5.0], [1.0]]), np.arange(3.0), np.array([0.25]), held)
    assert np.isfinite(slow).all()
    assert np.abs(np.diff(slow, axis=0)).max() <= 0.25 + 1e-12


def punch() -> Retargeting:
    boxer, times = robots.load("boxer"), np.arange(60) / 60
    hand = np.array([0.25, 0.0, 0.25]) + 0.1 * np.stack([np.cos(9 * times), np.sin(9 * times), 0 * times], axis=1)
    return Retargeting(boxer, TargetClip(times, {"hand": Track(hand)}))


def test_a_motion_with_other_values_is_held_against_the_same_clip() -> None:
    work = punch()
    list(work.steps())
    motion = work.motion()
    same = work.remade(motion, motion.values, None)
    assert same.report.position_error == pytest.approx(motion.report.position_error, abs=1e-9)
    assert same.report.short == motion.report.short
    other = work.remade(
        motion, blended(np.zeros_like(motion.values), motion.values, shares(np.arange(60.0), 10, True, True)), None
    )
    assert other.values[0] == pytest.approx(np.zeros(4))
    assert other.report.position_error[0] > 0.01
    assert other.report.position_error[30] == pytest.approx(motion.report.position_error[30], abs=1e-9)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_only_a_share_of_the_motors_speed_is_used(share: float) -> None:
    boxer, times = robots.load("boxer"), np.arange(60) / 60
    jump = np.where(np.arange(60)[:, None] < 30, [[0.3, 0.0, 0.2]], [[0.1, 0.25, 0.3]])
    work = Retargeting(
        boxer, TargetClip(times, {"hand": Track(jump)}), Settings(enforce_velocity=True, velocity_share=share)
    )
    list(work.steps())
    report = work.motion().report
    assert (np.abs(report.velocity) / report.velocity_limit).max() == pytest.approx(share, rel=1e-6)


def test_shares_that_cannot_be_are_refused() -> None:
    for wrong in (0.0, 1.5, -1.0, float("nan")):
        with pytest.raises(ClipError, match="velocity_share"):
            Settings(velocity_share=wrong)
    with pytest.raises(ClipError, match="velocity_share"):
        settings_from({"velocity_share": "half"})
