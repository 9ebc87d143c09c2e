"""Robots that are moved by hand: recorded into keys, and leading another one; on simulated chains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.servo.simulator.process import SimulatorProcess

from tests.blender import installed, scenes

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("empty_scene", "let_go")]

DEADLINE = 60.0  # [s] for what must happen some time


@pytest.fixture
def let_go(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Servos that bear with a machine that stalls, let go of in the end."""
    play, leader = installed.module("scene.servos.play"), installed.module("scene.servos.leader")
    settings_of = play.settings_of
    monkeypatch.setattr(
        play, "settings_of", lambda scene: replace(settings_of(scene), watchdog=1.5, silence=1.5, heartbeat=3.0)
    )
    yield
    leader.disconnect(play.LEAVING)
    play.disconnect(play.LEAVING)


def _turn_until(condition: Callable[[], object]) -> None:
    """Blender's main loop, which the module has not."""
    play, ends = installed.module("scene.servos.play"), monotonic() + DEADLINE
    while not condition():
        assert monotonic() < ends, play.status()
        play.tick(bpy.context.scene)
        sleep(0.02)


def _hand(simulator: SimulatorProcess, servo, values: Callable[[float], float], seconds: float, take=None) -> None:  # type: ignore[no-untyped-def]
    """A hand moves a servo along values of its actuator."""
    began = monotonic()
    while (at := monotonic() - began) < seconds:
        simulator.command(f"place {servo.id} {round(servo.zero + servo.counts_per_unit * values(at))}")
        if take:
            take()
        sleep(0.01)


def test_a_hand_is_recorded_as_few_keys_and_can_be_played() -> None:
    root = scenes.squats(frames=30)
    play, hand = installed.module("scene.servos.play"), installed.module("scene.servos.hand")
    scene = bpy.context.scene
    bpy.ops.robik.connect_servos()
    player, servo = play.player(), play.player().chain.servos[4]
    name, rate = servo.actuator, scene.render.fps / scene.render.fps_base
    for frame in (1, 50, 5000):
        scene.frame_set(frame)
        assert bpy.ops.robik.key_servos() == {"FINISHED"}
    recorded = hand.Hand()
    _hand(player.simulator, servo, lambda at: 0.3 * np.sin(2.0 * at), 4.0, recorded.take)
    recorded.end()
    motion = recorded.recording.motion()
    seconds, most = hand.key_recording(root, scene, recorded.recording, 10.0)
    assert 3.0 < seconds < 4.2
    frames = 10.0 + motion.times * rate
    keyed = scenes.channel(root, f'["{name}"]', 0, frames)
    column = motion.values[:, motion.actuators.index(name)]
    assert np.abs(column).max() > 0.25
    assert np.abs(keyed - column).max() < np.radians(0.5) + 1e-3
    assert most < 0.3 * len(motion.times)
    assert scenes.channel(root, f'["{name}"]', 0, np.array([1.0, 5000.0])) == pytest.approx([0.0, 0.0], abs=1e-3)
    keys = {round(point.co[0]) for point in _curve(root, name).keyframe_points}
    assert {1, 5000} <= keys
    assert 50 not in keys  # within the recording
    scene.use_preview_range, scene.robik.playing.use_range = True, True
    scene.frame_preview_start, scene.frame_preview_end = 12, int(frames[-1]) - 1
    scene.robik.playing.soften = True
    bpy.ops.robik.torque_servos(on=True)
    assert bpy.ops.robik.play_servos() == {"FINISHED"}
    assert "to the end" in play.status().message


def _curve(root: bpy.types.Object, name: str) -> bpy.types.FCurve:
    return installed.module("scene.animation.actions").curves_of(root)[f'["{name}"]', 0]


