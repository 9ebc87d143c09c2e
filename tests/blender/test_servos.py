"""A baked motion on the simulated chain, by the operators."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import bpy
import numpy as np
import pytest
from bl_ext.user_default.robik.robik.servo.chain.file import chain_text
from bl_ext.user_default.robik.robik.servo.port.status import PlayState
from bl_ext.user_default.robik.robik.servo.simulator.process import SimulatorProcess

from tests.blender import installed, scenes

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("empty_scene", "let_go")]


DEADLINE = 60.0  # [s] for what must happen some time


@pytest.fixture
def let_go(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Servos that bear with a machine that stalls, let go of in the end."""
    play = installed.module("scene.servos.play")
    settings_of = play.settings_of
    monkeypatch.setattr(
        play, "settings_of", lambda scene: replace(settings_of(scene), watchdog=1.5, silence=1.5, heartbeat=3.0)
    )
    yield
    play.disconnect(play.LEAVING)


def test_plays_on_the_simulated_chain() -> None:
    root = scenes.squats(frames=30)
    play = installed.module("scene.servos.play")
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert bpy.ops.robik.preflight() == {"FINISHED"}
    assert bpy.ops.robik.connect_servos() == {"FINISHED"}
    assert not play.status().torque
    with pytest.raises(RuntimeError, match="turn torque on first"):
        bpy.ops.robik.play_servos()
    assert bpy.ops.robik.torque_servos(on=True) == {"FINISHED"}
    assert bpy.ops.robik.play_servos() == {"FINISHED"}
    status = play.status()
    assert status.duration == pytest.approx(29 / 60)
    assert status.sent + status.dropped == 50  # at 100 Hz, both ends
    chain = installed.module("scene.robot.chain").servo_chain(root, scenes.read(root), bpy.context.scene)
    last = np.array([scenes.channel(root, f'["{name}"]', 0, np.array([30.0]))[0] for name in chain.actuators])
    arrived = play.player().simulator.state()
    goals = np.array([arrived[id]["goal_position"] for id in chain.ids])
    assert np.abs(goals - chain.counts(last)).max() <= 1
    assert bpy.ops.robik.disconnect_servos() == {"FINISHED"}


@pytest.mark.one_blender
def test_telemetry_is_recorded_and_drawn(tmp_path: Path) -> None:
    scenes.squats(frames=30)
    with pytest.raises(RuntimeError, match="name a file under Telemetry"):
        bpy.ops.robik.report_telemetry()
    bpy.context.scene.robik.playing.record = str(tmp_path / "walk.csv")
    bpy.ops.robik.bake()
    bpy.ops.robik.connect_servos()
    bpy.ops.robik.torque_servos(on=True)
    bpy.ops.robik.play_servos()
    assert bpy.ops.robik.report_telemetry() == {"FINISHED"}
    assert (tmp_path / "walk.html").read_text(encoding="utf-8").count("<polyline") == 3 * 12


@pytest.mark.one_blender
def test_a_stall_of_blender_ends_in_a_planned_stop_and_a_fault_leaves_the_servos_within_reach() -> None:
    root = scenes.squats(frames=400)
    play = installed.module("scene.servos.play")
    bpy.ops.robik.bake()
    bpy.ops.robik.connect_servos()
    bpy.ops.robik.torque_servos(on=True)
    player, state = play.player(), type(play.status().state)
    motion = play.motion_to_play(root, scenes.read(root), bpy.context.scene, player.chain)[0]
    player.play(motion)
    _wait_for(state.HOLDING)  # nobody beats
    assert play.status().message == "not heard of for 3 s: stopped, holding; play again to go on"
    assert play.status().torque
    stopped_at = play.status().stopped_at
    assert stopped_at > 1.0
    assert play.check(motion, player.chain, bpy.context.scene).problems == ()
    player.play(motion)  # on from there
    _wait_for(state.PLAYING)
    assert play.status().time >= stopped_at
    player.simulator.command("reboot 3")
    _wait_for(state.FAULT)
    assert play.is_open()
    assert bpy.ops.robik.torque_servos(on=True) == {"FINISHED"}
    assert play.status().state is state.HOLDING
    player.play(motion, from_afar=True)
    assert bpy.ops.robik.stop_servos(emergency=True) == {"FINISHED"}
    _wait_for(state.READY)
    assert not any(servo["torque_enable"] for servo in player.simulator.state().values())


