"""Operators of the servos."""
