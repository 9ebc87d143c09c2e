"""Panels of the robot."""
