"""Where there is no pseudo-terminal, the same bytes go over TCP."""

from __future__ import annotations

import numpy as np
import pytest

from robik.motions import Motion
from robik.servo.bus.bus import Bus
from robik.servo.bus.connecting import find
from robik.servo.chain.chain import default_chain
from robik.servo.chain.file import save_chain
from robik.servo.play.player import Player
from robik.servo.port.status import PlaySettings, PlayState
from robik.servo.setup.command import scan, torque_off
from robik.servo.simulator.process import SimulatorProcess

pytestmark = pytest.mark.real_time


def test_over_a_socket(tmp_path):
    with SimulatorProcess.of(default_chain(("a", "b"))) as process:
        assert process.port.startswith("/dev/")
    chain = default_chain(("a", "b"))
    save_chain(chain, tmp_path / "two.servos.json")
    with SimulatorProcess(tmp_path / "two.servos.json", over_socket=True) as process:
        bus = Bus(chain, process.port)
        assert [found.position for found in find(bus)] == [2048, 2048]
        bus.close()
        bus = Bus(chain, process.port)  # one client after another
        assert bus.positions().tolist() == [2048, 2048]
        bus.close()
        player = Player(chain, process.port, PlaySettings(approach_speed=3.0))
        player.connect()
        player.wait(PlayState.READY)
        player.torque(True)
        player.wait(PlayState.HOLDING)
        player.play(
            Motion(times=np.array([0.0, 0.5]), actuators=("a", "b"), values=np.array([[0.0, 0.0], [0.3, -0.2]]))
        )
        player.wait(PlayState.PLAYING)
        process.unplug()
        assert "is gone" in player.wait(PlayState.FAULT).message
        process.plug()
        player = Player(chain, process.port)
        player.connect()
        assert player.wait(PlayState.HOLDING).torque
        player.close()


def test_each_servo_is_there_once_over_a_socket(tmp_path, capsys):
    save_chain(default_chain(("a", "b")), tmp_path / "two.servos.json")
    with SimulatorProcess(tmp_path / "two.servos.json", over_socket=True) as process:
        scan(process.port)
        assert [line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("id")] == ["1", "2"]
        assert torque_off(process.port) == 0
        assert capsys.readouterr().out.count("torque is off") == 2
