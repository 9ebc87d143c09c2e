"""The differential tracker: rows that are what they say, programs solved to the optimum, loops closed, limits kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, minimize
from scipy.spatial.transform import Rotation

from robik.errors import ClipError, MechanismError
from robik.formats import import_robot
from robik.kinematics.kernels import forward_kinematics, integrate
from robik.mechanism import WORLD, Body, Joint, Mechanism
from robik.mechanism.pose import Pose
from robik.objectives.weights import Weights
from robik.robots import load
from robik.tracking import (
    DifferentialSettings,
    DifferentialTracker,
    ForwardDynamicsTracker,
    RelativeTarget,
    StateBasedTracker,
    Target,
    Targets,
)
from robik.tracking.limits import MotionLimits, velocity_range
from robik.tracking.linear_targets import linearise, turn_between

DT = 1 / 60


def unlimited(robot: Mechanism) -> MotionLimits:
    """Joint limits alone."""
    own, free = MotionLimits.of(robot), np.full(len(robot.actuators), np.inf)
    return MotionLimits(own.lower, own.upper, free, free)


def test_the_turn_between_two_orientations_is_the_one_scipy_finds():
    rng, found = np.random.default_rng(0), np.zeros(3)
    for angle in (0.0, 1e-12, 1e-7, 1e-3, 1.0, 3.0, np.pi - 1e-7, np.pi):
        for _ in range(5):
            A, axis = Rotation.random(random_state=rng), rng.normal(size=3)
            B = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)) * A
            turn_between(np.ascontiguousarray(A.as_matrix()), np.ascontiguousarray(B.as_matrix()), found)
            assert (Rotation.from_rotvec(found) * A * B.inv()).magnitude() < 1e-6
            assert np.linalg.norm(found) == pytest.approx(angle, abs=1e-6)


def test_rows_are_the_derivatives_of_what_they_measure():
    """Against central differences of SciPy's rotations, near the targets, where the turn's logarithm is linear."""
    relative = RelativeTarget(
        "foot_l", "foot_r", Pose((0.0, 0.1, 0.02), (0.99, 0.1, 0.05, np.sqrt(1 - 0.99**2 - 0.1**2 - 0.05**2)))
    )
    tracker = DifferentialTracker(load("walker"), DifferentialSettings(relative=(relative,)))
    rng = np.random.default_rng(0)
    tracker.reset(tracker.values + rng.uniform(-0.2, 0.2, len(tracker.values)), Pose((0.1, 0.2, 0.5), (0.8, 0.6, 0, 0)))
    here = tracker.frame("pelvis")
    near = (Rotation.from_rotvec([2e-6, -1e-6, 3e-6]) * Rotation.from_matrix(here.matrix)).as_quat()[[3, 0, 1, 2]]
    tables = tracker._aim(Targets({"pelvis": Target(np.array(here.position) + 0.1, near)}, com=np.zeros(3)))
    tracker._laid_out, tracker._linear = tables, tracker._new_linear(tables)
    linear, flat, now = tracker._linear, tracker.flat, tracker.now
    linearise(flat, now, linear)
    rows = linear.rows.copy()
    chosen = [*range(9), *range(12, 15)]  # the relative turn is large: its rows are tested by where they lead

    def measured(step: np.ndarray) -> np.ndarray:
        q = now.q.copy()
        integrate(flat, q, step, 1.0, now.q)
        forward_kinematics(flat, now)
        linearise(flat, now, linear)
        errors = linear.error.copy()
        now.q[:] = q
        forward_kinematics(flat, now)
        return -errors[chosen]

    for i in range(len(flat.before)):
        step = np.zeros(len(flat.before))
        step[i] = 1e-6
        slope = (measured(step) - measured(-step)) / 2e-6
        np.testing.assert_allclose(slope, rows[chosen, i], atol=1e-5)


@pytest.mark.parametrize("kept", [(0, 0, 1), (1, 1, 1)])
def test_relative_frames_and_single_axes_come_home(kept):
    """Two feet of the walker, one as seen from the other; and an axis that alone counts may leave the frame to spin."""
    wish = Pose((0.02, 0.10, 0.03), tuple(Rotation.from_rotvec([0.1, 0.2, 0.3]).as_quat()[[3, 0, 1, 2]]))
    weights = Weights(orientation=kept)
    robot = load("walker")
    limits = unlimited(robot)
    tracker = DifferentialTracker(
        robot, DifferentialSettings(relative=(RelativeTarget("foot_l", "foot_r", wish, weights),), limits=limits)
    )
    for _ in range(200):
        tracker.step(Targets(com=tracker.com), DT)
    seen = tracker.frame("foot_r").inverse() @ tracker.frame("foot_l")
    np.testing.assert_allclose(seen.position, wish.position, atol=2e-4)
    off = seen.matrix - wish.matrix
    assert np.abs(off[:, np.array(kept) > 0]).max() < 2e-3
    if kept == (0, 0, 1):
        assert np.abs(off[:, 0]).max() > 1e-2, "free to spin, it does not"


def test_a_step_is_the_optimum_between_its_bounds():
    """DAQP's answer, or Cholesky's where no bound is met, against SciPy's trust-region method on the same program."""
    robot = load("walker")
    tracker, rng = DifferentialTracker(robot), np.random.default_rng(3)
    target = {n: np.array(tracker.frame(n).position) for n in ("pelvis", "foot_l", "foot_r")}
    met = 0
    for k in range(60):
        for name in target:
            target[name] = target[name] + rng.normal(scale=0.01, size=3)
        tracker.step(Targets({name: Target(p) for name, p in target.items()}), DT)
        if k % 6:
            continue
        motion, free = tracker._motion, int((~tracker._motion.e.dependent).sum())
        n, z = free, tracker._motion.z[:free].copy()
        P, g = motion.P[:n, :n], motion.g[:n]
        least, most = motion.least.copy(), motion.most.copy()
        rows = int(np.isfinite(tracker.flat.lower[motion.e.dependent]).sum())
        A = motion.rows[:rows, :n]
        met += bool((np.minimum(z - least[:n], most[:n] - z) < 1e-8).any())
        between = [LinearConstraint(A, least[n : n + rows], most[n : n + rows])] if rows else []
        reference = minimize(
            lambda x, P=P, g=g: 0.5 * x @ P @ x + g @ x, np.clip(z * 0, least[:n], most[:n]), jac=lambda x, P=P,
            g=g: P @ x + g,
            hess=lambda x, P=P: P, method="trust-constr", bounds=Bounds(least[:n], most[:n]), constraints=between,
            options={"gtol": 1e-10, "xtol": 1e-12, "maxiter": 3000},
        )  # fmt: skip
        ours = 0.5 * z @ P @ z + g @ z
        assert ours <= reference.fun + 1e-7 * (1 + abs(reference.fun))
        assert (z >= least[:n] - 1e-12).all() and (z <= most[:n] + 1e-12).all()
        assert (A @ z >= least[n : n + rows] - 1e-8).all() and (A @ z <= most[n : n + rows] + 1e-8).all()
    assert met >= 3, "no bound was met: this would test Cholesky alone"


