"""Bake: sample the character, solve, write the curves.

It is a generator of steps, so that a window stays alive and ESC leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np
from bpy.types import Context, Object

from ...robik.clips.clip import TargetClip
from ...robik.clips.contacts import above_ground
from ...robik.collision.apart import Walls, solved_apart
from ...robik.mechanism.motor_limits import limits_of
from ...robik.motions import Motion
from ...robik.retarget.blend import blended, blended_base, within_speeds
from ...robik.retarget.passes import Passes
from ...robik.retarget.posing import posed
from ...robik.retarget.retarget import Retargeting
from ...robik.warm_up import help_compiling
from ..long_work import heartbeat
from ..long_work.steps import Progress, compile_ahead, in_thread, starting
from ..robot import posing
from . import bakes
from .apart import read_walls
from .corrections import Corrections, corrections_of_bake
from .curves import write_motion
from .freshness import mark
from .judging import judge_again
from .kept_clip import KeptClip, keep_clip, kept_clip
from .markers import mark_short
from .plain import keep_plain, kept_plain, plain_of
from .request import BakeRequest, PresentMotion, read_request
from .rest import joined, outside, store_rest
from .result import store_cost, store_result
from .target_clip import SAMPLING, sample_clip


def bake_steps(
    context: Context, root: Object, keeps_corrections: bool | None = None
) -> Generator[Progress, None, Motion]:
    """Sample the character, solve, and only then write the robot's curves, into a new action, and its result.

    Args:
        context: With the scene.
        root: Of the robot.
        keeps_corrections: Whether what was changed by hand on the bake in use is added; as the robot says if left out.

    Raises:
        RobikError: a mapping, a range or the robot is wrong; nothing has been changed.
    """
    began = perf_counter()
    if keeps_corrections is None:
        keeps_corrections = root.robik.robot.bake.corrections
    request = read_request(root, context.scene)
    walls = read_walls(root, request.mechanism) if root.robik.robot.bake.keep_apart else None
    clip = yield from sample_clip(context, request, walls)
    sampled = perf_counter()
    clip, motion, preparing = yield from _solved(request, clip, walls)
    solved = perf_counter()
    with posing.paused():
        before = kept_clip(root) if request.keeps_other_keys else None
        added = corrections_of_bake(root, request.mechanism, request.frames) if keeps_corrections else None
        _write(root, request, clip, motion, before)
        heartbeat.beat()
        written, result = perf_counter(), root.robik.robot.result
        store_result(result, request.mechanism, clip, motion, request.frames, written - began)
        heartbeat.beat()
        result.sampling, result.preparing = sampled - began, preparing
        result.solving, result.writing = solved - sampled - preparing, written - solved
        if request.keeps_other_keys:
            store_rest(result, root, request.mechanism, request.frames, before)
        else:
            result.rest = ""
        store_cost(result, motion.report.speed_cost, request.frames)
        balance = request.balance
        result.margin_asked = balance.whole_margin(request.mechanism) if balance.over_feet else 0.0
        result.mark = mark(root, context.scene)
        bakes.keep_result(root)
        heartbeat.beat()
        mark_short(root, context.scene)
        result.corrected = added is not None
        if added is not None:
            _correct(root, request, motion, added)
            judge_again(root, context.scene)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    compile_ahead()  # what came with the extension is for any CPU
    return motion


def _solved(
    request: BakeRequest, asked: TargetClip, walls: Callable[[], Walls | None] | None
) -> Generator[Progress, None, tuple[TargetClip, Motion, float]]:
    """Return clip and motion of the frames that are baked, and the time until the solver was ready [s]."""
    began, preparing = perf_counter(), 0.0
    help_compiling()
    clip = above_ground(request.mechanism, asked, walls is not None)
    passes = Passes(partial(_retargeting, request))
    found: list[Motion] = []

    def work() -> Iterator[int]:
        _, motion = yield from solved_apart(clip, passes.solve, walls() if walls else None, passes.finish)
        found.append(motion)

    for done in in_thread(work()):
        if done is None:
            preparing = perf_counter() - began
            yield starting("Preparing the solver", SAMPLING)
        else:
            yield Progress(*_stage(passes, request.solved, done, walls is not None))
    own = request.present.own_range if request.present else None
    asked = asked if own is None else asked.part(*own.frames)
    return asked, _let_in(passes.of(found[0]), found[0], request.present), preparing


def _retargeting(request: BakeRequest, clip: TargetClip) -> Retargeting:
    """Return the retargeting of a clip, about to begin."""
    return Retargeting(
        request.mechanism,
        clip,
        request.settings,
        speed_cost=True,
        prior=request.prior,
        prior_weight=request.prior_weight,
        own_range=request.present.own_range if request.present else None,
    )


def _stage(passes: Passes, frames: np.ndarray, done: int, again: bool) -> tuple[float, str]:
    """Return the share that is done and what is being solved, for the status bar; each further pass is half as long."""
    share, count = done / len(frames), len(passes)
    if again:
        share = 1.0 - (1.0 - 0.5 * share) * 0.5 ** (count - 1)
    share = SAMPLING + (1.0 - SAMPLING) * share
    if passes.last is not None and passes.last.looks_ahead_now:
        return share, f"Looking ahead: {100 * done / len(frames):.0f} %"
    apart = f" with bodies kept apart, pass {count - 1}" if count > 1 else ""
    return share, f"Solving frame {frames[done - 1]:g}{apart}"


def _let_in(solving: Retargeting, motion: Motion, present: PresentMotion | None) -> Motion:
    """Return the motion of the frames that are baked, coming out of the present one and going back into it."""
    if present is None:
        return motion
    if present.own_range is not None:
        return present.own_range.part(solving.mechanism, solving.clip, motion)
    return _blended(solving, motion, present)


def _blended(solving: Retargeting, motion: Motion, present: PresentMotion) -> Motion:
    """Return the motion with the present one let in by its share."""
    mechanism, settings, share, base = solving.mechanism, solving.settings, present.share, present.motion.base
    values = blended(present.motion.values, motion.values, share)
    if settings.enforce_velocity:
        limits = limits_of(mechanism, settings.acceleration_limit, settings.jerk_limit, settings.velocity_share)
        values = within_speeds(values, motion.times, limits.speed, share == 0)
    solved = None if motion.base is None else (motion.base.position, motion.base.quaternion)
    if base is None or solved is None:
        return solving.remade(motion, values, solved)
    return solving.remade(motion, values, blended_base((base.position, base.quaternion), solved, share))


def _write(root: Object, request: BakeRequest, clip: TargetClip, motion: Motion, before: KeptClip | None) -> None:
    """Write the curves of sliders and bodies into a new action, and keep with it what was followed.

    In an own range that is also what the bake `before` followed outside of it.
    """
    mechanism, frames = request.mechanism, request.frames
    plain = kept_plain(root, mechanism) if request.keeps_other_keys else None
    bakes.begin(root)
    write_motion(root, motion, frames, request.keeps_other_keys)
    others = None if plain is None else plain.outside(float(frames[0]), float(frames[-1]))
    keep_plain(root, mechanism, plain_of(mechanism, motion, frames), others)
    rest = outside(before, request.frames) if before is not None else None
    kept = joined(rest, request.frames, clip, request.settings)
    keep_clip(root.animation_data.action, kept.frames, kept.clip, kept.settings)


def _correct(root: Object, request: BakeRequest, motion: Motion, added: Corrections) -> None:
    """Write a motion once more with what was changed by hand before, within the motors' limits."""
    mechanism, frames = request.mechanism, np.asarray(request.frames, dtype=float)
    whole = motion if motion.base is not None else replace(motion, base=plain_of(mechanism, motion, frames).track)
    corrected = added.on(whole, frames)
    low, high = mechanism.actuator_limits.T
    corrected = replace(corrected, values=np.clip(corrected.values, low, high))
    write_motion(root, posed(mechanism, corrected, "the bake")[0], request.frames, request.keeps_other_keys)
