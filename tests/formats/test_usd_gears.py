"""PhysX's gears in USD: teeth that mesh do not slip, whichever way the joints of the wheels are drawn."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest

from robik.formats import import_robot
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD

pytest.importorskip("pxr", reason="needs usd-core")

from tests.formats.usd_text import body, joint, usda, write

SMALL, LARGE = 0.2, 0.5  # radii of the wheels [m]
X_TO_Z, X_TO_MINUS_Z = "(0.70710678118, 0, -0.70710678118, 0)", "(0.70710678118, 0, 0.70710678118, 0)"
HALF_ABOUT_X = "(0, 1, 0, 0)"
BODIES = (
    body("base") + body("small") + body("large", (SMALL + LARGE, 0, 0)) + joint("hold", "FixedJoint", WORLD, "base")
)


def hinge(name: str, wheel: str, at: float, is_first: bool, is_flipped: bool) -> str:
    """About z at a place along x; the wheel on either side, its axis up or down."""
    sides = (1, 0) if is_first else (0, 1)
    turn = f"quatf physics:localRot0 = {HALF_ABOUT_X};quatf physics:localRot1 = {HALF_ABOUT_X};" if is_flipped else ""
    inner = f'{turn}uniform token physics:axis = "Z";point3f physics:localPos{sides[0]} = ({at}, 0, 0)'
    return joint(name, "RevoluteJoint", *((wheel, "base") if is_first else ("base", wheel)), inner)


def gear(ratio: float, first: str = X_TO_Z, second: str = X_TO_Z, hinges: str = "ab") -> str:
    rotations = f"quatf physics:localRot0 = {first};quatf physics:localRot1 = {second}"
    relations = "".join(f";rel physics:hinge{k} = </r/{name}>" for k, name in enumerate(hinges))
    return joint(
        "mesh", "GearJoint", "small", "large", f"{rotations};float physics:gearRatio = {ratio}{relations}"
    ).replace("PhysicsGearJoint", "PhysxPhysicsGearJoint")


def rim_velocities(path: Path, bodies: list[str], point: list[float]) -> list[np.ndarray]:
    """How fast the bodies' points at a place move as the robot's motor turns."""
    robot, step = import_robot(path).mechanism, 1e-6
    assert inspect(robot).mobility == 1
    values = np.array([[robot.actuated[0].rest[0] + s * step] for s in (-1, 1)])
    position, quaternion, _ = body_poses(robot, values, None)
    found = []
    for name in bodies:
        index = robot.body_index[name]
        local = robot.bodies[index].pose.inverse().point(point)
        moved = [position[t, index] + rotated(quaternion[t, index], local) for t in (0, 1)]
        found.append((moved[1] - moved[0]) / (2 * step))
    return found


def rotated(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return v + 2 * np.cross(q[1:], np.cross(q[1:], v) + q[0] * v)


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("is_flipped", [False, True])
def test_wheels_roll_on_each_other(is_first: bool, is_flipped: bool, tmp_path: Path) -> None:
    hinges = hinge("a", "small", 0, is_first, is_flipped) + hinge("b", "large", SMALL + LARGE, not is_first, False)
    path = write(tmp_path, usda(BODIES + hinges + gear(SMALL / LARGE)))
    first, second = rim_velocities(path, ["small", "large"], [SMALL, 0, 0])
    assert np.linalg.norm(first) == pytest.approx(SMALL, rel=1e-5)
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_a_wheel_within_a_ring_turns_its_way(tmp_path: Path) -> None:
    """Frames that look the other way, or a negative ratio, make an inner gear."""
    hinges = hinge("a", "small", 0, False, False) + hinge("b", "large", SMALL + LARGE, False, False)
    for mesh in (gear(-SMALL / LARGE), gear(SMALL / LARGE, second=X_TO_MINUS_Z)):
        robot = import_robot(write(tmp_path, usda(BODIES + hinges + mesh))).mechanism
        [coupling] = robot.couplings
        assert (coupling.follower, coupling.leader) == ("b", "a")
        np.testing.assert_allclose(coupling.coefficients, [0, SMALL / LARGE], atol=1e-7)


@pytest.mark.parametrize("above", [1, -1])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_rack_slides_with_the_rim_of_its_pinion(above: int, is_first: bool, tmp_path: Path) -> None:
    rack = body("large", (0, above * SMALL, 0))
    inner = f'uniform token physics:axis = "X";point3f physics:localPos{int(is_first)} = (0, {above * SMALL}, 0)'
    slide = joint("b", "PrismaticJoint", *(("large", "base") if is_first else ("base", "large")), inner)
    mesh = joint("mesh", "RackAndPinionJoint", "small", "large",
                 f"quatf physics:localRot0 = {X_TO_Z};float physics:ratio = {180 / pi / SMALL};"
                 "rel physics:hinge = </r/a>;rel physics:prismatic = </r/b>").replace("Physics", "PhysxPhysics",
                     1)  # fmt: skip
    bodies = body("base") + body("small") + rack + joint("hold", "FixedJoint", WORLD, "base")
    path = write(tmp_path, usda(bodies + hinge("a", "small", 0, False, False) + slide + mesh))
    first, second = rim_velocities(path, ["small", "large"], [0, above * SMALL, 0])
    assert np.linalg.norm(first) == pytest.approx(SMALL, rel=1e-5)
    np.testing.assert_allclose(first, second, atol=1e-6)


@pytest.mark.parametrize(
    "mesh", [gear(0.0), gear(1.0, hinges=""), gear(1.0, hinges="aa"), gear(1.0, first="(1, 0, 0, 0)")]
)
def test_a_gear_that_says_too_little_is_left_out_and_named(mesh: str, tmp_path: Path) -> None:
    hinges = hinge("a", "small", 0, False, False) + hinge("b", "large", SMALL + LARGE, False, False)
    imported = import_robot(write(tmp_path, usda(BODIES + hinges + mesh)))
    assert not imported.mechanism.couplings
    assert any(w.startswith("mesh: it does not name the two joints") for w in imported.warnings)


def test_a_connect_has_one_anchor(tmp_path: Path) -> None:
    """By the schema of MuJoCo, whatever stands for the second half."""
    bars = body("base") + body("crank", (0, 0, 0)) + body("rod", (0, 0, 1)) + body("rocker", (2, 0, 0))
    bars += joint("hold", "FixedJoint", WORLD, "base") + "".join(
        joint(name, "RevoluteJoint", a, b, f'uniform token physics:axis = "Y";point3f physics:localPos0 = {at}')
        for name, a, b, at in (
            ("a", "base", "crank", (0, 0, 0)),
            ("b", "crank", "rod", (0, 0, 1)),
            ("c", "base", "rocker", (2, 0, 0)),
        )
    )
    connect = joint(
        "pin", "SphericalJoint", "rod", "rocker", "point3f physics:localPos0 = (2, 0, 0.5)", ("MjcEqualityConnectAPI",)
    )
    robot = import_robot(write(tmp_path, usda(bars + connect))).mechanism
    pin = next(j for j in robot.joints if j.name == "pin")
    np.testing.assert_allclose(pin.position, [2, 0, 1.5], atol=1e-7)
    assert inspect(robot).loops == 1
