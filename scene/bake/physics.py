"""Test of the present curves in physics: in a process of its own, with the verdict kept in the result; its scene."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from bpy.types import Context, Object, Scene

from ...robik.motions import Motion
from ...robik.motions.needs import Needs
from ...robik.physics.export import save_scene
from ...robik.physics.motors import Motors, told_of_data
from ...robik.physics.plan import planned
from ...robik.physics.process import judge_steps
from ...robik.physics.verdict import Verdict
from ...robik.simulation.trials import SINGLE, draws
from ..long_work.steps import Progress, in_thread
from ..motion import motion_frames, motion_steps, read_motion
from ..robot.body_mesh import with_mesh_files
from .ghost import show_ghost


def physics_steps(
    context: Context, root: Object, motors: Motors, carry: bool, trials: int
) -> Generator[Progress, None, Verdict]:
    """Simulate the robot's curves with disturbed trials, keep the verdict and show the simulation as a ghost.

    Stopped early, nothing has been changed. With `carry`, goals carry the weight.
    """
    scene, mechanism = context.scene, motors.room.mechanism
    frames = motion_frames(root, mechanism, scene)
    motion = yield from motion_steps(root, mechanism, frames, scene)
    verdicts: list[Verdict] = []
    physics = root.robik.robot.physics
    how = {"carry": carry, "feedback": physics.tilt_feedback}
    for share in in_thread(_simulated(motors, physics.p_gain or None, motion, how, trials, verdicts)):
        text = "Testing in physics" if share else "Preparing physics"
        yield Progress(share, text, counts=share is not None, is_apart=True)
    keep_verdict(root, scene, verdicts[0], frames, told_of_data(motors))
    return verdicts[0]


def motor_needs(root: Object) -> Needs | None:
    """Return the settings of the motors that a robot's bake is tested with; None where they are the motors' own."""
    physics = root.robik.robot.physics
    found = Needs(
        carry_weight=physics.carry_weight,
        tilt_feedback=physics.tilt_feedback,
        p_gain=float(physics.p_gain) or None,
        stiffness=physics.stiffness or None,
    )
    return found if found.as_data() else None


def export_scene(root: Object, scene: Scene, motors: Motors, carry: bool, path: Path) -> tuple[str, ...]:
    """Write the robot on a floor with its curves as keys, for MuJoCo's viewer, as `robik physics -o` does.

    The robot's file lies beside the scene's at `path`. With `carry`, goals carry the weight. Return one sentence
    each on what cannot be shown.
    """
    mechanism, source = with_mesh_files(root, path)
    motion = read_motion(root, mechanism, motion_frames(root, mechanism, scene), scene)
    drives = motors.drives(root.robik.robot.physics.p_gain or None)
    plan = planned(mechanism, motion, drives, carry=carry, delay=motors.delay, source="the bake")
    return save_scene(plan, path, source)[2]


def keep_verdict(root: Object, scene: Scene, verdict: Verdict, frames: np.ndarray, more: str = "") -> None:
    """Store a verdict in the robot's result, and show its simulation of frames (T,) as a ghost.

    `more` is said with it.
    """
    result, sample = root.robik.robot.result, verdict.falls_at_sample
    fall = 0 if sample is None else round(float(frames[sample]))
    told = "Stands to the end in physics" if verdict.stands else f"Falls at frame {fall} in physics: {verdict.cause}"
    told = "Cannot fall: its base is fixed to the world" if verdict.is_fixed else told
    gains = verdict.told_of_gains()
    result.physics = "; ".join([told, *gains])
    result.physics_stands, result.physics_frame = verdict.stands, fall
    for row in result.actuators:
        if (load := verdict.loads.get(row.name)) is not None:
            row.torque, row.torque_frame = load.torque, round(float(frames[load.sample]))
            row.effort = load.effort if isfinite(load.effort) else 0.0
            row.heat, row.beyond = load.heat, load.beyond
    result.physics_more = "; ".join(
        line.replace("; ", ", ") for line in filter(None, [*verdict.lines()[1 + len(gains) :], more])
    )
    show_ghost(root, scene, verdict, float(frames[0]))


def _simulated(
    motors: Motors, p_gain: float | None, motion: Motion, how: dict[str, Any], trials: int, verdicts: list[Verdict]
) -> Iterator[float]:
    """Yield the share that is done; the verdict ends up in `verdicts`. Nothing here touches Blender."""
    plan = partial(planned, motors.room.mechanism, motion, delay=motors.delay, source="the bake", **how)
    verdicts.append((yield from judge_steps(plan, motors, p_gain, (*SINGLE, *draws(trials)) if trials else ())))
