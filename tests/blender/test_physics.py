"""Test in Physics on the installed extension: the verdict stands in the result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_bake_is_tested_in_physics_and_the_verdict_is_kept() -> None:
    root = scenes.squats()
    installed.module("robik.steps").finish(installed.module("scene.bake.baking").bake_steps(bpy.context, root))
    result = root.robik.robot.result
    assert result.physics == ""
    assert bpy.ops.robik.test_in_physics(trials=1) == {"FINISHED"}
    assert result.physics_stands == result.physics.startswith("Stands to the end in physics")
    assert result.physics_stands or f"Falls at frame {result.physics_frame} in physics: " in result.physics
    assert "most torque: " in result.physics_more


def test_progress_is_told_and_a_test_that_is_stopped_changes_nothing() -> None:
    root = scenes.squats()
    installed.module("robik.steps").finish(installed.module("scene.bake.baking").bake_steps(bpy.context, root))
    motors = installed.module("scene.robot.chain").robot_motors(root, bpy.context.scene)
    steps = installed.module("scene.bake.physics").physics_steps(bpy.context, root, motors, True, 20)
    for progress in steps:
        if progress.fraction:
            break
    assert 0.0 < progress.fraction < 1.0
    steps.close()
    assert root.robik.robot.result.physics == ""


def test_a_robot_without_curves_is_told() -> None:
    scenes.squats()
    with pytest.raises(RuntimeError, match=r"curve|keys|bake"):
        bpy.ops.robik.test_in_physics()


def baked_squats() -> bpy.types.Object:
    root = scenes.squats()
    installed.module("robik.steps").finish(installed.module("scene.bake.baking").bake_steps(bpy.context, root))
    return root


@pytest.mark.one_blender
def test_make_it_stand_tries_one_thing_after_the_other_and_each_can_be_used() -> None:
    root = baked_squats()
    bakes, ghost = installed.module("scene.bake.bakes"), installed.module("scene.bake.ghost")
    physics = root.robik.robot.physics
    assert bpy.ops.robik.make_it_stand(trials=1) == {"FINISHED"}
    rows = list(physics.attempts)
    assert rows[0].name == "as it is"
    assert not any(row.stands for row in rows[:-1]), "it ends with the first that stands"
    chosen = rows[physics.chosen]
    assert (physics.carry_weight, physics.p_gain) == (chosen.carry_weight, chosen.p_gain)
    result = root.robik.robot.result
    assert result.physics_stands == chosen.stands
    assert max(row.torque for row in result.actuators) > 0.0
    assert ghost.has_ghost(root)
    shapes = bpy.data.collections[f"{root.name} physics ghost"].objects
    assert {o.parent for o in shapes if o.type == "MESH"} <= set(shapes)
    assert bpy.ops.robik.use_attempt(index=0) == {"FINISHED"}
    assert root.robik.robot.bakes[bakes.in_use(root)].name == rows[0].bake
    assert (physics.carry_weight, physics.p_gain) == (False, 0)
    with pytest.raises(RuntimeError, match="there is no attempt 99"):
        bpy.ops.robik.use_attempt(index=99)
    assert bpy.ops.robik.remove_ghost() == {"FINISHED"}
    assert not ghost.has_ghost(root)


@pytest.mark.one_blender
def test_markers_and_the_end_go_along_with_a_slower_attempt_and_back() -> None:
    root, scene = baked_squats(), bpy.context.scene
    end = scene.frame_end
    marker = scene.timeline_markers.new("beat", frame=5)
    physics = root.robik.robot.physics
    for frames in ("", f"[[1.0, {end}.0], [1.0, {2 * end - 1}.0]]"):
        row = physics.attempts.add()
        row.name, row.frames = "slower" if frames else "as it is", frames
    bpy.ops.robik.use_attempt(index=1)
    assert (marker.frame, scene.frame_end) == (9, 2 * end - 1)
    bpy.ops.robik.use_attempt(index=0)
    assert (marker.frame, scene.frame_end) == (5, end)


def test_the_scene_that_is_written_plays_the_bake(tmp_path: Path) -> None:
    """Its keys are the bake's frames, and a loop of MuJoCo's own keeps the robot up through them."""
    mujoco = pytest.importorskip("mujoco")
    root = baked_squats()
    root.robik.robot.physics.carry_weight = True
    assert bpy.ops.robik.export_scene(filepath=str(tmp_path / "squats.xml")) == {"FINISHED"}
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "squats.xml"))
    scene, data = bpy.context.scene, mujoco.MjData(model)
    assert model.nkey == scene.frame_end - scene.frame_start + 1
    assert sum(model.geom(k).group == 2 for k in range(model.ngeom)) > 0, "the robot can be seen"
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for key in range(model.nkey):
        while data.time < model.key_time[key]:
            mujoco.mj_step(model, data)
        data.ctrl[:] = model.key_ctrl[key]
    scene.frame_set(scene.frame_end)
    bpy.context.view_layer.update()
    torso = next(o for o in root.children_recursive if o.robik.label == "torso")
    assert abs(data.body("torso").xpos[2] - torso.matrix_world.translation.z) < 0.02


def test_the_ghost_is_where_the_robot_is_in_physics() -> None:
    root, scene = baked_squats(), bpy.context.scene
    root.location.x = 1.0
    bpy.context.view_layer.update()
    assert bpy.ops.robik.test_in_physics(trials=0) == {"FINISHED"}
    scene.frame_set(scene.frame_start)
    bpy.context.view_layer.update()
    collection = bpy.data.collections[f"{root.name} physics ghost"]
    bodies = {o.robik.label: o for o in root.children_recursive if o.robik.kind == "BODY"}
    name = next(n for n in bodies if f"{n} physics ghost" in collection.objects)
    ghost = collection.objects[f"{name} physics ghost"].matrix_world.translation
    assert (ghost - bodies[name].matrix_world.translation).length < 0.05


def steps_until(root: bpy.types.Object, stop: Callable[[float], bool]) -> object:
    """Rehearse until a share of the work; what came out."""
    motors = installed.module("scene.robot.chain").robot_motors(root, bpy.context.scene)
    shares = [0.0]

    def told(progress: object) -> None:
        shares.append(progress.fraction)

    rehearse = installed.module("scene.bake.rehearse").rehearse_steps
    steps = rehearse(bpy.context, root, motors, lambda: stop(shares[-1]))
    found = installed.module("robik.steps").finish(steps, told)
    assert shares == sorted(shares)
    assert shares[-1] > 0.0
    return found


def test_a_rehearsed_bake_is_one_of_its_own_that_physics_made() -> None:
    root = baked_squats()
    robot, at = root.robik.robot, np.arange(1.0, 25.0)
    before = keyed(root, at)
    assert bpy.ops.robik.rehearse() == {"FINISHED"}
    bakes = installed.module("scene.bake.bakes")
    assert bakes.in_use(root) == 1
    assert robot.bakes[1].name == "walker rehearsed 2"
    assert robot.result.physics == "Stands to the end, rehearsed (0.4 s)"
    assert robot.result.physics_stands
    assert "the base is off by " in robot.result.physics_more
    after = keyed(root, at)
    assert 1e-4 < np.abs(after - before).max() < 0.3, "near the bake, and not the bake"
    assert bpy.ops.robik.use_bake(index=0) == {"FINISHED"}
    assert keyed(root, at) == pytest.approx(before)
    assert robot.result.physics == ""


def test_a_rehearsal_that_is_stopped_keeps_what_stands() -> None:
    root = baked_squats()
    found = steps_until(root, lambda share: share > 0.4)
    assert not found.is_whole
    assert 0.1 < found.until < 0.4
    robot = root.robik.robot
    assert robot.result.physics.startswith("Stopped at 0.")
    assert not robot.result.physics_stands
    curve = installed.module("scene.animation.actions").curves_of(root)
    last = max(point.co[0] for one in curve.values() for point in one.keyframe_points)
    assert last == pytest.approx(1.0 + 60.0 * found.until, abs=1.1)


def test_a_rehearsal_that_is_closed_changes_nothing() -> None:
    root = baked_squats()
    motors = installed.module("scene.robot.chain").robot_motors(root, bpy.context.scene)
    steps = installed.module("scene.bake.rehearse").rehearse_steps(bpy.context, root, motors, lambda: False)
    for progress in steps:
        if progress.fraction:
            break
    steps.close()
    assert len(root.robik.robot.bakes) == 1
    assert root.robik.robot.result.physics == ""


def keyed(root: bpy.types.Object, at: np.ndarray) -> np.ndarray:
    return np.column_stack([scenes.channel(root, f'["{name}"]', 0, at) for name in scenes.read(root).actuators])
