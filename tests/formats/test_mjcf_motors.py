"""Limits that MJCF's motors and tendons give, held against what MuJoCo does with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.formats import import_robot, save_robot
from robik.mechanism import WORLD, Body, Joint, Mechanism
from tests.formats.mjcf_text import LUMP, write

RANGED = f'<body name="a"><joint name="h" axis="0 1 0" range="-90 90"/>{LUMP}</body>'
SLIDE = f'<body name="a"><joint name="h" type="slide" axis="1 0 0"/>{LUMP}</body>'


def held_by_mujoco(path: Path, control: float) -> float:
    """Where MuJoCo's motor brings the joint to, without gravity."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.gravity[:] = 0.0
    data = mujoco.MjData(model)
    data.ctrl[:] = control
    for _ in range(20_000):
        mujoco.mj_step(model, data)
    return float(data.qpos[0])


@pytest.mark.parametrize(
    ("motor", "wanted"),
    [
        ('<position joint="h" kp="50" dampratio="1" ctrlrange="-0.5 0.4"/>', (-0.5, 0.4)),
        ('<position joint="h" kp="50" dampratio="1" ctrlrange="-1 0.5" gear="2"/>', (-0.5, 0.25)),
        ('<position joint="h" kp="50" dampratio="1" ctrlrange="-1 0.5" gear="-2"/>', (-0.25, 0.5)),
        ('<general joint="h" gainprm="10" biastype="affine" biasprm="0 -40 -20" ctrlrange="-2 1"/>', (-0.5, 0.25)),
    ],
)
def test_the_range_of_a_position_actuator_limits_its_joint(
    motor: str, wanted: tuple[float, float], tmp_path: Path
) -> None:
    path = write(tmp_path, RANGED, f"<actuator>{motor}</actuator>")
    imported = import_robot(path)
    assert imported.mechanism.joints[0].limits == (pytest.approx(wanted),)
    assert any("h: its motor's ctrlrange" in sentence for sentence in imported.report)
    lowest, highest = sorted(held_by_mujoco(path, control) for control in (-10.0, 10.0))
    np.testing.assert_allclose((lowest, highest), wanted, atol=2e-3)


@pytest.mark.parametrize("motor", [
    '<motor joint="h" ctrlrange="-0.5 0.4"/>', '<velocity joint="h" ctrlrange="-0.5 0.4"/>',
    '<position joint="h" ctrlrange="-0.5 0.4" ctrllimited="false"/>', '<general joint="h" ctrlrange="-1 1"/>',
    '<position joint="h" ctrlrange="-7 7"/>',
])  # fmt: skip
def test_other_ranges_of_control_leave_the_joint_its_own(motor: str, tmp_path: Path) -> None:
    robot = import_robot(write(tmp_path, RANGED, f"<actuator>{motor}</actuator>")).mechanism
    assert robot.joints[0].limits == (pytest.approx((-np.pi / 2, np.pi / 2)),)


def test_a_joint_without_limits_has_those_of_its_motor(tmp_path: Path) -> None:
    robot = import_robot(
        write(tmp_path, SLIDE, '<actuator><position joint="h" ctrlrange="0 0.1"/></actuator>')
    ).mechanism
    assert robot.joints[0].limits == ((0.0, 0.1),)


def test_a_range_of_control_outside_the_limits_is_told_and_left_out(tmp_path: Path) -> None:
    imported = import_robot(write(tmp_path, RANGED, '<actuator><position joint="h" ctrlrange="2 3"/></actuator>'))
    assert imported.mechanism.joints[0].limits == (pytest.approx((-np.pi / 2, np.pi / 2)),)
    assert any("ctrlrange lies outside" in warning for warning in imported.warnings)


def test_limits_of_a_tendon_are_told(tmp_path: Path) -> None:
    tendons = '<tendon><fixed name="t" limited="true" range="-1 1"><joint joint="h" coef="1"/></fixed><fixed name="u">'
    imported = import_robot(write(tmp_path, RANGED, tendons + '<joint joint="h" coef="1"/></fixed></tendon>'))
    assert [warning for warning in imported.warnings if "tendon" in warning] == [
        "tendon 't': the limits of a tendon are not read, so the robot can move further than the file says"
    ]


def test_an_exported_ball_counts_its_turns_about_its_own_axes(tmp_path: Path) -> None:
    bodies = (Body("a", mass=1.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)),)
    ball = Joint(
        "j",
        "spherical",
        WORLD,
        "a",
        position=(0.1, 0.2, 0.3),
        axis=(1.0, 2.0, 0.5),
        axis2=(0.0, 1.0, -1.0),
        actuated=True,
    )
    robot = Mechanism("r", bodies, (ball,))
    save_robot(robot, tmp_path / "r.xml")
    read = import_robot(tmp_path / "r.xml").mechanism
    assert read.actuators == robot.actuators
    np.testing.assert_allclose(read.joints[0].matrix, robot.joints[0].matrix, atol=1e-12)
