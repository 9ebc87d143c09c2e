"""Robots whose MJCF has several joints in one body, in physics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.formats.mjcf.positions import positions
from robik.formats.mjcf.stage import PositionDrive, Stage
from robik.formats.mjcf.writer import staged_text
from robik.kinematics.forward import body_poses
from robik.physics.plan import massless
from robik.robots import load

mujoco = pytest.importorskip("mujoco")

ROBOT = """
<mujoco model="shoulder">
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <inertial pos="0 0 0" mass="5" diaginertia="0.1 0.1 0.1"/>
      <body name="arm" pos="0.1 0.2 0.3" euler="20 30 40">
        <joint name="pitch" axis="0 1 0" pos="0.01 0 0.02"/>
        <joint name="reach" type="slide" axis="1 1 0"/>
        <joint name="roll" axis="1 0.2 0" pos="0 0.03 0"/>
        <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
        <body name="hand" pos="0.3 0 0">
          <joint name="yaw" axis="0 0 1"/>
          <joint name="nod" axis="0 1 0"/>
          <inertial pos="0 0 0.05" mass="0.3" diaginertia="0.001 0.001 0.001"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
DRIVES = {name: PositionDrive(100.0, 1.0, 50.0, 0.01) for name in ("pitch", "reach", "roll", "yaw", "nod")}


def test_bodies_between_joints_are_none_in_physics(tmp_path: Path) -> None:
    """MuJoCo's poses of the written robot are those of the file that was read, and RobIK's, to 1e-9 m."""
    (tmp_path / "robot.xml").write_text(ROBOT)
    robot = load(tmp_path / "robot.xml")
    assert len(robot.bodies) == 6  # three of the file's own, and one between each two joints
    assert massless(robot) == []
    text, branches = staged_text(robot, Stage(drives=DRIVES))
    model, own = mujoco.MjModel.from_xml_string(text), mujoco.MjModel.from_xml_string(ROBOT)
    assert model.nbody == own.nbody == 4
    values = np.random.default_rng(0).uniform(-0.8, 0.8, (20, len(robot.actuators)))
    poses = body_poses(robot, values)
    at = positions(robot, branches, dict(zip(robot.actuators, values.T, strict=True)), poses.position, poses.quaternion)
    for k in range(len(values)):
        for name in ("arm", "hand"):
            found = _place(model, at[k], name)
            expected = _place(own, [values[k][robot.actuators.index(own.joint(j).name)] for j in range(own.njnt)], name)
            i = robot.body_index[name]
            np.testing.assert_allclose(found, expected, atol=1e-9)
            np.testing.assert_allclose(found[:3], poses.position[k, i], atol=1e-9)


def test_a_body_without_mass_that_something_hangs_on_twice_is_told(tmp_path: Path) -> None:
    second = '<body name="tool"><joint name="spin"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
    forked = ROBOT.replace('<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>', second)
    (tmp_path / "robot.xml").write_text(forked)
    assert massless(load(tmp_path / "robot.xml")) == ["arm"]


def _place(model: mujoco.MjModel, positions_: np.ndarray, body: str) -> np.ndarray:
    """Where a body of MuJoCo's is, and its rotation matrix (12,)."""
    data = mujoco.MjData(model)
    data.qpos[:] = positions_
    mujoco.mj_kinematics(model, data)
    return np.concatenate([data.body(body).xpos, data.body(body).xmat])
