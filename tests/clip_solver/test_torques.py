"""Torques within limits over all frames at once, as MuJoCo and the balance of every single body count them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik.clip_solver import sections as of_clips
from robik.clip_solver.torques import TorqueLimits, Torques
from robik.clips.clip import TargetClip, Track
from robik.dynamics import InverseDynamics
from robik.errors import ClipError
from robik.kinematics.frames import frame_poses
from robik.mechanism.model import Mechanism
from robik.mechanism.motor_limits import named_efforts, torque_limits
from robik.motions import LookAhead, Motion
from robik.motions.posing import posed
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget
from robik.robots import load
from tests.clip_solver.clips import ARM, SPEEDS, lissajous, rms
from tests.dynamics.every_body import Balance, needed
from tests.dynamics.test_inverse import Tree

LIMITED = replace(SPEEDS, acceleration_limit=30.0, jerk_limit=1500.0, look_ahead=True)
HALF = {name: 0.5 * effort for name, effort in named_efforts(ARM).items()}
FOUR_BAR = load("four_bar")


def looked_ahead(motion: Motion) -> LookAhead:
    assert motion.report is not None
    assert motion.report.look_ahead is not None
    return motion.report.look_ahead


def rates(values: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations of what rests before and after, by differences over three samples."""
    resting = np.concatenate([values[:1], values, values[-1:]])
    return 0.5 * (resting[2:] - resting[:-2]) / step, np.diff(resting, 2, axis=0) / step**2


def arm_shares(motion: Motion, folder: Path) -> np.ndarray:
    """Return the torques of the arm's motors by MuJoCo, as shares of half their efforts."""
    tree = Tree(ARM, folder)
    at = [mujoco.mj_name2id(tree.model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in motion.actuators]
    order = tree.model.jnt_dofadr[at]
    velocity, acceleration = rates(motion.values, float(motion.times[1] - motion.times[0]))
    torques = np.zeros(motion.values.shape)
    for k in range(len(motion.times)):
        tree.data.qpos[order], tree.data.qvel[order] = motion.values[k], velocity[k]
        tree.data.qacc[order] = acceleration[k]
        mujoco.mj_inverse(tree.model, tree.data)
        torques[k] = tree.data.qfrc_inverse[order]
    return torques / torque_limits(ARM, HALF)


def stroke(angle: float, seconds: float, fps: float) -> TargetClip:
    """Return the path of the handle on the four-bar's crank, which swings from rest to rest."""
    t = np.arange(round(seconds * fps) + 1) / fps
    crank = FOUR_BAR.actuated[0].rest[0] + angle * np.sin(np.pi * t / t[-1]) ** 4
    motion, _ = posed(FOUR_BAR, Motion(times=t, actuators=FOUR_BAR.actuators, values=crank[:, None]))
    assert motion.position is not None
    assert motion.quaternion is not None
    return TargetClip(t, {"handle": Track(frame_poses(FOUR_BAR, "handle", motion.position, motion.quaternion)[0])})


def loop_torques(robot: Mechanism, motion: Motion) -> np.ndarray:
    """Return the torques of a looped robot's motors by the balance of every single body."""
    room = InverseDynamics(robot)
    q = room.coordinates(motion)
    velocity, acceleration = rates(q, float(motion.times[1] - motion.times[0]))
    return np.array(
        [
            Balance(room, q[k]).smallest_torques(needed(room, q[k], velocity[k], acceleration[k]).ravel())
            for k in range(len(q))
        ]
    )


def test_an_arm_keeps_its_torques_as_mujoco_counts_them(tmp_path: Path) -> None:
    clip = lissajous(2.0, 60.0, 2.0)
    free, held = retarget(ARM, clip, LIMITED), retarget(ARM, clip, replace(LIMITED, torque_limit=HALF))
    before, after = (np.abs(arm_shares(motion, tmp_path)[:-1]) for motion in (free, held))
    assert before.max() > 1.1
    assert 0.99 < after.max() <= 1.0005
    assert looked_ahead(held).beyond == ""
    assert looked_ahead(held).shares["torque"] == pytest.approx(after.max(), abs=1e-5)
    assert "torque" not in looked_ahead(free).shares
    assert rms(held) < 1.2 * rms(free)


def test_a_loop_keeps_its_torque_as_the_balance_of_every_body_counts_it() -> None:
    clip = stroke(0.8, 0.6, 60.0)
    settings = Settings(state_weight=None, look_ahead=True)
    free = retarget(FOUR_BAR, clip, settings)
    most = np.abs(loop_torques(FOUR_BAR, free)).max()
    held = retarget(FOUR_BAR, clip, replace(settings, torque_limit=0.6 * most))
    assert 0.58 * most < np.abs(loop_torques(FOUR_BAR, held)).max() <= 0.6005 * most
    assert looked_ahead(held).beyond == ""
    assert held.report is not None
    assert held.report.residual.max() <= 1e-9
    assert rms(held) < 0.01 * FOUR_BAR.extent


def test_torques_that_reach_no_limit_change_nothing() -> None:
    clip = lissajous(0.5, 60.0, 1.0)
    free = retarget(ARM, clip, LIMITED)
    held = retarget(ARM, clip, replace(LIMITED, torque_limit=named_efforts(ARM)))
    assert np.array_equal(free.values, held.values)
    assert 0.1 < looked_ahead(held).shares["torque"] < 1.0


def test_what_torque_cannot_be_kept_is_said_with_the_least_excess_and_its_place() -> None:
    """A motor cannot even hold an arm that may not be drawn in: other limits are kept, and the excess falls."""
    clip, weak = lissajous(1.0, 60.0, 1.0), {"shoulder_lift": 15.0}
    lying = {
        name: (rest - 0.3, rest + 0.3) for name, rest in (("shoulder_lift", 0.6), ("elbow", -1.4), ("upper_twist", 0.0))
    }
    reaching = replace(LIMITED, ranges=lying)
    free, held = retarget(ARM, clip, reaching), retarget(ARM, clip, replace(reaching, torque_limit=weak))
    said, room = looked_ahead(held), InverseDynamics(ARM)
    assert said.beyond.startswith("the torque of shoulder_lift is ")
    assert said.beyond.endswith(" s")
    assert said.shares["torque"] > 1.0
    assert said.shares["acceleration"] <= 1.0005
    assert said.shares["jerk"] <= 1.0005
    lift = ARM.actuators.index("shoulder_lift")
    over = [
        np.maximum(np.abs(room.solve(motion.times, q, *rates(q, 1 / 60)).torque[:, lift]) / 15.0 - 1.0, 0.0).sum()
        for motion in (free, held)
        for q in [room.coordinates(motion)]
    ]
    assert over[1] < 0.8 * over[0]


def test_torques_are_kept_across_the_seams_of_sections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_clips, "SEEN", 0.2)
    monkeypatch.setattr("robik.clip_solver.long_clip.AT_ONCE", 60 * len(ARM.actuators))
    held = retarget(ARM, lissajous(2.0, 60.0, 3.0), replace(LIMITED, torque_limit=HALF))
    assert np.abs(arm_shares(held, tmp_path)[:-1]).max() <= 1.0005
    assert looked_ahead(held).beyond == ""


