"""Optima between limits, against what makes an optimum: free coordinates balance, held ones press on their limits."""

from __future__ import annotations

import numpy as np
import pytest

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.ik.solver import Solver
from robik.ik.sqp import hold
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.mechanism.topology import SMALL
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget


def curl(bodies: int, bound: float) -> Mechanism:
    """A chain of hinges about z in a plane, 1 m long along x, each with the same small range."""
    length = 1.0 / bodies
    links = tuple(
        Body(f"link{k}", 0.01, com=(0.5 * length, 0.0, 0.0), pose=Pose((k * length, 0.0, 0.0))) for k in range(bodies)
    )
    joints = tuple(
        Joint(
            f"hinge{k}", "revolute", f"link{k - 1}" if k else WORLD, f"link{k}", position=(k * length, 0.0, 0.0),
            axis=(0.0, 0.0, 1.0), actuated=True, limits=((-bound, bound),),
        )
        for k in range(bodies)
    )  # fmt: skip
    return Mechanism("curl", links, joints, frames=(Frame("tip", links[-1].name, Pose((length, 0.0, 0.0))),))


def torques(values: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The tip (2,) of the chain, and the slope (n,) of half its squared distance from the target."""
    length, heading = 1.0 / len(values), np.cumsum(values)
    ends = np.cumsum(length * np.stack([np.cos(heading), np.sin(heading)], axis=1), axis=0)
    joints, tip = np.vstack([np.zeros(2), ends[:-1]]), ends[-1]
    lever = tip - joints
    return tip, (tip - target) @ np.array([-lever[:, 1], lever[:, 0]])


@pytest.mark.parametrize("bodies", [6, 40, SMALL + 8])
@pytest.mark.parametrize("target", [(0.9, 0.45), (-0.2, 0.3), (0.35, -0.6), (1.4, 0.2)])
def test_limits_that_hold_press_and_the_rest_balances(bodies: int, target: tuple[float, float]) -> None:
    """The tip is led to a place that it cannot reach, in steps, and back."""
    bound = 1.6 / bodies
    robot = curl(bodies, bound)
    share = np.concatenate([np.linspace(0.0, 1.0, 12), np.ones(3)])[:, None]
    place = (1.0 - share) * np.array([1.0, 0.0, 0.0]) + share * np.array([*target, 0.0])
    settings = Settings(targets={"tip": Weights((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))}, state_weight=1e-10)
    motion = retarget(robot, TargetClip(np.arange(len(place)) / 60.0, {"tip": Track(place)}), settings)
    values = motion.values[-1]
    assert np.abs(motion.values).max() <= bound + 1e-12
    tip, slope = torques(values, place[-1, :2])
    free = np.abs(values) < bound - 1e-9
    assert np.abs(slope[free]).max(initial=0.0) < 1e-6
    assert (slope[~free] * np.sign(values[~free]) <= 1e-6).all()  # further out would be better
    assert motion.position is not None
    assert motion.report is not None
    assert abs(motion.report.position_error[-1, 0] - np.linalg.norm(tip - place[-1, :2])) < 1e-9


@pytest.mark.parametrize("bodies", [6, SMALL + 8])
@pytest.mark.parametrize("target", [(0.9, 0.45), (1.2, 0.3), (1.4, 0.2)])
def test_limits_that_nothing_comes_to_change_nothing(bodies: int, target: tuple[float, float]) -> None:
    """No frame is tried from elsewhere, whatever it misses: the same poses after as many iterations."""
    robot, share = curl(bodies, 50.0), np.linspace(0.0, 1.0, 12)[:, None]
    place = (1.0 - share) * np.array([1.0, 0.0, 0.0]) + share * np.array([*target, 0.0])
    clip = TargetClip(np.arange(len(place)) / 60.0, {"tip": Track(place)})
    free, limited = (retarget(robot, clip, Settings(joint_limits=limits)) for limits in (False, True))
    assert free.report is not None
    assert limited.report is not None
    assert np.abs(free.values - limited.values).max() < 1e-9
    assert np.abs(free.report.iterations - limited.report.iterations).max() <= 1


def test_a_limb_pulled_straight_bends_back_off_its_limit() -> None:
    """Released again, it could as well bend against the limit; there it would stay."""
    robot = knee()
    out, back = np.linspace(0.95, 1.3, 20), np.linspace(1.3, 0.6, 40)
    reach = np.concatenate([out, back])
    place = np.stack([np.zeros(len(reach)), np.zeros(len(reach)), -reach], axis=1)
    motion = retarget(robot, TargetClip(np.arange(len(reach)) / 60.0, {"foot": Track(place)}))
    assert motion.report is not None
    met = reach <= 0.99
    assert motion.report.position_error[met, 0].max() < 1e-6
    assert motion.values[-1, 1] == pytest.approx(np.pi - 2.0 * np.arcsin(0.6), abs=1e-4)  # both links are 0.5 m


@pytest.mark.parametrize(
    ("way", "height", "iterations"),
    [(1.0, 0.95, 9), (1.0, 0.8, 8), (1.0, 0.5, 8), (-1.0, 0.95, 5), (-1.0, 0.8, 6), (-1.0, 0.5, 8)],
)
def test_a_leg_that_is_straight_at_rest_bends_the_way_it_can_from_the_first_frame_on(
    way: float, height: float, iterations: int
) -> None:
    place = np.tile([0.0, 0.0, -height], (10, 1))
    motion = retarget(knee(way), TargetClip(np.arange(10) / 60.0, {"foot": Track(place)}))
    assert motion.report is not None
    assert motion.report.position_error.max() < 1e-6
    expected = way * (np.pi - 2.0 * np.arcsin(height))
    assert np.abs(motion.values - [-0.5 * expected, expected]).max() < 1e-3
    assert abs(motion.report.iterations[0] - iterations) <= 1  # of all starts together
    assert motion.report.iterations[1:].max() <= 3


def knee(way: float = 1.0) -> Mechanism:
    """A leg that hangs, of two links of 0.5 m, whose knee bends one way only."""
    bodies = (
        Body("thigh", 1.0, com=(0.0, 0.0, -0.25)),
        Body("shin", 1.0, com=(0.0, 0.0, -0.25), pose=Pose((0.0, 0.0, -0.5))),
    )
    axis = (0.0, 1.0, 0.0)
    joints = (
        Joint("hip", "revolute", WORLD, "thigh", axis=axis, actuated=True, limits=((-2.0, 2.0),)),
        Joint(
            "knee", "revolute", "thigh", "shin", position=(0.0, 0.0, -0.5), axis=axis, actuated=True,
            limits=((-0.02, 2.5),) if way > 0 else ((-2.5, 0.02),),
        ),
    )  # fmt: skip
    return Mechanism("leg", bodies, joints, frames=(Frame("foot", "shin", Pose((0.0, 0.0, -0.5))),))


def test_what_rounding_puts_beyond_a_bound_is_not_held() -> None:
    """Couplings carry coordinates to their bounds together, to within the last digit."""
    solver = Solver(robots.load("ur10"), ("tool",), Settings())
    work, now = solver._work, solver._memory.last
    at = int(solver.flat.dof_q[2])
    work.lower[2], work.upper[2] = now.q[at] - 1e-14, now.q[at] - 1e-14
    assert not hold(solver.flat, now, work)
    assert work.e.free[2]
    work.upper[2] = work.lower[2] = now.q[at] - 1e-9
    assert hold(solver.flat, now, work)
    assert not work.e.free[2]
    assert now.q[at] == work.upper[2]
