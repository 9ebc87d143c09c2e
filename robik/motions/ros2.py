"""ROS 2 motion files: a `trajectory_msgs/JointTrajectory` in YAML, as `ros2 topic pub` takes it; without a base."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ClipError
from ..extras import extra
from .curves import rates_of
from .format import Companions, MotionFormat
from .layout import motion_by_names
from .motion import Motion

LONGEST = 2**31 - 1  # [s] that a duration of ROS 2 can say
HEAD = 4096  # bytes in which the joints' names must begin


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as YAML; times count from the first frame, velocities are those of the splines through them.

    Args:
        motion: The motion.
        path: The file to be written, for its name.
        companions: Robot, servos and choices that the format may need.

    Returns:
        The file's bytes.

    Raises:
        ClipError: It takes longer than the format can say.
    """
    if (seconds := motion.times[-1] - motion.times[0]) > LONGEST:
        raise ClipError(f"a ROS 2 trajectory counts seconds up to {LONGEST:,}, the motion takes {seconds:.4g} s")
    lines = ["header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}", "joint_names:"]
    lines += [f"- {json.dumps(name)}" for name in motion.actuators]
    lines.append("points:")
    velocities = rates_of(motion).values
    for time, values, speeds in zip(
        motion.times - motion.times[0], motion.values.tolist(), velocities.tolist(), strict=True
    ):
        nanoseconds = round(float(time) * 1e9)
        lines.append(f"- positions: [{', '.join(map(repr, values))}]")
        lines.append(f"  velocities: [{', '.join(map(repr, speeds))}]")
        lines.append(f"  time_from_start: {{sec: {nanoseconds // 10**9}, nanosec: {nanoseconds % 10**9}}}")
    return ("\n".join(lines) + "\n").encode()


def matches(content: bytes) -> bool:
    """Return whether it names joints and lists points.

    Args:
        content: The file's bytes.

    Returns:
        True where the content is of this format.
    """
    return b"joint_names:" in content[:HEAD] and b"points:" in content


def read(content: bytes, companions: Companions) -> Motion:
    """Return the motion in a trajectory's positions; its times count from the first frame.

    Args:
        content: The file's bytes.
        companions: Robot, servos and choices that the format may need.

    Returns:
        The motion.

    Raises:
        ClipError: Names the point that is wrong.
    """
    with extra("formats"):
        import yaml
    try:
        data = yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise ClipError(f"not YAML: {' '.join(str(error).split())}") from None
    names, points = (data.get(key) for key in ("joint_names", "points")) if isinstance(data, dict) else (None, None)
    if not isinstance(names, list) or not isinstance(points, list) or not points:
        raise ClipError("a JointTrajectory has joint_names and points")
    rows = [_point(point, len(names), k) for k, point in enumerate(points)]
    return motion_by_names(
        companions.robot,
        tuple(map(str, names)),
        np.array([time for time, _ in rows]),
        None,
        np.array([values for _, values in rows]).reshape(len(rows), len(names)),
    )


def _point(point: Any, joints: int, number: int) -> tuple[float, list[float]]:
    """Return time [s] and positions of a point."""
    try:
        since = point["time_from_start"]
        values = [float(value) for value in point["positions"]]
        if len(values) != joints:
            raise ValueError
        return (10**9 * int(since.get("sec", 0)) + int(since.get("nanosec", 0))) / 1e9, values
    except (TypeError, KeyError, ValueError, AttributeError):
        raise ClipError(f"point {number}: it needs {joints} positions and time_from_start {{sec, nanosec}}") from None


FORMAT = MotionFormat(
    name="ros2", label="ROS 2 JointTrajectory", extensions=(".yaml",), matches=matches, read=read, write=write
)
