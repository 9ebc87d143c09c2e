"""Scenes for the tests: robots in them, and things that they follow."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from math import pi, sin
from pathlib import Path

import bpy
import numpy as np
from bl_ext.user_default.robik.robik import robots
from bl_ext.user_default.robik.robik.kinematics.forward import body_poses
from bl_ext.user_default.robik.robik.mechanism import Mechanism
from bpy.types import Object

from tests.blender import installed


def begin() -> None:
    """Open Blender's own empty file at 60 frames a second; the add-on stays enabled.

    With its windows, which begin with no notes of changes: nobody takes notes away where nothing is drawn, and each
    datablock that is deleted looks through all of them.
    """
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True, load_ui=True)
    bpy.context.scene.render.fps = 60


def import_robot(name: str) -> Object:
    """One of our robots, by the operator that a user calls; its root."""
    assert bpy.ops.robik.import_robot(filepath=str(robots.path(name))) == {"FINISHED"}
    return bpy.context.scene.robik.robot


def read(root: Object) -> Mechanism:
    """The mechanism that a robot in the scene stands for."""
    return installed.module("scene.robot.reading").read_robot(root)


def body_objects(root: Object) -> list[Object]:
    """In the mechanism's order."""
    return installed.module("scene.robot.parts").bodies(root)


def channel(target: Object, data_path: str, index: int, frames: np.ndarray) -> np.ndarray:
    """An F-curve of an object, evaluated."""
    actions = installed.module("scene.animation.actions")
    return actions.values_of(actions.curves_of(target)[data_path, index], frames)


def keyed_pose(target: Object, frames: np.ndarray) -> np.ndarray:
    """Location and quaternion of an object's F-curves, (T, 7)."""
    paths = [("location", k) for k in range(3)] + [("rotation_quaternion", k) for k in range(4)]
    return np.column_stack([channel(target, path, k, frames) for path, k in paths])


def empty(name: str, positions: np.ndarray, quaternions: np.ndarray | None = None, first: int = 1) -> Object:
    """An empty keyed through poses, one a frame."""
    made = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(made)
    made.rotation_mode = "QUATERNION"
    for k, position in enumerate(positions):
        made.location = position
        made.keyframe_insert("location", frame=first + k)
        if quaternions is not None:
            made.rotation_quaternion = quaternions[k]
            made.keyframe_insert("rotation_quaternion", frame=first + k)
    return made


def squats(frames: int = 24) -> Object:
    """A scene with nothing but the walker that squats; its robot."""
    return kept(add_squats, frames)


def add_squats(frames: int = 24) -> Object:
    """The walker with an empty for its pelvis, which goes down and up, and one for each foot; targets set, frame range
    set. They alone say where it is: balance is off."""
    root = import_robot("walker")
    root.robik.robot.balance.mode, root.robik.robot.balance.pin_feet = "OFF", False
    mechanism = read(root)
    time = np.arange(frames)
    for name in ("pelvis", "foot_l", "foot_r"):
        frame = mechanism.frame(name)
        rest = mechanism.bodies[mechanism.body_index[frame.body]].pose @ frame.pose
        path = np.tile(rest.position, (frames, 1))
        if name == "pelvis":
            path[:, 2] -= 0.02 * (1 - np.cos(2 * pi * time / frames))
        follow(empty(f"to {name}", path, np.tile(rest.quaternion, (frames, 1))), name)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    return root


def kept(make: Callable[..., object], *arguments: object) -> Object:
    """The robot of a scene that a function makes in an empty one: made once, then opened from a file, which takes a
    tenth of the time.

    Nothing else is left in the scene. Blender takes it for one that was never saved.
    """
    folder = Path(os.environ["BLENDER_USER_RESOURCES"]) / "scenes"
    file = folder / f"{make.__module__}.{make.__qualname__}{arguments}.blend"
    if not file.exists():
        folder.mkdir(exist_ok=True)
        begin()  # what a test has set before is not for others
        make(*arguments)
        bpy.ops.wm.save_as_mainfile(filepath=str(file), copy=True)
    bpy.ops.wm.read_homefile(filepath=str(file), load_ui=True)
    return bpy.context.scene.robik.robot


