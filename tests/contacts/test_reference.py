"""Held contacts give the poses of the maximal-coordinate reference, in which a contact is a joint like the others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experiments.oracle.reference import ReferenceSolver, follow
from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget

FRAMES = 5
SAME = 1e-6  # of a state
EASY = Settings(state_weight=1e-7, joint_limits=False, com_weight=(1.0, 1.0, 0.0))


def walking(standing: dict[str, bool]) -> TargetClip:
    """The walker's pelvis and centre of mass on small ellipses; frames in contact beside their rest poses, with an
    orientation or without; the other foot to and fro."""
    walker, phase = robots.load("walker"), np.linspace(0.0, 2.0, FRAMES)
    way = 0.01 * np.stack([np.sin(phase), 1.0 - np.cos(phase), -0.5 * np.sin(phase)], axis=1)
    tracks = {}
    for i, name in enumerate(("foot_l", "foot_r", "pelvis")):
        rest = walker.rest_pose(name)
        turn = Rotation.from_rotvec([0.02 * i, 0.01, 0.03]) * Rotation.from_matrix(rest.matrix)
        turns = np.tile(turn.as_quat()[[3, 0, 1, 2]], (FRAMES, 1))
        place = np.array(rest.position) + [0.004, 0.002 * i, 0.003] + way * (0 if name in standing else 1 + i)
        stands = np.ones(FRAMES, bool) if name in standing else None
        tracks[name] = Track(place, turns if standing.get(name, True) else None, stands)
    com = np.array(sum(body.mass * body.rest_com for body in walker.bodies)) / walker.mass
    return TargetClip(np.arange(FRAMES) / 60.0, tracks, com=com + way)


@pytest.mark.parametrize(
    "standing",
    [{"foot_l": True}, {"foot_l": True, "foot_r": True}, {"pelvis": False, "foot_r": True}, {"pelvis": False}],
    ids=["one foot", "both feet", "a point and a foot", "a point"],
)
def test_poses_on_contacts_are_those_of_the_reference(standing: dict[str, bool]) -> None:
    walker, clip = robots.load("walker"), walking(standing)
    motion, results = retarget(walker, clip, EASY), follow(walker, clip, EASY)
    solver, last = ReferenceSolver(walker, EASY), None
    assert motion.position is not None and motion.quaternion is not None
    for result, position, quaternion in zip(results, motion.position, motion.quaternion, strict=True):
        assert result.converged
        assert result.constraint_residual < 1e-12
        last = solver.state_of(position, quaternion, near=result.state if last is None else last)
        assert np.abs(last - result.state).max() < SAME
