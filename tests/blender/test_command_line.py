"""`blender --background FILE --command robik bake …`, by the function that Blender calls."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest

from robik.retarget.motion import load_motion
from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def run(*argv: object) -> int:
    return installed.module("operators.command_line").run([str(a) for a in argv])


def test_writes_all_three_files(tmp_path: Path) -> None:
    root = scenes.squats()
    files = [tmp_path / "m.csv", tmp_path / "r.json", tmp_path / "o.blend"]
    assert run("bake", "--start", 5, "--end", 9, "--samples", 2, "--csv", files[0], "--report", files[1], "--output", files[2]) == 0
    motion = load_motion(files[0])
    assert motion.actuators == scenes.read(root).actuators
    assert len(motion.times) == 9
    report = json.loads(files[1].read_text(encoding="utf-8"))
    assert report["frames"] == 9
    assert report["constraint_residual_max"] < 1e-9
    bpy.ops.wm.open_mainfile(filepath=str(files[2]))
    assert bpy.context.scene.robik.robot.robik.robot.result.frames == 9


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["bake"], "--output"),
        (["bake", "--csv", "{}/no/m.csv"], "no folder"),
        (["bake", "--csv", "{}/m.csv", "--robot", "nobody"], "'nobody'"),
        (["bake", "--csv", "{}/m.csv", "--samples", "0"], "1 to 100"),
        (["bake", "--csv", "{}/m.csv", "--start", "x"], "--start"),
        (["bake", "--csv", "{}/m.csv", "--start", "99"], "from 99 to 24"),
        (["fry"], "'fry'"),
        ([], "required"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_file(argv: list[str], says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
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
