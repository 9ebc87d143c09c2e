"""Reachy Mini in Blender: a move with its sound in and out, and played through a daemon."""

from __future__ import annotations

import json
import math
import wave
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import bpy
import numpy as np
import pytest

from tests.blender import installed, scenes
from tests.servo.reachy.stand_in import StandIn

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("empty_scene")]
RATE = 8_000  # samples of sound a second
DEADLINE = 60.0  # [s] for what must happen some time


@pytest.fixture
def daemon() -> Iterator[StandIn]:
    made = StandIn()
    yield made
    play = installed.module("scene.servos.play")
    play.disconnect(play.LEAVING)
    made.end()


def move(folder: Path, name: str, seconds: float, sound: bool = True) -> Path:
    """A move that nods and turns its antennas; a tone beside it."""
    times = np.arange(0.0, seconds + 1e-9, 0.02).tolist()
    samples = []
    for t in times:
        nod = 0.1 * math.sin(3.0 * t)
        head = [[math.cos(nod), 0, math.sin(nod), 0], [0, 1, 0, 0], [-math.sin(nod), 0, math.cos(nod), 0], [0, 0, 0, 1]]
        samples.append({"head": head, "antennas": [0.3 * math.sin(2 * t), -0.3 * math.sin(2 * t)], "body_yaw": 0.0})
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"description": name, "time": times, "set_target_data": samples}))
    if sound:
        with wave.open(str(path.with_suffix(".wav")), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            tone = 9_000 * np.sin(2 * np.pi * 440 / RATE * np.arange(int(RATE * seconds)))
            file.writeframes(tone.astype("<i2").tobytes())
    return path


def strips() -> list:
    return installed.module("scene.bake.sound").strips_of(bpy.context.scene)


def seconds_of(file: Path) -> float:
    with wave.open(str(file)) as opened:
        return opened.getnframes() / opened.getframerate()


@pytest.mark.skipif(not bpy.app.build_options.audaspace, reason="this Blender was built without sound")
def test_a_move_comes_in_and_goes_out_with_its_sound(reachy_mini: Path, tmp_path: Path) -> None:
    scene = bpy.context.scene
    assert bpy.ops.robik.import_gallery_robot(robot="Reachy Mini") == {"FINISHED"}
    scene.frame_start = 11
    nod = move(tmp_path, "nod", 1.0)
    assert bpy.ops.robik.import_motion(filepath=str(nod)) == {"FINISHED"}
    (strip,) = strips()
    assert (strip.frame_final_start, strip.name, strip.mute) == (11, "nod", False)
    assert strip.frame_final_end == pytest.approx(11 + 60, abs=1)  # in its own time at the scene's rate
    assert scene.sync_mode == "AUDIO_SYNC"
    out = tmp_path / "out.json"
    assert bpy.ops.robik.export_motion(filepath=str(out), format="reachy-move") == {"FINISHED"}
    assert out.with_suffix(".wav").read_bytes() == nod.with_suffix(".wav").read_bytes()
    assert bpy.ops.robik.export_motion(filepath=str(tmp_path / "out.csv")) == {"FINISHED"}
    strip.frame_start += 30  # half a second later: no longer as its file is
    assert bpy.ops.robik.export_motion(filepath=str(out), format="reachy-move") == {"FINISHED"}
    mixed = out.with_suffix(".wav")
    assert seconds_of(mixed) == pytest.approx(1.0, abs=0.05)
    with wave.open(str(mixed)) as opened:
        heard = np.frombuffer(opened.readframes(opened.getnframes()), dtype="<i2").reshape(-1, opened.getnchannels())
    loud = np.abs(heard[:, 0]) > 1_000
    assert np.argmax(loud) / len(loud) == pytest.approx(0.5, abs=0.03)
    assert (scene.frame_start, bpy.ops.robik.import_motion(filepath=str(nod))) == (11, {"FINISHED"})
    assert [one.mute for one in strips()] == [False]  # in place of the one before
    assert bpy.ops.robik.import_motion(filepath=str(move(tmp_path, "still", 0.5, sound=False))) == {"FINISHED"}
    assert [one.mute for one in strips()] == [True]
    out.with_suffix(".wav").unlink()
    assert bpy.ops.robik.export_motion(filepath=str(out), format="reachy-move") == {"FINISHED"}
    assert not out.with_suffix(".wav").exists()


@pytest.mark.skipif(bpy.app.build_options.audaspace, reason="needs a Blender that was built without sound")
def test_a_blender_without_sound_takes_the_move(
    reachy_mini: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert bpy.ops.robik.import_gallery_robot(robot="Reachy Mini") == {"FINISHED"}
    assert bpy.ops.robik.import_motion(filepath=str(move(tmp_path, "nod", 0.3))) == {"FINISHED"}
    assert "the sound nod.wav cannot be taken: " in capfd.readouterr().out
    assert strips() == []


@pytest.mark.one_blender
def test_a_move_is_played_through_a_daemon(
    reachy_mini: Path, daemon: StandIn, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = bpy.context.scene
    assert bpy.ops.robik.import_gallery_robot(robot="Reachy Mini") == {"FINISHED"}
    assert bpy.ops.robik.import_motion(filepath=str(move(tmp_path, "nod", 0.6))) == {"FINISHED"}
    assert installed.module("scene.servos.play").has_motion(scene.robik.robot)
    suggested = installed.module("scene.servos.ports").suggested(scene.robik, bpy.context, "")
    assert {"sim", "reachy:localhost:8000"} <= set(suggested)
    scene.robik.port, scene.robik.playing.stall, scene.robik.playing.soften = daemon.port, 3.0, True
    assert bpy.ops.robik.scan_servos() == {"FINISHED"}
    assert "9 servos found" in capfd.readouterr().out
    assert bpy.ops.robik.connect_servos() == {"FINISHED"}
    play = installed.module("scene.servos.play")
    assert (play.status().message, play.status().torque) == ("9 servos found, torque is off", False)
    assert bpy.ops.robik.torque_servos(on=True) == {"FINISHED"}
    assert bpy.ops.robik.play_servos() == {"FINISHED"}
    last = {
        name: scenes.channel(scene.robik.robot, f'["{name}"]', 0, np.array([37.0]))[0]
        for name in play.player().chain.actuators
    }
    there = daemon.state["at"]
    assert there[:7] == pytest.approx(list(last.values())[:7], abs=2e-3)
    assert there[7:] == pytest.approx([-value for value in list(last.values())[7:]], abs=2e-3)
    assert bpy.ops.robik.stop_servos(emergency=True) == {"FINISHED"}
    ends = monotonic() + DEADLINE
    while daemon.state["mode"] != "disabled":
        assert monotonic() < ends
        sleep(0.02)
