"""All actions of a character in one go, and all strips of its NLA: in Blender and by its command."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.errors import RobikError
from bl_ext.user_default.robik.robik.motions import load_motion
from bpy.types import Object

from tests.blender import installed, scenes
from tests.examples.flamenco import compiled
from tools.installed import PACKAGE

pytestmark = pytest.mark.usefixtures("empty_scene")

LENGTHS = {"big": 8, "long": 20, "walk": 12}


def several_actions() -> tuple[Object, Object]:
    """The walker behind a rig with three actions, a pose of one frame, and an action of something else."""
    return scenes.kept(_several_actions), bpy.data.objects["Rig"]


def _several_actions() -> None:
    rig = scenes.walking_rig(frames=12)
    walk = rig.animation_data.action
    walk.name = "walk"
    root = scenes.import_robot("walker")
    for frame, bone in (("pelvis", "Hips"), ("foot_l", "Foot.L"), ("foot_r", "Foot.R")):
        scenes.follow(rig, frame, bone)
    assert bpy.ops.robik.fit_character() == {"FINISHED"}
    root.robik.robot.bake.enforce_velocity = False
    for name, frames in (("big", 8), ("long", 20), ("pose", 1)):
        made = walk.copy()
        made.name, made.use_fake_user = name, True
        stretched(made, (frames - 1) / 11)
    other = bpy.data.objects.new("other", None)
    other.keyframe_insert("location", frame=1)
    other.keyframe_insert("location", frame=30)
    other.use_fake_user = True


def stretched(action: bpy.types.Action, by: float) -> None:
    """Moves the keys of an action towards the first frame."""
    for curves in installed.module("scene.animation.actions").objects_in(action):
        for curve in curves.values():
            if by == 0:
                while len(curve.keyframe_points) > 1:
                    curve.keyframe_points.remove(curve.keyframe_points[-1])
            for key in curve.keyframe_points:
                key.co.x = 1 + (key.co.x - 1) * by


def slider_values(root: Object, frames: int) -> np.ndarray:
    at = np.arange(1.0, frames + 1)
    return np.column_stack([scenes.channel(root, f'["{name}"]', 0, at) for name in scenes.read(root).actuators])


def test_each_action_is_baked_as_if_it_were_the_only_one() -> None:
    root, rig = several_actions()
    scene, walk = bpy.context.scene, rig.animation_data.action
    scene.frame_start, scene.frame_end = 3, 9
    assert bpy.ops.robik.bake_all_actions() == {"FINISHED"}
    robot = root.robik.robot
    assert [bake.name for bake in robot.bakes] == ["big, walker", "long, walker", "walk, walker"]
    assert [bake.result.frames for bake in robot.bakes] == [8, 20, 12]
    assert (scene.frame_start, scene.frame_end) == (3, 9)
    assert rig.animation_data.action == walk
    assert installed.module("scene.bake.bakes").in_use(root) == 2, "the bake of the action that the character has"
    bpy.ops.robik.use_bake(index=1)
    together = slider_values(root, 20)
    installed.module("scene.animation.actions").assign(rig, bpy.data.actions["long"], 0)
    scene.frame_start, scene.frame_end = 1, 20
    bpy.ops.robik.bake()
    assert np.array_equal(slider_values(root, 20), together)


def test_contacts_by_hand_stay_with_their_action() -> None:
    root, _ = several_actions()
    targets = {target.frame: target for target in root.robik.robot.character.targets}
    targets["foot_l"].contact = "HAND"
    seen = {}
    original = installed.module("scene.bake.baking").read_request

    def watched(root: Object, scene: bpy.types.Scene) -> object:
        request = original(root, scene)
        left = next(target for target in request.mapping.targets if target.frame == "foot_l")
        seen[len(request.frames)] = left.phases
        return request

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(installed.module("scene.bake.baking"), "read_request", watched)
        bpy.ops.robik.bake_all_actions()
    assert {frames for frames, phases in seen.items() if phases is not None} == {12}
    assert targets["foot_l"].contact == "HAND"


def test_one_that_cannot_be_baked_stops_no_other() -> None:
    root, _ = several_actions()
    module = installed.module("scene.bake.all_actions")
    original = module.bake_steps

    def failing(context: bpy.types.Context, root: Object, **how: bool) -> object:
        if context.scene.frame_end == 20:
            raise RobikError("the long one is too long")
        return original(context, root, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "bake_steps", failing)
        done = []
        steps = module.all_steps(bpy.context, root, module.takes_of(module.performer(root), False), done.append)
        list(steps)
    assert [(baked.name, baked.motion is None) for baked in done] == [("big", False), ("long", True), ("walk", False)]
    assert done[1].told == "the long one is too long"


def test_stopped_on_the_way_all_is_as_it_was_but_for_what_is_done() -> None:
    root, rig = several_actions()
    scene, walk = bpy.context.scene, rig.animation_data.action
    module = installed.module("scene.bake.all_actions")
    steps = module.all_steps(bpy.context, root, module.takes_of(rig, False))
    for progress in steps:
        assert 0 <= (progress.fraction or 0) <= 1
        if progress.text.startswith("long (2 of 3): Solving"):
            break
    steps.close()
    assert [bake.name for bake in root.robik.robot.bakes] == ["big, walker"]
    assert (scene.frame_start, scene.frame_end, rig.animation_data.action) == (1, 12, walk)


def test_strips_are_baked_alone_and_at_their_pace() -> None:
    root, rig = several_actions()
    data = rig.animation_data
    walk, data.action = data.action, None
    tracks = [data.nla_tracks.new(), data.nla_tracks.new()]
    slow = tracks[0].strips.new("slow", 1, walk)
    slow.scale = 2.0
    fast = tracks[1].strips.new("fast", 5, bpy.data.actions["big"])
    if hasattr(slow, "action_slot"):
        slow.action_slot, fast.action_slot = slow.action_suitable_slots[0], fast.action_suitable_slots[0]
    silent = data.nla_tracks.new()
    silent.strips.new("silent", 1, walk)
    silent.mute = True
    before = [(track.mute, [strip.mute for strip in track.strips]) for track in data.nla_tracks]
    assert bpy.ops.robik.bake_all_actions(strips=True) == {"FINISHED"}
    robot = root.robik.robot
    assert [bake.name for bake in robot.bakes] == ["slow, walker", "fast, walker"]
    assert [bake.result.frames for bake in robot.bakes] == [23, 8]
    assert [(track.mute, [strip.mute for strip in track.strips]) for track in data.nla_tracks] == before
    assert data.action is None
    kept = installed.module("scene.bake.kept_clip").kept_clip
    bpy.ops.robik.use_bake(index=0)
    slowly = kept(root).clip.tracks
    bpy.ops.robik.bake_all_actions(only="walk")
    assert installed.module("scene.bake.bakes").in_use(root) == 0, "the character has no action: all stays as it was"
    bpy.ops.robik.use_bake(index=2)
    for frame, track in kept(root).clip.tracks.items():
        assert slowly[frame].position[::2] == pytest.approx(track.position, abs=1e-5), "the same poses at half the pace"
    assert np.ptp(slowly["foot_l"].position, axis=0).max() > 0.01


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"only": "run*"}, r"no action .* of 'Rig' is called 'run\*'; there are big, long, walk"),
        ({"strips": True}, "'Rig' has no NLA strip that plays"),
    ],
)
def test_nothing_to_bake_is_one_sentence(asked: dict, says: str) -> None:
    several_actions()
    with pytest.raises(RuntimeError, match=says):
        bpy.ops.robik.bake_all_actions(**asked)


def test_a_robot_that_follows_no_armature_says_so() -> None:
    scenes.squats()
    with pytest.raises(
        RuntimeError, match="must follow one armature for all of its actions to be baked, it follows none"
    ):
        bpy.ops.robik.bake_all_actions()


def run(*argv: object) -> int:
    return installed.module("operators.command_line").run([str(a) for a in argv])


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "table.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.one_blender
def test_the_command_writes_files_and_a_table_and_goes_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root, _ = several_actions()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    root, out = bpy.context.scene.robik.robot, tmp_path / "out"
    assert run("batch", "--folder", out) == 0
    said = capfd.readouterr()
    assert "3/3" in said.err and "frames/s" in said.err
    assert "3 of 3 baked; table.html in " in said.out
    assert [(row["file"], row["frames"]) for row in rows_of(out)] == [("big", "8"), ("long", "20"), ("walk", "12")]
    motion = load_motion(out / "walk.csv")
    assert motion.actuators == scenes.read(root).actuators
    written = (out / "walk.csv").stat().st_mtime_ns
    (out / "big.csv").unlink()
    assert run("batch", "--folder", out) == 0
    assert "big" in (said := capfd.readouterr().err) and "walk" not in said
    assert (out / "walk.csv").stat().st_mtime_ns == written
    for shard in ("1/2", "2/2"):
        assert run("batch", "--folder", tmp_path / "parts", "--shard", shard) == 0
    assert sorted(file.name for file in (tmp_path / "parts").glob("*.csv")) == [
        "big.csv", "long.csv", "table-1-of-2.csv", "table-2-of-2.csv", "walk.csv",
    ]  # fmt: skip
    assert run("batch", "--only", "w*", "--output", tmp_path / "baked.blend") == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    assert [bake.name for bake in bpy.context.scene.robik.robot.robik.robot.bakes][-1] == "walk, walker"


@pytest.mark.one_blender
def test_a_farms_tasks_bake_all_and_write_one_table(tmp_path: Path) -> None:
    several_actions()
    scene, out = tmp_path / "scene.blend", tmp_path / "out"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    tasks = compiled({"parts": 4, "folder": str(out), "blendfile": str(scene), "rate": 50.0})["tasks"]
    for task in tasks:
        words = task["commands"][0]["parameters"]["args"]
        assert words[:4] == ["--background", str(scene), "--command", "robik"]
        before = {file: file.stat().st_mtime_ns for file in out.glob("*.csv") if "table" not in file.name}
        assert run(*words[4:]) == 0
    assert len(before) == 3 and all(file.stat().st_mtime_ns == time for file, time in before.items())
    assert [row["file"] for row in rows_of(out)] == ["big", "long", "walk"]
    assert np.diff(load_motion(out / "walk.csv").times) == pytest.approx(1 / 50)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["batch"], "nothing would be kept of these bakes"),
        (["batch", "--folder", "{}/o", "--workers", "0"], "--workers must be 1 or more"),
        (["batch", "--folder", "{}/o", "--shard", "3"], "a shard is K/N, as 2/8, not '3'"),
        (["batch", "--folder", "{}/o", "--format", "avi"], "unknown motion format 'avi'"),
        (["batch", "--folder", "{}/o", "--only", "run"], "there are big, long, walk"),
        (["batch", "--output", "{}/o.blend", "--workers", "2"], "--workers is for --folder OUT alone"),
    ],
)
def test_mistakes_are_one_line(argv: list[str], says: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    several_actions()
    assert run(*(a.format(tmp_path) for a in argv)) == 2
    lines = capfd.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert says in lines[0]


STAND_IN = f"""
import os, sys
words = sys.argv[1:]
name = words[words.index("--shard") + 1] if "--shard" in words else ""
deadly = os.environ.get("ROBIK_TEST_DEADLY")
if deadly and name == "1/2" and not os.path.exists(deadly):
    open(deadly, "w").close()
    os.kill(os.getpid(), 9)
