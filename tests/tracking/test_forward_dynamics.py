"""The virtual twin: its equations against finite differences and explicit constraint forces, and where it leads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from robik.errors import ClipError
from robik.kinematics.elimination import eliminate
from robik.kinematics.kernels import close, closure_jacobian, forward_kinematics, integrate
from robik.objectives.weights import Weights
from robik.robots import load
from robik.tracking import ForwardDynamicsTracker, Target, Targets, TwinSettings
from robik.tracking.twin_steps import accelerate
from tests.ik.random_mechanisms import mechanisms

HEAVY = TwinSettings(link_mass=0.02, link_inertia=0.003)  # links that count, so that a wrong term shows


def wxyz(turn: Rotation) -> np.ndarray:
    return np.roll(turn.as_quat(), 1)


def moved(
    tracker: ForwardDynamicsTracker, name: str, offset: tuple[float, ...], turn: tuple[float, ...] = (0.0, 0.0, 0.0)
) -> Target:
    pose = tracker.frame(name)
    return Target(
        np.array(pose.position) + offset, wxyz(Rotation.from_rotvec(turn) * Rotation.from_matrix(pose.matrix))
    )


def derivatives(tracker: ForwardDynamicsTracker, points: list[tuple[int, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """By central differences: how points (k, 3) of bodies move, and how those bodies turn: (k, 3, d) each."""
    q, d, h = tracker.coordinates, len(tracker.flat.before), 1e-6
    linear, angular = np.zeros((2, len(points), 3, d))

    def at(j: int, by: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
        step = np.zeros(d)
        step[j] = by
        integrate(tracker.flat, q, step, 1.0, tracker.now.q)
        forward_kinematics(tracker.flat, tracker.now)
        return [tracker.now.c[b] + tracker.now.R[b] @ x for b, x in points], [tracker.now.R[b] + 0 for b, _ in points]

    for j in range(d):
        (ahead, ahead_R), (behind, behind_R) = at(j, h), at(j, -h)
        for k in range(len(points)):
            linear[k, :, j] = (ahead[k] - behind[k]) / (2 * h)
            angular[k, :, j] = Rotation.from_matrix(ahead_R[k] @ behind_R[k].T).as_rotvec() / (2 * h)
    tracker.put(q)
    return linear, angular


@settings(max_examples=60, deadline=None, derandomize=True)
@given(mechanism=mechanisms(), seed=st.integers(0, 999))
def test_acceleration_is_that_of_the_equations_of_motion(mechanism, seed):
    """H and Jᵀ f summed body by body, and constraint forces that keep the cuts closed, all by a dense solve."""
    rng = np.random.default_rng(seed)
    tracker = ForwardDynamicsTracker(mechanism, HEAVY)
    flat, weight = tracker.flat, 2.5
    tip = moved(tracker, "tip", rng.normal(size=3), rng.normal(size=3))
    com = tracker.com + rng.normal(size=3)
    targets = Targets(
        {
            "tip": Target(tip.position, tip.quaternion, Weights((weight,) * 3, (weight,) * 3)),
            "side": Target(np.ones(3)),
        },
        com,
    )
    tables = tracker._aim(targets)
    frames = tables.frame_pose
    H, force = tracker.inertia(targets)

    bodies = [(b, np.zeros(3)) for b in range(1, len(flat.parent))]
    linear, angular = derivatives(
        tracker, [(int(b), x) for b, x in zip(frames.body, frames.point, strict=True)] + bodies
    )
    masses = [weight, 1.0, *[HEAVY.link_mass] * len(bodies)]
    inertias = [weight, 0.0, *[HEAVY.link_inertia] * len(bodies)]
    J_com = np.einsum("b,bij->ij", flat.mass[1:], linear[2:])
    expected = (
        np.einsum("k,kil,kim->lm", masses, linear, linear)
        + np.einsum("k,kil,kim->lm", inertias, angular, angular)
        + J_com.T @ J_com
    )
    assert np.abs(H - expected).max() < 1e-6 * max(1.0, np.abs(expected).max())
    gain = HEAVY.position_gain[0]
    at = np.array([tracker.frame(n).position for n in ("tip", "side")])
    turn = Rotation.from_quat(np.roll(tip.quaternion, -1)) * Rotation.from_matrix(tracker.frame("tip").matrix).inv()
    pulled = linear[0].T @ (weight * gain * (tip.position - at[0])) + angular[0].T @ (weight * gain * turn.as_rotvec())
    pulled += linear[1].T @ (gain * (1 - at[1])) + J_com.T @ (gain * (com - tracker.com))
    assert np.abs(force - pulled).max() < 1e-5 * max(1.0, np.abs(pulled).max())

    close(flat, tracker.now)
    C = closure_jacobian(flat, tracker.now)
    system = np.block([[H, C.T], [C, np.zeros((len(C), len(C)))]])
    acceleration = np.linalg.lstsq(system, np.concatenate([force, np.zeros(len(C))]), rcond=1e-11)[0][: len(H)]
    flat.lower[:], flat.upper[:] = -np.inf, np.inf
    eliminate(flat, tracker.now, tracker._twin.e)
    assert accelerate(flat, tracker.now, tracker._twin, 1.0)
    scale = max(1.0, np.abs(acceleration).max())
    assert np.abs(C @ tracker._twin.step).max(initial=0.0) < 1e-8 * scale
    power = (
        force @ acceleration
    )  # what all such accelerations have in common, also where the rank is a matter of rounding
    assert force @ tracker._twin.step == pytest.approx(power, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("robot", ["ur10", "arm7"])
def test_mapping_is_nearly_the_identity_wherever_the_arm_is(robot):
    """J H⁻¹ Jᵀ: never more than the end effector's alone, and nearly that except at singularities."""
    tracker = ForwardDynamicsTracker(load(robot))
    rng, d = np.random.default_rng(5), len(tracker.values)
    least = []
    for _ in range(300):
        tracker.reset(rng.uniform(-np.pi, np.pi, d))
        H, _ = tracker.inertia(Targets({"tool": moved(tracker, "tool", (0, 0, 0))}))
        now, p = tracker.now, np.array(tracker.frame("tool").position)
        J = np.vstack([(np.cross(now.omega, p) + now.v).T, now.omega.T])
        values = np.linalg.eigvalsh(J @ np.linalg.solve(H, J.T))
        assert values.max() < 1 + 1e-6
        least.append(values[0])
    assert np.median(least) > 0.9


