"""How long a bake takes in Blender, where the time goes, and what an update while dragging costs: `python -m benchmarks.throughput`."""

from __future__ import annotations

import importlib
import os
import sys
from time import perf_counter, process_time

from tools.installed import PACKAGE, installed_extension

SECONDS, RATE, DRAGS = 10, 60, 200


def main() -> None:
    """Bakes ten seconds of walking onto the walker, at 60 and at 1200 samples a second; then drags a slider."""
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
    live = importlib.import_module(f"{PACKAGE}.scene.live")
    live.pose_by_sliders(root)
    began = process_time()
    for k in range(DRAGS):
        root["knee_l"] += 0.001 if k % 20 < 10 else -0.001
        live.pose_by_sliders(root)
    print(f"posing by a slider: {1e3 * (process_time() - began) / DRAGS:.2f} ms of CPU per update")


if __name__ == "__main__":
    with installed_extension():
        main()
        sys.stdout.flush()
        os._exit(0)  # Blender 4.2 and 4.5 may crash or hang when Python winds up
