"""Frames that took hundreds of iterations: looks alone, and bipeds on feet that are too narrow to stand on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik import robots
from robik.balance.plan import with_balance
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.ik.solver import Solver
from robik.ik.sqp import CONVERGED
from robik.mechanism import Mechanism
from robik.objectives.look_at import LookAt
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget

POINTS = np.array([[0.3, 0.8, 1.5], [-0.5, 0.3, 0.2], [0.3, -0.8, 0.3], [-2.0, 0.1, 0.0], [0.0, 0.0, 3.0]])
FEW = 60  # iterations
CREEPING = 0.02  # rad or m a frame, half a second after a target leapt
BLADE = 5e-4  # half of a sole's width [m]


@pytest.mark.parametrize("robot", ["ur10", "arm7", "chain"])
def test_a_look_alone_is_found_in_few_iterations(robot: str) -> None:
    """The poses that look there are a valley that bends; the UR10 starts in its straight rest pose."""
    frames = len(POINTS)
    look = LookAt("tool", POINTS).checked(frames)
    solver = Solver(robots.load(robot), (), Settings(state_weight=None), objectives=(look,))
    output = solver.room(frames)
    solver.solve(output, 0, frames, solver.compile_targets({}, None, np.arange(frames) / 60))
    assert (output.status == CONVERGED).all()
    assert output.iterations[0] <= FEW
    assert output.iterations.max() <= 3 * FEW
    assert output.value.max() < 1e-3


def on_blades(walker: Mechanism) -> Mechanism:
    """Return a biped whose soles are a millimetre wide."""
    frames = []
    for frame in walker.frames:
        if frame.is_foot:
            sole = np.array(frame.sole)
            middle = sole[:, 1].mean()
            sole[:, 1] = middle + BLADE * np.sign(sole[:, 1] - middle)
            frame = replace(frame, sole=tuple(map(tuple, sole.tolist())))
        frames.append(frame)
    return replace(walker, frames=tuple(frames))


def test_time_does_not_grow_with_the_clip_on_feet_that_cannot_stand() -> None:
    """A sole a millimetre wide holds no centre of mass 10 mm inside: late frames are no harder than early ones."""
    robot = on_blades(robots.load("walker"))
    clip = with_balance(robot, walk_clip(robot, 60.0, balanced=False).part(0, 300))
    report = retarget(robot, clip, Settings(com_weight=(10.0, 10.0, 0.0), state_weight=None)).report
    assert report is not None
    early, late = report.iterations[:60], report.iterations[240:]
    assert late.mean() <= 1.5 * early.mean() + 3
    assert report.iterations.max() <= 3 * FEW


FREE = """<mujoco><worldbody><body name="base" pos="0 0 0.2"><freejoint/><geom size="0.1" mass="1"/>
<body name="tool" pos="0 0 0.5"><joint name="slide" type="slide" axis="1 0 0" range="-1 1"/>
<joint name="turn" type="hinge" axis="1 0 0"/><geom size="0.1" mass="1"/></body></body>
</worldbody></mujoco>"""


def test_what_met_targets_leave_free_is_left_to_later_frames(tmp_path: Path) -> None:
    """A floating body and one on it: places leave five freedoms, along a valley that bends; held, it comes to rest."""
    (tmp_path / "free.xml").write_text(FREE)
    robot, rng = robots.load(tmp_path / "free.xml"), np.random.default_rng(2)
    size = robot.extent
    path = np.repeat(np.array(robot.rest_pose("tool").position) + size * rng.normal(size=(20, 3)), 30, axis=0)
    motion = retarget(robot, TargetClip(np.arange(600) / 60, {"tool": Track(path)}), Settings(state_weight=None))
    report = motion.report
    assert report is not None
    assert report.iterations.max() <= FEW
    assert np.nanmax(report.position_error[29::30]) < 1e-6
    assert np.abs(np.diff(motion.values, axis=0))[28::30].max() < CREEPING
