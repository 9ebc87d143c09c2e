"""The bake: sample the rig, solve, write the curves. A generator of steps, so that a window stays alive and ESC leaves nothing behind."""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter

import numpy as np
from bpy.types import Context, Object, PropertyGroup

from robik.ik.objectives import Settings, Weights
from robik.mechanism import Mechanism
from robik.retarget.clip import TargetClip
from robik.retarget.motion import Motion
from robik.retarget.retarget import Retargeting

from . import live
from .contacts import balanced, with_hand_contacts
from .curves import write_motion
from .kept_clip import keep_clip
from .mapping import active_targets, check_object, placement, rotation, track
from .markers import mark_short
from .read_robot import read_robot
from .result import store_result
from .sample import frame_range, sample_sources, times_of
from .steps import Progress, in_thread

SAMPLING = 0.4  # part of the progress bar that sampling takes


def bake_steps(context: Context, root: Object) -> Generator[Progress, None, Motion]:
    """Samples the character, solves, and only then writes the robot's curves and result.

    Raises:
        RobikError: a mapping, a range or the robot is wrong; nothing has been changed.
    """
    began = perf_counter()
    mechanism = read_robot(root)
    frames = frame_range(context.scene, root.robik.robot.bake)
    clip = yield from sample_clip(context, root, mechanism, frames)
    settings = bake_settings(root, mechanism)
    solving = Retargeting(mechanism, clip, settings)
    for done in in_thread(solving.steps()):
        text = f"Solving frame {frames[done - 1]:g}" if done else "Preparing the solver, which takes longer the first time"
        yield Progress(SAMPLING + (1.0 - SAMPLING) * (done or 0) / len(frames), text)
    motion = solving.motion()
    with live.paused():
        write_motion(root, motion, frames)
        store_result(root.robik.robot.result, mechanism, clip, motion, frames, perf_counter() - began)
        keep_clip(root.animation_data.action, frames, clip, settings)
        mark_short(root, context.scene)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    return motion


def bake_settings(root: Object, mechanism: Mechanism) -> Settings:
    """How the targets, the balance and the bake of a robot are set."""
    robot = root.robik.robot
    weights = {t.frame: _weights(t) for t in active_targets(root, mechanism)}
    com = np.array(robot.balance.weight, dtype=float)
    if robot.balance.source == "FEET":
        com[2] = 0.0  # over the feet, at whatever height the motion wants
    bake = robot.bake
    return Settings(
        weights,
        tuple(com.tolist()),
        float(bake.state_weight),
        float(bake.velocity_weight) if bake.soften else 0.0,
        float(bake.velocity_limit) if bake.soften else float("inf"),
        bool(bake.joint_limits),
        bool(bake.guarantee),
    )


def _weights(target: PropertyGroup) -> Weights:
    position, orientation = (np.array(w, dtype=float) * target.weight for w in (target.position_weight, target.orientation_weight))
    return Weights(tuple(position.tolist()), tuple(orientation.tolist()))


def sample_clip(context: Context, root: Object, mechanism: Mechanism, frames: np.ndarray) -> Generator[Progress, None, TargetClip]:
    """Samples what the robot shall follow at these frames, in the robot's coordinates, balanced as asked for.

    Raises:
        RobikError: a target follows something that is not there, or balance is not possible.
    """
    targets = active_targets(root, mechanism)
    balance, placed = root.robik.robot.balance, placement(root)
    points = [check_object(balance.target, "the centre of mass", context.scene)] if balance.source == "OBJECT" else []
    with live.paused():
        sampling = sample_sources(context, targets, points, frames)
        while True:
            try:
                done = next(sampling)
            except StopIteration as finished:
                positions, turns = finished.value
                break
            yield Progress(SAMPLING * done / len(frames), f"Sampling frame {frames[done - 1]:g}")
    tracks = {t.frame: track(t, positions[:, i], turns[:, i], placed) for i, t in enumerate(targets)}
    com = placed.apply(positions[:, -1], rotation(turns[:, -1]))[0] if points else None
    clip = with_hand_contacts(TargetClip(times_of(context.scene, frames), tracks, com), targets, frames)
    return balanced(clip, mechanism, balance)
