"""Objectives: what the solver minimises, one file each.

A file holds an objective's equation, its weights, and its value, gradient and curvature in compiled form. `registry.py`
lists them all; the solver lists none.

In every objective positions count in units of ℓ, the length that weighs as much as a radian: the robot's own extent
unless it is set (`Settings.length`), so that robots of all sizes follow alike. The paper's weights are for ℓ = 1 m.
"""
