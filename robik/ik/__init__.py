"""Inverse kinematics of one frame."""
