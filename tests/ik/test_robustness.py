"""Robots of all sizes, motions that are far too fast, targets that jump, and numbers that mean nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.tracking.serial_chain import SerialChain
from robik import robots
from robik.bench.clips import chain_clip, dance_clip
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError, MechanismError
from robik.mechanism import Mechanism, Pose
from robik.mechanism.pose import matrix_quaternion
from robik.motions import Report
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from tests.ik.pulled import PULLED

WALKER, DANCER = robots.load("walker"), robots.load("dancer")
CLOSED = 1e-10  # of the robot's size


def scaled(mechanism: Mechanism, s: float) -> Mechanism:
    """The same robot, s times as large."""

    def pose(p: Pose) -> Pose:
        return Pose(tuple(s * x for x in p.position), p.quaternion)

    return mechanism.with_changes(
        bodies=[replace(b, com=tuple(s * x for x in b.com), pose=pose(b.pose), visuals=()) for b in mechanism.bodies],
        joints=[replace(j, position=tuple(s * x for x in j.position)) for j in mechanism.joints],
        frames=[replace(f, pose=pose(f.pose), sole=()) for f in mechanism.frames],
    )


def resized(clip: TargetClip, s: float) -> TargetClip:
    tracks = {
        name: Track(None if t.position is None else s * t.position, t.quaternion) for name, t in clip.tracks.items()
    }
    return TargetClip(clip.times, tracks, com=None if clip.com is None else s * clip.com)


def solved(mechanism: Mechanism, clip: TargetClip, settings: Settings = PULLED) -> tuple[np.ndarray, Report]:
    motion = retarget(mechanism, clip, settings)
    assert motion.report is not None
    assert np.isfinite(motion.values).all()
    return motion.values, motion.report


@pytest.mark.parametrize("size", [0.01, 10.0])
@pytest.mark.parametrize("balanced", [False, True])
def test_a_walker_of_any_size_walks_alike(size: float, balanced: bool) -> None:
    """Size in metres from the ground to the top. With the settings as they are a hundredth or ten times the robot does
    the same to the last digits, its motors being hinges, in the same number of iterations; also where it cannot meet
    everything."""
    s = size / 0.56
    clip = walk_clip(WALKER, 60.0, balanced)
    tracks = {n: Track(t.position[:200], t.quaternion[:200]) for n, t in clip.tracks.items()}
    clip = TargetClip(
        clip.times[:200], tracks, com=None if clip.com is None else clip.com[:200] + np.array([0.0, 0.01, 0.0])
    )
    values, report = solved(WALKER, clip)
    other, far = solved(scaled(WALKER, s), resized(clip, s))
    np.testing.assert_allclose(other, values, rtol=0, atol=1e-7)
    assert np.abs(far.iterations - report.iterations).max() <= 1, "rounding may tip what is just converged"
    np.testing.assert_allclose(far.iterations.mean(), report.iterations.mean(), rtol=0.02)
    np.testing.assert_allclose(far.position_error, s * report.position_error, rtol=0, atol=1e-8 * s)
    assert far.residual.max() < CLOSED * s
    assert not balanced or np.nanmax(report.position_error) > 1e-3


def test_robots_of_all_sizes_fall_short_alike() -> None:
    """The pelvis rises until the knees are at their limits, and beyond; in the smallest robot that is a tenth of a
    millimetre."""
    rest = {f.name: WALKER.bodies[WALKER.body_index[f.body]].pose @ f.pose for f in WALKER.frames}
    tracks = {n: Track(np.tile(rest[n].position, (40, 1))) for n in ("pelvis", "foot_l", "foot_r")}
    rise = np.linspace(0.0, 0.045, 40)[:, None] * (0.0, 0.0, 1.0)
    clip = TargetClip(np.arange(40) / 60, tracks | {"pelvis": Track(tracks["pelvis"].position + rise)})
    short = {s: solved(scaled(WALKER, s / 0.56), resized(clip, s / 0.56))[1].short for s in (0.01, 0.56, 10.0)}
    found = [[k for k, _ in each] for each in short.values()]
    assert found[0] == found[1] == found[2]
    assert 0 < len(found[0]) < 40
    pelvis, *feet = short[0.01][-1][1].split("; ")[:3]
    assert pelvis == "pelvis is 0.27 mm off"
    assert sorted(feet) == ["foot_l is 0.14 mm off", "foot_r is 0.14 mm off"]  # alike but for the last digit


def test_slides_scale_with_the_robot() -> None:
    """Hinges and slides, one frame, the rest chosen by the pull towards the previous state."""
    chain = robots.load("chain")
    clip = chain_clip(chain, laps=1, frames=200)
    slides = np.array([unit == "m" for joint in chain.actuated for unit in joint.coordinate_units])
    settings = Settings(joint_limits=False)
    values, report = solved(chain, clip, settings)
    for s in (0.01, 10.0):
        other, far = solved(scaled(chain, s), resized(clip, s), settings)
        np.testing.assert_allclose(other / np.where(slides, s, 1.0), values, rtol=0, atol=1e-6)
        np.testing.assert_allclose(far.iterations.mean(), report.iterations.mean(), rtol=0.05)


def fast(clip: TargetClip, times: float) -> TargetClip:
    """The clip played that many times as fast: every n-th frame, as often a second."""
    every = slice(None, None, round(times))
    tracks = {n: Track(t.position[every], t.quaternion[every]) for n, t in clip.tracks.items()}
    kept = np.arange(len(clip.times[every])) * float(clip.times[1])
    return TargetClip(kept, tracks, com=None if clip.com is None else clip.com[every])


@pytest.mark.parametrize("fps", [60.0, 240.0])
@pytest.mark.parametrize("robot", ["walker", "dancer"])
def test_ten_times_the_speed_stays_assembled_and_on_target(robot: str, fps: float) -> None:
    mechanism, clip = {"walker": (WALKER, walk_clip(WALKER, fps, False)), "dancer": (DANCER, dance_clip(DANCER, fps))}[
        robot
    ]
    _, report = solved(mechanism, fast(clip, 10.0))
    assert report.residual.max() < CLOSED
    assert np.nanmax(report.position_error) < 1e-3
    assert not any("stopped" in why for _, why in report.short)


@pytest.mark.parametrize("robot", ["walker", "dancer"])
def test_jumps_across_the_workspace_are_met_within_a_few_frames(robot: str) -> None:
    """Between frames the target leaps to another pose of the clip, and now and then beyond all reach."""
    mechanism, clip = {
        "walker": (WALKER, walk_clip(WALKER, 60.0, False)),
        "dancer": (DANCER, dance_clip(DANCER, 60.0)),
    }[robot]
    order = np.repeat(np.random.default_rng(1).permutation(len(clip.times))[:24], 6)
    tracks = {}
    for name, track in clip.tracks.items():
        assert track.position is not None and track.quaternion is not None
        position = track.position[order].copy()
        if name != "foot_r":  # the walker floats: it must not get away as a whole
            position[30:36] += (0.3, -0.4, 0.6)
        tracks[name] = Track(position, track.quaternion[order])
    _, report = solved(mechanism, TargetClip(np.arange(len(order)) / 60, tracks))
    error = np.nanmax(report.position_error, axis=1).reshape(-1, 6)
    assert report.residual.max() < CLOSED
    assert np.delete(error, 5, axis=0)[:, 3:].max() < 1e-4, "met again in the fourth frame after each jump"
    assert error[5].min() > 0.1


def poses_of(robot: Mechanism, frame: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (count, 3) and quaternions (count, 4) of an arm's end with its joints anywhere."""
    arm, rng = SerialChain(robot, frame), np.random.default_rng(3)
    position, quaternion = np.empty((count, 3)), np.empty((count, 4))
    for k, q in enumerate(
        rng.uniform(np.maximum(arm.lower, -1.2), np.minimum(arm.upper, 1.2), (count, len(arm.lower)))
    ):
        arm.place(q)
        position[k], quaternion[k] = arm.position, matrix_quaternion(arm.rotation)
    return position, quaternion


