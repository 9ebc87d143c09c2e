"""UsdPhysics bodies: units, references, masses, in files of the tests' own."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.formats import import_robot, load_robot

pytest.importorskip("pxr", reason="needs usd-core")

from pxr import Gf, Usd, UsdGeom, UsdPhysics

from tests.formats.usd_text import HOLD, TWO, body, joint, only, usda, write


def test_y_up_and_centimetres_become_z_up_and_metres(tmp_path: Path) -> None:
    limits = 'float physics:lowerLimit = -50;float physics:upperLimit = 100;uniform token physics:axis = "Y"'
    drive = ";float drive:linear:physics:maxForce = 300;float physxJoint:maxJointVelocity = 20"
    slide = joint(
        "j",
        "PrismaticJoint",
        "a",
        "b",
        "point3f physics:localPos0 = (100, 0, 0);" + limits + drive,
        ("PhysicsDriveAPI:linear",),
    )
    com = (
        "float physics:mass = 2\nfloat3 physics:centerOfMass = (1, 2, 3)\nfloat3 physics:diagonalInertia = (10000,"
        " 20000, 30000)"
    )
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
    write(tmp_path / "parts",
          f'#usda 1.0\n(\ndefaultPrim = "part"\n)\ndef Xform "part"\n{{\n{cube}\ndef Xform "tip"\n{{\n'
          'double3 xformOp:translate = (0, 0, 0.5)\nuniform token[] xformOpOrder = ["xformOp:translate"]\n}\n}',
          "part.usda")  # fmt: skip
    parts = "".join(
        f'def Xform "{name}" (prepend apiSchemas = '
        f'["PhysicsRigidBodyAPI"]\n)\n{{\ndef Xform "look{name}" (instanceable = true\n'
        f"prepend references = @parts/part.usda@)\n{{\n}}\n}}\n" for name in "ab"
    )  # fmt: skip
    path = write(tmp_path, usda(parts + HOLD + joint("j", "RevoluteJoint", "a", "b")))
    robot = load_robot(path)
    for each in robot.bodies:
        assert [(v.shape, v.size) for v in each.visuals] == [("box", (0.1, 0.1, 0.1))]
        assert each.mass == pytest.approx(1.0)  # a litre of the standard's 1000 kg/m³
    assert [(f.name, f.pose.position) for f in robot.frames] == [("tip", (0.0, 0.0, 0.5))]


@pytest.mark.parametrize("said", ["", "point3f physics:centerOfMass = (0.1, 0.2, 0.3)\n", "float physics:mass = 7\n"])
def test_mass_comes_from_shapes_and_densities_as_pxr_has_it(said: str, tmp_path: Path) -> None:
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
    path = write(tmp_path, usda(body("a", inner="float physics:density = 2000\n" + said + shapes) + HOLD))
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
    np.testing.assert_allclose(
        [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], R @ np.diag(diagonal) @ R.T, rtol=1e-4, atol=1e-5
    )
    assert {v.shape for v in found.visuals} == {"box", "sphere", "capsule"}


def test_what_hangs_on_no_joint_is_left_out_and_named(tmp_path: Path) -> None:
    hinge = joint("j", "RevoluteJoint", "a", "b", "point3f physics:localPos0 = (1, 0, 0)")
    imported = import_robot(write(tmp_path, usda(TWO + HOLD + hinge + body("ball"))))
    assert [b.name for b in imported.mechanism.bodies] == ["a", "b"]
    assert any(w.startswith("ball: no joint") for w in imported.warnings)


def test_shapes_of_what_is_left_out_are_not_read(tmp_path: Path) -> None:
    flat = body("ball", inner='def Sphere "shape"\n{\ndouble radius = -1\n}')
    imported = import_robot(
        write(
            tmp_path,
            usda(TWO + HOLD + joint("j", "RevoluteJoint", "a", "b", "point3f physics:localPos0 = (1, 0, 0)") + flat),
        )
    )
    assert [b.name for b in imported.mechanism.bodies] == ["a", "b"]