FIVE_BAR, DELTA, DIGIT = "5bar_linkage/robot.urdf", "robot_delta/robot.urdf", "digit_like_2legs/robot.urdf"


@pytest.mark.parametrize(
    ("kind", "robot"),
    [
        *((DifferentialTracker, robot) for robot in ("walker", "dancer", FIVE_BAR, DELTA, DIGIT)),
        *((StateBasedTracker, robot) for robot in (FIVE_BAR, DELTA)),
        *((ForwardDynamicsTracker, robot) for robot in (FIVE_BAR, DELTA, DIGIT)),
    ],
)
def test_loops_stay_closed_while_dragged(kind, robot, request):
    """Frames dragged about at random, far out of reach at times: the two ends of every cut stay together, and motors
    within limits."""
    if "/" in robot:
        mechanism = import_robot(request.getfixturevalue("shared_data") / robot).mechanism
    else:
        mechanism = load(robot)
    tracker, rng = kind(mechanism), np.random.default_rng(5)
    size, names = tracker.flat.size, ([f.name for f in mechanism.frames] or [mechanism.bodies[-1].name])[:3]
    home = {n: np.array(tracker.frame(n).position) for n in names}
    target, speed = dict(home), {n: np.zeros(3) for n in names}
    limits = MotionLimits.of(mechanism)
    index, travelled, last = mechanism.body_index, 0.0, tracker.values
    for k in range(600):
        for n in names:
            if rng.random() < 0.02:
                speed[n] = rng.normal(scale=1.5 * size, size=3)
            if np.linalg.norm(target[n] - home[n]) > 3 * size:
                speed[n] = home[n] - target[n]
            target[n] = target[n] + speed[n] * DT
        values = tracker.step(Targets({n: Target(target[n]) for n in names}), DT)
        assert tracker.residual < 1e-8
        assert (values >= limits.lower - 1e-9).all() and (values <= limits.upper + 1e-9).all()
        travelled, last = travelled + np.abs(values - last).sum(), values
        if k % 50:
            continue
        position, quaternion = tracker.bodies()
        for joint in mechanism.joints:  # their anchors, by the two bodies' own poses
            if any(m.startswith("t") for m in joint.motions) or joint.parent == "world":
                continue
            ends = []
            for body in (joint.parent, joint.child):
                i = index[body]
                local = mechanism.bodies[i].pose.inverse().point(joint.position)
                ends.append(position[i] + Rotation.from_quat(quaternion[i], scalar_first=True).apply(local))
            assert np.linalg.norm(ends[0] - ends[1]) < 1e-8
    assert travelled > 1.0, "it has hardly moved"


