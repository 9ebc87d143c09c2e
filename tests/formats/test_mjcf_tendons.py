"""Couplings of several joints that MJCF says by tendons, held against MuJoCo."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik.errors import FormatError
from robik.formats import import_robot, load_robot, save_robot
from robik.kinematics.mobility import inspect
from robik.mechanism import Mechanism
from tests.formats.mjcf_text import write

NECK = """
<body name="m1"><joint name="left" axis="0 1 0" range="-60 60"/><geom size="0.02" mass="0.1"/></body>
<body name="m2" pos="0 0.1 0"><joint name="right" axis="0 1 0" range="-60 60"/><geom size="0.02" mass="0.1"/></body>
<body name="cross" pos="0 0.05 0.1"><joint name="pitch" axis="0 1 0" range="-40 40"/><geom size="0.02" mass="0.1"/>
  <body name="head"><joint name="roll" axis="1 0 0" range="-40 40"/><geom size="0.05" mass="1" pos="0 0 0.1"/>
    <site name="nose" pos="0.1 0 0.1"/></body></body>
"""
MOTORS = '<actuator><motor name="a" joint="left"/><motor name="b" joint="right"/></actuator>'
SUMS = {"t_pitch": {"pitch": 1, "left": -0.5, "right": -0.5}, "t_roll": {"roll": 2, "left": -0.6, "right": 0.6}}


def tendons(attributes: str = "", sums: dict[str, dict[str, float]] | None = None) -> str:
    """Fixed tendons with the same attributes each."""
    parts = "".join(
        f'<fixed name="{name}" {attributes}>'
        + "".join(f'<joint joint="{joint}" coef="{coef}"/>' for joint, coef in terms.items())
        + "</fixed>"
        for name, terms in (sums or SUMS).items()
    )
    return f"<tendon>{parts}</tendon>"


def follow(robot: Mechanism, at: dict[str, float]) -> dict[str, float]:
    """Where the couplings of a robot bring what follows."""
    return {coupling.follower: coupling.value(at) for coupling in robot.couplings}


@pytest.mark.parametrize("range_", ["-0.001 0.001", "-0.03 0.03"])
def test_a_narrow_limited_tendon_is_a_differential(tmp_path: Path, range_: str) -> None:
    imported = import_robot(write(tmp_path, NECK, tendons(f'limited="true" range="{range_}"') + MOTORS))
    robot = imported.mechanism
    assert follow(robot, {"left": 0.3, "right": 0.1}) == pytest.approx({"pitch": 0.2, "roll": 0.06})
    assert robot.actuators == ("left", "right")
    assert inspect(robot).mobility == 2
    assert any("so narrow that it couples its joints" in line for line in imported.report)
    assert not any("tendon" in warning for warning in imported.warnings)


def test_a_wide_limited_tendon_and_one_through_space_are_told(tmp_path: Path) -> None:
    ends = '<site site="nose"/><site site="base"/>'
    space = f'<tendon><spatial name="rope" limited="true" range="0 1">{ends}</spatial></tendon>'
    wide = tendons('limited="true" range="-0.5 0.5"')
    imported = import_robot(write(tmp_path, NECK + '<site name="base"/>', wide + space + MOTORS))
    assert not imported.mechanism.couplings
    (said,) = (warning for warning in imported.warnings if "the limits of a tendon are not read" in warning)
    assert all(name in said for name in ("t_pitch", "t_roll", "rope"))


def test_a_narrow_tendon_over_one_joint_holds_it(tmp_path: Path) -> None:
    hold = tendons('limited="true" range="0.098 0.102"', {"t": {"pitch": 0.5}})
    robot = import_robot(write(tmp_path, NECK, hold + MOTORS)).mechanism
    assert next(joint for joint in robot.joints if joint.name == "pitch").type == "fixed"
    np.testing.assert_allclose(robot.bodies[robot.body_index["head"]].pose.quaternion[2], np.sin(0.1), atol=1e-9)


@pytest.mark.parametrize("polycoef", ["", "0.1 0.7 0 0 0", "0 0.5 0.3 -0.2 0.1"])
def test_a_tendon_equality_is_what_mujoco_takes_it_for(tmp_path: Path, polycoef: str) -> None:
    sums = {"first": {"pitch": 1.5, "left": -0.5}, "second": {"right": 0.8}}
    given = f'polycoef="{polycoef}"' if polycoef else ""
    rest = tendons(sums=sums) + f'<equality><tendon tendon1="first" tendon2="second" {given}/></equality>' + MOTORS
    path = write(tmp_path, NECK, rest)
    robot = import_robot(path).mechanism
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    at = {"left": 0.3, "right": -0.4}
    for name, value in (at | follow(robot, at)).items():
        data.qpos[model.jnt_qposadr[model.joint(name).id]] = value
    mujoco.mj_forward(model, data)
    assert data.ne == 1
    np.testing.assert_allclose(data.efc_pos[0], 0.0, atol=1e-9)
    assert abs(follow(robot, at)["pitch"]) > 0.01


def test_a_tendon_equality_between_two_sums_and_one_alone(tmp_path: Path) -> None:
    sums = {"one": {"pitch": 1.0, "left": 0.5}, "two": {"right": 1.0, "roll": 0.25}}
    rest = tendons(sums=sums) + '<equality><tendon tendon1="one" tendon2="two" polycoef="0 2 0 0 0"/></equality>'
    (coupling,) = import_robot(write(tmp_path, NECK, rest + MOTORS)).mechanism.couplings
    assert coupling.follower == "pitch"
    assert coupling.value({"left": 0.2, "right": 0.1, "roll": 0.4}) == pytest.approx(-0.1 + 0.2 + 0.2)
    rest = tendons(sums=sums) + '<equality><tendon tendon1="one" polycoef="0.1 0 0 0 0"/></equality>'
    (coupling,) = import_robot(write(tmp_path, NECK, rest + MOTORS)).mechanism.couplings
    assert coupling.value({"left": 0.2}) == pytest.approx(0.0)


def test_what_of_a_differential_is_held_leaves_the_others_coupled(tmp_path: Path) -> None:
    narrow = tendons('limited="true" range="-0.001 0.001"')
    held = '<equality><joint joint1="left" polycoef="0.2 0 0 0 0"/></equality>'
    robot = import_robot(write(tmp_path, NECK, narrow + held + MOTORS)).mechanism
    assert follow(robot, {"right": 0.1}) == pytest.approx({"pitch": 0.15, "roll": 0.03})
    held = '<equality><joint joint1="pitch" polycoef="0 0 0 0 0"/></equality>'
    robot = import_robot(write(tmp_path, NECK, narrow + held + MOTORS)).mechanism
    assert inspect(robot).mobility == 1
    assert follow(robot, {"left": -0.1, "right": 0.1}) == pytest.approx({"right": 0.1, "roll": -0.06})


@pytest.mark.parametrize("name", ["r.xml", "r.urdf", "r.robik.json"])
def test_a_differential_is_written_and_read_back(tmp_path: Path, name: str) -> None:
    robot = import_robot(write(tmp_path, NECK, tendons('limited="true" range="-0.001 0.001"') + MOTORS)).mechanism
    save_robot(robot, tmp_path / name)
    again = load_robot(tmp_path / name)
    at = {"left": 0.3, "right": 0.1}
    assert follow(again, at) == pytest.approx(follow(robot, at))
    assert sorted(again.actuators) == sorted(robot.actuators)


def test_mujoco_takes_what_is_written(tmp_path: Path) -> None:
    robot = import_robot(write(tmp_path, NECK, tendons('limited="true" range="-0.001 0.001"') + MOTORS)).mechanism
    save_robot(robot, tmp_path / "out.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml"))
    data, at = mujoco.MjData(model), {"left": 0.3, "right": -0.2}
    for joint, value in (at | follow(robot, at)).items():
        data.qpos[model.jnt_qposadr[model.joint(joint).id]] = value
    mujoco.mj_forward(model, data)
    assert data.ne == 2
    np.testing.assert_allclose(data.efc_pos[:2], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        (tendons('limited="true" range="-0.001 0.001"', {"t": {"nobody": 1.0}}), "'nobody' is not a joint"),
        ('<equality><tendon tendon1="x"/></equality>', "there is no tendon 'x'"),
    ],
)
def test_tendons_of_what_is_not_there_are_refused(tmp_path: Path, rest: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        import_robot(write(tmp_path, NECK, rest))
