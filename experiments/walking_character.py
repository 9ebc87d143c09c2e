"""The walking character's motion, as Blender poses it, for experiments that need no Blender themselves."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from experiments import CHECKOUT
from robik.skeleton.skeleton import Skeleton, SkeletonMotion
from tools.installed import add_on, installed_extension

RATE = 120  # samples a second


def walking_character() -> SkeletonMotion:
    """Return the walk of nine seconds, 120 samples a second. Blender's module runs in a process of its own.

    Raise ModuleNotFoundError where there is no Blender in this environment.
    """
    if find_spec("bpy") is None:
        raise ModuleNotFoundError("Blender's module is not installed", name="bpy")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "walk.npz"
        subprocess.run([sys.executable, "-m", "experiments.walking_character", str(file)], cwd=CHECKOUT, check=True)
        with np.load(file) as arrays:
            bones = {key: arrays[key] for key in ("parents", "positions", "quaternions", "tips")}
            skeleton = Skeleton(names=tuple(arrays["names"].tolist()), **bones)
            return SkeletonMotion(skeleton, arrays["times"], arrays["bone_positions"], arrays["bone_quaternions"])


def sample(file: Path) -> None:
    """Write the walk's arrays."""
    with installed_extension():
        _sample(file)


def _sample(file: Path) -> None:
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    assert scene is not None  # an empty one
    scene.render.fps, scene.render.fps_base = RATE, 1.0
    rig = add_on("scene.character.walking.figure").make_character(scene)
    last = add_on("scene.character.walking.walk").animate_walk(rig, first_frame=1)
    bones = list(rig.data.bones)
    index = {bone.name: k for k, bone in enumerate(bones)}
    poses = []
    for frame in range(1, last + 1):
        scene.frame_set(frame)
        poses.append([rig.matrix_world @ rig.pose.bones[bone.name].matrix for bone in bones])
    np.savez(
        file,
        names=np.array([bone.name for bone in bones]),
        parents=np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones]),
        positions=np.array([bone.head_local for bone in bones]),
        quaternions=np.array([bone.matrix_local.to_quaternion() for bone in bones]),
        tips=np.array([bone.tail_local for bone in bones]),
        times=np.arange(last) / RATE,
        bone_positions=np.array([[pose.to_translation() for pose in row] for row in poses]),
        bone_quaternions=np.array([[pose.to_quaternion() for pose in row] for row in poses]),
    )


if __name__ == "__main__":
    sample(Path(sys.argv[1]))
