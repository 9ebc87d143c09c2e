"""What a motion reports of itself, computed again from its clip and the poses of its bodies."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import robots
from robik.bench.cases import NAIVE
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError
from robik.ik.memory import Output
from robik.ik.solver import ClipTargets
from robik.mechanism import Mechanism
from robik.motions.motion import Motion
from robik.objectives.posture import Posture
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import CHUNK, Retargeting, retarget
from tests.ik.test_limits import curl

FRAMES = 40
TIMES = np.cumsum(np.concatenate([[0.0], np.linspace(0.01, 0.02, FRAMES - 1)]))  # s: not even


def moved(robot: Mechanism, name: str, far: float, turn: float) -> Track:
    """A track from where a frame rests, out by `far` [m] and turned by `turn` [rad], and back."""
    rest, way = robot.rest_pose(name), np.sin(np.linspace(0.0, np.pi, FRAMES))[:, None]
    place = np.array(rest.position) + far * way * [0.3, 0.9, 0.3]
    turned = Rotation.from_rotvec(turn * way * [0.0, 0.6, 0.8]) * Rotation.from_matrix(rest.matrix)
    return Track(place, turned.as_quat()[:, [3, 0, 1, 2]])


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return robots.load("walker")


@pytest.fixture(scope="module")
def strained(walker: Mechanism) -> tuple[TargetClip, Settings, Motion]:
    """A walker whose feet and mass are led apart, so that all of them are missed."""
    tracks = {"foot_l": moved(walker, "foot_l", 0.3, 0.5), "foot_r": moved(walker, "foot_r", -0.3, 0.2)}
    com = np.tile(walker_com(walker) + np.array([0.0, 0.0, 0.05]), (FRAMES, 1))
    clip = TargetClip(TIMES, tracks, com=com)
    settings = Settings(
        targets={
            "foot_l": Weights((1.0, 0.5, 0.0), (1.0, 1.0, 1.0)),
            "foot_r": Weights((2.0, 2.0, 2.0), (0.0, 0.0, 0.0)),
        },
        com_weight=(1.0, 0.0, 1.0),
    )  # fmt: skip
    return clip, settings, retarget(walker, clip, settings)


def walker_com(robot: Mechanism) -> np.ndarray:
    """Centre of mass at rest (3,) [m]."""
    mass = np.array([body.mass for body in robot.bodies])
    return mass @ np.array([body.rest_com for body in robot.bodies]) / mass.sum()


def placed(robot: Mechanism, motion: Motion, name: str) -> tuple[np.ndarray, Rotation]:
    """Places (T, 3) and orientations of a frame, from the poses of its body."""
    frame = robot.frame(name)
    index = motion.bodies.index(frame.body)
    assert motion.position is not None and motion.quaternion is not None
    turns = Rotation.from_quat(motion.quaternion[:, index][:, [1, 2, 3, 0]])
    return motion.position[:, index] + turns.apply(frame.pose.position), turns * Rotation.from_matrix(frame.pose.matrix)


def test_errors_of_frames_count_along_weighted_axes(
    walker: Mechanism, strained: tuple[TargetClip, Settings, Motion]
) -> None:
    clip, _, motion = strained
    report = motion.report
    assert report is not None
    assert report.targets == ("foot_l", "foot_r")
    for i, (name, axes) in enumerate((("foot_l", [True, True, False]), ("foot_r", [True, True, True]))):
        place, turns = placed(walker, motion, name)
        track = clip.tracks[name]
        off = np.linalg.norm((place - track.position)[:, axes], axis=1)
        assert np.abs(report.position_error[:, i] - off).max() < 1e-12
        assert off.max() > 0.01  # so that it is not all zeros
        if name == "foot_l":
            wanted = Rotation.from_quat(track.quaternion[:, [1, 2, 3, 0]])
            assert np.abs(report.orientation_error[:, i] - (turns * wanted.inv()).magnitude()).max() < 1e-7
        else:
            assert np.isnan(report.orientation_error[:, i]).all()


def test_the_centre_of_mass_and_its_error(walker: Mechanism, strained: tuple[TargetClip, Settings, Motion]) -> None:
    clip, _, motion = strained
    assert motion.position is not None and motion.quaternion is not None
    assert motion.report is not None
    mass = np.array([body.mass for body in walker.bodies])
    places = [
        motion.position[:, i]
        + Rotation.from_quat(motion.quaternion[:, i][:, [1, 2, 3, 0]]).apply(walker.bodies[walker.body_index[name]].com)
        for i, name in enumerate(motion.bodies)
    ]
    com = np.einsum("n,nti->ti", mass / mass.sum(), np.array(places))
    assert np.abs(motion.com - com).max() < 1e-9
    off = np.hypot((com - clip.com)[:, 0], (com - clip.com)[:, 2])
    assert np.abs(motion.report.com_error - off).max() < 1e-9


def test_speeds_accelerations_and_jerks_are_those_of_the_samples(strained: tuple[TargetClip, Settings, Motion]) -> None:
    """Each is the change of the one before it, over the time between the middles of what it is the change of."""
    _, _, motion = strained
    report, values = motion.report, motion.values
    assert report is not None
    middles, rows = TIMES, values
    for found, first, last in (
        (report.velocity, 1, FRAMES),
        (report.acceleration, 1, FRAMES - 1),
        (report.jerk, 2, FRAMES - 1),
    ):
        rows = np.diff(rows, axis=0) / np.diff(middles)[:, None]
        middles = 0.5 * (middles[1:] + middles[:-1])
        assert np.abs(found[first:last] - rows).max() < 1e-9 * np.abs(rows).max()
        assert not found[:first].any()
        assert not found[last:].any()
    assert set(motion.peak_velocity().values()) == set(np.abs(report.velocity).max(axis=0).tolist())


def test_frames_that_fall_short_say_what_is_off_by_how_much(
    walker: Mechanism, strained: tuple[TargetClip, Settings, Motion]
) -> None:
    _, _, motion = strained
    report = motion.report
    assert report is not None
    short = dict(report.short)
    met, turned_met = walker.extent / 500, 1e-2
    for k in range(FRAMES):
        why = short.get(k, "")
        for i, name in enumerate(report.targets):
            error = report.position_error[k, i]
            if error > met:
                assert f"{name} is {1e3 * error:.1f} mm off" in why or f"{name} is {1e3 * error:.0f} mm off" in why, why
        if np.nan_to_num(report.orientation_error[k, 0]) > turned_met:
            assert f"foot_l is turned {np.degrees(report.orientation_error[k, 0]):.1f}° off" in why, why
        if report.com_error[k] > met:
            assert "the centre of mass is" in why
    assert not short.get(0, "").startswith("foot")  # the clip begins at rest


def test_a_frame_held_by_limits_names_them() -> None:
    robot = curl(6, 0.2)
    place = np.linspace([1.0, 0.0, 0.0], [0.2, 0.9, 0.0], FRAMES)
    clip = TargetClip(TIMES, {"tip": Track(place)})
    motion = retarget(robot, clip)
    assert motion.report is not None
    held = [name for name, value in zip(motion.actuators, motion.values[-1], strict=True) if abs(value) > 0.2 - 1e-9]
    assert held
    assert dict(motion.report.short)[FRAMES - 1].endswith(f"at its limit: {', '.join(held)}")
    free = retarget(robot, clip, Settings(joint_limits=False))
    assert free.report is not None
    assert "at its limit" not in " ".join(why for _, why in free.report.short)


def test_a_jump_is_a_step_of_a_fifth_of_a_radian_in_a_120th_of_a_second() -> None:
    robot = curl(6, 3.0)
    for wanted, times in ((0.19, 1 / 120), (0.21, 1 / 120), (0.41, 1 / 60), (0.39, 1 / 60)):
        values = np.array([0.0, 0.0, wanted, wanted])
        clip = TargetClip(np.arange(4) * times, {}, objectives=(Posture("hinge2", values),))
        motion = retarget(robot, clip, Settings(state_weight=1e-12))
        assert motion.report is not None
        expected = [2] if wanted / times > 24.0 else []
        assert motion.report.jumping.tolist() == expected, wanted


def test_frames_come_in_chunks_and_a_motion_when_all_are_done(walker: Mechanism) -> None:
    clip = TargetClip(TIMES, {"foot_l": moved(walker, "foot_l", 0.01, 0.0)})
    work = Retargeting(walker, clip)
    steps = work.steps()
    assert next(steps) == CHUNK
    with pytest.raises(ClipError, match=f"only {CHUNK} of {FRAMES} frames are solved"):
        work.motion()
    assert list(steps)[-1] == FRAMES
    motion = work.motion()
    assert motion.report is not None
    assert (motion.report.milliseconds > 0.0).all()


def test_quick_frames_come_in_long_chunks_and_slow_ones_in_short_ones(
    walker: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a program can stop soon, and quick frames do not wait for it."""
    times = np.arange(400) / 60
    foot = Track(np.tile(walker.rest_pose("foot_l").position, (400, 1)))
    work = Retargeting(walker, TargetClip(times, {"foot_l": foot}))
    took = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]  # s for each chunk
    clock = iter([time for k, seconds in enumerate(took) for time in (k, k + seconds)])
    monkeypatch.setattr(import_module("robik.retargeting.retarget"), "perf_counter", lambda: next(clock))
    done = np.array(list(work.steps()))
    assert np.diff([0, *done]).tolist() == [16, 32, 64, 128, 64, 32, 16, 16, 16, 16]


