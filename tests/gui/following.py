"""Follow Live in the window: while a foot is dragged, and while the character's animation plays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from importlib import import_module
from time import perf_counter

import bpy
import numpy as np

from tests.gui.sidebar import switch
from tests.gui.window import key, middle, picture, remember, robot, root, until, xdotool
from tools.installed import PACKAGE


def drag_and_play() -> Iterator[float]:
    """Follow Live on; a foot is dragged and let go; the walk plays; Follow Live off, and nothing is left running or
    keyed."""
    follow = import_module(f"{PACKAGE}.scene.bake.follow")
    actions, took = len(bpy.data.actions), timed(follow)
    yield from switch("follow.on", 0.25)
    assert robot().follow.on
    yield from until(lambda: took, 600, "a robot that follows")  # compiles first
    yield from drag(took)
    yield from play(took)
    yield from switch("follow.on", 0.25)
    yield 0.3
    assert not bpy.app.timers.is_registered(follow.tick)
    assert len(bpy.data.actions) == actions
    assert root().animation_data is None


def timed(follow) -> list[float]:
    """How long each step takes from now on [s]; one that did not follow is not noted."""
    took: list[float] = []
    step = follow.step

    def measured(*arguments: object) -> bool:
        began = perf_counter()
        followed = step(*arguments)
        if followed:
            took.append(perf_counter() - began)
        return followed

    follow.step = measured
    return took


def sliders() -> np.ndarray:
    return np.array([value for value in root().values() if isinstance(value, float)])


def drag(took: list[float]) -> Iterator[float]:
    """G in pose mode and the mouse goes up; the robot lifts its foot meanwhile. ESC brings both back."""
    rig = robot().character.rig
    view_layer = bpy.context.view_layer
    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(True)
    view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    foot = rig.pose.bones["foot_control.L"]
    (foot if bpy.app.version >= (5, 0) else foot.bone).select = True
    rig.data.bones.active = foot.bone
    yield 0.5
    before = sliders()
    took.clear()
    yield from key("g")
    x, y = middle()
    moving = []
    for k in range(1, 21):
        xdotool("mousemove", x + 2 * k, y - 5 * k)
        yield 0.05
        moving.append(sliders())
    picture("03_dragging")
    assert np.abs(moving[-1] - before).max() > 0.1, "the robot did not follow the foot that was dragged"
    assert sum(np.any(a != b) for a, b in itertools.pairwise(moving)) > 5, "it followed at the end only"
    print(
        f"dragged: {len(took)} steps, median {1e3 * np.median(took):.2f} ms, longest {1e3 * max(took):.2f} ms",
        flush=True,
    )
    xdotool("key", "Escape")
    yield from until(lambda: np.abs(sliders() - before).max() < 1e-3, 60, "the foot back where it was")
    bpy.ops.object.mode_set(mode="OBJECT")
    remember("Dragged")


def play(took: list[float]) -> Iterator[float]:
    """The space bar plays the walk, and the robot walks along."""
    scene, window = bpy.context.scene, bpy.context.window_manager.windows[0]
    took.clear()
    yield from key("space")
    seen = {}
    while scene.frame_current < 40:
        seen[scene.frame_current] = sliders()
        yield 0.05
    assert window.screen.is_animation_playing
    yield from key("space")
    assert not window.screen.is_animation_playing
    print(f"played: {len(seen)} frames seen, {len(took)} steps, median {1e3 * np.median(took):.2f} ms", flush=True)
    assert np.ptp(np.array(list(seen.values())), axis=0).max() > 0.1, "the robot did not follow the walk as it played"
    scene.frame_set(scene.frame_start)
    yield 0.5
