"""Files of the version before: `data/format_1.blend` was saved by it in Blender 4.2, with a baked walker, phases by
hand and settings."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
OLD = Path(__file__).parent / "data" / "format_1.blend"


def check(root: bpy.types.Object) -> None:
    """What the file's user had is there."""
    robot = root.robik.robot
    assert robot.format == installed.module("scene.robot.saved_format").FORMAT
    target = robot.character.targets[1]
    assert (target.frame, target.weight, target.contact) == ("foot_l", 0.5, "HAND")
    assert [(p.start, p.end) for p in target.stands] == [(1, 2), (4, 6)]
    assert [bake.name for bake in robot.bakes] == ["walker bake"]
    assert installed.module("scene.bake.bakes").in_use(root) == 0
    assert robot.bakes[0].result.frames == robot.result.frames == 6


def put(group: bpy.types.PropertyGroup, stored: dict[str, float]) -> None:
    """Let a group hold what a file of an earlier version holds."""
    kept = group.bl_system_properties_get(do_create=True) if hasattr(group, "bl_system_properties_get") else group
    for name, value in stored.items():
        kept[name] = value


def test_it_opens_plays_and_bakes_again() -> None:
    bpy.ops.wm.open_mainfile(filepath=str(OLD))
    root = bpy.context.scene.robik.robot
    check(root)
    frames = np.arange(1.0, 7.0)
    knee = scenes.channel(root, '["knee_l"]', 0, frames)
    assert np.ptp(knee) > 0.05
    mechanism = scenes.read(root)
    assert len(mechanism.bodies) == 31
    foot = scenes.body_objects(root)[mechanism.body_index[mechanism.frame("foot_l").body]]
    for frame in (1, 4):
        bpy.context.scene.frame_set(frame)
        assert tuple(foot.location) == pytest.approx(scenes.keyed_pose(foot, np.array([float(frame)]))[0, :3], abs=1e-6)
    assert root.robik.robot.bake.soften
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert [bake.name for bake in root.robik.robot.bakes] == ["walker bake", "walker bake 1"]
    assert bpy.ops.robik.use_bake(index=0) == {"FINISHED"}
    assert scenes.channel(root, '["knee_l"]', 0, frames) == pytest.approx(knee)


def test_appended_it_is_brought_up_to_date_by_the_next_bake_at_the_latest() -> None:
    with bpy.data.libraries.load(str(OLD), link=False) as (there, into):
        into.collections = [name for name in there.collections if name.startswith("walker")]
        into.objects = [name for name in there.objects if name.startswith("to ")]
    bpy.context.scene.collection.children.link(into.collections[0])
    for followed in into.objects:
        bpy.context.scene.collection.objects.link(followed)
    root = next(o for o in bpy.data.objects if o.robik.kind == "ROBOT")
    bpy.context.scene.frame_end = 6
    for target in root.robik.robot.character.targets:
        target.source = next(o for o in into.objects if o.name.startswith(f"to {target.frame}"))
    assert bpy.ops.robik.bake() == {"FINISHED"}
    check_phases = root.robik.robot.character.targets[1].stands
    assert [(p.start, p.end) for p in check_phases] == [(1, 2), (4, 6)]


def test_motor_speeds_of_the_second_format_stay_as_they_were_set() -> None:
    root = scenes.import_robot("boxer")
    bake = root.robik.robot.bake
    assert bake.enforce_velocity
    put(bake, {"guarantee": 0})
    root.robik.robot.format = 2
    installed.module("scene.migration").bring_up_to_date(root)
    assert not bake.enforce_velocity
    bake.enforce_velocity = True
    installed.module("scene.migration").bring_up_to_date(root)
    assert bake.enforce_velocity, "a robot of this format is left alone"


@pytest.mark.parametrize(
    ("stored", "mode", "pinned"),
    [({}, "OFF", False), ({"source": 1, "pin_feet": 1}, "AUTO", True), ({"source": 1, "pace": 2}, "MOVING", False),
     ({"source": 1, "pace": 1}, "STILL", False), ({"source": 2, "pin_feet": 1}, "OBJECT", True)],
)  # fmt: skip
def test_balance_of_the_third_format_stays_as_it_was_set(stored: dict[str, int], mode: str, pinned: bool) -> None:
    root = scenes.import_robot("boxer")
    balance = root.robik.robot.balance
    assert (balance.mode, balance.pin_feet) == ("AUTO", True), "what is new is balanced"
    put(balance, stored)
    root.robik.robot.format = 3
    installed.module("scene.migration").bring_up_to_date(root)
    assert (balance.mode, balance.pin_feet) == (mode, pinned)


def test_a_later_versions_robot_says_so() -> None:
    root = scenes.import_robot("boxer")
    saved_format = installed.module("scene.robot.saved_format")
    assert not saved_format.too_new(root)
    root.robik.robot.format = saved_format.FORMAT + 1
    assert saved_format.too_new(root)
    installed.module("scene.migration").bring_up_to_date(root)
    assert root.robik.robot.format == saved_format.FORMAT + 1


@pytest.mark.parametrize(
    ("stored", "weights", "share"),
    [({}, (1.2e-8, 2e-9, 1e-4), 1.0),
     ({"speed": 40.0, "still": 1e-5, "posture": 1e-6, "example_weight": 3e-3}, (1e-5, 1e-6, 3e-3), 0.4)],
)  # fmt: skip
def test_weights_and_speeds_of_the_fourth_format_stay_as_they_were_set(
    stored: dict[str, float], weights: tuple[float, float, float], share: float
) -> None:
    root = scenes.squats(2)
    put(root.robik.robot.bake, stored)
    root.robik.robot.format = 4
    installed.module("scene.migration").bring_up_to_date(root)
    request = scenes.request_of(root)
    asked = (request.settings.stillness, request.settings.posture, request.prior_weight)
    assert asked == tuple(float(np.float32(weight)) for weight in weights)
    assert request.settings.velocity_share == pytest.approx(share)


@pytest.mark.parametrize(
    ("stored", "tracker"), [({}, "STATE"), ({"tracker": 1}, "DIFFERENTIAL"), ({"tracker": 2}, "DIFFERENTIAL")]
)
def test_live_trackers_of_the_fourth_format_are_one_of_the_two(stored: dict[str, int], tracker: str) -> None:
    root = scenes.import_robot("boxer")
    put(root.robik.robot.follow, stored)
    root.robik.robot.format = 4
    installed.module("scene.migration").bring_up_to_date(root)
    assert root.robik.robot.follow.tracker == tracker
