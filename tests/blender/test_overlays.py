"""Overlays: when they draw, and that what they show is what the bake says. That pixels come of it is for the window
test."""

from __future__ import annotations

from types import ModuleType

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.dynamics.inverse import inverse_dynamics
from bl_ext.user_default.robik.robik.feet.support import margins

from tests.blender import installed, scenes
from tests.blender.test_result import bake, raised

pytestmark = pytest.mark.usefixtures("empty_scene")


def overlay() -> ModuleType:
    return installed.module("scene.overlay.views")


def show(**switches: object) -> bpy.types.PropertyGroup:
    """Switches overlays of the scene."""
    group = bpy.context.scene.robik.overlays
    for name, value in switches.items():
        setattr(group, name, value)
    return group


def state(root: bpy.types.Object) -> object:
    return installed.module("scene.overlay.state").robot_state(
        root, bpy.context.scene, bpy.context.evaluated_depsgraph_get()
    )


def updates() -> int:
    """How many functions Blender calls when something changes."""
    return len(bpy.app.handlers.depsgraph_update_post) + len(bpy.app.handlers.frame_change_post)


@pytest.mark.parametrize("switch", ["com", "com_target", "support", "forces", "errors", "joints", "graph"])
def test_nothing_of_ours_runs_while_all_is_off(switch: str) -> None:
    before = updates()
    assert not overlay().is_drawing()
    show(**{switch: True})
    assert overlay().is_drawing()
    assert updates() == before + 2
    show(**{switch: False})
    assert not overlay().is_drawing()
    assert updates() == before


@pytest.mark.parametrize("switch", ["contacts", "limits"])
def test_animation_editors_are_drawn_in_only_when_asked(switch: str) -> None:
    """And looking after changes takes no handler: what is drawn is read as it is drawn."""
    before = updates()
    show(**{switch: True})
    assert overlay().is_drawing()
    assert updates() == before
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not overlay().is_drawing()


def test_limits_lie_over_the_selected_motors_curves_in_what_the_editor_shows() -> None:
    root = scenes.import_robot("boxer")
    root.select_set(True)
    assert bpy.ops.robik.key_pose() == {"FINISHED"}
    area = bpy.context.window.screen.areas[0]
    area.ui_type = "FCURVES"
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(area=area, region=region):
        curves = {curve.data_path: curve for curve in bpy.context.visible_fcurves}
        assert len(curves) == 4
        for path, curve in curves.items():
            curve.select = path == '["elbow"]'
        draw = installed.module("scene.overlay.limit_lines").limit_shapes
        assert [text for _, text, _ in draw(bpy.context).labels] == ["elbow -5.73°", "elbow 149°"]
        bpy.context.scene.unit_settings.system_rotation = "RADIANS"
        assert [text for _, text, _ in draw(bpy.context).labels] == ["elbow -0.1 rad", "elbow 2.6 rad"]
        area.spaces[0].use_normalization = True
        assert not draw(bpy.context).labels


def test_switches_hold_through_saving_loading_and_undo(tmp_path: object) -> None:
    path = str(tmp_path / "on.blend")
    bpy.ops.ed.undo_push(message="off")
    show(motors="SPEED")
    bpy.ops.ed.undo_push(message="on")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.ed.undo()
    assert bpy.context.scene.robik.overlays.motors == "NONE"
    assert not overlay().is_drawing()
    bpy.ops.ed.redo()
    assert overlay().is_drawing()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not overlay().is_drawing()
    bpy.ops.wm.open_mainfile(filepath=path)
    assert overlay().is_drawing()
    overlay().unregister()
    assert not overlay().is_drawing()
    overlay().register()
    assert overlay().is_drawing()
    show(motors="NONE")


def test_other_scenes_count_too() -> None:
    other = bpy.data.scenes.new("other")
    other.robik.overlays.com = True
    assert overlay().is_drawing()
    assert not overlay().is_on(bpy.context.scene)
    other.robik.overlays.com = False
    assert not overlay().is_drawing()


