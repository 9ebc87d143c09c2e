"""Poses like an example's: what is learned, and what an under-determined robot makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.frames import frame_poses
from robik.objectives.pose_prior import PosePrior
from robik.retargeting.retarget import retarget
from robik.robots import load
from robik.tracking import StateBasedTracker, Target, Targets


def cloud(rng: np.random.Generator, centre: np.ndarray, directions: np.ndarray, count: int = 300) -> np.ndarray:
    """Poses (count, 7) spread along two directions (2, 7), and a little across."""
    return centre + rng.normal(size=(count, 2)) @ directions + 0.02 * rng.normal(size=(count, 7))


@pytest.fixture(scope="module")
def example() -> np.ndarray:
    """Two manners of holding an arm of seven hinges: elbow out to one side, or to the other."""
    rng, rest = np.random.default_rng(0), np.array([0.0, 0.6, 0.0, -1.4, 0.0, 1.1, 0.0])
    directions = 0.15 * rng.normal(size=(2, 7))
    out = np.array([0.5, 0.1, -0.9, 0.0, 0.7, 0.0, 0.0])
    return np.vstack([cloud(rng, rest + out, directions), cloud(rng, rest - out, directions)])


def test_one_component_is_a_principal_component_analysis(example):
    """Against the singular values of the same poses."""
    half = example[:300]
    (found,) = PosePrior.fit(half).components
    _, s, Vt = np.linalg.svd(half - half.mean(axis=0), full_matrices=False)
    assert found.mean == pytest.approx(half.mean(axis=0))
    assert np.sort(found.variances)[::-1] == pytest.approx(s[:2] ** 2 / 300)
    assert found.rest == pytest.approx(np.mean(s[2:] ** 2 / 300))
    assert np.abs(Vt[:2] @ found.directions) == pytest.approx(np.eye(2)[::-1], abs=1e-6)


def test_likelihood_is_that_of_the_gaussians(example):
    prior = PosePrior.fit(example, components=2)
    assert sorted(c.share for c in prior.components) == pytest.approx([0.5, 0.5], abs=1e-6)
    logs = []
    for c in prior.components:
        covariance = c.directions @ np.diag(c.variances - c.rest) @ c.directions.T + c.rest * np.eye(7)
        logs.append(np.log(c.share) + multivariate_normal(c.mean, covariance).logpdf(example))
    constant = 3.5 * np.log(2 * np.pi)
    assert prior.log_likelihood(example) == pytest.approx(logsumexp(logs, axis=0) + constant)


def test_what_it_is_drawn_to_is_likelier(example):
    prior, rng, looked_at = PosePrior.fit(example, components=2), np.random.default_rng(3), 0
    for v in example[::40] + 0.3 * rng.normal(size=(15, 7)):
        assert prior.log_likelihood(prior.likeliest(v)) > prior.log_likelihood(v)
        if any(
            (np.abs((v - c.mean) @ c.directions) > 2 * np.sqrt(c.variances)).any()
            and prior.responsibilities(v)[k] > 1e-9
            for k, c in enumerate(prior.components)
        ):
            continue  # further out than the example: drawn back more than by the slope
        looked_at += 1
        gradient = np.array(
            [(prior.log_likelihood(v + h) - prior.log_likelihood(v - h)) / 2e-6 for h in 1e-6 * np.eye(7)]
        )
        shares = prior.responsibilities(v)
        rest = np.array([c.rest for c in prior.components])
        pulls = [(c.likeliest(v) - v) / r for c, r in zip(prior.components, rest, strict=True)]
        assert shares @ np.array(pulls) == pytest.approx(gradient, rel=1e-4, abs=1e-2), "the pull is the slope of log p"
    assert looked_at > 5


def test_shares_of_many_poses_are_those_of_each(example):
    prior = PosePrior.fit(example, components=3)
    some = example[:12].reshape(3, 4, 7)
    shares = prior.responsibilities(some)
    assert shares.shape == (3, 4, 3)
    assert shares.sum(axis=-1) == pytest.approx(np.ones((3, 4)))
    for i, j in np.ndindex(3, 4):
        assert shares[i, j] == pytest.approx(prior.responsibilities(some[i, j]), abs=1e-12)


@pytest.mark.parametrize("side", [0, 1])
def test_the_elbow_is_held_as_in_the_example(example, side):
    """The hand is asked for, in a place from the example itself: the prior finds that pose, the bare solver does
    not."""
    arm7, prior = load("arm7"), PosePrior.fit(example, components=2)
    wanted = example[300 * side + 7]
    teacher = StateBasedTracker(arm7)
    teacher.reset(wanted)
    pose = teacher.frame("tool")
    targets = Targets({"tool": Target(np.array(pose.position), np.array(pose.quaternion))})
    away = {}
    for name, tracker in {
        "bare": StateBasedTracker(arm7),
        "drawn": StateBasedTracker(arm7, prior=prior, prior_weight=1e-3),
    }.items():
        tracker.reset(
            tracker._rest_values + (0.2 if side == 0 else -0.2) * np.array([0.5, 0.1, -0.9, 0.0, 0.7, 0.0, 0.0])
        )
        for _ in range(150):
            values = tracker.step(targets, 1 / 60)
        assert np.linalg.norm(np.subtract(tracker.frame("tool").position, pose.position)) < 2e-3
        away[name] = float(np.abs(values - wanted).max())
        likelihood = prior.log_likelihood(values)
        away[name, "log"] = float(likelihood)
    assert away["drawn"] < 0.1 < 3 * away["drawn"] + 0.1 < away["bare"] + 0.1
    assert away["drawn", "log"] > away["bare", "log"] + 10


def test_loops_stay_closed():
    dancer = load("dancer")
    rng = np.random.default_rng(2)
    values = StateBasedTracker(dancer).values + 0.02 * rng.normal(size=(40, 1))
    tracker = StateBasedTracker(dancer, prior=PosePrior.fit(values, directions=1))
    start = np.array(tracker.frame("pelvis_frame").position)
    for k in range(30):
        tracker.step(Targets({"pelvis_frame": Target(start + 0.001 * k * np.array([1.0, 0.0, -0.5]))}), 1 / 60)
        assert tracker.residual < 1e-9
    assert np.linalg.norm(np.array(tracker.frame("pelvis_frame").position) - start) > 0.02


def manner(sway: float) -> np.ndarray:
    """Two seconds of the seven hinges (60, 7) with the elbow out."""
    t, out = np.arange(60) / 30, np.array([0.5, 0.7, -0.9, -1.4, 0.7, 1.1, 0.0])
    return out + sway * np.sin(np.pi * t)[:, None] * np.array([1.0, 0.5, -0.3, 0.8, 0.2, 0.1, 0.0])


def test_a_clip_of_positions_alone_is_followed_in_the_manner_of_an_example():
    """Four of the arm's seven degrees of freedom are left open: without the example they end elsewhere, with it the arm
    moves as there."""
    arm7, example = load("arm7"), manner(0.15)
    tool, fk = [], ForwardKinematics(arm7)
    for values in example:
        found = fk.solve(values)
        tool.append(frame_poses(arm7, "tool", found.position[None], found.quaternion[None])[0][0])
    clip = TargetClip(np.arange(60) / 30, {"tool": Track(position=np.array(tool))})
    bare = retarget(arm7, clip)
    drawn = retarget(arm7, clip, prior=PosePrior.of(manner(0.2)))
    assert np.abs(drawn.values - example).max() < 0.1 < 0.5 < np.abs(bare.values - example).max()
    assert drawn.report.position_error.max() < 3e-4 and not drawn.report.short, "the target is met all the same"


def test_a_walker_told_where_its_feet_are_holds_itself_as_in_an_example():
    """Loops and a floating base: the feet stay where they are, the legs take the example's lean."""
    walker = load("walker")
    tracker = StateBasedTracker(walker)
    feet = {name: tracker.frame(name) for name in ("foot_l", "foot_r")}
    places = {name: Target(np.array(p.position), np.array(p.quaternion)) for name, p in feet.items()}
    pelvis, low = tracker.frame("pelvis"), []
    for k in range(40):
        down = np.array([0.0, 0.0, 0.03 + 0.005 * np.sin(k / 5)])
        low.append(
            tracker.step(
                Targets({**places, "pelvis": Target(pelvis.position - down, np.array(pelvis.quaternion))}), 1 / 30
            )
        )
    still = {name: Track(np.tile(p.position, (20, 1)), np.tile(p.quaternion, (20, 1))) for name, p in feet.items()}
    clip = TargetClip(np.arange(20) / 30, still)
    bare, drawn = retarget(walker, clip), retarget(walker, clip, prior=PosePrior.of(np.array(low)))
    spread = np.ptp(low, axis=0).max()
    assert np.abs(drawn.values[-1] - np.mean(low, axis=0)).max() < spread + 0.02
    assert np.abs(bare.values[-1] - np.mean(low, axis=0)).max() > 0.2
    assert drawn.report.residual.max() < 1e-9 and not drawn.report.short


@pytest.mark.parametrize(
    ("values", "fields", "says"),
    [
        (np.full((5, 7), np.nan), {}, "finite actuator values"),
        (np.zeros((3, 7)), {"components": 2}, "at least 4 poses"),
        (np.zeros((9, 7)), {"directions": 7}, "fewer than the 7 actuators"),
    ],
)
def test_what_cannot_be_learned_from_is_said(values, fields, says):
    with pytest.raises(ClipError, match=says):
        PosePrior.fit(values, **fields)


def test_a_prior_of_another_robot_is_refused(example):
    with pytest.raises(ClipError, match="7 actuators, and robot 'ur10' has 6"):
        StateBasedTracker(load("ur10"), prior=PosePrior.fit(example))
