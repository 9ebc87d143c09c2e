"""Blender's playback: whether a window plays the scene, begin it, end it."""

from __future__ import annotations

import bpy
from bpy.types import Scene, Window


def playing() -> Window | None:
    """Return the window that plays the scene."""
    for window in bpy.context.window_manager.windows:
        if window.screen.is_animation_playing:
            return window
    return None


def play(scene: Scene) -> None:
    """Play the scene in its own time: frames are left out where showing them is slow, with a sound or without."""
    windows = bpy.context.window_manager.windows
    with bpy.context.temp_override(window=next((one for one in windows if one.scene == scene), windows[0])):
        bpy.ops.screen.animation_play(sync=True)


def end(is_back: bool) -> None:
    """End playback, at the frame that it has reached, or back where it began."""
    if (window := playing()) is not None:
        with bpy.context.temp_override(window=window):
            bpy.ops.screen.animation_cancel(restore_frame=is_back)


def rate(scene: Scene) -> float:
    """Return frames a second [Hz]."""
    return scene.render.fps / scene.render.fps_base


def frames(scene: Scene) -> tuple[int, int]:
    """Return the first and the last frame that are played: of the preview range, where there is one."""
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def is_forward(scene: Scene, before: int) -> bool:
    """Return whether playback has gone forward since a frame; from the last one, forward is the first one."""
    first, last = frames(scene)
    length = max(1, last - first + 1)
    return 0 < (scene.frame_current - before) % length <= max(1, length // 2)
