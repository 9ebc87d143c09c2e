"""Targets that arrive one at a time, as from a tracker or a joystick: a step of the robot for each."""

import numpy as np

import robik
from robik.tracking import StateBasedTracker, Target, Targets

robot = robik.load("arm7")
tracker = StateBasedTracker(robot)
start = np.array(robot.rest_pose("tool").position)
period = 1 / 100

worst = 0.0
for step in range(100):
    where = start + 0.05 * np.sin(2 * np.pi * step * period) * np.array([0.0, 1.0, 0.0])
    values = tracker.step(Targets({"tool": Target(position=where)}), period)
    worst = max(worst, float(np.linalg.norm(np.array(tracker.frame("tool").position) - where)))

print(f"100 steps; the tool was off by at most {1e3 * worst:.3f} mm")
print("the actuators are at", np.round(values, 3).tolist())
