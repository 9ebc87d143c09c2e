"""Feet: when they stand, where and on what, how they are held, and how they swing; contacts as closures."""
