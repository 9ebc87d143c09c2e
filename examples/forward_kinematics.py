"""Forward kinematics: from a motion of the actuators to the poses of all bodies, loops included."""

import numpy as np

import robik

robot = robik.load("four_bar")
times = np.arange(72) / 36
turn = robik.Motion(times=times, actuators=robot.actuators, values=np.pi * times[:, None])

states, residual = robik.posed(robot, turn)

rocker = states.position[:, states.bodies.index("rocker")]
print(f"poses of {len(states.bodies)} bodies in {len(times)} frames; loops are open by at most {residual.max():.1e} m")
print(f"while the crank turns once, the rocker moves by {1e3 * np.ptp(rocker, axis=0).max():.1f} mm")
