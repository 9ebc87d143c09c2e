"""Shows of two robots by one clock with a sound, and what keeps them from moving, through real pseudo-terminals."""

from __future__ import annotations

import os
import re
import sys

import numpy as np
import pytest

from robik.errors import RobikError, ServoError
from robik.servo.port.status import PlaySettings
from robik.show import sound
from robik.show.command import Asked, show

from .conftest import until
from .terminal import running
from .two_robots import (  # noqa: F401  (fixtures)
    FAST,
    RAMP,
    SETTINGS,
    SPEED,
    START,
    Heard,
    Stage,
    new_stage,
    serve_robots,
    song,
)

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]


def test_two_robots_and_a_sound_by_the_clock_of_the_device(stage, monkeypatch, capsys) -> None:
    device = Heard()
    monkeypatch.setattr(sound, "default_device", lambda: device)
    acts = [{"start": 1.0, "motions": {"ann": "ramp.csv", "bob": "ramp.csv"}}]
    assert show(stage.write(acts=acts, sound=song(stage.folder, 10.0)), Asked(), SETTINGS) == 0
    begin, away = device.begin(), {}
    for name, robot in stage.robots.items():
        times, values = robot.goals()
        after = (times > begin + 1.5) & (times < begin + RAMP + 0.8)
        away[name] = times[after] - begin - 1.0 - (values[after] - START) / SPEED
        assert len(away[name]) > 300
        assert abs(np.median(away[name])) < 0.01
        assert robot.torque == {1.0}
    assert abs(np.median(away["ann"]) - np.median(away["bob"])) < 0.005
    printed = capsys.readouterr().out
    assert len(re.findall(r"(ann|bob): played to the end, holding .* ms off the show's clock at worst", printed)) == 2
    assert times[-1] - begin == pytest.approx(10.0, abs=0.3)  # they stand until the sound is over


def test_without_a_sound_device_one_sentence_and_the_computers_clock(stage, monkeypatch, capfd) -> None:
    miniaudio = pytest.importorskip("miniaudio")
    device = miniaudio.PlaybackDevice
    nowhere = [miniaudio.Backend.WASAPI if sys.platform != "win32" else miniaudio.Backend.ALSA]
    monkeypatch.setattr(miniaudio, "PlaybackDevice", lambda **how: device(**how, backends=nowhere))
    acts = [{"motions": {"ann": "bow.csv", "bob": "bow.csv"}}]
    assert show(stage.write(acts=acts, sound=song(stage.folder, 1.0)), Asked(), SETTINGS) == 0
    warned = capfd.readouterr().err.splitlines()
    assert len(warned) == 1
    assert re.match(
        r"warning: there is no sound device \(.*\); the show plays without sound, by this computer", warned[0]
    )


def test_without_the_package_one_sentence_and_all_of_the_motions(stage, monkeypatch, capfd) -> None:
    monkeypatch.setitem(sys.modules, "miniaudio", None)
    acts = [{"motions": {"ann": "bow.csv"}}, {"motions": {"ann": "bow.csv", "bob": "bow.csv"}}]
    assert show(stage.write(acts=acts, sound=song(stage.folder, 1.0)), Asked(), SETTINGS) == 0
    warned = capfd.readouterr().err
    assert warned.count("warning") == 1
    assert "needs the extra 'sound': pip install '.[sound]' in a checkout; the show plays without sound" in warned
    starts = []
    for robot in stage.robots.values():
        times, values = robot.goals()
        there = int(np.argmin(values))
        assert values[there:].max() == pytest.approx(START + 0.4, abs=2e-3)
        starts.append(times[there + int(np.argmax(values[there:] > START + 0.2))])
    assert starts[1] - starts[0] == pytest.approx(2.0, abs=0.2)  # bob waits for the second act


def untouched(stage: Stage) -> bool:
    return all(robot.torque == {0.0} and not len(robot.goals()[0]) for robot in stage.robots.values())


def test_a_robot_that_is_not_there_keeps_all_from_moving(stage) -> None:
    path = stage.write(ports={"bob": "/dev/ttyNOWHERE"})
    with pytest.raises(ServoError, match="bob: port /dev/ttyNOWHERE cannot be opened"):
        show(path, Asked(), SETTINGS)
    assert untouched(stage)


def test_a_motion_that_one_robot_cannot_do_keeps_all_from_moving(stage) -> None:
    times = np.array([0.0, 0.5, 0.6, 1.0])
    stage.save("jump", times, np.array([0.0, 0.0, 1.5, 1.5]))
    path = stage.write(acts=[{"motions": {"ann": "ramp.csv", "bob": "jump.csv"}}])
    with pytest.raises(ServoError, match=r"bob: a: .* per second at .* is above its limit"):
        show(path, Asked(), SETTINGS)
    assert untouched(stage)


def test_a_robot_far_from_its_first_frame_keeps_all_from_moving(stage) -> None:
    with pytest.raises(
        ServoError, match=r"ann: .*the robot stands far from the first frame.*torque is as it was found|ann: .*far from"
    ):
        show(stage.write(), Asked(), PlaySettings(approach_speed=0.1))
    assert untouched(stage)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"acts": [{"motions": {"ann": "no.csv", "bob": "ramp.csv"}}]}, r"ann: .*no\.csv"),
        ({"sound": "no.wav"}, r"no\.wav: there is no such sound file"),
        ({"ports": {"ann": "/dev/x", "bob": "/dev/x"}}, "ann and bob are both on /dev/x"),
    ],
)
def test_files_and_ports_that_are_wrong(stage, change, sentence) -> None:
    with pytest.raises(RobikError, match=sentence):
        show(stage.write(**change), Asked(), SETTINGS)
    assert untouched(stage)


def test_a_check_prints_the_timeline_and_opens_no_port(stage, capsys) -> None:
    acts = [{"motions": {"ann": "bow.csv"}}, {"start": 4.0, "motions": {"bob": {"motion": "bow.csv", "repeat": 2}}}]
    path = stage.write(ports={"ann": "/dev/x", "bob": "/dev/y"}, acts=acts, others="go on")
    assert show(path, Asked(is_check=True), SETTINGS) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["ann: 3 servos on /dev/x", "bob: 3 servos on /dev/y"]
    assert lines[2] == "    0.00 to     2.00 s  act 1: ann bow.csv"
    assert lines[3] == "    4.00 to     8.00 s  act 2: bob bow.csv × 2"
    assert lines[4] == "8.00 s in all; if a robot fails, the others go on"


def test_torque_is_off_in_the_end_where_that_is_asked(stage) -> None:
    acts = [{"motions": {"ann": "bow.csv"}}, {"motions": {"bob": "bow.csv"}}]
    with running("show", stage.write(acts=acts), *FAST, "--torque", "off") as terminal:
        until(lambda: len(stage.robots["bob"].goals()[0]) > 500)
        assert stage.robots["ann"].torque == {1.0}  # it has played its part, and stands until the end
        code, printed = terminal.end()
    assert code == 0, printed
    assert all(robot.torque == {0.0} for robot in stage.robots.values())
