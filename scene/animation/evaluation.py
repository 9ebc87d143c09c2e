"""Evaluating some objects of a scene, and what they depend on, without all the rest.

Sampling a rig over a thousand frames should not evaluate its subdivided clothes and every robot beside it. A copy of
the scene in which only the rig is linked does that: Blender brings in by itself whatever the rig depends on. Where
something may depend on the scene itself, the whole scene is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from math import floor

import bpy
import numpy as np
from bpy.types import Object, Scene

DRIVEN = ("objects", "armatures", "meshes", "shape_keys", "curves", "lattices", "node_groups")


@contextmanager
def alone(scene: Scene, objects: Iterable[Object]) -> Iterator[Scene]:
    """Make a scene in which these objects move as they do in theirs.

    Its frame may be set at will, and at the end all is as it was.
    """
    if _depends_on_scene(scene):
        before = scene.frame_current, scene.frame_subframe
        try:
            yield scene
        finally:
            with suppress(ReferenceError):  # it was removed meanwhile
                scene.frame_set(before[0], subframe=before[1])
        return
    copy = scene.copy()
    try:
        root = copy.collection
        for child in list(root.children):
            root.children.unlink(child)
        for other in list(root.objects):
            root.objects.unlink(other)
        for wanted in {o.session_uid: o for o in objects}.values():
            root.objects.link(wanted)
        yield copy
    finally:
        bpy.data.scenes.remove(copy)


def times_of(scene: Scene, frames: np.ndarray) -> np.ndarray:
    """Seconds since the first of the frames (T,)."""
    return (frames - frames[0]) * (scene.render.fps_base / scene.render.fps)


def set_frame(scene: Scene, frame: float) -> None:
    """Go to a frame, which may lie between two."""
    whole = floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


def _depends_on_scene(scene: Scene) -> bool:
    """Return whether what moves may look at the scene itself: rigid bodies, other add-ons' handlers, drivers."""
    handlers = bpy.app.handlers
    ours = __package__.removesuffix(".scene.animation")
    others = [h for h in (*handlers.frame_change_pre, *handlers.frame_change_post) if not h.__module__.startswith(ours)]
    if others or scene.rigidbody_world is not None or scene.animation_data is not None:
        return True
    animated = (
        block.animation_data for kind in DRIVEN for block in getattr(bpy.data, kind) if block.animation_data is not None
    )
    return any(_looks_at_scene(curve.driver) for data in animated for curve in data.drivers)


def _looks_at_scene(driver: bpy.types.Driver) -> bool:
    if driver.type == "SCRIPTED" and "bpy" in driver.expression:
        return True
    kinds = {variable.type for variable in driver.variables}
    targets = (target for variable in driver.variables if variable.type == "SINGLE_PROP" for target in variable.targets)
    return "CONTEXT_PROP" in kinds or any(target.id_type == "SCENE" for target in targets)
