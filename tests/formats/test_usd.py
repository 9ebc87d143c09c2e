"""UsdPhysics robots: what the files say against pxr's own reading of them, and single statements of the format."""

from __future__ import annotations

from math import inf, pi, radians
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.errors import FormatError
from robik.formats import import_robot, load_robot, save_robot
from robik.formats.usd_mesh import MeshReader
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD, Joint, Mechanism
from robik.retarget.clip import TargetClip, Track
from robik.retarget.retarget import retarget
from tests.formats import fuzz

pytest.importorskip("pxr", reason="needs usd-core")

from pxr import Gf, Usd, UsdGeom, UsdPhysics

SHARED = Path(__file__).resolve().parents[3] / "shared/data"
JOINTS = sorted(path.stem for path in (SHARED / "newton_usd/joints").glob("*.usda"))
ROBOTS = ["boxes_fourbar", "cartpole", "four_link_chain_articulation", "pendulum_revolute_vs_d6", "revolute_articulation"]
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
        limits = [(prim.GetAttribute(f"limit:{k}:physics:low").Get(), prim.GetAttribute(f"limit:{k}:physics:high").Get()) for k in kinds]
        free.append([i for i, (low, high) in enumerate(limits) if low is None or low < high])
    return free[0], free[1]


@pytest.mark.parametrize("name", FILES)
def test_joints_are_where_pxr_reads_them(name: str) -> None:
    path = shared(name)
    robot = load_robot(path)
    stage = Usd.Stage.Open(str(path))
    poses, (_, read) = frames(robot), read_by_pxr(path)
    joints = {j.name: j for j in robot.joints}
    assert {str(j.primPath).rpartition("/")[2] for j in read} == set(joints) - {"base"} | ({"base"} if "dr_test" in name else set())
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
        if prim.HasAPI(UsdPhysics.RigidBodyAPI) and prim.HasAPI(UsdPhysics.MassAPI) and prim.GetName() in robot.body_index:
            body, mass = robot.bodies[robot.body_index[prim.GetName()]], UsdPhysics.MassAPI(prim)
            xx, yy, zz, xy, xz, yz = body.inertia
            assert body.mass == mass.GetMassAttr().Get()
            given = sorted(mass.GetDiagonalInertiaAttr().Get())
            found = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            np.testing.assert_allclose(found, given, atol=1e-6 * max(given))


@pytest.mark.parametrize("name", TRAITS)
def test_robots_have_their_loops_mobility_and_motors(name: str) -> None:
    imported = import_robot(shared(name))
    found = inspect(imported.mechanism)
    assert (found.loops, found.mobility, imported.mechanism.actuators) == TRAITS[name]
    assert found.closure_residual < 1e-12


@pytest.mark.parametrize("name", JOINTS)
def test_single_joints_have_their_type_and_motors(name: str) -> None:
    kind, driven, unary = name.removeprefix("test_joint_").removeprefix("d6_").split("_")[0], "actuated" in name, "unary" in name
    robot = load_robot(shared(f"newton_usd/joints/{name}.usda"))
    [joint] = [j for j in robot.joints if j.name != "base"]
    if kind == "6dof":
        assert joint.type == "general"  # transY is locked
        assert joint.motions == ("tx", "tz", "rx", "ry", "rz")
    else:
        assert joint.type == kind
        assert inspect(robot).mobility == FREE[kind] + (0 if unary else 6)
    assert joint.parent == (WORLD if unary else "body_0")
    # a file that names no motors gets them on joints with one motion
    assert joint.actuated == (driven or kind in ("revolute", "prismatic"))


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
        points, faces = reader.read(path.parent / file, prim)
        there = UsdGeom.Mesh(stage.GetPrimAtPath(prim))
        np.testing.assert_array_equal(points, np.array(there.GetPointsAttr().Get()))
        assert len(faces) == len(there.GetFaceVertexCountsAttr().Get())
        assert 0.001 < np.ptp(points, axis=0).max() < 0.3


