"""Panels of the servos."""