def test_each_iteration_goes_its_share_of_the_way():
    """½ K_p Δt² / m = 0.05 of what is left, along a straight line, without turning."""
    tracker = ForwardDynamicsTracker(
        load("ur10"), TwinSettings(iterations=1, position_gain=(10.0,) * 3, rotation_gain=(10.0,) * 3)
    )
    target = moved(tracker, "tool", (0.05, -0.08, 0.06))
    start, turned = np.array(tracker.frame("tool").position), tracker.frame("tool").matrix
    for k in range(60):
        tracker.step(Targets({"tool": target}), 0.01)
        pose = tracker.frame("tool")
        expected = target.position + 0.95 ** (k + 1) * (start - target.position)
        assert np.abs(pose.position - expected).max() < 0.003
        assert np.abs(pose.matrix - turned).max() < 0.01


def test_damping_slows_down():
    def left(damping: float) -> float:
        settings = TwinSettings(iterations=20, position_gain=(10.0,) * 3, position_damping=(damping,) * 3)
        tracker = ForwardDynamicsTracker(load("ur10"), settings)
        target = moved(tracker, "tool", (0.0, 0.0, 0.1))
        tracker.step(Targets({"tool": target}), 0.01)
        return float(np.linalg.norm(tracker.frame("tool").position - target.position))

    assert left(0.0) < left(3.0) < left(6.0) < 0.1


@pytest.mark.parametrize("turn", [(np.pi, 0.0, 0.0), (0.0, 3.1, 0.0), (1.5, 1.5, -1.0)])
def test_it_turns_all_the_way(turn):
    tracker = ForwardDynamicsTracker(load("ur10"))
    target = moved(tracker, "tool", (0.0, 0.0, 0.0), turn)
    for _ in range(200):
        tracker.step(Targets({"tool": target}), 0.01)
    reached = Rotation.from_matrix(tracker.frame("tool").matrix)
    assert (reached.inv() * Rotation.from_quat(np.roll(target.quaternion, -1))).magnitude() < 1e-6


