"""Time of a bake in Blender, by what it goes into, and of an update while dragging.

Measured in a process of its own, since the extension is installed into Blender's module before anything else is
imported, and Blender 4.2 and 4.5 may crash or hang when Python winds up. That process prints its result as JSON in its
last line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np

from experiments import CHECKOUT
from experiments.experiment import Experiment, Found, tell
from tools.installed import PACKAGE, add_on, installed_extension

if TYPE_CHECKING:
    from bl_ext.user_default.robik.robik.tracking import Targets
    from bpy.types import Depsgraph, Object, Scene

SECONDS, RATE, DRAGS = 10, 60, 400


def run(seconds: int = SECONDS, drags: int = DRAGS) -> Found:
    """Bake `seconds` of walking onto the walker, at 60 and at 1200 samples a second; then drag a slider and targets."""
    command = [sys.executable, "-m", "experiments.throughput", str(seconds), str(drags)]
    done = subprocess.run(command, cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def show(found: Found) -> None:
    """Print both tables."""
    print(f"{found['seconds']} s of walking, the walker, Blender {found['blender']}")
    print("samples/s  whole [s]  CPU [s]  sampling  solving  writing  ms per sample")
    for row in found["bakes"]:
        each = f"{row['sampling_s']:8.2f} {row['solving_s']:8.2f} {row['writing_s']:8.2f}"
        print(
            f"{row['samples_per_s']:9d} {row['whole_s']:9.2f} {row['cpu_s']:8.2f}  {each}   {row['ms_per_sample']:8.3f}"
        )
    for row in found["updates"]:
        print(f"{row['what']}: median {row['median_ms']:.3f} ms, 99th percentile {row['p99_ms']:.3f} ms")


def measured(seconds: int, drags: int) -> Found:
    """Return what `run` promises, from within Blender."""
    import bpy

    from demo.performance import WALKING, follow, import_walker
    from demo.stage import bring_character, empty_scene

    empty_scene()
    scene = bpy.context.scene
    scene.render.fps = RATE
    root, rig = import_walker(), bring_character()
    follow(root, rig, WALKING)
    scene.frame_start, scene.frame_end = 1, seconds * RATE
    tell("throughput: the first bake, which compiles")
    bpy.ops.robik.bake()
    bakes = [_bake(root, samples) for samples in (1, 20)]
    updates = [_pose_by_slider(root, drags)]
    for tracker in ("STATE", "DIFFERENTIAL", "DYNAMICS"):
        updates += _drag_a_target(root, rig, tracker, drags)
    updates.append(_drag_with_all_off(rig, drags))
    return {"seconds": seconds, "blender": bpy.app.version_string, "bakes": bakes, "updates": updates}


def _bake(root: Object, samples: int) -> dict[str, float]:
    """Bake with some samples a frame."""
    import bpy

    tell(f"throughput: {samples * RATE} samples a second")
    result = root.robik.robot.result
    root.robik.robot.bake.samples = samples
    began, worked = perf_counter(), process_time()
    bpy.ops.robik.bake()
    whole, cpu = perf_counter() - began, process_time() - worked
    return {
        "samples_per_s": samples * RATE, "whole_s": whole, "cpu_s": cpu, "sampling_s": result.sampling,
        "solving_s": result.solving,
        "writing_s": result.writing, "ms_per_sample": 1e3 * whole / result.frames,
    }  # fmt: skip


def _pose_by_slider(root: Object, drags: int) -> dict[str, float | str]:
    live, spent = add_on("scene.robot.posing"), []
    live.pose_by_sliders(root)
    for k in range(drags):
        root["knee_l"] += 0.001 if k % 20 < 10 else -0.001
        began = perf_counter()
        live.pose_by_sliders(root)
        spent.append(perf_counter() - began)
    return _row("posing by a slider", spent)


def _drag_a_target(root: Object, rig: Object, tracker: str, drags: int) -> list[dict[str, float | str]]:
    """Drag everything that is followed; only our own time counts, not Blender's for the character and the view."""
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
    for k in range(drags):
        rig.location.x, rig.location.z = 0.02 * (k % 30) / 30, 0.03 * (k % 20) / 20
        bpy.context.view_layer.update()
        began = perf_counter()
        follow.step(root, scene, depsgraph, 1 / RATE)
        spent.append(perf_counter() - began)
    root.robik.robot.follow.on = False
    return [_row(f"following a target that is dragged, {tracker}", spent), _row("  of which the tracker", solving)]


def _drag_with_all_off(rig: Object, drags: int) -> dict[str, float | str]:
    """Time our handlers while nothing follows and no overlay is on."""
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
    for k in range(drags):
        rig.location.z = 0.03 * (k % 20) / 20
        bpy.context.view_layer.update()
    return _row(f"dragging it with all off, {len(ours)} handler looking for sliders", spent)


def _row(what: str, seconds: list[float]) -> dict[str, float | str]:
    return {
        "what": what,
        "median_ms": 1e3 * float(np.median(seconds)),
        "p99_ms": 1e3 * float(np.percentile(seconds, 99)),
    }


EXPERIMENT = Experiment(run=run, show=show, parameters={"seconds": (SECONDS, SECONDS), "drags": (DRAGS, DRAGS)})

if __name__ == "__main__":
    with installed_extension():
        print(json.dumps(measured(*map(int, sys.argv[1:]))))
        sys.stdout.flush()
        os._exit(0)