def _turn(seconds: float) -> None:
    """Blender's main loop, which the module has not."""
    play, ends = installed.module("scene.servos.play"), monotonic() + seconds
    while monotonic() < ends:
        play.tick(bpy.context.scene)
        sleep(0.02)


def _turn_until(condition: Callable[[], object]) -> None:
    ends = monotonic() + DEADLINE
    while not condition():
        assert monotonic() < ends, installed.module("scene.servos.play").status()
        _turn(0.02)


def test_live_follows_sliders_and_the_timeline_and_stops_without_them() -> None:
    root = scenes.squats(frames=30)
    play = installed.module("scene.servos.play")
    bpy.ops.robik.connect_servos()
    bpy.ops.robik.torque_servos(on=True)
    chain, state = play.player().chain, type(play.status().state)
    name = chain.actuators[3]
    root[name] = 0.2
    assert bpy.ops.robik.live_servos() == {"FINISHED"}
    _turn_until(lambda: play.real_pose()[name] == pytest.approx(0.2, abs=0.01))
    assert play.status().state is state.LIVE
    play.hold(False)
    _turn(0.3)
    root[name] = 0.4
    _turn(0.3)
    assert play.real_pose()[name] == pytest.approx(0.2, abs=0.01)
    play.hold(True)
    bpy.data.objects.remove(root)
    _turn(0.3)
    assert play.real_pose()[name] == pytest.approx(0.2, abs=0.01)
    assert bpy.ops.robik.stop_servos() == {"FINISHED"}
    _wait_for(state.HOLDING)


def test_the_real_pose_moves_the_sliders_and_is_keyed() -> None:
    root = scenes.squats(frames=30)
    play = installed.module("scene.servos.play")
    bpy.ops.robik.connect_servos()
    chain, simulator = play.player().chain, play.player().simulator
    name = chain.actuators[4]
    simulator.command(f"place {chain.ids[4]} {chain.servos[4].zero + 200}")
    value = 200 / chain.servos[4].counts_per_unit
    bpy.context.scene.robik.playing.mirror = True
    _turn_until(lambda: root[name] == pytest.approx(value, abs=1e-3))
    assert installed.module("scene.robot.sliders").shown(root, name, play.status().present[4]) == "18°"
    bpy.context.scene.frame_set(7)
    assert bpy.ops.robik.key_servos() == {"FINISHED"}
    assert scenes.channel(root, f'["{name}"]', 0, np.array([7.0]))[0] == pytest.approx(value, abs=1e-3)


def test_the_ghost_stands_where_the_real_robot_is() -> None:
    root = scenes.squats(frames=30)
    play, ghost = installed.module("scene.servos.play"), installed.module("scene.overlay.ghost")
    bpy.ops.robik.connect_servos()
    chain, simulator = play.player().chain, play.player().simulator
    _turn(0.1)
    assert ghost.places() == []  # it stands where the sliders are
    before = {name: root[name] for name in chain.actuators}
    simulator.command(f"place {chain.ids[4]} {chain.servos[4].zero + 200}")
    _turn_until(ghost.places)
    there = [np.array(matrix) for matrix in ghost.places()]
    assert {name: root[name] for name in chain.actuators} == before
    bpy.context.scene.robik.playing.mirror = True  # now the robot itself goes there
    _turn_until(lambda: ghost.places() == [])
    bpy.context.view_layer.update()
    bodies = installed.module("scene.robot.parts").bodies(root)
    assert len(there) == len(bodies)
    assert (
        np.abs([np.array(body.matrix_world) - matrix for body, matrix in zip(bodies, there, strict=True)]).max() < 1e-5
    )
    bpy.context.scene.robik.playing.mirror = False
    root[chain.actuators[4]] = 0.0
    _turn(0.1)
    assert ghost.places()
    bpy.context.scene.robik.playing.ghost = False
    _turn(0.1)
    assert ghost.places() == []


