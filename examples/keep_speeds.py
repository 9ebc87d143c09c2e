"""An arm that is asked for more than its motors can do: with `enforce_velocity` none is faster than its limit."""

import numpy as np

import robik

robot = robik.load("ur10")
start = np.array(robot.rest_pose("tool").position)
times = np.arange(61) / 60
hurry = start + 0.3 * np.sin(4 * np.pi * times)[:, None] * [0.0, 1.0, 0.0]
clip = robik.TargetClip(times, {"tool": robik.Track(position=hurry)})

for enforced in (False, True):
    motion = robik.retarget(robot, clip, robik.Settings(enforce_velocity=enforced))
    share = max(motion.peak_velocity()[joint.name] / joint.velocity_limit for joint in robot.actuated)
    off = 1e3 * motion.report.position_error.max()
    print(
        f"enforce_velocity={enforced}: fastest motor at {100 * share:.1f} % of its limit, the tool off by at most"
        f" {off:.0f} mm"
    )
