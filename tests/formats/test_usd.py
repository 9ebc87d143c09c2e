"""UsdPhysics robots that others made: joints, bodies and masses against pxr's own reading of the files."""

from __future__ import annotations

from math import inf, pi
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.clips.clip import TargetClip, Track
from robik.formats import import_robot, load_robot, save_robot
from robik.formats.usd.mesh import MeshReader
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD, Mechanism
from robik.retargeting.retarget import retarget

pytest.importorskip("pxr", reason="needs usd-core")

from pxr import Gf, Usd, UsdGeom, UsdPhysics

SHARED = Path(__file__).resolve().parents[3] / "shared/data"
JOINTS = sorted(path.stem for path in (SHARED / "newton_usd/joints").glob("*.usda"))
ROBOTS = [
    "boxes_fourbar",
    "cartpole",
    "four_link_chain_articulation",
    "pendulum_revolute_vs_d6",
    "revolute_articulation",
]
FILES = [f"newton_usd/{name}.usda" for name in ROBOTS] + [f"newton_usd/joints/{name}.usda" for name in JOINTS]
FILES += ["dr_testmech/usd/dr_testmech.usda"]
TRAITS = {  # loops, mobility (a floating base counts), motors
    "newton_usd/boxes_fourbar.usda": (1, 7, ("joint_1", "joint_3")),
    "newton_usd/cartpole.usda": (0, 3, ("railCartJoint", "cartPoleJoint", "polePoleJoint")),
    "newton_usd/four_link_chain_articulation.usda": (0, 3, ("Joint1", "Joint2", "Joint3")),
    "newton_usd/pendulum_revolute_vs_d6.usda": (0, 2, ("Revolute", "D6")),
    "newton_usd/revolute_articulation.usda": (0, 1, ("RevoluteJoint",)),
    "dr_testmech/usd/dr_testmech.usda": (4, 1, ("motor",)),
}
FREE = {"fixed": 0, "revolute": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "spherical": 3, "cartesian": 3}


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


# pxr's reading, put together by other means than the importer's.


def transform(position: Gf.Vec3f, quaternion: Gf.Quatf) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat([*quaternion.imaginary, quaternion.real]).as_matrix()
    T[:3, 3] = position
    return T


def read_by_pxr(path: Path) -> tuple[dict[str, np.ndarray], list[UsdPhysics.JointDesc]]:
    """Path of each body → its frame in the world, and the joints."""
    stage = Usd.Stage.Open(str(path))
    bodies, joints = {"": np.eye(4)}, []
    for kind, (_, found) in UsdPhysics.UsdPhysicsLoadStageFromPrimRange(stage, ["/"]).items():
        for item in found:
            if kind == UsdPhysics.ObjectType.RigidBody:
                bodies[str(item.primPath)] = transform(item.position, item.rotation)
            elif isinstance(item, UsdPhysics.JointDesc):
                joints.append(item)
    return bodies, joints


def frames(robot: Mechanism) -> dict[str, np.ndarray]:
    poses = {WORLD: np.eye(4)}
    for body in robot.bodies:
        poses[body.name] = np.eye(4)
        poses[body.name][:3, :3] = Rotation.from_quat(body.pose.quaternion, scalar_first=True).as_matrix()
        poses[body.name][:3, 3] = body.pose.position
    return poses


def free_motions(joint: UsdPhysics.JointDesc, stage: Usd.Stage) -> tuple[list[int], list[int]]:
    """Axes of the joint's own frame that it slides along and turns about."""
    axis = {"X": 0, "Y": 1, "Z": 2}
    if isinstance(joint, UsdPhysics.RevoluteJointDesc):
        return [], [axis[str(joint.axis)]]
    if isinstance(joint, UsdPhysics.PrismaticJointDesc):
        return [axis[str(joint.axis)]], []
    if isinstance(joint, UsdPhysics.SphericalJointDesc):
        return [], [0, 1, 2]
    if isinstance(joint, UsdPhysics.FixedJointDesc):
        return [], []
    prim = stage.GetPrimAtPath(joint.primPath)
    named = {"universal": ([], [0, 1]), "cylindrical": ([0], [0]), "cartesian": ([0, 1, 2], [])}
    if prim.GetCustomDataByKey("dofs") and not len(joint.jointLimits):
        return named[prim.GetCustomDataByKey("dofs")]
    free = []
    for kinds in (("transX", "transY", "transZ"), ("rotX", "rotY", "rotZ")):
        limits = [
            (prim.GetAttribute(f"limit:{k}:physics:low").Get(), prim.GetAttribute(f"limit:{k}:physics:high").Get())
            for k in kinds
        ]
        free.append([i for i, (low, high) in enumerate(limits) if low is None or low < high])
    return free[0], free[1]


