"""ROS 2 motion files: a `trajectory_msgs/JointTrajectory` in YAML, as `ros2 topic pub` takes it; without a base."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .format import Companions, MotionFormat
from .motion import Motion


def write(motion: Motion, path: Path, companions: Companions) -> bytes:
    """Return a motion as YAML; times count from the first frame, velocities are central differences."""
    lines = ["header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}", "joint_names:"]
    lines += [f"- {json.dumps(name)}" for name in motion.actuators]
    lines.append("points:")
    velocities = (
        np.gradient(motion.values, motion.times, axis=0) if len(motion.times) > 1 else np.zeros_like(motion.values)
    )
    for time, values, speeds in zip(
        motion.times - motion.times[0], motion.values.tolist(), velocities.tolist(), strict=True
    ):
        nanoseconds = round(float(time) * 1e9)
        lines.append(f"- positions: [{', '.join(map(repr, values))}]")
        lines.append(f"  velocities: [{', '.join(map(repr, speeds))}]")
        lines.append(f"  time_from_start: {{sec: {nanoseconds // 10**9}, nanosec: {nanoseconds % 10**9}}}")
    return ("\n".join(lines) + "\n").encode()


FORMAT = MotionFormat(name="ros2", label="ROS 2 JointTrajectory", extensions=(".yaml",), write=write)
