"""Make It Stand: the robot's bake, changed until it stands in physics, each attempt a bake of its own."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from bpy.types import Context, Object, Scene

from ...robik.mechanism import Mechanism
from ...robik.motions import Motion
from ...robik.physics.motors import Motors
from ...robik.physics.remedies import Source, source_of
from ...robik.physics.standing import Attempt, Search, standing_steps
from ..long_work.steps import Progress, in_thread
from ..motion import motion_frames, motion_steps
from ..robot import posing
from . import bakes
from .apart import read_walls
from .curves import write_motion
from .freshness import mark
from .kept_clip import keep_clip
from .markers import mark_short
from .physics import keep_verdict
from .rehearse import sampled_as
from .request import read_request
from .result import store_result
from .target_clip import sample_clip

KNOTS = 400  # of the frames' way to their slower places, at most


def stand_steps(context: Context, root: Object, motors: Motors, trials: int) -> Generator[Progress, None, Search]:
    """Try what makes the robot's bake stand in disturbed trials, keep each attempt as a bake and use the best.

    Stopped early, nothing has been changed.
    """
    scene, mechanism = context.scene, motors.room.mechanism
    frames = motion_frames(root, mechanism, scene)
    motion = yield from motion_steps(root, mechanism, frames, scene)
    source = yield from _source(context, root, mechanism, motion, frames)
    found: list[Search] = []
    physics = root.robik.robot.physics
    how = {"p_gain": physics.p_gain or None, "feedback": physics.tilt_feedback}
    for step in in_thread(_searched(source, motors, trials, how, found)):
        share, text = step if step is not None else (None, "preparing")
        yield Progress(share, f"Make It Stand: {text}", counts=False, is_apart=True)
    search = found[0]
    with posing.paused():
        _keep(root, scene, search, source, frames)
    choose(root, scene, search.chosen)
    best = search.best
    if best.verdict is not None:
        keep_verdict(root, scene, best.verdict, _frames(best, frames, scene))
    return search


def _source(
    context: Context, root: Object, mechanism: Mechanism, motion: Motion, frames: np.ndarray
) -> Generator[Progress, None, Source]:
    """Return what the bake followed, where the character that it did is there; else the motion itself."""
    walls = read_walls(root, mechanism) if root.robik.robot.bake.keep_apart else None
    if not any(target.enabled for target in root.robik.robot.character.targets):
        return source_of(mechanism, motion, "the bake", walls)
    request = read_request(root, context.scene)
    asked = request.of((yield from sample_clip(context, request)))
    first = int(np.searchsorted(request.planned, request.frames[0]))
    clip = asked.clip.part(first, first + len(request.frames))
    return Source(motion=motion, request=replace(asked, clip=clip, solved=None, own_range=None, share=None))


def _searched(
    source: Source, motors: Motors, trials: int, how: dict[str, Any], found: list[Search]
) -> Iterator[tuple[float, str]]:
    """Yield how far the search is; it ends up in `found`. Nothing here touches Blender."""
    found.append((yield from standing_steps(source, motors, trials, **how)))


def _frames(attempt: Attempt, frames: np.ndarray, scene: Scene) -> np.ndarray:
    """Return the frames of an attempt's samples."""
    assert attempt.motion is not None
    times = attempt.motion.times - attempt.motion.times[0]
    return np.asarray(frames[0] + times * scene.render.fps / scene.render.fps_base)


