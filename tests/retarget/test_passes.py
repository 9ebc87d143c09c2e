"""Passes of one clip with walls: all frames are solved at once on the last one alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from robik.bake.passes import Passes
from robik.clip_solver.bounds import FITS
from robik.clip_solver.clip_solver import ClipSolver
from robik.retargeting.retarget import Retargeting, retarget
from robik.steps import finish
from tests.clip_solver.clips import BOXER, SPEEDS, rms, waving

SETTINGS = replace(SPEEDS, look_ahead=True, acceleration_limit=60.0)


def test_all_frames_are_solved_at_once_on_the_chosen_pass_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[ClipSolver] = []
    steps = ClipSolver.steps

    def counted(solver: ClipSolver) -> Iterator[int]:
        runs.append(solver)
        return steps(solver)

    monkeypatch.setattr(ClipSolver, "steps", counted)
    clip = waving(14)
    passes = Passes(lambda each: Retargeting(BOXER, each, SETTINGS))
    first, second = (finish(passes.solve(clip)) for _ in range(2))
    assert runs == []
    assert np.array_equal(first.values, second.values)
    motion = finish(passes.finish(second, clip))
    assert len(runs) == 1
    assert motion.report is not None and motion.report.look_ahead is not None
    assert np.array_equal(motion.values, retarget(BOXER, clip, SETTINGS).values)


def test_the_motion_frame_by_frame_stays_when_all_frames_move_on() -> None:
    clip = waving(14)
    passes = Passes(lambda each: Retargeting(BOXER, each, SETTINGS))
    single = finish(passes.solve(clip))
    motion = finish(passes.finish(single, clip))
    before = retarget(BOXER, clip, SETTINGS.frame_by_frame())
    assert np.array_equal(single.values, before.values)
    assert single.position is not None and before.position is not None and motion.position is not None
    assert np.array_equal(single.position, before.position)
    assert np.abs(motion.position - before.position).max() > 1e-3


def test_a_clip_with_other_walls_goes_on_from_where_all_frames_are() -> None:
    clip = waving(14)
    passes = Passes(lambda each: Retargeting(BOXER, each, SETTINGS))
    single = finish(passes.solve(clip))
    motion = finish(passes.finish(single, clip))
    walled = waving(14, reach=0.05)
    further = finish(passes.finish(motion, walled))
    assert len(passes) == 2 and passes.of(further) is not passes.of(motion)
    report, fresh = further.report, retarget(BOXER, walled, SETTINGS)
    assert report is not None and report.look_ahead is not None and fresh.report is not None
    assert motion.report is not None and motion.report.look_ahead is not None
    assert report.look_ahead.peak_acceleration == motion.report.look_ahead.peak_acceleration, "of the first frames"
    assert max(report.look_ahead.shares.values()) <= FITS
    assert np.abs(further.values - motion.values).max() > 1e-3
    assert rms(further) == pytest.approx(rms(fresh), rel=0.02)
    assert report.residual is not None and report.residual.max() < 1e-9
