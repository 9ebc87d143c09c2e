"""Ten things that one asks of inverse kinematics, each in a line or a few."""

import numpy as np

import robik

arm, linkage = robik.load("ur10"), robik.load("four_bar")
values = arm.actuator_rest + 0.2
pose = robik.forward(arm, values).pose("flange")  # 1: where a frame is
print(f"1 the flange is at {np.round(pose.position, 3).tolist()} m")

solved = robik.solve_pose(arm, {"flange": pose})  # 2: motors' values for a pose
print(f"2 found: {solved.found}, {1e6 * solved.position_error:.3f} µm off")

near = robik.solve_pose(arm, {"flange": pose}, start=values)  # 3: … near a pose that there is
print(f"3 motors moved by {np.abs(near.values - values).max():.1e} rad")

beside = np.add(pose.position, (0.0, 0.02, 0.0))
point = robik.solve_pose(arm, {"flange": beside})  # 4: a position alone
print(f"4 found: {point.found}")

far = robik.solve_pose(arm, {"flange": (9.0, 0.0, 0.0)})  # 5: what cannot be reached
print(f"5 found: {far.found}, {far.why}")

jacobian = robik.jacobian(arm, "flange", values)  # 6: how a frame moves with each motor
print(f"6 a Jacobian {jacobian.shape}, manipulability {np.sqrt(np.linalg.det(jacobian @ jacobian.T)):.3f}")

com = robik.center_of_mass(arm, values)  # 7
print(f"7 the centre of mass is at {np.round(com, 3).tolist()} m")

times = np.arange(50) / 50
path = np.array(pose.position) + 0.05 * np.stack([0 * times, np.sin(6 * times), 0 * times], axis=1)
clip = robik.TargetClip(times, {"flange": robik.Track(path, np.tile(pose.quaternion, (50, 1)))})
motion = robik.retarget(arm, clip, start=values)  # 8: a motion through targets, from where the robot is
motion.report.raise_if_short()
print(f"8 a motion of {len(motion.times)} samples, off by at most {1e6 * motion.report.position_error.max():.3f} µm")

tracker = robik.StateBasedTracker(arm)  # 9: targets that come live
for where in path:
    tracker.step(robik.Targets({"flange": robik.Target(position=where)}), 0.02)
print(f"9 live, {1e3 * np.linalg.norm(np.subtract(tracker.frame('flange').position, path[-1])):.3f} mm off")

turned = robik.forward(linkage, linkage.actuator_rest + 0.3)  # 10: a robot with loops, by the same calls
again = robik.solve_pose(linkage, {"coupler": turned.pose("coupler").position})
print(f"10 loops open by {again.residual:.1e} m, the crank is at {np.round(again.values, 3).tolist()} rad")
