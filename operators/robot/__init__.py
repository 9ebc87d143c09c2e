"""Operators of the robot: import, build, export."""
