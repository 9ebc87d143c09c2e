"""Physics of robots that others made: G1, H1 and a Digit-like, whose files name no feet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik.cli import main
from robik.formats import load_robot
from robik.mechanism import Mechanism
from robik.motions import BaseTrack, Motion, save_motion
from robik.physics import planned, run
from robik.physics.export import save_scene
from robik.skeleton.feet import on_its_feet
from robik.skeleton.shapes import shapes_of

from .robots import standing_still

FILES = {"g1": "unitree_g1/g1_29dof.xml", "h1": "unitree_h1/h1.xml"}


def on_feet(file: Path) -> Mechanism:
    robot = load_robot(file)
    return on_its_feet(robot, shapes_of(robot, file))


@pytest.mark.parametrize("name", FILES)
def test_it_stands_still_in_the_exported_scene(name: str, shared_data: Path, tmp_path: Path) -> None:
    robot = on_feet(shared_data / FILES[name])
    assert {frame.name for frame in robot.frames if frame.is_foot} == {"foot_l", "foot_r"}
    plan = planned(robot, standing_still(robot))
    assert min(plan.shares.values()) >= 1.999, "legs whose gains the file leaves open can stand"
    scene, *_ = save_scene(plan, tmp_path / "stage.xml")
    model = mujoco.MjModel.from_xml_path(str(scene))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    before = np.array(data.subtree_com[0])
    for _ in range(5000):
        mujoco.mj_step(model, data)
    assert np.abs(data.subtree_com[0] - before).max() < 0.015


DIGIT = "digit_like_2legs/robot.urdf"
BALANCED = (0.5454, -0.5467, -0.0378, -0.3227, 0.0023, -0.0206, 0.5492, -0.5506, -0.0056, 0.2813, 0.0034, -0.0208)


def test_a_robot_whose_ankles_hang_on_rods_stands_on_its_feet(shared_data: Path) -> None:
    """In a pose that a bake found over its feet. Its file gives all motors 1 N m, which is told; with 60 it stands."""
    robot = on_feet(shared_data / DIGIT)
    assert {frame.body for frame in robot.frames if frame.is_foot} == {"foot_part", "foot_part_2"}
    times = np.arange(0.0, 5.0, 0.05)
    track = BaseTrack(
        body="torso",
        position=np.tile([-0.1771, -0.0733, 0.0819], (len(times), 1)),
        quaternion=np.tile([0.7074, 0.0, 0.0, -0.70681], (len(times), 1)),
    )
    still = Motion(times=times, actuators=robot.actuators, values=np.tile(BALANCED, (len(times), 1)), base=track)
    weak = run(planned(robot, still))
    assert not weak.stands
    assert any("all have 1 N m, as exporters write where nobody gave a torque" in line for line in weak.lines())
    joints = tuple(replace(joint, effort_limit=60.0) if joint.actuated else joint for joint in robot.joints)
    assert run(planned(robot.with_changes(joints=joints), still)).stands


def test_a_normalised_control_range_is_no_torque(shared_data: Path) -> None:
    """G1's motors have a control range of ±1 and no gear; its joints say what they give."""
    robot = load_robot(shared_data / FILES["g1"])
    limits = {joint.name: joint.effort_limit for joint in robot.actuated}
    assert limits["left_knee_joint"] == 139.0
    assert limits["left_ankle_pitch_joint"] == 50.0


