"""The paper's experiments (V): its figures, on our robots and motions. docs/experiments.md has the measured numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import pi

import numpy as np
import pytest

from experiments.baking import growth
from experiments.baking.cases import BOXER_LIMIT, BOXER_REGULARIZED, chain_posture, drift
from experiments.baking.clips import singular_clip, validation_clip, with_posture
from robik.bench.cases import BALANCED, BOXER, CHAIN, DANCER, FPS, NAIVE
from robik.bench.clips import chain_clip, dance_clip
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.feet.support import margins
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import Mechanism
from robik.mechanism.orientations import quaternion_matrices
from robik.motions import Motion, Report
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget
from robik.robots import load

MM = 1e-3

Punches = tuple[TargetClip, tuple[Motion, Report], tuple[Motion, Report]]  # without and with the velocity regularizer
Dance = tuple[TargetClip, Motion, Report]


def solved(mechanism: Mechanism, clip: TargetClip, settings: Settings) -> tuple[Motion, Report]:
    motion = retarget(mechanism, clip, settings)
    assert motion.report is not None
    assert motion.report.residual.max() < 1e-10, "assembled in every frame"
    assert not any("stopped" in why for _, why in motion.report.short)
    return motion, motion.report


def fastest(clip: TargetClip, name: str) -> float:
    """Greatest speed of a target [m/s]."""
    return float(np.linalg.norm(np.diff(places(clip, name), axis=0), axis=1).max() / np.diff(clip.times).min())


def places(clip: TargetClip, name: str) -> np.ndarray:
    """A target's positions (T, 3) [m]."""
    position = clip.tracks[name].position
    assert position is not None
    return position


# Validation (Fig. 6a)


def test_validation_mechanism_follows_its_tool_through_the_whole_range() -> None:
    clip = validation_clip(FPS)
    assert fastest(clip, "tool_frame") > 0.5
    motion, report = solved(load("validation"), clip, DANCER)
    assert report.position_error.max() < 1e-9
    assert report.orientation_error.max() < 1e-8
    crank = motion.values[:, 0]
    assert crank.max() == pytest.approx(4 * pi, abs=1e-6) and crank[-1] == pytest.approx(2 * pi, abs=1e-3), (
        "two turns on, one back"
    )


# Chain (Fig. 6b)


def test_chain_held_still_for_10000_frames_does_not_move() -> None:
    chain = load("chain")
    motion, report = solved(chain, chain_clip(chain, path="held"), CHAIN)
    assert len(motion.times) == 10_000
    assert np.abs(motion.values).max() < 1e-12
    assert report.position_error.max() < 1e-12


@pytest.mark.parametrize("path", ["loop", "retraced"])
def test_chain_follows_for_10000_frames_without_losing_its_target(path: str) -> None:
    """Twelve freedoms, six asked for: one answer in each frame, and the error of the last laps is that of the first."""
    chain = load("chain")
    clip = chain_clip(chain, path=path)
    motion, report = solved(chain, clip, CHAIN)
    errors = report.position_error.reshape(10, -1).max(axis=1)
    assert errors.max() < 0.02 * MM
    assert errors[-1] < 1.1 * errors[1]
    again, _ = solved(chain, clip, CHAIN)
    np.testing.assert_array_equal(again.values, motion.values)


def test_chain_s_drift_is_that_of_the_path_not_of_the_solver() -> None:
    """A path that is retraced brings the joints back, but for a remainder that halves with the time step; one that goes
    round need not."""
    chain = load("chain")
    coarse, fine = (
        drift(retarget(chain, chain_clip(chain, laps=4, frames=n, path="retraced"), CHAIN), n).max()
        for n in (500, 1000)
    )
    assert 0.4 < fine / coarse < 0.6
    assert fine < 2 * MM
    once, twice = (
        drift(retarget(chain, chain_clip(chain, laps=4, frames=n), CHAIN), n).max(axis=1) for n in (500, 1000)
    )
    np.testing.assert_allclose(once, twice, rtol=0.05, err_msg="however fine the steps")
    assert twice.max() < 0.01 and (np.diff(twice) < 0).all(), "a few mrad a lap, and ever less"


def test_chain_drawn_to_its_rest_pose_does_not_drift_over_10000_frames() -> None:
    """Where every body is drawn a little to where it rests, the answer depends on the target alone: each lap is as the
    one before."""
    chain = load("chain")
    clip = with_posture(chain, chain_clip(chain))
    motion, report = solved(chain, clip, chain_posture(chain))
    assert len(motion.times) == 10_000
    assert drift(motion, 1000).max() < 1e-11
    assert report.position_error[:, 0].max() < 2e-3 * MM


