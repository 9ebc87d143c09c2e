"""Strange files and options on the command line: one sentence each that says what is wrong, and no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from robik.cli import main
from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import chain_text

HOURS = "more than 10 h at 100 Hz"
PATIENT = {"heartbeat": 30.0, "watchdog": 2.5, "silence": 2.0}  # a machine that stalls is no fault of theirs
CHAINS = [
    ({"position_limits": [-120, 120]}, "position_limits [-120, 120] are more than a turn; they are in rad"),
    ({"position_limits": [-90, 90], "gear_ratio": 3.0, "velocity_limit": 1.0}, "90 degrees are 1.571"),
    ({"velocity_limit": 1000}, "velocity_limit 1000 is 1000 rad/s at its horn"),
    ({"velocity_limit": 20}, "an XH430-W350 makes 3.142 rad/s without load; at most 4.712 fits"),
    ({"model": [1]}, "unknown model [1]"),
    ({"model": None}, "unknown model None"),
    ({"id": [1]}, "its id must be a whole number from 0 to 252, not [1]"),
    ({"brand": [1]}, "unknown brand [1]"),
    ({"acceleration_limit": []}, "its acceleration_limit must be a positive number, not []"),
]
MOTIONS = [
    ("time,a,b\n0,0,0\n1e12,0.2,0.2\n", (), HOURS),
    ("time,a,b\n-1e12,0,0\n1,0.2,0.2\n", (), HOURS),
    ("time,a,b\n0,0,0\n1e12,0.2,0.2\n", ("--soften",), HOURS),
    ("time,a,b\n0,0,0\n1e12,0.2,0.2\n", ("--loop",), HOURS),
    ("time,a,b\n0,0,0\n1e13,0.2,0.2\n", (), "a motion's times are in seconds, at most 1e+12; sample 1 is at 1e+13 s"),
    ("time,a,b\n0,0,0\n1,0.2,0.2\n", ("--speed", "1e-9"), HOURS),
    ("time,a,b\n0,0,0\n1,0.2,0.2\n", ("--speed", "1e-9", "--soften"), HOURS),
    ("time,a,b\n0,0,0\n1,0.2,0.2\n", ("--speed", "1e-300"), "at most 1e+12; sample 1 is at 1e+300 s"),
    ("time,a,b,a\n0,0,0,1\n1,0.2,0.2,1\n", (), "two columns are called 'a', the 2. and the 4.; names must differ"),
    ("time,a,time,b\n0,0,0,0\n1,0,1,0\n", (), "two columns are called 'time', the 1. and the 3.; names must differ"),
]
needs_a_terminal = pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")


def files(folder, motion="time,a,b\n0,0,0\n0.2,0.01,0.01\n", **servo):
    """Return the paths of a motion and of a chain whose first servo has these entries."""
    chain = json.loads(chain_text(default_chain(("a", "b"))))
    chain["servos"][0].update(servo)
    (folder / "m.csv").write_text(motion)
    (folder / "c.servos.json").write_text(json.dumps(chain))
    return [str(folder / "m.csv"), "--servos", str(folder / "c.servos.json")]


def sentence(capsys, *command):
    """Return what a command that must fail says, which is one line."""
    assert main(list(command)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("robik: ")
    assert told.err.count("\n") == 1, told.err
    return told.err


@pytest.mark.parametrize(("servo", "words"), CHAINS)
def test_entries_of_a_servo_that_cannot_be(tmp_path, capsys, servo, words):
    said = sentence(capsys, "play", *files(tmp_path, **servo), "--port", "sim")
    assert "c.servos.json: servo of 'a': " in said
    assert words in said


@pytest.mark.parametrize(("motion", "options", "words"), MOTIONS)
def test_times_speeds_and_columns_that_cannot_be(tmp_path, capsys, motion, options, words):
    assert words in sentence(capsys, "play", *files(tmp_path, motion), "--port", "sim", *options)


@pytest.mark.parametrize(
    ("name", "words"),
    [("m.ino", "50 days at most"), ("m.h", "50 days at most"), ("m.yaml", "counts seconds up to 2,147,483,647")],
)
def test_an_export_that_takes_longer_than_its_format_can_say(tmp_path, capsys, name, words):
    motion = files(tmp_path, "time,a,b\n0,0,0\n1e12,0.2,0.2\n")
    assert words in sentence(capsys, "export", *motion, "-o", str(tmp_path / name))
    assert not (tmp_path / name).exists()


@needs_a_terminal
@pytest.mark.real_time
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_handles_that_are_closed_change_nothing(tmp_path, closed):
    motion, _, chain = files(tmp_path)
    call = f"play({motion!r}, {chain!r}, 'sim', **{PATIENT!r})"
    code = f"from robik.servo.play.command import play; raise SystemExit({call})"
    environment = os.environ | {"PYTHON": sys.executable, "CODE": code}
    played = subprocess.run(
        ["sh", "-c", f'"$PYTHON" -c "$CODE" {closed}'], env=environment, capture_output=True, text=True, check=False
    )
    assert played.returncode == 0, played
    assert played.stderr == ""
    assert ("played to the end" in played.stdout) == (closed in ("<&-", "2>&-"))
