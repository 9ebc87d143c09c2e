"""URDF robots that others made: poses and masses against a second reading of the files, and their loops closed."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.formats import import_robot, load_robot, save_robot
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import Joint, Mechanism
from tests.formats.urdf_text import rest_values

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
DESCRIPTIONS = "example-robot-data/robots"
# Robot → loops, mobility and motors. The balls at the ends of the planar robots' rods turn freely: one degree of
# freedom per loop.
LOOPED = {
    "5bar_linkage": (1, 3, 2),
    "robot_delta": (3, 5, 2),
    "talos_like": (1, 7, 6),
    "digit_like_2legs": (6, 12, 12),
}
TREES = {
    "panda_description/urdf/panda.urdf": 8,
    "panda_description/urdf/panda_collision.urdf": 8,
    "so_arm_description/urdf/so100.urdf": 6,
    "simple_humanoid_description/urdf/simple_humanoid.urdf": 29,
    "simple_humanoid_description/urdf/simple_humanoid_classical.urdf": 29,
}
ALL = [f"{name}/robot.urdf" for name in LOOPED] + [f"{DESCRIPTIONS}/{name}" for name in TREES]


def shared(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


# A second reading of URDF, by other means: SciPy's rotations, and the motion about an axis as the specification states
# it.


def transform(element: ElementTree.Element | None) -> np.ndarray:
    T = np.eye(4)
    if element is not None:
        T[:3, :3] = Rotation.from_euler("xyz", [float(v) for v in element.get("rpy", "0 0 0").split()]).as_matrix()
        T[:3, 3] = [float(v) for v in element.get("xyz", "0 0 0").split()]
    return T


def motion(element: ElementTree.Element, moved: Joint, q: np.ndarray) -> np.ndarray:
    """What a joint does at its coordinates q; `moved` tells only of the types that a side file replaced."""
    T, axis = np.eye(4), np.array([1.0, 0, 0])
    if element.find("axis") is not None:
        axis = np.array([float(v) for v in element.find("axis").get("xyz").split()])  # type: ignore[union-attr]
    if moved.type == "universal":
        T[:3, :3] = Rotation.from_euler("XY", q).as_matrix()
    elif moved.type == "spherical":
        T[:3, :3] = Rotation.from_rotvec(q).as_matrix()
    elif moved.type == "revolute":
        T[:3, :3] = Rotation.from_rotvec(q[0] * axis / np.linalg.norm(axis)).as_matrix()
    elif moved.type == "prismatic":
        T[:3, 3] = q[0] * axis / np.linalg.norm(axis)
    return T


def links_of(path: Path, mechanism: Mechanism, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Link → its frame (4, 4)."""
    elements = {j.find("child").get("link"): j for j in ElementTree.parse(path).getroot().findall("joint")}  # type: ignore[union-attr]
    joints = {j.name: j for j in mechanism.joints}
    found: dict[str, np.ndarray] = {}

    def place(link: str) -> np.ndarray:
        if link not in found:
            element = elements.get(link)
            if element is None:
                found[link] = np.eye(4)
            else:
                name = element.get("name", "")
                found[link] = (
                    place(element.find("parent").get("link", ""))  # type: ignore[union-attr]
                    @ transform(element.find("origin"))
                    @ motion(element, joints[name], values[name])
                )
        return found[link]

    for body in mechanism.bodies:
        place(body.name)
    return found


@pytest.mark.parametrize("name", ALL)
def test_the_rest_pose_is_where_the_files_own_numbers_put_it(name: str) -> None:
    path = shared(name)
    robot = load_robot(path)
    links = links_of(path, robot, rest_values(robot))
    for body in robot.bodies:
        assert np.allclose(body.pose.position, links[body.name][:3, 3], atol=1e-12)
        assert np.allclose(body.pose.matrix, links[body.name][:3, :3], atol=1e-12)