# Boxer (Fig. 7)


@pytest.fixture(scope="module")
def punches() -> Punches:
    boxer, clip = load("boxer"), singular_clip(FPS)
    return clip, solved(boxer, clip, BOXER), solved(boxer, clip, BOXER_REGULARIZED)


def test_boxer_s_shoulder_is_singular_where_the_clip_passes(punches: Punches) -> None:
    """Upright, the axes of swing and twist are nearly one line; the ball's arm is nowhere fast."""
    clip, (motion, _), _ = punches
    lift = motion.values[:, 1]
    assert abs(lift - pi / 2).min() < 0.03, "within two degrees of upright"
    speed = np.abs(np.diff(motion.values, axis=0)).max(axis=1) * FPS
    assert abs(lift[int(speed.argmax())] - pi / 2) < 0.04
    assert fastest(clip, "hand") > 0.85
    quaternion = clip.tracks["hand"].quaternion
    assert quaternion is not None
    turned = 2 * np.arcsin(0.5 * np.linalg.norm(np.diff(quaternion, axis=0), axis=1)) * 2
    assert turned.max() * FPS < 4.0, "[rad/s] of the hand"


def test_boxer_unregularized_spikes(punches: Punches) -> None:
    _, (motion, report), _ = punches
    assert max(motion.peak_velocity().values()) > 100.0
    assert report.position_error.mean() < 0.02 * MM
    assert report.position_error.max() < 3.89 * MM


def test_boxer_regularized_goes_around(punches: Punches) -> None:
    _, _, (motion, report) = punches
    peak = motion.peak_velocity()
    assert max(peak.values()) < 5.90
    assert all(peak[j.name] < j.velocity_limit for j in load("boxer").actuated)
    assert report.position_error.mean() < 1.66 * MM
    assert report.position_error.max() < 24.0 * MM
    assert pytest.approx(0.9 * 4.44, rel=0.01) == BOXER_LIMIT


def test_bounds_on_speed_hold_without_chatter() -> None:
    """Speeds bounded in every frame, against the paper's way: the regularizer lowered until each motor keeps its
    speed."""
    boxer, clip = load("boxer"), singular_clip(60.0)
    bounded = retarget(boxer, clip, replace(BOXER, enforce_velocity=True))
    lowered = retarget(
        boxer, clip, replace(BOXER, velocity_weight=1e-4, velocity_limit=boxer.actuated[0].velocity_limit)
    )
    both = retarget(
        boxer, clip, replace(BOXER, enforce_velocity=True, velocity_weight=1e-3, velocity_limit=BOXER_LIMIT)
    )

    def measured(motion: Motion) -> tuple[float, float, float]:
        assert motion.report is not None
        acceleration = np.diff(motion.values, 2, axis=0) * 60.0**2
        return (
            float(np.sqrt(np.mean(acceleration**2))),
            float(motion.report.position_error.mean()),
            len(motion.report.too_fast),
        )

    (hard, hard_error, too_fast), (soft, soft_error, _), (calm, _, never) = (
        measured(bounded),
        measured(lowered),
        measured(both),
    )
    assert too_fast == never == 0
    assert hard < 1.2 * soft and hard_error < 1.05 * soft_error
    assert calm < 0.8 * soft
    assert bounded.report is not None and bounded.report.speed_cost is not None
    cost = bounded.report.speed_cost
    assert cost.moved.max() > 3 * MM and cost.position is not None
    assert cost.position.mean == hard_error and cost.position.free_mean < 0.5 * hard_error
    assert lowered.report is not None and lowered.report.speed_cost is not None, "bodies are held back, too"


# Dancer (Fig. 8)


@pytest.fixture(scope="module")
def dance() -> Dance:
    dancer = load("dancer")
    clip = dance_clip(dancer, FPS)
    return clip, *solved(dancer, clip, DANCER)


def test_dancer_tracks_perfectly(dance: Dance) -> None:
    clip, _, report = dance
    assert fastest(clip, "pelvis_frame") > 0.35
    assert np.ptp(places(clip, "pelvis_frame"), axis=0).min() > 0.05, "in all directions [m]"
    assert report.position_error.max() < 2.46e-5 * MM
    assert report.orientation_error.max() < 1.22e-5
    assert not report.short


