"""Servos in the window: connect, hold, play, stop, follow the timeline; on the simulated chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from types import ModuleType

import bpy

from tests.gui.window import call, key, picture, root, until
from tools.installed import PACKAGE


def play_on_servos() -> Iterator[float]:
    """Connect, torque, play, ESC, play, stop, disconnect; on the simulated chain."""
    play = import_module(f"{PACKAGE}.scene.servos.play")
    settings_of = play.settings_of
    patient = {"heartbeat": 15.0, "watchdog": 2.5, "silence": 2.0}  # a machine that stalls is no fault of theirs
    play.settings_of = lambda scene: replace(settings_of(scene), **patient)

    def state() -> str:
        return play.status().state.value

    call(bpy.ops.robik.preflight)
    call(bpy.ops.robik.connect_servos)
    yield from until(lambda: state() == "ready", 60, "servos found")
    picture("06_connected")
    call(bpy.ops.robik.torque_servos, on=True)
    yield from until(lambda: state() == "holding", 60, "torque")
    yield 0.3
    picture("07_holding")
    import_module(f"{PACKAGE}.scene.servos.setup").NUDGE_TIME = 30.0  # [s]: else it is over before a hand has found ESC
    assert call(bpy.ops.robik.nudge_servo, actuator=play.player().chain.actuators[3]) == {"RUNNING_MODAL"}
    yield from until(lambda: state() == "playing", 60, "nudging")
    yield from key("Escape")
    yield from until(lambda: state() == "holding", 60, "nudging stopped by ESC")
    assert "stopped" in play.status().message
    bpy.context.scene.robik.playing.speed = 0.2  # else it is over before a slow machine has sent ESC
    assert call(bpy.ops.robik.play_servos) == {"RUNNING_MODAL"}
    yield from until(lambda: state() == "playing", 60, "playing")
    yield 2.0
    picture("08_playing")
    yield from key("Escape")
    yield from until(lambda: state() == "holding", 60, "stopped by ESC")
    assert "stopped" in play.status().message
    assert 0 < play.status().time < play.status().duration
    bpy.context.scene.robik.playing.soften = True  # from wherever the robot was stopped, maybe far from the first frame
    call(bpy.ops.robik.play_servos)
    yield from until(lambda: state() == "playing", 60, "playing")
    call(bpy.ops.robik.pause_servos, on=True)
    yield from until(lambda: state() == "paused", 60, "paused")
    call(bpy.ops.robik.pause_servos, on=False)
    yield from until(lambda: state() == "playing", 60, "going on")
    call(bpy.ops.robik.stop_servos)
    yield from until(lambda: state() == "holding", 60, "stopped by the button")
    yield from follow_live(play)
    call(bpy.ops.robik.stop_servos, emergency=True)
    yield from until(lambda: not play.status().torque, 60, "torque off")
    yield 0.5
    picture("09_off")
    yield from record_by_hand(play)
    call(bpy.ops.robik.disconnect_servos)
    yield 0.5
    assert play.player() is None
    picture("10_end")


def follow_live(play: ModuleType) -> Iterator[float]:
    """The servos follow the timeline, and a slider; ESC ends that."""
    assert call(bpy.ops.robik.live_servos) == {"RUNNING_MODAL"}
    name = play.player().chain.actuators[3]
    for frame in (1, 12):
        bpy.context.scene.frame_set(frame)
        yield from until(lambda: abs(play.real_pose()[name] - root()[name]) < 0.02, 60, f"the servos at frame {frame}")
    picture("08_live")
    yield from key("Escape")
    yield from until(lambda: play.status().state.value == "holding", 60, "live stopped by ESC")


def record_by_hand(play: ModuleType) -> Iterator[float]:
    """A servo without torque is turned by hand meanwhile; Return keys how, after all that is baked."""
    player, scene = play.player(), bpy.context.scene
    servo, shown, began = player.chain.servos[3], scene.frame_current, scene.frame_end + 10
    name, start = servo.actuator, play.real_pose()[servo.actuator]
    scene.frame_set(began)
    assert call(bpy.ops.robik.record_servos) == {"RUNNING_MODAL"}
    yield 0.5
    player.simulator.command(f"place {servo.id} {player.simulator.state()[servo.id]['position'] + 150}")
    yield from until(lambda: abs(play.real_pose()[name] - start) > 0.1, 60, "turned by hand")
    picture("09_recording")
    yield 0.5
    yield from key("Return")
    for frame, value in ((began, start), (began + 100_000, play.real_pose()[name])):
        scene.frame_set(frame)
        assert abs(root()[name] - value) < 0.01, (frame, root()[name], value)
    scene.frame_set(shown)
