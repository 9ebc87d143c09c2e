"""Experiments on live solvers."""