@pytest.mark.parametrize("name", [f"{DESCRIPTIONS}/{name}" for name in TREES])
def test_bodies_move_as_the_file_says(name: str) -> None:
    path = shared(name)
    robot = load_robot(path)
    rng = np.random.default_rng(3)
    limits = np.array([j.limits[0] for j in robot.actuated])
    values = rng.uniform(np.maximum(limits[:, 0], -3), np.minimum(limits[:, 1], 3), (20, len(limits)))
    position, quaternion, residual = body_poses(robot, values, None)
    assert residual.max() < 1e-12
    for t, row in enumerate(values):
        q = {**rest_values(robot), **{j.name: np.array([v]) for j, v in zip(robot.actuated, row, strict=True)}}
        for coupling in robot.couplings:
            q[coupling.follower] = np.polynomial.Polynomial(coupling.coefficients)(q[coupling.leader])
        links = links_of(path, robot, q)
        for i, body in enumerate(robot.bodies):
            assert np.allclose(position[t, i], links[body.name][:3, 3], atol=1e-9)
            turned = Rotation.from_quat(quaternion[t, i], scalar_first=True).as_matrix()
            assert np.allclose(turned, links[body.name][:3, :3], atol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_masses_and_inertias_are_the_files(name: str) -> None:
    path = shared(name)
    robot = load_robot(path)
    for link in ElementTree.parse(path).getroot().findall("link"):
        body = robot.bodies[robot.body_index[link.get("name", "")]]
        inertial = link.find("inertial")
        if inertial is None:
            assert body.mass == 0.0
            continue
        T = transform(inertial.find("origin"))
        I = {k: float(v) for k, v in inertial.find("inertia").attrib.items()}  # type: ignore[union-attr]  # noqa: E741
        given = np.array(
            [[I["ixx"], I["ixy"], I["ixz"]], [I["ixy"], I["iyy"], I["iyz"]], [I["ixz"], I["iyz"], I["izz"]]]
        )
        assert body.mass == float(inertial.find("mass").get("value"))  # type: ignore[union-attr, arg-type]
        assert np.allclose(body.com, T[:3, 3], atol=1e-15)
        scale = np.abs(given).max(initial=1e-300)
        assert np.allclose(body.inertia_matrix, T[:3, :3] @ given @ T[:3, :3].T, atol=1e-12 * scale)


@pytest.mark.parametrize("name", LOOPED)
def test_loops_close(name: str) -> None:
    path = shared(f"{name}/robot.urdf")
    robot = load_robot(path)
    links = links_of(path, robot, rest_values(robot))
    closers = [j for j in robot.joints if j.name.startswith("closedloop") and j.name not in tree_joints(path)]
    assert len(closers) == LOOPED[name][0]
    for closer in closers:
        assert closer.type == "fixed"
        assert np.allclose(links[closer.parent], links[closer.child], atol=1e-10)


def tree_joints(path: Path) -> set[str]:
    return {j.get("name", "") for j in ElementTree.parse(path).getroot().findall("joint")}


@pytest.mark.parametrize("name", LOOPED)
def test_looped_robots_move_as_their_joints_say(name: str) -> None:
    path = shared(f"{name}/robot.urdf")
    robot = load_robot(path)
    rest = np.array([v for j in robot.actuated for v in j.rest])
    values = rest + np.random.default_rng(5).uniform(-0.1, 0.1, (5, len(rest)))
    position, quaternion, residual = body_poses(robot, values, None)
    assert residual.max() < 1e-10
    types = {j.name: j.type for j in robot.joints}
    for row, p, q in zip(values, position, quaternion, strict=True):
        T = np.tile(np.eye(4), (len(p), 1, 1))
        T[:, :3, :3], T[:, :3, 3] = Rotation.from_quat(q, scalar_first=True).as_matrix(), p
        motors = dict(zip(robot.actuators, row, strict=True))
        at = {body: T[i] for body, i in robot.body_index.items()}
        for element in ElementTree.parse(path).getroot().findall("joint"):
            joint_name = element.get("name", "")
            parent, child = (element.find(end).get("link", "") for end in ("parent", "child"))  # type: ignore[union-attr]
            moved = np.linalg.inv(at[parent] @ transform(element.find("origin"))) @ at[child]
            assert np.allclose(moved[:3, 3], 0, atol=1e-9)
            turn = Rotation.from_matrix(moved[:3, :3])
            if joint_name in motors:
                wanted = Rotation.from_rotvec([0, 0, motors[joint_name]])  # all motors of these robots turn about z
                assert (turn.inv() * wanted).magnitude() < 1e-9
            elif types[joint_name] == "revolute":
                axis = [float(v) for v in element.find("axis").get("xyz", "").split()]  # type: ignore[union-attr]
                assert np.allclose(turn.apply(axis), axis, atol=1e-9)
            elif types[joint_name] == "universal":
                assert (
                    abs(turn.as_matrix()[0, 1]) < 1e-9
                )  # its x axis, on the parent, stays square to its y axis, on the child
            elif types[joint_name] == "fixed":
                assert turn.magnitude() < 1e-9
        for closer in robot.joints:
            if closer.name.startswith("closedloop") and closer.name not in tree_joints(path):
                assert np.allclose(at[closer.parent], at[closer.child], atol=1e-9)


@pytest.mark.parametrize("name", LOOPED)
def test_looped_robots_have_their_loops_mobility_and_motors(name: str) -> None:
    imported = import_robot(shared(f"{name}/robot.urdf"))
    found = inspect(imported.mechanism)
    assert (found.loops, found.mobility, len(found.actuators)) == LOOPED[name]
    assert found.closure_residual < 1e-10
    assert any("taken for unlimited" in warning for warning in imported.warnings)
    assert any(" closed to " in line for line in imported.report)


@pytest.mark.parametrize("name", TREES)
def test_a_robot_without_named_motors_gets_them_on_every_free_joint(name: str) -> None:
    robot = load_robot(shared(f"{DESCRIPTIONS}/{name}"))
    assert len(robot.actuators) == inspect(robot).mobility == TREES[name]
    assert {c.follower for c in robot.couplings}.isdisjoint(robot.actuators)


def test_the_looped_robots_name_their_motors() -> None:
    assert load_robot(shared("5bar_linkage/robot.urdf")).actuators == ("mot1", "mot2")


@pytest.mark.parametrize("name", ALL)
def test_a_native_copy_changes_nothing(name: str, tmp_path: Path) -> None:
    robot = load_robot(shared(name))
    save_robot(robot, tmp_path / "copy.robik.json")
    assert repr(load_robot(tmp_path / "copy.robik.json")) == repr(robot)


@pytest.mark.parametrize("name", ALL)
def test_meshes_are_found(name: str) -> None:
    path = shared(name)
    imported = import_robot(path)
    meshes = [v for b in imported.mechanism.bodies for v in b.visuals if v.shape == "mesh"]
    root = ElementTree.parse(path).getroot()
    seen = root.findall("link/visual") or root.findall("link/collision")
    named = [g for v in seen for g in v.iter("mesh")]
    assert len(meshes) == len(named)
    missing = {v.file for v in meshes if not (path.parent / v.file).is_file()}
    assert not missing
    assert not any("mesh" in warning for warning in imported.warnings)