def _keep(root: Object, scene: Scene, search: Search, source: Source, frames: np.ndarray) -> None:
    """Write each attempt's motion as a bake, and a row that names it."""
    robot, physics, before = root.robik.robot, root.robik.robot.physics, bakes.in_use(root)
    robot.physics.attempts.clear()
    if before < 0:
        bakes.begin(root)
        before = bakes.in_use(root)
    for attempt in search.attempts:
        row, index = robot.physics.attempts.add(), before
        row.name, row.told, row.stands = attempt.name, attempt.told(), attempt.stands
        row.carry_weight, row.p_gain = attempt.remedy.carry, round(attempt.remedy.p_gain or 0.0)
        row.speed, row.tilt_feedback = attempt.remedy.speed, attempt.remedy.feedback
        row.stiffness = attempt.remedy.stiffness or physics.stiffness
        if attempt.motion is not None and attempt.remedy.rehearsed:
            there = sampled_as(source.mechanism, attempt.motion, source.motion.times)
            bakes.begin(root)
            write_motion(root, there, frames[: len(there.times)])
            robot.result.frames = 0
            index = _named(root, attempt)
        elif attempt.motion is not None and attempt.clip is not None:
            places = _frames(attempt, frames, scene)
            bakes.begin(root)
            write_motion(root, attempt.motion, places)
            keep_clip(root.animation_data.action, places, attempt.clip, source.request.solver)
            store_result(robot.result, source.mechanism, attempt.clip, attempt.motion, places, 0.0)
            robot.result.margin_asked = attempt.remedy.margin
            robot.result.mark = mark(root, scene)
            index = _named(root, attempt)
        row.bake = robot.bakes[index].name
        row.frames = _way(attempt, source, frames, scene)


def _named(root: Object, attempt: Attempt) -> int:
    """Keep the result and the name of the bake that an attempt has made; return its index."""
    bakes.keep_result(root)
    index = bakes.in_use(root)
    root.robik.robot.bakes[index].name = f"Make It Stand: {attempt.name}"
    return index


def _way(attempt: Attempt, source: Source, frames: np.ndarray, scene: Scene) -> str:
    """Return where the bake's frames go in an attempt, as JSON: those before, those after; empty where they stay."""
    if attempt.motion is None or attempt.remedy.speed == 1.0:
        return ""
    times = source.request.clip.times
    after = frames[0] + attempt.remedy.times(times) * scene.render.fps / scene.render.fps_base
    before = frames[0] + times * scene.render.fps / scene.render.fps_base
    some = np.unique(np.linspace(0, len(times) - 1, min(KNOTS, len(times))).astype(int))
    return json.dumps([np.round(before[some], 3).tolist(), np.round(after[some], 3).tolist()])


def choose(root: Object, scene: Scene, index: int) -> None:
    """Let an attempt move the robot: its bake, its motors' settings, and markers and the scene's end at its pace."""
    physics = root.robik.robot.physics
    row = physics.attempts[index]
    found = next((k for k, bake in enumerate(root.robik.robot.bakes) if bake.name == row.bake), -1)
    if found >= 0:
        bakes.use(root, found)
    physics.chosen, physics.carry_weight, physics.p_gain = index, row.carry_weight, row.p_gain
    physics.tilt_feedback, physics.stiffness = row.tilt_feedback, row.stiffness
    if row.frames != physics.warped:
        own = {(marker.name, marker.frame) for marker in scene.robik.markers}
        for marker in scene.timeline_markers:
            if (marker.name, marker.frame) not in own:
                marker.frame = round(_moved(marker.frame, physics.warped, row.frames))
        scene.frame_end = round(_moved(scene.frame_end, physics.warped, row.frames))
        physics.warped = row.frames
    mark_short(root, scene)
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


def _moved(frame: float, old: str, new: str) -> float:
    """Return where a frame goes that one attempt's way has moved, when another's takes its place."""
    for way, back in ((old, True), (new, False)):
        if way:
            before, after = json.loads(way)
            frame = _mapped(*((after, before) if back else (before, after)), frame)
    return frame


def _mapped(before: list[float], after: list[float], frame: float) -> float:
    """Return a frame's place after a change of pace; outside it goes along with the nearer end."""
    if frame <= before[0]:
        return frame + after[0] - before[0]
    if frame >= before[-1]:
        return frame + after[-1] - before[-1]
    return float(np.interp(frame, before, after))
