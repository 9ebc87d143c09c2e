"""A motor that its loops lock is told by the import, in the panel and by Diagnose."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

pytestmark = pytest.mark.usefixtures("empty_scene")

RODS = (42.341e-3, 42.366e-3, 42.317e-3)  # lengths [m]
MASS = '<inertial pos="0 0 .02" mass=".05" diaginertia="1e-5 1e-5 1e-5"/>'


def neck(file: Path) -> None:
    """A head on three parallel rods, which are drawn unlike by micrometres."""
    hinge = '<joint name="{}" axis="0 1 0"/>' + MASS
    head, others, ties = "", "", ""
    for k in (1, 2):
        pins = "".join(f'<site name="top{k}{y > 0}" pos="0 {y} {RODS[k]}"/>' for y in (-0.005, 0.005))
        for y in (-0.005, 0.005):
            head += f'<site name="head{k}{y > 0}" pos="{0.02 * k} {y} {RODS[k] - RODS[0]}"/>'
            ties += f'<connect site1="top{k}{y > 0}" site2="head{k}{y > 0}"/>'
        others += f'<body name="rod{k}" pos="{0.02 * k} 0 0">{hinge.format(f"hip{k}")}{pins}</body>'
    head = f'<body name="head" pos="0 0 {RODS[0]}">{hinge.format("nod")}{head}</body>'
    bodies = f'<body name="rod0">{hinge.format("hip0")}{head}</body>{others}'
    file.write_text(
        f'<mujoco><worldbody>{bodies}</worldbody><equality>{ties}</equality><actuator><motor joint="hip0"/></actuator>'
        "</mujoco>",
        encoding="utf-8",
    )


def test_an_import_whose_motor_is_locked_says_so(tmp_path: Path) -> None:
    neck(tmp_path / "neck.xml")
    bpy.ops.robik.import_robot(filepath=str(tmp_path / "neck.xml"))
    told = bpy.context.scene.robik.robot.robik.robot
    assert told.warnings.startswith("hip0: its loops (rod1_head, rod2_head) lock this motor")
    bpy.ops.robik.diagnose()
    assert "cannot move: hip0" in told.diagnosis.splitlines()
