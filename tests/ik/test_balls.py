"""Limits of balls: cones, largest turns and speeds hold in every frame, in loops too, and cost no more than need be."""

from __future__ import annotations

from dataclasses import replace
from math import inf, pi
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import load
from robik.clips.clip import TargetClip, Track
from robik.errors import ClipError, MechanismError
from robik.formats import load_robot, save_robot
from robik.ik.ball_steps import held_balls
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.mechanism.parts import ball_angles
from robik.mechanism.topology import build_topology, limited_topology
from robik.motions.motion import Motion
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from robik.tracking.state_based import StateBasedTracker
from robik.tracking.targets import Target, Targets
from tests.ik.balls import arm, biped, flying, hostile, relative_turns, tilts, tripod

KEPT = 1e-9  # rad
CLOSED = 1e-10  # m


def led(robot: Mechanism, settings: Settings, seed: int, fps: float, size: float = 0.4, turn: float = 1.0) -> Motion:
    """The motion after a track that jumps about."""
    clip = TargetClip(np.arange(180) / fps, {"tip": hostile(robot, 180, seed, size, turn)})
    return retarget(robot, clip, settings)


def rod(cone: float, rest: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Mechanism:
    """A rod of 1 m along a ball's axis, on the world."""
    turned = Rotation.from_rotvec(rest)
    quaternion = tuple(turned.as_quat()[[3, 0, 1, 2]].tolist())
    axes = turned.as_matrix()
    ball = Joint(
        "ball", "spherical", WORLD, "rod", axis=tuple(axes[:, 0]), axis2=tuple(axes[:, 1]), actuated=True, cone=cone,
        rest=rest,
    )  # fmt: skip
    body = Body("rod", 1.0, com=(0.5, 0.0, 0.0), pose=Pose((0.0, 0.0, 0.0), quaternion))
    return Mechanism("rod", (body,), (ball,), frames=(Frame("tip", "rod", Pose((1.0, 0.0, 0.0))),))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fps", [60.0, 1200.0])
def test_cones_hold_whatever_the_targets_ask_for(seed: int, fps: float) -> None:
    motion = led(arm(cone=0.6), Settings(), seed, fps)
    for name in ("shoulder", "wrist"):
        found = tilts(relative_turns(arm(), motion, name))
        assert 0.6 - 1e-6 < found.max() <= 0.6 + KEPT, name
    free = led(arm(), Settings(), seed, fps)
    assert tilts(relative_turns(arm(), free, "wrist")).max() > 0.8  # so that there was something to hold


@pytest.mark.parametrize("seed", range(3))
def test_largest_turns_hold_too(seed: int) -> None:
    motion = led(arm(turn_limit=0.8), Settings(), seed, 60.0)
    for name in ("shoulder", "wrist"):
        assert 0.8 - 1e-6 < relative_turns(arm(), motion, name).magnitude().max() <= 0.8 + KEPT, name


def test_speeds_of_driven_balls_are_held_frame_by_frame_where_that_is_asked() -> None:
    robot = arm()
    loose = robot.with_changes(joints=tuple(replace(j, actuated=j.name != "wrist") for j in robot.joints))
    asked = Settings(enforce_velocity=True)
    assert held_balls(robot, asked) == ("shoulder", "wrist")
    assert held_balls(loose, asked) == ("shoulder",), "nobody drives the other"
    for other in (Settings(), Settings(look_ahead=True), replace(asked, look_ahead=True)):
        assert held_balls(robot, other) == (), "not asked for, or all frames are solved at once"


def test_looking_ahead_says_that_it_does_not_keep_their_speed() -> None:
    ahead = Settings(enforce_velocity=True, look_ahead=True)
    with pytest.raises(ClipError, match=r"look_ahead does not keep the speed of a motor .* as that of 'shoulder'"):
        ahead.check(arm(speed=3.0))
    Settings(look_ahead=True).check(arm(speed=3.0))
    ahead.check(load("walker"))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fps", [60.0, 1200.0])
def test_actuated_balls_keep_their_speed(seed: int, fps: float) -> None:
    motion = led(arm(speed=3.0), Settings(enforce_velocity=True), seed, fps)
    for name in ("shoulder", "wrist"):
        turns = relative_turns(arm(), motion, name)
        fastest = float((turns[:-1].inv() * turns[1:]).magnitude().max() * fps)
        assert 0.999 * 3.0 < fastest <= 1.0005 * 3.0, name
    assert motion.report is not None
    assert not len(motion.report.too_fast)
    assert any("held back by the speed of shoulder" in why for _, why in motion.report.short)


@pytest.mark.parametrize(
    "joint",
    [
        {"type": "free"},
        {"type": "free", "rest": (0.1, 0.2, -0.1, 0.5, -0.4, 0.9), "axis": (0, 1, 0), "axis2": (1, 0, 1)},
        {"type": "general", "motions": ("tx", "tz", "rx", "ry", "rz")},
    ],
)
def test_motors_that_slide_and_turn_every_way_keep_their_speed(joint: dict) -> None:
    robot = flying(velocity_limit=1.5, **joint)
    times = np.arange(120) / 60.0
    spin = Rotation.from_rotvec(np.outer(np.pi * times, np.array([0.3, 0.5, 0.8])))
    way = np.stack([0.1 * np.sin(3.0 * times), 0.1 * np.cos(2.0 * times) - 0.1, 0.6 + 0.0 * times], axis=1)
    clip = TargetClip(times=times, tracks={"tip": Track(position=way, quaternion=spin.as_quat())})
    motion = retarget(robot, clip, Settings(enforce_velocity=True, state_weight=1e-7))
    turns = Rotation.from_rotvec(motion.values[:, -3:])
    assert 1.4999 < (turns[:-1].inv() * turns[1:]).magnitude().max() * 60.0 <= 1.5
    assert np.abs(np.diff(motion.values[:, :-3], axis=0)).max() * 60.0 <= 1.5 * 1.0005
    assert motion.report is not None
    assert motion.report.residual.max() < 1e-10
    assert not len(motion.report.too_fast)
    if joint["type"] == "free":  # the way itself is slow enough
        assert motion.report.position_error.max() < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_loops_stay_closed_while_their_balls_are_held(seed: int) -> None:
    """A plate on three legs with a cone at the top of each, and a driven ball on it."""
    robot = tripod(cone=0.15, speed=1.0)
    motion = led(robot, Settings(enforce_velocity=True), seed, 60.0, 0.1, 0.4)
    assert motion.report is not None
    assert motion.report.residual.max() <= CLOSED
    for name in ("neck", "top0", "top1", "top2"):
        assert tilts(relative_turns(robot, motion, name)).max() <= 0.15 + KEPT, name
    neck = relative_turns(robot, motion, "neck")
    assert (neck[:-1].inv() * neck[1:]).magnitude().max() * 60.0 <= 1.0005
    assert any("at its limit" in why and ".cone" in why for _, why in motion.report.short)


@pytest.mark.parametrize("rest", [(0.0, 0.0, 0.0), (0.2, 0.3, -0.1)])
def test_a_cone_ends_where_the_target_is_nearest(rest: tuple[float, float, float]) -> None:
    """Of a rod that is to point beyond its cone, the tip stands on the rim, in the plane of axis and target."""
    robot, cone, count = rod(0.5, rest), 0.5, 120
    around, tilt = np.linspace(0.0, 3 * pi, count), np.linspace(0.1, 1.4, count)
    target = np.stack([np.cos(tilt), np.sin(tilt) * np.cos(around), np.sin(tilt) * np.sin(around)], axis=1)
    settings = Settings(targets={"tip": Weights((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))}, state_weight=1e-9)
    motion = retarget(robot, TargetClip(np.arange(count) / 60.0, {"tip": Track(target)}), settings)
    held = np.minimum(tilt, cone)
    expected = np.stack([np.cos(held), np.sin(held) * np.cos(around), np.sin(held) * np.sin(around)], axis=1)
    turns = Rotation.from_quat(motion.quaternion[:, 0][:, [1, 2, 3, 0]])
    assert np.abs(turns.apply([1.0, 0.0, 0.0]) - expected).max() < 1e-6


def test_a_robot_whose_balls_are_free_is_laid_out_as_ever() -> None:
    """Limits of π and more hold nothing."""
    plain, wide = build_topology(arm()), limited_topology(arm(cone=pi, turn_limit=4.0))
    assert wide.flat.before.shape == plain.flat.before.shape
    assert wide.cuts == plain.cuts


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cone": 0.0}, "must be a positive angle"),
        ({"cone": -1.0}, "must be a positive angle"),
        ({"turn_limit": float("nan")}, "must be a positive angle"),
        ({"cone": 0.1, "rest": (0.0, 0.2, 0.0)}, "rests at 0.2 rad, outside its cone of 0.1 rad"),
        ({"turn_limit": 0.1, "rest": (0.2, 0.0, 0.0)}, "rests at 0.2 rad, outside its turn_limit of 0.1 rad"),
        ({"limits": ((-1.0, 1.0), (-inf, inf), (-inf, inf))}, "its turns are one rotation .* give a cone"),
    ],
)
def test_what_cannot_be_a_limit_is_refused(change: dict, said: str) -> None:
    with pytest.raises(MechanismError, match=said):
        Joint("ball", "spherical", WORLD, "rod", **change)


