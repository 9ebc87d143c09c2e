"""All frames at once, against SciPy's trust-region method for constrained problems: it finds nothing better."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, minimize

from robik.clip_solver.bounds import bounds_of
from robik.clip_solver.clip_solver import ClipSolver, Start
from robik.clip_solver.torques import TorqueLimits
from robik.dynamics import InverseDynamics
from robik.retargeting.retarget import Retargeting
from tests.clip_solver.clips import BOXER, SPEEDS, waving

FRAMES, ACCELERATION, JERK, TORQUE = 14, 60.0, 2500.0, 2.5


def solved(torque: float | None = None) -> tuple[ClipSolver, np.ndarray]:
    """Return the solver of a short clip at its optimum, and the coordinates frame by frame.

    `torque` is a limit of all motors [N m].
    """
    clip = waving(FRAMES)
    work = Retargeting(BOXER, clip, SPEEDS)
    for _ in work.steps():
        pass
    targets = {name: (track.position, track.quaternion) for name, track in clip.tracks.items()}
    wanted = work.solver.compile_targets(targets, None, clip.times)
    work.solver.settings = replace(SPEEDS, look_ahead=True, acceleration_limit=ACCELERATION, jerk_limit=JERK)
    begun = work._solved.q.copy()
    start = Start(bounds_of(work.solver, clip.times, begun, False), {})
    if torque is not None:
        dynamics = InverseDynamics(BOXER, topology=work.solver.topology)
        start = replace(start, torque=TorqueLimits(dynamics, np.full(len(BOXER.actuators), torque)))
    solver = ClipSolver(work.solver, wanted, clip.times, begun, start, most=80, enough=1e-12)
    for _ in solver.steps():
        pass
    return solver, begun


def constraints(times: np.ndarray, speeds: np.ndarray, speed: float) -> list[LinearConstraint]:
    """Return bounds on the differences of all motors' values in a row, with speeds (2, R) before and after."""
    resting = np.eye(len(times))[np.clip(np.arange(-2, len(times) + 2), 0, len(times) - 1)]
    step, motors, rows = times[1] - times[0], speeds.shape[1], []
    way = np.zeros((len(resting), motors))
    way[:2], way[-2:] = -step * np.outer([2, 1], speeds[0]), step * np.outer([1, 2], speeds[1])
    for order, limit in enumerate((speed, ACCELERATION, JERK), start=1):
        D = np.diff(resting, order, axis=0) / step**order
        along, D = (np.diff(way, order, axis=0) / step**order / limit)[D.any(axis=1)].ravel(), D[D.any(axis=1)]
        D = sparse.csr_array(np.kron(D, np.eye(motors)) / limit)  # the reference takes half of the time so
        rows.append(LinearConstraint(D, -1.0 - along, 1.0 - along))
    return rows


@pytest.mark.parametrize("seed", [None, pytest.param(1, marks=pytest.mark.long)])
def test_no_better_clip_is_found(seed: int | None) -> None:
    """From the solution itself, and from one beside it: a method that shares no line looks for a lower objective."""
    solver, begun = solved()
    speeds = {joint.velocity_limit for joint in BOXER.actuated}
    assert len(speeds) == 1
    here = solver.q.copy()
    assert solver.violation(here) < 1e-6
    best = solver.objective(here)
    start = here if seed is None else here + 0.02 * np.random.default_rng(seed).standard_normal(here.shape)
    times = waving(FRAMES).times
    lower, upper = (np.tile(side, FRAMES) for side in (solver.bounds.lower, solver.bounds.upper))
    found = minimize(
        lambda x: solver.objective(x.reshape(here.shape)),
        start.ravel(),
        method="trust-constr",
        bounds=Bounds(lower, upper),
        constraints=constraints(times, solver.bounds.outside[1:], speeds.pop()),
        options={"maxiter": 400, "gtol": 1e-9, "xtol": 1e-10, "initial_tr_radius": 0.01},
    )
    x = found.x.reshape(here.shape)
    assert solver.violation(x) < 1e-4
    assert solver.objective(x) > best - 1e-6
    assert solver.objective(x) < 1.05 * best, "the reference has found the same valley"
    assert np.abs(begun - here).max() > 0.05


@pytest.mark.parametrize("seed", [None, pytest.param(1, marks=pytest.mark.long)])
def test_no_better_clip_within_torques_is_found(seed: int | None) -> None:
    """As above, with torques that bend with the poses as constraints of the reference."""
    (free, _), (solver, _) = solved(), solved(TORQUE)
    torques, here = solver.constraints.torques, solver.q.copy()
    assert torques is not None
    assert solver.violation(here) < 1e-5
    assert np.abs(torques.shares(free.q)).max() > 1.2
    assert np.abs(torques.shares(here)).max() > 0.999
    best = solver.objective(here)
    start = here if seed is None else here + 0.02 * np.random.default_rng(seed).standard_normal(here.shape)
    lower, upper = (np.tile(side, FRAMES) for side in (solver.bounds.lower, solver.bounds.upper))
    speed = next(joint.velocity_limit for joint in BOXER.actuated)
    frame = np.repeat(np.arange(FRAMES), here.shape[1])
    near = np.abs(frame[:, None] - frame) <= 1  # a frame's torques depend on its pose and the two beside it
    found = minimize(
        lambda x: solver.objective(x.reshape(here.shape)),
        start.ravel(),
        method="trust-constr",
        bounds=Bounds(lower, upper),
        constraints=[
            *constraints(waving(FRAMES).times, solver.bounds.outside[1:], speed),
            NonlinearConstraint(
                lambda x: torques.shares(x.reshape(here.shape)).ravel(), -1.0, 1.0, finite_diff_jac_sparsity=near
            ),
        ],
        options={"maxiter": 120, "gtol": 1e-9, "xtol": 1e-10, "initial_tr_radius": 0.01},
    )
    x = found.x.reshape(here.shape)
    assert solver.violation(x) < 1e-3
    assert solver.objective(x) > best - 1e-5 * best - 1e-6
    assert solver.objective(x) < 1.05 * best, "the reference has found the same valley"