def punches(frames: int = 24) -> tuple[Object, np.ndarray]:
    """The boxer with an empty that goes where its hand can go; also the motors' values (T, 4) that take it there."""
    root = import_robot("boxer")
    mechanism = read(root)
    rest = np.array([v for j in mechanism.actuated for v in j.rest])
    values = rest + 0.4 * np.sin(2 * pi * np.arange(frames)[:, None] / frames + np.arange(4))
    position, quaternion, _ = body_poses(mechanism, values)
    hand = mechanism.frame("hand")
    body = mechanism.body_index[hand.body]
    path, turns = np.empty((frames, 3)), np.empty((frames, 4))
    for k in range(frames):
        pose = type(hand.pose)(tuple(position[k, body]), tuple(quaternion[k, body])) @ hand.pose
        path[k], turns[k] = pose.position, pose.quaternion
    turns = installed.module("scene.motion").continuous(turns)
    follow(empty("to hand", path, turns), "hand")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    return root, values


def follow(source: Object, frame: str, bone: str = "") -> None:
    """A target for a frame of the robot."""
    assert bpy.ops.robik.add_target(frame=frame, source=source.name, bone=bone) == {"FINISHED"}


def walking_rig(name: str = "Rig", frames: int = 24) -> Object:
    """An armature of hips and legs, 1 m high at the hips, that steps on the spot."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    _bone(data, "Hips", (0, 0, 1.0), (0, 0, 1.25))
    for side, x in ((".L", 0.1), (".R", -0.1)):
        _bone(data, f"Thigh{side}", (x, 0, 1.0), (x, -0.02, 0.55), "Hips")
        _bone(data, f"Shin{side}", (x, -0.02, 0.55), (x, 0, 0.1), f"Thigh{side}")
        _bone(data, f"Foot{side}", (x, 0, 0.1), (x, -0.2, 0.0), f"Shin{side}")
    bpy.ops.object.mode_set(mode="OBJECT")
    for side, sign in ((".L", 1.0), (".R", -1.0)):
        thigh = rig.pose.bones[f"Thigh{side}"]
        thigh.rotation_mode = "XYZ"
        for frame in range(1, frames + 1):
            thigh.rotation_euler.x = 0.2 * sign * sin(2 * pi * frame / frames)
            thigh.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    return rig


def _bone(data: bpy.types.Armature, name: str, head: tuple, tail: tuple, parent: str = "") -> None:
    made = data.edit_bones.new(name)
    made.head, made.tail = head, tail
    if parent:
        made.parent = data.edit_bones[parent]


def everything() -> dict[str, int]:
    """How much of each kind of data there is, and what is animated: to see that an error changed nothing."""
    kinds = ("objects", "meshes", "materials", "collections", "actions", "armatures")
    counts = {kind: len(getattr(bpy.data, kind)) for kind in kinds}
    counts["animated"] = sum(
        o.animation_data is not None and o.animation_data.action is not None for o in bpy.data.objects
    )
    return counts


def request_of(root: bpy.types.Object) -> object:
    """What a bake of a robot is asked for, in the library's terms."""
    request = installed.module("scene.bake.request").read_request(root, bpy.context.scene)
    sampling = installed.module("scene.bake.target_clip").sample_clip(bpy.context, request)
    return request.of(installed.module("robik.steps").finish(sampling))


def followed(root: bpy.types.Object) -> object:
    """What a bake of a robot follows, with contacts and balance."""
    return installed.module("robik.bake.bake").bake(request_of(root)).clip


def written_apart(file: Path, module: str) -> None:
    """Write the `robot` of a module of tests, in a process in which the library has its own name."""
    from bl_ext.user_default.robik.robik import program

    script = f"import {module} as made; from robik.formats import save_robot; save_robot(made.robot(), {str(file)!r})"
    searched = os.pathsep.join((str(Path(__file__).parents[2]), program.environment()["PYTHONPATH"]))
    subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": searched}, check=True)
