"""Robots as objects of the scene: built, read, posed and edited."""
