"""Forward kinematics: from a motion of the actuators to the poses of all bodies, loops included."""

import numpy as np

import robik

robot = robik.load("four_bar")
times = np.arange(61) / 30
swing = 0.3 * np.sin(np.pi * times)[:, None]
motion = robik.Motion(times=times, actuators=robot.actuators, values=swing)

states, residual = robik.posed(robot, motion)

coupler = states.position[:, states.bodies.index("coupler")]
print(f"poses of {len(states.bodies)} bodies in {len(times)} frames; loops are open by at most {residual.max():.1e} m")
print(
    "while the crank swings by 0.3 rad to either side, the coupler moves by"
    f" {1e3 * np.ptp(coupler, axis=0).max():.1f} mm"
)