def test_only_a_ball_has_a_cone() -> None:
    with pytest.raises(MechanismError, match="only a ball without slides has a cone"):
        Joint("hinge", "revolute", WORLD, "rod", cone=0.3)


def test_angles_of_a_ball_are_those_of_its_rotation() -> None:
    vectors = np.random.default_rng(1).normal(size=(200, 3)) * 3.0
    turns = Rotation.from_rotvec(vectors)
    found = np.array([ball_angles(row) for row in vectors])
    assert np.abs(found - np.stack([tilts(turns), turns.magnitude()], axis=1)).max() < 1e-7
    assert ball_angles((2.0, 0.0, 0.0)) == (0.0, 2.0)


def test_a_live_tracker_keeps_the_cone_from_any_pose_it_is_put_to() -> None:
    robot = arm(cone=0.6)
    tracker = StateBasedTracker(robot)
    for start in (None, np.array([0.2, 0.3, 0.1, -0.5, 0.0, 0.1, 0.3])):
        tracker.reset(start)
        for _ in range(20):
            values = tracker.step(Targets(frames={"tip": Target(np.array([-0.4, 0.3, 0.2]))}), 1 / 60)
            assert max(ball_angles(values[:3])[0], ball_angles(values[4:])[0]) <= 0.6 + KEPT
        assert ball_angles(values[:3])[0] > 0.6 - 1e-6


