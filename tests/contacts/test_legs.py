"""Legs without a hinge to roll their soles: known by their motions, and held so that the hips can sway."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import Motion, Settings, TargetClip, Track, robots
from robik.bake.adjusting import Bench
from robik.bake.draft import Draft
from robik.bake.planned import Planned
from robik.bake.rolled_soles import RolledSoles, _faded
from robik.bake.settings import OFF, Balance
from robik.feet.contact import hold_of
from robik.feet.legs import can_turn, turns_freely
from robik.ik.standing import FlatSolver, StandingSolver
from robik.kinematics.frames import frame_poses
from robik.mechanism import Body, Frame, Joint, Mechanism, Pose
from robik.objectives.weights import Weights
from robik.retargeting.retarget import Retargeting, retarget
from robik.steps import finish

SOLE = ((-0.1, -0.03, -0.05), (0.15, -0.03, -0.05), (0.15, 0.03, -0.05), (-0.1, 0.03, -0.05))
HIP, THIGH, SHIN = 0.1, 0.4, 0.4  # m
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SAMPLES = 60


def biped(rolls: bool) -> Mechanism:
    """A pelvis on two legs with hinges at hips (three), knees, and ankles: one across, and one along if it `rolls`."""
    bodies, joints, frames = [Body("pelvis", 5.0, pose=Pose((0.0, 0.0, THIGH + SHIN)))], [], []
    for side, y in (("l", HIP), ("r", -HIP)):
        above = "pelvis"
        parts = [("yaw", Z, THIGH + SHIN), ("roll", X, THIGH + SHIN), ("thigh", Y, THIGH + SHIN), ("shin", Y, SHIN)]
        parts += [("ankle", Y, 0.0)] + [("foot", X, 0.0)] * rolls
        for part, axis, z in parts:
            name = f"{part}_{side}"
            bodies.append(Body(name, 0.5, pose=Pose((0.0, y, z))))
            limits = (0.0, 2.0) if part == "shin" else (-1.5, 1.5)
            joints.append(
                Joint(f"to {name}", "revolute", above, name, position=(0.0, y, z), axis=axis, limits=(limits,),
                      actuated=True)
            )  # fmt: skip
            above = name
        frames.append(Frame(f"sole_{side}", above, Pose(), SOLE))
    return Mechanism("biped", tuple(bodies), tuple(joints), frames=tuple(frames))


@pytest.mark.parametrize("rolls", [True, False])
def test_which_turns_a_leg_has_is_known_from_its_hinges(rolls: bool) -> None:
    robot, middle = biped(rolls), np.mean(SOLE, axis=0)
    assert turns_freely(robot, "sole_l") == rolls
    assert can_turn(robot, "sole_l", middle, np.array(X)) == rolls
    assert can_turn(robot, "sole_l", middle, np.array(Y)), "hip, knee and ankle"
    assert can_turn(robot, "sole_l", middle, np.array(Z)) == rolls, "a leg that is aslant yaws and rolls together"
    hold = hold_of(robot, "sole_l", True)
    assert (hold.joint.type, hold.rolls) == (("fixed", False) if rolls else ("revolute", True))
    assert not hold_of(robot, "sole_l", True, may_roll=False).rolls


def with_rods(robot: Mechanism) -> Mechanism:
    """The same legs, each knee driven through a parallelogram: a crank on the thigh, and a rod to the shin."""
    bodies, joints = list(robot.bodies), []
    for joint in robot.joints:
        side = joint.name[-1]
        if joint.name != f"to shin_{side}":
            joints.append(joint)
            continue
        joints.append(replace(joint, actuated=False))
        y, high, ahead = joint.position[1], THIGH + SHIN, 0.05
        bodies += [Body(f"crank_{side}", 0.1, pose=Pose((0.0, y, high))),
                   Body(f"rod_{side}", 0.1, pose=Pose((ahead, y, high)))]  # fmt: skip
        ways = [(f"thigh_{side}", f"crank_{side}", (0.0, y, high)), (f"crank_{side}", f"rod_{side}", (ahead, y, high)),
                (f"rod_{side}", f"shin_{side}", (ahead, y, SHIN))]  # fmt: skip
        for k, (above, below, place) in enumerate(ways):
            joints.append(Joint(f"{above} {below}", "revolute", above, below, position=place, axis=Y, actuated=k == 0))
    return replace(robot, bodies=tuple(bodies), joints=tuple(joints))


@pytest.mark.parametrize("rolls", [True, False])
def test_which_turns_a_leg_with_a_loop_has_is_known_from_its_motors(rolls: bool) -> None:
    robot, middle = with_rods(biped(rolls)), np.mean(SOLE, axis=0)
    for side in "lr":
        assert can_turn(robot, f"sole_{side}", middle, np.array(X)) == rolls
        assert can_turn(robot, f"sole_{side}", middle, np.array(Y)), "hip, knee and ankle"
    assert hold_of(robot, "sole_r", True).rolls != rolls


def test_legs_without_a_yaw_do_not_roll_instead() -> None:
    robot = biped(True)
    stiff = tuple(replace(joint, type="fixed", motions=(), limits=(), rest=(), actuated=False)
                  if "yaw" in joint.name else joint for joint in robot.joints)  # fmt: skip
    robot = robot.with_changes(joints=stiff)
    assert not turns_freely(robot, "sole_l")
    assert hold_of(robot, "sole_l", True).joint.type == "fixed"


def test_legs_with_loops_lay_their_soles_flat() -> None:
    assert hold_of(robots.load("walker"), "foot_l", True).joint.type == "fixed"


def swaying(robot: Mechanism) -> TargetClip:
    """Bent knees, both soles on the ground, and hips that sway by 40 mm."""
    sway = 0.04 * np.sin(np.linspace(0.0, 2.0 * np.pi, SAMPLES))
    down = 0.05 * np.minimum(1.0, np.arange(SAMPLES) / 10)
    level = np.tile([1.0, 0.0, 0.0, 0.0], (SAMPLES, 1))
    stands = np.ones(SAMPLES, bool)
    tracks = {
        name: Track(np.tile(robot.rest_pose(name).position, (SAMPLES, 1)), level, contact=stands)
        for name in ("sole_l", "sole_r")
    }
    hips = np.array(robot.rest_pose("pelvis").position) + np.column_stack([0.0 * sway, sway, -down])
    return TargetClip(np.arange(SAMPLES) / 60, {"pelvis": Track(hips, level), **tracks})


def hips_off(formulation: type[StandingSolver]) -> tuple[float, np.ndarray, np.ndarray]:
    """How far the hips are off at most [m], and the middles and lengths (T, 3) of a sole, on soles held so."""
    robot = biped(False)
    weak = {name: Weights(orientation=(0.005, 0.005, 0.005)) for name in ("sole_l", "sole_r")}  # as Auto-Map gives
    solving = Retargeting(robot, swaying(robot), Settings(state_weight=None, targets=weak), formulation)
    for _ in solving.steps():
        pass
    motion = solving.motion()
    x, R = frame_poses(robot, "sole_l", motion.position, motion.quaternion)
    return float(np.nanmax(motion.report.position_error[:, 0])), x + R @ np.mean(SOLE, axis=0), R[:, :, 0]


def test_hips_sway_over_soles_that_roll_by_little() -> None:
    flat, _, _ = hips_off(FlatSolver)
    off, middle, along = hips_off(StandingSolver)
    assert flat > 0.03, "flat soles keep the hips from swaying"
    assert off < 0.5 * flat
    assert middle == pytest.approx(np.tile(middle[0], (SAMPLES, 1)), abs=1e-9), "the sole's middle stays"
    assert along == pytest.approx(np.tile(X, (SAMPLES, 1)), abs=1e-9), "and its length"


def heights(robot: Mechanism, motion: Motion) -> np.ndarray:
    """Heights of all corners of both soles over the ground (T, 8) [m]."""
    assert motion.position is not None and motion.quaternion is not None
    poses = [frame_poses(robot, name, motion.position, motion.quaternion) for name in ("sole_l", "sole_r")]
    return np.concatenate([(x[:, None] + np.array(SOLE) @ np.swapaxes(R, 1, 2))[..., 2] for x, R in poses], axis=1)


@pytest.mark.parametrize("is_carried", [False, True])
def test_soles_that_roll_stand_on_their_edges_and_not_in_the_ground(is_carried: bool) -> None:
    robot = biped(False)
    weak = {name: Weights(orientation=(0.005, 0.005, 0.005)) for name in ("sole_l", "sole_r")}
    settings, clip = Settings(state_weight=None, targets=weak), swaying(robot)
    up = np.zeros(SAMPLES)
    if is_carried:  # by a platform that goes up and turns
        up, turn = 0.05 * np.arange(SAMPLES) / 60, Rotation.from_rotvec(np.outer(np.arange(SAMPLES) / 240, Z))
        clip = carried(clip, up, turn)
    ground = heights(robot, retarget(robot, clip, settings)) - up[:, None]
    assert ground[0].min() > -0.0501 and ground.min() < -0.051, "held by their middles, edges go down"
    risen = on_rolled_soles(robot, clip, settings)
    motion = retarget(robot, risen, settings)
    above = heights(robot, motion) - up[:, None] + 0.05
    assert above.min() > -1e-4, "no edge is in the ground"
    assert np.abs(np.minimum(above[:, :4].min(axis=1), above[:, 4:].min(axis=1))).max() < 3e-4, "and each foot touches"
    assert above.max() > 0.002, "the other edge is in the air"
    assert motion.report.quality.contact_off_mm < 1e-6


def on_rolled_soles(robot: Mechanism, clip: TargetClip, settings: Settings) -> TargetClip:
    planned = Planned(robot, Balance(mode=OFF))
    bench = Bench(robot, settings.frame_by_frame(), planned.solved)
    return planned(finish(bench.adjust(Draft(pinned=clip), [RolledSoles(planned)])))


def carried(clip: TargetClip, up: np.ndarray, turn: Rotation) -> TargetClip:
    """The clip on a platform that goes up (T,) [m] and turns about the vertical."""
    tracks = {}
    for name, track in clip.tracks.items():
        own = Rotation.from_quat(track.quaternion[:, [1, 2, 3, 0]])
        tracks[name] = Track(
            turn.apply(track.position) + np.outer(up, Z), (turn * own).as_quat()[:, [3, 0, 1, 2]], track.contact,
            ground_position=None if track.contact is None else np.outer(up, Z),
            ground_quaternion=None if track.contact is None else turn.as_quat()[:, [3, 0, 1, 2]],
        )  # fmt: skip
    return TargetClip(clip.times, tracks)


@pytest.mark.parametrize("rolls", [True, False])
def test_soles_that_lie_flat_are_left_as_they_are(rolls: bool) -> None:
    robot = biped(rolls)
    clip = swaying(robot)
    if not rolls:  # nothing sways
        clip = replace(clip, tracks={name: clip.tracks[name] for name in ("sole_l", "sole_r")})
    found = on_rolled_soles(robot, clip, Settings(state_weight=None))
    for name, track in clip.tracks.items():
        assert np.array_equal(found.tracks[name].position, track.position)
        assert found.tracks[name].ground_position is None


def test_a_roll_fades_in_and_out_again_in_a_swing_of_feet() -> None:
    """By 3u² − 2u³, with u from 1 to 0 in 0.3 s from the edge of a contact on."""
    times = 0.1 * np.arange(16)
    stands = (times < 0.35) | (times > 1.15)
    stands[0] = False  # a swing from before the clip
    roll = np.where(stands, 0.2, 7.0)  # in a swing it means nothing
    roll[12:] = -0.1
    fade = np.array([20.0, 7.0, 0.0]) / 27.0  # at u of 2/3, 1/3 and 0
    found = _faded(times, stands, roll)
    expected = [0.2 * fade[0], 0.2, 0.2, 0.2, *(0.2 * fade), 0.0, 0.0, *(-0.1 * fade[::-1]), -0.1, -0.1, -0.1, -0.1]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(_faded(times[:12], stands[:12], roll[:12])[9:], 0.0, atol=1e-12)
    short, third = np.array([True, False, False]), np.full(3, 0.2)
    np.testing.assert_allclose(_faded(times[:3], short, third), [0.2, *(0.2 * fade[:2])], atol=1e-12)
    np.testing.assert_allclose(_faded(times[:3], short[::-1], third), [*(0.2 * fade[1::-1]), 0.2], atol=1e-12)


def test_feet_stay_held_on_what_moves_while_a_hold_is_out_of_reach() -> None:
    robot = biped(True)
    up = 0.05 * np.arange(SAMPLES) / 60
    clip = carried(swaying(robot), up, Rotation.identity(SAMPLES))
    hips = clip.tracks["pelvis"]
    late = np.arange(SAMPLES) >= SAMPLES // 2
    high = np.tile(hips.position[0] + [0.0, 0.0, 0.3], (SAMPLES, 1))  # above where legs reach
    clip = replace(
        clip,
        tracks={
            **clip.tracks,
            "pelvis": replace(hips, position=np.where(late[:, None], high, hips.position), contact=late),
        },
    )
    motion = retarget(robot, clip, Settings(state_weight=None))
    assert motion.report.quality.contact_off_mm > 100.0, "the hips' hold is out of reach"
    above = heights(robot, motion) - up[:, None] + 0.05
    assert np.abs(above).max() < 1e-8, "both feet lie flat on what carries them"
