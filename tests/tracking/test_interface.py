"""What every tracker promises: one interface, states that can be set and read, errors that say what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.tracking.dragging import coupling_residual
from robik.errors import ClipError, MechanismError
from robik.formats import import_robot
from robik.kinematics.forward import ForwardKinematics
from robik.mechanism.pose import Pose
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.robots import load
from robik.tracking import DifferentialTracker, ForwardDynamicsTracker, StateBasedTracker, Target, Targets

TRACKERS = (StateBasedTracker, ForwardDynamicsTracker, DifferentialTracker)


@pytest.fixture(scope="module", params=TRACKERS, ids=lambda kind: kind.__name__)
def tracker(request):
    return request.param(load("boxer"))


def test_it_comes_to_a_target(tracker):
    """The forward kinematics of the values it answers with put the frame where it was asked for."""
    tracker.reset()
    target = np.array([0.25, 0.05, 0.30])
    for _ in range(400):
        values = tracker.step(Targets({"hand": Target(position=target)}), 0.02)
    assert np.linalg.norm(tracker.frame("hand").position - target) < 1e-4
    found = ForwardKinematics(tracker.mechanism).solve(values)
    position, quaternion = tracker.bodies()
    assert np.abs(found.position - position).max() < 1e-9
    assert np.abs(np.abs(np.sum(found.quaternion * quaternion, axis=1)) - 1).max() < 1e-9
    assert np.abs(found.com - tracker.com).max() < 1e-9


def test_a_reset_does_not_depend_on_the_one_before():
    """To the last bit, with loops that are closed from where the last pose was, and a base that stood elsewhere."""
    random, used = np.random.default_rng(3), DifferentialTracker(load("walker"))
    rest = used.values
    for _ in range(5):
        used.reset(rest + random.normal(scale=0.3, size=len(rest)), Pose((1.0, 2.0, 3.0)))
        values, fresh = rest + random.normal(scale=0.1, size=len(rest)), DifferentialTracker(load("walker"))
        used.reset(values)
        fresh.reset(values)
        assert np.array_equal(used.coordinates, fresh.coordinates)


@pytest.mark.parametrize("kind", TRACKERS, ids=lambda kind: kind.__name__)
def test_a_squat_is_reached_out_of_straight_legs(kind):
    """The walker's knees are nearly straight at rest, where the feet's Jacobian hardly sees them: it goes all the way
    all the same."""
    tracker = kind(load("walker"))
    places = {name: tracker.frame(name) for name in ("pelvis", "foot_l", "foot_r")}
    wanted = {
        n: Target(np.array(p.position) - (n == "pelvis") * np.array([0, 0, 0.04]), np.array(p.quaternion))
        for n, p in places.items()
    }
    off = []
    for _ in range(60):
        tracker.step(Targets(wanted), 1 / 60)
        off.append(max(np.linalg.norm(np.array(tracker.frame(n).position) - t.position) for n, t in wanted.items()))
    assert off[-1] < 1e-4
    assert max(off[30:]) < 1e-3, "it swings"


def test_it_can_be_put_anywhere(tracker):
    values = np.array([0.3, -0.2, 0.4, 1.2])
    tracker.reset(values)
    assert np.abs(tracker.values - values).max() < 1e-12
    there = tracker.coordinates
    tracker.step(Targets({"hand": Target(position=np.array([0.2, 0.1, 0.3]))}), 0.1)
    tracker.put(there)
    assert np.abs(tracker.values - values).max() < 1e-12


@pytest.mark.parametrize(
    ("target", "dt", "error", "says"),
    [
        (Targets({"foot": Target(position=np.zeros(3))}), 0.1, MechanismError, "no frame or body 'foot'"),
        (Targets({"hand": Target(position=np.array([0, np.nan, 0]))}), 0.1, ClipError, "hand must be finite"),
        (Targets({"hand": Target(quaternion=np.zeros(4))}), 0.1, ClipError, "length 1"),
        (Targets({"hand": Target(position=np.zeros(2))}), 0.1, ClipError, "three numbers"),
        (Targets(com=np.array([0, 0, np.inf])), 0.1, ClipError, "centre of mass must be finite"),
        (Targets(), 0.0, ClipError, "positive number of seconds"),
    ],
)
def test_what_cannot_be_followed_is_said(tracker, target, dt, error, says):
    tracker.reset()
    before = tracker.coordinates
    with pytest.raises(error, match=says):
        tracker.step(target, dt)
    assert np.array_equal(tracker.coordinates, before)


@pytest.mark.parametrize("weight", [(-1, 1, 1), (np.nan, 1, 1), (1, np.inf, 1), (1, 1)])
def test_weights_of_a_centre_of_mass_that_cannot_be_are_refused(weight):
    with pytest.raises((ClipError, MechanismError), match="com_weight"):
        Targets(com=np.zeros(3), com_weight=weight)


def test_weights_of_a_centre_of_mass_may_be_an_array(tracker):
    tracker.reset()
    for _ in range(2):
        tracker.step(Targets(com=tracker.com, com_weight=np.array([1.0, 0.0, 2.0])), 0.1)


FAR = 1e3  # sizes of the robot


@pytest.mark.parametrize("kind", TRACKERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("robot", ["boxer", "walker", "dancer", "validation", "robot_delta/robot.urdf"])
def test_a_target_as_far_as_numbers_go_breaks_nothing(kind, robot, request):
    """Robots with loops stay assembled too, and no value is anything but a number."""
    if "/" in robot:
        mechanism = import_robot(request.getfixturevalue("shared_data") / robot).mechanism
    else:
        mechanism = load(robot)
    tracker = kind(mechanism)
    name = mechanism.frame_names[-1]
    for far in (1e6, 1e155, 1e300):
        tracker.reset()
        start = np.array(tracker.frame(name).position)
        for _ in range(20):
            values = tracker.step(Targets({name: Target(start + far * np.array([0.6, -0.8, 0.0]))}), 1 / 60)
            assert np.isfinite(values).all()
            assert tracker.residual < 1e-8


def test_where_a_direction_does_not_count_a_target_may_be_anywhere(tracker):
    tracker.reset()
    start, weights = np.array(tracker.frame("hand").position), Weights(position=(0, 1, 1))
    for _ in range(100):
        tracker.step(Targets({"hand": Target(start + np.array([1e200, 0.02, -0.03]), weights=weights)}), 0.02)
    assert np.abs(np.array(tracker.frame("hand").position) - start - [0, 0.02, -0.03])[1:].max() < 1e-3


def test_a_target_counts_in_full_up_to_the_farthest_and_no_further(tracker):
    tracker.reset()
    start, size = np.array(tracker.frame("hand").position), tracker.flat.size
    away = np.array([0.48, 0.6, 0.64])
    for far in (1.0, FAR * (1 - 1e-9), FAR * (1 + 1e-9), 1e6 * FAR):
        tables = tracker._aim(Targets({"hand": Target(start + far * size * away)}))
        np.testing.assert_allclose(tables.frame_pose.position[0] - start, min(far, FAR) * size * away, rtol=1e-9)


def test_speeds_that_would_not_be_held_are_refused():
    with pytest.raises(ClipError, match="holds no speeds"):
        StateBasedTracker(load("boxer"), Settings(enforce_velocity=True))


def test_a_coupling_that_is_broken_is_seen(shared_data):
    tracker = StateBasedTracker(import_robot(shared_data / "robotiq_2f85/2f85.xml").mechanism)
    assert tracker.mechanism.couplings
    assert coupling_residual(tracker) < 1e-9
    dof, _ = tracker.topology.dofs[tracker.mechanism.couplings[0].follower]
    tracker.now.q[tracker.flat.dof_q[dof]] += 0.01
    assert coupling_residual(tracker) == pytest.approx(0.01, rel=1e-6)


def test_a_floating_robot_stands_where_its_base_is_put():
    tracker = StateBasedTracker(load("walker"))
    fk = ForwardKinematics(tracker.mechanism)
    base = Pose((0.1, 0.2, 0.5), (0.5, 0.5, 0.5, 0.5))
    values = tracker.values + 0.1
    tracker.reset(values, base)
    expected = fk.solve(values, base)
    assert tracker.residual < 1e-10
    assert np.abs(tracker.bodies()[0] - expected.position).max() < 1e-9
    assert np.abs(tracker.values - values).max() < 1e-9


@pytest.mark.parametrize("kind", TRACKERS, ids=lambda kind: kind.__name__)
def test_weights_that_change_count_at_once_and_nothing_is_laid_out_anew(kind, monkeypatch):
    """Those of feet change in every step of a walk. It goes where a tracker goes that knows them from the start."""
    boxer, laid_out = load("boxer"), []
    lay_out = kind._lay_out
    monkeypatch.setattr(kind, "_lay_out", lambda self, targets: laid_out.append(1) or lay_out(self, targets))
    place = np.array(boxer.rest_pose("hand").position) + np.array([-0.05, 0.05, -0.03])
    weights = (Weights((weight,) * 3, (0.0,) * 3) for weight in (0.0, 1.0))
    asked = [Targets({"hand": Target(place, weights=each)}) for each in weights]
    tracker, fresh = kind(boxer), kind(boxer)
    tracker.step(asked[0], 1 / 60)
    still = np.array(tracker.frame("hand").position)
    tracker.reset()
    laid_out.clear()
    for now in (asked[0], *[asked[1]] * 300):
        tracker.step(now, 1 / 60)
    assert len(laid_out) <= 1
    for _ in range(300):
        fresh.step(asked[1], 1 / 60)
    assert np.linalg.norm(still - place) > 0.05
    assert np.linalg.norm(tracker.frame("hand").position - place) < 1e-3
    np.testing.assert_allclose(tracker.values, fresh.values, atol=1e-3)
