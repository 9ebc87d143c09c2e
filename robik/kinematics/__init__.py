"""Kinematics: poses of a robot's bodies, and the equations of its loops."""
