"""What the solver promises of every frame: assembled, within limits, as near as it can get, in few iterations."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.baking.clips import walker_clip
from experiments.tracking.two_link import two_link_arm
from robik import robots
from robik.bench.clips import boxer_clip, chain_clip
from robik.clips.clip import TargetClip, Track
from robik.kinematics.forward import body_poses
from robik.kinematics.frames import frame_poses
from robik.mechanism import WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose
from robik.mechanism.pose import matrix_quaternion
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from tests.ik.compromise import compromise
from tests.ik.pulled import PULLED

BOXER, WALKER = robots.load("boxer"), robots.load("walker")
CLOSED = 1e-9  # m


def reached(mechanism: Mechanism, values: np.ndarray, names: tuple[str, ...], times: np.ndarray) -> TargetClip:
    """The poses of frames at actuator values, as targets."""
    position, quaternion, _ = body_poses(mechanism, values)
    tracks = {}
    for name in names:
        x, R = frame_poses(mechanism, name, position, quaternion)
        tracks[name] = Track(x, np.array([matrix_quaternion(r) for r in R]))
    return TargetClip(times, tracks)


@pytest.mark.parametrize("fps", [24.0, 60.0, 1200.0])
def test_boxer_reaches_what_is_reachable(fps: float) -> None:
    motion = retarget(BOXER, boxer_clip(BOXER, fps))
    report = motion.report
    assert report is not None
    assert np.nanmax(report.position_error) < 1e-6
    assert np.nanmax(report.orientation_error) < 1e-6
    assert not report.short


def test_boxer_reaches_poses_that_jump_about() -> None:
    rng = np.random.default_rng(0)
    limits = np.array([joint.limits[0] for joint in BOXER.actuated])
    middle, half = limits.mean(axis=1), 0.5 * np.ptp(limits, axis=1)
    values = middle + 0.5 * half * rng.uniform(-1, 1, (50, 4))
    report = retarget(BOXER, reached(BOXER, values, ("hand",), np.arange(50) / 60)).report
    assert report is not None
    met = np.nanmax(report.position_error, axis=1) < 1e-6
    assert met.mean() > 0.9  # from far away some starts end in another posture that a limit holds off the target
    assert {k for k, _ in report.short} >= set(
        np.flatnonzero(~met & (np.nanmax(report.position_error, axis=1) > 1e-3)).tolist()
    )


def test_walker_does_what_its_actuators_did() -> None:
    times = np.arange(120) / 60
    values = 0.12 * np.sin(2 * np.pi * times[:, None] * np.linspace(0.3, 0.9, 12)) * (1 - np.exp(-3 * times[:, None]))
    motion = retarget(WALKER, reached(WALKER, values, ("pelvis", "foot_l", "foot_r"), times))
    assert motion.report is not None
    np.testing.assert_allclose(motion.values, values, atol=1e-5)
    assert motion.report.residual.max() < CLOSED
    assert motion.report.iterations.mean() <= 3


def pulled_apart(frames: int, fps: float, far: float, still: int = 0) -> TargetClip:
    """Feet pulled up and down apart, and the hips aside, beyond any reach and back; then `still` frames at rest."""
    t = np.arange(frames + still) / fps
    rest = {f.name: WALKER.bodies[WALKER.body_index[f.body]].pose @ f.pose for f in WALKER.frames}
    swing = far * np.sin(np.pi * np.minimum(t / t[frames - 1], 1.0)) ** 2
    ways = {"foot_l": (0.0, 0.0, 1.0), "foot_r": (0.0, 0.3, -1.0), "pelvis": (0.5, 0.5, 0.0)}
    return TargetClip(
        t,
        {
            n: Track(np.array(rest[n].position) + swing[:, None] * w, np.tile(rest[n].quaternion, (len(t), 1)))
            for n, w in ways.items()
        },
    )


@pytest.mark.parametrize("limited", [False, True])
def test_out_of_reach_stays_assembled_and_within_limits(limited: bool) -> None:
    motion = retarget(WALKER, pulled_apart(240, 60.0, 0.3), Settings(joint_limits=limited))
    report = motion.report
    assert report is not None
    assert report.residual.max() < CLOSED
    assert np.nanmax(report.position_error) > 0.05
    assert len(report.short) > 100
    assert all("solver stopped" not in why for _, why in report.short)
    assert report.iterations.mean() < 8
    assert np.nanmax(report.position_error[-1]) < 1e-4  # and back
    if limited:
        bounds = np.array([joint.limits[0] for joint in WALKER.actuated])
        assert (motion.values >= bounds[:, 0] - 1e-9).all()
        assert (motion.values <= bounds[:, 1] + 1e-9).all()
        assert any("at its limit" in why for _, why in report.short)


@pytest.mark.parametrize("away", [1.0, 1e3, 1e6])
def test_targets_at_any_distance(away: float) -> None:
    clip = TargetClip(np.arange(5) / 60, {"hand": Track(np.tile([away, 0.0, away], (5, 1)))})
    motion = retarget(BOXER, clip)
    assert np.isfinite(motion.values).all()
    x, _ = frame_poses(BOXER, "hand", motion.position, motion.quaternion)  # type: ignore[arg-type]
    shoulder = np.array(next(j for j in BOXER.joints if j.name == "shoulder_lift").position)
    wanted, pointing = np.array([away, 0.0, away]) - shoulder, x[-1] - shoulder
    assert wanted @ pointing > 0.9999 * np.linalg.norm(wanted) * np.linalg.norm(pointing)


@pytest.mark.parametrize("away", [1e3, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("way", [(1.0, 0.0, 0.0), (0.6, 0.5, 0.62)])
def test_a_floating_robot_with_loops_goes_to_any_distance_and_comes_back(
    away: float, way: tuple[float, float, float]
) -> None:
    """Far out its loops close to the rounding of where it is; what that does to it must not keep it from coming
    back."""
    pelvis = np.tile([0.0, 0.0, 0.3], (24, 1))
    pelvis[4:8] += away * np.array(way)
    report = retarget(WALKER, TargetClip(np.arange(24) / 60, {"pelvis": Track(pelvis)}), PULLED).report
    assert report is not None
    assert report.position_error[7, 0] < 1e-14 * away + 1e-12
    assert report.residual[4:8].max() < 4e-15 * away + CLOSED
    assert report.position_error[10:].max() < 1e-9, "in the third frame of those that want it back"
    assert report.residual[8:].max() < CLOSED


def test_a_straight_limb_pulled_beyond_its_reach_points_there() -> None:
    """From its rest pose, in one frame; two links of 1 m in all."""
    arm, rng = two_link_arm(), np.random.default_rng(0)
    for turn, reach in zip(rng.uniform(-np.pi, np.pi, 100), rng.uniform(1.02, 1.6, 100), strict=True):
        target = reach * np.array([np.cos(turn), np.sin(turn), 0.0])
        report = retarget(arm, TargetClip(np.zeros(1), {"tip": Track(target[None])}), PULLED).report
        assert report is not None
        assert report.position_error[0, 0] == pytest.approx(reach - 1.0, abs=1e-9), target
        assert report.iterations[0] < 40, target


def test_targets_that_jump_across_the_workspace_are_met_again_within_a_few_frames() -> None:
    clip = walker_clip(WALKER, 60.0)
    jumpy = {}
    for name, track in clip.tracks.items():
        assert track.position is not None
        position = track.position.copy()
        position[40:60] += (0.0, 0.5, 0.8)
        jumpy[name] = Track(position, track.quaternion)
    smooth, jumping = (
        retarget(WALKER, TargetClip(clip.times, clip.tracks)),
        retarget(WALKER, TargetClip(clip.times, jumpy)),
    )
    assert smooth.report is not None
    assert jumping.report is not None
    assert jumping.report.residual.max() < CLOSED
    np.testing.assert_allclose(jumping.values[65:], smooth.values[65:], atol=1e-4)


def test_velocity_regularizer_bends_the_motion_around_the_limit() -> None:
    t = np.arange(600) / 600
    x = np.array([0.2, 0.0, 0.2]) + np.stack([0 * t, 0.1 * np.tanh(40 * (t - 0.5)), 0 * t], axis=1)
    clip = TargetClip(t, {"hand": Track(x)})
    free = retarget(BOXER, clip, Settings(state_weight=2e-4))
    bent = retarget(BOXER, clip, Settings(state_weight=2e-4, velocity_weight=1e-3, velocity_limit=2.0))
    assert max(free.peak_velocity().values()) > 8
    assert max(bent.peak_velocity().values()) < 0.6 * max(free.peak_velocity().values())
    assert bent.report is not None
    assert np.nanmax(bent.report.position_error[-50:]) < 2e-3


def test_gears_keep_their_ratio() -> None:
    bodies = [
        Body("crank", 1.0, com=(0.1, 0, 0)),
        Body("arm", 1.0, com=(0.3, 0, 0)),
        Body("hand", 1.0, com=(0.5, 0, 0)),
    ]
    joints = [
        Joint("drive", "revolute", WORLD, "crank", position=(0, 0, 0), axis=(0, 0, 1), actuated=True),
        Joint("elbow", "revolute", "crank", "arm", position=(0.2, 0, 0), axis=(0, 0, 1)),
        Joint("wrist", "revolute", "arm", "hand", position=(0.4, 0, 0), axis=(0, 0, 1)),
    ]
    gears = [
        Coupling("elbow gear", "elbow", "drive", (0.0, 0.5)),
        Coupling("wrist cam", "wrist", "elbow", (0.0, 1.0, -0.3, 0.1)),
    ]
    robot = Mechanism("geared", bodies, joints, frames=[Frame("tip", "hand")], couplings=gears)
    t = np.linspace(0, 1, 40)
    clip = TargetClip(t, {"tip": Track(np.stack([0.3 - 0.2 * t, 0.35 * t, 0 * t], axis=1))}, com=None)
    motion = retarget(robot, clip, Settings(targets={"tip": Weights(orientation=(0, 0, 0))}))
    assert motion.report is not None
    assert motion.report.residual.max() < CLOSED
    _, R = frame_poses(robot, "tip", motion.position, motion.quaternion)  # type: ignore[arg-type]
    turned = np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    drive = motion.values[:, 0]
    elbow = 0.5 * drive
    np.testing.assert_allclose(turned, drive + elbow + elbow - 0.3 * elbow**2 + 0.1 * elbow**3, atol=1e-9)


@pytest.mark.parametrize("fps", [24.0, 240.0])
def test_enforced_velocities_hold_in_every_frame(fps: float) -> None:
    wild = pulled_apart(int(0.7 * fps), fps, 0.4, still=int(fps))
    free, held = retarget(WALKER, wild), retarget(WALKER, wild, Settings(enforce_velocity=True))
    assert free.report is not None
    assert held.report is not None
    assert len(free.report.too_fast) > 2
    assert len(held.report.too_fast) == 0
    assert held.report.residual.max() < CLOSED
    limits = np.array([joint.velocity_limit for joint in WALKER.actuated])
    assert (np.abs(np.diff(held.values, axis=0)) * fps <= limits * (1 + 1e-9)).all()
    assert np.nanmax(held.report.position_error[-1]) < 1e-6  # it lags, and catches up
    easy = walker_clip(WALKER, fps)
    same = retarget(WALKER, easy, Settings(enforce_velocity=True)).values
    np.testing.assert_allclose(same[5:], retarget(WALKER, easy).values[5:], atol=1e-6)


def test_no_frame_goes_round_in_circles_at_its_optimum() -> None:
    chain = robots.load("chain")
    motion = retarget(chain, chain_clip(chain, laps=1, frames=500, path="retraced"), Settings(state_weight=1e-3))
    assert motion.report is not None
    assert motion.report.iterations.max() < 30
    assert not motion.report.short


def test_a_dead_point_is_left_again() -> None:
    """Two links stretched out towards a target that comes nearer along their line: the gradient is zero there, but not
    for long."""
    bodies = tuple(
        Body(name, 1.0, com=(0.5, 0.0, 0.0), inertia=(0.1,) * 3 + (0.0,) * 3, pose=Pose((x, 0.0, 0.0)))
        for name, x in (("a", 0.0), ("b", 1.0))
    )
    joints = (
        Joint("shoulder", "revolute", WORLD, "a", position=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), actuated=True),
        Joint("elbow", "revolute", "a", "b", position=(1.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), actuated=True),
    )
    arm = Mechanism("arm", bodies, joints, frames=(Frame("tip", "b", Pose((1.0, 0.0, 0.0))),))
    along = np.concatenate([np.full(5, 2.2), np.linspace(2.2, 1.2, 40)])
    target = np.stack([along, 0.0 * along, 0.0 * along], axis=1)
    motion = retarget(arm, TargetClip(np.arange(len(along)) / 60, {"tip": Track(position=target)}))
    assert motion.report is not None
    error = motion.report.position_error[:, 0]
    assert error[:5] == pytest.approx(0.2, abs=1e-6)
    assert error[along < 1.99].max() < 1e-5


@pytest.mark.parametrize("pelvis", [1e-4, 1e-2, 0.1])
@pytest.mark.parametrize("lift", [0.0, -0.02, 0.03])
def test_a_compromise_of_feet_pelvis_and_com_takes_few_iterations(pelvis: float, lift: float) -> None:
    motion = retarget(WALKER, *compromise(WALKER, pelvis, lift))
    assert motion.report is not None
    assert motion.report.iterations.max() <= 6
    assert motion.report.residual.max() < CLOSED
    assert np.abs(np.diff(motion.values, axis=0)).max() < 0.02, "no jump of a joint [rad]"