def test_curves_that_were_edited_are_played_as_they_bend() -> None:
    root = scenes.squats(frames=30)
    play, scene, mechanism = installed.module("scene.servos.play"), bpy.context.scene, scenes.read(root)
    for frame, value in ((1, 0.0), (30, 0.3)):
        for name in mechanism.actuators:
            root[name] = value
            root.keyframe_insert(f'["{name}"]', frame=frame)  # eased, as Blender does by itself
    scene.robik.playing.rate = 250
    motion, _ = play.motion_to_play(
        root, mechanism, scene, installed.module("scene.robot.chain").servo_chain(root, mechanism, scene)
    )
    assert np.diff(motion.times)[:-1] == pytest.approx(0.004)
    frames = 1 + motion.times * scene.render.fps
    curve = scenes.channel(root, f'["{mechanism.actuators[0]}"]', 0, frames)
    assert motion.values[:, 0] == pytest.approx(curve, abs=1e-6)
    assert np.abs(curve - np.interp(frames, [1, 30], [0.0, 0.3])).max() > 0.01


@pytest.mark.one_blender
def test_what_the_motors_cannot_do_is_refused_or_softened() -> None:
    root = scenes.squats(frames=30)
    play, scene = installed.module("scene.servos.play"), bpy.context.scene
    assert bpy.ops.robik.bake() == {"FINISHED"}
    scene.robik.playing.speed = 4.0
    chain = installed.module("scene.robot.chain").servo_chain(root, scenes.read(root), scene)
    slow = replace(
        chain, servos=tuple(replace(servo, velocity_limit=0.5, acceleration_limit=5.0) for servo in chain.servos)
    )
    motion, said = play.motion_to_play(root, scenes.read(root), scene, slow)
    assert said == ""
    assert play.check(motion, slow, scene).problems
    scene.robik.playing.soften = True
    motion, said = play.motion_to_play(root, scenes.read(root), scene, slow)
    assert "softened: " in said
    assert play.check(motion, slow, scene).problems == ()
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 5, 10
    scene.robik.playing.use_range, scene.robik.playing.soften = True, False
    motion, _ = play.motion_to_play(root, scenes.read(root), scene, chain)
    assert motion.times[-1] == pytest.approx(5 / 60)


@pytest.mark.parametrize("soften", [False, True])
def test_who_plays_is_told_which_motor_has_no_servo(soften: bool, capfd: pytest.CaptureFixture[str]) -> None:
    root, scene = scenes.squats(frames=30), bpy.context.scene
    chain = installed.module("scene.robot.chain").servo_chain(root, scenes.read(root), scene)
    scene.robik.playing.chain = chain_text(replace(chain, servos=chain.servos[1:]))
    scene.robik.playing.soften = soften
    bpy.ops.robik.bake()
    bpy.ops.robik.connect_servos()
    bpy.ops.robik.torque_servos(on=True)
    capfd.readouterr()
    assert bpy.ops.robik.play_servos() == {"FINISHED"}
    assert f"{chain.actuators[0]} has no servo and is left out" in capfd.readouterr().out


def test_a_servo_that_does_not_answer_is_refused_unless_it_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    root, scene, play = scenes.squats(frames=10), bpy.context.scene, installed.module("scene.servos.play")
    chain = installed.module("scene.robot.chain").servo_chain(root, scenes.read(root), scene)
    with SimulatorProcess.of(chain) as simulator:
        simulator.command("silent 3")
        scene.robik.port = simulator.port
        with pytest.raises(RuntimeError, match=rf"servo 3 \({chain.actuators[2]}\) does not answer"):
            bpy.ops.robik.connect_servos()
        scene.robik.playing.without = "third"
        with pytest.raises(RuntimeError, match="Play Without takes ids of servos, such as 3, 7, not 'third'"):
            bpy.ops.robik.connect_servos()
        scene.robik.playing.without = "3"
        assert bpy.ops.robik.connect_servos() == {"FINISHED"}
        assert f"Warning: Servos: played without servo 3 ({chain.actuators[2]}), as asked" in capfd.readouterr().out
        assert set(play.real_pose()) == {*chain.actuators} - {chain.actuators[2]}
        play.disconnect(play.LEAVING)


