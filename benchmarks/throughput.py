"""How long a bake takes in Blender, where the time goes, and what an update while dragging costs: `python -m benchmarks.throughput`."""

from __future__ import annotations

import os
import sys
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np

from tools.installed import PACKAGE, add_on, installed_extension

if TYPE_CHECKING:
    from bpy.types import Depsgraph, Object, Scene

    from robik.tracking import Targets

SECONDS, RATE, DRAGS = 10, 60, 400


def main() -> None:
    """Bakes ten seconds of walking onto the walker, at 60 and at 1200 samples a second; then drags a slider and targets."""
    import bpy

    from demo.performance import WALKING, follow, import_walker
    from demo.stage import bring_character, empty_scene

    empty_scene()
    scene = bpy.context.scene
    scene.render.fps = RATE
    root, rig = import_walker(), bring_character()
    follow(root, rig, WALKING)
    scene.frame_start, scene.frame_end = 1, SECONDS * RATE
    root.robik.robot.balance.source, root.robik.robot.balance.pin_feet = "FEET", True
    bpy.ops.robik.bake()  # compiles
    print(f"{SECONDS} s of walking, the walker, Blender {bpy.app.version_string}")
    print("samples/s  whole [s]  CPU [s]  sampling  solving  writing  ms per sample")
    result = root.robik.robot.result
    for samples in (1, 20):
        root.robik.robot.bake.samples = samples
        began, worked = perf_counter(), process_time()
        bpy.ops.robik.bake()
        whole, cpu = perf_counter() - began, process_time() - worked
        each = f"{result.sampling:8.2f} {result.solving:8.2f} {result.writing:8.2f}"
        print(f"{samples * RATE:9d} {whole:9.2f} {cpu:8.2f}  {each}   {1e3 * whole / result.frames:8.3f}", flush=True)
    _pose_by_slider(root)
    for tracker in ("STATE", "DIFFERENTIAL", "DYNAMICS"):
        _drag_a_target(root, rig, tracker)
    _drag_with_all_off(rig)


def _pose_by_slider(root: Object) -> None:
    live, spent = add_on("scene.robot.posing"), []
    live.pose_by_sliders(root)
    for k in range(DRAGS):
        root["knee_l"] += 0.001 if k % 20 < 10 else -0.001
        began = perf_counter()
        live.pose_by_sliders(root)
        spent.append(perf_counter() - began)
    _tell("posing by a slider", spent)


def _drag_a_target(root: Object, rig: Object, tracker: str) -> None:
    """Everything that follows is dragged; only our own time counts, not Blender's for the character and the view."""
    import bpy

    follow, spent, solving = add_on("scene.bake.follow"), [], []
    root.robik.robot.follow.tracker, root.robik.robot.follow.on = tracker, True
    scene, depsgraph = bpy.context.scene, bpy.context.evaluated_depsgraph_get()
    follow.step(root, scene, depsgraph, 1 / RATE)
    followed = follow._following[root.session_uid].tracker
    solve = followed.step

    def timed(targets: Targets, dt: float) -> np.ndarray:
        began = perf_counter()
        values = solve(targets, dt)
        solving.append(perf_counter() - began)
        return values

    followed.step = timed
    for k in range(DRAGS):
        rig.location.x, rig.location.z = 0.02 * (k % 30) / 30, 0.03 * (k % 20) / 20
        bpy.context.view_layer.update()
        began = perf_counter()
        follow.step(root, scene, depsgraph, 1 / RATE)
        spent.append(perf_counter() - began)
    root.robik.robot.follow.on = False
    _tell(f"following a target that is dragged, {tracker}", spent)
    _tell("  of which the tracker", solving)


def _drag_with_all_off(rig: Object) -> None:
    """What is ours in Blender's handlers while nothing follows and no overlay is on."""
    import bpy

    handlers, spent = bpy.app.handlers.depsgraph_update_post, []
    ours = [handler for handler in handlers if handler.__module__.startswith(PACKAGE)]

    def timed(scene: Scene, depsgraph: Depsgraph) -> None:
        began = perf_counter()
        for handler in ours:
            handler(scene, depsgraph)
        spent.append(perf_counter() - began)

    for handler in ours:
        handlers.remove(handler)
    handlers.append(timed)
    for k in range(DRAGS):
        rig.location.z = 0.03 * (k % 20) / 20
        bpy.context.view_layer.update()
    _tell(f"dragging it with all off, {len(ours)} handler looking for sliders", spent)


def _tell(what: str, seconds: list[float]) -> None:
    print(f"{what}: median {1e3 * np.median(seconds):.3f} ms, 99th percentile {1e3 * np.percentile(seconds, 99):.3f} ms")


if __name__ == "__main__":
    with installed_extension():
        main()
        sys.stdout.flush()
        os._exit(0)  # Blender 4.2 and 4.5 may crash or hang when Python winds up
