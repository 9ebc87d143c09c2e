"""A walker that stands on both feet and shifts its centre of mass over the left one."""

import numpy as np

import robik
from robik.kinematics.frames import robot_com

robot = robik.load("walker")
times = np.arange(61) / 60
feet = {
    name: robik.Track(
        position=np.tile(robot.rest_pose(name).position, (len(times), 1)),
        quaternion=np.tile(robot.rest_pose(name).quaternion, (len(times), 1)),
    )
    for name in ("foot_l", "foot_r")
}
bodies = [body.pose for body in robot.bodies]
start = robot_com(
    robot, np.array([[pose.position for pose in bodies]]), np.array([[pose.quaternion for pose in bodies]])
)[0]
goal = np.array([*robot.rest_pose("foot_l").position[:2], start[2] - 0.01])
blend = (0.5 - 0.5 * np.cos(np.pi * times))[:, None]

motion = robik.retarget(robot, robik.TargetClip(times, feet, com=(1 - blend) * start + blend * goal))

end = motion.com[-1]
print(f"the centre of mass went from y = {1e3 * start[1]:.1f} mm to y = {1e3 * end[1]:.1f} mm")
print(f"centre of mass off by at most {1e3 * motion.report.com_error.max():.3f} mm")
print(f"feet off by at most {1e3 * motion.report.position_error.max():.3f} mm")
