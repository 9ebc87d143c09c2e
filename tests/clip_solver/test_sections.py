"""Long clips in sections: as good as all frames at once, every limit kept across the seams, memory bounded."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from robik.clip_solver import long_clip
from robik.clip_solver import sections as of_clips
from robik.clip_solver.sections import HELD, sections
from robik.clips.clip import TargetClip, Track
from robik.mechanism import WORLD, Body, Joint, Mechanism
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.retargeting.retarget import Retargeting
from tests.clip_solver.clips import BOXER, SPEEDS, WALKER, WALKING, hurried_walk, rms, waving
from tests.clip_solver.test_clip_solver import rates, speed_limits

WHEEL = Mechanism(
    "wheel",
    (Body("wheel", 1.0),),
    (Joint("axle", "revolute", WORLD, "wheel", axis=(0.0, 0.0, 1.0), actuated=True),),
)
LIMITED = replace(SPEEDS, acceleration_limit=60.0, jerk_limit=3000.0, look_ahead=True)


def solved(robot: Mechanism, clip: TargetClip, settings: Settings) -> tuple[Motion, int, list[int]]:
    """Return a motion, in how many sections it was solved, and the frames that were told to be done meanwhile."""
    work = Retargeting(robot, clip, settings)
    told = list(work.steps())
    assert work._looking is not None
    return work.motion(), len(work._looking._clip_solver.sections), told


def in_sections(monkeypatch: pytest.MonkeyPatch, robot: Mechanism, frames: int, seen: float) -> None:
    """Let so many frames at most be solved at once, which know of so many seconds that come [s]."""
    monkeypatch.setattr(long_clip, "AT_ONCE", frames * len(robot.actuators))
    monkeypatch.setattr(of_clips, "SEEN", seen)


def check_limits(motion: Motion, most: float, jerk: float) -> None:
    """Check that a motion keeps its limits in all windows, from rest to rest."""
    still, step = (2, 2), motion.times[1] - motion.times[0]
    times = motion.times[0] + step * np.arange(-2, len(motion.times) + 2)
    around = Motion(times=times, actuators=motion.actuators, values=np.pad(motion.values, (still, (0, 0)), "edge"))
    found = rates(around)
    assert (found[0] <= 1.0005 * speed_limits(motion)).all()
    assert found[1].max() <= 1.0005 * most
    assert found[2].max() <= 1.0005 * jerk
    assert motion.report is not None and motion.report.look_ahead is not None
    assert motion.report.look_ahead.beyond == ""


def test_a_long_clip_is_as_good_in_sections_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = waving(480, 60.0)
    whole, count, _ = solved(BOXER, clip, LIMITED)
    assert count == 1
    in_sections(monkeypatch, BOXER, 130, 1.0)
    parts, count, told = solved(BOXER, clip, LIMITED)
    assert count > 4
    assert rms(parts) <= 1.01 * rms(whole)
    assert not np.array_equal(parts.values, whole.values)
    for motion in (whole, parts):
        check_limits(motion, 60.0, 3000.0)
    again = told[told.index(480) + 1 :]
    assert again == sorted(again) and len(set(again)) > 4, "progress is told section by section"


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What sections take is given back: four times as many frames need little more."""
    in_sections(monkeypatch, BOXER, 60, 0.3)
    most = []
    for frames in (50, 120, 480):
        work = Retargeting(BOXER, waving(frames, 60.0), LIMITED)
        for _ in work.frame_by_frame():
            pass
        tracemalloc.start()
        for _ in work.finishing():
            pass
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[2] < 2.0 * most[1], most


def test_a_cyclic_clip_has_no_seam_in_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    t = np.arange(301) / 60
    u = 2 * np.pi * 5 * t / t[-1]
    hand = np.array([0.25, 0.0, 0.25]) + 0.09 * np.stack([np.cos(u), np.sin(u), np.sin(2 * u)], axis=1)
    clip = TargetClip(t, {"hand": Track(hand)})
    settings = replace(SPEEDS, acceleration_limit=15.0, jerk_limit=300.0, look_ahead=True, cyclic=True)
    whole, _, _ = solved(BOXER, clip, settings)
    in_sections(monkeypatch, BOXER, 100, 0.5)
    parts, count, _ = solved(BOXER, clip, settings)
    assert count > 2
    assert rms(parts) <= 1.01 * rms(whole)
    assert np.abs(parts.values[-1] - parts.values[0]).max() <= 1e-12
    times, values = np.concatenate([t[:-1], t + t[-1]]), np.concatenate([parts.values[:-1], parts.values])
    speed, acceleration, jerk = rates(replace(parts, times=times, values=values))
    assert (speed <= 1.0005 * speed_limits(parts)).all()
    assert acceleration.max() <= 1.0005 * 15
    assert jerk.max() <= 1.0005 * 300


def test_whole_turns_go_on_over_the_seam_of_a_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel of a cycle comes back turned by 2π; the frames before its first are turned back by as much."""
    in_sections(monkeypatch, WHEEL, 60, 0.3)
    t = np.arange(181) / 60
    u = 2 * np.pi * (t / 3.0 + 0.05 * np.sin(12 * np.pi * t / 3.0) / (2 * np.pi))
    turned = np.stack([np.cos(u / 2), 0 * u, 0 * u, np.sin(u / 2)], axis=1)
    settings = Settings(state_weight=None, acceleration_limit=5.0, jerk_limit=200.0, look_ahead=True, cyclic=True)
    motion, count, _ = solved(WHEEL, TargetClip(t, {"wheel": Track(quaternion=turned)}), settings)
    assert count > 2
    assert motion.values[-1] - motion.values[0] == pytest.approx(2 * np.pi, abs=1e-9)
    times = np.concatenate([t[:-1], t + t[-1]])
    values = np.concatenate([motion.values[:-1], motion.values - motion.values[0] + motion.values[-1]])
    assert rates(replace(motion, times=times, values=values))[1].max() <= 1.0005 * 5.0


def test_feet_stand_still_across_seams(monkeypatch: pytest.MonkeyPatch) -> None:
    in_sections(monkeypatch, WALKER, 60, 0.4)
    settings = replace(WALKING, contacts="hold", acceleration_limit=60.0, jerk_limit=3000.0, look_ahead=True)
    motion, count, _ = solved(WALKER, hurried_walk(3.0, 60.0), settings)
    assert count > 2
    check_limits(motion, 60.0, 3000.0)
    assert motion.report is not None
    assert motion.report.residual.max() <= 1e-9
    assert motion.report.quality.contact_off_mm is not None
    assert motion.report.quality.contact_off_mm < 1e-6


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("most", [10, 40, 77, 200, 1000])
def test_sections_cover_a_clip(cyclic: bool, most: int) -> None:
    times = np.arange(301) / 100
    count = len(times) - cyclic
    found = sections(times, cyclic, 0.15, most)
    assert np.array_equal(np.concatenate([each.frames[each.first : each.last] for each in found]), np.arange(count))
    assert (len(found) == 1) == (most >= count)
    kept = np.zeros(count, bool)
    for each in found:
        assert kept[each.frames[each.held] % count].all(), "what stays was kept before"
        assert not each.held[each.first : each.last].any()
        goes_on = np.array(each.goes_on)
        assert (goes_on == ((each.frames[[0, -1]] != (0, count - 1)) | (cyclic and len(found) > 1))).all()
        if each is not found[0]:
            assert each.held[:HELD].all() and each.first == HELD
        if each is not found[-1]:
            assert len(each.frames) - each.last >= min(15, count - each.frames[each.last - 1] - 1)
        kept[each.frames[each.first : each.last]] = True
