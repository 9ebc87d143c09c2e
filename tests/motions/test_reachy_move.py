"""Moves of Reachy Mini: there and back, held against its maker's own kinematics, and files that are wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import follow_poses
from robik.errors import ClipError, FormatError
from robik.mechanism import Mechanism
from robik.motions import Companions, Motion, load_motion, save_motion
from robik.retargeting.following_poses import out_of_reach
from robik.robots import load

LEGS = tuple(f"stewart_{k}" for k in range(1, 7))
# Angles that the maker's daemon 1.13.0 (AnalyticalKinematics) answered to a head's pose: roll, pitch, yaw [rad], place
# [m], turn of the body [rad].
ANSWERED = (
    (
        (0.1, -0.2, 0.35),
        (0.01, -0.005, 0.012),
        0.2,
        (1.091216556, -1.152617583, 0.954308352, -0.706750865, 0.989516371, -0.907744464),
    ),
    (
        (-0.15, 0.1, -0.3),
        (-0.008, 0.01, -0.01),
        -0.4,
        (0.514779277, -0.127935818, 0.403271728, -0.521173741, 0.481669064, -0.518048434),
    ),
)


@pytest.fixture(scope="module", params=["mjcf/reachy_mini.xml", "urdf/robot.urdf"])
def robot(reachy_mini_robot: Callable[[str], Mechanism], request: pytest.FixtureRequest) -> Mechanism:
    return reachy_mini_robot(request.param)


def pose(angles: tuple[float, ...], place: tuple[float, ...]) -> np.ndarray:
    head = np.eye(4)
    head[:3, :3], head[:3, 3] = Rotation.from_euler("xyz", angles).as_matrix(), place
    return head


def move(heads: list[np.ndarray], yaw: list[float], **more: object) -> dict:
    samples = [
        {"head": head.tolist(), "antennas": [0.3, -0.1], "body_yaw": turn}
        for head, turn in zip(heads, yaw, strict=True)
    ]
    return {"description": "nods", "time": [0.02 * k for k in range(len(heads))], "set_target_data": samples, **more}


def read(folder: Path, robot: Mechanism, data: object) -> Motion:
    (folder / "move.json").write_text(json.dumps(data))
    return load_motion(folder / "move.json", None, Companions(robot=robot, follow=follow_poses))


def swaying(samples: int = 60) -> dict:
    times = 0.02 * np.arange(samples)
    heads = [
        pose(
            (0.2 * np.sin(2 * t), 0.25 * np.sin(3 * t + 1), 0.3 * np.sin(t)),
            (0.01 * np.sin(4 * t), 0.0, 0.01 * np.cos(3 * t) - 0.005),
        )
        for t in times.tolist()
    ]
    return move(heads, (0.3 * np.sin(times)).tolist())


@pytest.mark.parametrize("answered", ANSWERED, ids=["up", "down"])
def test_motors_stand_as_the_makers_kinematics_has_them(tmp_path: Path, robot: Mechanism, answered: tuple) -> None:
    angles, place, yaw, legs = answered
    motion = read(tmp_path, robot, move([pose(angles, place)] * 2, [yaw] * 2))
    there = dict(zip(motion.actuators, motion.values[-1].tolist(), strict=True))
    assert [there[name] for name in LEGS] == pytest.approx(legs, abs=1e-3)  # the maker's legs are rounded
    assert there["yaw_body"] == pytest.approx(yaw, abs=1e-6)
    # its daemon's MuJoCo backend, too, turns them the other way round in the description than it is told
    assert [there[name] for name in ("right_antenna", "left_antenna")] == pytest.approx([-0.3, 0.1], abs=1e-6)
    assert out_of_reach(robot, motion) == ""


def test_a_move_comes_back_as_it_was(tmp_path: Path, robot: Mechanism) -> None:
    data = swaying()
    motion = read(tmp_path, robot, data)
    save_motion(motion, tmp_path / "back.json", "reachy-move", Companions(robot=robot))
    back = json.loads((tmp_path / "back.json").read_text())
    assert back["description"] == "back"
    assert back["time"] == pytest.approx(data["time"])
    for was, now in zip(data["set_target_data"], back["set_target_data"], strict=True):
        head, other = np.array(was["head"]), np.array(now["head"])
        assert np.abs(head[:3, 3] - other[:3, 3]).max() < 2e-5  # [m]
        assert Rotation.from_matrix(head[:3, :3].T @ other[:3, :3]).magnitude() < 2e-4  # [rad]
        assert now["antennas"] == pytest.approx(was["antennas"], abs=1e-6)
        assert now["body_yaw"] == pytest.approx(was["body_yaw"], abs=1e-6)


def test_what_is_out_of_reach_is_said(tmp_path: Path, robot: Mechanism) -> None:
    data = swaying(40)
    for sample in data["set_target_data"][20:]:
        sample["head"][2][3] += 0.08
    motion = read(tmp_path, robot, data)
    assert out_of_reach(robot, motion).startswith("20 of 40 samples are out of the robot's reach, by up to ")
    turn = motion.values[:, motion.actuators.index("yaw_body")]
    assert turn == pytest.approx([s["body_yaw"] for s in data["set_target_data"]], abs=0.01)  # the head gives way


def test_flat_matrices_and_moves_without_a_turn_of_the_body_are_read(tmp_path: Path, robot: Mechanism) -> None:
    data = swaying(5)
    nested = read(tmp_path, robot, data)
    for sample in data["set_target_data"]:
        sample["head"] = [number for row in sample["head"] for number in row]
    assert (read(tmp_path, robot, data).values == nested.values).all()
    for sample in data["set_target_data"]:
        del sample["body_yaw"]
    still = read(tmp_path, robot, data)
    assert np.abs(still.values[:, still.actuators.index("yaw_body")]).max() < 1e-6


def test_other_robots_are_told_what_they_lack(tmp_path: Path) -> None:
    with pytest.raises(ClipError, match=r"robot 'boxer' has no yaw_body, right_antenna, left_antenna, head$"):
        read(tmp_path, load("boxer"), swaying(2))
    (tmp_path / "move.json").write_text(json.dumps(swaying(2)))
    with pytest.raises(ClipError, match="the format reachy-move needs its robot"):
        load_motion(tmp_path / "move.json")


def test_a_sound_beside_a_move_goes_with_it(tmp_path: Path, robot: Mechanism) -> None:
    (tmp_path / "move.wav").write_bytes(b"RIFF, not looked into")
    (tmp_path / "move.mp3").write_bytes(b"the maker's player prefers WAV")
    motion = read(tmp_path, robot, swaying(3))
    assert motion.sound == tmp_path / "move.wav"
    companions = Companions(robot=robot)
    save_motion(motion, tmp_path / "other.json", "reachy-move", companions)
    assert (tmp_path / "other.wav").read_bytes() == b"RIFF, not looked into"
    save_motion(motion, tmp_path / "move.json", "reachy-move", companions)  # its own place
    assert (tmp_path / "move.wav").read_bytes() == b"RIFF, not looked into"
    save_motion(motion, tmp_path / "plain.csv", None, companions)
    assert not (tmp_path / "plain.wav").exists()
    assert load_motion(tmp_path / "plain.csv", None, companions).sound is None
    (tmp_path / "move.wav").unlink()
    with pytest.raises(FormatError, match=r"the sound .*move\.wav cannot be read: No such file"):
        save_motion(motion, tmp_path / "third.json", "reachy-move", companions)
    assert not (tmp_path / "third.json").exists()
    assert read(tmp_path, robot, swaying(3)).sound == tmp_path / "move.mp3"


def spoiled(key: str, value: object) -> dict:
    data = swaying(3)
    data["set_target_data"][1][key] = value
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (spoiled("head", [[1.0]]), "sample 1 of the move: 'head' must be 16 numbers"),
        (spoiled("head", [2.0] * 16), "sample 1 of the move: 'head' must be a homogeneous matrix"),
        (spoiled("head", np.diag([1.0, 1.0, -1.0, 1.0]).tolist()), "its 3x3 part is no rotation"),
        (spoiled("antennas", [0.1]), "sample 1 of the move: 'antennas' must be 2 numbers"),
        (spoiled("antennas", ["a", "b"]), "sample 1 of the move: 'antennas' must be 2 numbers"),
        (spoiled("body_yaw", float("nan")), "sample 1 of the move: 'body_yaw' must be a number"),
        (swaying(3) | {"time": [0.0, 0.1]}, "the move has 2 times and 3 samples"),
        (swaying(3) | {"time": [0.0, 0.2, 0.1]}, "must increase"),
        (swaying(3) | {"time": ["a", "b", "c"]}, "time: it must be a list of numbers"),
        (swaying(3) | {"set_target_data": 1}, "a move has the lists"),
        ({"time": [], "set_target_data": []}, "the move has no samples"),
    ],
)
def test_wrong_files_get_one_sentence(
    tmp_path: Path, reachy_mini_robot: Callable[[str], Mechanism], data: dict, said: str
) -> None:
    robot = reachy_mini_robot("mjcf/reachy_mini.xml")
    with pytest.raises(ClipError, match=said):
        read(tmp_path, robot, data)