import bpy, addon_utils
addon_utils.enable("{PACKAGE}", default_set=True)
bpy.ops.wm.open_mainfile(filepath=words[words.index("--background") + 1])
import importlib
code = importlib.import_module("{PACKAGE}.operators.command_line").run(words[words.index("robik") + 1:])
sys.stdout.flush(); sys.stderr.flush()
os._exit(code)
"""


@pytest.mark.one_blender
@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by a signal")
def test_other_blenders_help_and_one_that_is_killed_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blender as a module stands in for Blender's program: the first of them is killed as it starts."""
    several_actions()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    (tmp_path / "blender.py").write_text(STAND_IN)
    monkeypatch.setenv("ROBIK_TEST_DEADLY", str(tmp_path / "died"))
    batch = installed.module("operators.bake.batch")
    monkeypatch.setattr(batch, "blender", lambda: [sys.executable, str(tmp_path / "blender.py")])
    assert run("batch", "--folder", tmp_path / "out", "--workers", 2) == 0
    assert (tmp_path / "died").exists()
    assert [row["file"] for row in rows_of(tmp_path / "out")] == ["big", "long", "walk"]
    assert run("batch", "--folder", tmp_path / "alone") == 0
    for name in LENGTHS:
        one, other = (load_motion(tmp_path / folder / f"{name}.csv") for folder in ("out", "alone"))
        assert np.array_equal(one.values, other.values), name
