"""A robot's motion on servos."""