def test_frames_solved_in_one_call_share_its_processor_time_by_their_iterations(
    walker: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Retargeting(walker, TargetClip(TIMES, {"foot_l": moved(walker, "foot_l", 0.01, 0.0)}))
    clock = iter(range(1000))  # each reading a second later
    monkeypatch.setattr(import_module("robik.retargeting.solved"), "cpu_seconds", lambda: next(clock))
    report = work.run().report
    assert report is not None
    first, steps = report.milliseconds[:CHUNK], report.iterations[:CHUNK]
    assert first.sum() == pytest.approx(1e3)
    assert len(set(steps.tolist())) > 1
    assert first == pytest.approx(1e3 * (1 + steps) / (1 + steps).sum())


def test_a_frame_in_which_contacts_change_is_timed_by_itself() -> None:
    robot = robots.load("walker")
    clip = walk_clip(robot, 30.0, balanced=False)
    work = Retargeting(robot, clip, replace(NAIVE, contacts="hold"))
    spans, solve = [], work.solver.solve

    def noted(output: Output, start: int, stop: int, targets: ClipTargets) -> None:
        spans.append((start, stop))
        solve(output, start, stop, targets)

    work.solver.solve = noted
    work.run()
    stands = np.array([track.contact for track in clip.tracks.values() if track.contact is not None])
    changes = 1 + np.flatnonzero((stands[:, 1:] != stands[:, :-1]).any(axis=0))
    assert len(changes) >= 12
    assert {(k, k + 1) for k in changes.tolist()} <= set(spans)


@pytest.mark.parametrize(
    ("clip", "settings", "said"),
    [
        (TargetClip(TIMES, {}), Settings(), "the clip has no targets"),
        (
            TargetClip(TIMES, {}, objectives=(Posture("hinge2", np.zeros(FRAMES)),)),
            Settings(objectives={"other": 1.0}),
            "weights for other, which the clip does not ask for; it asks for",
        ),
    ],
)
def test_nothing_to_follow_and_weights_of_nothing_are_refused(clip: TargetClip, settings: Settings, said: str) -> None:
    with pytest.raises(ClipError, match=said):
        retarget(curl(6, 1.0), clip, settings)
