"""`blender --background FILE --command robik bake …`, by the function that Blender calls."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest
from bl_ext.user_default.robik.robik.motions import load_motion

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def run(*argv: object) -> int:
    return installed.module("operators.command_line").run([str(a) for a in argv])


def test_writes_all_three_files(tmp_path: Path) -> None:
    root = scenes.squats()
    files = [tmp_path / "m.csv", tmp_path / "r.json", tmp_path / "o.blend"]
    assert (
        run(
            "bake",
            "--start",
            5,
            "--end",
            9,
            "--samples",
            2,
            "--csv",
            files[0],
            "--report",
            files[1],
            "--output",
            files[2],
        )
        == 0
    )
    motion = load_motion(files[0])
    assert motion.actuators == scenes.read(root).actuators
    assert len(motion.times) == 9
    report = json.loads(files[1].read_text(encoding="utf-8"))
    assert report["frames"] == 9
    assert report["constraint_residual_max"] < 1e-9
    bpy.ops.wm.open_mainfile(filepath=str(files[2]))
    assert bpy.context.scene.robik.robot.robik.robot.result.frames == 9


def test_import_saves_the_scene_and_prints_what_it_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pole.urdf"
    file.write_text(
        '<robot name="pole"><link name="foot"/><link name="arm"/><joint name="swing" type="revolute"><parent'
        ' link="foot"/><child link="arm"/><limit/></joint></robot>',
        encoding="utf-8",
    )
    assert run("import", file, "--output", tmp_path / "o.blend", "--base", "floating") == 0
    said = capfd.readouterr().out
    assert "pole: 2 bodies, 1 joint, 1 motor" in said
    assert "7 degrees of freedom" in said
    assert "warning: " in said
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "o.blend"))
    root = bpy.context.scene.robik.robot
    assert not scenes.read(root).is_grounded
    assert root.robik.robot.importing.base == bpy.context.scene.robik.importing.base == "floating"


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["bake"], "--output"),
        (["bake", "--csv", "{}/no/m.csv"], "no folder"),
        (["bake", "--csv", "{}/m.csv", "--robot", "nobody"], "'nobody'"),
        (["bake", "--csv", "{}/m.csv", "--samples", "0"], "1 to 100"),
        (["bake", "--csv", "{}/m.csv", "--start", "x"], "--start"),
        (["bake", "--csv", "{}/m.csv", "--start", "99"], "from 99 to 24"),
        (["import", "{}/none.urdf", "--output", "{}/o.blend"], "no such file"),
        (["import", "{}/none.urdf"], "--output"),
        (["import", "{}/none.urdf", "--output", "{}/o.blend", "--base", "air"], "'air'"),
        (["import", "{}/none.urdf", "--output", "{}/o.blend", "--packages", "{}/gone"], "no folder"),
        (["fry"], "'fry'"),
        ([], "required"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_file(
    argv: list[str], says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scenes.squats()
    before = scenes.everything()
    assert run(*(a.format(tmp_path) for a in argv)) == 2
    lines = capfd.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert says in lines[0]
    assert list(tmp_path.iterdir()) == []
    assert scenes.everything() == before


def test_command_is_registered_and_taken_back() -> None:
    operators = installed.module("operators")
    assert len(operators._commands) == 1
