"""Experiments on baking whole clips."""