def test_the_command_finds_the_feet_that_retarget_found(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_motion(standing_still(on_feet(shared_data / FILES["g1"])), tmp_path / "still.npz")
    assert main(["physics", str(shared_data / FILES["g1"]), str(tmp_path / "still.npz"), "--trials", "0"]) == 0
    assert "stands to the end" in capsys.readouterr().out


ANKLES = {
    "g1": ("left_ankle_pitch_joint", "right_ankle_pitch_joint"),
    "h1": ("left_ankle", "right_ankle"),
}  # of h1 with the file's damping and armatures


@pytest.mark.parametrize("name", FILES)
def test_a_fall_is_the_robots_own_not_the_simulations(name: str, shared_data: Path) -> None:
    """It leans forwards on its ankles until it falls: a simulation of its own file says when, to 0.03 s."""
    file = shared_data / FILES[name]
    robot = on_feet(file)
    still = standing_still(robot)
    times = np.arange(0.0, 4.0, 0.01)
    values = np.tile(still.values[0], (len(times), 1))
    lean = 0.35 * np.clip(times / 2.0, 0.0, 1.0)
    for ankle in ANKLES[name]:
        values[:, robot.actuators.index(ankle)] += lean
    base = still.base
    assert base is not None
    track = BaseTrack(
        body=base.body,
        position=np.tile(base.position[0], (len(times), 1)),
        quaternion=np.tile(base.quaternion[0], (len(times), 1)),
    )
    plan = planned(robot, Motion(times=times, actuators=robot.actuators, values=values, base=track))
    verdict = run(plan)
    assert not verdict.stands
    assert verdict.falls_at_s is not None
    drives = [plan.drives[name] for name in robot.actuators]
    own = falls_at(
        file,
        {frame.body: np.array(frame.sole) for frame in robot.frames if frame.is_foot},
        plan.motion,
        np.array([drive.stiffness for drive in drives]),
        np.array([drive.effort for drive in drives]),
        plan.stage.height,
    )
    assert own is not None
    assert verdict.falls_at_s == pytest.approx(own, abs=0.03)


def test_arms_and_heads_hold_no_leg(shared_data: Path) -> None:
    """What gave way is looked for among the motors that bear the body."""
    plan = planned(robot := on_feet(shared_data / FILES["g1"]), standing_still(robot))
    sides = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
    legs = {f"{side}_{name}_joint" for side in ("left", "right") for name in sides}
    waist = {f"waist_{name}_joint" for name in ("yaw", "roll", "pitch")}
    assert legs <= set(plan.leg_motors) <= legs | waist


def falls_at(
    file: Path,
    soles: dict[str, np.ndarray],
    motion: Motion,
    stiffness: np.ndarray,
    effort: np.ndarray,
    floor: float,
) -> float | None:
    """Return when a robot falls in a simulation of its own file: springs and dampers, as limited torques on its joints.

    Friction, damping and armatures are the file's; where it has no armature, motors get one before MuJoCo compiles the
    model: it makes contacts as soft as they are by the inertia behind them.
    """
    spec = mujoco.MjSpec.from_file(str(file))
    for name, k in zip(motion.actuators, stiffness, strict=True):
        joint = spec.joint(name)
        joint.armature = joint.armature or 1e-4 * k
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    rubber = {"friction": [0.8, 0.005, 0.0001], "contype": 1, "conaffinity": 1}
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=[0, 0, floor], **rubber)
    for body, points in soles.items():
        for x, y, z in points:
            spec.body(body).add_geom(
                type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.003, 0, 0], pos=[x, y, z + 0.003], mass=0, **rubber
            )
    spec.option.timestep, spec.option.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model = spec.compile()
    data = mujoco.MjData(model)
    joints = [model.joint(name) for name in motion.actuators]
    place, rate = (np.array([getattr(j, what)[0] for j in joints]) for what in ("qposadr", "dofadr"))
    damping = np.maximum(0.02 * stiffness - model.dof_damping[rate], 0.0)
    model.actuator_gainprm[:] = model.actuator_biasprm[:] = 0
    assert motion.base is not None
    data.qpos[:7] = [*motion.base.position[0], *motion.base.quaternion[0]]
    data.qpos[place] = motion.values[0]
    times = motion.times - motion.times[0]
    upright = 0.6 * (motion.base.position[0, 2] - floor)
    while data.time < 0.5 + times[-1]:
        k = int(np.clip(np.searchsorted(times, data.time - 0.5, side="right") - 1, 0, len(times) - 1))
        wanted = stiffness * (motion.values[k] - data.qpos[place]) - damping * data.qvel[rate]
        data.qfrc_applied[rate] = np.clip(wanted, -effort, effort)
        mujoco.mj_step(model, data)
        if data.qpos[2] - floor < upright or data.xmat[1].reshape(3, 3)[2, 2] < np.cos(0.6):
            return float(data.time - 0.5)
    return None