def test_dancer_s_eight_motors_hold_it_where_six_do_less(dance: Dance) -> None:
    """The least singular value of the passive hinges' screws, with lengths in links: how far the motors are from losing
    the pelvis."""
    _, motion, _ = dance
    dancer = load("dancer")
    screws = {
        j.name: screw
        for j, screw in zip(dancer.joints[1:], _screws(dancer, motion, slice(None, None, 60)), strict=True)
    }
    passive = [j.name for j in dancer.joints[1:] if not j.actuated]

    def firmness(free: list[str]) -> float:
        return float(np.linalg.svd(np.stack([screws[n] for n in free], axis=2), compute_uv=False)[:, -1].min())

    eight = firmness(passive)
    six = max(firmness([*passive, *out]) for out in combinations(dancer.actuators, 2))
    assert eight > 0.3
    assert eight > 1.5 * six


def _screws(dancer: Mechanism, motion: Motion, frames: slice) -> list[np.ndarray]:
    """Each hinge's axis and moment (T, 6) about the middle of the robot, in links."""
    assert motion.position is not None and motion.quaternion is not None
    turned, place = quaternion_matrices(motion.quaternion[frames]), motion.position[frames]
    found = []
    for joint in dancer.joints[1:]:
        i = dancer.body_index[joint.child]
        back = turned[:, i] @ dancer.bodies[i].pose.matrix.T
        axis = back @ np.array(joint.axis)
        point = place[:, i] + back @ (np.array(joint.position) - dancer.bodies[i].pose.position) - [0.0, 0.0, 0.18]
        found.append(np.concatenate([axis, np.cross(point, axis) / 0.135], axis=1))
    return found


def test_dancer_s_motors_play_the_dance(dance: Dance) -> None:
    """Forward kinematics of the eight values, which agree although six would do, lead to the same pelvis."""
    _, motion, _ = dance
    dancer = load("dancer")
    some = slice(None, None, 40)
    position, _, residual = body_poses(dancer, motion.values[some])
    assert motion.position is not None
    assert residual.max() < 1e-9
    np.testing.assert_allclose(position, motion.position[some], atol=1e-8)
    peak = motion.peak_velocity()
    assert all(peak[j.name] < j.velocity_limit for j in dancer.actuated), "at speeds that the motors reach"


@pytest.mark.parametrize("fps", [10, 30, 120])
def test_dancer_at_lower_frame_rates(fps: int) -> None:
    """Fig. 6c: fewer frames cost some iterations each, and no failures."""
    dancer = load("dancer")
    _, report = solved(dancer, dance_clip(dancer, fps), DANCER)
    assert report.position_error.max() < 1e-3 * MM * 1200 / fps / 10
    assert report.iterations.mean() < 7


# Walker (Fig. 9)


@pytest.mark.parametrize("balanced", [False, True])
def test_walker(balanced: bool) -> None:
    walker = load("walker")
    clip = walk_clip(walker, FPS, balanced)
    motion, report = solved(walker, clip, BALANCED if balanced else NAIVE)
    contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None}
    inside = margins(walker, motion, contacts)
    assert np.ptp(places(clip, "foot_l")[:, 0]) > 0.34, "it walks [m]"
    if balanced:
        assert np.nanmax(report.position_error) < 1.11 * MM
        assert np.nanmax(report.com_error) < 1.30 * MM
        assert inside.min() > 0.005, "the centre of mass is over the feet always"
    else:
        assert inside.min() < -0.01, "it would fall"
        assert np.nanmax(report.position_error) < 0.51 * MM


@pytest.mark.parametrize(
    ("robot", "loops"), [(growth.chain(100), 0), (growth.crawler(8), 16)], ids=["chain", "crawler"]
)
def test_large_robots_follow_as_small_ones_do(robot: Mechanism, loops: int) -> None:
    """More than 64 degrees of freedom: no matrix, the same answers, held limits and motors' speeds included."""
    clip, chosen = growth.followed(robot)
    motion = retarget(robot, clip, chosen)
    assert motion.report is not None
    assert motion.report.residual.max() < 1e-10
    assert np.nanmax(motion.report.position_error) < 1e-3
    assert motion.report.iterations[2:].mean() < 4
    assert inspect(robot).loops == loops
    bound = 0.5 * np.abs(motion.report.velocity[:24]).max()
    joints = tuple(replace(j, limits=((-0.1, 0.1),), velocity_limit=bound) for j in robot.joints)
    tracks = {
        n: Track(t.position[:24], None if t.quaternion is None else t.quaternion[:24]) for n, t in clip.tracks.items()
    }
    beginning = TargetClip(clip.times[:24], tracks)
    held = retarget(robot.with_changes(joints=joints), beginning, replace(chosen, enforce_velocity=True))
    assert held.report is not None
    assert held.report.residual.max() < 1e-10
    assert np.abs(held.values).max() <= 0.1 + 1e-9
    assert 0.99 * bound < np.abs(held.report.velocity).max() <= bound * (1 + 1e-9)
