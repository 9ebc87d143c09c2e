"""The bake: sample the rig, solve, write the curves. A generator of steps, so that a window stays alive and ESC leaves nothing behind."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from time import perf_counter

import numpy as np
from bpy.types import Context, Object, PropertyGroup

from robik.kinematics.forward import ForwardKinematics
from robik.mechanism import Mechanism
from robik.objectives.pose_prior import PosePrior
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retarget.blend import blended, blended_base, shares, within_speeds
from robik.retarget.clip import TargetClip
from robik.retarget.hips import hips_of
from robik.retarget.motion import Motion
from robik.retarget.retarget import Retargeting
from robik.warm_up import help_compiling

from . import bakes, live
from .contacts import balanced, with_hand_contacts
from .curves import baked_frames, base_curve, has_keys, read_motion_at, write_motion
from .example import example_prior
from .kept_clip import keep_clip
from .mapping import active_targets, check_object, placement, rotation, track
from .markers import mark_short
from .migration import bring_up_to_date
from .read_robot import read_robot
from .result import store_cost, store_result
from .sample import frame_range, planned_range, sample_sources, times_of
from .steps import Progress, in_thread, starting

SAMPLING = 0.4  # part of the progress bar that sampling takes


def bake_steps(context: Context, root: Object) -> Generator[Progress, None, Motion]:
    """Samples the character, solves, and only then writes the robot's curves, into a new action, and its result.

    Raises:
        RobikError: a mapping, a range or the robot is wrong; nothing has been changed.
    """
    began, result = perf_counter(), root.robik.robot.result
    bring_up_to_date(root)
    mechanism = read_robot(root)
    frames, prior = frame_range(context.scene, root.robik.robot.bake), example_prior(root, mechanism)
    clip = yield from sample_clip(context, root, mechanism, frames)
    sampled = perf_counter()
    settings = bake_settings(root, mechanism)
    motion, preparing = yield from _solved(root, mechanism, clip, settings, frames, prior)
    solved = perf_counter()
    with live.paused():
        outside = bool(root.robik.robot.bake.use_range) and has_keys(root, mechanism)
        bakes.begin(root)
        write_motion(root, motion, frames, outside)
        keep_clip(root.animation_data.action, frames, clip, settings)
        written = perf_counter()
        store_result(result, mechanism, clip, motion, frames, written - began)
        result.sampling, result.solving, result.writing = sampled - began, solved - sampled - preparing, written - solved
        result.preparing = preparing
        store_cost(result, motion.report.speed_cost, frames)
        bakes.keep_result(root)
        mark_short(root, context.scene)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    return motion


def _solved(
    root: Object, mechanism: Mechanism, clip: TargetClip, settings: Settings, frames: np.ndarray, prior: PosePrior | None
) -> Generator[Progress, None, tuple[Motion, float]]:
    """The motion, blended into the bake before where that is asked for, and how long it took until the solver was ready [s]."""
    began, preparing, bake = perf_counter(), 0.0, root.robik.robot.bake
    help_compiling()
    solving = Retargeting(mechanism, clip, settings, speed_cost=True, prior=prior, prior_weight=float(bake.example_weight))
    for done in in_thread(solving.steps()):
        if done is None:
            preparing = perf_counter() - began
            yield starting("Preparing the solver", SAMPLING)
        else:
            yield Progress(SAMPLING + (1.0 - SAMPLING) * done / len(frames), f"Solving frame {frames[done - 1]:g}")
    motion = solving.motion()
    if bake.use_range and bake.blend and has_keys(root, mechanism):
        motion = _blended(root, solving, motion, frames)
    return motion, preparing


def _blended(root: Object, solving: Retargeting, motion: Motion, frames: np.ndarray) -> Motion:
    """The motion, coming out of the robot's present curves and going back into them where they go on."""
    mechanism = solving.mechanism
    first, last = baked_frames(root, mechanism)[[0, -1]]
    share = shares(frames, root.robik.robot.bake.blend, first < frames[0], last > frames[-1])
    old = read_motion_at(root, mechanism, frames)
    base = base_curve(root, mechanism, frames)
    index = None if base is None else mechanism.body_index[ForwardKinematics(mechanism).root]
    present = None if index is None else (motion.position[:, index], motion.quaternion[:, index])
    values = blended(old, motion.values, share)
    if solving.settings.enforce_velocity and motion.report is not None:
        values = within_speeds(values, motion.times, solving.settings.velocity_share * motion.report.velocity_limit, share == 0)
    return solving.remade(motion, values, blended_base(base, present, share))


def bake_settings(root: Object, mechanism: Mechanism) -> Settings:
    """How the targets, the balance and the bake of a robot are set."""
    robot = root.robik.robot
    weights = {t.frame: weights_of(t) for t in active_targets(root, mechanism)}
    com = np.array(robot.balance.weight, dtype=float)
    if robot.balance.source == "FEET":
        com[2] = 0.0  # over the feet, at whatever height the motion wants
        if robot.balance.give_way and (hips := hips_of(mechanism, weights)):
            weights[hips] = replace(weights[hips], position=(0.0, 0.0, weights[hips].position[2]))
    bake = robot.bake
    return Settings(
        weights,
        tuple(com.tolist()),
        float(bake.state_weight),
        float(bake.velocity_weight) if bake.soften else 0.0,
        _soften_above(mechanism, bake) if bake.soften else float("inf"),
        bool(bake.joint_limits),
        bool(bake.guarantee),
        float(bake.speed) / 100.0,
    )


def _soften_above(mechanism: Mechanism, bake: PropertyGroup) -> float:
    """The speed of turning from which bodies are held back [rad/s]: of the slowest motor that turns, as far as speeds are known."""
    turning = [j.velocity_limit for j in mechanism.actuated if "rad" in j.coordinate_units]
    slowest = min(turning, default=float("inf"))
    return float(bake.speed) / 100.0 * slowest if np.isfinite(slowest) else float(bake.velocity_limit)


def weights_of(target: PropertyGroup) -> Weights:
    """How much a target counts, axis by axis."""
    position, orientation = (np.array(w, dtype=float) * target.weight for w in (target.position_weight, target.orientation_weight))
    return Weights(tuple(position.tolist()), tuple(orientation.tolist()))


def sample_clip(context: Context, root: Object, mechanism: Mechanism, frames: np.ndarray) -> Generator[Progress, None, TargetClip]:
    """Samples what the robot shall follow at these frames, in the robot's coordinates, balanced as asked for.

    Raises:
        RobikError: a target follows something that is not there, or balance is not possible.
    """
    robot, planned = root.robik.robot, frames
    if robot.balance.pin_feet or robot.balance.source == "FEET":
        planned = planned_range(context.scene, robot.bake)
    sampled = yield from sample_tracks(context, root, mechanism, planned)
    clip = with_hand_contacts(sampled, active_targets(root, mechanism), planned)
    first = int(np.searchsorted(planned, frames[0]))
    return balanced(clip, mechanism, robot.balance).part(first, first + len(frames))


def sample_tracks(context: Context, root: Object, mechanism: Mechanism, frames: np.ndarray) -> Generator[Progress, None, TargetClip]:
    """Samples what the robot shall follow at these frames, in the robot's coordinates.

    Raises:
        RobikError: a target follows something that is not there.
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
    return TargetClip(times_of(context.scene, frames), tracks, com)
