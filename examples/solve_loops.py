"""A robot with a loop: two legs and a pelvis.

Eight motors move six degrees of freedom, so they must agree in every frame.
"""

import numpy as np

import robik

robot = robik.load("dancer")
rest = robot.rest_pose("pelvis_frame")
times = np.arange(61) / 30
sway = np.array(rest.position) + 0.02 * np.sin(np.pi * times)[:, None] * [0.0, 1.0, 0.0]
pelvis = robik.Track(position=sway, quaternion=np.tile(rest.quaternion, (len(times), 1)))

motion = robik.retarget(robot, robik.TargetClip(times, {"pelvis_frame": pelvis}))

found = robik.inspect(robot)
print(f"{found.loops} loop, {len(robot.actuators)} motors, {found.mobility} degrees of freedom")
print(f"the loop is open by at most {motion.report.residual.max():.1e} m")
print(f"the pelvis is off by at most {1e3 * motion.report.position_error.max():.3f} mm")
print(f"motors travel by up to {np.degrees(np.ptp(motion.values, axis=0).max()):.1f}°")
