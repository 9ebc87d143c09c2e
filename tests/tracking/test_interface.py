"""What every tracker promises: one interface, states that can be set and read, errors that say what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from robik.errors import ClipError, MechanismError
from robik.kinematics.forward import ForwardKinematics
from robik.mechanism.pose import Pose
from robik.robots import load
from robik.tracking import DifferentialTracker, ForwardDynamicsTracker, StateBasedTracker, Target, Targets

TRACKERS = (StateBasedTracker, ForwardDynamicsTracker, DifferentialTracker)


@pytest.fixture(scope="module", params=TRACKERS, ids=lambda kind: kind.__name__)
def tracker(request):
    return request.param(load("boxer"))


def test_it_comes_to_a_target(tracker):
    """The forward kinematics of the values it answers with put the frame where it was asked for."""
    tracker.reset()
    goal = np.array([0.25, 0.05, 0.30])
    for _ in range(400):
        values = tracker.step(Targets({"hand": Target(position=goal)}), 0.02)
    assert np.linalg.norm(tracker.frame("hand").position - goal) < 1e-4
    found = ForwardKinematics(tracker.mechanism).solve(values)
    position, quaternion = tracker.bodies()
    assert np.abs(found.position - position).max() < 1e-9
    assert np.abs(np.abs(np.sum(found.quaternion * quaternion, axis=1)) - 1).max() < 1e-9
    assert np.abs(found.com - tracker.com).max() < 1e-9


@pytest.mark.parametrize("kind", TRACKERS, ids=lambda kind: kind.__name__)
def test_a_squat_is_reached_out_of_straight_legs(kind):
    """The walker's knees are nearly straight at rest, where the feet's Jacobian hardly sees them: it goes all the way all the same."""
    tracker = kind(load("walker"))
    places = {name: tracker.frame(name) for name in ("pelvis", "foot_l", "foot_r")}
    wanted = {n: Target(np.array(p.position) - (n == "pelvis") * np.array([0, 0, 0.04]), np.array(p.quaternion)) for n, p in places.items()}
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
