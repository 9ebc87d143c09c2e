"""Judgement of motions, whoever made them: as the solver's own report, or worse where they were changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.motions import Motion
from robik.motions.report import NEARLY
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.report.judging import judged
from robik.report.shortfall import position_met
from robik.retargeting.retarget import retarget

TIMES = np.arange(40) / 60


def squat() -> tuple[TargetClip, Settings]:
    """Return targets of a walker's pelvis and feet, and their weights."""
    walker = robots.load("walker")
    down = 0.02 * (1.0 - np.cos(6 * TIMES))[:, None] * [0.0, 0.0, -1.0]
    tracks = {}
    for name in ("pelvis", "foot_l", "foot_r"):
        pose = walker.rest_pose(name)
        tracks[name] = Track(np.array(pose.position) + (down if name == "pelvis" else 0.0 * down))
    return TargetClip(TIMES, tracks), Settings(targets={"foot_l": Weights((0.25,) * 3)})


def base_of(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    assert motion.base is not None
    return motion.base.position, motion.base.quaternion


def test_a_solved_motion_is_judged_as_its_solver_judges_it() -> None:
    walker, (clip, settings) = robots.load("walker"), squat()
    solved = retarget(walker, clip, settings)
    report = judged(walker, clip, settings, replace(solved, report=None), base_of(solved)).report
    assert report is not None and solved.report is not None
    assert report.position_error == pytest.approx(solved.report.position_error, abs=1e-8)
    assert report.velocity == pytest.approx(solved.report.velocity, abs=1e-9)
    assert [k for k, _ in report.short] == [k for k, _ in solved.report.short] == []
    assert report.residual.max() < 1e-9


def test_an_edited_motor_is_told_with_its_frame_limit_and_speed() -> None:
    walker, (clip, settings) = robots.load("walker"), squat()
    solved = retarget(walker, clip, settings)
    at = list(solved.actuators).index(next(n for n in solved.actuators if "knee" in n))
    values, limit = solved.values.copy(), walker.actuator_limits[at]
    values[20, at] = limit[1] if limit[1] - values[20, at] < values[20, at] - limit[0] else limit[0]
    report = judged(walker, clip, settings, replace(solved, values=values), base_of(solved)).report
    assert report is not None
    assert [k for k, _ in report.short] == [20]
    assert f"at its limit: {solved.actuators[at]}" in report.short[0][1]
    assert 20 in report.jumping


def test_frames_are_nearly_met_up_to_ten_tolerances_of_their_weight() -> None:
    """A foot of weight ¼ counts as met within twice the distance, and as nearly met within twenty times."""
    walker, (clip, settings) = robots.load("walker"), squat()
    solved, met = retarget(walker, clip, settings), position_met(walker)
    offs = {5: 1.9 * met, 6: 2.1 * met, 7: 1.9 * NEARLY * met, 8: 2.1 * NEARLY * met}
    track = np.array(clip.tracks["foot_l"].position)
    for k, off in offs.items():
        track[k, 1] += off
    moved = replace(clip, tracks={**clip.tracks, "foot_l": Track(track)})
    report = judged(walker, moved, settings, solved, base_of(solved)).report
    assert report is not None
    assert [k for k, _ in report.short] == [6, 7, 8]
    assert report.nearly.tolist() == [6, 7]


@pytest.mark.parametrize(("inside", "said"), [(0.5e-6, True), (1.5e-6, False)])
def test_a_motor_is_at_its_limit_up_to_what_single_precision_keeps(inside: float, said: bool) -> None:
    walker, (clip, settings) = robots.load("walker"), squat()
    solved = retarget(walker, clip, settings)
    at = list(solved.actuators).index(next(n for n in solved.actuators if "knee" in n))
    values, (lower, upper) = solved.values.copy(), walker.actuator_limits[at]
    for k, value in ((20, lower + inside), (30, upper - inside)):
        values[k, at] = value
    report = judged(walker, clip, settings, replace(solved, values=values), base_of(solved)).report
    assert report is not None
    words = dict(report.short)
    assert {20, 30} <= set(words)
    assert [f"at its limit: {solved.actuators[at]}" in words[k] for k in (20, 30)] == [said, said]
