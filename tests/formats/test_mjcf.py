"""MJCF robots: poses, masses and equalities equal MuJoCo's; what is unclear is said; bad files are refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik.errors import FormatError
from robik.formats import import_robot, load_robot, mjcf, save_robot
from robik.formats.imported import Notes
from robik.formats.mesh_data import read_mesh
from robik.formats.open_robot import OpenRobot
from robik.kinematics.mobility import inspect
from robik.mechanism.pose import matrix_quaternion
from tests.formats.mujoco_judge import Judge, inertia_matrix

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


def as_stored(path: Path) -> OpenRobot:
    return mjcf.read(path, (), Notes(), Notes())


def compare_with_mujoco(path: Path, poses: int = 5, precision: float = 1e-9) -> None:
    """Bodies, masses and what the equalities are open by, at random coordinates."""
    robot, judge = as_stored(path), Judge(path)
    rng = np.random.default_rng(1)
    bodies = {b.name: b for b in robot.bodies}
    order = [robot.order[name] for name in judge.names]
    for _ in range(poses):
        qpos = judge.random(rng)
        position, rotation = judge.place(qpos)
        q = judge.coordinates(qpos, robot)
        now = robot.placed(q)
        assert np.allclose(now.p[order], position, atol=1e-9, rtol=0)
        assert np.allclose(now.R[order], rotation, atol=1e-9, rtol=0)
        compare_equalities(robot, q, judge)
    for name in judge.names:
        mass, com, inertia = judge.mass(name)
        body = bodies[name]
        assert body.mass == pytest.approx(mass, rel=precision, abs=1e-15), name
        assert np.allclose(body.com, com, atol=precision, rtol=0) or mass == 0, name
        own, largest = inertia_matrix(body), float(inertia.max())
        # MuJoCo turns to the main axes up to 1e-4 rad, which changes the moments by that squared, and counts meshes in single precision.
        assert np.allclose(own, inertia, atol=1e-4 * largest, rtol=0), name
        assert np.allclose(np.linalg.eigvalsh(own), np.linalg.eigvalsh(inertia), atol=precision * largest + 1e-10, rtol=0), name


def compare_equalities(robot: OpenRobot, q: np.ndarray, judge: Judge) -> None:
    """Connects by their gap, welds by gap and turn, joint equalities by value; all in the order of the file."""
    now, rows = robot.placed(q), judge.open_by()
    gaps = {joint.name: robot.joint_frames(joint, now) for joint in robot.closers}
    ours = [float(np.linalg.norm(pb - pa)) for _, pa, _, pb in gaps.values()]
    theirs = []
    at = 0
    types = [int(t) for t in judge.model.eq_type]
    for kind, active in zip(types, judge.data.eq_active, strict=True):
        size = {0: 3, 1: 6, 2: 1}[kind] if active else 0
        if active and kind in (0, 1):
            theirs.append(float(np.linalg.norm(rows[at : at + 3])))
        at += size
    assert np.allclose(sorted(ours), sorted(theirs), atol=1e-9)
    values = []
    for coupling in robot.couplings:
        follower, leader = (q[robot.coordinates[end]] for end in (coupling.follower, coupling.leader))
        values.append(abs(follower - np.polynomial.Polynomial(coupling.coefficients)(leader)))
    sizes = np.cumsum([0, *({0: 3, 1: 6, 2: 1}[k] for k in types)])
    assert np.allclose(values, [abs(rows[sizes[i]]) for i, k in enumerate(types) if k == 2], atol=1e-9)


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


def write(folder: Path, body: str, rest: str = "", compiler: str = "") -> Path:
    path = folder / "robot.xml"
    path.write_text(f'<mujoco model="r"><compiler {compiler}/>{rest}<worldbody>{body}</worldbody></mujoco>', encoding="utf-8")
    return path


BLOB = "0 0 0  1 0 0  0 1.5 0  0 0 2  1 1 1.2  -0.4 0.3 0.5"
BENT = "0 0 0  2 0 0  2 1 0  1 1 0  1 2 0  0 2 0  0 0 1  2 0 1  2 1 1  1 1 1  1 2 1  0 2 1"  # an L, so not convex
BENT_FACES = ("0 3 1  1 3 2  0 5 3  3 5 4  6 7 9  7 8 9  6 9 11  9 10 11  0 1 7  0 7 6  1 2 8  1 8 7  2 3 9  2 9 8  3 4 10  3 10 9"
              "  4 5 11  4 11 10  5 0 6  5 6 11")  # fmt: skip
SHAPES = {
    "sphere": 'type="sphere" size="0.7"',
    "default": 'size="0.3"',
    "capsule": 'type="capsule" size="0.2 0.6" pos="0.1 0.2 0.3" euler="10 20 30"',
    "capsule fromto": 'type="capsule" size="0.2" fromto="0.1 0 0.3 1 2 0.5"',
    "cylinder": 'type="cylinder" size="0.2 0.6" axisangle="1 2 3 40"',
    "cylinder fromto": 'type="cylinder" size="0.2" fromto="0.1 0 0.3 0.1 0 -0.5"',
    "ellipsoid": 'type="ellipsoid" size="0.2 0.6 0.4" zaxis="1 2 -3"',
    "ellipsoid fromto": 'type="ellipsoid" size="0.3" fromto="0.1 0 0.3 -1 2 0.5"',
    "box": 'type="box" size="0.2 0.6 0.4" xyaxes="1 2 0 -2 1 3"',
    "box fromto": 'type="box" size="0.3" fromto="0.1 0 0.3 -1 2 0.5"',
    "own mass": 'type="box" size="0.2 0.6 0.4" mass="3"',
    "own density": 'type="sphere" size="0.2" density="7800"',
    "no mass": 'type="sphere" size="0.2" mass="0"',
    "bent": 'type="mesh" mesh="bent" pos="1 0 0" quat="1 2 0 1"',
    "exact": 'type="mesh" mesh="bent exact"',
    "convex": 'type="mesh" mesh="bent convex" mass="2"',
    "shell": 'type="mesh" mesh="bent shell"',
    "blob": 'type="mesh" mesh="blob"',
    "scaled": 'type="mesh" mesh="bent scaled"',
    "moved": 'type="mesh" mesh="bent moved" pos="1 0 0"',
}


MESHES = {
    "blob": f'vertex="{BLOB}"',
    "bent": "",
    "bent exact": 'inertia="exact"',
    "bent convex": 'inertia="convex"',
    "bent shell": 'inertia="shell"',
    "bent scaled": 'scale="0.5 -1.5 2"',
    "bent moved": 'scale="0.5 1.5 2" refpos="1 2 3" refquat="1 2 0 0"',
}


def asset(geom: str) -> str:
    """The mesh that a geom names; MuJoCo 3.3 does not survive all of them in one file."""
    name = geom.partition('mesh="')[2].partition('"')[0] if "mesh=" in geom else ""
    faces = f'vertex="{BENT}" face="{BENT_FACES}"' if name.startswith("bent") else ""
    return f'<asset><mesh name="{name}" {faces} {MESHES[name]}/></asset>' if name else ""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_mass_of_shapes_is_mujocos(shape: str, tmp_path: Path) -> None:
    geoms = f'<geom {SHAPES[shape]}/><geom type="sphere" size="0.1" pos="0 0 3"/>'
    path = write(tmp_path, f'<body name="a"><freejoint name="f"/>{geoms}</body>', asset(SHAPES[shape]))
    compare_with_mujoco(path, 1, 1e-6 if "mesh" in SHAPES[shape] else 1e-9)


# Single statements of the format, each also read by MuJoCo

LUMP = '<geom type="box" size="0.1 0.2 0.3" mass="1"/>'
STATEMENTS = {
    "several joints": f"""<body name="a" pos="1 2 3" euler="10 20 30">{LUMP}
        <joint name="s" type="slide" axis="1 1 0" pos="1 0 0"/><joint name="h" axis="0 1 1" pos="0.1 0.2 0.3"/>
        <joint name="t" type="slide" axis="1 2 0"/><joint name="b" type="ball" pos="0 0 0.5"/></body>""",
    "references": f"""<body name="a" pos="1 2 3">{LUMP}<joint name="h" axis="0 1 1" pos="0.1 0.2 0.3" ref="40" springref="10"/>
        <body name="b" euler="0 0 90">{LUMP}<joint name="s" type="slide" axis="1 0 2" ref="0.3"/></body></body>""",
    "frames": f"""<frame pos="1 0 0" euler="0 90 0"><body name="a" pos="0 1 0"><frame euler="45 0 0" pos="0 0 1">
        <geom type="box" size="0.1 0.2 0.3"/><joint name="h" axis="1 0 0" pos="1 0 0"/><site name="tip" pos="0 0 1"/></frame>
        <frame pos="2 0 0"><frame zaxis="1 0 0"><body name="b">{LUMP}<joint name="k"/></body></frame></frame></body></frame>""",
    "no joint": f'<body name="a" pos="1 0 0"><joint name="h"/>{LUMP}<body name="b" pos="0 1 0" quat="2 0 0 1">{LUMP}</body></body>',
    "free": f'<body name="a" pos="1 0 0" euler="30 0 10"><freejoint name="f"/>{LUMP}<body name="b"><joint name="h"/>{LUMP}</body></body>',
    "inertials": """<body name="a"><joint name="h"/><inertial pos="1 2 3" mass="2" diaginertia="1 2 2.5" euler="30 20 10"/>
        <body name="b"><joint name="k"/><inertial pos="1 0 0" mass="2" fullinertia="1 2 2.5 0.1 0.2 -0.1"/></body></body>""",
}
COMPILERS = ["", 'angle="radian"', 'eulerseq="ZYX"', 'eulerseq="yxy"', 'inertiafromgeom="true"', 'boundmass="1.5" boundinertia="0.3"',
             'balanceinertia="true"', 'settotalmass="10"', 'boundmass="0.1"']  # fmt: skip


BOTH = [(s, c) for s in STATEMENTS for c in COMPILERS if s != "inertials" or "fromgeom" not in c]  # those bodies have no geoms


@pytest.mark.parametrize(("statement", "compiler"), BOTH)
def test_statements_are_read_as_mujoco_reads_them(statement: str, compiler: str, tmp_path: Path) -> None:
    compare_with_mujoco(write(tmp_path, STATEMENTS[statement], compiler=compiler), 2)


EQUALITIES = {
    "connect": '<connect name="e" body1="b" body2="d" anchor="0.1 0.2 0.3"/>',
    "connect to the world": '<connect body1="b" anchor="0.1 0.2 0.3"/>',
    "connect sites": '<connect site1="p" site2="q"/>',
    "weld": '<weld body1="b" body2="d" anchor="0.1 0.2 0.3"/>',
    "weld by relpose": '<weld body1="b" body2="d" relpose="0.3 0.1 0.2 0.9 0.1 0 0.3" anchor="0.05 0.06 0.07"/>',
    "weld sites": '<weld site1="p" site2="q"/>',
    "weld a point": '<weld body1="b" body2="d" anchor="0.1 0.2 0.3" torquescale="0"/>',
    "joint": '<joint joint1="h" joint2="k"/>',
    "polynomial": '<joint joint1="h" joint2="s" polycoef="0.1 0.5 -0.3 0.2 0.7"/>',
    "inactive": '<connect body1="b" body2="d" anchor="0.1 0.2 0.3" active="false"/>',
}


@pytest.mark.parametrize("equality", EQUALITIES)
def test_equalities_are_open_by_what_mujoco_says(equality: str, tmp_path: Path) -> None:
    bodies = f"""<body name="a" pos="1 0 0.2" euler="0 20 0"><joint name="h" axis="0 1 0" ref="30"/>{LUMP}
        <body name="b" pos="0 0 1"><joint name="k" ref="-20"/>{LUMP}<site name="p" pos="0.1 0.3 0" euler="10 0 0"/></body></body>
        <body name="c"><joint name="s" type="slide" axis="1 0 1" ref="0.4"/>{LUMP}
        <body name="d" pos="0 0 1"><joint name="l" axis="1 0 0"/>{LUMP}<site name="q" pos="0.2 0 0"/></body></body>"""
    path = write(tmp_path, bodies, f"<equality>{EQUALITIES[equality]}</equality>")
    compare_with_mujoco(path)
    robot, judge = as_stored(path), Judge(path)
    qpos = judge.random(np.random.default_rng(2))
    judge.place(qpos)
    now = robot.placed(judge.coordinates(qpos, robot))
    for joint in robot.closers:
        if joint.type == "fixed":  # MuJoCo's rows of a turn: its quaternion's vector, which is half the sine
            Ra, _, Rb, _ = robot.joint_frames(joint, now)
            assert np.linalg.norm(judge.open_by()[3:6]) == pytest.approx(np.linalg.norm(matrix_quaternion(Ra.T @ Rb)[1:]), abs=1e-9)


FOURBAR = f"""<body name="crank"><joint name="a" axis="0 1 0"/>{LUMP}
    <body name="rod" pos="0 0 1"><joint name="b" axis="0 1 0"/>{LUMP}</body></body>
    <body name="rocker" pos="2 0 0"><joint name="c" axis="0 1 0"/>{LUMP}</body>"""


def connects(*anchors: str) -> str:
    each = "".join(f'<connect name="c{k}" body1="rod" body2="rocker" anchor="{anchor}"/>' for k, anchor in enumerate(anchors))
    return f"<equality>{each}</equality>"


@pytest.mark.parametrize(
    ("anchors", "kind", "mobility"),
    [(["2 0 0"], "spherical", 1), (["2 -1 0", "2 1 0"], "revolute", 1), (["2 -1 0", "2 1 0", "2 3 0"], "revolute", 1),
     (["2 -1 0", "2 1 0", "2 0 1"], "fixed", 0), (["2 0 0", "2 0 0"], "spherical", 1)],
)  # fmt: skip
def test_connects_along_one_axis_are_a_hinge(anchors: list[str], kind: str, mobility: int, tmp_path: Path) -> None:
    imported = import_robot(write(tmp_path, FOURBAR, connects(*anchors)))
    [closer] = [j for j in imported.mechanism.joints if j.name.startswith("c0")]
    assert closer.type == kind
    assert inspect(imported.mechanism).mobility == mobility
    if kind == "revolute":
        assert np.allclose(np.abs(closer.axis), [0, 1, 0])
        assert any("one revolute joint" in line for line in imported.report)


def test_connects_by_sites_that_do_not_fit_stay_apart(tmp_path: Path) -> None:
    bodies = FOURBAR
    for joint, a, b, offset in (("b", "p1", "p2", 0.5), ("c", "q1", "q2", 0.6)):
        whole = f'<joint name="{joint}" axis="0 1 0"/>'
        bodies = bodies.replace(whole, f'{whole}<site name="{a}"/><site name="{b}" pos="0 {offset} 0"/>')
    both = '<equality><connect site1="p1" site2="q1"/><connect site1="p2" site2="q2"/></equality>'
    assert [j.type for j in as_stored(write(tmp_path, bodies, both)).closers] == ["spherical", "spherical"]


def test_a_joint_that_an_equality_holds_is_fixed(tmp_path: Path) -> None:
    path = write(tmp_path, STATEMENTS["references"], '<equality><joint joint1="h" polycoef="0.2 0 0 0 0"/></equality>')
    robot, judge = load_robot(path), Judge(path)
    assert {j.name: j.type for j in robot.joints}["h"] == "fixed"
    qpos = judge.model.qpos0.copy()
    qpos[0] += 0.2
    position, rotation = judge.place(qpos)
    assert np.allclose([b.pose.position for b in robot.bodies], position, atol=1e-12)
    assert np.allclose([b.pose.matrix for b in robot.bodies], rotation, atol=1e-12)


def test_classes_hand_down_and_are_overridden(tmp_path: Path) -> None:
    defaults = """<default><geom type="box" size="0.1 0.2 0.3"/><joint range="-10 10" axis="1 0 0"/>
        <default class="in"><geom size="0.5"/><joint axis="0 1 0"/>
        <default class="inner"><joint range="-20 20"/></default></default></default>"""
    body = """<body name="a" childclass="in"><joint name="h"/><geom/><body name="b"><joint name="k" class="inner"/><geom class="main"/>
        <frame childclass="inner"><body name="c"><joint name="l"/><geom size="1 1"/></body></frame></body></body>"""
    path = write(tmp_path, body, defaults)
    compare_with_mujoco(path)
    limits = {j.name: np.degrees(j.limits[0]) for j in load_robot(path).joints if j.motions}
    assert np.allclose([limits["h"], limits["k"], limits["l"]], [[-10, 10], [-20, 20], [-20, 20]])


@pytest.mark.parametrize(
    ("attributes", "compiler", "limits"),
    [('range="-10 20"', "", (-10, 20)), ('range="-10 20" limited="false"', "", None), ('range="-10 20"', 'autolimits="false"', None),
     ('range="-10 20" limited="true"', 'autolimits="false"', (-10, 20)), ('range="0 0"', "", None)],
)  # fmt: skip
def test_limits(attributes: str, compiler: str, limits: tuple[float, float] | None, tmp_path: Path) -> None:
    robot = load_robot(write(tmp_path, f'<body name="a"><joint name="h" {attributes}/></body>', compiler=compiler))
    assert np.allclose(np.degrees(robot.joints[-1].limits[0]), limits or (-np.inf, np.inf))


def test_the_rest_pose_is_the_home_keyframe(tmp_path: Path) -> None:
    body = f"""<body name="a" pos="0 0 1" euler="20 0 0"><freejoint name="f"/>{LUMP}<body name="b"><joint name="h" ref="10"/>{LUMP}
        <body name="c"><joint name="b" type="ball" pos="1 0 0"/>{LUMP}</body></body></body>"""
    keys = '<key name="other" qpos="1 0 0 1 0 0 0 0 1 0 0 0"/><key name="home" qpos="1 2 3 1 1 0 0 0.5 2 1 0 1"/>'
    path = write(tmp_path, body, f"<keyframe>{keys}</keyframe>")
    imported, judge = import_robot(path), Judge(path)
    position, rotation = judge.place(judge.model.key_qpos[1])
    assert np.allclose([b.pose.position for b in imported.mechanism.bodies], position, atol=1e-12)
    assert np.allclose([b.pose.matrix for b in imported.mechanism.bodies], rotation, atol=1e-12)
    assert any("keyframe 'home'" in line for line in imported.report)
    short = import_robot(write(tmp_path, body, '<keyframe><key qpos="1 2"/></keyframe>'))
    assert any("2 coordinates where the robot has 12" in warning for warning in short.warnings)


PART = f"""<mujoco><compiler angle="radian"/><default><joint axis="0 1 0"/></default><worldbody>
    <body name="stand" pos="5 0 0"><joint name="h"/>{LUMP}<body name="arm" pos="0 0 1" euler="0.3 0 0"><joint name="s" type="slide"/>
    <joint name="h2" ref="0.2"/>{LUMP}<body name="tip" pos="0 0 1"><joint name="k"/>{LUMP}<site name="p" pos="0 0.1 0"/></body></body>
    </body></worldbody><equality><joint joint1="k" joint2="h2"/><connect body1="tip" body2="stand" anchor="0 0 0"/></equality>
    <actuator><motor joint="h2"/></actuator></mujoco>"""


@pytest.mark.parametrize("body", ["stand", "arm", "tip"])
def test_attached_models(body: str, tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(PART)
    attach = f'<frame pos="0 2 0" euler="0 0 30"><attach model="part" body="{body}" prefix="l_"/></frame>'
    bodies = f'<body name="base" pos="1 0 0" euler="0 40 0"><joint name="h"/>{LUMP}{attach}</body>'
    more = '<asset><model name="part" file="part.xml"/></asset><equality><connect body1="base" body2="l_tip" anchor="1 2 3"/></equality>'
    compare_with_mujoco(write(tmp_path, bodies, more))
    place = f'<frame pos="0 2 0" euler="0 0 30"><attach model="part" body="{body}" prefix="l_"/></frame>'
    compare_with_mujoco(write(tmp_path, place, '<asset><model name="part" file="part.xml"/></asset>'))


def test_models_in_a_ring_and_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    for file, said in (("robot.xml", "in a ring"), ("../part.xml", "leads out"), ("none.xml", "no such file")):
        asset = f'<asset><model name="part" file="{file}"/></asset>'
        with pytest.raises(FormatError, match=said):
            load_robot(write(tmp_path, '<body name="a"><attach model="part" body="a" prefix="l_"/></body>', asset))


def test_motors(tmp_path: Path) -> None:
    drives = """<motor joint="f"/><motor name="m" joint="a" gear="50" ctrlrange="-2 3"/>
        <position joint="c" forcerange="-7 7"/><position joint="c"/>
        <velocity site="p" name="thruster"/>"""
    free = f'<body name="box"><freejoint name="f"/>{LUMP}</body>'
    path = write(tmp_path, FOURBAR + free, f"<actuator>{drives}</actuator>")
    imported = import_robot(path)
    assert imported.mechanism.actuators == ("a", "c")
    assert {j.name: j.effort_limit for j in imported.mechanism.actuated} == {"a": 150.0, "c": 7.0}
    assert any("f: a motor that pushes a free body" in warning for warning in imported.warnings)
    assert any("thruster" in warning and "not on a joint" in warning for warning in imported.warnings)


def test_a_tendon_over_coupled_joints_has_its_motor_on_the_one_that_leads(tmp_path: Path) -> None:
    tendon = '<tendon><fixed name="t"><joint joint="a" coef="0.5"/><joint joint="c" coef="0.5"/></fixed></tendon>'
    drive = '<actuator><motor name="m" tendon="t" forcerange="-4 4"/></actuator>'
    coupled = import_robot(write(tmp_path, FOURBAR, f'{tendon}{drive}<equality><joint joint1="a" joint2="c"/></equality>'))
    [motor] = coupled.mechanism.actuated
    assert (motor.name, motor.effort_limit) == ("c", 4.0)
    assert not coupled.warnings
    alone = import_robot(write(tmp_path, FOURBAR, tendon + drive))
    assert alone.mechanism.actuators == ("a",)
    assert any("moves a, c together" in warning for warning in alone.warnings)


def test_what_is_seen_is_what_mujocos_viewer_shows(tmp_path: Path) -> None:
    geoms = '<geom type="box" size="1 2 3" rgba="1 0 0 0.5" group="2"/><geom size="1" group="3"/>'
    geoms += '<geom type="capsule" size="1 2" material="m"/>'
    robot = load_robot(write(tmp_path, f'<body name="a">{geoms}</body>', '<asset><material name="m" rgba="0 1 0 1"/></asset>'))
    [box, capsule] = robot.bodies[0].visuals
    assert (box.shape, box.size, box.color) == ("box", (2.0, 4.0, 6.0), (1.0, 0.0, 0.0, 0.5))
    assert (capsule.shape, capsule.size, capsule.color) == ("capsule", (1.0, 4.0), (0.0, 1.0, 0.0, 1.0))
    hidden = load_robot(write(tmp_path, '<body name="a"><geom size="1" group="4"/></body>'))
    assert [v.shape for v in hidden.bodies[0].visuals] == ["sphere"], "a robot with nothing to see shows what it has"


def test_sites_become_frames(tmp_path: Path) -> None:
    imported = import_robot(write(tmp_path, '<site name="w"/><body name="a"><site name="tip" pos="1 0 0"/><site name="a"/><site/></body>'))
    assert [f.name for f in imported.mechanism.frames] == ["tip", "a_site"]
    assert imported.mechanism.frame("tip").pose.position == (1.0, 0.0, 0.0)
    assert any("'a_site'" in line for line in imported.report)


def test_names_of_any_alphabet_and_none(tmp_path: Path) -> None:
    path = write(tmp_path, '<body name="Arm-ä手"><joint name="Gelenk ß"/><body><joint/><joint/></body></body>')
    robot = load_robot(path)
    assert [b.name for b in robot.bodies] == ["Arm-ä手", "body_2_body_2", "body_2"]
    assert robot.actuators == ("Gelenk ß", "body_2", "body_2_2")
