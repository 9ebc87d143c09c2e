"""The maker's own daemon plays a move through a port: judged by the head's pose that it publishes."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from robik import follow_poses
from robik.formats import import_robot
from robik.motions import Companions, load_motion
from robik.motions.reachy_move import head_poses
from robik.servo.chain import ServoChain
from robik.servo.player import Player
from robik.servo.status import PlaySettings, PlayState

pytestmark = pytest.mark.real_time

SECONDS, LAG = 3.0, 0.3  # [s]: of the move, and by which the daemon may be behind at most
FAR, ASKEW = 5e-5, np.radians(0.05)  # [m], [rad]
SIGNS = np.array([1.0] * 7 + [-1.0] * 2)  # of the daemon's antennas against the robot's files


def sway(times: np.ndarray) -> tuple[np.ndarray, Rotation, np.ndarray, np.ndarray]:
    """Places (T, 3) and turns of the head, antennas (T, 2), turn of the body (T,)."""
    places = np.column_stack([0.01 * np.sin(2 * times), 0.005 * np.sin(times), 0.01 * np.sin(1.7 * times)])
    angles = np.column_stack([0.2 * np.sin(2 * times), 0.2 * np.sin(1.5 * times), 0.3 * np.sin(times)])
    antennas = np.outer(np.sin(2 * times), [0.5, -0.3])
    return places, Rotation.from_euler("xyz", angles), antennas, 0.4 * np.sin(0.8 * times)


def written(folder: Path) -> Path:
    times = np.arange(0.0, SECONDS + 0.01, 0.02)
    places, turns, antennas, yaw = sway(times)
    heads = np.tile(np.eye(4), (len(times), 1, 1))
    heads[:, :3, :3], heads[:, :3, 3] = turns.as_matrix(), places
    samples = [
        {"head": heads[k].tolist(), "antennas": antennas[k].tolist(), "body_yaw": yaw[k]} for k in range(len(times))
    ]
    path = folder / "sway.json"
    path.write_text(json.dumps({"description": "sway", "time": times.tolist(), "set_target_data": samples}))
    return path


class Witness:
    """Another client, which writes down what the daemon publishes."""

    def __init__(self, address: str) -> None:
        self.joints: list[tuple[float, list[float]]] = []
        self.head = np.eye(4)
        self._socket = connect(f"ws://{address.removeprefix('reachy:')}/ws/sdk", compression=None, legacy=True)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            for text in self._socket:
                said = json.loads(text)
                if said["type"] == "joint_positions":
                    row = said["head_joint_positions"] + said["antennas_joint_positions"]
                    self.joints.append((time.monotonic(), row))
                elif said["type"] == "head_pose":
                    self.head = np.array(said["head_pose"])
        except ConnectionClosed:
            return

    def close(self) -> None:
        self._socket.close()


def test_what_the_daemon_publishes_is_the_move(
    makers: str, chain: ServoChain, reachy_mini: Path, tmp_path: Path
) -> None:
    robot = import_robot(reachy_mini / "mjcf/reachy_mini.xml").mechanism
    motion = load_motion(written(tmp_path), None, Companions(robot=robot, follow=follow_poses))
    player = Player(chain, makers, PlaySettings(approach_speed=3.0, heartbeat=30.0, silence=2.0))
    player.connect()
    player.wait(PlayState.READY, PlayState.HOLDING)
    player.torque(True)
    player.wait(PlayState.HOLDING)
    witness = Witness(makers)
    player.play(motion, from_afar=True)
    player.wait(PlayState.PLAYING)
    began = time.monotonic()
    player.wait(PlayState.HOLDING)
    ended = time.monotonic()
    time.sleep(0.3)
    player.torque(False)
    assert player.wait(PlayState.READY).message == "torque is off"
    player.close()
    witness.close()
    seen = [(when - began, row) for when, row in witness.joints if began + LAG < when < ended]
    assert len(seen) > 40 * (SECONDS - 2 * LAG)
    heads = head_poses(
        robot, SIGNS * np.array([row for _, row in seen])
    )  # by RobIK: the daemon's own are not converged
    fine = np.arange(0.0, SECONDS, 0.001)
    places, turns, antennas, yaw = sway(fine)
    slerp, last = Slerp(fine, turns), 0.0
    for (when, row), head in zip(seen, heads, strict=True):
        near = np.flatnonzero((fine >= when - LAG) & (fine <= when + 0.05))
        away = np.linalg.norm(places[near] - head[:3, 3], axis=1)
        turned = (slerp(fine[near]).inv() * Rotation.from_matrix(head[:3, :3])).magnitude()
        best = int(np.argmin(np.maximum(away / FAR, turned / ASKEW)))
        assert away[best] < FAR
        assert turned[best] < ASKEW
        at = near[best]
        assert [row[0], *row[7:]] == pytest.approx([yaw[at], *antennas[at]], abs=2e-3)
        assert fine[at] >= last - 0.021  # on, and not back
        last = fine[at]
    there, turn, *_ = sway(motion.times[-1:])
    assert np.linalg.norm(witness.head[:3, 3] - there[0]) < FAR  # by the daemon, once it stands
    assert (turn[0].inv() * Rotation.from_matrix(witness.head[:3, :3])).magnitude() < ASKEW
