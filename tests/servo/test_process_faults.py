"""A process of a player that does not start, says nothing or ends too soon: what the status says of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from robik.servo.chain.chain import ServoChain
from robik.servo.chain.servo import Servo
from robik.servo.port import process as port_process
from robik.servo.port.board import Board
from robik.servo.port.process import PortProcess
from robik.servo.port.status import PlaySettings, PlayState, ServoReading, Status

READY = "import sys; print('ready', flush=True); sys.stdin.readline(); "
CASES = {
    "cannot be started": (None, "the process that plays cannot be started: no room for it"),
    "says nothing": ("", "the process that plays does not start"),
    "ends as if all were well": (READY, "the process that plays has ended (0); "),
    "fails": (READY + "sys.exit(3)", "the process that plays has ended (3); "),
}


@pytest.mark.parametrize("case", CASES)
def test_a_process_that_is_no_use_ends_in_a_fault(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, words = CASES[case]

    def started() -> subprocess.Popen[bytes]:
        if code is None:
            raise OSError("no room for it")
        return subprocess.Popen([sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    monkeypatch.setattr(port_process, "_started", started)
    board, prepared = Board(), []
    board.status = Status(PlayState.CONNECTING, "", servos=(ServoReading(1, "hip", True, 0.0, 0.0, 30.0, 12.0, ""),))
    process = PortProcess(ServoChain((Servo("hip", 1),)), "/dev/nowhere", PlaySettings(), board, lambda *_: None)
    assert not process.is_alive
    process.start(lambda: prepared.append(process.is_alive))
    process.end(20.0)
    assert board.status.state is PlayState.FAULT
    assert board.status.message.startswith(words)
    assert [servo.torque for servo in board.status.servos] == [None], "nobody knows"
    assert not process.is_alive and not process.is_cutting
    assert prepared == [True] * (code is not None)
