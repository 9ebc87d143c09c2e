"""A motion in the files that others play: CSV, JSON, NumPy, ROS 2 and Arduino, chosen by the file's extension."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from robik.errors import ServoError
from robik.files import write_whole
from robik.retarget.motion import Motion, save_motion
from robik.servo.arduino import write_header, write_sketch
from robik.servo.chain import ServoChain

FORMAT, VERSION = "robik-motion", 1


def export_motion(motion: Motion, path: str | Path, chain: ServoChain | None = None) -> None:
    """Writes a motion: `.csv`, `.json`, `.npz`, `.yaml` (ROS 2 JointTrajectory) or, on a chain, `.h` and `.ino` (Arduino).

    Args:
        motion: what to write.
        path: its extension says how.
        chain: the servos; `.h` and `.ino` hold their counts.

    Raises:
        ServoError: an unknown extension, or `.h` or `.ino` without a chain.
        FormatError: the file cannot be written.
    """
    extension = Path(path).suffix.lower()
    if extension not in WRITERS:
        raise ServoError(f"{path}: a motion is exported as {', '.join(WRITERS)}, not as {extension or 'a file without extension'}")
    WRITERS[extension](motion, path, chain)


def _csv(motion: Motion, path: str | Path, chain: ServoChain | None) -> None:
    save_motion(motion, path)


def _json(motion: Motion, path: str | Path, chain: ServoChain | None) -> None:
    data = {
        "format": FORMAT,
        "version": VERSION,
        "time": motion.times.tolist(),
        "actuators": {name: motion.values[:, k].tolist() for k, name in enumerate(motion.actuators)},
    }
    write_whole(path, json.dumps(data, indent=1) + "\n")


def _npz(motion: Motion, path: str | Path, chain: ServoChain | None) -> None:
    arrays = {"times": motion.times, "actuators": np.array(motion.actuators), "values": motion.values}
    write_whole(path, lambda file: np.savez_compressed(file, **arrays))


def _yaml(motion: Motion, path: str | Path, chain: ServoChain | None) -> None:
    """trajectory_msgs/JointTrajectory, as `ros2 topic pub` takes it; times count from the first frame."""
    lines = ["header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}", "joint_names:"]
    lines += [f"- {json.dumps(name)}" for name in motion.actuators]
    lines.append("points:")
    velocities = np.gradient(motion.values, motion.times, axis=0) if len(motion.times) > 1 else np.zeros_like(motion.values)
    for time, values, speeds in zip(motion.times - motion.times[0], motion.values.tolist(), velocities.tolist(), strict=True):
        nanoseconds = round(float(time) * 1e9)
        lines.append(f"- positions: [{', '.join(map(repr, values))}]")
        lines.append(f"  velocities: [{', '.join(map(repr, speeds))}]")
        lines.append(f"  time_from_start: {{sec: {nanoseconds // 10**9}, nanosec: {nanoseconds % 10**9}}}")
    write_whole(path, "\n".join(lines) + "\n")


WRITERS: dict[str, Callable[[Motion, str | Path, ServoChain | None], None]] = {
    ".csv": _csv,
    ".json": _json,
    ".npz": _npz,
    ".yaml": _yaml,
    ".h": write_header,
    ".ino": write_sketch,
}