def test_an_axis_that_does_not_matter_may_turn():
    """With the tool's z held, spinning about it is free; what is asked is reached."""
    tracker = ForwardDynamicsTracker(load("ur10"))
    target = moved(tracker, "tool", (0.1, 0.0, 0.05), (0.3, 0.2, 0.0))
    target = Target(target.position, target.quaternion, Weights(orientation=(0.0, 0.0, 1.0)))
    for _ in range(100):
        tracker.step(Targets({"tool": target}), 0.01)
    z = Rotation.from_quat(np.roll(target.quaternion, -1)).as_matrix()[:, 2]
    assert np.abs(tracker.frame("tool").matrix[:, 2] - z).max() < 1e-6


@pytest.mark.parametrize("robot", ["boxer", "ur10", "arm7", "chain", "dancer", "validation", "walker"])
def test_dragged_at_random_it_stays_assembled_and_within_its_limits(robot):
    mechanism = load(robot)
    tracker = ForwardDynamicsTracker(mechanism)
    rng = np.random.default_rng(1)
    names = [f.name for f in mechanism.frames][:3]
    rest = {name: np.array(tracker.frame(name).position) for name in names}
    bounds = [limit for joint in mechanism.actuated for limit in joint.limits]
    offset = {name: np.zeros(3) for name in names}
    for k in range(300):
        for name in names:
            offset[name] = (
                0.99 * offset[name] + 0.02 * rng.normal(size=3) + (0.3 * rng.normal(size=3) if k % 100 == 50 else 0.0)
            )
        values = tracker.step(Targets({name: Target(rest[name] + offset[name]) for name in names}), 1 / 60)
        assert tracker.residual < 1e-8
        if tracker._scalar:
            assert all(lower - 1e-9 <= v <= upper + 1e-9 for v, (lower, upper) in zip(values, bounds, strict=True))


def test_pulled_beyond_its_reach_it_stretches_and_does_not_chatter():
    tracker = ForwardDynamicsTracker(load("ur10"))
    start = np.array(tracker.frame("tool").position)
    out = np.array([1.0, 0.2, 0.6])
    values = np.array(
        [tracker.step(Targets({"tool": Target(start + min(k / 60, 1.5) * out)}), 1 / 60) for k in range(400)]
    )
    assert np.linalg.norm(tracker.frame("tool").position) > 1.2, "out as far as it goes"
    still = np.abs(np.diff(values[-100:], axis=0)).max() * 60
    assert still < 0.02, "rad/s, where the target stands"
    jerks = np.abs(np.diff(values[150:], axis=0)).max() * 60
    assert jerks < 3.0


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"iterations": 0}, "positive whole number"),
        ({"mass": 0.0}, "mass must be positive"),
        ({"position_gain": (-1, 0, 0)}, "zero or more in each direction"),
        ({"position_gain": (500.0,) * 3}, "2.5 times the way"),
        ({"link_inertia": float("nan")}, "link_inertia must be positive"),
    ],
)
def test_settings_that_cannot_be(fields, says):
    with pytest.raises(ClipError, match=says):
        TwinSettings(**fields)


def test_at_its_bounds_it_takes_the_least_constrained_acceleration():
    """Gauss's principle: min ½ sᵀ H s - sᵀ Jᵀ f between the bounds, here by SciPy."""
    tracker = ForwardDynamicsTracker(load("arm7"), HEAVY)
    flat, rng = tracker.flat, np.random.default_rng(4)
    for _ in range(40):
        target = moved(tracker, "tool", 0.3 * rng.normal(size=3), rng.normal(size=3))
        H, force = tracker.inertia(Targets({"tool": target}))
        flat.lower[:] = tracker.now.q - 0.02 * rng.integers(0, 2, 7)
        flat.upper[:] = tracker.now.q + 0.02 * rng.integers(0, 2, 7)
        assert accelerate(flat, tracker.now, tracker._twin, 0.005)
        L = np.linalg.cholesky(H)
        room = flat.lower - tracker.now.q - 1e-12, flat.upper - tracker.now.q + 1e-12
        expected = lsq_linear(L.T, np.linalg.solve(L, 0.005 * force), bounds=room, method="bvls", tol=1e-14).x
        s = tracker._twin.step
        assert 0.5 * s @ H @ s - 0.005 * force @ s == pytest.approx(
            0.5 * expected @ H @ expected - 0.005 * force @ expected, rel=1e-6, abs=1e-9
        )
