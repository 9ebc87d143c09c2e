"""A linkage with loops: one motor drives a tool, and every loop is closed in every frame."""

import numpy as np

import robik

robot = robik.load("validation")
start = np.array(robot.rest_pose("tool_frame").position)
times = np.arange(60) / 30
sway = start + 0.02 * np.sin(np.pi * times)[:, None] * [1.0, 0.0, 0.0]

motion = robik.retarget(robot, robik.TargetClip(times, {"tool_frame": robik.Track(position=sway)}))

print(f"{robik.inspect(robot).loops} loops, {len(robot.actuators)} motor, {len(motion.passive)} passive coordinates")
print(f"loops are open by at most {motion.report.residual.max():.1e} m")
print(f"one motor cannot reach everything: the tool is off by at most {1e3 * motion.report.position_error.max():.1f} mm")