@pytest.mark.parametrize(("robot", "frame"), [("boxer", "hand"), ("arm7", "tool"), ("ur10", "tool"), ("chain", "tool")])
@pytest.mark.parametrize("turned", [False, True])
def test_an_arm_that_leaps_between_any_poses_is_there_in_nearly_all(robot: str, frame: str, turned: bool) -> None:
    """From the last frame alone up to half were missed: the ways wind joints up to their limits, where the next one
    starts."""
    mechanism, count = robots.load(robot), 200
    position, quaternion = poses_of(mechanism, frame, count)
    track = Track(np.repeat(position, 2, axis=0), np.repeat(quaternion, 2, axis=0) if turned else None)
    values, report = solved(mechanism, TargetClip(np.arange(2 * count) / 60, {frame: track}))
    met = report.position_error.reshape(count, 2).max(axis=1) < 2e-3 * mechanism.extent
    assert met.mean() > 0.95
    lower, upper = np.array([joint.limits for joint in mechanism.actuated]).T
    assert (values > lower - 1e-9).all()
    assert (values < upper + 1e-9).all()


def test_speeds_are_kept_between_poses_that_leap() -> None:
    """Also where the rest pose, which a frame may be solved from, too, would do better."""
    mechanism, times = robots.load("ur10"), np.arange(40) / 2
    position, quaternion = poses_of(mechanism, "tool", len(times))
    arm = SerialChain(mechanism, "tool")
    back = np.arange(len(times)) % 8 >= 4
    position, quaternion = np.repeat(position[::4], 4, axis=0), np.repeat(quaternion[::4], 4, axis=0)
    position[back], quaternion[back] = arm.position, matrix_quaternion(arm.rotation)
    values, _ = solved(
        mechanism, TargetClip(times, {"tool": Track(position, quaternion)}), Settings(enforce_velocity=True)
    )
    limits = np.array([joint.velocity_limit for joint in mechanism.actuated])
    assert (np.abs(np.diff(values, axis=0)) <= limits / 2 + 1e-9).all()


