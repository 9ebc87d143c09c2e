"""URDF robots against MuJoCo's own reading of the same files."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik.formats import load_robot
from robik.kinematics.forward import body_poses
from tests.formats.mujoco_judge import Judge

ARMS = "example-robot-data/robots"
TREES = [f"{ARMS}/{name}" for name in (
    "panda_description/urdf/panda.urdf", "so_arm_description/urdf/so100.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "simple_humanoid_description/urdf/simple_humanoid_classical.urdf",
)]  # fmt: skip
LOOPED = [
    "5bar_linkage/robot.urdf",
    "robot_delta/robot.urdf",
    "talos_like/robot.urdf",
]  # the digit's side file replaces types


def judge_of(path: Path) -> Judge:
    """MuJoCo's model of a file; looks, which it would load, are left out, and bodies without mass get the least that it
    wants."""
    root = ElementTree.parse(path).getroot()
    for link in root.findall("link"):
        for look in (*link.findall("visual"), *link.findall("collision")):
            link.remove(look)
    settings = {"fusestatic": "false", "boundmass": "1e-9", "boundinertia": "1e-12", "balanceinertia": "true"}
    ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", settings)
    return Judge(text=ElementTree.tostring(root, encoding="unicode"))


@pytest.mark.parametrize("name", TREES)
def test_bodies_are_where_mujoco_has_them(name: str, shared_data: Path) -> None:
    robot, judge = load_robot(shared_data / name), judge_of(shared_data / name)
    free = robot.with_changes(
        joints=tuple(replace(j, actuated=True, limits=()) if len(j.motions) == 1 else j for j in robot.joints),
        couplings=(),
    )
    values = np.random.default_rng(4).uniform(-2, 2, (5, len(free.actuators)))
    position, quaternion, _ = body_poses(free, values)
    for row, at, turned in zip(values, position, quaternion, strict=True):
        for joint, value in zip(free.actuators, row, strict=True):
            judge.data.joint(joint).qpos[0] = value
        judge.place(judge.data.qpos.copy())
        for body in judge.names:
            k = robot.body_index[body]
            assert np.allclose(at[k], judge.data.body(body).xpos, atol=1e-9, rtol=0), body
            assert abs(abs(turned[k] @ judge.data.body(body).xquat) - 1) < 1e-12, body


@pytest.mark.parametrize("name", LOOPED)
def test_assembled_bodies_are_where_mujoco_has_them_at_the_same_joint_values(name: str, shared_data: Path) -> None:
    robot, judge = load_robot(shared_data / name), judge_of(shared_data / name)
    rest = {j.name: j.rest[0] for j in robot.joints if len(j.motions) == 1}
    for joint, value in rest.items():
        judge.data.joint(joint).qpos[0] = value
    judge.place(judge.data.qpos.copy())
    for body in judge.names:
        pose = robot.bodies[robot.body_index[body]].pose
        assert np.allclose(pose.position, judge.data.body(body).xpos, atol=1e-9, rtol=0), body
        assert np.allclose(pose.matrix.ravel(), judge.data.body(body).xmat, atol=1e-9, rtol=0), body


@pytest.mark.parametrize("name", [*TREES, *LOOPED, "digit_like_2legs/robot.urdf"])
def test_masses_and_inertias_are_mujocos(name: str, shared_data: Path) -> None:
    robot, judge = load_robot(shared_data / name), judge_of(shared_data / name)
    for body_name in judge.names:
        body = robot.bodies[robot.body_index[body_name]]
        mass, com, inertia = judge.mass(body_name)
        moments = np.linalg.eigvalsh(body.inertia_matrix)
        if body.mass < 1e-9 or moments.min() < 1e-12 or 2 * moments.max() > moments.sum():
            continue  # MuJoCo changed it as it was told to
        assert body.mass == pytest.approx(mass, rel=1e-9)
        assert np.allclose(body.com, com, atol=1e-9, rtol=0)
        assert np.allclose(
            body.inertia_matrix, inertia, atol=1e-4 * moments.max(), rtol=0
        )  # it turns to main axes up to 1e-4 rad
        assert np.allclose(moments, np.sort(np.linalg.eigvalsh(inertia)), atol=1e-9 * moments.max() + 1e-10, rtol=0)
