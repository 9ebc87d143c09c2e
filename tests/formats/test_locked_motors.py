"""What is said of a motor that its loops lock: a neck on three parallel rods that are drawn unlike by micrometres."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.optimize import least_squares

from robik.cli import main
from robik.clips.clip import TargetClip, Track, save_clip
from robik.formats import import_robot, load_robot, save_robot
from robik.kinematics.diagnosis import diagnose
from robik.kinematics.locked import locked_motors
from robik.kinematics.mobility import inspect
from robik.mechanism import Mechanism
from robik.retargeting.retarget import retarget
from tests.formats.mjcf_text import write
from tests.kinematics import linkages

DRAWN, ALIKE = (42.341e-3, 42.366e-3, 42.317e-3), (42.341e-3,) * 3  # lengths of the rods [m]
APART, PIN = 20e-3, 5e-3  # of the rods from each other, and of the two points that make a hinge from its middle [m]
TURN = 0.1  # of the motor [rad]
MASS = '<inertial pos="0 0 .02" mass=".05" diaginertia="1e-5 1e-5 1e-5"/>'


def neck(folder: Path, rods: tuple[float, ...]) -> Path:
    """A head that nods on three rods between hinges; the first one carries it, and has the motor."""
    hinge = '<joint name="{}" axis="0 1 0"/>' + MASS
    head, others, ties = "", "", ""
    for k in (1, 2):
        pins = ""
        for side, y in enumerate((-PIN, PIN)):
            pins += f'<site name="top{k}{side}" pos="0 {y} {rods[k]}"/>'
            head += f'<site name="head{k}{side}" pos="{k * APART} {y} {rods[k] - rods[0]}"/>'
            ties += f'<connect site1="top{k}{side}" site2="head{k}{side}"/>'
        others += f'<body name="rod{k}" pos="{k * APART} 0 0">{hinge.format(f"hip{k}")}{pins}</body>'
    head = f'<body name="head" pos="0 0 {rods[0]}">{hinge.format("nod")}{head}</body>'
    first = f'<body name="rod0">{hinge.format("hip0")}{head}</body>'
    return write(folder, first + others, f'<equality>{ties}</equality><actuator><motor joint="hip0"/></actuator>')


def mobility_of_mujoco(path: Path) -> int:
    """Degrees of freedom that MuJoCo leaves the robot as it is drawn."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model.nv - int(np.linalg.matrix_rank(data.efc_J.reshape(-1, model.nv)[: data.ne], tol=1e-9))


def opening(rods: tuple[float, ...]) -> float:
    """By how much the joints of the head must miss each other at least, in the plane, with the motor turned [m]."""

    def misses(angles: np.ndarray) -> np.ndarray:
        nod, *hips = angles
        tip = rods[0] * np.array([np.sin(TURN), np.cos(TURN)])
        along, up = np.array([np.cos(nod), -np.sin(nod)]), np.array([np.sin(nod), np.cos(nod)])
        return np.concatenate([
            tip + k * APART * along + (rods[k] - rods[0]) * up - (k * APART, 0.0)
            - rods[k] * np.array([np.sin(hip), np.cos(hip)])
            for k, hip in zip((1, 2), hips, strict=True)
        ])  # fmt: skip

    return float(np.abs(least_squares(misses, (0.0, TURN, TURN), xtol=1e-15, ftol=1e-15, gtol=1e-15).fun).max())


def resting(robot: Mechanism) -> TargetClip:
    """Two frames in which the head stays where it is."""
    place = robot.rest_pose("head").position
    return TargetClip(np.arange(2) / 24, {"head": Track(position=np.array([place, place]))})


def test_an_import_says_which_motor_is_locked_probably_why_and_what_helps(tmp_path: Path) -> None:
    path = neck(tmp_path, DRAWN)
    found = import_robot(path)
    assert mobility_of_mujoco(path) == 1, "as it is drawn; in no other pose, which a linear count does not see"
    assert inspect(found.mechanism).mobility == 0
    (said,) = found.warnings
    assert said.startswith(
        "hip0: its loops (rod1_head, rod2_head) lock this motor; moved by 0.1 rad they would open by "
    )
    assert said.endswith("differ a little: draw them alike, or make a joint of theirs looser (a ball for a hinge)")
    told = 1e-3 * float(re.findall(r"open by (\S+) mm", said)[0])
    assert 0.3 < told / opening(DRAWN) < 3.0
    assert diagnose(found.mechanism).stuck == ("hip0",)


def test_rods_that_are_drawn_alike_move_and_nothing_is_said(tmp_path: Path) -> None:
    path = neck(tmp_path, ALIKE)
    found = import_robot(path)
    assert mobility_of_mujoco(path) == inspect(found.mechanism).mobility == 1
    assert found.warnings == ()
    assert opening(ALIKE) < 1e-12


def test_a_truss_is_called_one() -> None:
    (said,) = locked_motors(linkages.truss())
    assert re.fullmatch(r"a: its loops \(.*\) lock this motor, as a truss is held: .*, or take the motor away", said)


def test_a_robot_that_is_loaded_says_it_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    robot = load_robot(neck(tmp_path, DRAWN))
    retarget(robot, resting(robot))
    (record,) = [each for each in caplog.records if "lock this motor" in each.getMessage()]
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("robot 'r': hip0: its loops")


@pytest.mark.parametrize("extension", [".xml", ".robik.json"])
def test_the_shell_says_it_before_it_solves(tmp_path: Path, extension: str, caplog: pytest.LogCaptureFixture) -> None:
    path = neck(tmp_path, DRAWN)
    robot = import_robot(path).mechanism
    if extension != ".xml":
        path = tmp_path / f"neck{extension}"
        save_robot(robot, path)
    save_clip(resting(robot), tmp_path / "clip.npz")
    assert main(["solve", str(path), str(tmp_path / "clip.npz"), "-o", str(tmp_path / "motion.csv")]) == 0
    assert sum("hip0: its loops (rod1_head, rod2_head) lock this motor" in line for line in caplog.messages) == 1
