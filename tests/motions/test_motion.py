"""The record of a motion: what it refuses, its base and passive coordinates as the solver has them, and resampling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experiments.baking.clips import walker_clip
from robik import robots
from robik.bench.clips import boxer_clip
from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError
from robik.kinematics.joint_places import joint_places
from robik.mechanism import Body, Frame, Joint, Mechanism, Pose
from robik.motions import BaseTrack, Motion
from robik.motions.posing import posed
from robik.motions.resampling import resampled
from robik.retargeting.retarget import Retargeting, retarget

UPRIGHT = [[1.0, 0.0, 0.0, 0.0]] * 2
GROUND = [[0.0, 0.0, 0.0]] * 2


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"times": []}, "at least one time"),
        ({"times": [0.0, np.nan]}, "times and values must be finite; the time of sample 1 is not"),
        ({"times": [1.0, 1.0]}, "times must increase; sample 1 at 1 s follows 1 s"),
        ({"values": [[0.0, 1.0]]}, r"must have the shape \(2, 2\), not \(1, 2\)"),
        ({"values": [[0.0, 1.0], [np.inf, 2.0]]}, "finite; sample 1 of 'a' is not"),
        ({"actuators": ("a", "a")}, "one column per actuator; 'a' is there twice"),
        ({"passive": {"rod": [0.0]}}, "passive coordinate 'rod' must have 2 finite numbers"),
        ({"passive": {"rod": [0.0, np.nan]}}, "passive coordinate 'rod' must have 2 finite numbers"),
    ],
)
def test_a_motion_that_cannot_be(fields: dict, words: str) -> None:
    with pytest.raises(ClipError, match=words):
        Motion(**{"times": [0.0, 1.0], "actuators": ("a", "b"), "values": np.zeros((2, 2))} | fields)


@pytest.mark.parametrize(
    ("position", "quaternion", "words"),
    [
        ([[0.0, 0.0]] * 2, UPRIGHT, r"position must have 3 numbers per sample, not the shape \(2, 2\)"),
        (GROUND, [[1.0, 0.0, 0.0]] * 2, "quaternion must have 4 numbers per sample"),
        ([[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]], UPRIGHT, "position must be finite; sample 1 is not"),
        (GROUND, [[1.0, 0.0, 0.0, 0.0], [np.inf, 0.0, 0.0, 0.0]], "quaternion must be finite; sample 1 is not"),
        (GROUND[:1], UPRIGHT, "1 positions, but 2 quaternions"),
        (GROUND, [[1.0, 0.0, 0.0, 0.0], [1.002, 0.0, 0.0, 0.0]], "length 1; sample 1 has 1.002"),
    ],
)
def test_a_base_that_cannot_be(position: list, quaternion: list, words: str) -> None:
    with pytest.raises(ClipError, match=words):
        BaseTrack(body="pelvis", position=position, quaternion=quaternion)


def test_a_base_is_made_unit_and_cannot_be_written_to() -> None:
    rounded = np.array([[0.9995, 0.0, 0.0, 0.0], [0.0, 1.0005, 0.0, 0.0]])
    base = BaseTrack(body="pelvis", position=GROUND, quaternion=rounded)
    assert base.quaternion.tolist() == [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    assert rounded[0, 0] == 0.9995, "the caller's own"
    with pytest.raises(ValueError, match="read-only"):
        base.position[0, 0] = 1.0


def test_a_base_of_other_length_than_its_motion() -> None:
    base = BaseTrack(body="pelvis", position=GROUND, quaternion=UPRIGHT)
    with pytest.raises(ClipError, match="the base has 2 samples where the motion has 1"):
        Motion(times=[0.0], actuators=(), values=np.zeros((1, 0)), base=base)


def test_the_walker_comes_with_its_base_and_its_passive_joints() -> None:
    walker = robots.load("walker")
    motion = retarget(walker, walker_clip(walker, 30.0))
    assert (
        motion.base is not None
        and motion.passive is not None
        and motion.position is not None
        and motion.quaternion is not None
    )
    torso = walker.body_index[motion.base.body]
    assert np.ptp(motion.base.position, axis=0).max() > 0.05, "it walks"
    np.testing.assert_array_equal(motion.base.position, motion.position[:, torso])
    np.testing.assert_allclose(motion.base.quaternion, motion.quaternion[:, torso], rtol=0, atol=1e-15)
    assert list(motion.passive) == [j.name for j in walker.joints if not j.actuated]
    for sample in (0, 17, 59):
        places = joint_places(walker, motion.position[sample], motion.quaternion[sample])
        for place in places:
            if not place.joint.actuated:
                assert motion.passive[place.joint.name][sample] == pytest.approx(place.values[0], abs=1e-9)
    assert max(np.ptp(column) for column in motion.passive.values()) > 0.1, "and they turn"


def test_a_grounded_robot_has_no_base() -> None:
    boxer = robots.load("boxer")
    motion = retarget(boxer, boxer_clip(boxer, 30.0))
    assert motion.base is None
    assert motion.passive == {}


def test_a_free_joint_is_the_base_and_no_passive_joint() -> None:
    """Its body's frame is turned and away from its centre of mass; a ball below it is passive."""
    turned = Pose((0.3, -0.2, 1.0), (0.5, 0.5, 0.5, 0.5))
    bodies = (Body("block", 1.0, com=(0.1, 0.0, 0.2), pose=turned), Body("bob", 1.0, pose=Pose((0.3, -0.2, 0.5))))
    joints = (
        Joint("float", "free", "world", "block"),
        Joint("neck", "spherical", "block", "bob", position=(0.3, -0.2, 0.8)),
    )
    robot = Mechanism("pendulum", bodies, joints, frames=(Frame("tip", "bob", Pose((0.0, 0.0, -0.1))),))
    times = np.arange(20) / 30
    angles = np.stack([0.5 * np.sin(4 * times), 0.3 * times, 0.2 * np.cos(3 * times)], axis=1)
    place = np.array(robot.rest_pose("block").position) + np.outer(times, [0.5, 0.0, 0.1])
    own = Rotation.from_quat([0.5, 0.5, 0.5, 0.5])  # xyzw alike
    turns = (Rotation.from_rotvec(angles) * own).as_quat()[:, [3, 0, 1, 2]]
    bob = Rotation.from_rotvec(2.0 * angles)
    tracks = {"block": Track(place, turns), "bob": Track(None, bob.as_quat()[:, [3, 0, 1, 2]])}
    motion = retarget(robot, TargetClip(times, tracks))
    assert motion.base is not None and motion.passive is not None
    assert motion.base.body == "block"
    np.testing.assert_allclose(motion.base.position, place, rtol=0, atol=1e-7)  # as far as the solver goes
    np.testing.assert_allclose(np.abs((motion.base.quaternion * turns).sum(axis=1)), 1.0, rtol=0, atol=1e-12)
    relative = (Rotation.from_rotvec(angles).inv() * bob).as_rotvec()
    assert list(motion.passive) == ["neck.rx", "neck.ry", "neck.rz"]
    frame = np.array(robot.joints[1].matrix)
    np.testing.assert_allclose(np.stack(list(motion.passive.values()), axis=1), relative @ frame, rtol=0, atol=1e-6)