def _wait_for(state: str) -> None:
    """Without a heartbeat."""
    play, ends = installed.module("scene.servos.play"), monotonic() + DEADLINE
    while play.status().state is not state:
        assert monotonic() < ends, play.status()
        sleep(0.05)


def test_without_servos_it_says_so() -> None:
    scenes.squats()
    for operator in (
        bpy.ops.robik.play_servos,
        bpy.ops.robik.stop_servos,
        bpy.ops.robik.torque_servos,
        bpy.ops.robik.disconnect_servos,
    ):
        with pytest.raises(RuntimeError, match="no servos are connected"):
            operator()


@pytest.mark.parametrize(("port", "says"), [("/dev/no-such-port", "/dev/no-such-port"), ("  ", "no port is named")])
def test_port_that_is_not_there_is_named(port: str, says: str) -> None:
    scenes.squats()
    bpy.context.scene.robik.port = port
    with pytest.raises(RuntimeError, match=says):
        bpy.ops.robik.connect_servos()


def test_broken_chain_file_is_named(tmp_path: Path) -> None:
    scenes.squats()
    path = tmp_path / "odd.servos.json"
    path.write_text(json.dumps({"format": "something"}), encoding="utf-8")
    bpy.context.scene.robik.servos = str(path)
    with pytest.raises(RuntimeError, match=r"odd\.servos\.json"):
        bpy.ops.robik.connect_servos()


def test_opening_a_file_stops_the_servos_without_waiting_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    root = scenes.squats()
    bpy.ops.robik.bake()
    play, mechanism, scene = installed.module("scene.servos.play"), scenes.read(root), bpy.context.scene
    chain = installed.module("scene.robot.chain").servo_chain(root, mechanism, scene)
    with SimulatorProcess.of(chain) as simulator:
        player = play.connect(chain, simulator.port, replace(play.settings_of(scene), stop_time=2.0))
        player.wait(PlayState.READY)
        player.torque(True)
        player.wait(PlayState.HOLDING)
        player.play(play.motion_to_play(root, mechanism, scene, chain)[0], loop=True, from_afar=True)
        player.wait(PlayState.PLAYING)
        bpy.ops.wm.read_homefile(use_empty=True)
        assert player.is_open, "it takes two seconds to come to a stand"
        assert play.player() is None
        assert player.wait(PlayState.CLOSED).torque
        assert all(servo["velocity"] == 0 for servo in simulator.state().values())


@pytest.mark.one_blender
def test_torque_is_told_and_can_be_cut_after_disconnecting_and_after_opening_a_file() -> None:
    root, scene, play = scenes.squats(frames=10), bpy.context.scene, installed.module("scene.servos.play")
    chain = installed.module("scene.robot.chain").servo_chain(root, scenes.read(root), scene)
    with SimulatorProcess.of(chain) as simulator:
        scene.robik.port = simulator.port
        bpy.ops.robik.connect_servos()
        bpy.ops.robik.torque_servos(on=True)
        bpy.ops.robik.disconnect_servos()
        bpy.ops.wm.read_homefile(use_empty=True)
        assert play.status().message == "port closed, torque is on"
        assert play.may_have_torque()
        assert all(servo["torque_enable"] for servo in simulator.state().values())
        assert bpy.ops.robik.stop_servos(emergency=True) == {"FINISHED"}
        ends = monotonic() + DEADLINE
        while play.may_have_torque():
            assert monotonic() < ends, play.status()
            sleep(0.05)
        assert play.status().message == "port closed, torque is off"
        assert not any(servo["torque_enable"] for servo in simulator.state().values())


