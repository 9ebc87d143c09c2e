"""Warnings about robots that can be read, but that nobody can build."""

from __future__ import annotations

from math import inf, pi
from pathlib import Path

import pytest

from robik.formats import import_robot, save_robot
from robik.formats.plausibility import doubts
from robik.mechanism import WORLD, Body, Joint, Mechanism, Pose

INERTIA = "no body has such an inertia: a principal moment is negative, or more than the other two together"


def robot(*bodies: Body, limits: tuple[float, float] = (-1, 1), kind: str = "revolute") -> Mechanism:
    joints = [Joint(f"j_{body.name}", kind, WORLD, body.name, limits=(limits,)) for body in bodies]
    return Mechanism("r", bodies, tuple(joints))


@pytest.mark.parametrize(
    ("inertia", "is_doubted"),
    [
        ((1, 2, 3, 0, 0, 0), False),  # a plate
        ((1, 1, 0, 0, 0, 0), False),  # a rod
        ((1, 2, 3.02, 0, 0, 0), False),  # rounded
        ((1, 2, 3.1, 0, 0, 0), True),
        ((-1, 1, 1, 0, 0, 0), True),
        ((1, 1, 1, 5, 0, 0), True),
        ((2, 2, 2, 0.5, 0.5, 0.5), False),
        ((0, 0, 0, 0, 0, 0), False),  # a point
        ((1e-30, 0, 0, 0, 0, 0), False),  # nothing beside the other body's
        ((1e300, 1e300, 3e300, 0, 0, 0), True),
    ],
)
def test_inertias_that_no_body_has(inertia: tuple, is_doubted: bool) -> None:
    said = doubts(robot(Body("a", 1.0, inertia=inertia), Body("b", 1.0, inertia=(1, 1, 1, 0, 0, 0))))
    assert said == ((f"a: {INERTIA}",) if is_doubted else ())


def test_what_hardly_weighs_anything_may_have_any_inertia() -> None:
    assert (
        doubts(
            robot(
                Body("frame", 1e-6, inertia=(3e-6, 0, 0, 0, 0, 0)), Body("b", 1.0, inertia=(1e-3, 1e-3, 1e-3, 0, 0, 0))
            )
        )
        == ()
    )


@pytest.mark.parametrize(("times", "is_doubted"), [(1.0, False), (1000.0, True)])
def test_inertias_in_other_units(times: float, is_doubted: bool) -> None:
    """A humanoid's URDF had them in g m²: its zero-moment point was half a metre from its feet, whatever it did."""
    ball = (4e-4 * times, 4e-4 * times, 4e-4 * times, 0, 0, 0)  # 1 kg, 6 cm across
    bodies = [Body(name, 1.0, pose=Pose((0.1 * k, 0.0, 0.0)), inertia=ball) for k, name in enumerate("abc")]
    joints = [Joint(f"j_{a}", "revolute", a, b, limits=((-1, 1),)) for a, b in (("a", "b"), ("b", "c"))]
    said = doubts(Mechanism("r", tuple(bodies), tuple(joints)))
    assert bool(said) == is_doubted
    assert not said or said[0].startswith("a, b, c: for such an inertia")


def test_inertia_without_mass() -> None:
    assert doubts(robot(Body("a", inertia=(1, 1, 1, 0, 0, 0)))) == ("a: it has inertia, but no mass",)


@pytest.mark.parametrize(
    ("limits", "is_doubted"),
    [
        ((-90, 90), True), ((0, 170), True), ((-inf, 45), True), ((-2 * pi, 2 * pi), False), ((-12, 12), False),
        ((-20 * pi, 20 * pi), False),
        ((-1000, 1000), False), ((-1e9, 1e9), False), ((-inf, inf), False),
    ],
)  # fmt: skip
def test_limits_that_look_like_degrees(limits: tuple[float, float], is_doubted: bool) -> None:
    said = doubts(robot(Body("a"), limits=limits))
    assert said == (("j_a: its limits look like degrees, but were read as radians",) if is_doubted else ())
    assert doubts(robot(Body("a"), limits=limits, kind="prismatic")) == ()


def test_what_holds_of_many_is_one_sentence() -> None:
    said = doubts(robot(*(Body(f"b{k}", 2000.0, inertia=(1, 1, 3, 0, 0, 0)) for k in range(9)), limits=(-90, 90)))
    assert said == (
        f"b0, b1, b2, b3, b4, b5 and 3 more: {INERTIA}",
        "j_b0, j_b1, j_b2, j_b3, j_b4, j_b5 and 3 more: its limits look like degrees, but were read as radians",
        "the robot weighs 18 tonnes; are its masses in kilograms, and its lengths in metres?",
    )


@pytest.mark.parametrize("name", ["r.robik.json", "r.urdf", "r.xml"])
def test_every_format_is_asked(name: str, tmp_path: Path) -> None:
    save_robot(robot(Body("a", 20_000.0, inertia=(1, 1, 1, 0, 0, 0))), tmp_path / name)
    assert any(w.startswith("the robot weighs 20 tonnes") for w in import_robot(tmp_path / name).warnings)


def test_of_the_shared_robots_one_weighs_too_much(shared_data: Path) -> None:
    for path in (
        "5bar_linkage/robot.urdf",
        "digit_like_2legs/robot.urdf",
        "talos_like/robot.urdf",
        "stewart_sdf/model.sdf",
        "unitree_h1/h1.xml",
    ):
        said = doubts(import_robot(shared_data / path).mechanism)
        assert [w.partition(";")[0] for w in said] == (["the robot weighs 1,309 tonnes"] if "5bar" in path else [])