# Single statements, in files of our own


def usda(inner: str, head: str = 'metersPerUnit = 1\nupAxis = "Z"') -> str:
    return f'#usda 1.0\n(\ndefaultPrim = "r"\n{head}\n)\ndef Xform "r"\n{{\n{inner}\n}}\n'


def body(name: str, at: tuple[float, float, float] = (0, 0, 0), inner: str = "double physics:mass = 1", kind: str = "Xform") -> str:
    return f"""def {kind} "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        {inner}
        double3 xformOp:translate = {tuple(map(float, at))}
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
    """


def joint(name: str, kind: str, a: str, b: str, inner: str = "", schemas: tuple[str, ...] = ()) -> str:
    ends = [f"rel physics:body{i} = </r/{end}>" for i, end in enumerate((a, b)) if end != WORLD]
    applied = f"prepend apiSchemas = [{', '.join(f'{chr(34)}{s}{chr(34)}' for s in schemas)}]" if schemas else ""
    lines = "\n        ".join([*ends, *inner.split(";")])
    return f'def Physics{kind} "{name}" ({applied})\n    {{\n        {lines}\n    }}\n    '


def write(folder: Path, text: str, name: str = "robot.usda") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def only(robot: Mechanism, name: str) -> Joint:
    return next(j for j in robot.joints if j.name == name)


TWO = body("a") + body("b", (1, 0, 0))
HOLD = joint("hold", "FixedJoint", WORLD, "a")


