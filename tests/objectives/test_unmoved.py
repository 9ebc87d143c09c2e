"""The objective at the state of the frame before, which a frame's start needs not sum again over all bodies."""

from __future__ import annotations

import numpy as np
import pytest

from robik import robots
from robik.ik.solver import Solver
from robik.kinematics.kernels import close, forward_kinematics, integrate
from robik.objectives.registry import objective, objective_of_pose
from robik.objectives.settings import Settings


@pytest.mark.parametrize("settings", [Settings(), Settings(state_weight=1e-2, velocity_weight=1e-3)])
@pytest.mark.parametrize(("name", "frame"), [("boxer", "hand"), ("dancer", "pelvis_frame"), ("walker", "pelvis")])
def test_unmoved_the_objective_is_that_of_the_pose_alone(name: str, frame: str, settings: Settings) -> None:
    robot = robots.load(name)
    solver = Solver(robot, (frame,), settings)
    rest = robot.rest_pose(frame)
    target = np.array([rest.position]) + 0.1 * robot.extent, np.array([rest.quaternion])
    clip = solver.compile_targets({frame: target}, None, np.zeros(1))
    solver.tables.targets[:] = clip.targets[0]
    last, flat = solver._memory.last, solver.flat
    for turn in (0.0, 0.3, 3.0):  # wherever the frame before is
        integrate(flat, last.q, np.full(len(flat.before), turn), 1.0, last.q)
        forward_kinematics(flat, last)
        close(flat, last)
        value = objective_of_pose(flat, last, solver.tables)
        assert value > 0.0
        assert value == objective(flat, last, solver.tables)
