"""Rehearse: the present curves, tried in physics with a planner until they stand, as a bake of their own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import numpy as np
from bpy.types import Context, Object, Scene

from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.motions.curves import Curves
from ...robik.motions.posing import posed
from ...robik.physics.motors import Motors, told_of_data
from ...robik.physics.rehearsal import Rehearsal, rehearsal_steps
from ..long_work.steps import Progress, in_thread
from ..motion import motion_frames, motion_steps
from . import bakes
from .curves import write_own_bake
from .ghost import remove_ghost

SOURCE = "the bake"


def rehearse_steps(
    context: Context, root: Object, motors: Motors, stop: Callable[[], bool]
) -> Generator[Progress, None, Rehearsal]:
    """Rehearse the robot's curves, and let what stands move it as a bake of its own.

    `stop` is asked whether to end where the robot stands until then, and keep that. Nothing is changed where it falls,
    or where the steps are closed early.
    """
    scene, mechanism = context.scene, motors.room.mechanism
    frames = motion_frames(root, mechanism, scene)
    motion = yield from motion_steps(root, mechanism, frames, scene)
    made: list[Rehearsal] = []
    p_gain = root.robik.robot.physics.p_gain or None
    begin, length = float(motion.times[0]), float(max(np.ptp(motion.times), 1e-9))
    for until in in_thread(_rehearsed(motors, p_gain, motion, stop, made)):
        stood = begin if until is None else until
        share = (stood - begin) / length
        frame = float(np.interp(stood, motion.times, frames))
        yield Progress(share, f"Rehearse: it stands until {stood:.2f} s, frame {frame:.0f}", is_apart=True)
    if made[0].verdict.stands:
        _keep(root, scene, motors, made[0], motion, frames)
    return made[0]


def _rehearsed(
    motors: Motors, p_gain: float | None, motion: Motion, stop: Callable[[], bool], made: list[Rehearsal]
) -> Iterator[float]:
    """Yield the time until which the robot stands; the rehearsal ends up in `made`. Nothing here touches Blender."""
    steps = rehearsal_steps(
        motors.room.mechanism, motion, motors.drives(p_gain), delay=motors.delay, stop=stop, source=SOURCE
    )
    made.append((yield from steps))


def sampled_as(mechanism: Mechanism, made: Motion, times: np.ndarray) -> Motion:
    """Return what physics made, with bodies' poses, at those of the times (T,) that it has reached [s]."""
    count = int(np.searchsorted(times, made.times[-1] + 1e-6))
    return posed(mechanism, Curves(made).at(times[:count]), SOURCE)[0]


def _keep(root: Object, scene: Scene, motors: Motors, made: Rehearsal, motion: Motion, frames: np.ndarray) -> None:
    """Write what physics made at the frames (T,) of the motion as a bake, with its verdict."""
    there = sampled_as(motors.room.mechanism, made.motion, motion.times)
    write_own_bake(root, scene, there, frames[: len(there.times)])
    robot = root.robik.robot
    robot.bakes[bakes.in_use(root)].name = f"{root.robik.label} rehearsed {len(robot.bakes)}"
    told, *more = made.lines()
    more += filter(None, [f"with {motors.raised}" if motors.raised else "", told_of_data(motors)])
    robot.result.physics, robot.result.physics_stands, robot.result.physics_frame = told.capitalize(), made.stands, 0
    robot.result.physics_more = "; ".join(line.replace("; ", ", ") for line in more)
    bakes.keep_result(root)
    remove_ghost(root)
