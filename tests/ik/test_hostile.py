"""Targets that leap, flip and go out of reach: every frame ends in an optimum, within the limits, and reachable targets
are met again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experiments.oracle.reference import ReferenceSolver
from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.ik.solver import Solver
from robik.ik.sqp import STALLED
from robik.mechanism.orientations import quaternion_matrices
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget
from tests.ik.hostile import Reachable, hostile_clip
from tests.ik.pulled import PULLED

FOLLOWED = {
    "boxer": ("hand",),
    "dancer": ("pelvis_frame",),
    "walker": ("pelvis", "foot_l", "foot_r"),
    "arm7": ("tool",),
    "chain": ("tool",),
    "ur10": ("tool",),
    "four_bar": ("handle",),
}
ROUNDS = 40
OPTIMUM = 1e-6  # of a slope: below it only the weak pull to the last state is left
STOPPED = "the solver stopped before the optimum"


def test_a_dancer_that_leaps_is_assembled_by_the_rows_of_all_its_joints() -> None:
    """Leaps of its size had turned a hip by a third of a turn, where the rows of the loop's cut are zero as well."""
    dancer, times = robots.load("dancer"), np.arange(30) / 60
    leaps = np.repeat(np.random.default_rng(20).normal(size=(10, 3)) * dancer.extent, 3, axis=0)
    place = np.array(dancer.rest_pose("pelvis_frame").position)
    motion = retarget(dancer, TargetClip(times, {"pelvis_frame": Track(place + leaps)}), PULLED)
    judge = ReferenceSolver(dancer, PULLED)
    rest = judge.rest_state()
    for position, quaternion in zip(motion.position, motion.quaternion, strict=True):
        assert np.abs(judge.residual(judge.state_of(position, quaternion, rest))).max() < 1e-10


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, -0.48, 0.64)])
def test_a_dancer_comes_back_from_targets_that_were_turned_over(axis: tuple) -> None:
    """What a step that is far too long presses against its limits must not hold the shorter ones after it."""
    dancer, frames = robots.load("dancer"), 40
    rest = dancer.rest_pose("pelvis_frame")
    over = (Rotation.from_rotvec(np.pi * np.array(axis)) * Rotation.from_matrix(rest.matrix)).as_quat()[[3, 0, 1, 2]]
    quaternion = np.where(np.arange(frames)[:, None] % 2, np.array(rest.quaternion), over)
    track = Track(np.tile(rest.position, (frames, 1)), quaternion)
    clip = TargetClip(np.arange(frames) / 60, {"pelvis_frame": track})
    report = retarget(dancer, clip, PULLED).report
    assert report is not None
    assert report.position_error[1::2].max() < 1e-6
    assert report.orientation_error[1::2].max() < 1e-6
    assert not [k for k, why in report.short if STOPPED in why]


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("name", FOLLOWED)
def test_hostile_targets_leave_no_frame_short_of_an_optimum(name: str, turned: bool) -> None:
    """No step leads uphill, none is stopped by what a longer one met, and what the loops' rounding is worth counts as
    none."""
    mechanism, names = robots.load(name), FOLLOWED[name]
    reachable = Reachable(mechanism, names)
    clip = hostile_clip(mechanism, reachable, ROUNDS, 7)
    frames = len(clip.position)
    solver, rotation = Solver(mechanism, names, PULLED), np.zeros((frames, len(names), 3, 3))
    targets = {n: (clip.position[:, i], clip.quaternion[:, i] if turned else None) for i, n in enumerate(names)}
    if turned:
        rotation = np.stack([quaternion_matrices(clip.quaternion[:, i]) for i in range(len(names))], axis=1)
    output = solver.room(frames)
    solver.solve(output, 0, frames, solver.compile_targets(targets, None, np.arange(frames) / 60))
    assert output.residual.max() < 1e-10 * mechanism.extent
    assert all(reachable.within(q, 1e-9) for q in output.q)
    assert not (output.status == STALLED).any()
    missed = []
    for k in np.flatnonzero(clip.reachable):
        off = np.linalg.norm(reachable.frames(output.q[k])[0] - clip.position[k], axis=1).max()
        if off > mechanism.extent / 500:
            missed.append(k)
            before = output.q[k - 1] if k else reachable.topology.rest
            assert reachable.slope(solver, output.q[k], before, clip.position[k], rotation[k]) < OPTIMUM
    assert len(missed) <= 0.08 * clip.reachable.sum(), "leaps may end in local optima"


def test_limits_that_loops_tie_together_let_go_together(shared_data: Path) -> None:
    """Each toe stands with all its joints on their limits; let go alone, any of them would open a loop."""
    robot = robots.load(shared_data / "iit_softfoot" / "softfoot.xml")
    toes, frames = tuple(f"distal_phalanx_{k}" for k in (1, 2, 3, 5)), 40
    rest = [robot.rest_pose(toe) for toe in toes]
    middle = np.mean([pose.position for pose in rest], axis=0)
    com = middle + 0.05 * robot.extent * np.random.default_rng(0).normal(size=(frames, 3))
    settings = Settings(com_weight=(10.0, 10.0, 0.0), state_weight=None)
    solver = Solver(robot, toes, settings, has_com=True)
    still = {
        toe: (np.tile(pose.position, (frames, 1)), np.tile(pose.quaternion, (frames, 1)))
        for toe, pose in zip(toes, rest, strict=True)
    }
    output = solver.room(frames)
    solver.solve(output, 0, frames, solver.compile_targets(still, com, np.arange(frames) / 60))
    assert not (output.status == STALLED).any()
