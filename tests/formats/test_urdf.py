"""URDF robots: what the files say, against a second reading of them; loops closed; bad files refused in one sentence."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from math import inf
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.errors import AssemblyError, FormatError
from robik.formats import import_robot, load_robot, save_robot
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD, Joint, Mechanism
from tests.formats import fuzz

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
DESCRIPTIONS = "example-robot-data/robots"
# Robot → loops, mobility and motors. The balls at the ends of the planar robots' rods turn freely: one degree of freedom per loop.
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


def write(folder: Path, joints: str = "", links: str = "", head: str = "") -> Path:
    path = folder / "robot.urdf"
    path.write_text(f'{head}<robot name="r"><link name="a"/><link name="b"/>{links}{joints}</robot>', encoding="utf-8")
    return path


def joint(name: str, kind: str, parent: str, child: str, inner: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


# A second reading of URDF, by other means: SciPy's rotations, and the motion about an axis as the specification states it.


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


def rest_values(mechanism: Mechanism) -> dict[str, np.ndarray]:
    return {j.name: np.array(j.rest) for j in mechanism.joints}


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
        given = np.array([[I["ixx"], I["ixy"], I["ixz"]], [I["ixy"], I["iyy"], I["iyz"]], [I["ixz"], I["iyz"], I["izz"]]])
        xx, yy, zz, xy, xz, yz = body.inertia
        assert body.mass == float(inertial.find("mass").get("value"))  # type: ignore[union-attr, arg-type]
        assert np.allclose(body.com, T[:3, 3], atol=1e-15)
        scale = np.abs(given).max(initial=1e-300)
        assert np.allclose([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], T[:3, :3] @ given @ T[:3, :3].T, atol=1e-12 * scale)


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
                assert abs(turn.as_matrix()[0, 1]) < 1e-9  # its x axis, on the parent, stays square to its y axis, on the child
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
    named = [g for v in ElementTree.parse(path).getroot().findall("link/visual") for g in v.iter("mesh")]
    assert len(meshes) == len(named)
    missing = {v.file for v in meshes if not (path.parent / v.file).is_file()}
    assert not missing
    assert not any("mesh" in warning for warning in imported.warnings)


# Single statements of the format


def test_every_joint_type(tmp_path: Path) -> None:
    names = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar"]
    links = "".join(f'<link name="{n}"/>' for n in names)
    limit = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'
    joints = joint("ab", "fixed", "a", "b") + "".join(joint(f"j_{n}", n, "b", n, f'<axis xyz="0 0 2"/>{limit}') for n in names)
    robot = load_robot(write(tmp_path, joints, links))
    found = {j.name: j for j in robot.joints}
    types = {n: found[f"j_{n}"].type for n in names}
    assert list(types.values()) == ["revolute", "revolute", "prismatic", "fixed", "free", "planar"]
    assert found["j_revolute"].limits == ((-1.0, 2.0),)
    assert found["j_continuous"].limits == ((-inf, inf),)
    assert (found["j_prismatic"].velocity_limit, found["j_prismatic"].effort_limit) == (3.0, 4.0)
    assert np.allclose(found["j_planar"].axis, [0, 0, 1])
    assert found["base"].parent == WORLD and found["base"].type == "fixed"
    assert robot.is_grounded


def test_a_floating_joint_to_a_link_called_world_is_a_floating_robot(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="world"/><link name="b"/>{joint("j", "floating", "world", "b")}</robot>')
    robot = load_robot(path)
    assert [b.name for b in robot.bodies] == ["b"]
    assert not robot.is_grounded


def test_transmissions_name_the_motors(tmp_path: Path) -> None:
    joints = joint("one", "continuous", "a", "b") + joint("two", "continuous", "b", "c")
    drive = '<transmission name="t"><joint name="two"/><actuator name="m"/></transmission>'
    robot = load_robot(write(tmp_path, joints + drive, '<link name="c"/>'))
    assert robot.actuators == ("two",)


def test_a_mimic_joint_rests_where_it_follows(tmp_path: Path) -> None:
    follower = joint("two", "continuous", "b", "c", '<mimic joint="one" multiplier="-2" offset="0.5"/>')
    robot = load_robot(write(tmp_path, joint("one", "continuous", "a", "b") + follower, '<link name="c"/>'))
    rest = rest_values(robot)
    assert rest["two"][0] == pytest.approx(0.5 - 2 * rest["one"][0], abs=1e-12)
    assert robot.couplings[0].coefficients == (0.5, -2.0)
    assert robot.actuators == ("one",)


def test_a_zero_outside_the_limits_rests_at_the_nearest(tmp_path: Path) -> None:
    imported = import_robot(write(tmp_path, joint("j", "revolute", "a", "b", '<limit lower="0.5" upper="1"/>')))
    assert imported.mechanism.joints[1].rest == (0.5,)
    assert any("outside its limits" in w for w in imported.warnings)


def test_visuals_take_their_materials(tmp_path: Path) -> None:
    red, shape = '<material name="red"><color rgba="1 0 0 0.5"/></material>', "<geometry><{}/></geometry>"
    visuals = "".join(
        f'<visual><origin xyz="1 2 3"/>{shape.format(each)}<material name="red"/></visual>'
        for each in ('box size="1 2 3"', 'cylinder radius="1" length="2"', 'sphere radius="1"', 'capsule radius="1" length="2"')
    )
    joints = joint("j", "fixed", "a", "c") + joint("k", "fixed", "a", "b")
    robot = load_robot(write(tmp_path, joints, f'<link name="c">{visuals}</link>{red}'))
    seen = robot.bodies[robot.body_index["c"]].visuals
    assert [v.shape for v in seen] == ["box", "cylinder", "sphere", "capsule"]
    assert {v.color for v in seen} == {(1.0, 0.0, 0.0, 0.5)}
    assert seen[0].pose.position == (1.0, 2.0, 3.0)


# Loops


def fourbar(folder: Path, far: float = 0.3, crank: str = "", names: tuple[str, str] = ("closing_pin_1", "closing_pin_2")) -> Path:
    """Two rods of 0.2 m that hang from `a`, `far` apart, and a rod of 0.3 m from the first to the second; open as stored."""
    z = '<axis xyz="0 0 1"/>'
    joints = (
        joint("left", "continuous" if not crank else "revolute", "a", "b", z + crank)
        + joint("middle", "continuous", "b", "c", f'<origin xyz="0 0.2 0"/>{z}')
        + joint("right", "continuous", "a", "d", f'<origin xyz="{far} 0 0"/>{z}')
        + joint("p", "fixed", "c", names[0], '<origin xyz="0.3 0.01 0"/>')
        + joint("q", "fixed", "d", names[1], '<origin xyz="0 0.2 0"/>')
    )
    return write(folder, joints, "".join(f'<link name="{n}"/>' for n in ("c", "d", *names)))


def test_frames_named_closing_close_as_a_hinge(tmp_path: Path) -> None:
    imported = import_robot(fourbar(tmp_path))
    robot = imported.mechanism
    closer = robot.joints[-1]
    assert (closer.name, closer.type) == ("pin", "revolute")
    first, second = (robot.bodies[robot.body_index[n]].pose.position for n in ("closing_pin_1", "closing_pin_2"))
    assert np.allclose(first, second, atol=1e-12)
    assert inspect(robot).mobility == 1
    assert len(robot.actuators) == 1  # one joint decides the others
    assert max(abs(v) for j in robot.joints[:-1] for v in j.rest) < 0.2  # the assembly mode near the stored pose


def test_frames_that_cannot_be_a_hinge_are_read_as_a_ball(tmp_path: Path) -> None:
    path = fourbar(tmp_path)
    path.write_text(path.read_text().replace('<origin xyz="0.3 0.01 0"/>', '<origin xyz="0.3 0.01 0" rpy="0.3 0 0"/>'))
    imported = import_robot(path)
    assert imported.mechanism.joints[-1].type == "spherical"
    assert any("ball" in w for w in imported.warnings)
    assert inspect(imported.mechanism).closure_residual < 1e-10


def test_our_own_file_of_loops(tmp_path: Path) -> None:
    path = fourbar(tmp_path, names=("one", "two"))
    said = {"format": "robik-loops", "version": 1, "motors": ["right"]}
    loops = [{"name": "pin", "frames": ["one", "q"], "type": "revolute", "axis": [0, 0, 1]}]
    path.with_name("robot.loops.json").write_text(json.dumps({**said, "loops": loops}))
    robot = load_robot(path)
    assert robot.actuators == ("right",)
    assert (robot.joints[-1].name, robot.joints[-1].parent, robot.joints[-1].child) == ("pin", "one", "two")
    assert inspect(robot).mobility == 1


def test_limits_that_keep_a_loop_open_give_way_with_a_warning(tmp_path: Path) -> None:
    wide = import_robot(fourbar(tmp_path, 0.45, '<limit lower="-0.6" upper="0.6"/>'))
    assert wide.mechanism.joints[1].limits == ((-0.6, 0.6),)
    assert not any("widened" in w for w in wide.warnings)
    tight = import_robot(fourbar(tmp_path, 0.6, '<limit lower="1.0" upper="1.2"/>'))
    assert any("widened" in w and "left" in w for w in tight.warnings)
    assert tight.mechanism.joints[1].rest[0] < 1.0
    assert inspect(tight.mechanism).closure_residual < 1e-10


def test_a_loop_that_cannot_close_is_refused_with_its_gap(tmp_path: Path) -> None:
    with pytest.raises(AssemblyError, match=r"loop 'pin' .* stays open by 1\.?[0-9]*e\+0?3 mm and .* degrees"):
        load_robot(fourbar(tmp_path, 2.0))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("closed_loop: [['one', 'none']]", "no link or joint is called 'none'"),
        ("closed_loop: [['one', 'two']]\ntype: ['5d']", "must be 3d or 6d"),
        ("closed_loop: [['one', 'two']]\ntype: []\njoint_name: 3", "a list of names"),
        ("closed_loop: [['one', 'two', 'b']]", "pair of frames"),
        ("closed_loop: [['one', 'one']]", "ties link 'one' to itself"),
        ("joint_name: ['left']\njoint_type: ['SCREW']", "unknown type 'SCREW'"),
        ("joint_name: ['none']\njoint_type: ['SPHERICAL']", "there is no such joint"),
        ("closed_loop: [", "not YAML"),
        ("closed_loop: !!python/object/apply:os.system ['true']", "not YAML"),
        ("[" * 5000, "YAML|nested"),
    ],
)
def test_what_is_wrong_in_robot_yaml_is_said(content: str, says: str, tmp_path: Path) -> None:
    path = fourbar(tmp_path, names=("one", "two"))
    path.with_name("robot.yaml").write_text(content)
    with pytest.raises(FormatError, match=says):
        load_robot(path)


# Files that mean no good


def robot(inner: str, links: str = "ab") -> str:
    return "<robot name='r'>" + "".join(f"<link name='{n}'/>" for n in links) + inner + "</robot>"


TO_C = joint("j", "fixed", "a", "c")
BOMB = '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (BOMB + '<robot name="&b;"><link name="a"/></robot>', "DOCTYPE"),
        ('<!DOCTYPE robot SYSTEM "file:///etc/passwd"><robot name="r"><link name="a"/></robot>', "DOCTYPE"),
        ('<robot name="r"><link name="a"/>', "not XML"),
        ("", "not XML"),
        ('<robot name="&x;"><link name="a"/></robot>', "not XML"),
        ('<?xml version="1.0" encoding="klingon"?><robot/>', "not XML"),
        ("<sdf><link name='a'/></sdf>", "must be <robot>"),
        ("<robot name='r'/>", "no <link>"),
        ("<robot name='r'><link/></robot>", "has no name"),
        (robot("".join(f"<link name='l{i}'/>" for i in range(2001))), "it has 2003 links"),
        (robot("", "aa"), "two links are called 'a'"),
        (robot("<link name='c'><inertial><mass value='nan'/></inertial></link>" + TO_C, "a"), "link 'c': its mass: value must"),
        (robot("<link name='c'><inertial><mass value='-1'/></inertial></link>" + TO_C, "a"), "or more kilograms"),
        (robot("<link name='c'><inertial><mass value='1e999'/></inertial></link>" + TO_C, "a"), "finite"),
        (robot(""), "'a', 'b' are no joint's child"),
        (robot(joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "a")), "ring"),
        (robot(joint("j", "fixed", "a", "a"), "a"), "ring"),
        (robot(joint("j", "fixed", "b", "c") + joint("k", "fixed", "c", "b") + joint("l", "fixed", "a", "d"), "abcd"), "does not hang on"),
        (robot(joint("j", "fixed", "a", "b") + joint("k", "fixed", "a", "b")), "child of two joints"),
        (robot(joint("j", "fixed", "a", "b") + joint("j", "fixed", "a", "c"), "abc"), "two joints are called 'j'"),
        (robot(joint("j", "helical", "a", "b")), "unknown type 'helical'"),
        (robot(joint("j", "revolute", "a", "c")), "name of a link, not 'c'"),
        (robot(joint("j", "continuous", "a", "b", "<axis xyz='0 0 0'/>")), "axis must not be zero"),
        (robot(joint("j", "continuous", "a", "b", "<origin xyz='0 nan 0'/>")), "3 finite numbers"),
        (robot(joint("j", "revolute", "a", "b", "<limit lower='1' upper='-1'/>")), "from lower to upper"),
        (robot(joint("j", "continuous", "a", "b", "<mimic joint='none'/>")), "mimics 'none'"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(content: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(content)
    with pytest.raises(FormatError, match=says) as raised:
        load_robot(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_bytes(b'<robot name="\xff\xfe"><link name="a"/></robot>')
    with pytest.raises(FormatError, match="not XML"):
        load_robot(path)


@pytest.mark.parametrize(
    "uri",
    ["../../secret.stl", "/etc/passwd", "file:///etc/passwd", "https://example.com/a.stl", "package://../../secret.stl", "//host/a.stl",
     "\\\\host\\a.stl", "package://p/%2e%2e/%2e%2e/%2e%2e/secret.stl", "file:////host/a.stl", ""],
)  # fmt: skip
def test_a_mesh_elsewhere_is_not_read_but_stood_for(uri: str, tmp_path: Path) -> None:
    (tmp_path / "secret.stl").write_text("solid")
    folder = tmp_path / "in" / "robot"
    folder.mkdir(parents=True)
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="a"><visual><geometry><mesh filename="{uri}"/></geometry></visual></link></robot>')
    imported = import_robot(path)
    assert [v.shape for v in imported.mechanism.bodies[0].visuals] == ["box"]
    assert any(w.startswith("link 'a': a mesh was not read") for w in imported.warnings)


def test_a_link_in_the_folder_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.stl").write_text("solid")
    folder = tmp_path / "robot"
    folder.mkdir()
    try:
        (folder / "a.stl").symlink_to(tmp_path / "secret.stl")
    except OSError as error:
        pytest.skip(f"no symbolic links here: {error}")
    path = folder / "robot.urdf"
    path.write_text('<robot name="r"><link name="a"><visual><geometry><mesh filename="a.stl"/></geometry></visual></link></robot>')
    assert import_robot(path).mechanism.bodies[0].visuals[0].shape == "box"


def test_packages_that_the_user_names_are_searched(tmp_path: Path) -> None:
    (tmp_path / "ros" / "arm" / "meshes").mkdir(parents=True)
    (tmp_path / "ros" / "arm" / "meshes" / "a.stl").write_text("solid")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path = folder / "robot.urdf"
    path.write_text('<robot name="r"><link name="a"><visual><geometry><mesh filename="package://arm/meshes/a.stl" scale="1 2 -3"/>'
                    '</geometry></visual></link></robot>')  # fmt: skip
    missing = import_robot(path)
    assert any("there is no such mesh" in w for w in missing.warnings)
    for packages in ([tmp_path / "ros"], [tmp_path / "ros" / "arm"]):
        found = import_robot(path, packages)
        [visual] = found.mechanism.bodies[0].visuals
        assert (path.parent / visual.file).is_file()
        assert visual.size == (1.0, 2.0, -3.0)
        assert not found.warnings


def test_warnings_of_load_robot_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    load_robot(write(tmp_path, joint("j", "revolute", "a", "b")))
    assert "taken for unlimited" in caplog.text


KINDS = ["fixed", "floating", "planar", "revolute", "continuous", "prismatic"]


@pytest.mark.parametrize("seed", range(5))
def test_mutated_files_end_in_a_robot_or_in_a_sentence(seed: int, tmp_path: Path) -> None:
    looped = fourbar(tmp_path).read_text()
    tree = joint("j", "revolute", "a", "b", '<origin xyz="1 0 0" rpy="0 1 0"/><limit lower="0" upper="1" velocity="1" effort="1"/>')
    inertial = '<link name="c"><inertial><origin xyz="0 0 1" rpy="1 0 0"/><mass value="1"/>'
    inertial += '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    inertial += '<visual><geometry><box size="1 1 1"/></geometry></visual></link>'
    mimic = joint("k", "prismatic", "b", "c", '<mimic joint="j" multiplier="2" offset="0"/><limit lower="-9" upper="9"/>')
    plain = write(tmp_path, tree + mimic, inertial).read_text()
    outcomes = fuzz.import_mutants(tmp_path / "mutant.urdf", [looped, *[plain] * 19], seed, fuzz.CASES // 5, KINDS)
    assert {Mechanism, FormatError} <= set(outcomes)
