"""Ghosts of a robot: coloured copies of its shapes that move beside it, as it did in physics or as a file has it."""

from __future__ import annotations

from typing import Protocol

import bpy
import numpy as np
from bpy.types import Collection, Material, Mesh, Object, Scene

from ..animation import actions
from ..animation.actions import Curve
from ..robot.parts import bodies
from .curves import POSE_CHANNELS, continuous

PHYSICS, ORIGINAL = "physics ghost", "original ghost"
COLORS = {PHYSICS: (0.12, 0.35, 0.95, 0.45), ORIGINAL: (0.95, 0.55, 0.1, 0.45)}
RATE = 30.0  # [Hz] of its keys


class States(Protocol):
    """Poses of a robot's bodies over time."""

    @property
    def times(self) -> np.ndarray: ...
    @property
    def bodies(self) -> tuple[str, ...]: ...
    @property
    def position(self) -> np.ndarray | None: ...
    @property
    def quaternion(self) -> np.ndarray | None: ...


def show_ghost(root: Object, scene: Scene, states: States, first: float, kind: str = PHYSICS) -> None:
    """Replace a robot's ghost by one that moves as these states, whose time 0 is at the frame `first`.

    `kind` is PHYSICS, or ORIGINAL of a motion file.
    """
    remove_ghost(root, kind)
    collection = bpy.data.collections.new(_name(root, kind))
    scene.collection.children.link(collection)
    started = np.flatnonzero(states.times >= 0.0)
    if not len(started) or states.position is None or states.quaternion is None:
        return
    step = max(1, round(1.0 / (RATE * max(float(np.diff(states.times).mean()), 1e-6)))) if len(started) > 1 else 1
    kept = started[::step]
    frames = first + states.times[kept] * scene.render.fps / scene.render.fps_base
    order = {name: k for k, name in enumerate(states.bodies)}
    stage = bpy.data.objects.new(f"{root.name} {kind}", None)
    stage.empty_display_size, stage.matrix_world = 1e-3, root.matrix_world
    _add(stage, collection)
    for body in bodies(root):
        if (k := order.get(body.robik.label)) is None:
            continue
        shape: Object = bpy.data.objects.new(f"{body.robik.label} {kind}", None)
        shape.empty_display_size, shape.rotation_mode = 1e-3, "QUATERNION"
        _add(shape, collection)
        shape.parent = stage
        pose = np.hstack([states.position[kept, k], continuous(states.quaternion[kept, k])])
        curves = [Curve(path, c, pose[:, i], "Ghost") for i, (path, c) in enumerate(POSE_CHANNELS)]
        actions.write_curves(shape, frames, curves)
        for visual in (child for child in body.children if child.type == "MESH"):
            _copied(visual, shape, collection, kind)


def remove_ghost(root: Object, kind: str = PHYSICS) -> None:
    """Remove a robot's ghost, with its meshes and actions."""
    collection: Collection | None = bpy.data.collections.get(_name(root, kind))
    if collection is None:
        return
    ghosts = list(collection.objects)
    left = [ghost.data for ghost in ghosts if isinstance(ghost.data, Mesh)]
    left += [action for ghost in ghosts if (action := actions.assigned(ghost)[0]) is not None]
    bpy.data.batch_remove(ghosts)  # one by one, Blender looks through all its data for each: seconds
    bpy.data.batch_remove([block for block in dict.fromkeys(left) if not block.users])
    bpy.data.collections.remove(collection)


def has_ghost(root: Object, kind: str = PHYSICS) -> bool:
    """Return whether a robot has a ghost."""
    return _name(root, kind) in bpy.data.collections


def _name(root: Object, kind: str) -> str:
    return f"{root.name} {kind}"


def _add(ghost: Object, collection: Collection) -> None:
    ghost.hide_select = ghost.hide_render = True
    collection.objects.link(ghost)


def _copied(visual: Object, parent: Object, collection: Collection, kind: str) -> None:
    """Add a coloured copy of a visual to a ghost's body."""
    mesh = visual.data.copy()
    mesh.materials.clear()
    mesh.materials.append(_material(kind))
    made = bpy.data.objects.new(f"{visual.name} {kind}", mesh)
    _add(made, collection)
    made.parent = parent
    made.matrix_parent_inverse = visual.matrix_parent_inverse
    made.matrix_basis = visual.matrix_basis
    made.color, made.show_transparent = COLORS[kind], True


def _material(kind: str) -> Material:
    """Return the ghosts' material."""
    made: Material | None = bpy.data.materials.get(kind)
    if made is None:
        made = bpy.data.materials.new(kind)
        made.diffuse_color = COLORS[kind]
    return made
