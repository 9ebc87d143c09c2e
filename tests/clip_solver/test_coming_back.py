"""How frames that are beyond bounds come back into them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik import Settings, load
from robik.clip_solver.bounds import bounds_of
from robik.clip_solver.clip_solver import ClipSolver, Start
from robik.clip_solver.improver import BENT
from robik.clip_solver.spans import AROUND
from robik.retargeting.retarget import Retargeting
from tests.clip_solver.clips import lissajous

BAD, PUSHED = 200, 1e-3  # the frame that is pushed out of its bounds, and by how much [rad]


@pytest.fixture(scope="module")
def solver() -> ClipSolver:
    settings = Settings(enforce_velocity=True)
    clip = lissajous(1.0)
    work = Retargeting(load("arm7"), clip, settings)
    for _ in work.steps():
        pass
    targets = {name: (track.position, track.quaternion) for name, track in clip.tracks.items()}
    wanted = work.solver.compile_targets(targets, None, clip.times)
    work.solver.settings = replace(settings, look_ahead=True, acceleration_limit=60.0, jerk_limit=2000.0)
    begun = work._solved.q.copy()
    made = ClipSolver(
        work.solver, wanted, clip.times, begun, Start(bounds_of(work.solver, clip.times, begun, False), {})
    )
    for _ in made.steps():
        pass
    return made


def test_only_frames_beside_one_that_is_beyond_move(solver: ClipSolver) -> None:
    before, times = solver.q.copy(), lissajous(1.0).times
    assert solver.violation(before) <= BENT
    solver.q[BAD] += PUSHED
    assert solver.violation(solver.q) > 0.1
    solver._improver._come_back()
    assert solver.violation(solver.q) <= BENT
    moved = np.abs(times - times[BAD]) <= AROUND + 6 * (times[1] - times[0])
    assert (solver.q[~moved] == before[~moved]).all()
    assert np.abs(solver.q - before).max() < 2.0 * PUSHED
