"""Ghost of a robot: a blue copy of its shapes that moves as it did in physics, beside the bake."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.types import Collection, Material, Mesh, Object, Scene

from ...robik.physics.verdict import Verdict
from ..animation import actions
from ..animation.actions import Curve
from ..robot.parts import bodies
from .curves import POSE_CHANNELS, continuous

BLUE = (0.12, 0.35, 0.95, 0.45)
NAME = "physics ghost"
RATE = 30.0  # [Hz] of its keys


def show_ghost(root: Object, scene: Scene, verdict: Verdict, first: float) -> None:
    """Replace a robot's ghost by one that moves as in a simulation.

    Args:
        root: of the robot.
        scene: that it is shown in.
        verdict: with the simulated motion.
        first: frame at which the motion begins.
    """
    remove_ghost(root)
    collection = bpy.data.collections.new(_name(root))
    scene.collection.children.link(collection)
    started = np.flatnonzero(verdict.times >= 0.0)
    if not len(started):
        return
    step = max(1, round(1.0 / (RATE * max(float(np.diff(verdict.times).mean()), 1e-6)))) if len(started) > 1 else 1
    kept = started[::step]
    frames = first + verdict.times[kept] * scene.render.fps / scene.render.fps_base
    order = {name: k for k, name in enumerate(verdict.bodies)}
    blue = _blue()
    stage = bpy.data.objects.new(f"{root.name} {NAME}", None)
    stage.empty_display_size, stage.matrix_world = 1e-3, root.matrix_world
    _add(stage, collection)
    for body in bodies(root):
        if (k := order.get(body.robik.label)) is None:
            continue
        shape: Object = bpy.data.objects.new(f"{body.robik.label} {NAME}", None)
        shape.empty_display_size, shape.rotation_mode = 1e-3, "QUATERNION"
        _add(shape, collection)
        shape.parent = stage
        pose = np.hstack([verdict.position[kept, k], continuous(verdict.quaternion[kept, k])])
        curves = [Curve(path, c, pose[:, i], "Ghost") for i, (path, c) in enumerate(POSE_CHANNELS)]
        actions.write_curves(shape, frames, curves)
        for visual in (child for child in body.children if child.type == "MESH"):
            _copied(visual, shape, collection, blue)


def remove_ghost(root: Object) -> None:
    """Remove a robot's ghost, with its meshes and actions."""
    collection: Collection | None = bpy.data.collections.get(_name(root))
    if collection is None:
        return
    for ghost in list(collection.objects):
        data, action = ghost.data, actions.assigned(ghost)[0]
        bpy.data.objects.remove(ghost)
        if isinstance(data, Mesh) and not data.users:
            bpy.data.meshes.remove(data)
        if action is not None and not action.users:
            bpy.data.actions.remove(action)
    bpy.data.collections.remove(collection)


def has_ghost(root: Object) -> bool:
    """Return whether a robot has a ghost."""
    return _name(root) in bpy.data.collections


def _name(root: Object) -> str:
    return f"{root.name} {NAME}"


def _add(ghost: Object, collection: Collection) -> None:
    ghost.hide_select = ghost.hide_render = True
    collection.objects.link(ghost)


def _copied(visual: Object, parent: Object, collection: Collection, blue: Material) -> None:
    """Add a blue copy of a visual to a ghost's body."""
    mesh = visual.data.copy()
    mesh.materials.clear()
    mesh.materials.append(blue)
    made = bpy.data.objects.new(f"{visual.name} {NAME}", mesh)
    _add(made, collection)
    made.parent = parent
    made.matrix_parent_inverse = visual.matrix_parent_inverse
    made.matrix_basis = visual.matrix_basis
    made.color, made.show_transparent = BLUE, True


def _blue() -> Material:
    """Return the ghosts' material."""
    made: Material | None = bpy.data.materials.get(NAME)
    if made is None:
        made = bpy.data.materials.new(NAME)
        made.diffuse_color = BLUE
    return made
