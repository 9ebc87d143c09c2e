"""After the bake: fewer keys, keys by hand; and contacts that are edited by hand."""

from __future__ import annotations

from math import radians

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.kinematics.forward import ForwardKinematics, body_poses

from tests.blender import installed, scenes
from tests.blender.test_bakes import slider_curves
from tests.blender.test_mapping import clip

pytestmark = pytest.mark.usefixtures("empty_scene")
AT = np.arange(1.0, 25.0)


def key_count(root: bpy.types.Object) -> int:
    curves = installed.module("scene.animation.actions").curves_of(root)
    return sum(len(curves[f'["{name}"]', 0].keyframe_points) for name in scenes.read(root).actuators)


def test_reduced_keys_stay_within_the_tolerance_and_the_bodies_follow() -> None:
    root = scenes.squats()
    bpy.ops.robik.bake()
    before, many = slider_curves(root, AT), key_count(root)
    assert bpy.ops.robik.reduce_keys(angle=radians(0.2)) == {"FINISHED"}
    after = slider_curves(root, AT)
    assert key_count(root) < many / 2
    assert 0 < np.abs(after - before).max() <= radians(0.2) + 1e-6
    mechanism = scenes.read(root)
    keyed = np.stack([scenes.keyed_pose(b, AT) for b in scenes.body_objects(root)], axis=1)
    base = keyed[:, mechanism.body_index[ForwardKinematics(mechanism).root]]
    position, _, residual = body_poses(
        mechanism, after, (base[:, :3], base[:, 3:] / np.linalg.norm(base[:, 3:], axis=1, keepdims=True))
    )
    assert residual.max() < 1e-9
    assert np.abs(position - keyed[..., :3]).max() < 1e-5
    frames = installed.module("scene.motion").motion_frames(root, mechanism, bpy.context.scene)
    assert frames == pytest.approx(AT)  # servos and exports still get every frame


def test_what_reducing_keys_cost_is_told_in_the_units_that_the_motors_have(capfd: pytest.CaptureFixture[str]) -> None:
    scenes.squats()
    bpy.ops.robik.bake()
    assert bpy.ops.robik.reduce_keys(angle=radians(0.2)) == {"FINISHED"}
    told = capfd.readouterr().out
    assert "motors within 0.2" in told or "motors within 0.1" in told
    assert "slides" not in told  # the walker has none


def test_reducing_again_more_roughly_keeps_fewer() -> None:
    root, _ = scenes.punches()
    with pytest.raises(RuntimeError, match="no keys"):
        bpy.ops.robik.reduce_keys()
    bpy.ops.robik.bake()
    counts = []
    for angle in (0.01, 0.2, 5.0):
        bpy.ops.robik.reduce_keys(angle=radians(angle))
        counts.append(key_count(root))
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] >= 8


def test_pose_by_sliders_and_key() -> None:
    root = scenes.squats()
    bpy.ops.robik.bake()
    bpy.ops.robik.reduce_keys()
    bpy.context.scene.frame_set(12)
    value = root["knee_l"] = root["knee_l"] - 0.1
    root.update_tag()
    bpy.context.view_layer.update()
    posed = np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)])
    assert bpy.ops.robik.key_pose() == {"FINISHED"}
    assert scenes.channel(root, '["knee_l"]', 0, np.array([12.0]))[0] == pytest.approx(value, abs=1e-6)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(12)
    assert np.array([np.array(b.matrix_world) for b in scenes.body_objects(root)]) == pytest.approx(posed, abs=1e-4)


def test_keys_without_a_bake_move_the_robot() -> None:
    root = scenes.import_robot("boxer")
    poses = []
    for frame, elbow in ((1, root["elbow"]), (20, root["elbow"] + 0.5)):
        bpy.context.scene.frame_set(frame)
        root["elbow"] = elbow
        assert bpy.ops.robik.key_pose() == {"FINISHED"}
    for frame in (1, 20):
        bpy.context.scene.frame_set(frame)
        poses.append(np.array([np.array(b.matrix_local) for b in scenes.body_objects(root)]))
    assert np.abs(poses[1] - poses[0]).max() > 0.01


def stepping() -> bpy.types.Object:
    """The walker following a rig that lifts its left foot in the frames 9 to 16 of 24."""
    root = scenes.squats()
    foot = bpy.data.objects["to foot_l"]
    height = foot.location.z
    for frame in range(1, 25):
        foot.location.z = height + (0.06 * np.sin(np.pi * (frame - 8) / 9) if 8 < frame < 17 else 0.0)
        foot.keyframe_insert("location", frame=frame)
    return root


def phases(root: bpy.types.Object, foot: str) -> list[tuple[int, int]]:
    target = next(t for t in root.robik.robot.character.targets if t.frame == foot)
    return [(p.start, p.end) for p in target.stands]


