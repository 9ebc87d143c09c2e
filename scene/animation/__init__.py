"""Blender's animation data: F-curves over both Action interfaces, and evaluating some objects of a scene alone."""
