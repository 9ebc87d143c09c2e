"""Penetration and footholds in *Result*, on the installed extension."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def baked_dance(file: Path, bvh: Path, first: int, last: int) -> bpy.types.Object:
    """A recorded dance on a robot, from one frame to another, balanced and with pinned feet."""
    assert bpy.ops.robik.import_robot(filepath=str(file)) == {"FINISHED"}
    scene = bpy.context.scene
    root = scene.robik.robot
    installed.module("scene.character.recording").bring_recording(bvh)
    scene.render.fps = 120
    scene.frame_start, scene.frame_end = first, last
    assert bpy.ops.robik.auto_map() == {"FINISHED"}
    balance = root.robik.robot.balance
    balance.mode, balance.pin_feet = "AUTO", True
    root.robik.robot.bake.keep_apart = False  # else there is nothing to judge
    assert bpy.ops.robik.bake() == {"FINISHED"}
    return root


def test_penetration_is_judged_and_kept_until_the_next_bake(shared_data: Path) -> None:
    root = baked_dance(shared_data / "unitree_g1/g1_29dof.xml", shared_data / "bvh/05_20-mb.bvh", 660, 720)
    result = root.robik.robot.result
    assert len(result.penetration) == 0
    assert bpy.ops.robik.judge_penetration() == {"FINISHED"}
    rows = {row.name: row for row in result.penetration}
    assert list(rows) == ["in itself", "in the ground"]
    own = rows["in itself"]
    assert " in " in own.where and 660 <= own.frame <= 720
    assert 0.001 < own.depth < 0.1 and 0.0 < own.share <= 1.0
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert len(result.penetration) == 0


def test_a_judgement_that_is_stopped_keeps_nothing(shared_data: Path) -> None:
    root = baked_dance(shared_data / "unitree_g1/g1_29dof.xml", shared_data / "bvh/05_20-mb.bvh", 660, 670)
    steps = installed.module("scene.bake.penetration").penetration_steps(bpy.context, root)
    next(steps)
    steps.close()
    assert len(root.robik.robot.result.penetration) == 0


@pytest.mark.one_blender
def test_footholds_out_of_reach_stand_in_the_result(shared_data: Path) -> None:
    root = baked_dance(shared_data / "unitree_h1/h1.xml", shared_data / "bvh/05_20-mb.bvh", 860, 1090)
    result = root.robik.robot.result
    assert result.moved >= 1
    assert "is out of reach: moved by" in result.moved_why
    assert 860 <= result.moved_frame <= 1090
    assert result.beyond_robot == "", "with footholds in reach the robot can do the clip"
    next(row for row in root.robik.robot.character.targets if "elbow" in row.frame).offset_location[0] += 1.0
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert "cannot do this clip as asked" in result.beyond_robot


def test_without_a_bake_it_is_said(shared_data: Path) -> None:
    assert bpy.ops.robik.import_robot(filepath=str(shared_data / "unitree_h1/h1.xml")) == {"FINISHED"}
    with pytest.raises(RuntimeError, match=r"curve|keys|bake"):
        bpy.ops.robik.judge_penetration()


@pytest.mark.one_blender
def test_robots_that_take_turns_have_their_walls_made_once() -> None:
    apart = installed.module("scene.bake.apart")
    roots = [scenes.import_robot(name) for name in ("boxer", "dancer")]
    mechanisms = [scenes.read(root) for root in roots]
    made = [[apart.read_walls(*robot)() for robot in zip(roots, mechanisms, strict=True)] for _ in range(3)]
    assert made[0][0] is not made[0][1]
    for again in made[1:]:
        assert all(one is first and one is not None for one, first in zip(again, made[0], strict=True))