def test_contacts_are_found_and_edited() -> None:
    root = stepping()
    assert bpy.ops.robik.detect_contacts() == {"FINISHED"}
    assert phases(root, "foot_r") == [(1, 24)]
    (first, lifts), (lands, last) = phases(root, "foot_l")
    assert (first, last) == (1, 24)
    assert 5 <= lifts <= 10
    assert 15 <= lands <= 20
    target = next(t for t in root.robik.robot.character.targets if t.frame == "foot_l")
    target.stands[0].end = 5  # dragged
    bpy.ops.robik.remove_phase(foot="foot_l", index=1)
    bpy.context.scene.frame_set(20)
    bpy.ops.robik.add_phase(foot="foot_l")
    bpy.ops.robik.add_phase(foot="foot_l", start=8, end=9)
    assert phases(root, "foot_l") == [(1, 5), (8, 9), (20, 30)]
    contact = clip(root).tracks["foot_l"].contact
    assert (np.flatnonzero(contact) + 1).tolist() == [1, 2, 3, 4, 5, 8, 9, 20, 21, 22, 23, 24]
    assert bpy.ops.robik.move_phase(foot="foot_l", index=0, start=12, end=13) == {"FINISHED"}
    assert phases(root, "foot_l") == [(8, 9), (12, 13), (20, 30)]
    assert bpy.ops.robik.move_phase(foot="foot_l", index=1, start=1, end=5) == {"FINISHED"}
    assert phases(root, "foot_l") == [(1, 5), (8, 9), (20, 30)]
    strip = installed.module("scene.balance.contacts").strip(target, 1, 24, 24)
    assert [c == "█" for c in strip] == contact.tolist()
    target.stands[0].end = -3
    with pytest.raises(RuntimeError, match=r"foot_l.*runs backwards"):
        bpy.ops.robik.bake()
    for wrong, says in (
        (("add_phase", {"foot": "nose"}), "'nose' follows nothing"),
        (("remove_phase", {"foot": "foot_l", "index": 9}), "no phase"),
        (("move_phase", {"foot": "foot_l", "index": 9, "start": 1, "end": 2}), "no phase number 10; it has 3"),
        (("move_phase", {"foot": "foot_l", "index": 0, "start": 3, "end": 2}), "must not end before it begins"),
    ):
        with pytest.raises(RuntimeError, match=says):
            getattr(bpy.ops.robik, wrong[0])(**wrong[1])


def test_strips_are_taken_hold_of_where_they_are_drawn() -> None:
    """A lane for each foot, the bake's contacts until they are set by hand; what the mouse does to them, in pixels of
    an editor."""
    strips, root = installed.module("scene.overlay.contact_strips"), stepping()
    assert [(lane.foot, lane.phases) for lane in strips.lanes(root)] == [("foot_l", ()), ("foot_r", ())]
    root.robik.robot.balance.pin_feet = True
    bpy.ops.robik.bake()
    left, right = strips.lanes(root)
    assert not left.by_hand
    assert right.phases == ((1, 24),)
    assert len(left.phases) == 2
    bpy.ops.robik.detect_contacts()
    by_hand = strips.lanes(root)
    assert all(lane.by_hand for lane in by_hand)
    assert [lane.phases for lane in by_hand] == [left.phases, right.phases]
    place = strips.Place(first=0.0, last=50.0, width=1000.0, bottom=12.0, top=120.0, scale=1.0)  # 20 pixels a frame
    small = strips.Place(first=0.0, last=50.0, width=1000.0, bottom=12.0, top=48.0, scale=1.0)
    assert place.heights(0, 2) == (31.0, 47.0)
    assert small.heights(0, 2)[1] <= small.top
    assert small.heights(1, 2)[1] < small.heights(0, 2)[0]
    (_, lifts), _ = left.phases
    y = sum(place.heights(0, 2)) / 2
    assert place.frame(place.x(7.0)) == pytest.approx(7.0)
    assert strips.grip_at(by_hand, place, place.x(lifts + 0.45), y).moves == (False, True)
    assert strips.grip_at(by_hand, place, place.x(0.55), y).moves == (True, False)
    assert strips.grip_at(by_hand, place, place.x(3), y).moves == (True, True)
    assert strips.grip_at(by_hand, place, place.x(lifts + 3), y).phase is None
    assert strips.grip_at(by_hand, place, place.x(3), sum(place.heights(1, 2)) / 2).lane.foot == "foot_r"
    assert strips.grip_at(by_hand, place, place.x(3), place.heights(0, 2)[1] + 5) is None
    assert strips.moved((4, 9), (True, True), 2.4) == (6, 11)
    assert strips.moved((4, 9), (False, True), -30.0) == (4, 4)
    assert strips.moved((4, 9), (True, False), 30.0) == (9, 9)


@pytest.mark.one_blender
def test_pinned_feet_do_not_slide() -> None:
    root = stepping()
    foot = bpy.data.objects["to foot_l"]
    for frame in range(1, 25):  # it slides while it stands
        bpy.context.scene.frame_set(frame)
        foot.location.y += 0.004 * frame
        foot.keyframe_insert("location", frame=frame)
    bpy.ops.robik.detect_contacts()
    root.robik.robot.balance.pin_feet = True
    bpy.ops.robik.bake()
    frame = next(o for o in root.children_recursive if o.robik.kind == "FRAME" and o.robik.label == "foot_l")
    for start, end in phases(root, "foot_l"):
        seen = []
        for at in range(start, end + 1):
            bpy.context.scene.frame_set(at)
            seen.append(frame.matrix_world.translation.copy())
        assert np.ptp(np.array(seen), axis=0).max() < 1e-3


@pytest.mark.one_blender
def test_weight_shifts_earlier_with_more_look_ahead() -> None:
    root = stepping()
    bpy.context.scene.render.fps = 24
    bpy.ops.robik.detect_contacts()
    balance = root.robik.robot.balance
    balance.mode = "AUTO"
    paths = []
    for lead in (0.0, 0.2):
        balance.lead = lead
        paths.append(scenes.followed(root).com)
    right = scenes.followed(root).tracks["foot_r"].position[0]
    lifts = phases(root, "foot_l")[0][1]
    far = [np.linalg.norm(path[lifts - 5, :2] - right[:2]) for path in paths]
    assert far[1] < far[0] - 0.002
