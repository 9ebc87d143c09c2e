"""An arm whose tool draws a circle: targets in, joint angles out."""

from pathlib import Path

import numpy as np

import robik

robot = robik.load("arm7")
start = robot.rest_pose("tool").position
times = np.arange(121) / 60
angle = np.pi * times
circle = start + 0.08 * np.stack([0 * angle, np.sin(angle), np.cos(angle) - 1], axis=1)

motion = robik.retarget(robot, robik.TargetClip(times, {"tool": robik.Track(position=circle)}))

output = Path("out/arm.csv")
output.parent.mkdir(exist_ok=True)
robik.save_motion(motion, output)
print(f"{len(times)} frames, the tool is off by at most {1e6 * motion.report.position_error.max():.1f} µm")
print(f"written: {output}")