def test_what_is_shown_is_what_was_baked() -> None:
    root = raised(range(10, 15), by=0.02)
    root.location, root.rotation_mode, root.rotation_euler = (1.0, -2.0, 0.5), "XYZ", (0.0, 0.0, 0.7)
    robot = root.robik.robot
    bpy.context.view_layer.update()
    robot.balance.mode, robot.balance.pin_feet = "AUTO", True
    for target in robot.character.targets:  # they stand where the robot stood before it was moved
        target.source.parent = root
    motion = bake(root)
    kept = installed.module("scene.bake.kept_clip").kept_clip(root)
    inside = margins(
        scenes.read(root), motion, {n: t.contact for n, t in kept.clip.tracks.items() if t.contact is not None}
    )
    show(com=True, com_target=True, support=True, errors=True, joints=True, motors="SPEED")
    for frame in (1, 2, 9, 12, 24):
        bpy.context.scene.frame_set(frame)
        seen, k = state(root), frame - 1
        assert seen.com == pytest.approx(motion.com[k], abs=1e-6)
        assert seen.com_target == pytest.approx(kept.clip.com[k, :2])
        assert seen.margin == pytest.approx(inside[k], abs=1e-5)
        assert [miss.name for miss in seen.misses] == ["pelvis", "foot_l", "foot_r"]
        assert [m.distance for m in seen.misses] == pytest.approx(motion.report.position_error[k], abs=2e-6)
        shares = np.abs(motion.report.velocity[k]) / motion.report.velocity_limit
        assert [motor.load for motor in seen.motors] == pytest.approx(shares if k else 0 * shares, abs=1e-4)
        values = {
            n: v for place in seen.joints for n, v in zip(place.joint.coordinate_names, place.values, strict=True)
        }
        assert [values[name] for name in motion.actuators] == pytest.approx(motion.values[k], abs=1e-5)
    show(motors="LIMIT")
    used = {row.name: row for row in robot.result.actuators}
    for row in used.values():
        bpy.context.scene.frame_set(row.room_frame)
        load = dict(zip(motion.actuators, (m.load for m in state(root).motors), strict=True))[row.name]
        assert load == pytest.approx(row.used, abs=1e-4)
    show(motors="SINGULAR")
    assert all(0 < motor.load < 1 for motor in state(root).motors)
    show(com=False, com_target=False, support=False, errors=False, joints=False, motors="NONE")


def test_before_a_bake_errors_go_to_where_the_targets_are_now() -> None:
    root = scenes.squats()
    source = bpy.data.objects["to foot_l"]
    source.animation_data_clear()
    source.location.x += 0.05
    bpy.context.view_layer.update()
    show(errors=True, support=True)
    seen = {miss.name: miss.distance for miss in state(root).misses}
    assert seen["foot_l"] == pytest.approx(0.05, abs=1e-6)
    assert seen["foot_r"] == pytest.approx(0.0, abs=1e-6)
    root.robik.robot.character.targets[1].position_weight = (0.0, 1.0, 1.0)
    assert {m.name: m.distance for m in state(root).misses}["foot_l"] == pytest.approx(
        0.0, abs=1e-6
    )  # along x it need not follow
    bpy.data.objects.remove(bpy.data.objects["to foot_r"])
    assert {miss.name for miss in state(root).misses} == {"pelvis", "foot_l"}
    assert len(state(root).support) >= 4  # it stands on both feet
    assert state(root).margin > 0
    show(errors=False, support=False)


def test_every_visible_robot_has_its_marks() -> None:
    walker, boxer = scenes.import_robot("walker"), scenes.import_robot("boxer")
    show(com=True, com_target=True, support=True, errors=True, joints=True, motors="LIMIT")
    found = overlay().shapes_in(bpy.context)
    assert [root for root, _ in found] == [boxer, walker]
    for _, shapes in found:
        assert shapes.lines
        assert shapes.triangles
        for points, colors in ((shapes.lines, shapes.line_colors), (shapes.triangles, shapes.triangle_colors)):
            stacked = np.concatenate(points)
            assert np.isfinite(stacked).all()
            assert stacked.shape == (len(np.concatenate(colors)), 3)
            assert np.abs(stacked).max() < 3.0
    walker.hide_set(True)
    assert [root for root, _ in overlay().shapes_in(bpy.context)] == [boxer]
    for body in scenes.body_objects(boxer):
        bpy.data.objects.remove(body)
    assert overlay().shapes_in(bpy.context) == []  # incomplete
    show(com=False, com_target=False, support=False, errors=False, joints=False, motors="NONE")


@pytest.mark.parametrize("name", ["chain", "validation", "dancer", "arm7"])
def test_joints_of_every_type_are_drawn(name: str) -> None:
    scenes.import_robot(name)
    show(joints=True, motors="LIMIT")
    [(_, shapes)] = overlay().shapes_in(bpy.context)
    assert np.isfinite(np.concatenate(shapes.lines)).all()
    show(joints=False, motors="NONE")