@pytest.mark.parametrize("name", FILES)
def test_joints_are_where_pxr_reads_them(name: str) -> None:
    path = shared(name)
    robot = load_robot(path)
    stage = Usd.Stage.Open(str(path))
    poses, (_, read) = frames(robot), read_by_pxr(path)
    joints = {j.name: j for j in robot.joints}
    assert {str(j.primPath).rpartition("/")[2] for j in read} == set(joints) - {"base"} | (
        {"base"} if "dr_test" in name else set()
    )
    for there in read:
        joint = joints[str(there.primPath).rpartition("/")[2]]
        ends = [str(p).rpartition("/")[2] or WORLD for p in (there.body0, there.body1)]
        a = poses[ends[0]] @ transform(there.localPose0Position, there.localPose0Orientation)
        b = poses[ends[1]] @ transform(there.localPose1Position, there.localPose1Orientation)
        assert {joint.parent, joint.child} == set(ends)
        np.testing.assert_allclose(joint.position, b[:3, 3], atol=1e-6)
        relative = np.linalg.inv(a) @ b
        slides, turns = free_motions(there, stage)
        assert len(joint.motions) == len(slides) + len(turns)
        for k in set(range(3)) - set(slides):
            assert relative[k, 3] == pytest.approx(0, abs=1e-6)
        if len(turns) < 2:
            for k in turns or range(3):
                np.testing.assert_allclose(relative[:3, k], np.eye(3)[k], atol=1e-6)
        if len(turns) == 2:
            assert relative[turns[0], turns[1]] == pytest.approx(0, abs=1e-6)
        if len(turns) == 1 or (len(slides) == 1 and not turns):
            assert abs(np.array(joint.axis) @ b[:3, (turns or slides)[0]]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", ["newton_usd/boxes_fourbar.usda", "newton_usd/revolute_articulation.usda", FILES[-1]])
def test_bodies_rest_where_they_are_stored(name: str) -> None:
    path = shared(name)
    poses, (stored, _) = frames(load_robot(path)), read_by_pxr(path)
    for at, T in stored.items():
        np.testing.assert_allclose(poses[at.rpartition("/")[2] or WORLD], T, atol=1e-6)


@pytest.mark.parametrize("name", FILES)
def test_masses_are_the_files(name: str) -> None:
    path = shared(name)
    robot, stage = load_robot(path), Usd.Stage.Open(str(path))
    for prim in stage.Traverse():
        if (
            prim.HasAPI(UsdPhysics.RigidBodyAPI)
            and prim.HasAPI(UsdPhysics.MassAPI)
            and prim.GetName() in robot.body_index
        ):
            body, mass = robot.bodies[robot.body_index[prim.GetName()]], UsdPhysics.MassAPI(prim)
            assert body.mass == mass.GetMassAttr().Get()
            given = sorted(mass.GetDiagonalInertiaAttr().Get())
            found = np.linalg.eigvalsh(body.inertia_matrix)
            np.testing.assert_allclose(found, given, atol=1e-6 * max(given))


@pytest.mark.parametrize("name", TRAITS)
def test_robots_have_their_loops_mobility_and_motors(name: str) -> None:
    imported = import_robot(shared(name))
    found = inspect(imported.mechanism)
    assert (found.loops, found.mobility, imported.mechanism.actuators) == TRAITS[name]
    assert found.closure_residual < 1e-12


@pytest.mark.parametrize("name", JOINTS)
def test_single_joints_have_their_type_and_motors(name: str) -> None:
    kind, driven, unary = (
        name.removeprefix("test_joint_").removeprefix("d6_").split("_")[0],
        "actuated" in name,
        "unary" in name,
    )
    robot = load_robot(shared(f"newton_usd/joints/{name}.usda"))
    [joint] = [j for j in robot.joints if j.name != "base"]
    if kind == "6dof":
        assert joint.type == "general"  # transY is locked
        assert joint.motions == ("tx", "tz", "rx", "ry", "rz")
    else:
        assert joint.type == kind
        assert inspect(robot).mobility == FREE[kind] + (0 if unary else 6)
    assert joint.parent == (WORLD if unary else "body_0")
    # a file that names no motors gets them on joints with one motion and on universal ones
    assert joint.actuated == (driven or kind in ("revolute", "prismatic", "universal"))


@pytest.mark.parametrize("name", FILES)
def test_a_native_copy_changes_nothing(name: str, tmp_path: Path) -> None:
    robot = load_robot(shared(name))
    save_robot(robot, tmp_path / "copy.robik.json")
    assert repr(load_robot(tmp_path / "copy.robik.json")) == repr(robot)


def test_limits_are_degrees_and_may_be_infinite() -> None:
    robot = load_robot(shared("newton_usd/boxes_fourbar.usda"))
    for joint in robot.joints[1:]:
        np.testing.assert_allclose(joint.limits, [(-pi / 4, pi / 4)])
    robot = load_robot(shared("dr_testmech/usd/dr_testmech.usda"))
    assert [j.limits for j in robot.actuated] == [((-inf, inf),)]


def test_meshes_are_referred_to_by_their_prims() -> None:
    path = shared("dr_testmech/usd/dr_testmech.usda")
    robot = load_robot(path)
    reader, stage = MeshReader(), Usd.Stage.Open(str(path))
    for body in robot.bodies:
        [visual] = body.visuals
        file, _, prim = visual.file.partition("#")
        surface = reader.read(path.parent / file, prim)
        points, faces = surface.points, surface.faces
        there = UsdGeom.Mesh(stage.GetPrimAtPath(prim))
        np.testing.assert_array_equal(points, np.array(there.GetPointsAttr().Get()))
        assert len(faces) == len(there.GetFaceVertexCountsAttr().Get())
        assert 0.001 < np.ptp(points, axis=0).max() < 0.3


def test_the_papers_mechanism_follows_its_end_effector_all_the_way_round() -> None:
    robot = load_robot(shared("dr_testmech/usd/dr_testmech.usda"))
    motor = np.linspace(0, 2 * pi, 241)  # nothing stops it, so its whole range is a turn
    position, _, residual = body_poses(robot, motor[:, None], None)
    assert residual.max() < 1e-10
    path = position[:, robot.body_index["endeffector"]]
    assert np.ptp(path, axis=0).min() > 0.015
    np.testing.assert_allclose(path[-1], path[0], atol=1e-9)
    motion = retarget(robot, TargetClip(np.arange(len(path)) / 120, {"endeffector": Track(position=path)}))
    assert motion.report.residual.max() < 1e-10
    # The regularizer holds back by a little; the way round is found from the targets alone.
    assert np.abs(motion.values[:, 0] - motor).max() < 1e-3
    assert motion.report.position_error.max() < 1e-5
