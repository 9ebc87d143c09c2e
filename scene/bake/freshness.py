"""Mark of the curves and the frame rate that a result was judged by.

Where they have changed since, it is out of date.
"""

from __future__ import annotations

from hashlib import blake2b
from time import monotonic

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..animation import actions
from .bakes import objects_of

SIZE = 16  # bytes of a mark
SHARE = 0.05  # of the time in which panels are drawn, that looking at all keys may take
_looks: dict[
    int, tuple[float, float, bool]
] = {}  # root's session_uid → when it was looked at and how long that took [s], the answer
NUMBERS = ("co", "handle_left", "handle_right")  # of each key


def mark(root: Object, scene: Scene) -> str:
    """Return a mark of all keys of a robot's motors and bodies, and of the scene's frame rate."""
    found = blake2b(f"{scene.render.fps / scene.render.fps_base:.9g}".encode(), digest_size=SIZE)
    for label, target in sorted(objects_of(root).items()):
        for (path, index), curve in sorted(actions.curves_of(target).items()):
            found.update(f"{label}.{path}[{index}]".encode())
            for name in NUMBERS:
                numbers = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
                curve.keyframe_points.foreach_get(name, numbers)
                found.update(numbers.tobytes())
    return found.hexdigest()


def is_out_of_date(root: Object, scene: Scene) -> bool:
    """Return whether a robot's curves, or the frame rate, have changed since its result was judged.

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
