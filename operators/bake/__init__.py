"""Operators of the bake and of editing its result."""
