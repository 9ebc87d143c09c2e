"""The maker's own daemon plays a move through a port: judged by the head's pose that it publishes."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from robik import follow_poses
from robik.formats import import_robot
from robik.motions import Companions, load_motion, save_motion
from robik.motions.reachy_move import head_poses
from robik.servo.chain.chain import ServoChain
from robik.servo.play.player import Player
from robik.servo.port.status import PlaySettings, PlayState
from tests.servo.reachy.conftest import MAKERS

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


CLIENT = """
import json, sys
from reachy_mini import ReachyMini
from reachy_mini.motion.recorded_move import RecordedMove
move = RecordedMove(json.load(open(sys.argv[1])))
with ReachyMini(host="127.0.0.1", port=int(sys.argv[2]), connection_mode="network", automatic_body_yaw=False,
                media_backend="no_media", timeout=20.0) as robot:
    robot.enable_motors()
    robot.play_move(move, initial_goto_duration=1.0, sound=False)
"""


def test_a_move_that_was_changed_here_is_played_by_the_makers_own_client(
    makers: str, reachy_mini: Path, tmp_path: Path
) -> None:
    """In, the left antenna changed for half a second, and out again."""
    companions = Companions(robot=import_robot(reachy_mini / "mjcf/reachy_mini.xml").mechanism, follow=follow_poses)
    motion = load_motion(written(tmp_path), None, companions)
    values, left = motion.values.copy(), motion.actuators.index("left_antenna")
    bump = 0.4 * np.sin(np.pi * np.clip((motion.times - 1.0) / 0.5, 0.0, 1.0))
    values[:, left] += bump
    save_motion(replace(motion, values=values), tmp_path / "changed.json", "reachy-move", companions)
    witness = Witness(makers)
    python, port = MAKERS.with_name("python"), makers.rpartition(":")[2]
    done = subprocess.run(
        [python, "-c", CLIENT, str(tmp_path / "changed.json"), port], capture_output=True, text=True, check=False,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HOME": str(tmp_path), "PYTHONPATH": ""},
    )  # fmt: skip
    witness.close()
    assert done.returncode == 0, done.stderr[-2000:]
    order = [motion.actuators.index(name) for name in ("yaw_body", "right_antenna", "left_antenna")]
    asked = values[:, order] * [1.0, -1.0, -1.0]
    seen = np.array([row for _, row in witness.joints])[:, [0, 7, 8]]
    begins = int(np.argmax(np.abs(seen - asked[0]).max(axis=1) < 0.05))  # before it comes from where the robot slept
    assert np.abs(seen[begins:].min(axis=0) - asked.min(axis=0)).max() < 0.02, "it went through what is asked for"
    assert np.abs(seen[begins:].max(axis=0) - asked.max(axis=0)).max() < 0.02, "and no farther"
    assert np.ptp(asked[:, 2]) > np.ptp(-motion.values[:, left]) + 0.1, "the change can be seen"
