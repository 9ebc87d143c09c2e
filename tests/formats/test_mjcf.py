"""MJCF robots: poses, masses and equalities equal MuJoCo's; what is unclear is said; bad files are refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.formats import import_robot, load_robot, mjcf, save_robot
from robik.formats.imported import Notes
from robik.formats.open_robot import OpenRobot
from robik.kinematics.mobility import inspect
from tests.formats.mujoco_judge import Judge, inertia_matrix

# Robot → joints with motion in MuJoCo's count, loops, mobility, motors.
ROBOTS = {
    "robotiq_2f85/2f85.xml": (2, 3, 1),
    "robotiq_2f85/scene.xml": (2, 9, 1),
    "iit_softfoot/softfoot.xml": (5, 37, 37),
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
