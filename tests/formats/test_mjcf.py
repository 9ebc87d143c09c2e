"""MJCF robots that others made: poses, masses and equalities equal MuJoCo's."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik.formats import import_robot, load_robot, save_robot
from robik.formats.mesh_data import read_mesh
from robik.kinematics.mobility import inspect
from tests.formats.mjcf_text import write
from tests.formats.mujoco_judge import Judge, compare_with_mujoco

# Robot → joints with motion in MuJoCo's count, loops, mobility, motors.
ROBOTS = {
    "robotiq_2f85/2f85.xml": (2, 3, 1),
    "robotiq_2f85/scene.xml": (2, 9, 1),
    "iit_softfoot/softfoot.xml": (5, 37, 37),
    "iit_softfoot/scene.xml": (5, 38, 1),
    "dynamixel_2r/dynamixel_2r.xml": (0, 2, 2),
    "dynamixel_2r/scene.xml": (0, 2, 2),
    "low_cost_robot_arm/low_cost_robot_arm.xml": (0, 6, 6),
    "trossen_wx250s/wx250s.xml": (0, 7, 7),
    "robotis_omx/omx.xml": (0, 6, 6),
    "robotis_omx/scene.xml": (0, 6, 6),
    "unitree_h1/h1.xml": (0, 25, 19),
    "unitree_h1/scene.xml": (0, 25, 19),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_are_what_mujoco_reads(name: str, shared_data: Path) -> None:
    compare_with_mujoco(shared_data / name)


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_have_their_loops_mobility_and_motors(name: str, shared_data: Path) -> None:
    found = inspect(load_robot(shared_data / name))
    assert (found.loops, found.mobility, len(found.actuators)) == ROBOTS[name]
    assert found.closure_residual < 1e-10


@pytest.mark.parametrize("name", ROBOTS)
def test_the_rest_pose_is_one_of_mujocos_where_no_equality_is_open(name: str, shared_data: Path) -> None:
    robot, judge = load_robot(shared_data / name), Judge(shared_data / name)
    position, rotation = judge.place(judge.qpos_at_rest(robot))
    for name, at, turned in zip(judge.names, position, rotation, strict=True):
        pose = robot.bodies[robot.body_index[name]].pose
        assert np.allclose(pose.position, at, atol=1e-9)
        assert np.allclose(pose.matrix, turned, atol=1e-9)
    assert np.abs(judge.open_by()).max(initial=0.0) < 1e-9


@pytest.mark.parametrize("name", ROBOTS)
def test_a_native_copy_changes_nothing(name: str, shared_data: Path, tmp_path: Path) -> None:
    robot = load_robot(shared_data / name)
    save_robot(robot, tmp_path / "copy.robik.json")
    assert repr(load_robot(tmp_path / "copy.robik.json")) == repr(robot)


def seen_boxes(path: Path) -> list[np.ndarray]:
    """Least and greatest corner (2, 3) in the world of each mesh that is seen, in the rest pose."""
    boxes = []
    for body in load_robot(path).bodies:
        for visual in body.visuals:
            if visual.shape == "mesh":
                corners, _ = read_mesh(path.parent / visual.file)
                at = body.pose @ visual.pose
                corners = corners * visual.size @ at.matrix.T + at.position
                boxes.append(np.array([corners.min(axis=0), corners.max(axis=0)]))
    return boxes


def mujoco_boxes(judge: Judge) -> list[np.ndarray]:
    """The same of MuJoCo's meshes, where it was placed last."""
    model, data, boxes = judge.model, judge.data, []
    for k in range(model.ngeom):
        mesh = int(model.geom_dataid[k])
        if model.geom_type[k] == mujoco.mjtGeom.mjGEOM_MESH and model.geom_group[k] <= 2 and model.geom_bodyid[k] > 0:
            start = int(model.mesh_vertadr[mesh])
            corners = model.mesh_vert[start : start + int(model.mesh_vertnum[mesh])]
            corners = corners @ data.geom_xmat[k].reshape(3, 3).T + data.geom_xpos[k]
            boxes.append(np.array([corners.min(axis=0), corners.max(axis=0)]))
    return boxes


@pytest.mark.parametrize("name", [name for name in ROBOTS if "scene" not in name])
def test_meshes_are_seen_where_mujoco_shows_them(name: str, shared_data: Path) -> None:
    path = shared_data / name
    judge = Judge(path)
    judge.place(judge.qpos_at_rest(load_robot(path)))
    for ours, theirs in zip(seen_boxes(path), mujoco_boxes(judge), strict=True):
        assert np.allclose(ours, theirs, atol=1e-6)  # MuJoCo's vertices are in single precision


@pytest.mark.parametrize("turn", ["1 0 0 0", "1 2 0 0"])
def test_meshes_that_are_moved_are_seen_there(turn: str, shared_data: Path, tmp_path: Path) -> None:
    (tmp_path / "part.stl").write_bytes((shared_data / "robotiq_2f85/assets/driver.stl").read_bytes())
    mesh = f'<asset><mesh file="part.stl" scale="2 2 2" refpos="0.3 0.1 -0.2" refquat="{turn}"/></asset>'
    geom = '<geom type="mesh" mesh="part" pos="1 0 0" zaxis="0 1 1"/>'
    path = write(tmp_path, f'<body name="a" pos="1 2 3" euler="10 20 30">{geom}</body>', mesh)
    judge = Judge(path)
    judge.place(judge.model.qpos0)
    [ours], [theirs] = seen_boxes(path), mujoco_boxes(judge)
    assert np.allclose(ours, theirs, atol=1e-4)  # of some hundred metres


@pytest.mark.parametrize("name", ROBOTS)
def test_meshes_are_found(name: str, shared_data: Path) -> None:
    path = shared_data / name
    imported = import_robot(path)
    files = [v.file for b in imported.mechanism.bodies for v in b.visuals if v.shape == "mesh"]
    assert files and all((path.parent / file).is_file() for file in files)
