"""What a frame can be asked for beside its pose: looks, distances, holding on to things, the rest pose; in bakes and
live."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.kinematics.forward import body_poses
from bl_ext.user_default.robik.robik.kinematics.frames import frame_poses
from bl_ext.user_default.robik.robik.objectives.registry import ROWS

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES = 12
TIME = np.arange(FRAMES)
BIRD = np.column_stack([0.9 - 0.004 * TIME, 0.05 * np.sin(0.4 * TIME), 0.5 + 0.003 * TIME])


@pytest.fixture
def arm() -> bpy.types.Object:
    """An arm of six hinges and a bird."""
    root = scenes.import_robot("ur10")
    scenes.empty("bird", BIRD)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    return root


def row(root: bpy.types.Object, follows: str, **fields: object) -> bpy.types.PropertyGroup:
    """A target of the arm's tool."""
    added = root.robik.robot.character.targets.add()
    added.follows, added.frame = follows, "tool"
    for name, value in fields.items():
        setattr(added, name, value)
    return added


def tool(root: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """Where the bake takes the tool: positions (T, 3) and matrices (T, 3, 3)."""
    mechanism = scenes.read(root)
    frames = np.arange(1, FRAMES + 1)
    values = installed.module("scene.motion").read_values(root, mechanism, frames, bpy.context.scene)
    position, quaternion, _ = body_poses(mechanism, values)
    return frame_poses(mechanism, "tool", position, quaternion)


def angles(directions: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Angles (T,) between vectors (T, 3)."""
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return np.arctan2(np.linalg.norm(np.cross(unit, axes), axis=1), (unit * axes).sum(axis=1))


def test_every_kind_of_objective_is_on_the_list(arm: bpy.types.Object) -> None:
    labels = [item.name for item in row(arm, "POSE").bl_rna.properties["follows"].enum_items]
    assert labels == [kind.label for kind in ROWS]
    assert labels == ["Position and Rotation", "Look At", "Relative To", "Distance", "Rest Pose"]


@pytest.mark.parametrize(("axis", "column", "sign"), [("X", 0, 1.0), ("-Z", 2, -1.0)])
def test_a_tool_looks_at_a_bird(arm: bpy.types.Object, axis: str, column: int, sign: float) -> None:
    row(arm, "LOOK_AT", source=bpy.data.objects["bird"], axis=axis)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    position, R = tool(arm)
    assert angles(BIRD - position, sign * R[:, :, column]).max() < 1e-3
    result = arm.robik.robot.result
    assert [(found.name, found.is_angle) for found in result.targets] == [("tool.look_at", True)]
    why = {
        short.name for short in result.short if short.frame > 1
    }  # the first frame's way along what a look leaves free is long
    assert not why


@pytest.mark.one_blender
def test_a_tool_keeps_its_distance(arm: bpy.types.Object) -> None:
    row(arm, "DISTANCE", source=bpy.data.objects["bird"], distance=0.35)
    row(arm, "REST_POSE", frame="")
    assert bpy.ops.robik.bake() == {"FINISHED"}
    np.testing.assert_allclose(np.linalg.norm(tool(arm)[0] - BIRD, axis=1), 0.35, atol=2e-3)
    names = {found.name for found in arm.robik.robot.result.targets}
    assert names == {"tool.distance.world"}, "a posture is a wish, which nobody misses"


def test_a_hand_is_held_to_a_box(arm: bpy.types.Object) -> None:
    """The box moves and turns; the tool stays where it is on the box."""
    turns = np.column_stack([np.cos(0.005 * TIME), 0 * TIME, 0 * TIME, np.sin(0.005 * TIME)])
    path = np.column_stack([0.6 + 0.0 * TIME, 0.1 + 0.004 * TIME, 0.4 + 0.003 * TIME])
    box = scenes.empty("box", path, turns)
    row(arm, "RELATIVE_TO", source=box, offset_location=(0.0, 0.0, 0.1))
    assert bpy.ops.robik.bake() == {"FINISHED"}
    position, R = tool(arm)
    np.testing.assert_allclose(position, path + np.array([0.0, 0.0, 0.1]), atol=1e-4)
    yaw = 0.01 * TIME
    np.testing.assert_allclose(R[:, 0, 0], np.cos(yaw), atol=1e-4)
    np.testing.assert_allclose(R[:, 1, 0], np.sin(yaw), atol=1e-4)


def test_a_frame_is_held_in_another_one() -> None:
    """The walker's right foot stays where it is seen from the left one, which follows an empty."""
    root = scenes.squats(FRAMES)
    targets = root.robik.robot.character.targets
    right = next(target for target in targets if target.frame == "foot_r")
    right.follows, right.other, right.source = "RELATIVE_TO", "foot_l", None
    mechanism = scenes.read(root)
    rest = [
        mechanism.bodies[mechanism.body_index[f.body]].pose @ f.pose
        for f in (mechanism.frame("foot_r"), mechanism.frame("foot_l"))
    ]
    held = rest[1].inverse() @ rest[0]
    right.offset_location, right.offset_rotation = held.position, held.quaternion
    assert bpy.ops.robik.bake() == {"FINISHED"}
    result = root.robik.robot.result
    assert result.missed == 0, [short.name for short in result.short]
    found = {target.name: target.position_error for target in result.targets}
    assert found["foot_r.in.foot_l"] < 1e-4


@pytest.mark.one_blender
@pytest.mark.parametrize("follows", ["LOOK_AT", "DISTANCE", "RELATIVE_TO"])
def test_following_live_is_what_is_baked(arm: bpy.types.Object, follows: str) -> None:
    bird, scene = bpy.data.objects["bird"], bpy.context.scene
    row(arm, follows, source=bird, axis="X", distance=0.35)
    if follows != "RELATIVE_TO":  # which leaves nothing free
        row(arm, "REST_POSE", frame="")
    follow = arm.robik.robot.follow
    follow.tracker, follow.on = "STATE", True
    scene.frame_set(5)
    module = installed.module("scene.bake.follow")
    for _ in range(60):
        bpy.context.view_layer.update()
        assert module.step(arm, scene, bpy.context.evaluated_depsgraph_get(), 1 / 60), module.problem(arm)
    mechanism = scenes.read(arm)
    values = np.array([[arm[name] for name in mechanism.actuators]])
    position, quaternion, _ = body_poses(mechanism, values)
    x, R = frame_poses(mechanism, "tool", position, quaternion)
    there = BIRD[4:5]
    if follows == "LOOK_AT":
        assert angles(there - x, R[:, :, 0]).max() < 1e-3
    elif follows == "DISTANCE":
        assert np.linalg.norm(x - there) == pytest.approx(0.35, abs=2e-3)
    else:
        np.testing.assert_allclose(x, there, atol=1e-3)


def test_other_trackers_say_that_they_follow_poses_alone(arm: bpy.types.Object) -> None:
    row(arm, "LOOK_AT", source=bpy.data.objects["bird"])
    arm.robik.robot.follow.tracker = "DIFFERENTIAL"
    module = installed.module("scene.bake.follow")
    assert not module.step(arm, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), 1 / 60)
    assert "At Once" in module.problem(arm)


@pytest.mark.parametrize(
    ("follows", "fields", "said"),
    [
        ("LOOK_AT", {}, "'Looks At' or 'Or At Frame'"),
        ("LOOK_AT", {"other": "tool"}, "twice"),
        ("DISTANCE", {"other": "nowhere"}, "'nowhere'"),
        ("RELATIVE_TO", {"frame": ""}, "'Robot Frame'"),
    ],
)
def test_what_a_target_lacks_is_said(arm: bpy.types.Object, follows: str, fields: dict[str, str], said: str) -> None:
    row(arm, follows, **fields)
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.robik.bake()


def test_two_targets_that_ask_for_the_same_are_refused(arm: bpy.types.Object) -> None:
    for _ in range(2):
        row(arm, "LOOK_AT", source=bpy.data.objects["bird"])
    with pytest.raises(RuntimeError, match="two targets ask for"):
        bpy.ops.robik.bake()


def test_what_was_asked_for_is_kept_with_the_bake(arm: bpy.types.Object) -> None:
    row(arm, "LOOK_AT", source=bpy.data.objects["bird"], axis="-Y", weight=0.5)
    assert bpy.ops.robik.bake() == {"FINISHED"}
    kept = installed.module("scene.bake.kept_clip").kept_clip(arm)
    (look,) = kept.clip.objectives
    assert (look.key, tuple(look.axis)) == ("tool.look_at", (0.0, -1.0, 0.0))
    np.testing.assert_allclose(look.point, BIRD, atol=1e-6)
    assert kept.settings.weight_of(look) == 0.5
