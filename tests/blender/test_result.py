"""What a bake says of itself: the result, the markers, what it followed."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def bake(root: bpy.types.Object) -> object:
    return installed.module("robik.steps").finish(installed.module("scene.bake.baking").bake_steps(bpy.context, root))


def raised(frames: range, by: float = 0.3) -> bpy.types.Object:
    """Squats whose pelvis is out of reach in some frames; the root."""
    root = scenes.squats()
    source = bpy.data.objects["to pelvis"]
    curve = installed.module("scene.animation.actions").curves_of(source)["location", 2]
    for key in curve.keyframe_points:
        key.interpolation = "LINEAR"
        if round(key.co.x) in frames:
            key.co.y += by + 0.001 * key.co.x  # worse and worse
    return root


def markers() -> dict[str, int]:
    return {marker.name: marker.frame for marker in bpy.context.scene.timeline_markers}


def test_frames_that_fall_short_come_in_runs_with_their_worst() -> None:
    root = raised(range(10, 15))
    motion = bake(root)
    result = root.robik.robot.result
    missed = {k + 1 for k, _ in motion.report.short}
    assert result.missed == len(missed)
    covered = {frame for row in result.short for frame in range(row.first, row.last + 1)}
    assert covered == missed | {k + 1 for k in motion.report.too_fast.tolist()}
    worst = 1 + int(np.nanargmax(motion.report.position_error.max(axis=1)))
    assert worst in {row.frame for row in result.short}
    assert dict(motion.report.short)[worst - 1].startswith(
        next(row.name for row in result.short if row.frame == worst)[:12]
    )
    assert f"{24 - len(missed)} of 24" in installed.module("scene.bake.result").status(result)


def test_motors_are_held_against_their_limits() -> None:
    root = scenes.squats()
    motion = bake(root)
    mechanism = scenes.read(root)
    limits = {n: limit for j in mechanism.actuated for n, limit in zip(j.coordinate_names, j.limits, strict=True)}
    for k, row in enumerate(root.robik.robot.result.actuators):
        lower, upper = limits[row.name]
        room = np.minimum(motion.values[:, k] - lower, upper - motion.values[:, k])
        assert row.has_limits
        assert row.room == pytest.approx(room.min(), rel=1e-5)
        assert row.room_frame == 1 + room.argmin()
        assert row.used == pytest.approx(1.0 - room.min() / (0.5 * (upper - lower)), rel=1e-4)
        assert row.unit == "rad"
    means = [row.position_mean for row in root.robik.robot.result.targets]
    assert means == pytest.approx(np.nanmean(motion.report.position_error, axis=0), rel=1e-5)


def test_too_fast_frames_are_told() -> None:
    root, _ = scenes.punches()
    root.robik.robot.bake.enforce_velocity = False
    motion = bake(root)
    result = root.robik.robot.result
    assert result.too_fast == len(motion.report.too_fast) > 0
    assert result.missed == 0
    assert "too fast for a motor" in installed.module("scene.bake.result").status(result)
    assert any("too fast: " in row.name for row in result.short)


def test_markers_are_replaced_and_a_users_stay() -> None:
    root, scene = raised(range(10, 15)), bpy.context.scene
    scene.timeline_markers.new("mine", frame=11)
    bake(root)
    rows = root.robik.robot.result.short
    assert sorted(markers().values()) == sorted([11, *(row.frame for row in rows)])
    moved = next(m for m in scene.timeline_markers if m.name != "mine")
    moved.name = "look here"  # adopted by the user
    bake(root)
    assert markers()["mine"] == 11
    assert "look here" in markers()
    assert len(scene.timeline_markers) == len(rows) + 2
    root.robik.robot.character.targets[0].enabled = False
    bake(root)
    assert set(markers()) == {"mine", "look here"}
    assert len(scene.robik.markers) == 0


def test_robots_keep_their_markers_apart() -> None:
    first, scene = raised(range(10, 15)), bpy.context.scene
    bake(first)
    marked = markers()
    second = scenes.import_robot("walker")
    scenes.follow(bpy.data.objects["to foot_l"], "foot_l")
    bake(second)
    assert markers() == marked
    first.name = "renamed"
    bake(second)
    assert markers() == marked
    bpy.data.objects.remove(first)
    bake(second)
    assert not markers()
    assert scene.robik.robot == second


def test_what_was_followed_is_kept_with_the_action(tmp_path: object) -> None:
    root = scenes.squats()
    robot = root.robik.robot
    robot.balance.mode, robot.balance.pin_feet, robot.bake.samples = "AUTO", True, 2
    robot.character.targets[0].position_weight = (0.0, 0.0, 1.0)
    bake(root)
    frames = installed.module("scene.bake.request").read_request(root, bpy.context.scene).frames
    clip = scenes.followed(root)
    name = root.name
    path = str(tmp_path / "kept.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    kept = installed.module("scene.bake.kept_clip").kept_clip(bpy.data.objects[name])
    assert kept.frames == pytest.approx(frames)
    assert kept.clip.times == pytest.approx(clip.times)
    assert kept.clip.com == pytest.approx(clip.com, abs=1e-6)
    assert list(kept.clip.tracks) == list(clip.tracks)
    for track, found in zip(clip.tracks.values(), kept.clip.tracks.values(), strict=True):
        assert found.position == pytest.approx(track.position, abs=1e-6)
        assert found.quaternion == pytest.approx(track.quaternion, abs=1e-6)
        assert (found.contact is None) == (track.contact is None)
    assert (kept.clip.tracks["foot_l"].contact == clip.tracks["foot_l"].contact).all()
    assert kept.settings.weights("pelvis").position == (0.0, 0.0, 1.0)
    assert kept.settings.com_weight == (100.0, 100.0, 0.0)
    assert [kept.sample(f) for f in (0.0, 1.0, 1.2, 1.3, 24.0, 25.0)] == [None, 0, 0, 1, 46, None]


@pytest.mark.one_blender
def test_report_page_shows_the_curves_as_they_are(tmp_path: object) -> None:
    root = scenes.squats()
    motion = bake(root)
    path = tmp_path / "report.html"
    assert bpy.ops.robik.report(filepath=str(path)) == {"FINISHED"}
    html = path.read_text(encoding="utf-8")
    assert "at frame" in html
    assert "Not known here" not in html
    for name, peak in motion.peak_velocity().items():
        assert f"<td>{name}</td><td>{peak:.2f} of " in html
    before = html.count('class="bad"')
    curve = installed.module("scene.animation.actions").curves_of(root)['["knee_l"]', 0]
    curve.keyframe_points[5].co.y += 2.0  # quicker than any motor
    curve.update()
    assert bpy.ops.robik.report(filepath=str(path)) == {"FINISHED"}
    assert path.read_text(encoding="utf-8").count('class="bad"') > before


def test_report_of_a_robot_without_a_bake_says_what_to_do(tmp_path: object) -> None:
    scenes.import_robot("boxer")
    with pytest.raises(RuntimeError, match="bake first"):
        bpy.ops.robik.report(filepath=str(tmp_path / "report.html"))
    assert not (tmp_path / "report.html").exists()


def test_a_jump_is_a_step_of_its_own() -> None:
    bpy.ops.ed.undo_push(message="At the start")
    assert bpy.ops.robik.go_to_frame("EXEC_DEFAULT", True, frame=12) == {"FINISHED"}
    bpy.data.objects.new("later", None)
    bpy.ops.ed.undo_push(message="Something else")
    bpy.ops.ed.undo()
    assert bpy.context.scene.frame_current == 12
    bpy.ops.ed.undo()
    assert bpy.context.scene.frame_current == 1


def test_judging_again_holds_the_present_curves_against_what_was_followed() -> None:
    fresh, actions = installed.module("scene.bake.freshness"), installed.module("scene.animation.actions")
    root, scene = scenes.squats(), bpy.context.scene
    bake(root)
    result = root.robik.robot.result
    assert not result.missed
    speeds = {row.name: row.peak_velocity for row in result.actuators}
    off = {row.name: row.position_error for row in result.targets}
    curve = next(c for (path, _), c in actions.curves_of(root).items() if "knee" in path)
    before = curve.keyframe_points[9].co.y
    curve.keyframe_points[9].co.y = before + 0.2
    assert fresh.is_out_of_date(root, scene)
    assert bpy.ops.robik.judge_again() == {"FINISHED"}
    assert not fresh.is_out_of_date(root, scene)
    assert [row.frame for row in result.short] == [10]
    assert 10 in markers().values()
    assert f"{result.frames - 1} of {result.frames}" in installed.module("scene.bake.result").status(result)
    assert root.robik.robot.bakes[-1].result.missed == 1, "the bake keeps it"
    curve.keyframe_points[9].co.y = before
    scene.render.fps = 2 * scene.render.fps
    assert bpy.ops.robik.judge_again() == {"FINISHED"}
    assert not result.missed
    assert not markers()
    for row in result.actuators:
        assert row.peak_velocity == pytest.approx(2 * speeds[row.name], rel=1e-3)
    for row in result.targets:
        assert row.position_error == pytest.approx(off[row.name], abs=1e-6)


def test_judging_again_without_a_bake_says_what_to_do() -> None:
    scenes.squats()
    with pytest.raises(RuntimeError, match="no bake moves robot 'walker', so its motion cannot be judged; bake first"):
        bpy.ops.robik.judge_again()