def test_y_up_and_centimetres_become_z_up_and_metres(tmp_path: Path) -> None:
    limits = 'float physics:lowerLimit = -50;float physics:upperLimit = 100;uniform token physics:axis = "Y"'
    drive = ";float drive:linear:physics:maxForce = 300;float physxJoint:maxJointVelocity = 20"
    slide = joint("j", "PrismaticJoint", "a", "b", "point3f physics:localPos0 = (100, 0, 0);" + limits + drive, ("PhysicsDriveAPI:linear",))
    com = "float physics:mass = 2\nfloat3 physics:centerOfMass = (1, 2, 3)\nfloat3 physics:diagonalInertia = (10000, 20000, 30000)"
    cm = 'metersPerUnit = 0.01\nkilogramsPerUnit = 0.5\nupAxis = "Y"'
    robot = load_robot(write(tmp_path, usda(body("a") + body("b", (100, 30, 0), com) + HOLD + slide, cm)))
    b, j = robot.bodies[1], only(robot, "j")
    np.testing.assert_allclose(b.pose.position, [1, 0, 0.3], atol=1e-15)
    np.testing.assert_allclose(b.pose.matrix @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(j.axis, [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(j.limits, [(-0.5, 1.0)])
    np.testing.assert_allclose(j.rest, [0.3])
    assert (b.mass, j.actuated) == (1.0, True)
    assert j.effort_limit == pytest.approx(300 * 0.5 * 0.01)
    assert j.velocity_limit == pytest.approx(0.2)
    np.testing.assert_allclose(b.com, [0.01, 0.02, 0.03])
    np.testing.assert_allclose(b.inertia[:3], [0.5, 1.0, 1.5])


def test_a_file_without_units_is_in_centimetres_and_says_so(tmp_path: Path) -> None:
    weld = joint("j", "FixedJoint", "a", "b", "point3f physics:localPos0 = (1, 0, 0)")
    imported = import_robot(write(tmp_path, usda(TWO + HOLD + weld, "")))
    assert imported.mechanism.bodies[1].pose.position[0] == pytest.approx(0.01)
    assert any("centimetres" in line for line in imported.report)


def test_references_and_instances_are_unfolded(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    cube = 'def Cube "shape" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{\ndouble size = 0.1\n}'
    write(tmp_path / "parts", f'#usda 1.0\n(\ndefaultPrim = "part"\n)\ndef Xform "part"\n{{\n{cube}\ndef Xform "tip"\n{{\n'
          'double3 xformOp:translate = (0, 0, 0.5)\nuniform token[] xformOpOrder = ["xformOp:translate"]\n}\n}', "part.usda")  # fmt: skip
    parts = "".join(
        f'def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]\n)\n{{\ndef Xform "look{name}" (instanceable = true\n'
        f"prepend references = @parts/part.usda@)\n{{\n}}\n}}\n" for name in "ab"
    )  # fmt: skip
    path = write(tmp_path, usda(parts + HOLD + joint("j", "RevoluteJoint", "a", "b")))
    robot = load_robot(path)
    for each in robot.bodies:
        assert [(v.shape, v.size) for v in each.visuals] == [("box", (0.1, 0.1, 0.1))]
        assert each.mass == pytest.approx(1.0)  # a litre of the standard's 1000 kg/m³
    assert [(f.name, f.pose.position) for f in robot.frames] == [("tip", (0.0, 0.0, 0.5))]


def test_joints_against_the_world_may_name_it_on_either_side(tmp_path: Path) -> None:
    frame = "point3f physics:localPos0 = (1, 2, 3);float physics:lowerLimit = -10;float physics:upperLimit = 20"
    other = "point3f physics:localPos1 = (1, 2, 3);float physics:lowerLimit = -10;float physics:upperLimit = 20"
    for inner, a, b in ((frame, WORLD, "a"), (other, "a", WORLD)):
        robot = load_robot(write(tmp_path, usda(body("a", (1, 2, 3)) + joint("j", "RevoluteJoint", a, b, inner))))
        j = robot.joints[0]
        assert (j.parent, j.child) == (WORLD, "a")
        np.testing.assert_allclose(j.position, [1, 2, 3])
        np.testing.assert_allclose(j.limits, [(radians(-10), radians(20))])
        # body1 turns about body0: positive is the body against the world, or the world against the body
        np.testing.assert_allclose(j.axis, [1, 0, 0] if a == WORLD else [-1, 0, 0], atol=1e-15)


def d6(free: dict[str, tuple[float, float]], locked: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    lines = [f"float limit:{k}:physics:low = {lo};float limit:{k}:physics:high = {hi}" for k, (lo, hi) in free.items()]
    lines += [f"float limit:{k}:physics:low = 1;float limit:{k}:physics:high = -1" for k in locked]
    return ";".join(lines), tuple(f"PhysicsLimitAPI:{k}" for k in (*free, *locked))


ALL_SIX = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


@pytest.mark.parametrize(
    ("free", "kind", "axes", "limits"),
    [
        ({"rotZ": (-10, 20)}, "revolute", [2], [(radians(-10), radians(20))]),
        ({"transY": (-1, 2)}, "prismatic", [1], [(-1, 2)]),
        ({"transY": (-1, 2), "rotY": (-10, 20)}, "cylindrical", [1], [(-1, 2), (radians(-10), radians(20))]),
        ({"rotX": (-10, 20), "rotZ": (-30, 40)}, "universal", [0, 2], [(radians(-10), radians(20)), (radians(-30), radians(40))]),
        ({"transX": (-1, 2), "transZ": (-3, 4), "rotY": (-10, 20)}, "planar", [1, 2], [(-3, 4), (-1, 2), (radians(-10), radians(20))]),
        ({"transX": (-1, 2), "transY": (-3, 4), "rotZ": (-10, 20)}, "planar", [2, 0], [(-1, 2), (-3, 4), (radians(-10), radians(20))]),
        ({}, "fixed", [], []),
        ({"transX": (-1, 2), "rotZ": (-10, 20)}, "general", [0, 1], [(-1, 2), (radians(-10), radians(20))]),
    ],
)  # fmt: skip
def test_a_plain_joint_is_what_its_limits_leave_free(free: dict, kind: str, axes: list[int], limits: list, tmp_path: Path) -> None:
    inner, schemas = d6(free, tuple(k for k in ALL_SIX if k not in free))
    robot = load_robot(write(tmp_path, usda(body("a") + body("b") + HOLD + joint("j", "Joint", "a", "b", inner, schemas))))
    j = only(robot, "j")
    assert j.type == kind
    if axes:
        np.testing.assert_allclose(j.axis, np.eye(3)[axes[0]], atol=1e-15)
    if len(axes) > 1:
        np.testing.assert_allclose(j.axis2, np.eye(3)[axes[1]], atol=1e-15)
    np.testing.assert_allclose(np.ravel(j.limits), np.ravel(limits), atol=1e-15)


@pytest.mark.parametrize(("low", "high", "mobility"), [(0.5, 0.5, 6), (0.2, 2.0, 7)])
def test_a_distance_is_a_rod(low: float, high: float, mobility: int, tmp_path: Path) -> None:
    inner = f"point3f physics:localPos0 = (0.5, 0, 0);float physics:minDistance = {low};float physics:maxDistance = {high}"
    robot = load_robot(write(tmp_path, usda(TWO + HOLD + joint("d", "DistanceJoint", "a", "b", inner))))
    found = inspect(robot)
    # the body keeps six motions less the distance; the rod's spin about itself is the ball's, not its universal joint's
    assert found.mobility == mobility - 1
    assert [b.mass for b in robot.bodies] == [1, 1, 0]
    ball = only(robot, "d")
    assert np.linalg.norm(np.subtract(ball.position, (0.5, 0, 0))) == pytest.approx(0.5)
    if low < high:
        assert ball.limits[0] == pytest.approx((low, high))
        assert ball.rest[0] == pytest.approx(0.5)


def test_joints_out_of_the_articulation_close_loops(tmp_path: Path) -> None:
    corners = {"a": (0, 0, 0), "b": (1, 0, 0), "c": (1, 1, 0), "d": (0, 1, 0)}
    names = list(corners)
    bars = "".join(body(name, at) for name, at in corners.items())
    hinges = HOLD
    for i, (a, b) in enumerate(zip(names, [*names[1:], "a"], strict=True)):
        step = tuple(np.subtract(corners[b], corners[a]).astype(float))
        # the first joint is the one to leave out
        inner = f'uniform token physics:axis = "Z";point3f physics:localPos0 = {step};bool physics:excludeFromArticulation = {int(i == 0)}'
        hinges += joint(f"j{i}", "RevoluteJoint", a, b, inner)
    robot = load_robot(write(tmp_path, usda(bars + hinges)))
    assert [j.name for j in robot.joints] == ["hold", "j1", "j2", "j3", "j0"]
    found = inspect(robot)
    assert (found.loops, found.mobility, len(found.actuators)) == (1, 1, 1)


def test_mass_comes_from_shapes_and_densities_as_pxr_has_it(tmp_path: Path) -> None:
    shapes = """
        def Cube "cube" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"])
        {
          double size = 1
          float physics:density = 500
          float3 xformOp:scale = (0.1, 0.2, 0.3)
          float3 xformOp:rotateXYZ = (10, 20, 30)
          double3 xformOp:translate = (0.5, 0, 0)
          uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]
        }
        def Sphere "ball" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"])
        {
          double radius = 0.1
          float physics:mass = 3
        }
        def Capsule "pill" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
          double radius = 0.05
          double height = 0.2
          uniform token axis = "X"
          double3 xformOp:translate = (0, 0, 1)
          uniform token[] xformOpOrder = ["xformOp:translate"]
        }
        def Sphere "seen"
        {
          double radius = 9
        }"""
    path = write(tmp_path, usda(body("a", inner="float physics:density = 2000\n" + shapes) + HOLD))
    [found] = load_robot(path).bodies
    stage = Usd.Stage.Open(str(path))

    def information(prim: Usd.Prim) -> UsdPhysics.RigidBodyAPI.MassInformation:
        info = UsdPhysics.RigidBodyAPI.MassInformation()
        T = Gf.Transform(UsdGeom.Xformable(prim).GetLocalTransformation())
        info.localPos, info.centerOfMass = Gf.Vec3f(T.GetTranslation()), Gf.Vec3f(0)
        info.localRot = Gf.Quatf(T.GetRotation().GetQuat())
        if prim.GetName() == "cube":
            x, y, z = 0.1, 0.2, 0.3
            info.volume, inertia = x * y * z, np.array([y * y + z * z, x * x + z * z, x * x + y * y]) / 12 * (x * y * z)
        elif prim.GetName() == "ball":
            info.volume = 4 / 3 * pi * 0.1**3
            inertia = np.full(3, 0.4 * 0.1**2 * info.volume)
        else:
            r, h = 0.05, 0.2
            tube, caps = pi * r * r * h, 4 / 3 * pi * r**3
            across = tube * (r * r / 4 + h * h / 12) + caps * (0.4 * r * r + h * h / 4 + 3 / 8 * h * r)
            info.volume, inertia = tube + caps, np.array([tube * r * r / 2 + caps * 0.4 * r * r, across, across])
        info.inertia = Gf.Matrix3f(*np.diag(inertia).ravel().tolist())
        return info

    mass, diagonal, com, axes = UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath("/r/a")).ComputeMassProperties(information)
    assert found.mass == pytest.approx(mass, rel=1e-5)
    np.testing.assert_allclose(found.com, com, atol=1e-6)
    R = Rotation.from_quat([*axes.imaginary, axes.real]).as_matrix()
    xx, yy, zz, xy, xz, yz = found.inertia
    np.testing.assert_allclose([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], R @ np.diag(diagonal) @ R.T, rtol=1e-4, atol=1e-5)
    assert {v.shape for v in found.visuals} == {"box", "sphere", "capsule"}


def test_what_hangs_on_no_joint_is_left_out_and_named(tmp_path: Path) -> None:
    hinge = joint("j", "RevoluteJoint", "a", "b", "point3f physics:localPos0 = (1, 0, 0)")
    imported = import_robot(write(tmp_path, usda(TWO + HOLD + hinge + body("ball"))))
    assert [b.name for b in imported.mechanism.bodies] == ["a", "b"]
    assert any(w.startswith("ball: no joint") for w in imported.warnings)


def test_a_joint_may_name_a_prim_below_its_body(tmp_path: Path) -> None:
    site = 'def Xform "site"\n{\ndouble3 xformOp:translate = (0, 0, 2)\nuniform token[] xformOpOrder = ["xformOp:translate"]\n}'
    hinge = joint("j", "RevoluteJoint", "a/site", "b")
    robot = load_robot(write(tmp_path, usda(body("a", inner=site) + body("b", (0, 0, 2)) + HOLD + hinge)))
    j = only(robot, "j")
    assert (j.parent, j.child) == ("a", "b")
    np.testing.assert_allclose(j.position, [0, 0, 2])
    np.testing.assert_allclose(robot.bodies[1].pose.position, [0, 0, 2])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not USD"),
        ("#usda 1.0\ndef Xform {", "not USD"),
        ("#usda 1.0\ndef Xform \"r\" {}", "no rigid body"),
        (usda(TWO + joint("j", "RevoluteJoint", "a", "c")), "not there"),
        (usda(TWO + joint("j", "RevoluteJoint", "a", "b", "quatf physics:localRot0 = (0, 0, 0, 0)")), "unit quaternion"),
        (usda(TWO + joint("j", "RevoluteJoint", "a", "b", "point3f physics:localPos0 = (nan, 0, 0)")), "three numbers"),
        (usda(TWO + joint("j", "RevoluteJoint", "a", "b", "uniform token physics:axis = \"W\"")), "X, Y or Z"),
        (usda(TWO + joint("j", "Joint", "a", "b").replace('"j" (', '"j" (customData = {string dofs = "odd"}\n')), "custom data 'dofs'"),
        (usda(body("a", inner="float physics:mass = -1") + HOLD), "mass must be"),
        (usda(TWO, "metersPerUnit = 0"), "units"),
        (usda(body("a") + HOLD, "subLayers = [@../secret.usda@]"), "leads out of its folder"),
        (usda(body("a").replace('"a" (', '"a" (prepend references = @/etc/passwd@\n') + HOLD), "only references to"),
        (usda(body("a").replace('"a" (', '"a" (prepend references = @//host/a.usda@\n') + HOLD), "another computer"),
        (usda(body("a").replace('"a" (', '"a" (prepend references = @`"${X}"`@\n') + HOLD), "computed"),
        (usda(TWO + joint("j", "DistanceJoint", "a", "b", "float physics:minDistance = 2;float physics:maxDistance = 1")), "least dist"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_in_one_sentence(text: str, says: str, tmp_path: Path) -> None:
    write(tmp_path, usda(TWO), "secret.usda")
    (tmp_path / "robot").mkdir()
    path = write(tmp_path / "robot", text)
    with pytest.raises(FormatError, match=says) as raised:
        load_robot(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_references_that_multiply_are_not_unfolded(tmp_path: Path) -> None:
    levels = ""
    for i in range(30):
        levels += f'def Xform "n{i}"\n{{\n' + "".join(f'def Xform "{k}" (references = </n{i + 1}>) {{}}\n' for k in "ab") + "}\n"
    path = write(tmp_path, f'#usda 1.0\n{levels}\ndef Xform "n30" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{}}\n')
    with pytest.raises(FormatError, match="unfold"):
        load_robot(path)


def test_references_in_a_ring_end(tmp_path: Path) -> None:
    path = write(tmp_path, usda(body("a").replace('"a" (', '"a" (prepend references = @robot.usda@\n') + HOLD))
    imported = import_robot(path)
    assert any(w.startswith("a part of it is missing") and "\n" not in w for w in imported.warnings)


def test_without_pxr_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(FormatError, match="usd-core"):
        load_robot(write(tmp_path, usda(TWO)))


@pytest.mark.parametrize("seed", range(5))
def test_mutated_files_end_in_a_robot_or_in_a_sentence(seed: int, tmp_path: Path) -> None:
    inner, schemas = d6({"transX": (-1, 2), "rotZ": (-10, 20)}, ("transY", "transZ", "rotX", "rotY"))
    hinge = joint("k", "RevoluteJoint", "b", "c", "float physics:lowerLimit = -10;quatf physics:localRot0 = (1, 0, 0, 0)")
    text = usda(TWO + body("c") + HOLD + joint("j", "Joint", "a", "b", inner, (*schemas, "PhysicsDriveAPI:rotZ")) + hinge)
    words = ["X", "angular", "PhysicsJoint", "PhysicsFixedJoint", "</r/a>", "</r>", "None", "@robot.usda@", "[]"]
    outcomes = fuzz.import_mutants(tmp_path / "robot.usda", [text], seed, fuzz.CASES // 5, words)
    assert {Mechanism, FormatError} <= set(outcomes)


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


def test_broken_binary_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "robot.usdc"
    hinge = joint("j", "RevoluteJoint", "a", "b", "point3f physics:localPos0 = (1, 0, 0)")
    Usd.Stage.Open(str(write(tmp_path, usda(TWO + HOLD + hinge)))).Export(str(path))
    assert len(load_robot(path).bodies) == 2
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for case in range(60):
        broken = bytearray(whole[: rng.integers(len(whole))] if case % 2 else whole)
        for at in rng.integers(0, max(len(broken), 1), 0 if case % 2 else 4):
            broken[at] = rng.integers(256)
        cut = tmp_path / f"broken{case}.usdc"
        cut.write_bytes(broken)
        outcome = fuzz.outcome_of(cut)
        assert "\n" not in str(outcome)


# What other schemas add


def test_several_joints_between_two_bodies_are_read_one_after_the_other(tmp_path: Path) -> None:
    turned = "quatf physics:localRot0 = (0.9238795, 0, 0.3826834, 0);quatf physics:localRot1 = (0.9238795, 0, 0.3826834, 0)"
    at = "point3f physics:localPos0 = (1, 0, 0.5);point3f physics:localPos1 = (0, 0, 0.5)"
    pair = joint("y", "RevoluteJoint", "a", "b", f'uniform token physics:axis = "Y";{at}')
    pair += joint("x", "RevoluteJoint", "a", "b", f'uniform token physics:axis = "X";{at};{turned}')
    imported = import_robot(write(tmp_path, usda(TWO + HOLD + pair)))
    robot = imported.mechanism
    assert (inspect(robot).loops, inspect(robot).mobility) == (0, 2)
    assert any("one after the other" in w for w in imported.warnings)
    position, quaternion, _ = body_poses(robot, np.array([[0.3, 0.4]]), None)
    first = Rotation.from_rotvec([0, 0.3, 0])
    second = Rotation.from_rotvec(0.4 * Rotation.from_euler("y", 45, degrees=True).apply([1, 0, 0]))
    found = Rotation.from_quat(quaternion[0, robot.body_index["b"]], scalar_first=True)
    assert (found.inv() * first * second).magnitude() < 1e-6
    anchor = np.array([1, 0, 0.5])
    np.testing.assert_allclose(position[0, robot.body_index["b"]], anchor + found.apply([0, 0, -0.5]), atol=1e-6)


def test_two_hinges_of_a_door_stay_a_loop(tmp_path: Path) -> None:
    hinges = "".join(
        joint(f"h{z}", "RevoluteJoint", "a", "b", f'uniform token physics:axis = "Z";point3f physics:localPos0 = (1, 0, {z})'
              f";point3f physics:localPos1 = (0, 0, {z})") for z in (0, 1)
    )  # fmt: skip
    found = inspect(load_robot(write(tmp_path, usda(TWO + HOLD + hinges))))
    assert (found.loops, found.mobility, found.redundant_rows) == (1, 1, 5)


def test_actuators_of_their_own_name_the_motors(tmp_path: Path) -> None:
    chain = body("c", (2, 0, 0)) + joint("one", "RevoluteJoint", "a", "b") + joint("two", "RevoluteJoint", "b", "c")
    for kind, relation in (("MjcActuator", "mjc:target"), ("NewtonActuator", "newton:targets")):
        actuator = f'def {kind} "m"\n{{\nrel {relation} = </r/two>\n}}\n'
        assert load_robot(write(tmp_path, usda(TWO + HOLD + chain + actuator))).actuators == ("two",)


@pytest.mark.parametrize(
    ("schema", "inner", "coefficients"),
    [
        ("MjcEqualityJointAPI", "double mjc:coef0 = 0.5;double mjc:coef1 = 1.5;rel mjc:target = </r/one>", (0.5, 1.5, 0, 0, 0)),
        ("NewtonMimicAPI", "float newton:mimicCoef0 = 90;float newton:mimicCoef1 = 2;rel newton:mimicJoint = </r/one>", (pi / 2, 2)),
        (
            "PhysxMimicJointAPI:rotX",
            "float physxMimicJoint:rotX:gearing = 2;float physxMimicJoint:rotX:offset = 90;"
            "rel physxMimicJoint:rotX:referenceJoint = </r/one>",
            (-pi / 2, -2),
        ),
    ],
)
def test_joints_that_follow_others_are_coupled(schema: str, inner: str, coefficients: tuple[float, ...], tmp_path: Path) -> None:
    chain = body("c", (2, 0, 0)) + joint("one", "RevoluteJoint", "a", "b") + joint("two", "RevoluteJoint", "b", "c", inner, (schema,))
    robot = load_robot(write(tmp_path, usda(TWO + HOLD + chain)))
    [coupling] = robot.couplings
    assert (coupling.follower, coupling.leader) == ("two", "one")
    assert coupling.coefficients == pytest.approx(coefficients)
    assert robot.actuators == ("one",)
