"""Collision of a robot with itself and the floor: its shapes, the pairs that may touch, and how deep they do."""