def test_motor_graph_follows_the_curves() -> None:
    graph = installed.module("scene.overlay.motor_graph")
    root, _ = scenes.punches()
    assert graph.motor_curves(root, bpy.context.scene, "SPEED") is None  # nothing is baked
    root.robik.robot.bake.enforce_velocity = False
    motion = bake(root)
    speeds = graph.motor_curves(root, bpy.context.scene, "SPEED")
    assert speeds.values == pytest.approx(np.abs(motion.report.velocity), abs=1e-3)
    hardest = int((np.abs(motion.report.velocity) / motion.report.velocity_limit).max(axis=0).argmax())
    assert speeds.index("") == speeds.index("no such motor") == hardest
    assert speeds.describe(hardest).startswith(motion.actuators[hardest])
    shapes = graph.graph_shapes(speeds, graph.Place(50.0, 450.0, 30.0, 130.0, 1.0), "")
    drawn = np.concatenate(shapes.lines)
    assert drawn[:, 0].min() >= 50.0 and drawn[:, 0].max() <= 450.0
    assert drawn[:, 1].min() >= 30.0 and drawn[:, 1].max() <= 130.0 + 1e-3
    curve = installed.module("scene.animation.actions").curves_of(root)['["elbow"]', 0]
    for key in curve.keyframe_points:
        key.co.y = 0.3
    curve.update()
    assert graph.motor_curves(root, bpy.context.scene, "SPEED").values[
        :, motion.actuators.index("elbow")
    ].max() == pytest.approx(0.0, abs=1e-6)


def test_motor_graph_of_accelerations_and_jerks_keeps_the_bake_s_limits() -> None:
    graph = installed.module("scene.overlay.motor_graph")
    root, _ = scenes.punches()
    settings, scene = root.robik.robot.bake, bpy.context.scene
    report = bake(root).report
    free = graph.motor_curves(root, scene, "ACCELERATION")
    assert free.values == pytest.approx(np.abs(report.acceleration), rel=1e-2, abs=0.1)
    assert free.limits == pytest.approx(20.0 * report.velocity_limit), "its speed in 0.05 s"
    assert graph.motor_curves(root, scene, "JERK").limits == pytest.approx(50.0 * free.limits)
    assert "rad/s²" in free.describe(0)
    settings.look_ahead, settings.acceleration, settings.jerk = True, 40.0, 900.0
    bake(root)
    for what, limit in (("SPEED", None), ("ACCELERATION", 40.0), ("JERK", 900.0)):
        curves = graph.motor_curves(root, scene, what)
        assert limit is None or curves.limits == pytest.approx(limit)
        assert curves.shares.max() <= 1.01, "curves have single precision"
    assert free.values.max() > 40.0, "there is something to be kept"
    assert graph.motor_curves(root, scene, "ACCELERATION").shares.max() > 0.9, "and it is used"


def test_the_ground_carries_the_robot_s_weight_and_motors_show_their_torque() -> None:
    root = scenes.squats()
    show(forces=True, motors="TORQUE")
    assert state(root).ground_force is None  # nothing is baked
    motion = bake(root)
    bpy.context.view_layer.update()  # as Blender's main loop does
    forces, loads = [], []
    for frame in range(1, 25):
        bpy.context.scene.frame_set(frame)
        found = state(root)
        forces.append(found.ground_force)
        loads.append([motor.load for motor in found.motors])
    np.testing.assert_allclose(np.mean(forces, axis=0), [0.0, 0.0, 1.0], atol=0.1)
    mechanism = scenes.read(root)
    expected = inverse_dynamics(mechanism, motion)
    assert expected.wrench[:, 5] / (mechanism.mass * 9.81) == pytest.approx(np.array(forces)[:, 2], rel=1e-4)
    assert 0.0 < np.max(loads) < 5.0
    assert "N m" in found.motors[0].text
    graph = installed.module("scene.overlay.motor_graph")
    torques = graph.motor_curves(root, bpy.context.scene, "TORQUE")
    np.testing.assert_allclose(torques.shares, loads, rtol=1e-6)
    [(_, shapes)] = overlay().shapes_in(bpy.context)
    assert np.isfinite(np.concatenate(shapes.lines)).all()
    curve = installed.module("scene.animation.actions").curves_of(root)[f'["{motion.actuators[0]}"]', 0]
    for key in curve.keyframe_points:
        key.co.y += 0.05
    curve.update()
    bpy.context.view_layer.update()
    assert np.abs(graph.motor_curves(root, bpy.context.scene, "TORQUE").shares - loads).max() > 1e-3
    bpy.context.scene.frame_set(200)
    assert state(root).ground_force is None  # beyond the bake
    show(forces=False, motors="NONE")


def test_graph_keeps_peaks_that_are_narrower_than_a_pixel() -> None:
    graph = installed.module("scene.overlay.motor_graph")
    speeds = np.zeros((12000, 2))
    speeds[7777, 1] = 3.0
    found = graph.MotorCurves("", np.arange(12000.0), ("a", "b"), speeds, np.ones(2), ("rad/s", "rad/s"))
    shapes = graph.graph_shapes(found, graph.Place(0.0, 300.0, 0.0, 100.0, 1.0), "")
    assert max(points[:, 1].max() for points in shapes.lines) == pytest.approx(100.0)
    assert sum(len(points) for points in shapes.lines) < 4 * 2 * 301
