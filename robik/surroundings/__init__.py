"""Surroundings of a robot: obstacles, and a mesh as ground."""
