"""Rooms of solvers: lent from one to the next, and as good as new each time."""

import gc
import pickle
from dataclasses import replace

import numpy as np

from robik import WORLD, Distance, LookAt, Settings, TargetClip, Track, retarget
from robik.bench.walking import walk_clip
from robik.ik.solver import Solver
from robik.mechanism import Mechanism
from robik.robots import load

HELD = Settings(contacts="hold")


def walk(robot: Mechanism, seconds: float) -> TargetClip:
    """Return the first steps of a walk on feet that are held."""
    clip = walk_clip(robot, 60.0, balanced=False)
    clip = clip.part(0, round(60.0 * seconds))
    low = {name: track.position[:, 2] for name, track in clip.tracks.items() if name.startswith("foot")}
    stands = {name: height < height.min() + 1e-3 for name, height in low.items()}
    return replace(clip, tracks={n: replace(t, contact=stands.get(n)) for n, t in clip.tracks.items()})


def narrowed(robot: Mechanism, clip: TargetClip) -> Settings:
    """Return settings that keep the motor that moves most from half of its way."""
    values = retarget(pickle.loads(pickle.dumps(robot)), clip, HELD).values
    most = int(np.ptp(values, axis=0).argmax())
    low, high = values[:, most].min(), values[:, most].max()
    return replace(HELD, ranges={robot.actuators[most]: (low - 1.0, 0.5 * (low + high))}, posture=0.1)


def test_a_motion_does_not_depend_on_what_was_solved_in_the_room_before():
    used, fresh = load("walker"), pickle.loads(pickle.dumps(load("walker")))
    clip = walk(used, 1.0)
    retarget(used, clip, narrowed(used, clip))
    gc.collect()
    again, first = retarget(used, clip, HELD), retarget(fresh, clip, HELD)
    assert (again.values == first.values).all() and (again.position == first.position).all()
    assert (again.report.iterations == first.report.iterations).all() and again.report.short == first.report.short


def test_objectives_of_a_clip_are_its_own():
    robot, fresh = load("ur10"), load("ur10")
    times = np.arange(24) / 24.0
    pose = robot.rest_pose("tool")
    place = pose.position + 0.05 * np.stack([np.sin(3 * times), 0 * times, 1 - np.cos(3 * times)], axis=1)
    asked = [
        (LookAt("tool", place + np.array(off), None, axis), Distance(frame="tool", other=WORLD, distance=length))
        for off, axis, length in (
            ((0.5, 0.0, 0.0), (1.0, 0.0, 0.0), np.full(24, 0.9)),
            ((0.0, 0.5, 0.0), (0.0, 0.0, 1.0), np.full(24, 0.7)),
            ((0.1, 0.5, 0.2), (0.0, 0.0, 1.0), np.full(24, 0.8)),
        )
    ]
    clips = [TargetClip(times, {"tool": Track(place)}, objectives=objectives) for objectives in asked]
    weighed = replace(Settings(), objectives={asked[0][0].key: 3.0})
    for clip, settings in zip(clips, (weighed, Settings(), Settings()), strict=True):
        used = retarget(robot, clip, settings)
        assert (used.values == retarget(pickle.loads(pickle.dumps(fresh)), clip, settings).values).all()


def test_a_room_is_lent_to_one_solver_at_a_time():
    robot = load("ur10")
    one = Solver(robot, ("tool",), Settings())
    other = Solver(robot, ("tool",), Settings())
    assert other._work is not one._work
    lent = one._work
    lent.H[:] = 7.0
    del one
    gc.collect()
    after = Solver(robot, ("tool",), Settings())
    assert after._work is lent and not lent.H.any() and (after.flat.upper == other.flat.upper).all()


def test_a_solver_with_other_frames_or_hold_has_a_room_of_its_own():
    robot = load("walker")
    sizes = [
        len(Solver(robot, names, Settings())._tables.frame_pose.body) for names in (("pelvis",), ("pelvis", "foot_l"))
    ]
    assert sizes == [1, 2]
    assert len(Solver(robot, ("pelvis",), Settings(hold=0.05))._tables.hold.bound) > 0
    assert not len(Solver(robot, ("pelvis",), Settings(hold=0.0))._tables.hold.bound)


def test_a_motion_keeps_its_poses_and_report_while_the_robot_goes_on():
    robot = load("walker")
    clip = walk(robot, 0.5)
    early, later = retarget(robot, clip, HELD), retarget(robot, clip, narrowed(robot, clip))
    fresh = retarget(pickle.loads(pickle.dumps(robot)), clip, HELD)
    assert np.abs(later.values - early.values).max() > 1e-3
    assert (early.position == fresh.position).all() and early.report.short == fresh.report.short