def hand(position: object = (0.2, 0.0, 0.2), quaternion: object = None, times: object = (0.0, 0.1)) -> TargetClip:
    frames = len(np.atleast_1d(times))
    turned = None if quaternion is None else np.tile(np.array(quaternion, dtype=float), (frames, 1))
    return TargetClip(np.array(times), {"hand": Track(np.tile(np.array(position, dtype=float), (frames, 1)), turned)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": (np.nan, 0, 0)}, "hand.position must be finite; sample 0"),
        ({"position": (np.inf, 0, 0)}, "hand.position must be finite; sample 0"),
        ({"quaternion": (1, 0, np.nan, 0)}, "hand.quaternion must be finite; sample 0"),
        ({"quaternion": (2, 0, 0, 0)}, "length 1; sample 0 has 2"),
        ({"quaternion": (0, 0, 0, 0)}, "length 1; sample 0 has 0"),
        ({"times": (0.0, 0.0)}, "times must increase; sample 1 at 0 s follows 0 s"),
        ({"times": (0.0, -0.1)}, "times must increase"),
        ({"times": (0.0, np.nan)}, "times must be finite"),
    ],
)
def test_targets_that_mean_nothing_are_errors(change: dict, message: str) -> None:
    with pytest.raises(ClipError, match=message):
        hand(**change)


def test_quaternions_that_are_off_by_rounding_are_made_unit() -> None:
    quaternion = hand(quaternion=(1.0005, 0, 0, 0)).tracks["hand"].quaternion
    assert quaternion is not None
    np.testing.assert_allclose(quaternion, [[1, 0, 0, 0]] * 2, atol=1e-15)


@pytest.mark.parametrize("weight", [(-1.0, 1.0, 1.0), (np.nan, 1.0, 1.0), (np.inf, 1.0, 1.0), (1.0, 1.0)])
def test_weights_are_zero_or_more(weight: tuple) -> None:
    with pytest.raises((ClipError, MechanismError), match="weight"):
        Weights(position=weight)
    with pytest.raises((ClipError, MechanismError), match="weight"):
        Settings(com_weight=weight)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_the_pull_to_the_previous_state_is_positive(value: float) -> None:
    with pytest.raises(ClipError, match="state_weight must be positive"):
        Settings(state_weight=value)


def test_a_target_without_weight_moves_nothing() -> None:
    boxer = robots.load("boxer")
    rest = np.array([j.rest[0] for j in boxer.actuated])
    values, report = solved(boxer, hand(), Settings(targets={"hand": Weights((0.0,) * 3, (0.0,) * 3)}))
    np.testing.assert_allclose(values, [rest, rest], atol=1e-12)
    assert np.isnan(report.position_error).all() and not report.short
