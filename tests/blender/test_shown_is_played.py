"""What is shown is what is played: however a motion is edited, everything reads the sliders as Blender evaluates them.

The judge steps the scene itself and looks at the robot.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import floor
from pathlib import Path

import bpy
import numpy as np
import pytest
from bpy.types import NlaStrip, Object

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
EDITS = int(os.environ.get("ROBIK_RANDOM_EDITS", "10"))  # of which each kind comes first once
FRAMES = 24
CLOSE = 1e-6  # [rad or m]


def baked() -> Object:
    """The walker that squats, baked."""
    return scenes.kept(add_baked)


def add_baked() -> None:
    scenes.add_squats(FRAMES)
    bpy.ops.robik.bake()


def base_of(root: Object) -> Object:
    """The body by which the robot floats."""
    name = installed.module("robik.mechanism.topology").build_topology(scenes.read(root)).root
    return next(body for body in scenes.body_objects(root) if body.robik.label == name)


def shown(root: Object, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sliders (T, A) and the base's matrices in the robot's coordinates (T, 4, 4), as the scene shows them."""
    scene, mechanism = bpy.context.scene, scenes.read(root)
    before, sliders, base = scene.frame_current, [], []
    floating = base_of(root)
    for frame in frames.tolist():
        scene.frame_set(floor(frame), subframe=frame - floor(frame))
        sliders.append([root[name] for name in mechanism.actuators])
        base.append(np.array(root.matrix_world.inverted() @ floating.matrix_world))
    scene.frame_set(before)
    return np.array(sliders), np.array(base)


def read(root: Object) -> tuple[np.ndarray, object]:
    """The frames and the motion that judging, physics and files begin with."""
    motion, mechanism, scene = installed.module("scene.motion"), scenes.read(root), bpy.context.scene
    frames = motion.motion_frames(root, mechanism, scene)
    return frames, motion.read_motion(root, mechanism, frames, scene)


def played(root: Object) -> tuple[np.ndarray, object]:
    """The frames and the motion that servos get."""
    play, mechanism, scene = installed.module("scene.servos.play"), scenes.read(root), bpy.context.scene
    chain = installed.module("scene.robot.chain").servo_chain(root, mechanism, scene)
    return play.frames_to_play(root, mechanism, scene), play.motion_to_play(root, mechanism, scene, chain)[0]


