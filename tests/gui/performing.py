"""Performing in a window, by real keys, on a simulated chain: tests/gui/run 4.3 performing docs/images."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402

from tests.gui.shots import panels, start, walker, with_only  # noqa: E402
from tests.gui.window import call, key, root, run, until  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")


def keyed(name: str, frames: dict[int, float], motors: list[str]) -> bpy.types.Action:
    """An action that keys motors of the robot; nothing is animated by it."""
    robot = root()
    for motor in motors:
        before = robot[motor]
        for frame, value in frames.items():
            robot[motor] = before + value
            robot.keyframe_insert(f'["{motor}"]', frame=frame)
        robot[motor] = before
    action = robot.animation_data.action
    action.name, action.use_fake_user = name, True
    robot.animation_data.action = None
    return action


def shoot() -> Iterator[float]:
    """Triggers and a stick in the panel, keys while it performs, a recording, servos that follow, ESC."""
    install(ARCHIVE)
    yield from start()
    yield from walker()
    play, performing = (import_module(f"{PACKAGE}.scene.{name}") for name in ("servos.play", "show.performing"))
    settings_of = play.settings_of  # a machine that stalls is no fault of the servos
    play.settings_of = lambda scene: replace(settings_of(scene), heartbeat=15.0, watchdog=2.5, silence=2.0)
    robot, motors = root(), [name for name, value in root().items() if isinstance(value, float)]
    performance = robot.robik.robot.performance
    performance.idle = keyed("breathe", {1: 0.0, 25: 0.02, 49: 0.0}, motors[:1])
    for name, motor in (("bow", motors[1]), ("kick", motors[2])):
        call(bpy.ops.robik.add_trigger)
        row = performance.triggers[-1]
        row.name, row.action = name, keyed(name, {1: 0.0, 13: 0.1, 37: 0.1, 49: 0.0}, [motor])
    performance.triggers[1].osc, performance.triggers[1].moved_only = "/kick", True
    call(bpy.ops.robik.add_stick)
    stick = performance.sticks[0]
    stick.motor, stick.amount, stick.minus, stick.plus, stick.osc = motors[3], 20, "a", "s", "/lean"
    performance.osc_port = "0"
    bpy.context.scene.update_tag()
    yield from panels({"panel-perform": ("servos", "servos_perform")})
    with_only(("servos", "servos_perform"))
    yield 1.0
    call(bpy.ops.robik.connect_servos)
    yield from until(lambda: play.status().state.value == "ready", 60, "servos found")
    call(bpy.ops.robik.torque_servos, on=True)
    yield from until(lambda: play.status().state.value == "holding", 60, "torque")
    call(bpy.ops.robik.live_servos)
    yield from until(lambda: play.status().state.value == "live", 60, "live")
    before = dict(robot.items())
    call(bpy.ops.robik.perform, record=True)
    yield from until(performing.is_performing, 60, "a performance")
    yield from key("1")
    yield from until(lambda: performing.playing() == ["bow"], 60, "a clip by its key")
    yield from until(lambda: root()[motors[1]] > before[motors[1]] + 0.05, 60, "its motor")
    yield from key("Escape")
    yield from until(lambda: not performing.is_performing(), 60, "ended by ESC")
    yield from until(lambda: play.status().state.value == "holding", 60, "servos that hold")
    assert len(root().robik.robot.bakes) == 1, [bake.name for bake in root().robik.robot.bakes]
    call(bpy.ops.robik.perform, record=False)
    yield from until(performing.is_performing, 60, "another performance")
    yield from key("ctrl+z")
    yield from until(lambda: not performing.is_performing(), 60, "ended by undo")
    assert performing.why() == "something was undone", performing.why()
    assert root().robik.label == "walker"
    call(bpy.ops.robik.disconnect_servos)
    with_only(())
    yield 0.5


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(shoot)