def test_torques_need_efforts_masses_and_actuators_that_are_there() -> None:
    clip = lissajous(1.0, 60.0, 0.2)
    with pytest.raises(ClipError, match="torque_limit of tail, which robot 'arm7' does not have"):
        retarget(ARM, clip, replace(LIMITED, torque_limit={"tail": 1.0}))
    bare = ARM.with_changes(bodies=tuple(replace(body, mass=0.0, inertia=(0.0,) * 6) for body in ARM.bodies))
    with pytest.raises(ClipError, match="torque_limit needs masses, and robot 'arm7' has none"):
        retarget(bare, clip, replace(LIMITED, torque_limit=1.0))
    unknown = ARM.with_changes(joints=tuple(replace(joint, effort_limit=np.inf) for joint in ARM.joints))
    with pytest.raises(ClipError, match="names no effort of its motors"):
        named_efforts(unknown)


def test_beyond_an_end_at_which_it_rests_a_clip_stays_and_beyond_others_it_goes_on() -> None:
    room, step = InverseDynamics(ARM), 0.1
    q = room.topology.rest + np.outer([0.0, 0.02, 0.05], np.ones(len(room.topology.rest)))
    limits = TorqueLimits(room, np.full(len(ARM.actuators), 2.0))
    found = 2.0 * Torques(limits, step * np.arange(3), None, (True, False)).shares(q)
    way, last = (q[1] - q[0]) / step, (q[2] - q[1]) / step
    velocity, acceleration = np.array([0.5 * way, last]), np.array([way / step, 0.0 * way])
    wanted = room.solve(np.zeros(2), q[[0, 2]], velocity, acceleration).torque
    assert found[[0, 2]] == pytest.approx(wanted, abs=1e-9)
    assert np.abs(found[0] - room.solve(np.zeros(1), q[:1], 0 * q[:1], 0 * q[:1]).torque[0]).max() > 1.0