def test_poses_only_are_flat_keys_and_a_still_robot_is_no_recording() -> None:
    root = scenes.squats(frames=30)
    play, hand = installed.module("scene.servos.play"), installed.module("scene.servos.hand")
    scene = bpy.context.scene
    bpy.ops.robik.connect_servos()
    player, servo = play.player(), play.player().chain.servos[4]
    recorded = hand.Hand()
    _hand(player.simulator, servo, lambda at: 0.0, 1.0, recorded.take)
    with pytest.raises(Exception, match="nothing was moved while it was recorded"):
        hand.key_recording(root, scene, recorded.recording, 10.0)
    recorded = hand.Hand()
    _hand(player.simulator, servo, lambda at: 0.2 * int(at), 3.0, recorded.take)
    scene.robik.playing.hand_poses = True
    hand.key_recording(root, scene, recorded.recording, 10.0)
    points = _curve(root, servo.actuator).keyframe_points
    assert [point.co[1] for point in points] == pytest.approx([0.0, 0.0, 0.2, 0.2, 0.4, 0.4], abs=2e-3)
    assert [point.handle_left[1] - point.co[1] for point in points] == pytest.approx([0.0] * 6, abs=1e-6)
    bpy.ops.robik.disconnect_servos()
    assert not recorded.take()
    with pytest.raises(Exception, match="no servos are connected"):
        hand.Hand()


@pytest.mark.one_blender
def test_a_second_robot_leads_this_one(tmp_path: Path) -> None:
    root = scenes.squats(frames=30)
    play, leader = installed.module("scene.servos.play"), installed.module("scene.servos.leader")
    scene, playing = bpy.context.scene, bpy.context.scene.robik.playing
    with pytest.raises(RuntimeError, match="no port is named for the leader"):
        bpy.ops.robik.connect_leader()
    playing.leader_port = "sim"
    assert bpy.ops.robik.connect_leader() == {"FINISHED"}
    led, servo = leader.player(), leader.player().chain.servos[4]
    name = servo.actuator
    _turn_until(leader.leads)
    before = {other: root[other] for other in led.chain.actuators if other != name}
    led.simulator.command(f"place {servo.id} {round(servo.zero + 0.2 * servo.counts_per_unit)}")
    _turn_until(lambda: root[name] == pytest.approx(0.2, abs=2e-3))  # without servos of its own: a puppet
    assert {other: root[other] for other in before} == pytest.approx(before, abs=2e-3)
    bpy.ops.robik.connect_servos()
    bpy.ops.robik.torque_servos(on=True)
    assert play.real_pose()[name] == pytest.approx(0.0, abs=0.01)  # nothing moves before Live
    assert bpy.ops.robik.live_servos() == {"FINISHED"}
    _turn_until(lambda: play.real_pose()[name] == pytest.approx(0.2, abs=0.01))
    with pytest.raises(RuntimeError, match="the servos are live; stop them first"):
        bpy.ops.robik.connect_leader()
    led.simulator.command(f"silent {servo.id}")
    _turn_until(lambda: not leader.leads())
    root[name] = -0.3  # by whatever else: nobody leads, so that nobody follows
    for _ in range(20):
        play.tick(scene)
        sleep(0.02)
    assert play.real_pose()[name] == pytest.approx(0.2, abs=0.01)
    assert bpy.ops.robik.stop_servos() == {"FINISHED"}
    _turn_until(lambda: play.status().state.value == "holding")
    hand = installed.module("scene.servos.hand")
    assert hand.Hand()._source is led
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert leader.player() is None
    with pytest.raises(RuntimeError, match="no robot leads"):
        bpy.ops.robik.disconnect_leader()


@pytest.mark.one_blender
def test_a_leaders_port_is_its_own_by_any_name(tmp_path: Path) -> None:
    scenes.squats(frames=30)
    scene, servos = bpy.context.scene, str(tmp_path / "a.servos.json")
    leader = installed.module("scene.servos.leader")
    bpy.ops.robik.save_servos(filepath=servos)
    with SimulatorProcess(servos) as simulator:
        (tmp_path / "by-id").symlink_to(simulator.port)
        scene.robik.playing.leader_port, scene.robik.port = str(tmp_path / "by-id"), simulator.port
        assert bpy.ops.robik.connect_leader() == {"FINISHED"}
        _turn_until(leader.leads)
        with pytest.raises(RuntimeError, match="leader and follower are both on"):
            bpy.ops.robik.connect_servos()
        with pytest.raises(RuntimeError, match="the leader is connected on this port; disconnect it first"):
            bpy.ops.robik.scan_servos()
        assert bpy.ops.robik.disconnect_leader() == {"FINISHED"}
        assert bpy.ops.robik.scan_servos() == {"FINISHED"}