def test_disabling_the_add_on_stops_the_servos_and_enabling_it_finds_them_again() -> None:
    root = scenes.squats()
    bpy.ops.robik.bake()
    play, mechanism, scene = installed.module("scene.servos.play"), scenes.read(root), bpy.context.scene
    chain = installed.module("scene.robot.chain").servo_chain(root, mechanism, scene)
    with SimulatorProcess.of(chain) as simulator:
        scene.robik.port = simulator.port
        bpy.ops.robik.connect_servos()
        bpy.ops.robik.torque_servos(on=True)
        player = play.player()
        player.play(play.motion_to_play(root, mechanism, scene, chain)[0], loop=True, from_afar=True)
        player.wait(PlayState.PLAYING)
        try:
            assert bpy.ops.preferences.addon_disable(module=installed.PACKAGE) == {"FINISHED"}
            assert not player.is_open
            assert (player.status.state, player.status.torque) == (PlayState.CLOSED, True)
            state = simulator.state()
            assert all(servo["torque_enable"] and servo["velocity"] == 0 for servo in state.values())
            assert not any(servo["bus_watchdog"] for servo in state.values()), "a soft stop, not the watchdog's"
            assert play.player() is None
        finally:
            assert bpy.ops.preferences.addon_enable(module=installed.PACKAGE) == {"FINISHED"}
        play = installed.module("scene.servos.play")
        assert bpy.ops.robik.connect_servos() == {"FINISHED"}
        assert play.status().state.value == "holding"
        assert bpy.ops.robik.play_servos() == {"FINISHED"}
        play.disconnect(play.LEAVING)


@pytest.mark.one_blender
def test_who_disconnects_does_not_wait_and_the_next_one_gets_the_port(monkeypatch: pytest.MonkeyPatch) -> None:
    root = scenes.squats()
    bpy.ops.robik.bake()
    play, mechanism, scene = installed.module("scene.servos.play"), scenes.read(root), bpy.context.scene
    chain = installed.module("scene.robot.chain").servo_chain(root, mechanism, scene)
    settings = replace(play.settings_of(scene), stop_time=2.0)
    with SimulatorProcess.of(chain) as simulator:
        first = play.connect(chain, simulator.port, settings)
        first.wait(PlayState.READY)
        first.torque(True)
        first.wait(PlayState.HOLDING)
        first.play(play.motion_to_play(root, mechanism, scene, chain)[0], loop=True, from_afar=True)
        first.wait(PlayState.PLAYING)
        play.disconnect()
        assert first.is_open, "it takes two seconds to come to a stand"
        assert play.player() is None
        second = play.connect(chain, simulator.port, settings)
        assert second.wait(PlayState.HOLDING).torque
        assert not first.is_open
        assert all(servo["velocity"] == 0 for servo in simulator.state().values())
        play.disconnect(play.LEAVING)


def test_a_bake_tells_the_servos_that_blender_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while it writes, which is one long step: each body's curves are a beat."""
    root = scenes.squats(frames=10)
    alive, beats = installed.module("scene.long_work.heartbeat"), []
    alive.tell(lambda: beats.append(1))
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert len(beats) > len(installed.module("scene.robot.parts").bodies(root))
    bpy.ops.robik.connect_servos()
    beats.clear()
    installed.module("scene.servos.play").disconnect()
    alive.beat()
    assert beats == []


@pytest.mark.one_blender
def test_a_start_far_away_is_refused_or_asked_for() -> None:
    scenes.squats(frames=10)
    play = installed.module("scene.servos.play")
    bpy.ops.robik.bake()
    bpy.ops.robik.connect_servos()
    player = play.player()
    player.simulator.command(f"place {player.chain.ids[0]} {player.chain.servos[0].zero + 400}")
    bpy.ops.robik.torque_servos(on=True)
    with pytest.raises(RuntimeError, match="far from the first frame, hip_yaw_l by 0"):
        bpy.ops.robik.play_servos()
    bpy.context.scene.robik.playing.soften = True
    assert bpy.ops.robik.play_servos() == {"FINISHED"}
    assert "to the end" in play.status().message


