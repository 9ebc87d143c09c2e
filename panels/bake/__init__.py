"""Panels of the bake and its result."""