def exported(root: Object, path: Path, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Times (T,) and the motors' columns (T, A) of an exported file."""
    assert bpy.ops.robik.export_motion(filepath=str(path), format="csv", rate=rate) == {"FINISHED"}
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names, rows = lines[0].split(","), np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
    return rows[:, 0], rows[:, [names.index(name) for name in scenes.read(root).actuators]]


def curves(root: Object) -> list:
    """The sliders' F-curves of the action in use, of whichever Blender."""
    return [c for (path, _), c in installed.module("scene.animation.actions").curves_of(root).items() if path[0] == "["]


def push_down(target: Object) -> NlaStrip:
    """A strip that plays what the action in use does; no action is in use then."""
    data = target.animation_data
    action, slot = data.action, getattr(data, "action_slot", None)
    strip = data.nla_tracks.new().strips.new("pushed", int(action.frame_range[0]), action)
    if slot is not None:
        strip.action_slot = slot
    data.action = None
    return strip


def layer(target: Object, names: list[str], values: list[float]) -> None:
    """An additive layer of a few keys over what there is."""
    if target.animation_data.action is not None:
        push_down(target)
    data = target.animation_data
    data.action = bpy.data.actions.new("layer")
    data.action_blend_type = "ADD"
    actions = installed.module("scene.animation.actions")
    made = [
        actions.Curve(f'["{name}"]', 0, np.array([0.0, value, 0.0]), "Motors")
        for name, value in zip(names, values, strict=True)
    ]
    actions.write_curves(target, np.array([1.0, FRAMES / 2, FRAMES]), made)


def drive(root: Object, name: str, expression: str = "0.1 * sin(frame / 5)", source: Object | None = None) -> None:
    """A driver on a slider: by the frame, or by how high an object is."""
    driver = root.driver_add(f'["{name}"]').driver
    if source is not None:
        variable = driver.variables.new()
        variable.name, variable.type = "height", "TRANSFORMS"
        variable.targets[0].id, variable.targets[0].transform_type = source, "LOC_Z"
    driver.expression = expression


def assert_shown_is_played(root: Object, tmp_path: Path) -> None:
    """Everything that leaves Blender, or is judged, has at each frame what the scene shows there."""
    scene = bpy.context.scene
    at = scene.frame_current
    for frames, motion in (read(root), played(root)):
        sliders, base = shown(root, frames)
        assert np.abs(motion.values - sliders).max() <= CLOSE
        if motion.base is not None:
            assert np.abs(motion.base.position - base[:, :3, 3]).max() <= CLOSE
            assert np.abs(matrices(motion.base.quaternion) - base[:, :3, :3]).max() <= 5 * CLOSE
    times, values = exported(root, tmp_path / "out.csv", 31.0)
    first = read(root)[0][0]
    assert np.abs(values - shown(root, first + 60.0 * times)[0]).max() <= CLOSE
    assert scene.frame_current == at
    assert len(bpy.data.scenes) == 1


def matrices(quaternion: np.ndarray) -> np.ndarray:
    from mathutils import Quaternion

    return np.array([Quaternion(row).to_matrix() for row in quaternion.tolist()])


def test_a_plain_bake_is_read_from_its_keys_bit_by_bit(tmp_path: Path) -> None:
    root = baked()
    frames, motion = read(root)
    assert frames.tolist() == list(range(1, FRAMES + 1))
    keys = {c.data_path: [point.co.y for point in c.keyframe_points] for c in curves(root)}
    for name, values in zip(motion.actuators, motion.values.T, strict=True):
        assert values.tolist() == keys[f'["{name}"]']
    assert_shown_is_played(root, tmp_path)


def test_a_muted_motor_stands_still(tmp_path: Path) -> None:
    root = baked()
    curve = next(c for c in curves(root) if c.data_path == '["knee_l"]')
    root["knee_l"] = 0.123
    curve.mute = True
    _, motion = read(root)
    assert np.ptp(motion.values[:, motion.actuators.index("knee_l")]) == 0.0
    assert np.ptp(motion.values[:, motion.actuators.index("knee_r")]) > 0.01
    assert installed.module("scene.bake.freshness").is_out_of_date(root, bpy.context.scene)
    assert_shown_is_played(root, tmp_path)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_a_bake_in_the_nla_is_played_at_the_pace_of_its_strip(scale: float, tmp_path: Path) -> None:
    root = baked()
    before = read(root)[1]
    push_down(root).scale = scale
    frames, motion = read(root)
    assert frames[-1] - frames[0] == pytest.approx(scale * (FRAMES - 1), abs=1e-3)
    for sample, value in ((0, 0), (-1, -1)):
        np.testing.assert_allclose(motion.values[sample], before.values[value], atol=CLOSE)
    assert_shown_is_played(root, tmp_path)
    if scale < 1.0:
        with pytest.raises(RuntimeError, match="accelerates by"):
            bpy.ops.robik.preflight()
    else:
        assert bpy.ops.robik.preflight() == {"FINISHED"}
    assert bpy.ops.robik.judge_again() == {"FINISHED"}
    assert bool(root.robik.robot.result.missed) == (scale != 1.0)


def test_an_additive_layer_a_driver_and_a_modifier_are_played(tmp_path: Path) -> None:
    root = baked()
    layer(root, ["hip_pitch_l", "knee_r"], [0.2, -0.1])
    assert_shown_is_played(root, tmp_path)
    drive(root, "elbow_l" if "elbow_l" in root else "ankle_roll_l", "0.2 * height", bpy.data.objects["to pelvis"])
    assert_shown_is_played(root, tmp_path)
    curves(root)[0].modifiers.new("NOISE").strength = 0.1
    assert_shown_is_played(root, tmp_path)
    assert bpy.ops.robik.bake() == {"FINISHED"}  # a bake takes the layer's place, and the driver stays
    assert_shown_is_played(root, tmp_path)


def test_a_robot_that_only_drivers_move_is_played_over_the_scene(tmp_path: Path) -> None:
    root = scenes.import_robot("walker")
    with pytest.raises(RuntimeError, match="has no keys; bake first"):
        bpy.ops.robik.export_motion(filepath=str(tmp_path / "none.csv"), format="csv")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 3, 20
    drive(root, "knee_l")
    assert read(root)[0].tolist() == list(range(3, 21))
    assert_shown_is_played(root, tmp_path)


def test_a_slider_stays_within_its_limits_where_its_curve_does_not(tmp_path: Path) -> None:
    root = baked()
    curve = next(c for c in curves(root) if c.data_path == '["knee_l"]')
    curve.keyframe_points[9].co.y = 50.0
    curve.update()
    _, motion = read(root)
    limit = dict(zip(motion.actuators, scenes.read(root).actuator_limits[:, 1], strict=True))["knee_l"]
    assert motion.values[9, motion.actuators.index("knee_l")] == pytest.approx(limit)
    assert_shown_is_played(root, tmp_path)


def test_servos_stand_in_the_end_where_the_scene_shows_them() -> None:
    root = baked()
    push_down(root).scale = 2.0
    layer(root, ["knee_r"], [0.1])
    play = installed.module("scene.servos.play")
    assert bpy.ops.robik.connect_servos() == {"FINISHED"}
    assert bpy.ops.robik.torque_servos(on=True) == {"FINISHED"}
    assert bpy.ops.robik.play_servos() == {"FINISHED"}
    assert play.status().duration == pytest.approx(2 * (FRAMES - 1) / 60, abs=1e-3)
    chain = play.player().chain
    (last,), _ = shown(root, played(root)[0][-1:])
    wanted = dict(zip(scenes.read(root).actuators, last, strict=True))
    arrived = play.player().simulator.state()
    goals = np.array([arrived[id]["goal_position"] for id in chain.ids])
    assert np.abs(goals - chain.counts(np.array([wanted[name] for name in chain.actuators]))).max() <= 1
    play.disconnect(play.LEAVING)


def test_bodies_are_rebuilt_from_what_moves_the_sliders() -> None:
    root = baked()
    layer(root, ["hip_pitch_l", "hip_pitch_r"], [0.1, 0.1])
    assert bpy.ops.robik.rebuild_bodies() == {"FINISHED"}
    kinematics = installed.module("robik.kinematics.forward")
    frames, motion = read(root)
    position, _, _ = kinematics.body_poses(
        scenes.read(root), motion.values, (motion.base.position, motion.base.quaternion)
    )
    keyed = np.stack([scenes.keyed_pose(body, frames) for body in scenes.body_objects(root)], axis=1)
    assert np.abs(position - keyed[..., :3]).max() < 1e-5


def _mute(root: Object, random: np.random.Generator) -> None:
    if found := curves(root):
        curve = found[random.integers(len(found))]
        if random.random() < 0.3 and curve.group is not None:
            curve.group.mute = True
        else:
            curve.mute = True


def _strip(root: Object, random: np.random.Generator) -> None:
    if root.animation_data.action is None:
        return
    strip = push_down(root)
    strip.scale, strip.repeat = random.choice([0.5, 1.0, 1.37, 2.0]), random.choice([1.0, 1.5, 2.0])
    strip.frame_start += random.choice([0.0, 0.0, 3.0])
    strip.use_reverse = bool(random.random() < 0.3)
    strip.blend_in = random.choice([0.0, 5.0])
    strip.extrapolation = str(random.choice(["HOLD", "HOLD_FORWARD", "NOTHING"]))
    strip.mute = bool(random.random() < 0.1)
    if random.random() < 0.3:
        strip.use_animated_influence = True
        for frame, value in ((1, 1.0), (FRAMES, random.random())):
            strip.influence = value
            strip.keyframe_insert("influence", frame=frame)


def _layer(root: Object, random: np.random.Generator) -> None:
    names = [str(name) for name in random.choice(scenes.read(root).actuators, 3, replace=False)]
    layer(root, names, random.uniform(-0.3, 0.3, 3).tolist())
    root.animation_data.action_influence = float(random.choice([1.0, 0.4]))
    root.animation_data.action_blend_type = str(random.choice(["ADD", "SUBTRACT", "REPLACE", "COMBINE"]))


def _drive(root: Object, random: np.random.Generator) -> None:
    name = str(random.choice(scenes.read(root).actuators))
    if random.random() < 0.5:
        drive(root, name, f"{random.uniform(-0.3, 0.3):.3f} * sin(frame / 3)")
    else:
        drive(root, name, f"{random.uniform(-1, 1):.3f} * height", bpy.data.objects["to pelvis"])


def _modify(root: Object, random: np.random.Generator) -> None:
    if found := curves(root):
        made = found[random.integers(len(found))].modifiers.new(
            str(random.choice(["NOISE", "CYCLES", "STEPPED", "LIMITS"]))
        )
        if made.type == "NOISE":
            made.strength, made.scale = 0.2, 3.0
        elif made.type == "LIMITS":
            made.use_max_y, made.max_y = True, 0.1
        made.influence, made.use_influence = random.random(), bool(random.random() < 0.3)


def _move_key(root: Object, random: np.random.Generator) -> None:
    if found := [c for c in curves(root) if len(c.keyframe_points)]:
        curve = found[random.integers(len(found))]
        point = curve.keyframe_points[random.integers(len(curve.keyframe_points))]
        point.co.x += random.uniform(-0.4, 0.4)
        point.co.y += random.choice([0.05, -0.3, 4.0])
        point.interpolation = str(random.choice(["LINEAR", "BEZIER", "CONSTANT", "BOUNCE"]))
        curve.update()


def _scale_keys(root: Object, random: np.random.Generator) -> None:
    factor = random.choice([0.5, 1.5])
    for curve in curves(root):
        for point in curve.keyframe_points:
            point.co.x = 1 + factor * (point.co.x - 1)
        curve.update()


def _switch(root: Object, random: np.random.Generator) -> None:
    data = root.animation_data
    if not len(data.nla_tracks) or random.random() < 0.2:
        data.use_nla = not data.use_nla
    else:
        track = data.nla_tracks[random.integers(len(data.nla_tracks))]
        track.is_solo, track.mute = bool(random.random() < 0.4), bool(random.random() < 0.3)


def _move_base(root: Object, random: np.random.Generator) -> None:
    floating = base_of(root)
    kind = random.integers(3)
    if kind == 0 and floating.animation_data.action is not None:
        push_down(floating).scale = 2.0
    elif kind == 1:
        made = floating.constraints.new("COPY_LOCATION")
        made.target, made.influence = bpy.data.objects["to foot_l"], 0.3
    else:
        driver = floating.driver_add("location", 2).driver
        driver.expression = "0.7 + 0.01 * sin(frame)"


KINDS: tuple[Callable[[Object, np.random.Generator], None], ...] = (
    _mute, _strip, _strip, _layer, _drive, _modify, _move_key, _scale_keys, _switch, _move_base,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(EDITS))
def test_random_edits_are_played_as_they_are_shown(seed: int, tmp_path: Path) -> None:
    root, random = baked(), np.random.default_rng(seed)
    for kind in (seed % len(KINDS), *random.integers(len(KINDS), size=random.integers(4))):
        KINDS[kind](root, random)
    bpy.context.scene.frame_set(int(random.integers(1, FRAMES)))
    try:
        read(root)
    except installed.module("robik.errors").RobikError:  # only of a robot that stands still
        assert np.ptp(shown(root, np.arange(-20.0, 80.0))[0], axis=0).max() == 0.0
    else:
        assert_shown_is_played(root, tmp_path)