@pytest.mark.one_blender
def test_goals_carry_the_weight_by_the_servos_own_gains() -> None:
    """As physics makes them, for the gains that are read back; what physics was asked about is held against them."""
    root = scenes.squats(frames=30)
    play, physics = installed.module("scene.servos.play"), root.robik.robot.physics
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert bpy.ops.robik.connect_servos() == {"FINISHED"}
    _turn_until(lambda: play.player().status.p_gains)
    mechanism, scene, player = scenes.read(root), bpy.context.scene, play.player()
    assert set(player.status.p_gains.values()) == {900.0}
    bake, said = play.motion_to_play(root, mechanism, scene, player.chain)
    assert said == ""
    physics.carry_weight, physics.p_gain = True, 8000
    goals, said = play.motion_to_play(root, mechanism, scene, player.chain)
    assert said.startswith("the servos' P gain is 900, not 8000 as in physics")
    drives = installed.module("robik.physics.motors").chain_drives(player.chain, mechanism, 900.0)
    plan = installed.module("robik.physics.plan").planned(mechanism, bake, drives, carry=True)
    knee, ours = mechanism.actuators.index("knee_l"), goals.actuators.index("knee_l")
    middle = len(plan.goals) // 2
    assert abs(plan.goals[middle, knee] - bake.values[len(bake.times) // 2, knee]) > 0.02
    aimed = np.interp(plan.reference.times[middle], goals.times, goals.values[:, ours])
    assert aimed == pytest.approx(plan.goals[middle, knee], abs=5e-3)
    physics.carry_weight = False
    assert bpy.ops.robik.disconnect_servos() == {"FINISHED"}


@pytest.mark.one_blender
def test_live_carries_the_weight_of_the_present_pose() -> None:
    """From the sliders' pose alone, by the gains that are read back; off by default."""
    root = scenes.squats(frames=30)
    play, physics = installed.module("scene.servos.play"), root.robik.robot.physics
    assert bpy.ops.robik.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(15)
    bpy.ops.robik.connect_servos()
    _turn_until(lambda: play.player().status.p_gains)
    bpy.ops.robik.torque_servos(on=True)
    knee, aimed = root["knee_l"], []
    aim = play.player().aim
    play.player().aim = lambda values: (aimed.append(values), aim(values))
    for carry, apart in ((False, 0.0), (True, 0.02)):
        physics.carry_weight = carry
        assert bpy.ops.robik.live_servos() == {"FINISHED"}
        _turn_until(lambda: play.status().state.value == "live" and aimed and aimed[-1])
        _turn(0.2)
        goal = aimed[-1]["knee_l"]
        assert abs(goal - knee) > apart if carry else goal == knee
        assert bpy.ops.robik.stop_servos() == {"FINISHED"}
        _wait_for(type(play.status().state).HOLDING)
    assert bpy.ops.robik.disconnect_servos() == {"FINISHED"}


@pytest.mark.one_blender
def test_tilt_feedback_needs_an_imu_and_plays_with_one(tmp_path: Path) -> None:
    """A lean that the simulated sensor reports goes to ankles and hips; without a sensor nothing is played."""
    root = scenes.squats(frames=30)
    scene, play = bpy.context.scene, installed.module("scene.servos.play")
    assert bpy.ops.robik.bake() == {"FINISHED"}
    mount = installed.module("robik.servo.imu.mount").ImuMount
    chain = installed.module("scene.robot.chain").servo_chain(root, scenes.read(root), scene)
    root.robik.robot.physics.tilt_feedback = True
    bpy.ops.robik.connect_servos()
    bpy.ops.robik.torque_servos(on=True)
    with pytest.raises(RuntimeError, match="Tilt Feedback needs an IMU"):
        bpy.ops.robik.play_servos()
    bpy.ops.robik.disconnect_servos()
    file = tmp_path / "imu.servos.json"
    installed.module("robik.servo.chain.file").save_chain(replace(chain, imu=mount("simulated")), file)
    scene.robik.servos, scene.robik.playing.speed = str(file), 0.2
    scene.robik.playing.soften = True
    bpy.ops.robik.connect_servos()
    bpy.ops.robik.torque_servos(on=True)
    player, mechanism = play.player(), scenes.read(root)
    motion, _ = play.motion_to_play(root, mechanism, scene, player.chain)
    tilt = play.tilt_to_play(root, mechanism, scene, player.chain)
    player.play(motion, speed=0.2, from_afar=True, tilt=tilt)
    _turn_until(lambda: play.status().state.value == "playing")
    player.simulator.command("imu tilt 0 4")
    _turn_until(lambda: "leans 4." in play.status().righting or "leans 3." in play.status().righting)
    assert bpy.ops.robik.stop_servos() == {"FINISHED"}
    _wait_for(type(play.status().state).HOLDING)
    assert bpy.ops.robik.disconnect_servos() == {"FINISHED"}
