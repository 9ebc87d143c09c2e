"""Bake: sample the character, solve, write the curves.

It is a generator of steps, so that a window stays alive and ESC leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from time import perf_counter

import numpy as np
from bpy.types import Context, Object

from ...robik.bake import bake
from ...robik.bake.bake import Bake, baking
from ...robik.bake.request import BakeRequest
from ...robik.clips.clip import TargetClip
from ...robik.mechanism.motor_limits import limits_of
from ...robik.motions import Motion
from ...robik.motions.posing import posed
from ...robik.objectives.settings import Settings
from ...robik.report.kept_balance import with_kept_balance
from ...robik.retargeting.blend import blended, blended_base, within_speeds
from ...robik.retargeting.retarget import Retargeting
from ...robik.warm_up import help_compiling
from ..animation.sources import are_driven
from ..long_work import heartbeat
from ..long_work.steps import Progress, compile_ahead, in_thread, starting
from ..motion import slider_channels
from ..robot import posing
from . import bakes
from .corrections import Corrections, corrections_of_bake
from .curves import write_motion
from .freshness import mark
from .judging import judge_again
from .kept_clip import KeptClip, keep_clip, kept_clip
from .markers import mark_short
from .plain import keep_plain, kept_plain, plain_of
from .request import PresentMotion, SceneRequest, read_request
from .rest import joined, outside, store_rest
from .result import store_cost, store_result
from .target_clip import SAMPLING, sample_clip


def bake_steps(
    context: Context, root: Object, keeps_corrections: bool | None = None
) -> Generator[Progress, None, Motion]:
    """Sample the character, solve, and only then write the robot's curves, into a new action, and its result.

    `keeps_corrections` adds what was changed by hand on the bake in use; None as the robot says. After a RobikError
    nothing has been changed.
    """
    began = perf_counter()
    if keeps_corrections is None:
        keeps_corrections = root.robik.robot.bake.corrections
    scene, request = context.scene, read_request(root, context.scene)
    sampled_clip = yield from sample_clip(context, request)
    sampled = perf_counter()
    made, preparing = yield from _made(request.of(sampled_clip), request.solved)
    clip, motion = _let_in(made, request.present)
    solved = perf_counter()
    with posing.paused():
        before = kept_clip(root) if request.keeps_other_keys else None
        added = corrections_of_bake(root, request.mechanism, scene, request.frames) if keeps_corrections else None
        _write(root, request, made.request.solver, clip, motion, before)
        heartbeat.beat()
        written, result = perf_counter(), root.robik.robot.result
        store_result(result, request.mechanism, clip, motion, request.frames, written - began)
        heartbeat.beat()
        result.sampling, result.preparing = sampled - began, preparing
        result.solving, result.writing = solved - sampled - preparing, written - solved
        result.rest = ""
        if request.keeps_other_keys:
            store_rest(root, request.mechanism, scene, request.frames, before)
        store_cost(result, motion.report.speed_cost, request.frames)
        balance = request.balance
        result.margin_asked = balance.whole_margin(request.mechanism) if balance.over_feet else 0.0
        result.mark = mark(root, scene)
        bakes.keep_result(root)
        heartbeat.beat()
        mark_short(root, scene)
        result.corrected = added is not None
        if added is not None:
            _correct(root, request, motion, added)
        if added is not None or are_driven(root, slider_channels(request.mechanism)):
            judge_again(root, scene)
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    compile_ahead()  # what came with the extension is for any CPU
    return motion


def _made(request: BakeRequest, frames: np.ndarray) -> Generator[Progress, None, tuple[Bake, float]]:
    """Return the bake at frames (S,) of the scene, and the time until its first frame was solved [s]."""
    began, preparing = perf_counter(), 0.0
    help_compiling()
    found: list[Bake] = []

    def work() -> Iterator[bake.Progress]:
        found.append((yield from baking(request)))

    for now in in_thread(work()):
        if now is None or now.is_planning:
            preparing = perf_counter() - began
        if now is None:
            yield starting("Preparing the solver", SAMPLING)
        else:
            where = f", frame {frames[now.done - 1]:g}" if now.done else ""
            share = SAMPLING + (1.0 - SAMPLING) * now.share
            yield Progress(share, now.stage + where, counts=not now.is_planning)
    return found[0], preparing


def _let_in(made: Bake, present: PresentMotion | None) -> tuple[TargetClip, Motion]:
    """Return what the baked frames follow, and their motion, coming out of the present one and back into it."""
    if present is None:
        return made.clip, made.motion
    if present.own_range is None:
        motion, clip = _blended(made.solving, made.motion, present), made.clip
    else:
        motion = present.own_range.part(made.request.mechanism, made.solving.clip, made.motion)
        clip = made.clip.part(*present.own_range.frames)
    return clip, with_kept_balance(made.request.mechanism, clip, motion)


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


def _write(
    root: Object, request: SceneRequest, settings: Settings, clip: TargetClip, motion: Motion, before: KeptClip | None
) -> None:
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
    kept = joined(rest, request.frames, clip, settings)
    keep_clip(root.animation_data.action, kept.frames, kept.clip, kept.settings)


def _correct(root: Object, request: SceneRequest, motion: Motion, added: Corrections) -> None:
    """Write a motion once more with what was changed by hand before, within the motors' limits."""
    mechanism, frames = request.mechanism, np.asarray(request.frames, dtype=float)
    whole = motion if motion.base is not None else replace(motion, base=plain_of(mechanism, motion, frames).track)
    corrected = added.on(whole, frames)
    low, high = mechanism.actuator_limits.T
    corrected = replace(corrected, values=np.clip(corrected.values, low, high))
    write_motion(root, posed(mechanism, corrected, "the bake")[0], request.frames, request.keeps_other_keys)
