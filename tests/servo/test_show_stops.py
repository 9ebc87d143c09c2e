"""Shows of two robots: pauses, other acts, and whatever stops them, through real pseudo-terminals."""

from __future__ import annotations

import os
import re
import signal
import socket
import time

import numpy as np
import pytest

from robik.servo.port.outside import ask_to_stop

from .conftest import until
from .terminal import running
from .two_robots import END, FAST, SPEED, START, new_stage, play_in_terminal, serve_robots  # noqa: F401  (fixtures)

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals"),
]

BOTH = {"ann": "ramp.csv", "bob": "ramp.csv"}
BOW = {"ann": "bow.csv", "bob": "bow.csv"}


def test_a_pause_stands_and_goes_on_together(stage, playing) -> None:
    playing.press(" ")
    until(lambda: all(np.ptp(robot.goals()[1][-30:]) == 0.0 for robot in stage.robots.values()))
    paused = [robot.goals()[1][-1] for robot in stage.robots.values()]
    assert max(paused) < END - 0.5
    assert abs(paused[0] - paused[1]) < 0.05 * SPEED
    time.sleep(3.0)
    assert [robot.goals()[1][-1] for robot in stage.robots.values()] == paused
    playing.press(" ")
    until(lambda: all(robot.goals()[1][-1] > at + 0.2 for robot, at in zip(stage.robots.values(), paused, strict=True)))
    code, printed = playing.end()
    assert code == 0, printed
    worst = [float(found) for found in re.findall(r"([\d.]+) ms off the show's clock at worst", printed)]
    assert len(worst) == 2
    assert max(worst) < 200.0, "what the pause took does not count"
    starts = []
    for robot, at in zip(stage.robots.values(), paused, strict=True):
        times, values = robot.goals()
        assert values[-1] == pytest.approx(END, abs=0.01)
        assert np.abs(np.diff(values)).max() < 0.1 * SPEED
        starts.append(times[np.argmax(values > at + 0.2)])
    assert abs(starts[0] - starts[1]) < 0.05


@pytest.mark.parametrize("by", ["key", "message"])
def test_another_act_is_begun_from_a_stand_and_the_show_goes_on_from_there(stage, by) -> None:
    acts = [{"motions": BOTH}, {"name": "bow", "motions": BOW}, {"name": "last", "motions": {"ann": "bow.csv"}}]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as desk:
        desk.bind(("127.0.0.1", 0))
        port = desk.getsockname()[1]  # free for a moment
    with running("show", stage.write(acts=acts), *FAST, "--osc", port) as terminal:
        stage.until_playing()
        if by == "key":
            terminal.press("n")
        else:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as desk:
                for packet in (
                    b"\0\1",
                    b"/robik/act\0\0,s\0\0who\0",
                    b"/robik/no\0\0\0",
                    b"/robik/next\0,f\0\0\0\0\0\0",
                ):
                    desk.sendto(packet, ("127.0.0.1", port))
                time.sleep(0.5)
                assert all(robot.is_playing for robot in stage.robots.values())
                desk.sendto(b"/robik/act\0\0,s\0\0bow\0", ("127.0.0.1", port))
        code, printed = terminal.end()
    assert code == 0, printed
    bows = {}
    for name, robot in stage.robots.items():
        values = robot.goals()[1]
        assert values.max() < END - 0.3
        assert np.abs(np.diff(values)).max() < 3.0 * 0.05
        below = values < START + 0.2
        bows[name] = int((np.diff(below.astype(int)) == 1).sum()) - 2  # it came to the start, back there, and from bows
        assert values[-1] == pytest.approx(START, abs=0.01)
        assert robot.torque == {1.0}
    assert bows == {"ann": 2, "bob": 1}
    if by == "message":
        assert "warning: there is no act 'who'; there are 1, bow, last" in printed
        assert "warning: OSC: /robik/no is not known; there are /robik/stop, /robik/pause" in printed
        assert printed.count("warning: OSC") == 2


@pytest.mark.parametrize(("press", "torque"), [("escape", {1.0}), ("signal", {1.0}), ("torque off", {0.0})])
def test_one_stop_for_all(stage, playing, press, torque) -> None:
    if press == "signal":
        playing.process.send_signal(signal.SIGINT)
    else:
        playing.press("\x1b" if press == "escape" else "t")
    code, printed = playing.end()
    assert code == 1, printed
    said = "stopped, holding" if torque == {1.0} else "emergency stop: torque is off"
    assert len(re.findall(f"(ann|bob): {said}", printed)) == 2
    for robot in stage.robots.values():
        assert robot.torque == torque
        assert robot.goals()[1][-1] < END - 0.1
        until(lambda robot=robot: robot.stands)


def test_a_stop_from_another_program_by_one_robots_port_stops_both(stage, playing) -> None:
    ask_to_stop(stage.robots["bob"].servos.port)
    code, printed = playing.end()
    assert code == 1, printed
    for robot in stage.robots.values():
        assert robot.torque == {1.0}
        assert robot.goals()[1][-1] < END - 0.1


def test_a_show_that_is_killed_leaves_both_standing(stage, playing) -> None:
    playing.process.kill()
    playing.process.wait()
    for robot in stage.robots.values():
        until(lambda robot=robot: robot.stands)
        assert robot.torque == {1.0}
        assert robot.goals()[1][-1] < END - 0.1


@pytest.mark.parametrize(
    ("fault", "others"),
    [
        ("unplugged", "go on"),
        ("overload", "stop"),
        pytest.param("unplugged", "stop", marks=pytest.mark.long),
        pytest.param("overload", "go on", marks=pytest.mark.long),
    ],
)
def test_where_one_robot_fails_the_others_do_as_the_file_says(stage, others, fault) -> None:
    with running("show", stage.write(others=others), *FAST) as terminal:
        stage.until_playing()
        if fault == "unplugged":
            stage.robots["bob"].servos.unplug()
        else:
            stage.robots["bob"].servos.command("error 2 0x20")
        code, printed = terminal.end()
    why = (
        "bob: .*(the port is gone|stop by their watchdog)"
        if fault == "unplugged"
        else "bob: servo 2 .b. has a hardware error"
    )
    assert re.search(why, printed), printed
    assert code == 2
    ann, bob = stage.robots.values()
    assert ann.torque == {1.0}
    if others == "go on":
        assert "the others go on" in printed
        assert "ann: played to the end, holding" in printed
        assert ann.goals()[1][-1] == pytest.approx(END, abs=2e-3)
    else:
        assert "ann: stopped, holding" in printed
        assert ann.goals()[1][-1] < END - 0.1
    until(lambda: ann.stands and bob.stands)
