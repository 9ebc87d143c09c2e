"""Mark of what moved a robot, and of the frame rate, when its result was judged.

Where it has changed since, the result is out of date.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from time import monotonic

import bpy
import numpy as np
from bpy.types import ID, Driver, FCurve, Object, Scene, bpy_struct

from ..animation.actions import Channel
from ..animation.sources import curves_at_work, drivers_of, strip_curves, strips_at_work
from .bakes import objects_of

SIZE = 16  # bytes of a mark
SHARE = 0.05  # of the time in which panels are drawn, that looking at all keys may take
_looks: dict[
    int, tuple[float, float, bool]
] = {}  # root's session_uid → when it was looked at and how long that took [s], the answer
LOOKS = ("rna_type", "select", "show", "active", "color", "hide", "lock", "group")  # beginnings: nothing moves by these
ANIMATED = {"influence": "use_animated_influence", "strip_time": "use_animated_time"}  # curves of strips say these
NUMBERS = ("co", "handle_left", "handle_right")  # of each key


def mark(root: Object, scene: Scene) -> str:
    """Return a mark of the curves, strips and drivers of a robot's motors and bodies, and of the scene's frame rate.

    Of what drivers look at there is none.
    """
    found = blake2b(f"{scene.render.fps / scene.render.fps_base:.9g}".encode(), digest_size=SIZE)
    for label, target in sorted(objects_of(root).items()):
        for part in _marks(label, curves_at_work(target)):
            found.update(part)
        for strip in strips_at_work(target):
            found.update(repr(_said(strip)).encode())
            for part in _marks(label, strip_curves(strip)):
                found.update(part)
        for driver in drivers_of(target):
            found.update(repr(_said(driver)).encode())
    return found.hexdigest()


def _marks(label: str, curves: dict[Channel, FCurve]) -> Iterator[bytes]:
    """Yield what curves consist of: names, keys and modifiers."""
    for (path, index), curve in sorted(curves.items()):
        yield f"{label}.{path}[{index}]".encode()
        for name in NUMBERS:
            numbers = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get(name, numbers)
            yield numbers.tobytes()
        if len(curve.modifiers):
            yield repr(list(map(_said, curve.modifiers))).encode()


def _said(owner: bpy_struct) -> list[tuple[str, object]]:
    """Return all settings of a strip, driver or modifier; of datablocks their names."""
    said: list[tuple[str, object]] = []
    for name, about in owner.bl_rna.properties.items():
        if name.startswith(LOOKS) or getattr(owner, ANIMATED.get(name, ""), False):
            continue
        value = getattr(owner, name)
        if about.type == "COLLECTION":
            value = list(map(_said, value))
        elif about.type == "POINTER":
            value = value.name_full if isinstance(value, ID) else _said(value) if isinstance(value, Driver) else None
        elif getattr(about, "is_array", False):
            value = tuple(value)
        said.append((name, value))
    return said


def is_out_of_date(root: Object, scene: Scene) -> bool:
    """Return whether what moves a robot, or the frame rate, has changed since its result was judged.

    Panels ask at every redraw. In a window the answer may so be the last one, while the animation plays or just after a
    look.
    """
    result = root.robik.robot.result
    if not (result.frames and result.mark):
        return False
    began = monotonic()
    when, took, answer = _looks.get(root.session_uid, (0.0, 0.0, False))
    if not bpy.app.background and (_plays() or began < when + took / SHARE):
        return answer
    answer = result.mark != mark(root, scene)
    _looks[root.session_uid] = began, monotonic() - began, answer
    return answer


def _plays() -> bool:
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)