@pytest.mark.parametrize("robot", ["walker", "dancer", "validation", FIVE_BAR, DELTA, DIGIT])
def test_motors_in_loops_keep_speeds_and_accelerations(robot, request):
    """Targets that leap by the robot's own size: what the loops bend a step by counts, and a base that turns holds no
    motor back."""
    if "/" in robot:
        mechanism = import_robot(request.getfixturevalue("shared_data") / robot).mechanism
    else:
        mechanism = load(robot)
    tracker, rng = DifferentialTracker(mechanism), np.random.default_rng(0)
    names = [f.name for f in mechanism.frames][:3] or [mechanism.bodies[-1].name]
    home = {n: np.array(tracker.frame(n).position) for n in names}
    values = [tracker.values]
    for k in range(600):
        leap = {n: mechanism.extent * (rng.normal(size=3) if k % 40 < 2 else np.zeros(3)) for n in names}
        sway = 0.05 * mechanism.extent * np.sin(k / 9.0) * np.array([1, 0.5, 0.7])
        values.append(tracker.step(Targets({n: Target(home[n] + sway + leap[n]) for n in names}), DT))
        assert tracker.residual < 1e-8
    velocity = np.diff(values, axis=0) / DT
    acceleration = np.diff(np.vstack([0 * velocity[:1], velocity]), axis=0) / DT
    assert np.abs(velocity).max() > 0.1, "it has hardly moved"
    assert (np.abs(velocity) / tracker.limits.velocity).max() < 1.0001
    assert (np.abs(acceleration) / tracker.limits.acceleration).max() < 1.001


@settings(max_examples=200, deadline=None)
@given(
    st.floats(-1, 1),
    st.floats(0.1, 50),
    st.floats(0.1, 1),
    st.lists(st.floats(-1e4, 1e4), min_size=60, max_size=60),
    st.integers(0, 10**6),
)
def test_a_coordinate_that_keeps_to_its_range_never_passes_an_end(start, acceleration, gain, wishes, seed):
    """Whatever is wished for, and however unevenly time passes: position, velocity and acceleration all hold."""
    rng = np.random.default_rng(seed)
    q, v, speed = start, 0.0, 3.0
    for wish in wishes:
        dt = float(rng.uniform(0.002, 0.05))
        low, high = velocity_range(q, v, -1.0, 1.0, speed, acceleration, gain, dt)
        assert low <= high
        moved = min(max(wish, low), high)
        assert abs(moved - v) <= acceleration * dt * (1 + 1e-9)
        assert abs(moved) <= speed * (1 + 1e-12)
        q, v = q + moved * dt, moved
        assert -1 - 1e-9 <= q <= 1 + 1e-9


def test_limits_and_settings_that_cannot_be_are_refused():
    robot = load("boxer")
    with pytest.raises(ClipError, match="at most 1"):
        DifferentialSettings(gain=1.5)
    with pytest.raises(ClipError, match="4 actuators"):
        DifferentialTracker(robot, DifferentialSettings(posture=np.zeros(3)))
    with pytest.raises(ClipError, match="posture must be finite"):
        DifferentialSettings(posture=np.array([0.0, np.nan, 0.0, 0.0]))
    with pytest.raises(MechanismError, match="no frame or body 'paw'"):
        DifferentialTracker(robot, DifferentialSettings(gains={"paw": 0.5}))
    DifferentialTracker(robot, DifferentialSettings(gains={"hand": 0.5, "com": 0.5}))
    with pytest.raises(ClipError, match="positive"):
        MotionLimits(np.zeros(1), np.ones(1), np.zeros(1), np.ones(1))
    with pytest.raises(ClipError, match="as many values of lower"):
        MotionLimits(np.zeros(2), np.ones(1), np.ones(1), np.ones(1))


@pytest.mark.parametrize("axis", range(3))
def test_a_ball_turns_half_a_radian_in_a_step_about_whichever_axis(axis):
    ball = Mechanism("ball", (Body("arm", 1.0),), (Joint("ball", "spherical", WORLD, "arm", actuated=True),))
    tracker, wanted = DifferentialTracker(ball), Rotation.from_rotvec(2.0 * np.eye(3)[axis])
    tracker.step(Targets({"arm": Target(quaternion=wanted.as_quat()[[3, 0, 1, 2]])}), DT)
    assert Rotation.from_matrix(tracker.frame("arm").matrix).magnitude() == pytest.approx(0.5, abs=1e-9)
