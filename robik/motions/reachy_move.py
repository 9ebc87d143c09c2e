"""Recorded moves of Reachy Mini: JSON with the pose of its head, its two antennas and the turn of its body.

    {"description": "…", "time": [0.0, …],
     "set_target_data": [{"head": 4x4, "antennas": [right, left], "body_yaw": 0.1, "check_collision": false}, …]}

The head's pose is a homogeneous matrix in the robot's own coordinates [m], from where the head is HEAD_HEIGHT above
the base; angles are in rad. It says nothing of the six motors below the head: a solver finds them. Antennas are turned
as their servos count, which is against the joints of the maker's own description. A sound file of the same name plays
with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import finite
from ..errors import ClipError
from ..files import parse_json
from ..mechanism.model import Mechanism
from ..mechanism.orientations import quaternion_matrices
from .format import Companions, FramePoses, MotionFormat
from .motion import Motion, values_for

HEAD, HEAD_HEIGHT = "head", 0.177  # the frame, and how high it is where its pose is the unit matrix [m]
YAW, ANTENNAS = "yaw_body", ("right_antenna", "left_antenna")  # actuators
FRAMES = "set_target_data"
SOUNDS = (".wav", ".mp3", ".ogg", ".oga", ".opus", ".flac", ".m4a", ".aac")  # as the maker's player looks for them
ASKEW = 0.02  # by which entries of R Rᵀ may differ from those of the unit matrix: rounded files are taken


def matches(content: bytes) -> bool:
    """Return True if it is an object with the samples of a move."""
    return content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and f'"{FRAMES}"'.encode() in content


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion of a Reachy Mini as a move from 0 s on, with the file's name as description.

    Raise ClipError for another robot.
    """
    robot = companions.robot
    assert robot is not None  # as `needs` says
    check_robot(robot)
    values = values_for(robot, motion, "the motion")
    heads, angles = head_poses(robot, values), {name: values[:, k] for k, name in enumerate(robot.actuators)}
    antennas = -np.column_stack([angles[name] for name in ANTENNAS])
    samples = [
        {"head": head, "antennas": pair, "body_yaw": yaw, "check_collision": False}
        for head, pair, yaw in zip(heads.tolist(), antennas.tolist(), angles[YAW].tolist(), strict=True)
    ]
    times = (motion.times - motion.times[0]).tolist()
    return json.dumps({"description": path.stem, "time": times, FRAMES: samples}).encode()


def head_poses(robot: Mechanism, values: np.ndarray) -> np.ndarray:
    """Return the head's poses as moves have them, (T, 4, 4) [m], at values (T, A) of a Reachy Mini's motors [rad]."""
    from ..kinematics.forward import body_poses  # takes long to import

    position, quaternion, _ = body_poses(robot, values)
    frame = next((frame for frame in robot.frames if frame.name == HEAD), None)
    body = next(k for k, body in enumerate(robot.bodies) if body.name == (HEAD if frame is None else frame.body))
    poses = np.tile(np.eye(4), (len(values), 1, 1))
    poses[:, :3, :3] = quaternion_matrices(quaternion[:, body])
    poses[:, :3, 3] = position[:, body]
    if frame is not None:
        local = np.eye(4)
        local[:3, :3] = quaternion_matrices(np.array([frame.pose.quaternion]))[0]
        local[:3, 3] = frame.pose.position
        poses = poses @ local
    poses[:, 2, 3] -= HEAD_HEIGHT
    return poses


def read(content: bytes, companions: Companions) -> Motion:
    """Return a Reachy Mini's motion along a move; its report says where the move is out of reach.

    The companions find its motors' values. Raise ClipError for another robot, or a sample that is wrong.
    """
    from scipy.spatial.transform import Rotation  # takes long to import

    robot, follow = companions.robot, companions.follow
    assert robot is not None and follow is not None  # as `needs_to_read` says
    check_robot(robot)
    times, samples = _opened(content)
    heads = np.array([_head(sample, k) for k, sample in enumerate(samples)])
    antennas = -np.array([_numbers(sample, "antennas", 2, k) for k, sample in enumerate(samples)])
    yaw = np.array([_numbers({"body_yaw": [sample.get("body_yaw", 0.0)]}, "body_yaw", 1, k)[0]
                    for k, sample in enumerate(samples)])  # fmt: skip
    xyzw = Rotation.from_matrix(heads[:, :3, :3]).as_quat()
    heads[:, 2, 3] += HEAD_HEIGHT
    return follow(
        robot,
        FramePoses(
            times=times,
            position={HEAD: heads[:, :3, 3]},
            quaternion={HEAD: xyzw[:, [3, 0, 1, 2]]},
            coordinates={YAW: yaw, **dict(zip(ANTENNAS, antennas.T, strict=True))},
        ),
    )


def check_robot(robot: Mechanism) -> None:
    """Check that a robot has all that moves speak of; a ClipError names the first missing."""
    missing = [name for name in (YAW, *ANTENNAS) if name not in robot.actuators]
    if HEAD not in robot.frame_names:
        missing.append(HEAD)
    if missing:
        raise ClipError(
            f"moves of Reachy Mini need its motors {', '.join((YAW, *ANTENNAS))} and its frame {HEAD!r}; robot"
            f" {robot.name!r} has no {', '.join(missing)}"
        )


def _opened(content: bytes) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """Return times and samples of a move."""
    data = parse_json(content)
    samples, times = (data.get(FRAMES), data.get("time")) if isinstance(data, dict) else (None, None)
    if not isinstance(samples, list) or not isinstance(times, list) or not all(isinstance(s, dict) for s in samples):
        raise ClipError(f"a move has the lists 'time' and {FRAMES!r}, the second one of objects")
    if len(samples) != len(times):
        raise ClipError(f"the move has {len(times)} times and {len(samples)} samples; it needs one time for each")
    clock = finite(times, "time", (None,))
    if not len(clock):
        raise ClipError("the move has no samples")
    kept = np.ones(len(clock), dtype=bool)
    kept[1:] = np.diff(clock) != 0.0  # a sample that was recorded twice
    return clock[kept], [sample for sample, keep in zip(samples, kept.tolist(), strict=True) if keep]


def _numbers(sample: dict[str, Any], key: str, count: int, k: int) -> np.ndarray:
    try:
        values = finite(sample.get(key), key).ravel()
    except ClipError:
        values = np.zeros(0)
    if len(values) != count:
        numbers = "a number" if count == 1 else f"{count} numbers"
        raise ClipError(f"sample {k} of the move: {key!r} must be {numbers}")
    return values


def _head(sample: dict[str, Any], k: int) -> np.ndarray:
    """Return the head's pose (4, 4), nested or in one row of 16."""
    pose = _numbers(sample, "head", 16, k).reshape(4, 4)
    turn = pose[:3, :3]
    if np.abs(turn @ turn.T - np.eye(3)).max() > ASKEW or np.linalg.det(turn) < 0.0:
        raise ClipError(f"sample {k} of the move: 'head' must be a homogeneous matrix; its 3x3 part is no rotation")
    return pose


FORMAT = MotionFormat(
    name="reachy-move", label="Reachy Mini Move", extensions=(".json",), needs=("robot",),
    needs_to_read=("robot", "follow"), by_extension=False, sounds=SOUNDS, matches=matches, read=read, write=write,
)  # fmt: skip