CONED = """<mujoco><worldbody><body name="a"><joint name="ball" type="ball" range="0 45" axis="0 0 1"/>
<geom size="0.1" mass="1"/><body name="b" pos="0.2 0 0"><joint name="hinge" axis="0 1 0"/><geom size="0.1" mass="1"/>
</body></body></worldbody></mujoco>"""


def test_files_keep_the_limits_of_balls(tmp_path: Path) -> None:
    """MuJoCo's range of a ball is its largest turn; the native format has cones as well."""
    (tmp_path / "ball.xml").write_text(CONED)
    read = load_robot(tmp_path / "ball.xml")
    assert joint_of(read, "ball").turn_limit == pytest.approx(pi / 4)
    save_robot(read, tmp_path / "again.xml")
    assert joint_of(load_robot(tmp_path / "again.xml"), "ball").turn_limit == pytest.approx(pi / 4)
    save_robot(tripod(cone=0.15), tmp_path / "tripod.robik.json")
    assert load_robot(tmp_path / "tripod.robik.json") == tripod(cone=0.15)


def joint_of(robot: Mechanism, name: str) -> Joint:
    return next(joint for joint in robot.joints if joint.name == name)


@pytest.mark.parametrize("speed", [inf, 2.0])
def test_balls_of_a_robot_that_stands_and_steps_are_held_too(speed: float) -> None:
    """Its tree is another one for each set of contacts; the head sways far, and one foot steps meanwhile."""
    robot, frames = biped(cone=0.3, speed=speed), 120
    time = np.arange(frames) / 60.0
    head = np.array(robot.rest_pose("head").position) + 0.5 * np.sin(4.0 * time)[:, None] * [0.8, 0.5, 0.0]
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1))
    lifted = 0.1 * np.clip(np.sin(np.pi * (time - 0.7) / 0.6), 0.0, None) * ((time > 0.7) & (time < 1.3))
    tracks = {"head": Track(head, upright)}
    for name, height in (("foot_l", 0.0 * time), ("foot_r", lifted)):
        place = np.array(robot.rest_pose(name).position) + height[:, None] * [1.0, 0.0, 1.0]
        tracks[name] = Track(place, upright, contact=height == 0.0)
    motion = retarget(robot, TargetClip(time, tracks), Settings(enforce_velocity=speed < inf))
    assert motion.report is not None
    assert motion.report.residual.max() <= CLOSED
    for name in ("hip_l", "hip_r", "ankle_l", "ankle_r"):
        turns = relative_turns(robot, motion, name)
        assert tilts(turns).max() <= 0.3 + KEPT, name
        assert (turns[:-1].inv() * turns[1:]).magnitude().max() * 60.0 <= 1.0005 * speed, name
    assert max(tilts(relative_turns(robot, motion, name)).max() for name in ("hip_l", "ankle_r")) > 0.3 - 1e-6
    assert motion.report.quality.contact_off_mm is not None
