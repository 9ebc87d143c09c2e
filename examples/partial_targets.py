"""Targets that leave something free.

A position only, an orientation only, an axis that may spin, a direction that does not matter.
"""

import numpy as np

import robik

robot = robik.load("arm7")
rest = robot.rest_pose("tool")
times = np.arange(30) / 30
position = np.array(rest.position) + 0.1 * times[:, None] * [0.0, 1.0, -0.5]
half = 0.5 * times  # of the angle by which the tool spins about its own z axis [rad]
spins = [robik.Pose(quaternion=(np.cos(h), 0.0, 0.0, np.sin(h))) for h in half]
quaternion = np.array([(rest @ spin).quaternion for spin in spins])

cases = {
    "position only": (robik.Track(position=position), robik.Weights()),
    "orientation only": (robik.Track(quaternion=quaternion), robik.Weights()),
    "both": (robik.Track(position=position, quaternion=quaternion), robik.Weights()),
    "both, free to spin about its z axis": (
        robik.Track(position, quaternion),
        robik.Weights(orientation=(0.0, 0.0, 1.0)),
    ),
    "both, at any height": (robik.Track(position, quaternion), robik.Weights(position=(1.0, 1.0, 0.0))),
}
for name, (track, weights) in cases.items():
    motion = robik.retarget(robot, robik.TargetClip(times, {"tool": track}), robik.Settings(targets={"tool": weights}))
    travel = np.abs(motion.values[-1] - motion.values[0]).sum()
    print(f"{name}: {len(motion.report.short)} frames fall short, the joints travel {np.degrees(travel):.1f}° in all")
