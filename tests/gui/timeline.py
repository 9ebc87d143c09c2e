"""Play with Timeline in a real window, from the zip: tests/gui/run 5.2 timeline FOLDER.

Space, the playhead, ESC, undo and Stop, on simulated servos; how far the robot is behind the frames that are shown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402

from tests.gui.window import call, key, picture, remember, root, run, until  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

FPS, FIRST, LAST = 24, 1, 241
BEGIN = 49  # the frame from which it plays
shown: list[tuple[float, int]] = []


def note(scene: bpy.types.Scene, _graph: object = None) -> None:
    """When each frame is shown."""
    shown.append((perf_counter(), scene.frame_current))


def module(name: str):
    return import_module(f"{PACKAGE}.{name}")


def animate(actuator: str, low: float, high: float) -> None:
    """Key all sliders, one of them along a straight line."""
    robot, scene = root(), bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = FIRST, LAST, FPS
    reading = module("scene.robot.reading")
    for name in reading.read_robot(robot).actuators:
        for frame in (FIRST, LAST):
            if name == actuator:
                robot[name] = low if frame == FIRST else high
            robot.keyframe_insert(f'["{name}"]', frame=frame)
    for curve in module("scene.animation.actions").curves_of(robot).values():
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def behind(play, servo, low: float, high: float) -> float:
    """Return how far the servo's goal is behind the frames that are shown [s], by the straight line."""
    goal = play.player().simulator.state()[servo.id]["goal_position"]
    now = perf_counter()
    value = (goal - servo.zero) / servo.counts_per_unit
    at = (value - low) / (high - low) * (LAST - FIRST) / FPS  # [s] of the motion
    began = min(when - (frame - FIRST) / FPS for when, frame in shown if when > now - 4.0 and frame > BEGIN)
    return now - began - at


def steps() -> Iterator[float]:
    """From the installation to letting go."""
    install(Path("/tmp/robik.zip"))
    bpy.data.batch_remove(list(bpy.data.objects))
    yield 0.5
    robots = module("robik.robots")
    call(bpy.ops.robik.import_robot, filepath=str(robots.path("walker")))
    yield from until(lambda: root() is not None, 400, "the robot")
    yield from key("Escape")  # the import's own report
    play, timeline = module("scene.servos.play"), module("scene.servos.timeline")
    settings_of = play.settings_of
    play.settings_of = lambda scene: replace(settings_of(scene), heartbeat=15.0, watchdog=2.5, silence=2.0)
    reading, scene = module("scene.robot.reading"), bpy.context.scene
    chain = module("scene.robot.chain").servo_chain(root(), reading.read_robot(root()), scene)
    servo = chain.servos[3]
    low, high = servo.position_limits
    low, high = low + 0.3 * (high - low), low + 0.7 * (high - low)
    animate(servo.actuator, low, high)
    bpy.app.handlers.frame_change_post.append(note)
    scene.robik.port, scene.robik.playing.soften = "sim", True
    call(bpy.ops.robik.connect_servos)
    yield from until(lambda: play.status().state.value == "ready", 60, "servos found")
    call(bpy.ops.robik.torque_servos, on=True)
    yield from until(lambda: play.status().state.value == "holding", 60, "torque")

    def turn() -> str:
        return timeline._armed.turn.name if timeline.is_armed() else ""

    def apart() -> float:
        return abs(play.real_pose()[servo.actuator] - root()[servo.actuator])

    # nothing plays the robot before it is armed
    yield from key("space")
    yield 1.0
    yield from key("space")
    assert play.status().state.value == "holding", play.status()
    # scrubbing
    scene.frame_set(BEGIN)
    assert call(bpy.ops.robik.play_with_timeline) == {"RUNNING_MODAL"}
    assert scene.sync_mode == "AUDIO_SYNC"
    yield from until(lambda: apart() < 0.02, 60, "the robot at the present frame")
    scene.frame_set(LAST)
    yield from until(lambda: apart() < 0.02, 60, "the robot where the playhead was put")
    scene.frame_set(BEGIN)
    yield from until(lambda: apart() < 0.02, 60, "the robot back")
    picture("timeline_armed")
    # together
    shown.clear()
    yield from key("space")
    seen: list[object] = []

    def is_together() -> bool:
        now = (turn(), play.status().state.value, scene.frame_current, timeline.message())
        if not seen or seen[-1] != now:
            seen.append(now)
            print(now, flush=True)
        return turn() == "TOGETHER"

    yield from until(is_together, 60, "playing together")
    late = []
    while turn() == "TOGETHER":
        yield 0.1
        is_together()
        if scene.frame_current > BEGIN + FPS and turn() == "TOGETHER":
            late.append(behind(play, servo, low, high))
            if scene.frame_current > LAST - FPS and late:
                picture("timeline_together")
    late = [1e3 * one for one in late if scene]
    print(
        f"behind: median {median(late):.1f} ms, from {min(late):.1f} to {max(late):.1f}, {len(late)} looks", flush=True
    )
    print(play.status(), flush=True)
    assert abs(median(late)) < 20.0
    yield from until(lambda: turn() == "SCRUBBING", 60, "armed again at the end")
    assert not bpy.context.window_manager.windows[0].screen.is_animation_playing
    # space once more stops both
    scene.frame_set(BEGIN)
    yield from until(lambda: apart() < 0.02, 60, "the robot back")
    yield from key("space")
    yield from until(lambda: turn() == "TOGETHER", 60, "playing together")
    yield 1.0
    yield from key("space")
    yield from until(lambda: turn() == "SCRUBBING", 60, "both have stopped")
    assert scene.frame_current < LAST - FPS
    # undo disarms while it plays
    remember("before")
    remember("after")
    yield from key("space")
    yield from until(lambda: turn() == "TOGETHER", 60, "playing together")
    bpy.ops.ed.undo()
    assert not timeline.is_armed()
    yield from until(lambda: play.status().state.value == "holding", 60, "stopped by undoing")
    if bpy.context.window_manager.windows[0].screen.is_animation_playing:
        yield from key("space")
    yield 1.0
    assert play.status().state.value == "holding"
    # ESC and Stop
    for stop in ("escape", "button"):
        call(bpy.ops.robik.play_with_timeline)
        yield from until(lambda: turn() == "SCRUBBING", 60, "armed")
        if stop == "escape":
            yield from key("Escape")
        else:
            call(bpy.ops.robik.stop_servos)
        yield from until(lambda: play.status().state.value == "holding", 60, f"stopped by {stop}")
        assert not timeline.is_armed()
    # opening a file
    call(bpy.ops.robik.play_with_timeline)
    yield from until(lambda: turn() == "SCRUBBING", 60, "armed")
    player = play.player()
    module("operators.servos.play").before_load("")
    assert not timeline.is_armed()
    yield from until(lambda: not player.is_open, 60, "let go of")
    print("all done", flush=True)


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(steps)
