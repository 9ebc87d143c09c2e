"""Playing with loads on the horns, over a real pseudo-terminal: what telemetry shows of them, and when they are too
much."""

from __future__ import annotations

import re

import numpy as np
import pytest

from robik.servo.port.recording import load_recording
from robik.servo.port.status import PlayState

from .conftest import open_player, until

pytestmark = pytest.mark.real_time

GREATEST = 648 * 0.00269  # [A] of an XH430
FRICTION = 14 * 0.00269  # [A], 2 % of that, and rounding


def test_a_moderate_load_is_borne_to_the_end_and_recorded(chain, simulator, wave, tmp_path):
    player = open_player(chain, simulator, rate=25.0, record=str(tmp_path / "record.csv"))
    simulator.command("load 4 -0.3")
    simulator.command("load 5 0.4")
    player.play(wave(3.0))
    status = player.wait(PlayState.HOLDING)
    assert "to the end" in status.message
    assert status.strain == ""
    until(
        lambda: player.status.servos[4].current == pytest.approx(0.4 * GREATEST, abs=2e-3), player.heartbeat
    )  # it stands
    assert [player.status.servos[k].load for k in (2, 3, 4)] == pytest.approx([0.0, 0.3, 0.4], abs=0.1)
    player.close()
    recording = load_recording(tmp_path / "record.csv")
    borne = np.zeros(12)
    borne[[3, 4]] = 0.3, -0.4  # against the load
    assert np.nanmax(np.abs(recording.current - borne * GREATEST)) <= FRICTION  # some rows have one servo
    assert np.nanmedian(np.abs(recording.error)) < 0.1


def test_a_load_that_grows_slows_all_down_and_then_stops_them(chain, simulator, wave, tmp_path):
    player = open_player(chain, simulator, rate=25.0, record=str(tmp_path / "record.csv"))
    load = 0.0

    def grow(most):
        nonlocal load
        load = min(most, load + 0.01)
        simulator.command(f"load 4 {-load}")
        player.heartbeat()

    player.play(wave(60.0, amplitude=0.2, frequency=0.5))  # slow enough for a servo that hardly bears its load
    until(lambda: player.status.time > 0.5, player.heartbeat)
    until(lambda: player.status.strain, lambda: grow(0.8))
    status = player.status
    assert re.fullmatch(r"servo 4 \(motor_3\) bears \d\d % of its greatest load", status.strain)
    assert status.state is PlayState.PLAYING
    until(lambda: player.status.time > status.time + 1.0, player.heartbeat)
    assert player.status.state is PlayState.PLAYING
    until(lambda: player.status.state is PlayState.FAULT, lambda: grow(0.95))
    message = player.status.message
    assert re.match(
        r"servo 4 \(motor_3\) bears 9\d % of its greatest load; make the motion lighter; the others stopped and hold",
        message,
    )
    assert all(servo["torque_enable"] and not servo["hardware_error_status"] for servo in simulator.state().values())
    player.close()
    recording = load_recording(tmp_path / "record.csv")
    assert _pace(recording, 0.0, 0.5) == pytest.approx(1.0, abs=0.05)
    assert _pace(recording, status.time + 0.4, status.time + 1.0) == pytest.approx(0.5, abs=0.05)
    assert recording.current[0, 3] <= FRICTION
    assert recording.current[-1, 3] == pytest.approx(0.95 * GREATEST, abs=FRICTION)


def _pace(recording, start, end):
    """How fast it went along the motion, between two times on its way [s]."""
    inside = (recording.at >= start) & (recording.at <= end)
    return np.ptp(recording.at[inside]) / np.ptp(recording.times[inside])