def test_other_values_have_another_base_and_no_passive_coordinates() -> None:
    walker = robots.load("walker")
    work = Retargeting(walker, walker_clip(walker, 30.0).part(0, 5))
    for _ in work.steps():
        pass
    motion = work.motion()
    assert motion.base is not None
    remade = work.remade(
        motion, motion.values, (motion.base.position + np.array([0.0, 0.0, 1.0]), motion.base.quaternion)
    )
    assert remade.base is not None and remade.position is not None
    np.testing.assert_allclose(
        remade.base.position - motion.base.position, np.tile([0.0, 0.0, 1.0], (5, 1)), rtol=0, atol=1e-9
    )
    assert remade.passive is None


def test_forward_kinematics_goes_where_the_base_is() -> None:
    walker = robots.load("walker")
    solved = retarget(walker, walker_clip(walker, 30.0))
    shuffled = np.random.default_rng(0).permutation(len(solved.actuators))
    kept = Motion(
        times=solved.times,
        actuators=tuple(solved.actuators[k] for k in shuffled),
        values=solved.values[:, shuffled],
        base=solved.base,
    )
    assert kept.base is not None and solved.position is not None and solved.quaternion is not None
    for body in (kept.base.body, ""):
        motion, residual = posed(walker, replace(kept, base=replace(kept.base, body=body)))
        assert motion.position is not None and motion.quaternion is not None and motion.com is not None
        np.testing.assert_allclose(motion.position, solved.position, rtol=0, atol=1e-8)
        np.testing.assert_allclose(np.abs((motion.quaternion * solved.quaternion).sum(axis=2)), 1.0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(motion.com, solved.com, rtol=0, atol=1e-8)
        assert residual.max() < 1e-9
    resting, _ = posed(walker, replace(kept, base=None))
    assert resting.position is not None
    torso = walker.body_index[kept.base.body]
    np.testing.assert_allclose(
        resting.position[:, torso], np.tile(walker.bodies[torso].pose.position, (60, 1)), rtol=0, atol=1e-9
    )
    with pytest.raises(ClipError, match=r"^m\.csv has the base 'foot', but robot 'walker' floats by its body 'torso'$"):
        posed(walker, replace(kept, base=replace(kept.base, body="foot")), "m.csv")


def test_a_grounded_robot_ignores_a_base() -> None:
    boxer = robots.load("boxer")
    rest = np.array([[v for joint in boxer.actuated for v in joint.rest]])
    base = BaseTrack(body="elsewhere", position=[[9.0, 9.0, 9.0]], quaternion=UPRIGHT[:1])
    motion, _ = posed(boxer, Motion(times=[0.0], actuators=boxer.actuators, values=rest, base=base))
    assert motion.position is not None
    np.testing.assert_allclose(motion.position[0], [b.pose.position for b in boxer.bodies], rtol=0, atol=1e-9)


def test_resampling() -> None:
    """Values and base that move evenly stay so; a quaternion of the other sign is the same orientation."""
    times = np.array([1.0, 1.3, 1.35, 2.02])
    speed = np.array([0.4, -1.2, 2.0])
    turn = Rotation.from_rotvec(np.outer(times - 1.0, [0.0, 0.0, 1.5]))
    quaternion = turn.as_quat()[:, [3, 0, 1, 2]] * np.array([1.0, -1.0, 1.0, 1.0])[:, None]
    base = BaseTrack(body="pelvis", position=np.outer(times, speed), quaternion=quaternion)
    motion = Motion(
        times=times, actuators=("a", "b"), values=np.outer(times, [3.0, -1.0]), base=base, passive={"rod": 5.0 * times}
    )
    again = resampled(motion, 50.0)
    assert again.base is not None and again.passive is not None
    np.testing.assert_allclose(again.times, 1.0 + np.arange(52) / 50, rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.values, np.outer(again.times, [3.0, -1.0]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.base.position, np.outer(again.times, speed), rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.passive["rod"], 5.0 * again.times, rtol=0, atol=1e-12)
    half = 0.75 * (again.times - 1.0)
    np.testing.assert_allclose(
        again.base.quaternion, np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1), atol=1e-12
    )
    assert again.base.body == "pelvis"


def test_resampling_keeps_the_last_sample_where_it_falls_on_one() -> None:
    times = np.arange(25) / 24
    motion = Motion(times=times, actuators=(), values=np.zeros((25, 0)))
    assert len(resampled(motion, 48.0).times) == 49
    assert resampled(motion, 24.0).times == pytest.approx(times, abs=1e-12)
    still = BaseTrack(body="", position=GROUND[:1], quaternion=UPRIGHT[:1])
    one = resampled(Motion(times=[2.0], actuators=("a",), values=[[1.0]], base=still), 100.0)
    assert (one.times.tolist(), one.values.tolist()) == ([2.0], [[1.0]])
    for rate in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ClipError, match="rate must be a positive number of samples per second"):
            resampled(motion, rate)
